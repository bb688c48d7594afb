"""The same sound through the same pipeline comes to the same conversation: on real models, in real time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.sessions.test_command_line import ROOT, voicetui

pytestmark = pytest.mark.models

MOST_WORD_ERRORS = 0.02
MOST_GAP_CHANGE = 0.15


@pytest.mark.long
@pytest.mark.timeout(400)
def test_a_re_run_of_the_demo_is_the_demo_again(tmp_path: Path) -> None:
    (tmp_path / "voicetui.toml").write_text('[record]\nfolder = "kept"\n')
    script = (ROOT / "assets" / "scenarios" / "demo.toml").read_text()
    patient = [line for line in script.splitlines() if not line.startswith("impatient")]
    (tmp_path / "patient.toml").write_text("\n".join(patient).replace("../clips", str(ROOT / "assets" / "clips")))
    first = voicetui("run", "patient.toml", "--json", "old.json", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    again = voicetui("replay", "latest", "--rerun", "--json", "new.json", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    old, new = (json.loads((tmp_path / name).read_text()) for name in ("old.json", "new.json"))
    print(again.stdout, again.stderr)
    outcomes = [[turn["outcome"] for turn in each["turns"]] for each in (old, new)]
    assert outcomes[0] == outcomes[1]
    assert [each["reason"] for each in old["rejected"]] == [each["reason"] for each in new["rejected"]]
    assert not new["missed_barge_ins"]
    assert new["comparison"]["word_errors"] <= MOST_WORD_ERRORS * new["comparison"]["words"]
    assert new["gap_ms"]["p50"] == pytest.approx(old["gap_ms"]["p50"], rel=MOST_GAP_CHANGE)

"""The demo is the product's main job: the real pipeline, every turn's words as they are shipped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.sessions.test_command_line import voicetui

pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, object], Path]:
    """One run of the demo without a screen: its summary and its session's folder."""
    folder = tmp_path_factory.mktemp("demo")
    (folder / "voicetui.toml").write_text(f'[record]\nfolder = "{folder}/kept"\n')
    done = voicetui("demo", "--headless", "--json", "out.json", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "nothing will be heard" in done.stderr or "output:" in done.stderr
    (session,) = (folder / "kept").iterdir()
    return json.loads((folder / "out.json").read_text()), session


def test_the_words_are_the_scripts(demo: tuple[dict[str, object], Path]) -> None:
    summary, _ = demo
    turns = summary["turns"]
    assert isinstance(turns, list)
    print(json.dumps(turns, indent=1))

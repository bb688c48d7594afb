"""`voicetui replay SESSION --rerun` as a person calls it: what it refuses, and what is answered like the session."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest

from tests.journal_builder import JournalBuilder
from voicetui.cli import run
from voicetui.config import Config, ConfigError, load_config
from voicetui.config_changes import differences, like_recorded, with_settings
from voicetui.journal.append import JournalWriter
from voicetui.sound.wav import WavWriter

BUILT_IN = Path(__file__).resolve().parents[2] / "assets" / "voicetui.toml"


def session(
    recordings: Path, *, tier: str = "local", silent: bool = False, closed: bool = True, track_s: float = 8.0
) -> Path:
    """A recorded session of one turn (``silent``: of none)."""
    folder = recordings / "20260101T000000Z-local"
    folder.mkdir(parents=True)
    journal = JournalBuilder().opened(tier).ready()
    if not silent:
        journal.turn("What time is it?", ["It is noon."])
    if closed:
        journal.closed()
    journal.write(folder / "journal.jsonl")
    if track_s:
        writer = WavWriter(folder / "user.wav")
        writer.append(np.zeros(round(track_s * 16_000), np.int16))
        writer.close()
    return folder


def rerun(recordings: Path, *flags: str) -> int:
    (recordings / "voicetui.toml").write_text(f'[record]\nfolder = "{recordings}"\n')
    try:
        return run(["--config", str(recordings / "voicetui.toml"), "replay", "2026", "--rerun", *flags])
    except SystemExit as ended:
        return int(str(ended.code))


def test_a_session_without_its_microphone_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session(tmp_path, track_s=0)
    assert rerun(tmp_path) == 1
    shown = capsys.readouterr()
    assert "20260101T000000Z-local has no recorded microphone" in shown.err and not shown.out


def test_a_track_of_which_a_part_is_missing_or_damaged_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = session(tmp_path)
    (folder / "user.wav").rename(folder / "user.3.wav")
    (folder / "user.wav").write_bytes(b"no sound at all" * 20)
    assert rerun(tmp_path) == 1
    assert "user.2.wav is missing" in capsys.readouterr().err
    (folder / "user.3.wav").unlink()
    assert rerun(tmp_path) == 1
    assert "cannot be run again: " in capsys.readouterr().err


def test_a_session_that_still_goes_on_is_refused_and_one_that_was_killed_is_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = session(tmp_path, closed=False, silent=True)
    writer = JournalWriter(folder)
    assert rerun(tmp_path) == 1
    assert "is still being written" in capsys.readouterr().err
    writer.close()
    assert rerun(tmp_path) == 1
    assert "Nobody says or types anything" in capsys.readouterr().err


def test_a_session_in_which_nobody_says_anything_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session(tmp_path, silent=True)
    assert rerun(tmp_path) == 1
    assert "Nobody says or types anything in 20260101T000000Z-local: it is silent." in capsys.readouterr().err


def test_a_session_whose_speech_was_silenced_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session(tmp_path)
    assert rerun(tmp_path) == 1
    assert "All that was said in 20260101T000000Z-local is silent in its user.wav." in capsys.readouterr().err


def test_a_tier_that_is_not_configured_is_answered_with_the_known_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session(tmp_path, tier="fast")
    assert rerun(tmp_path) == 2
    assert "held with the tier 'fast', which is not configured here" in (err := capsys.readouterr().err)
    assert "--tier: local, pretend-750" in err
    assert rerun(tmp_path, "--tier", "fats") == 2
    assert "There is no tier 'fats'. Allowed: local, pretend-750." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (("--set", "endpoint.silence_ms"), "write table.key=value"),
        (("--set", "silence_ms=400"), "write table.key=value"),
        (("--set", "endpoint.silence=400"), "endpoint.silence is no known key"),
        (("--set", "endpoint.silence_ms=soon"), "endpoint.silence_ms: found 'soon'"),
        (("--set", "ear.on=1"), "there is no table 'ear'"),
        (("--set", "tiers.fast.max_tokens=1"), "The tiers are local, pretend-750"),
        (("--set", "endpoint.sure_ms=1300"), "unsure_ms must be at least sure_ms"),
        (("--set", "conversation.tier=fats"), "there is no such tier"),
        (("--pace", "fast"), "invalid choice"),
        (("--json", "nowhere/out.json"), "its folder does not exist"),
        (("--json", "/"), "is a folder"),
        (("--gap", "soon"), "found 'soon'"),
    ],
)
def test_a_wrong_call_is_answered_with_2(
    tmp_path: Path, flags: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    session(tmp_path)
    assert rerun(tmp_path, *flags) == 2
    shown = capsys.readouterr()
    assert says in shown.err and not shown.out


@pytest.mark.parametrize("flags", [("--tier", "local"), ("--gap", "300"), ("--no-record",), ("--overlap", "none")])
def test_what_only_a_rerun_can_do_is_not_ignored_without_it(
    tmp_path: Path, flags: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["replay", str(session(tmp_path)), "--headless", *flags]) == 2
    shown = capsys.readouterr()
    assert f"{flags[0]} changes nothing in what was recorded. Use it with --rerun." in shown.err and not shown.out


def built_in() -> Config:
    return load_config(str(BUILT_IN))[0]


def test_single_keys_are_set_as_in_the_file() -> None:
    config = with_settings(
        built_in(),
        [
            "listen.vad_threshold=0.6",
            "conversation.system_prompt=Be brief.",
            "tiers.local.max_tokens=7",
            "record.on=false",
        ],
    )
    assert config.listen.vad_threshold == 0.6 and config.conversation.system_prompt == "Be brief."
    assert config.tiers[0].max_tokens == 7 and not config.record.on
    assert with_settings(built_in(), ["tiers.pretend-750.seed=3"]).tiers[1].seed == 3


def test_a_table_is_as_the_session_had_it_where_there_still_is_such_a_key() -> None:
    recorded = {"endpoint": {"silence_ms": 350.0, "policy": "silence", "gone": 1}, "listen": {"vad_threshold": 0.9}}
    config = like_recorded(built_in(), recorded, "endpoint")
    assert (config.endpoint.silence_ms, config.endpoint.policy) == (350.0, "silence")
    assert config.listen == built_in().listen and config.endpoint.unsure_ms == built_in().endpoint.unsure_ms
    assert like_recorded(built_in(), {}, "endpoint") == built_in()
    with pytest.raises(ConfigError, match=r"the recorded session: endpoint\.silence_ms"):
        like_recorded(built_in(), {"endpoint": {"silence_ms": -1}}, "endpoint")


def test_what_differs_from_the_session_and_counts_is_told() -> None:
    now = {**msgspec.to_builtins(built_in()), "policy": msgspec.to_builtins(built_in().policy())}
    there = msgspec.json.decode(msgspec.json.encode(now))
    assert differences(there, now, "local") == []
    there["listen"]["model"] = "whisper-base"
    there["tiers"][0]["max_tokens"], there["tiers"][1]["max_tokens"] = 12, 13
    there["policy"]["reaction_ms"], there["policy"]["since_gone"] = 250.0, 1
    there["record"]["folder"], there["speak"] = "/elsewhere", None
    assert differences(there, now, "local") == [
        "listen.model: 'whisper-base' there, 'whisper-tiny.en' here",
        "tier local: max_tokens: 12 there, 48 here",
        "rule reaction_ms: 250.0 there, 300.0 here",
    ]

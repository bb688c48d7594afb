"""`voicetui replay --redecide`: what it prints, how it ends, and what it says when it is called wrong."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.rules.test_redecide import asked, questions
from tests.sessions.paper import paper_session
from voicetui.cli import run
from voicetui.commands.replay_redecide import configured
from voicetui.config import Config, assets, checkout
from voicetui.conversation.policy import Policy
from voicetui.events import Entry
from voicetui.events.orders import IMPORTED, WakeAt
from voicetui.events.session import SessionOpened
from voicetui.journal.append import JOURNAL_NAME
from voicetui.journal.codec import FORMAT, Header, encode
from voicetui.journal.recorded import open_recorded, session_folders
from voicetui.rehearse.redecide.settings import HEARD, SettingError, changes_of

SAMPLES = [
    folder
    for root in (assets() / "recordings", (checkout() or assets()) / "recordings")
    for folder in session_folders(root)
    if folder.name.startswith("sample-")
]


def written(folder: Path, entries: tuple[Entry, ...] | list[Entry]) -> Path:
    """A session of these entries on disk."""
    folder.mkdir(parents=True)
    lines = [encode(Header(FORMAT, "voicetui 0", folder.name)), *map(encode, entries)]
    (folder / JOURNAL_NAME).write_bytes(b"\n".join(lines) + b"\n")
    return folder


@pytest.fixture
def session(tmp_path: Path) -> str:
    return str(written(tmp_path / "20260101T000000Z-twin", questions()))


def redecided(*arguments: str) -> int:
    return run(["replay", *arguments, "--redecide"])


def test_the_same_rules_end_with_0_and_say_so(session: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert redecided(session) == 0
    out, talk = capsys.readouterr()
    assert [line.split() for line in out.splitlines()] == [
        [*f"turn {number}".split(), *line.split()[2:]] for number, line in enumerate(out.splitlines(), 1)
    ]
    assert all("as recorded" in line for line in out.splitlines())
    assert "2 turns and utterances: 0 decided otherwise, 2 as recorded." in talk


def test_a_session_as_it_is_recorded_gives_0_also_from_its_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for seed in range(12):
        assert redecided(str(written(tmp_path / f"s{seed}", paper_session(seed).entries))) == 0, seed


def test_other_numbers_end_with_1_and_show_each_turn_on_a_line_and_its_orders_under_it(
    session: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    wanted = tmp_path / "changes.json"
    assert redecided(session, "--set", "endpoint.silence_ms=300", "--json", str(wanted)) == 1
    out, talk = capsys.readouterr()
    lines = out.splitlines()
    assert "silence_ms 300 instead of 500" in talk and "\x1b" not in out
    assert lines[0].startswith("turn 1") and "committed 200 ms earlier" in lines[0]
    assert "~" in lines[1] and "wake at: due 2.500 s instead of 2.700 s" in lines[1]
    assert "~" in lines[2] and "commit:" in lines[2] and "at 2.700 s in the recording" in lines[2]
    (second,) = (line for line in lines if line.startswith("turn 2"))
    assert 'would cut in: "I would like some tea" is committed 300 ms into a pause of 400 ms' in second
    found: dict[str, Any] = json.loads(wanted.read_text("utf-8"))
    assert found["settings"] == {"silence_ms": {"recorded": 500.0, "now": 300.0}} and not found["identical"]
    first, cut_in = found["turns"][1:]
    assert (first["commit"]["recorded_ms"], first["commit"]["now_ms"]) == (2700.0, 2500.0)
    assert cut_in["commit"]["cuts_into_pause_ms"] == 400.0 and cut_in["unknown"]["why"]
    assert {order["change"] for order in first["orders"]} == {"moved", "altered"}


def test_a_narrow_terminal_wraps_the_sentences(
    session: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    redecided(session, "--set", "silence_ms=300")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 8 and max(map(len, lines)) <= 100


def test_what_only_a_re_run_can_change_is_told_with_what_to_type(
    session: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for setting, typed in (
        ("listen.vad_threshold=0.7", "--rerun --set listen.vad_threshold=0.7"),
        ("vad_threshold=0.7", "--rerun --set listen.vad_threshold=0.7"),
        ("tier=fast", "--rerun --tier fast"),
        ("overlap=none", "--rerun --overlap none"),
        ("speak.voice=x", "--rerun --set speak.voice=x"),
        ("quick_pauses=true", "--rerun --set endpoint.quick_pauses=true"),
        ("tiers.local.max_tokens=9", "--rerun --set tiers.local.max_tokens=9"),
    ):
        assert redecided(session, "--set", setting) == 2
        assert f"voicetui replay {session} {typed}" in capsys.readouterr().err
    assert redecided(session, "--set", "model=x") == 2
    assert "listen.model or endpoint.model" in capsys.readouterr().err


def test_what_is_no_setting_is_told_with_what_is_allowed(session: str, capsys: pytest.CaptureFixture[str]) -> None:
    for setting, says in (
        ("silense_ms=3", "Allowed: system_prompt, silence_ms"),
        ("silence_ms", "key=value"),
        ("silence_ms=long", "found 'long'"),
        ("silence_ms=-5", "0 or more"),
        ("silence_ms=nan", "finite"),
        ("cut_off_risk=1", "less than 1"),
        ("even_words=0", "more than 0"),
        ("least_words=0", "more than 0"),
        ("beside_words_odds=0", "more than 0"),
        ("turn_end=never", "'silence', 'model'"),
        ("unsure_ms=100", "more than unsure_ms"),
    ):
        assert redecided(session, "--set", setting) == 2, setting
        err = capsys.readouterr().err
        assert says in err and "Traceback" not in err, err
    assert run(["replay", session, "--headless", "--set", "silence_ms=3"]) == 2
    assert redecided(session, "--json", str(Path(session) / "no" / "x.json")) == 2


def test_a_session_that_cannot_be_decided_again_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entries = questions()
    assert redecided(str(written(tmp_path / "torn", entries[5:]))) == 1
    assert "lost how the session began" in capsys.readouterr().err
    opened = entries[0].body
    assert isinstance(opened, SessionOpened)
    imported = msgspec.structs.replace(opened, source=IMPORTED)
    assert redecided(str(written(tmp_path / "imported", [Entry(0, 0.0, imported), *entries[1:]]))) == 1
    assert "imported" in capsys.readouterr().err
    broken = msgspec.structs.replace(opened, config={"policy": {"turn_end": 7}})
    assert redecided(str(written(tmp_path / "broken", [Entry(0, 0.0, broken), *entries[1:]]))) == 1
    assert "none of this version" in capsys.readouterr().err


def test_what_was_said_cannot_command_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = asked((1000, 2200), texts=["What \x1b]0;time\x07 is it?"])
    assert redecided(str(written(tmp_path / "s", said.entries)), "--set", "silence_ms=300") == 1
    assert "\x1b" not in (out := capsys.readouterr().out) and "\x07" not in out and "time" in out


def test_a_key_of_the_configuration_is_the_number_it_becomes() -> None:
    """Whatever in the configuration becomes a number of the rules can be set by its name there."""
    other: dict[type, object] = {str: "model", bool: None, int: 7, float: 0.321}
    for table in ("conversation", "endpoint", "knowledge", "listen", "speak"):
        for name, value in msgspec.to_builtins(getattr(Config(), table)).items():
            changed = not value if isinstance(value, bool) else other.get(type(value), "x")
            changed = "silence" if (table, name) == ("endpoint", "policy") else changed
            record = msgspec.structs.replace(getattr(Config(), table), **{name: changed})
            before, after = Config().policy(), msgspec.structs.replace(Config(), **{table: record}).policy()
            fields = [each for each in Policy.__struct_fields__ if getattr(before, each) != getattr(after, each)]
            expected = configured().get(f"{table}.{name}")
            if fields != ["knowledge"] and fields != [*HEARD] and (table, name) != ("listen", "language"):
                assert fields == ([expected] if expected else []), f"{table}.{name}"


def test_values_are_written_as_in_the_configuration() -> None:
    recorded = Policy()
    for settings, means in (
        (["silence_ms=300", "endpoint.policy=model"], {"silence_ms": 300.0, "turn_end": "model"}),
        (["staged_gaps_ms=200,1400"], {"staged_gaps_ms": (200.0, 1400.0)}),
        (["prewarm=false", "attempts = 5", "silence_ms=500"], {"prewarm": False, "attempts": 5}),
    ):
        assert changes_of(settings, recorded, configured()) == means
    with pytest.raises(SettingError):
        changes_of(["least_doubt=0"], recorded, {})


@pytest.mark.parametrize("folder", SAMPLES, ids=lambda folder: folder.name)
def test_a_sample_session_is_decided_again_as_it_was(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert open_recorded(folder).entries
    assert redecided(str(folder)) == 0, capsys.readouterr().out


def test_the_sample_sessions_that_are_spoken_of_are_there() -> None:
    root = Path(__file__).resolve().parents[2]
    told = re.findall(r"recordings/(sample-[\w-]+)", (root / "README.md").read_text("utf-8"))
    assert set(told) <= {folder.name for folder in SAMPLES}


def test_an_entry_that_lost_its_time_is_null_in_the_file(tmp_path: Path) -> None:
    entries = [
        msgspec.structs.replace(each, at=math.nan, body=msgspec.structs.replace(each.body, due_ms=math.nan))
        if isinstance(each.body, WakeAt)
        else each
        for each in questions()
    ]
    folder, wanted = written(tmp_path / "untimed", entries), tmp_path / "changes.json"
    assert redecided(str(folder), "--json", str(wanted)) == 1
    assert '"due_ms": null' in wanted.read_text("utf-8") and "NaN" not in wanted.read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "number"),
    [("least_doubt", 1e15), ("partial_every_ms", -1e308), ("cut_off_risk", -1e308), ("preroll_ms", 1e308)],
)
def test_rules_whose_recorded_numbers_cannot_be_are_refused_in_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, number: float
) -> None:
    first, *others = questions()
    assert isinstance(first.body, SessionOpened)
    config = {**first.body.config, "policy": {**first.body.config["policy"], name: number}}
    damaged = msgspec.structs.replace(first, body=msgspec.structs.replace(first.body, config=config))
    assert redecided(str(written(tmp_path / "20260101T000000Z-odd", [damaged, *others]))) == 1
    assert f"cannot be: {name} is {number:g}" in capsys.readouterr().err

"""The recorded sessions at a glance: listed, tagged, thrown away and brought back."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from tests.journal_builder import JournalBuilder
from voicetui.cli import run
from voicetui.config import ConfigError, parse_config
from voicetui.events import orders
from voicetui.events.session import Fault, GapStaged, SessionOpened
from voicetui.journal import listing
from voicetui.journal.append import Journal, JournalWriter
from voicetui.journal.listing import Listed, list_sessions
from voicetui.journal.shelf import outlived, read_tags, trashed
from voicetui.journal.sift import Wanted, instant
from voicetui.keeping import keep_house
from voicetui.sound.wav import WavWriter

NOW = datetime(2030, 1, 10, 12, tzinfo=UTC)
Sessions = Callable[..., int]


def talk(turns: int = 2, tier: str = "local", simulated: bool = False) -> JournalBuilder:
    journal = JournalBuilder().opened(tier, simulated=simulated).ready()
    for _ in range(turns):
        journal.turn("What time is it?", ["It is noon."])
    return journal


def record(recordings: Path, name: str, journal: JournalBuilder | None = None, closed: bool = True) -> Path:
    folder = recordings / name
    folder.mkdir(parents=True)
    journal = journal or talk()
    (journal.closed() if closed else journal).write(folder / "journal.jsonl")
    for stem in ("user", "reply"):
        writer = WavWriter(folder / f"{stem}.wav")
        writer.pad_to(int(journal.now_ms * 16))
        writer.close()
    return folder


@pytest.fixture
def sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sessions:
    """Run ``voicetui sessions`` on ``tmp_path/recordings``, with a cache of its own."""
    (tmp_path / "recordings").mkdir()
    monkeypatch.setattr(listing, "cache_file", lambda: tmp_path / "cache" / "sessions.json")
    config = tmp_path / "c.toml"
    config.write_text(f'[record]\nfolder = "{tmp_path}/recordings"\n')
    return lambda *words: run(["sessions", *words, "--config", str(config)])


def rows_of(recordings: Path, cache: Path | None = None) -> dict[str, Listed]:
    return {row.name: row for row in list_sessions(recordings, cache)}


# ---- what is in a row


def test_a_session_of_long_ago_is_listed_like_any_other(tmp_path: Path) -> None:
    journal = talk()
    opened = journal.entries[0]
    assert isinstance(opened.body, SessionOpened)
    early = msgspec.structs.replace(opened.body, started_utc="0001-01-01T00:00:00Z")
    journal.entries[0] = msgspec.structs.replace(opened, body=early)
    record(tmp_path, "dated-by-a-broken-clock", journal)
    assert next(row for row in list_sessions(tmp_path) if Wanted().has(row)).started_utc == "0001-01-01T00:00:00Z"


def test_a_session_that_ends_while_it_is_listed_is_looked_at_again(tmp_path: Path) -> None:
    folder, cache = record(tmp_path, "20300101T000000Z-local", talk()), tmp_path / "cache.json"
    with (folder / "journal.jsonl").open("rb") as writing:
        fcntl.flock(writing, fcntl.LOCK_SH)
        assert rows_of(tmp_path, cache)[folder.name].state == "being written"
    assert rows_of(tmp_path, cache)[folder.name].state == "finished"


def test_a_row_says_how_the_session_was(tmp_path: Path) -> None:
    journal = talk(3).failed("Hm?").add(Fault("speaker", "there is none"))
    folder = record(tmp_path, "20300101T000000Z-local", journal)
    (row,) = list_sessions(tmp_path)
    assert (row.state, row.started_utc, row.tier, row.simulated) == ("finished", "2030-01-01T00:00:00Z", "local", False)
    assert (row.turns, row.gap_ms.n, row.faults, row.overlap, row.source) == (4, 3, 2, "full", "test")
    assert row.gap_ms.p50 is not None and row.gap_ms.max is not None
    assert row.length_s == pytest.approx(journal.now_ms / 1e3)
    assert row.size_bytes == sum(path.stat().st_size for path in folder.iterdir())


def test_staged_gaps_and_simulated_tiers_are_kept_apart(
    tmp_path: Path, sessions: Sessions, capsys: pytest.CaptureFixture[str]
) -> None:
    recordings = tmp_path / "recordings"
    staged = talk(0).add(GapStaged((300.0,))).turn("What time is it?", ["It is noon."])
    for number, entry in enumerate(staged.entries):
        if isinstance(entry.body, orders.Commit):
            body = orders.Commit(entry.body.basis, entry.body.utterance, entry.body.text, orders.STAGED)
            staged.entries[number] = type(entry)(entry.seq, entry.at, body)
    record(recordings, "a", staged)
    record(recordings, "b", talk(tier="pretend", simulated=True))
    rows = rows_of(recordings)
    assert rows["a"].gap_ms.n == 0 and rows["a"].staged_gap_ms is not None and rows["a"].staged_gap_ms.n == 1
    assert rows["b"].simulated
    assert sessions() == 0
    out = capsys.readouterr().out
    assert "staged " in out and "pretend (simulated)" in out


def test_every_state_is_told(tmp_path: Path) -> None:
    record(tmp_path, "finished")
    record(tmp_path, "cut-short", closed=False)
    damaged = record(tmp_path, "damaged") / "journal.jsonl"
    damaged.write_bytes(damaged.read_bytes().replace(b'{"seq":9', b'{"sex":9'))
    torn = record(tmp_path, "torn", closed=False) / "journal.jsonl"
    torn.write_bytes(torn.read_bytes()[:-9])
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "journal.jsonl").touch()
    (tmp_path / "no-session").mkdir()
    running = Journal(JournalWriter(tmp_path / "running"))
    running.append(0.0, talk().entries[0].body)
    assert {name: row.state for name, row in rows_of(tmp_path).items()} == {
        "finished": "finished",
        "cut-short": "cut short",
        "damaged": "damaged",
        "torn": "cut short",
        "empty": "damaged",
        "running": "being written",
    }
    running.close()
    assert rows_of(tmp_path)["running"].state == "damaged", "it has no tracks"


# ---- the cache


def test_what_was_read_once_is_not_read_again_until_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    real = listing.read_row

    def counted(folder: Path) -> Listed:
        read.append(folder.name)
        return real(folder)

    monkeypatch.setattr(listing, "read_row", counted)
    recordings, cache = tmp_path / "recordings", tmp_path / "cache" / "sessions.json"
    for name in ("a", "b"):
        record(recordings, name)
    first = rows_of(recordings, cache)
    assert rows_of(recordings, cache) == first and read == ["a", "b"]
    with (recordings / "b" / "journal.jsonl").open("ab") as file:
        file.write(b"half a li")
    assert rows_of(recordings, cache)["b"].problems == 1 and read == ["a", "b", "b"]
    (recordings / "a" / "reply.wav").unlink()
    assert rows_of(recordings, cache)["a"].state == "damaged"
    shutil.rmtree(recordings / "b")
    rows_of(recordings, cache)
    assert list(json.loads(cache.read_text())["sessions"]) == [str(recordings / "a")]
    assert cache.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in (recordings / "a").iterdir()) == ["journal.jsonl", "user.wav"]


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[]", b'{"made_by":"voicetui 9","sessions":{}}', b"[" * 90_000])
def test_a_broken_cache_is_made_anew(tmp_path: Path, content: bytes) -> None:
    record(tmp_path / "recordings", "a")
    cache = tmp_path / "sessions.json"
    cache.write_bytes(content)
    assert rows_of(tmp_path / "recordings", cache)["a"].turns == 2
    assert json.loads(cache.read_text())["sessions"]


def test_a_cache_that_cannot_be_written_costs_only_time(tmp_path: Path) -> None:
    record(tmp_path / "recordings", "a")
    (tmp_path / "file").touch()
    assert rows_of(tmp_path / "recordings", tmp_path / "file" / "sessions.json")["a"].turns == 2


def test_a_hundred_sessions_are_listed_at_once(tmp_path: Path) -> None:
    recordings, cache = tmp_path / "recordings", tmp_path / "sessions.json"
    first = record(recordings, "000", talk(40))
    for number in range(1, 100):
        shutil.copytree(first, recordings / f"{number:03}", copy_function=os.link)
    row = listing.read_row(first)
    kept = {str(recordings / f"{number:03}"): listing._Kept((), row) for number in range(100)}
    listing._write_cache(cache, {name: listing._Kept(listing._key(Path(name)), row) for name in kept})
    began_s = time.perf_counter()
    assert len(list_sessions(recordings, cache)) == 100
    assert time.perf_counter() - began_s < 2


# ---- choosing


def test_sessions_are_chosen_and_put_in_order(
    tmp_path: Path, sessions: Sessions, capsys: pytest.CaptureFixture[str]
) -> None:
    recordings = tmp_path / "recordings"
    record(recordings, "20300101T000000Z-local", talk(4))
    record(recordings, "20300102T000000Z-fast", talk(1, "fast").add(Fault("x", "y")))
    for name, day in (("20300101T000000Z-local", 1), ("20300102T000000Z-fast", 2)):
        path = recordings / name / "journal.jsonl"
        path.write_bytes(path.read_bytes().replace(b"2030-01-01T", b"2030-01-0%dT" % day))
    long_ago, later = "20300101T000000Z-local", "20300102T000000Z-fast"

    def listed(*words: str) -> list[str]:
        assert sessions(*words) == 0
        return [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]]

    assert listed() == [later, long_ago]
    assert listed("--sort", "length") == [long_ago, later] == listed("--sort", "size")
    assert listed("--since", "2030-01-02") == [later] == listed("--faults") == listed("list", "--tier", "fast")
    assert listed("--until", "2030-01-01") == [long_ago]
    assert listed("--worst-gap-over", "100") == [later, long_ago] and listed("--worst-gap-over", "9000") == []
    assert sessions("tag", "20300102", "Keep", "demo") == 0
    capsys.readouterr()
    assert listed("--tag", "keep") == [later]


def test_times_are_read_as_people_write_them() -> None:
    assert instant("7d", NOW) == datetime(2030, 1, 3, 12, tzinfo=UTC)
    assert instant("1.5h", NOW) == datetime(2030, 1, 10, 10, 30, tzinfo=UTC)
    assert instant("2030-01-05", NOW) == datetime(2030, 1, 5, tzinfo=UTC)
    assert instant("2030-01-05", NOW, end=True) == datetime(2030, 1, 6, tzinfo=UTC)
    assert instant("2030-01-05T10:00+02:00", NOW) == datetime(2030, 1, 5, 8, tzinfo=UTC)
    for wrong in ("", "soon", "7 days", "2030-13-01", "999999999d", "999999w"):
        with pytest.raises(ValueError, match="allowed: a date"):
            instant(wrong, NOW)


def test_a_list_can_be_read_by_programs(tmp_path: Path, sessions: Sessions, capsys: pytest.CaptureFixture[str]) -> None:
    record(tmp_path / "recordings", "a")
    assert sessions("--json", str(tmp_path / "list.json")) == 0
    (row,) = json.loads((tmp_path / "list.json").read_text())
    assert row["name"] == "a" and row["gap_ms"]["n"] == 2
    capsys.readouterr()
    assert sessions("--json", "-") == 0
    assert json.loads(capsys.readouterr().out) == [row]
    assert sessions("--json", str(tmp_path / "nowhere" / "x.json")) == 2
    assert "its folder does not exist" in capsys.readouterr().err


def test_what_a_terminal_would_obey_is_only_shown(
    tmp_path: Path, sessions: Sessions, capsys: pytest.CaptureFixture[str]
) -> None:
    record(tmp_path / "recordings", "a", talk(tier="\x1b[2J[/red]"))
    assert sessions() == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out and "[2J[/red]" in out


# ---- tags


def test_tags_stand_beside_the_journal(tmp_path: Path, sessions: Sessions, capsys: pytest.CaptureFixture[str]) -> None:
    folder = record(tmp_path / "recordings", "a")
    before = (folder / "journal.jsonl").read_bytes()
    assert sessions("tag", "a", "good", "Demo") == 0 and read_tags(folder) == ("Demo", "good")
    assert sessions("tag", "a", "demo", "--remove") == 0 and read_tags(folder) == ("good",)
    assert (folder / "tags.json").stat().st_mode & 0o777 == 0o600
    assert sessions("tag", "a", "good", "--remove") == 0 and not (folder / "tags.json").exists()
    assert sessions("tag", "a", "two words") == 1 and "is no tag" in capsys.readouterr().err
    assert (folder / "journal.jsonl").read_bytes() == before
    for broken in (b"\xff", b"{}", b'["a", 3]', b'["\\u001b[2J", "a,b", ""]'):
        (folder / "tags.json").write_bytes(broken)
        assert read_tags(folder) == ()


# ---- trash


def test_what_is_deleted_can_be_brought_back(
    tmp_path: Path, sessions: Sessions, capsys: pytest.CaptureFixture[str]
) -> None:
    recordings = tmp_path / "recordings"
    for name in ("abc", "xyz"):
        record(recordings, name)
    content = (recordings / "abc" / "journal.jsonl").read_bytes()
    assert sessions("delete", "abc", "xyz") == 0
    assert [path.name for path in trashed(recordings)] == ["abc", "xyz"] and not (recordings / "abc").exists()
    assert sessions() == 0 and "2 in the trash" in capsys.readouterr().err
    assert sessions("restore", "a") == 0
    assert (recordings / "abc" / "journal.jsonl").read_bytes() == content
    assert sessions("restore", "a") == 1 and "is no session in the trash. There: xyz" in capsys.readouterr().err
    record(recordings, "xyz")
    assert sessions("restore", "xyz") == 1 and "not brought back" in capsys.readouterr().err
    assert sessions("delete", "xyz") == 0 and [path.name for path in trashed(recordings)] == ["xyz", "xyz-2"]
    assert sessions("empty-trash") == 2 and len(trashed(recordings)) == 2, "nobody was there to be asked"
    assert sessions("empty-trash", "--yes") == 0
    assert not (recordings / ".trash").exists() and (recordings / "abc").exists()
    assert sessions("empty-trash") == 0


def test_what_is_elsewhere_or_being_written_is_not_deleted(
    tmp_path: Path, sessions: Sessions, capsys: pytest.CaptureFixture[str]
) -> None:
    elsewhere = record(tmp_path / "elsewhere", "a")
    assert sessions("delete", str(elsewhere)) == 1 and "Remove that folder yourself" in capsys.readouterr().err
    running = Journal(JournalWriter(tmp_path / "recordings" / "b"))
    running.append(0.0, talk().entries[0].body)
    assert sessions("delete", "b") == 1 and "is being written" in capsys.readouterr().err
    running.close()
    assert elsewhere.exists() and sessions("delete", "b") == 0


def test_the_trash_of_a_link_is_left_alone(tmp_path: Path, sessions: Sessions) -> None:
    record(tmp_path / "precious", "a")
    (tmp_path / "recordings" / ".trash").symlink_to(tmp_path / "precious")
    assert sessions("empty-trash", "--yes") == 1
    assert (tmp_path / "precious" / "a").exists()


# ---- what is kept


def test_old_sessions_go_but_for_those_that_are_wanted(tmp_path: Path, sessions: Sessions) -> None:
    recordings = tmp_path / "recordings"
    for day in range(1, 8):
        record(recordings, f"2030010{day}T000000Z-local")
    record(recordings, "sample-20200101T000000Z")
    record(recordings, "imported")
    assert sessions("tag", "20300102", "good") == 0
    running = Journal(JournalWriter(recordings / "20300103T000000Z-running"))

    def gone(keep: int | None, keep_days: float | None) -> list[str]:
        return [folder.name.removesuffix("T000000Z-local") for folder in outlived(recordings, keep, keep_days, NOW)]

    try:
        assert gone(2, None) == ["20300101", "20300103", "20300104", "20300105", "imported"]
        assert len(gone(0, None)) == 7 and gone(None, None) == []
        assert gone(None, 5.5) == gone(4, 5.5) == ["20300101", "20300103", "20300104", "imported"]
        assert sessions("keep") == 2
        assert sessions("keep", "--keep", "2") == 2 and trashed(recordings) == [], "nobody was there to be asked"
        assert sessions("keep", "--keep", "2", "--yes") == 0
        kept = sorted(path.name[:8] for path in recordings.iterdir() if path.name != ".trash")
        assert kept == ["20300102", "20300103", "20300106", "20300107", "sample-2"]
        assert (recordings / "20300103T000000Z-running").exists()
    finally:
        running.close()


def test_at_the_start_of_a_session_the_configured_number_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recordings = tmp_path / "recordings"
    for day in range(1, 5):
        record(recordings, f"2030010{day}T000000Z-local")
    folder = f'[record]\nfolder = "{recordings}"\n'
    keep_house(parse_config(folder, "c.toml"))
    keep_house(parse_config(folder + "keep = 1\non = false\n", "c.toml"))
    assert trashed(recordings) == []
    keep_house(parse_config(folder + "keep = 3\n", "c.toml"))
    assert [path.name for path in trashed(recordings)] == ["20300101T000000Z-local"]
    keep_house(parse_config(folder + "keep = 1\n", "c.toml"))
    assert "20300102T000000Z-local and 1 more" in capsys.readouterr().err
    keep_house(parse_config('[record]\nfolder = "/nowhere"\nkeep = 1\n', "c.toml"))
    with pytest.raises(ConfigError, match=r"record\.keep"):
        parse_config(folder + "keep = 0\n", "c.toml")


# ---- checking


def test_a_check_names_what_is_wrong(tmp_path: Path, sessions: Sessions, capsys: pytest.CaptureFixture[str]) -> None:
    folder = record(tmp_path / "recordings", "a")
    assert sessions("check", "a") == 0 and "nothing is wrong" in capsys.readouterr().err
    (folder / "reply.wav").unlink()
    assert sessions("check", "latest") == 1
    assert capsys.readouterr().out == "reply.wav: is missing\n"
    assert sessions("check", "b") == 1 and "no session 'b'" in capsys.readouterr().err

"""The journal on disk: every line strict JSON, every good line read back, whatever happened to the file."""

from __future__ import annotations

import contextlib
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.journal_builder import JournalBuilder
from voicetui.events import Basis, Entry
from voicetui.events.listen import Evidence, Transcribed
from voicetui.events.orders import WakeAt
from voicetui.events.reply import TimedToken, TokensArrived
from voicetui.events.session import Fault, Ready, Said, Woke
from voicetui.journal.codec import FORMAT, Header, LineError, UnknownEntry, decode, encode
from voicetui.journal.read import JournalReader, ReadJournal, read_journal
from voicetui.views.summary import summarise

STORY = ["Once upon a time there was a king. ", "He was old and very wise."]
HEADER = encode(Header(FORMAT, "voicetui 0.1.0", "s"))
ODD_TEXTS = ["a\u2028b\u2029c", "line\nbreak\r", "\x00\x1b[2J", "🌍 日本 e\u0301", '"quoted\\"', "[/path]"]


def golden() -> JournalBuilder:
    journal = JournalBuilder().opened().ready().turn("What time is it?", ["It is noon."])
    return journal.barge_in("Tell me a story", STORY).failed("Hm?").closed()


def lines_of(*entries: Entry) -> list[bytes]:
    return [encode(entry) for entry in entries]


def said(seq: int, text: str = "hello") -> Entry:
    return Entry(seq, seq * 10.0, Said(text))


def read_bytes(folder: Path, data: bytes) -> ReadJournal:
    path = folder / "journal.jsonl"
    path.write_bytes(data)
    read = read_journal(path)
    assert path.read_bytes() == data, "reading must not rewrite"
    return read


def problems(read: ReadJournal) -> list[tuple[int, str]]:
    return [(problem.line, problem.kind) for problem in read.problems]


# ---- lines


def test_every_record_of_a_session_comes_back_as_it_was() -> None:
    for entry in golden().entries:
        line = encode(entry)
        assert b"\n" not in line
        assert decode(line) == entry


@pytest.mark.parametrize("text", ODD_TEXTS)
def test_odd_text_stays_on_one_line_and_comes_back(text: str) -> None:
    line = encode(said(0, text))
    assert b"\n" not in line and b"\r" not in line
    assert decode(line) == said(0, text)


@given(st.text())
def test_any_text_can_be_written(text: str) -> None:
    read = decode(encode(said(0, text)))
    assert isinstance(read, Entry) and isinstance(read.body, Said)


def test_half_a_surrogate_pair_does_not_stop_the_journal() -> None:
    read = decode(encode(said(0, "half \ud83d whole \ud83d\ude00")))
    assert read == said(0, "half \ufffd whole 😀")


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_written_as_null_and_read_as_not_a_number(number: float) -> None:
    entries = [
        Entry(1, number, Woke(1)),
        Entry(2, 1.0, WakeAt(1, number, "endpoint")),
        Entry(3, 1.0, TokensArrived(Basis(1, 1, 1), (TimedToken("a", number),))),
        Entry(4, 1.0, Ready({"tier": number})),
    ]
    for entry in entries:
        json.loads(encode(entry), parse_constant=lambda name: pytest.fail(f"{name} in the journal"))
    first, second, third, fourth = (decode(encode(entry)) for entry in entries)
    assert isinstance(first, Entry) and math.isnan(first.at)
    assert isinstance(second, Entry) and isinstance(second.body, WakeAt) and math.isnan(second.body.due_ms)
    assert isinstance(third, Entry) and isinstance(third.body, TokensArrived)
    assert math.isnan(third.body.tokens[0].at_ms) and third.body.tokens[0].text == "a"
    assert isinstance(fourth, Entry) and isinstance(fourth.body, Ready) and math.isnan(fourth.body.load_ms["tier"])


def test_a_number_that_may_be_missing_is_read_as_missing() -> None:
    fact = Transcribed(1, 1, "hi", True, 0, 1, 0.0, 0.0, Evidence(logprob=math.nan))
    read = decode(encode(Entry(1, 0.0, fact)))
    assert isinstance(read, Entry) and isinstance(read.body, Transcribed)
    assert read.body.evidence.logprob is None


def test_fields_of_a_newer_version_are_ignored() -> None:
    line = b'{"seq":3,"at":1.5,"mood":"calm","body":{"type":"said","text":"hi","tone":[1,{"a":null}]}}'
    assert decode(line) == Entry(3, 1.5, Said("hi"))


def test_a_record_of_a_newer_version_is_known_to_be_unknown() -> None:
    untimed = decode(b'{"seq":3,"at":null,"body":{"type":"dreamt","of":"sheep"}}')
    assert isinstance(untimed, UnknownEntry) and math.isnan(untimed.at)
    read = decode(b'{"seq":3,"at":1.5,"body":{"type":"dreamt","of":"sheep"}}')
    assert read == UnknownEntry(3, 1.5, "dreamt")


@pytest.mark.parametrize(
    "line",
    [b"", b"{", b"null", b"[1]", b'"text"', b'{"seq":1}', b'{"seq":1,"at":1,"body":{"type":"said"}}', b"[" * 90_000,
     b'{"seq":1,"at":1e999,"body":{"type":"woke","wake":1}}', b'{"voicetui_journal":"one"}', b"\xff\xfe{}"],
)  # fmt: skip
def test_what_is_no_entry_is_refused_and_never_crashes(line: bytes) -> None:
    with pytest.raises(LineError):
        decode(line)


@given(st.binary(max_size=200))
def test_arbitrary_bytes_are_an_entry_or_refused(line: bytes) -> None:
    with contextlib.suppress(LineError):
        decode(line)


def test_values_json_has_no_form_for_are_written_all_the_same() -> None:
    fault = Fault("x", "y")
    entry = Entry(1, np.float64(1.5), fault)
    assert decode(encode(entry)) == Entry(1, 1.5, fault)
    ready = Ready({"tier": np.float32(2.5)})  # type: ignore[dict-item]
    assert decode(encode(Entry(1, 0.0, ready))) == Entry(1, 0.0, Ready({"tier": 2.5}))


# ---- files


def test_a_whole_journal_is_read_without_problems(tmp_path: Path) -> None:
    journal = golden()
    read = read_journal(journal.write(tmp_path / "journal.jsonl"))
    assert read.entries == tuple(journal.entries)
    assert read.header == Header(1, "voicetui", "golden")
    assert read.problems == ()


def test_a_journal_cut_at_any_byte_opens_with_all_its_whole_lines(tmp_path: Path) -> None:
    journal = golden()
    data = journal.write(tmp_path / "whole.jsonl").read_bytes()
    first_lines = sum(len(line) for line in data.splitlines(keepends=True)[:12])
    for cut in [*range(first_lines), *range(first_lines, len(data), 97), len(data)]:
        read = read_bytes(tmp_path, data[:cut])
        whole = max(0, data[:cut].count(b"\n") - 1)
        kept = len(read.entries)
        assert whole <= kept <= whole + 1
        assert read.entries == tuple(journal.entries[:kept])
        assert {problem.kind for problem in read.problems} <= {"torn", "header"}
        assert len(read.problems) <= 2


@settings(max_examples=40, deadline=None)
@given(st.integers(min_value=0), st.integers(0, 255))
def test_a_bad_byte_loses_at_most_two_lines(tmp_path_factory: pytest.TempPathFactory, place: int, byte: int) -> None:
    journal = golden()
    folder = tmp_path_factory.mktemp("bad")
    data = bytearray(journal.write(folder / "whole.jsonl").read_bytes())
    data[place % len(data)] = byte
    read = read_bytes(folder, bytes(data))
    assert len(read.entries) >= len(journal.entries) - 2
    assert summarise(read.entries)["schema"] == 1


def test_the_last_line_cut_is_skipped_and_named(tmp_path: Path) -> None:
    one, two = lines_of(said(0), said(1))
    read = read_bytes(tmp_path, b"\n".join([HEADER, one, two[:-5]]))
    assert read.entries == (said(0),)
    assert problems(read) == [(3, "torn")]


def test_a_cut_line_followed_by_a_blank_line_is_skipped_and_named(tmp_path: Path) -> None:
    one, two = lines_of(said(0), said(1))
    read = read_bytes(tmp_path, b"\n".join([HEADER, one, two[:-5], b"", b""]))
    assert read.entries == (said(0),)
    assert problems(read) == [(3, "bad")]


def test_a_bad_line_in_the_middle_loses_only_itself(tmp_path: Path) -> None:
    one, two, three = lines_of(said(0), said(1), said(2))
    read = read_bytes(tmp_path, b"\n".join([HEADER, one, two[:9] + b"??", three, b""]))
    assert read.entries == (said(0), said(2))
    assert problems(read) == [(3, "bad")]


def test_a_whole_last_line_without_its_newline_is_kept(tmp_path: Path) -> None:
    read = read_bytes(tmp_path, b"\n".join([HEADER, *lines_of(said(0), said(1))]))
    assert read.entries == (said(0), said(1))
    assert read.problems == ()


def test_blank_lines_carriage_returns_and_zeros_are_passed_over(tmp_path: Path) -> None:
    one, two = lines_of(said(0), said(1))
    read = read_bytes(tmp_path, b"\xef\xbb\xbf" + HEADER + b"\r\n\n  \n" + one + b"\r\n\0\0\0\0" + two + b"\n\0\0\0")
    assert read.entries == (said(0), said(1))
    assert read.problems == ()


def test_text_that_is_not_utf8_is_kept_readable_and_named(tmp_path: Path) -> None:
    line = encode(said(0, "caf@ noir")).replace(b"@", b"\xe9")
    read = read_bytes(tmp_path, HEADER + b"\n" + line + b"\n")
    assert read.entries == (said(0, "caf\ufffd noir"),)
    assert problems(read) == [(2, "text")]


def test_the_same_number_twice_keeps_the_first(tmp_path: Path) -> None:
    read = read_bytes(tmp_path, b"\n".join([HEADER, *lines_of(said(0), said(0, "again"), said(1))]))
    assert read.entries == (said(0), said(1))
    assert problems(read) == [(3, "duplicate")]


def test_entries_are_in_the_order_of_their_numbers_whatever_their_times(tmp_path: Path) -> None:
    late, early = Entry(1, 5.0, Said("second")), Entry(0, 900.0, Said("first"))
    read = read_bytes(tmp_path, b"\n".join([HEADER, *lines_of(late, early)]))
    assert read.entries == (early, late)


def test_a_missing_header_is_named_and_the_entries_are_read(tmp_path: Path) -> None:
    read = read_bytes(tmp_path, b"\n".join(lines_of(said(0), said(1))))
    assert (read.header, len(read.entries)) == (None, 2)
    assert problems(read) == [(1, "header")]


def test_a_header_of_another_version_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    newer = b'{"voicetui_journal":7,"program":"voicetui 9","session":"s","colour":"blue"}\n'
    unknown = b'{"seq":1,"at":10.0,"body":{"type":"dreamt","of":"sheep"}}'
    read = read_bytes(tmp_path, newer + b"\n".join([*lines_of(said(0)), unknown, *lines_of(said(2))]))
    assert read.header == Header(7, "voicetui 9", "s")
    assert read.entries == (said(0), said(2))
    assert problems(read) == [(1, "header"), (3, "unknown")]
    older = read_bytes(tmp_path, b'{"voicetui_journal":0}\n' + b"\n".join(lines_of(said(0))))
    assert older.entries == (said(0),)


def test_an_empty_journal_is_empty_and_says_so(tmp_path: Path) -> None:
    for data in (b"", b"\n\n"):
        read = read_bytes(tmp_path, data)
        assert (read.header, read.entries) == (None, ())
        assert [problem.kind for problem in read.problems] == ["header"]


def test_a_session_is_read_by_its_folder_and_a_missing_one_is_an_error(tmp_path: Path) -> None:
    golden().write(tmp_path / "journal.jsonl")
    assert len(read_journal(tmp_path).entries) == len(golden().entries)
    with pytest.raises(FileNotFoundError, match=r"journal\.jsonl"):
        read_journal(tmp_path / "nowhere" / "journal.jsonl")


# ---- following


def test_following_gives_each_entry_once_and_waits_for_half_lines(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    reader = JournalReader(path)
    assert reader.poll() == []
    one, two = lines_of(said(0), said(1))
    with path.open("ab", buffering=0) as file:
        file.write(HEADER + b"\n" + one + b"\n" + two[:7])
        assert reader.poll() == [said(0)]
        assert reader.poll() == []
        file.write(two[7:])
        assert reader.poll() == []
        file.write(b"\n")
        assert reader.poll() == [said(1)]
    assert (reader.header, reader.problems) == (Header(FORMAT, "voicetui 0.1.0", "s"), [])


def test_following_byte_by_byte_gives_the_whole_journal(tmp_path: Path) -> None:
    journal = golden()
    data = journal.write(tmp_path / "whole.jsonl").read_bytes()
    path = tmp_path / "growing.jsonl"
    reader, entries = JournalReader(path), []
    with path.open("ab", buffering=0) as file:
        for start in range(0, len(data), 61):
            file.write(data[start : start + 61])
            entries += reader.poll()
    assert entries == journal.entries
    assert reader.problems == []

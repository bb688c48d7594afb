"""What is redacted is gone from every file of a session, and nothing else is changed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.adapters.test_damaged import OLD_FORMATS, fold_all
from tests.journal_builder import JournalBuilder
from voicetui.cli import run
from voicetui.events import AnyFact, AnyOrder, Basis, orders
from voicetui.events.reply import ContextAssembled, Passage, TimedToken, TokensArrived
from voicetui.events.session import Fault
from voicetui.events.sound import ClockMapped
from voicetui.journal import atomic, listing
from voicetui.journal.append import Journal, JournalWriter
from voicetui.journal.blot import MARK, blot, blot_pieces, find_words, letters_of
from voicetui.journal.blotting import Side, Wanted
from voicetui.journal.codec import encode
from voicetui.journal.read import read_journal
from voicetui.journal.recorded import RecordedError, open_recorded
from voicetui.journal.redact import Plan, Proof, carry_out, plan_redaction
from voicetui.sound.wav import WavWriter, read_parts

AT = "2030-01-02T00:00:00Z"
ASKED = "My name is John Smith, what is my balance?"
ANSWER = ["Good day, Mr Smith. ", "Your balance is 421 euros, John. ", "Anything else?"]


def conversation() -> JournalBuilder:
    """Two turns of private things, and one of others; every request tells what came before."""
    journal = JournalBuilder().opened().ready()
    journal.add(ClockMapped(int(journal.now_ms * 16)))
    journal.turn(ASKED, ANSWER)
    journal.turn("And my account number?", ["It ends in 55-12."])
    history = (("system", "Be kind."), ("user", ASKED), ("assistant", "".join(ANSWER).strip()))
    messages = tuple(orders.Message(role, text) for role, text in history)  # type: ignore[arg-type]
    last = orders.Message("user", "What is the weather like?")
    journal.add(orders.Generate(Basis(3, 1, 1), "local", (*messages, last), True))
    journal.add(orders.Prewarm(1, 3, "local", (*messages, last), "words"))
    journal.barge_in("What is the weather like?", ["It is sunny and warm. ", "Tomorrow it rains."])
    return journal.add(ClockMapped(int(journal.now_ms * 16))).closed()


def record(folder: Path, journal: JournalBuilder | None = None, limit_bytes: int = 2**31) -> Path:
    """A session whose tracks are nowhere silent."""
    journal = journal or conversation()
    folder.mkdir(parents=True, exist_ok=True)
    journal.write(folder / "journal.jsonl")
    (folder / "log.txt").write_text("a quiet log\n")
    for stem in ("user", "reply"):
        writer = WavWriter(folder / f"{stem}.wav", limit_bytes)
        writer.append((np.arange(int(journal.now_ms * 16)) % 1000 + 1).astype(np.int16))
        writer.close()
    return folder


def redact(
    folder: Path,
    *words: str,
    start_ms: float | None = None,
    end_ms: float | None = None,
    side: Side = "both",
    sound: bool = True,
) -> tuple[Plan, Proof]:
    plan = plan_redaction(folder, Wanted(start_ms, end_ms, side, words, sound), AT)
    return plan, carry_out(plan)


def raw(folder: Path) -> bytes:
    return (folder / "journal.jsonl").read_bytes()


def plain(text: str) -> str:
    """Another way of seeing words: without case, with blanks for all else, between blanks."""
    text = unicodedata.normalize("NFKC", text).casefold()
    return " " + " ".join(re.sub(r"[^\w]|_", " ", text).split()) + " "


def everything(folder: Path) -> str:
    """All text of a session as another program would find it: each line alone, and all pieces of each reply joined."""
    found = [path.read_bytes().decode("utf-8", "replace") for path in folder.iterdir() if path.suffix != ".wav"]
    pieces: dict[Basis, str] = {}
    for entry in open_recorded(folder).entries:
        if isinstance(entry.body, TokensArrived):
            pieces[entry.body.basis] = pieces.get(entry.body.basis, "") + "".join(t.text for t in entry.body.tokens)
    return plain(" zzz ".join([*found, *pieces.values()]))


# ---- finding words


@pytest.mark.parametrize(
    ("text", "words", "becomes"),
    [
        ("My name is John Smith.", "john smith", f"My name is {MARK}."),
        ("JOHN,  smith!", "John Smith", MARK),
        ("John\u2019s car, johns, John", "john", f"John\u2019s car, johns, {MARK}"),
        ("a party, art, artful", "art", f"a party, {MARK}, artful"),
        ("It costs $1,200.50 now", "1200.50", f"It costs ${MARK} now"),
        ("call 555-1234 or 5551234", "555 1234", f"call {MARK} or {MARK}"),
        ("caf\u00e9 CAFE\u0301 cafe", "Café", f"{MARK} cafe"),
        ("John\u2028Smith", "john smith", MARK),
        ("日本語です", "本", f"日{MARK}語です"),
        ("soft\u00adware", "software", MARK),
        ("  Yes.  ", "yes", f"  {MARK}  "),
        ("nothing", "else", "nothing"),
        ("", "x", ""),
    ],
)
def test_words_are_found_whatever_stands_between_their_letters(text: str, words: str, becomes: str) -> None:
    letters = letters_of(text)
    assert blot(text, letters, find_words([letters_of(words).text], letters)) == becomes


@given(st.text(max_size=60), st.integers(0, 60), st.integers(0, 60))
def test_what_is_blotted_leaves_no_letter_of_it(text: str, start: int, end: int) -> None:
    letters = letters_of(text)
    span = (min(start, len(letters.text)), min(end, len(letters.text)))
    left = letters_of(blot(text, letters, [span]).replace(MARK, " ")).text
    hidden = max(0, span[1] - span[0])
    assert len(left) <= len(letters.text) - hidden
    assert blot(text, letters, []) == text


def test_pieces_lose_what_is_blotted_and_keep_their_number() -> None:
    pieces = ["My", " name is Jo", "hn", "", " Smi", "th, hello"]
    letters = letters_of("".join(pieces))
    blotted = blot_pieces(pieces, letters, find_words(["johnsmith"], letters))
    assert blotted == ["My", f" name is {MARK}", "", "", "", ", hello"]


# ---- words


def test_words_are_gone_from_every_place_they_were_repeated_in(tmp_path: Path) -> None:
    folder = record(tmp_path / "s")
    before = raw(folder).splitlines()
    (folder / "log.txt").write_text("12:00 asked: my name is john\nsmith, said he\n12:01 fine\n")
    plan, proof = redact(folder, "John Smith", "421")
    assert proof == Proof(4, ())
    found = everything(folder)
    assert " john smith " not in found and "421" not in found
    assert (folder / "log.txt").read_text() == f"12:00 asked: my name is {MARK}, said he\n12:01 fine\n"
    after = raw(folder).splitlines()
    changed = {number for number, (old, new) in enumerate(zip(before, after, strict=True), 1) if old != new}
    assert changed == {1} | {each.line for each in plan.changes}
    assert all(b"421" in before[n - 1] or b"John" in before[n - 1] or b"Smith" in before[n - 1] for n in changed - {1})
    assert "weather" in found and "55 12" in found
    assert not any(word in str(plan.words) for word in ("weather", "balance"))


def test_words_in_pieces_and_across_clauses_are_gone(tmp_path: Path) -> None:
    journal = JournalBuilder().opened().ready().turn("Who?", ["I am Ann. ", "Miller is my name."])
    for place, entry in enumerate(journal.entries):
        if isinstance(entry.body, TokensArrived):
            split = [TimedToken(half, t.at_ms) for t in entry.body.tokens for half in (t.text[:2], t.text[2:]) if half]
            journal.entries[place] = msgspec.structs.replace(entry, body=TokensArrived(entry.body.basis, tuple(split)))
    folder = record(tmp_path / "s", journal.closed())
    _, proof = redact(folder, "Ann Miller")
    assert proof.left == () and " ann " not in everything(folder) and "miller" not in everything(folder)
    clauses = [
        entry.body.text for entry in open_recorded(folder).entries if entry.body.__class__.__name__ == "ClauseCut"
    ]
    assert clauses == [f"I am {MARK}. ", f"{MARK} is my name."]


def test_a_piece_of_a_longer_word_is_no_word(tmp_path: Path) -> None:
    journal = JournalBuilder().opened().ready().turn("Who?", ["A handsome man."])
    for place, entry in enumerate(journal.entries):
        if isinstance(entry.body, TokensArrived):
            split = [TimedToken(piece, 0.0) for piece in ("A hand", "some", " man.")]
            journal.entries[place] = msgspec.structs.replace(entry, body=TokensArrived(entry.body.basis, tuple(split)))
    folder = record(tmp_path / "s", journal.closed())
    assert plan_redaction(folder, Wanted(words=("some", "hand")), AT).empty
    _, proof = redact(folder, "man", "some")
    assert proof.left == () and "a handsome redacted" in everything(folder)


def test_wordings_on_the_way_do_not_give_it_away(tmp_path: Path) -> None:
    journal = JournalBuilder().opened().ready().turn("The code is blue tiger seven okay", ["Thanks."])
    folder = record(tmp_path / "s", journal.closed())
    text = raw(folder).replace(b'"text":"The code is"', b'"text":"The code is blew"')
    (folder / "journal.jsonl").write_bytes(text)
    redact(folder, "blue tiger seven")
    texts = [
        entry.body.text for entry in open_recorded(folder).entries if entry.body.__class__.__name__ == "Transcribed"
    ]
    assert texts == [f"The code is {MARK}", f"The code is {MARK} okay"]


def test_a_wrong_wording_can_be_taken_out_and_the_right_one_stays(tmp_path: Path) -> None:
    journal = JournalBuilder().opened().ready().turn("What is the capital of France", ["Paris."])
    folder = record(tmp_path / "s", journal.closed())
    (folder / "journal.jsonl").write_bytes(raw(folder).replace(b'"text":"What is the"', b'"text":"What is the cabin"'))
    redact(folder, "cabin")
    texts = [
        entry.body.text for entry in open_recorded(folder).entries if entry.body.__class__.__name__ == "Transcribed"
    ]
    assert texts == [f"What is the {MARK}", "What is the capital of France"]


def test_how_it_was_to_be_said_goes_with_how_it_was_written(tmp_path: Path) -> None:
    folder = record(tmp_path / "s")
    text = raw(folder).replace(
        b'"spoken":"Your balance is 421 euros, John."', b'"spoken":"Your balance is four hundred"'
    )
    (folder / "journal.jsonl").write_bytes(text)
    redact(folder, "421")
    assert b"four hundred" not in raw(folder)


def test_the_sound_of_the_words_goes_too_unless_it_is_to_stay(tmp_path: Path) -> None:
    journal = conversation()
    first, third = journal.times[1], journal.times[3]
    folder = record(tmp_path / "s", journal)
    redact(folder, "weather", side="user")
    user, reply = (read_parts(folder, stem)[0] for stem in ("user", "reply"))
    assert not user[int(third.onset * 16) : int(third.user_end * 16)].any()
    assert user[: int(third.onset * 16)].all() and reply.all()
    redact(folder, "John", sound=False)
    assert read_parts(folder, "reply")[0].all()
    redact(folder, "Mr Smith")
    assert not read_parts(folder, "reply")[0][
        int(first.reply_start * 16) + 1 : int(first.reply_start * 16) + 16_000
    ].any()


def test_the_programs_own_words_stay(tmp_path: Path) -> None:
    folder = record(tmp_path / "s", conversation().add(Fault("tier", "local said weather")))
    _, proof = redact(folder, "local", "user", "weather")
    recorded = open_recorded(folder)
    assert proof.left == () and recorded.opened is not None and recorded.opened.tier == "local"
    assert not [problem for problem in recorded.problems if problem.kind == "bad"]
    assert [entry.body.message for entry in recorded.entries if isinstance(entry.body, Fault)] == [
        f"{MARK} said {MARK}"
    ]


_OWN = """
tier_facts.kind tier_facts.model tier_facts.name session_opened.program session_opened.source session_opened.session
session_opened.started_utc session_opened.parent session_opened.tier session_closed.reason fault.stage
tier_chosen.tier device_chosen.host device_opened.host sound_lost.reason echo_lost.reason
transcribed.language transcribed.doubt request_sent.tier generation_failed.stage discarded.stage wake_at.why
reject.reason generate.tier commit.reason cancel.reason prepare_tier.tier prewarm.tier use_device.host
change_duplex.reason change_duplex.remedy end_session.why stop_asked.why
session_opened.name session_opened.kind session_opened.model
"""
OWN = frozenset(_OWN.split())
"""Texts that the program chooses, or its configuration: names and reasons that it goes by."""


def own_texts(value: Any, name: str, kind: str) -> set[str]:
    """The fields below ``value`` that hold the word "some"."""
    if isinstance(value, str):
        return {f"{kind}.{name}"} if "some " in value else set()
    if isinstance(value, dict):
        return {found for key, each in value.items() for found in own_texts(each, key, kind)}
    return {found for each in value for found in own_texts(each, name, kind)} if isinstance(value, list) else set()


def test_every_text_of_every_record_is_either_the_programs_own_or_searched(tmp_path: Path) -> None:
    """A new field fails here until it is said which of the two it is (``voicetui.journal.spoken``)."""
    folder = tmp_path / "s"
    folder.mkdir()
    records = (OLD_FORMATS / "format-1-records.jsonl").read_bytes().splitlines(keepends=True)
    newest = [
        encode(entry).replace(b'["some', b'[" some') + b"\n"
        for entry in read_journal(OLD_FORMATS / "format-1-records.jsonl").entries
    ]
    (folder / "journal.jsonl").write_bytes(b"".join([records[0], *newest]))
    redact(folder, "some", sound=False)
    left: set[str] = set()
    for line in raw(folder).splitlines()[1:]:
        body = msgspec.json.decode(line)["body"]
        left |= own_texts(body, "", body["type"])
    assert left == OWN
    assert open_recorded(folder).problems[0].kind != "bad"


# ---- a span of time


@pytest.mark.parametrize("side", ["user", "reply", "both"])
def test_a_span_is_silent_and_what_was_said_in_it_is_gone(tmp_path: Path, side: Side) -> None:
    journal = conversation()
    turn = journal.times[1]
    folder = record(tmp_path / "s", journal, limit_bytes=60_044)
    before = {path.name: path.read_bytes() for path in folder.glob("*.wav")}
    start_ms, end_ms = turn.onset + 100, turn.reply_end - 100
    plan, proof = redact(folder, start_ms=start_ms, end_ms=end_ms, side=side)
    assert proof.left == () and proof.clean == len(list(folder.iterdir()))
    start, end = int(start_ms * 16), int(end_ms * 16)
    for stem in ("user", "reply"):
        samples = read_parts(folder, stem)[0]
        silent = side in (stem, "both")
        assert not samples[start:end].any() if silent else samples.all()
        assert samples[:start].all() and samples[end:].all()
    assert sum(path.read_bytes() != before[path.name] for path in folder.glob("*.wav")) < len(before)
    found = everything(folder)
    assert ("my name is john" in found) == (side == "reply")
    assert ("balance is 421" in found) == (side == "user")
    assert "account number" in found and "weather like" in found and "sunny and warm" in found
    assert plan.sounds == ((start_ms, end_ms),)


def test_only_the_clauses_heard_in_the_span_go(tmp_path: Path) -> None:
    journal = conversation()
    turn = journal.times[1]
    folder = record(tmp_path / "s", journal)
    redact(folder, start_ms=turn.reply_start + 10, end_ms=turn.reply_start + 500, side="reply")
    found = everything(folder)
    assert "good day" not in found and "your balance is 421 euros john anything else" in found
    request = next(entry.body for entry in open_recorded(folder).entries if isinstance(entry.body, orders.Prewarm))
    assert request.messages[2].text == f"{MARK}. Your balance is 421 euros, John. Anything else?"


def test_a_short_answer_goes_where_it_was_said_and_stays_elsewhere(tmp_path: Path) -> None:
    journal = JournalBuilder().opened().ready().turn("Yes", ["Fine, I do that."]).turn("Yes", ["And that, too."])
    folder = record(tmp_path / "s", journal.closed())
    first, second = journal.times[1], journal.times[2]
    plan, proof = redact(folder, start_ms=first.onset, end_ms=first.user_end, side="user")
    assert plan.short and proof.left == ()
    commits = [entry.body.text for entry in open_recorded(folder).entries if isinstance(entry.body, orders.Commit)]
    assert commits == [MARK, "Yes"] and second.turn == 2


def test_what_was_looked_up_and_typed_in_the_span_goes(tmp_path: Path) -> None:
    journal = JournalBuilder().opened().ready()
    start_ms = journal.now_ms
    journal.add(ContextAssembled(1, 1, (Passage("rent.md", "The rent is due on Friday."),), start_ms))
    journal.add(orders.AssembleContext(1, 1, "rent due", 2)).typed("When is my rent due?", ["On Friday."])
    folder = record(tmp_path / "s", journal.closed())
    redact(folder, start_ms=start_ms, end_ms=start_ms + 10)
    assert "rent is due" not in everything(folder) and "when is my rent" not in everything(folder)


def test_words_that_were_scored_go_too(tmp_path: Path) -> None:
    journal = conversation()
    journal.add(orders.ScoreWords(1, 90, "My name is John and I"))
    folder = record(tmp_path / "s", journal)
    redact(folder, "my name is John")
    assert "name is john" not in everything(folder)
    again = record(tmp_path / "t", journal)
    turn = journal.times[1]
    redact(again, start_ms=turn.onset, end_ms=turn.user_end, side="user")
    assert "name is john" not in everything(again)


def test_every_record_that_holds_words_is_one_that_is_read_for_them() -> None:
    kinds = (*AnyFact.__args__, *AnyOrder.__args__)
    named = {kind.__struct_config__.tag for kind in kinds if {"text", "query", "spoken"} & set(kind.__struct_fields__)}
    assert named == {
        "said", "transcribed", "score_words", "revise", "reject", "commit", "assemble_context", "clause_cut",
        "synthesize", "play",
    }  # fmt: skip


def test_a_span_in_which_nothing_was_said_changes_only_the_sound(tmp_path: Path) -> None:
    folder = record(tmp_path / "s")
    before = raw(folder).split(b"\n", 1)[1]
    plan, _ = redact(folder, start_ms=10, end_ms=300)
    assert raw(folder).split(b"\n", 1)[1] == before and plan.lines == 0
    assert not read_parts(folder, "user")[0][160:4800].any()


def test_nothing_to_take_out_writes_nothing(tmp_path: Path) -> None:
    folder = record(tmp_path / "s")
    plan = plan_redaction(folder, Wanted(words=("zebra",)), AT)
    assert plan.empty and plan.files == {}
    beyond = plan_redaction(folder, Wanted(9e8, 9e9), AT)
    assert beyond.empty


# ---- what is left of the session


def test_it_is_noted_when_and_where_but_not_what(tmp_path: Path) -> None:
    folder = record(tmp_path / "s")
    redact(folder, "balance", start_ms=100.0, end_ms=200.0, side="user", sound=False)
    redact(folder, "weather", sound=False)
    recorded = open_recorded(folder)
    first, second = recorded.redactions
    assert (first.at_utc, first.track, first.sounds) == (AT, "user", ((100.0, 200.0),)) and second.sounds == ()
    assert first.lines > 0 and recorded.header is not None and recorded.header.session == "golden"
    assert recorded.problems == ()


def test_without_a_header_one_is_made(tmp_path: Path) -> None:
    folder = record(tmp_path / "s")
    (folder / "journal.jsonl").write_bytes(raw(folder).split(b"\n", 1)[1])
    redact(folder, "balance")
    assert open_recorded(folder).redactions and "balance" not in everything(folder)


@settings(max_examples=20, deadline=None, phases=[Phase.generate])
@given(st.data())
def test_any_words_and_any_span_are_gone_and_all_views_can_be_made(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = record(tmp_path_factory.mktemp("any") / "s")
    no_numbers = [text.replace("421", "") for text in ANSWER]
    said = plain(
        " ".join([ASKED, *no_numbers, "And my account number It ends in sunny and warm tomorrow it rains"])
    ).split()
    start = data.draw(st.integers(0, len(said) - 2))
    words = " ".join(said[start : start + data.draw(st.integers(2, 4))])
    start_ms = data.draw(st.floats(0, 20_000))
    end_ms = start_ms + data.draw(st.floats(1, 5_000))
    numbers = [entry.seq for entry in open_recorded(folder).entries]
    _, proof = redact(folder, words, start_ms=start_ms, end_ms=end_ms)
    assert proof.left == () and f" {words} " not in everything(folder)
    recorded = open_recorded(folder)
    assert [entry.seq for entry in recorded.entries] == numbers and recorded.problems == ()
    fold_all(recorded.entries)
    start, end = int(np.ceil(start_ms * 16)), int(end_ms * 16)
    assert not read_parts(folder, "user")[0][start:end].any()


# ---- damaged sessions


def test_damaged_lines_go_whole_and_records_of_newer_programs_lose_the_words(tmp_path: Path) -> None:
    folder = record(tmp_path / "s")
    lines = raw(folder).splitlines()
    lines[8] = b'{"seq":7,"at":1,"body":{"type":"said","text":"my balance'
    lines[9] = b'{"seq":8,"at":1.0,"body":{"type":"dreamt","of":["a balance",{"x":"y"}]}}'
    lines[10] = lines[10] + b'\0\0\0{"seq":9000,"at":1.0,"body":{"type":"said","text":"No balance"}}'
    lines[11] = b'{"seq":10,"at":1.0,"body":{"type":"said","text":"b\xe4lance and balance"}}'
    lines[12] = b'{"seq":11,"at":1.0,"body":{"type":"said","text":"balance","text":"twice"}}'
    lines[-1] = lines[-1] + b'\n{"seq":9001,"at":1.0,"bo'
    (folder / "journal.jsonl").write_bytes(b"\n".join(lines))
    plan, proof = redact(folder, "balance")
    after = raw(folder).split(b"\n")
    assert proof.left == () and plan.unreadable == 2 and b"balance" not in raw(folder)
    assert after[8] == b"" and after[-1] == b"" and len(after) == len(lines) + 1
    assert after[9] == b'{"seq":8,"at":1.0,"body":{"type":"dreamt","of":["a [redacted]",{"x":"y"}]}}'
    assert after[10].endswith(b'\0\0\0{"seq":9000,"at":1.0,"body":{"type":"said","text":"No [redacted]"}}')
    assert after[11] == b'{"seq":10,"at":1.0,"body":{"type":"said","text":"[redacted] and [redacted]"}}'
    assert after[12] == b'{"seq":11,"at":1.0,"body":{"type":"said","text":"twice"}}'


def test_a_damaged_line_stays_where_nothing_has_to_go(tmp_path: Path) -> None:
    folder = record(tmp_path / "s")
    (folder / "journal.jsonl").write_bytes(raw(folder) + b'{"seq":9000,"at":1.0,"body":{"type":"said","text":"zebra')
    assert plan_redaction(folder, Wanted(words=("giraffe",)), AT).empty
    plan, proof = redact(folder, "zebra")
    assert (plan.unreadable, plan.lines, proof.left) == (1, 1, ()) and b"zebra" not in raw(folder)


def test_a_session_without_sound_loses_its_words(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    folder.mkdir()
    conversation().write(folder / "journal.jsonl")
    _, proof = redact(folder, "balance", start_ms=0, end_ms=100)
    assert proof == Proof(1, ())


# ---- writing


class Crash(BaseException):
    """The power fails."""


def test_a_crash_leaves_every_file_old_or_new_and_the_same_again_finishes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_fsync, real_replace = atomic.os.fsync, Path.replace
    whole = record(tmp_path / "whole")
    old = {path.name: path.read_bytes() for path in whole.iterdir()}
    redact(whole, "balance", start_ms=500, end_ms=2000)
    new = {path.name: path.read_bytes() for path in whole.iterdir()}
    for crash_at in range(40):
        folder = record(tmp_path / f"s{crash_at}")
        steps = 0

        def step(real: Callable[..., Any], when: int = crash_at) -> Callable[..., Any]:
            def counted(*arguments: Any) -> Any:
                nonlocal steps
                steps += 1
                if steps > when:
                    raise Crash
                return real(*arguments)

            return counted

        with monkeypatch.context() as patched:
            patched.setattr(atomic.os, "fsync", step(real_fsync))
            patched.setattr(Path, "replace", step(real_replace))
            patched.setattr(Path, "unlink", lambda *_, **__: None)
            try:
                redact(folder, "balance", start_ms=500, end_ms=2000)
                crashed = False
            except Crash:
                crashed = True
        for name, content in old.items():
            assert (folder / name).read_bytes() in (content, new[name])
        if not crashed:
            assert crash_at > 4
            return
        if raw(folder) == new["journal.jsonl"]:
            assert all((folder / name).read_bytes() == content for name, content in new.items())
        else:
            redact(folder, "balance", start_ms=500, end_ms=2000)
            assert {path.name: path.read_bytes() for path in folder.iterdir()} == new
    pytest.fail("it never came to its end")


def test_a_full_disk_changes_nothing_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = record(tmp_path / "s")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic.os, "fsync", full)
    with pytest.raises(RecordedError, match=r"No space left on device\. Nothing was changed"):
        redact(folder, "balance")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_new_files_are_private(tmp_path: Path) -> None:
    folder = record(tmp_path / "s")
    for path in folder.iterdir():
        path.chmod(0o644)
    redact(folder, "balance", start_ms=100, end_ms=200)
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir() if path.name != "log.txt"} == {0o600}


# ---- the command


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    monkeypatch.setattr(listing, "cache_file", lambda: tmp_path / "cache.json")
    config = tmp_path / "c.toml"
    config.write_text(f'[record]\nfolder = "{tmp_path}/recordings"\n')
    return lambda *words: run(["redact", "--config", str(config), *words])


def test_a_rerun_of_a_session_that_was_renamed_is_named(
    tmp_path: Path, command: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    record(tmp_path / "recordings" / "renamed")
    rerun = conversation()
    opened = rerun.entries[0]
    child = msgspec.structs.replace(opened.body, parent="golden")
    rerun.entries[0] = msgspec.structs.replace(opened, body=child)
    record(tmp_path / "recordings" / "rerun", rerun)
    assert command("renamed", "--text", "balance", "--dry-run") == 0
    assert "rerun was made from this session's sound" in capsys.readouterr().err


def test_the_command_proves_itself_and_a_dry_run_changes_nothing(
    tmp_path: Path, command: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = record(tmp_path / "recordings" / "a")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert command("a", "--text", "balance", "--dry-run") == 0
    out = capsys.readouterr().out
    assert "my balance?' -> 'My name is John Smith, what is my [redacted]?'" in out and "user.wav: silence from" in out
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert command("a", "--text", "balance", "--from", "0:01", "--to", "2.5") == 0
    out = capsys.readouterr().out
    assert "gone from 4 files of a" in out and "balance" not in out
    assert command("a", "--text", "balance") == 0 and "nothing of that is there" in capsys.readouterr().err
    (folder / "notes.txt").write_text("his balance")
    assert command("a", "--text", "balance", "weather") == 1
    assert "NOT gone: notes.txt" in capsys.readouterr().out


def test_copies_in_the_trash_and_what_is_kept_about_it_are_redacted_too(
    tmp_path: Path, command: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = record(tmp_path / "recordings" / "a")
    copy = record(tmp_path / "recordings" / ".trash" / "a")
    (folder / "tags.json").write_text('["balance","good"]')
    listing.list_sessions(tmp_path / "recordings", tmp_path / "cache.json")
    assert command("a", "--text", "balance") == 0
    assert "its copy in" in capsys.readouterr().out
    assert "balance" not in everything(copy) and (folder / "tags.json").read_text() == '["good"]\n'
    (row,) = listing.list_sessions(tmp_path / "recordings", tmp_path / "cache.json")
    assert row.redacted and row.tags == ("good",) and "balance" not in (tmp_path / "cache.json").read_text()


def test_what_cannot_be_done_is_said(
    tmp_path: Path, command: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    journal = Journal(JournalWriter(tmp_path / "recordings" / "a"))
    journal.append(0.0, conversation().entries[0].body)
    assert command("a", "--text", "x") == 1 and "is being written" in capsys.readouterr().err
    journal.close()
    for words in ((), ("--from", "1"), ("--from", "2", "--to", "1"), ("--text", "?!"), ("--text", "redacted")):
        assert command("a", *words) == 2
        assert "voicetui: " in capsys.readouterr().err


def test_files_that_lie_elsewhere_are_cleared_where_they_lie(tmp_path: Path) -> None:
    folder, elsewhere = record(tmp_path / "a"), tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name in ("journal.jsonl", "user.wav"):
        (folder / name).rename(elsewhere / name)
        (folder / name).symlink_to(elsewhere / name)
    before = (elsewhere / "user.wav").read_bytes()
    _, proof = redact(folder, "balance")
    assert not proof.left and b"balance" not in (elsewhere / "journal.jsonl").read_bytes()
    assert (elsewhere / "user.wav").read_bytes() != before
    assert sorted(path.name for path in elsewhere.iterdir()) == ["journal.jsonl", "user.wav"]


@pytest.mark.parametrize(
    "body",
    [
        {"type": "tokens_arrived", "basis": [1, 1, 1], "tokens": [[5, 1.0]]},
        {"type": "clause_cut", "basis": [1, 1, 1], "clause": "one", "text": "John", "spoken": "John"},
        {"type": "clause_cut", "basis": [1, 1, 1], "clause": 0, "text": {"is": "John"}, "spoken": "John"},
        {"type": "open_utterance", "utterance": 1, "turn": {}},
        {"type": "said", "text": 7},
        {"type": "generate", "basis": [[], 1, 1], "messages": [["user", "John"]]},
    ],
    ids=lambda body: str(body["type"]),
)
def test_lines_with_other_things_than_belong_there_are_cleared_too(tmp_path: Path, body: dict[str, Any]) -> None:
    folder = record(tmp_path / "a")
    line = msgspec.json.encode({"seq": 999, "at": 5.0, "body": body})
    (folder / "journal.jsonl").write_bytes(raw(folder) + line + b"\n")
    _, proof = redact(folder, "John", start_ms=0.0, end_ms=9e9)
    assert not proof.left and b"John" not in raw(folder)


def test_words_are_silent_on_the_side_that_said_them_whatever_track_the_span_is_of(tmp_path: Path) -> None:
    sides: tuple[Side, ...] = ("user", "reply")
    for side in sides:
        folder = record(tmp_path / side)
        plan, proof = redact(folder, "421 euros", side=side)
        assert plan.spans["reply"] and not proof.left, "the reply said it"
        samples = read_parts(folder, "reply")[0]
        assert all(not samples[start:end].any() for start, end in plan.spans["reply"])
    folder = record(tmp_path / "asked")
    plan, _ = redact(folder, "what is my balance", side="reply")
    assert plan.spans["user"]

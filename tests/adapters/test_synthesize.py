"""From words to finished sound: edges, retries, void work, word times."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.adapters.playing import HandClock
from voicetui.events.base import Basis, Fact
from voicetui.events.orders import Synthesize
from voicetui.events.speak import ClauseSynthesized, Discarded, SynthesisFailed
from voicetui.ports import PcmFloat, StageError
from voicetui.speak.audible import audible_span, hop_levels
from voicetui.speak.growth import FIRST_LEAD_MS, LEAD_MS, TRAIL_MS
from voicetui.speak.scripted import ScriptedVoice
from voicetui.speak.synthesize import SynthesizedClause, Synthesizer
from voicetui.speak.timing import Group, TimedPiece, estimated_spans, spans_from_groups
from voicetui.speak.words import count_words, word_spans, words_of_text

RATE_HZ = 16_000
BASIS = Basis(1, 2, 3)


class ListVoice:
    """A voice that gives out the pieces it was made with, one call after another; an exception in a list is raised."""

    rate_hz = RATE_HZ

    def __init__(self, *calls: list[PcmFloat | Exception]) -> None:
        self.calls = list(calls)
        self.asked: list[str] = []

    def warm(self) -> float:
        return 0.0

    def synthesize(self, spoken: str) -> Iterator[PcmFloat]:
        self.asked.append(spoken)
        for piece in self.calls.pop(0):
            if isinstance(piece, Exception):
                raise piece
            yield piece


class Desk:
    """A synthesizer with its clock and what it posted."""

    def __init__(self, voice: object, cached_clauses: int = 0) -> None:
        self.clock = HandClock()
        self.facts: list[tuple[Fact, float]] = []
        self.synthesizer = Synthesizer(
            voice,  # type: ignore[arg-type]
            self.clock,
            lambda fact, at_ms: self.facts.append((fact, at_ms)),
            cached_clauses=cached_clauses,
        )

    def run(
        self, spoken: str = "hello", current: Callable[[Basis], bool] = lambda _: True, waited_ms: float = 0.0
    ) -> SynthesizedClause | None:
        return self.synthesizer.run(Synthesize(BASIS, 4, spoken), current, waited_ms)

    def made(self, spoken: str = "hello") -> SynthesizedClause:
        sound = self.run(spoken)
        assert sound is not None
        return sound


def level(count: int, value: float = 0.7) -> PcmFloat:
    return np.full(count, value, np.float32)


def silence(ms: float) -> PcmFloat:
    return np.zeros(round(ms * RATE_HZ / 1e3), np.float32)


# ---- edges


def test_two_pieces_at_full_level_join_without_a_gap_and_with_soft_edges() -> None:
    piece = level(RATE_HZ // 5)
    sound = Desk(ListVoice([piece, piece])).made()
    assert len(sound.samples) == 2 * len(piece)
    for edge in (0, len(piece) - 1, len(piece), 2 * len(piece) - 1):
        assert abs(float(sound.samples[edge])) < 0.01
    assert np.abs(np.diff(sound.samples)).max() <= 0.7 / (0.005 * RATE_HZ) + 1e-6
    assert sound.samples[100:-100].max() == pytest.approx(0.7)


def test_a_reply_begins_with_hardly_any_silence_and_its_later_sentences_with_some() -> None:
    piece = np.concatenate((silence(400), level(RATE_HZ // 2, 0.3), silence(400)))
    desk = Desk(ListVoice([piece, piece], [piece, piece]), cached_clauses=4)
    first = desk.synthesizer.run(Synthesize(BASIS, 0, "hello"), lambda _: True)
    later = desk.synthesizer.run(Synthesize(BASIS, 1, "hello"), lambda _: True)
    assert isinstance(first, SynthesizedClause) and isinstance(later, SynthesizedClause)
    assert first.fact.lead_ms == pytest.approx(FIRST_LEAD_MS, abs=5)
    assert later.fact.lead_ms == pytest.approx(LEAD_MS, abs=5), "it is not the kept sound of a beginning"
    assert len(later.samples) - len(first.samples) == round((LEAD_MS - FIRST_LEAD_MS) * RATE_HZ / 1e3)


@pytest.mark.parametrize("pieces", [1, 3])
def test_silence_at_the_edges_is_trimmed_to_a_bound_also_between_sentences(pieces: int) -> None:
    piece = np.concatenate((silence(400), level(RATE_HZ // 2, 0.3), silence(400)))
    sound = Desk(ListVoice([piece] * pieces)).made()
    span = audible_span(sound.samples, RATE_HZ)
    assert span is not None
    assert span[0] / RATE_HZ * 1e3 == pytest.approx(LEAD_MS, abs=5)
    assert (len(sound.samples) - span[1]) / RATE_HZ * 1e3 <= TRAIL_MS
    loud = np.flatnonzero(hop_levels(sound.samples, RATE_HZ) >= 10**-2.5)
    assert (np.diff(loud).max() - 1) * 5.0 <= 150.0
    assert sound.fact.lead_ms == pytest.approx(LEAD_MS, abs=5)
    assert sound.fact.duration_ms == pytest.approx(sound.duration_ms) == len(sound.samples) / RATE_HZ * 1e3


def test_silence_inside_a_sentence_and_short_edges_are_left_alone() -> None:
    piece = np.concatenate((silence(20), level(1600), silence(400), level(1600), silence(60)))
    assert len(Desk(ListVoice([piece])).made().samples) == len(piece)


def test_a_soft_beginning_under_the_audible_level_is_kept_within_the_bound() -> None:
    piece = np.concatenate((silence(300), level(320, 0.002), level(3200, 0.3)))
    sound = Desk(ListVoice([piece])).made()
    assert np.count_nonzero(np.abs(sound.samples[:480]) > 0.001) >= 300


@pytest.mark.parametrize("pieces", [[], [silence(0)], [level(1)], [level(2)], [silence(900)]])
def test_no_sound_or_hardly_any_gives_a_clause_that_plays_in_no_time(pieces: list[PcmFloat]) -> None:
    sound = Desk(ListVoice(list(pieces))).made("...")
    assert not np.abs(sound.samples).max(initial=0.0) > 0.01
    assert sound.duration_ms <= TRAIL_MS
    assert sound.fact.lead_ms == pytest.approx(sound.duration_ms)


def test_what_a_voice_gives_out_of_range_or_not_a_number_is_made_safe() -> None:
    wild = level(3200)
    wild[100], wild[200], wild[300], wild[400] = np.nan, np.inf, -np.inf, 5.0
    sound = Desk(ListVoice([wild])).made()
    assert np.isfinite(sound.samples).all() and np.abs(sound.samples).max() <= 1.0


@given(st.lists(st.integers(0, 3000), max_size=5), st.floats(0.01, 1.0))
def test_loud_pieces_keep_their_exact_length_and_edges_whatever_their_size(sizes: list[int], loud: float) -> None:
    sound = Desk(ListVoice([level(size, loud) for size in sizes])).made()
    assert len(sound.samples) == sum(sizes)
    assert not sizes or abs(float(np.append(sound.samples, 0.0)[0])) < 0.01
    assert sound.samples.dtype == np.float32 and not sound.samples.flags.writeable


# ---- facts


def test_the_fact_tells_when_it_began_when_first_sound_existed_and_how_long_it_waited() -> None:
    clock: list[HandClock] = []

    def work(_: str) -> None:
        clock[0].ms += 500.0

    desk = Desk(ScriptedVoice(RATE_HZ, work=work))
    clock.append(desk.clock)
    desk.clock.ms = 100.0
    sound = desk.run("One two. Three four.", waited_ms=70.0)
    assert sound is not None and desk.facts == []
    assert sound.fact == ClauseSynthesized(BASIS, 4, 100.0, 600.0, 70.0, 0.0, sound.duration_ms)
    assert sound.at_ms == 1100.0


def test_lead_is_the_first_five_milliseconds_at_minus_fifty_dbfs() -> None:
    piece = np.concatenate((level(400, 0.0031), level(3200, 0.0033)))
    assert Desk(ListVoice([piece])).made().fact.lead_ms == pytest.approx(25.0, abs=5.0)


# ---- failures


def test_a_voice_that_fails_once_is_asked_again_and_nothing_is_told() -> None:
    desk = Desk(ListVoice([level(800), RuntimeError("hiccup")], [level(800), level(1600)]))
    assert len(desk.made().samples) == 2400
    assert desk.facts == []


@pytest.mark.parametrize("error", [StageError("no", "mend it"), RuntimeError("onnx\n  failed"), ValueError()])
def test_a_voice_that_fails_twice_costs_one_clause(error: Exception) -> None:
    desk = Desk(ListVoice([level(800), error], [error], [level(800)]))
    assert desk.run("second") is None
    ((fact, _),) = desk.facts
    assert isinstance(fact, SynthesisFailed) and (fact.basis, fact.clause) == (BASIS, 4)
    assert fact.message and "\n" not in fact.message
    assert len(desk.made("third").samples) == 800


def test_the_second_of_three_clauses_fails_and_the_third_is_made() -> None:
    desk = Desk(ScriptedVoice(RATE_HZ, failures=lambda _, spoken: "broken" if "two" in spoken else None))
    sounds = [desk.run(spoken) for spoken in ("one", "two", "three")]
    assert [sound is not None for sound in sounds] == [True, False, True]
    assert [type(fact) for fact, _ in desk.facts] == [SynthesisFailed]


# ---- void work


def test_an_order_whose_basis_is_void_never_starts() -> None:
    voice = ListVoice([level(800)])
    desk = Desk(voice)
    assert desk.run(current=lambda _: False) is None
    assert voice.asked == []
    assert [fact for fact, _ in desk.facts] == [Discarded(BASIS, "synthesize", reason="basis is void")]


@pytest.mark.parametrize(("living", "samples"), [(1, 1600), (2, 3200), (3, 4800)])
def test_work_stops_between_sentences_when_its_basis_becomes_void(living: int, samples: int) -> None:
    asked = 0

    def current(basis: Basis) -> bool:
        nonlocal asked
        asked += 1
        desk.clock.ms += 40.0
        return basis == BASIS and asked <= living

    desk = Desk(ListVoice([level(1600)] * 3))
    assert desk.run(current=current) is None
    ((fact, _),) = desk.facts
    assert isinstance(fact, Discarded)
    assert (fact.samples, fact.ms, fact.stage) == (samples, 40.0 * (living + 1), "synthesize")


def test_a_failure_is_not_tried_again_for_a_void_basis() -> None:
    answers = iter([True, False])
    voice = ListVoice([RuntimeError("x")], [level(800)])
    assert Desk(voice).run(current=lambda _: next(answers)) is None


# ---- cache


def test_short_clauses_said_before_come_from_the_cache_and_the_oldest_is_forgotten() -> None:
    voice = ScriptedVoice(RATE_HZ)
    desk = Desk(voice, cached_clauses=2)
    first = desk.made("Sure.")
    again = desk.made("Sure.")
    assert again.samples is first.samples and voice.calls == 1
    assert (first.fact.cached, again.fact.cached) == (False, True)
    for spoken in ("One moment.", "Yes.", "Sure."):
        desk.made(spoken)
    assert voice.calls == 4
    long = "This sentence is far too long to be worth keeping for another time."
    desk.made(long), desk.made(long)
    assert voice.calls == 6


def test_without_a_cache_every_clause_is_made_anew() -> None:
    voice = ScriptedVoice(RATE_HZ)
    desk = Desk(voice)
    desk.made("Sure."), desk.made("Sure.")
    assert voice.calls == 2


# ---- when each word is said


class TimedListVoice(ListVoice):
    """A voice that knows when it says what."""

    def synthesize_timed(self, spoken: str) -> Iterator[TimedPiece]:
        for piece in self.synthesize(spoken):
            yield TimedPiece(piece, (Group(3, 6400, 8000), Group(3, 9600, 11200)))


def test_the_voices_own_word_times_move_with_the_trimming() -> None:
    piece = np.concatenate((silence(400), level(4800, 0.3), silence(100)))
    sound = Desk(TimedListVoice([piece])).made("one two")
    lead = round(LEAD_MS * RATE_HZ / 1e3)
    assert sound.words == ((lead, lead + 1600), (lead + 3200, lead + 4800))


def test_words_of_two_sentences_lie_one_after_the_other() -> None:
    piece = np.concatenate((silence(400), level(4800, 0.3)))
    sound = Desk(TimedListVoice([piece, piece])).made("one two. six ten.")
    starts = [start for start, _ in sound.words]
    assert len(starts) == 4 and starts == sorted(starts)
    assert starts[2] - starts[0] == 4800 + round(LEAD_MS * RATE_HZ / 1e3)


def test_a_voice_without_word_times_has_them_estimated_over_what_is_audible() -> None:
    piece = np.concatenate((silence(400), level(8000, 0.3), silence(400)))
    sound = Desk(ListVoice([piece])).made("aaa bbb")
    lead = round(LEAD_MS * RATE_HZ / 1e3)
    assert sound.words == ((lead, lead + 4000), (lead + 4000, lead + 8000))


def test_estimated_words_go_by_letters_and_pauses() -> None:
    spans = estimated_spans("a abc, abc", 0, 1400)
    assert spans == ((0, 200), (200, 600), (1000, 1400))


def test_words_the_voice_runs_together_share_its_time() -> None:
    groups = [Group(4, 0, 400), Group(5, 500, 1000), Group(8, 1100, 1900)]
    assert spans_from_groups("book in the afternoon", groups) == ((0, 400), (500, 700), (700, 1000), (1100, 1900))


def test_a_number_takes_all_the_groups_it_is_read_as() -> None:
    groups = [Group(2, 0, 100), Group(4, 200, 400), Group(3, 500, 600), Group(6, 700, 900), Group(3, 1000, 1100)]
    assert spans_from_groups("at 49.7 now", groups) == ((0, 100), (200, 900), (1000, 1100))


@pytest.mark.parametrize("groups", [[], [Group(2, 0, 10)]])
def test_groups_that_cannot_fit_the_words_are_not_used(groups: list[Group]) -> None:
    assert spans_from_groups("one two three four five six seven", groups) is None
    assert spans_from_groups("", groups) is None


@given(st.text(max_size=60), st.integers(0, 500), st.integers(0, 5000))
def test_estimated_words_are_in_order_and_fill_the_time(spoken: str, start: int, length: int) -> None:
    spans = estimated_spans(spoken, start, start + length)
    assert len(spans) == count_words(spoken)
    flat = [frame for span in spans for frame in span]
    assert flat == sorted(flat) and all(start <= frame <= start + length for frame in flat)
    if spans:
        assert (flat[0], flat[-1]) == (start, start + length)


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_gets_its_words_from_anything_that_was_spoken(text: str, spoken: str) -> None:
    words = words_of_text(text, spoken, estimated_spans(spoken, 0, 1000))
    assert len(words) == count_words(text)
    assert [word.text_end for word in words] == [end for _, end in word_spans(text)]
    ends = [frame for word in words for frame in (word.start, word.end)]
    assert ends == sorted(ends) and all(0 <= frame <= 1000 for frame in ends)


def test_words_are_counted_by_spaces_and_in_scripts_without_spaces_by_characters() -> None:
    assert count_words("Hello — there, O'Neil! ") == 3
    assert count_words("今天天气真好。") == 6
    assert count_words("🙂 ... —") == 0

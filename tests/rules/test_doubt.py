"""Which transcripts are believed, and why not the others."""

from __future__ import annotations

import pytest

from voicetui.events.listen import Evidence
from voicetui.listen.doubt import STOCK_PHRASES, DoubtLimits, doubt
from voicetui.listen.repeats import (
    compression_ratio,
    degenerate,
    hurried_repeat,
    repeated_tail,
    without_repeats,
    words_of,
)

CLEAR = Evidence(no_speech=0.05, logprob=-0.2, speech_ms=1200.0, level_dbfs=-20.0)
NOTHING_SAID = Evidence(no_speech=0.97, logprob=-0.7, speech_ms=0.0, level_dbfs=-55.0)
EARS_ONLY = Evidence(no_speech=0.97, logprob=-0.7)


def evidence(**changes: float | None) -> Evidence:
    values: dict[str, float | None] = {"no_speech": 0.05, "logprob": -0.2, "speech_ms": 1200.0, "level_dbfs": -20.0}
    return Evidence(**(values | changes))  # type: ignore[arg-type]


class TestInventedText:
    @pytest.mark.parametrize("text", ["Thank you.", "Thanks for watching!", "you", "I'm not going to be too close."])
    @pytest.mark.parametrize("heard", [NOTHING_SAID, EARS_ONLY, evidence(speech_ms=32.0)], ids=["none", "ears", "blip"])
    def test_text_over_sound_without_speech_is_doubted(self, text: str, heard: Evidence) -> None:
        assert doubt(text, heard) in ("no speech", "invented")

    @pytest.mark.parametrize("text", sorted(STOCK_PHRASES))
    def test_a_stock_phrase_that_was_really_spoken_is_believed(self, text: str) -> None:
        assert doubt(text, evidence(speech_ms=2500.0)) == ""

    def test_a_stock_phrase_in_less_time_than_it_takes_to_say_is_invented(self) -> None:
        assert doubt("Thank you.", evidence(speech_ms=192.0)) == "invented"
        assert doubt("Thank you.", evidence(speech_ms=288.0)) == ""
        assert doubt("Bye.", evidence(speech_ms=128.0)) == ""
        assert doubt("Not now.", evidence(speech_ms=192.0)) == ""

    @pytest.mark.parametrize("no_speech", [0.53, 0.46])
    def test_thank_you_is_believed_up_to_the_doubtful_no_speech_seen_on_spoken_ones(self, no_speech: float) -> None:
        assert doubt("Thank you.", evidence(no_speech=no_speech, logprob=-0.68, speech_ms=450.0)) == ""

    def test_a_stock_phrase_needs_better_evidence_than_other_text(self) -> None:
        weak = evidence(no_speech=0.7, speech_ms=200.0)
        assert doubt("Thank you.", weak) == "invented"
        assert doubt("Turn left.", evidence(no_speech=0.7, speech_ms=400.0)) == ""

    def test_more_words_than_the_speech_has_room_for_are_invented(self) -> None:
        assert doubt("I'm not going to be able to do that.", evidence(speech_ms=96.0)) == "invented"
        assert doubt("I'm not going to be able to do that.", evidence(speech_ms=1100.0)) == ""

    @pytest.mark.parametrize("text", ["[BLANK_AUDIO]", "(soft music)", "*coughs*", "♪ la la la ♪", "...", "- -", "."])
    def test_annotations_and_marks_are_no_speech(self, text: str) -> None:
        assert doubt(text, CLEAR) == "no speech"

    def test_no_text_over_speech_is_not_doubted_and_over_silence_is_no_speech(self) -> None:
        assert doubt("", CLEAR) == ""
        assert doubt("", NOTHING_SAID) == "no speech"

    def test_no_evidence_at_all_speaks_neither_way(self) -> None:
        assert doubt("turn off the lights", Evidence()) == ""


class TestUnsure:
    @pytest.mark.parametrize(
        ("text", "logprob"),
        [
            ("Feels like these days go on forever.", -0.10),
            ("My name is Zamdar and I live in Berlin.", -0.80),
            ("33 4 692", -0.55),
            ("Thank you.", -0.94),
            ("stop", -1.61),
            ("Okay.", -1.45),
        ],
    )
    def test_the_least_sure_of_the_right_transcripts_are_believed(self, text: str, logprob: float) -> None:
        assert doubt(text, evidence(logprob=logprob, speech_ms=1500.0)) == ""

    @pytest.mark.parametrize(
        ("text", "logprob"),
        [
            ("I hope you have a great day. Thank you for watching.", -1.36),
            ("The first time I was in the first place, I was in the office", -1.69),
            ("Come on, please, come on.", -0.93),
            ("Okay, let's go.", -1.35),
            ("Thank you.", -1.35),
            ("W", -1.91),
        ],
    )
    def test_what_was_made_of_a_language_unknown_to_the_model_is_unsure(self, text: str, logprob: float) -> None:
        assert doubt(text, evidence(logprob=logprob, speech_ms=4000.0)) == "unsure"

    def test_the_limits_are_parameters(self) -> None:
        assert doubt("turn off the lights", evidence(logprob=-0.5), DoubtLimits(logprob_many=-0.4)) == "unsure"


class TestRepetition:
    @pytest.mark.parametrize(
        "text",
        [
            " ".join(["you"] * 40),
            "... ... ... ...",
            "Do you have it? " * 16,
            "I'm I'm I'm I'm I'm I'm I'm I'm",
            "I think so. " * 4,
            "What's a w w w w w w w w w w w",
            "to rrrrrrrrrrrr",
            "Thanks. Okay okay okay okay okay okay okay okay okay",
            "はい" * 9,
            "谢谢观看" * 6,
            "you " * 9 + "okay then.",
            "So I said " + "the " * 9 + "cat sat on the mat.",
            "I'm sorry. " * 4 + "Goodbye.",
            "Hello. " + "I'm going to go. " * 4 + "And then we left the house.",
        ],
    )
    def test_a_loop_is_degenerate_and_doubted_however_sure_the_model_is(self, text: str) -> None:
        assert degenerate(text)
        sure = evidence(logprob=-0.05, no_speech=0.01, speech_ms=60_000.0)
        assert doubt(text, sure) == "repetition"
        assert doubt(text, Evidence()) == "repetition"

    @pytest.mark.parametrize(
        "text",
        [
            "no no no",
            "No, no, no!",
            "bye bye",
            "Very very very good.",
            "row row row your boat",
            "ask not what your country can do for you, ask what you can do for your country",
            "one two three one two three",
            "What time is it? What time is it?",
            "ha ha ha ha",
            "No no no no no.",
            "I said stop, stop, stop.",
            "wonderful",
            "hmm",
            "555 1212",
        ],
    )
    def test_repeats_that_people_say_are_kept(self, text: str) -> None:
        assert not degenerate(text)
        assert doubt(text, evidence(speech_ms=4000.0)) == ""

    def test_long_plain_prose_is_no_loop(self) -> None:
        prose = (
            "When I came home last night the door was open and the lights were on, so I called my brother, who lives "
            "next door, and asked whether he had seen anyone. He had not, but the dog had barked at about nine, and he "
            "remembered a white van at the corner. We looked through every room and found nothing missing."
        )
        assert compression_ratio(prose) < 2.4
        assert doubt(prose, evidence(speech_ms=20_000.0)) == ""

    @pytest.mark.parametrize(
        ("text", "speech_ms"),
        [
            ("Yes. Yes. Yes. Yes. Yes", 450.0),
            ("What time is it? What time is it?", 1000.0),
            ("No no no no no no", 500.0),
        ],
    )
    def test_a_repeat_faster_than_anyone_speaks_is_doubted(self, text: str, speech_ms: float) -> None:
        assert hurried_repeat(text, speech_ms, 6.0)
        assert doubt(text, evidence(speech_ms=speech_ms)) == "repetition"
        assert doubt(text, evidence(speech_ms=4 * speech_ms)) == ""


class TestPromptEcho:
    HOT = "alpha mode, bravo mode"
    ECHO = "alpha mode, bravo mode, bravo mode"

    def test_the_hint_coming_back_over_silence_is_dropped(self) -> None:
        assert doubt(self.ECHO, evidence(speech_ms=0.0), hot_words=self.HOT) == "no speech"
        assert doubt(self.ECHO, Evidence(), hot_words=self.HOT) == "invented"

    def test_the_hint_really_spoken_is_kept(self) -> None:
        assert doubt(self.ECHO, evidence(speech_ms=1500.0), hot_words=self.HOT) == ""
        assert doubt("start bravo mode", Evidence(), hot_words=self.HOT) == ""


class TestRepeatedTail:
    @pytest.mark.parametrize(
        ("text", "start", "period", "copies"),
        [
            ("no no no", 0, 1, 3.0),
            ("well no no", 1, 1, 2.0),
            ("what time is it what time is it what", 0, 4, 2.25),
            ("a b a b a b", 0, 2, 3.0),
        ],
    )
    def test_the_longest_repeat_of_the_shortest_unit_is_found(
        self, text: str, start: int, period: int, copies: float
    ) -> None:
        tail = repeated_tail(text.split())
        assert tail is not None
        assert (tail.start, tail.period, tail.copies) == (start, period, copies)

    @pytest.mark.parametrize("text", ["", "no", "what time is it", "it is what it was"])
    def test_text_without_a_repeated_end_has_none(self, text: str) -> None:
        assert repeated_tail(text.split()) is None
        assert without_repeats(text) == text

    @pytest.mark.parametrize(
        ("text", "once"),
        [
            ("What time is it? What time is it? What", "What time is it?"),
            ("Yes. Yes. Yes", "Yes."),
            ("Okay, so stop it, stop it, stop", "Okay, so stop it,"),
            ('He said "go" "go" "go', 'He said "go"'),
            ("I'm sorry I'm sorry", "I'm sorry"),
        ],
    )
    def test_a_repeat_is_cut_down_to_one_copy_with_its_marks(self, text: str, once: str) -> None:
        assert without_repeats(text) == once

    def test_words_are_found_in_any_script(self) -> None:
        assert words_of("Don’t STOP — l'été, 3.14!") == ["don’t", "stop", "l'été", "3", "14"]
        assert words_of("你好 world") == ["你", "好", "world"]
        assert words_of("...") == []

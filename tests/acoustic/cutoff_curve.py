"""False cut-offs against delay: silence alone, and the models that score words and sound at several parameters.

``python -m tests.acoustic.cutoff_curve [--facts FILE]`` makes people who pause in mid-sentence (``pausing``), lets
detector, Whisper, SmolLM2 and Smart Turn hear each once, keeps what they found in FILE, and then only decides: the
rules get the same facts at many settings, with pauses of many lengths, in no time and without a model.
"""

from __future__ import annotations

import argparse
import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np

from tests.adapters.hearing import RECORDINGS, edges_of, read
from tests.adapters.pausing import FINISHED, PAUSED, VOICES, halves, in_room, silence_ms, spoken
from tests.rules.desk import Desk
from voicetui.config import Config
from voicetui.conversation.policy import Policy
from voicetui.events import Fact
from voicetui.events.listen import Evidence, SpeechPaused, SpeechStarted, Transcribed, TurnScored, WordsScored
from voicetui.events.orders import Commit, Cut, Generate, Play, ScoreTurn, ScoreWords, Synthesize, Transcribe, WakeAt
from voicetui.events.reply import ClauseCut
from voicetui.events.session import Woke
from voicetui.events.speak import ClauseBegun, PlaybackCut
from voicetui.listen.score import Scorer
from voicetui.listen.sentence_end import SentenceEnd
from voicetui.listen.turn_end import SmartTurn
from voicetui.listen.vad import SileroDetector
from voicetui.listen.whisper import WhisperRecogniser
from voicetui.models import path_of
from voicetui.ports import RATE_HZ, Pcm16, VoiceEdge
from voicetui.runtime.clock import SystemClock

LENGTHS_MS = (300, 400, 500, 600, 700, 850, 1000)
"""The pauses that every paused sentence is decided with."""

_SCORED_AFTER_MS = 100
"""The silence after which the model is asked, as configured."""
_HEARD_MS = 700.0
_LEAD_MS, _AFTER_MS = 600.0, 1800.0
_WORDS_MS, _SCORE_MS = 110.0, 60.0
"""From a noticed pause to its words and its score, with both models on a core of their own."""
_WORDS_SCORED_MS = 40.0
"""From the words to their score."""
_CLAUSE_MS, _SOUND_MS = 200.0, 75.0
"""From the request for a reply to its first clause, and from that to its first sound: medians of ``bench overlap``."""
_OUTPUT_MS = 40.0
"""From the order to play to the ear."""

_PER_MS = RATE_HZ // 1000


class Edge(msgspec.Struct, frozen=True):
    """What the detector said, and what was found in the sound up to a pause."""

    kind: Literal["started", "paused"]
    at_ms: float
    noticed_ms: float
    text: str = ""
    doubt: str = ""
    score: float = 0.0
    logprob: float | None = None
    words_score: float = 0.0


class Heard(msgspec.Struct, frozen=True):
    """All that was found in one clip. ``spliced_ms``: where a pause of ``_HEARD_MS`` was made in it, if one was."""

    sentence: str
    voice: str
    held_out: bool
    spliced_ms: float | None
    edges: tuple[Edge, ...]


@dataclass
class Tally:
    """What one setting did to some clips. ``short`` pauses are those of up to 700 ms."""

    pauses: int = 0
    cut_offs: int = 0
    short: int = 0
    short_cut_offs: int = 0
    heard: int = 0
    waits_ms: list[float] = field(default_factory=list)
    gaps_ms: list[float] = field(default_factory=list)

    def row(self) -> str:
        cut_offs, heard = 100 * self.cut_offs / self.pauses, 100 * self.heard / self.pauses
        gaps = np.array(self.gaps_ms)
        return (
            f"{cut_offs:6.1f} {100 * self.short_cut_offs / self.short:6.1f} {heard:6.1f}"
            f" {np.median(self.waits_ms):7.0f} {np.median(gaps):7.0f} {gaps.mean():6.0f} {np.percentile(gaps, 95):6.0f}"
        )


class Models:
    """Detector, recogniser and scorer, as a session uses them."""

    def __init__(self) -> None:
        clock = SystemClock()
        self._recogniser = WhisperRecogniser(path_of("whisper-tiny.en"), clock=clock, language="en")
        self._scorer = Scorer(SmartTurn(path_of("smart-turn-v3.2")), clock)
        self._words = SentenceEnd(path_of("smollm2-135m-instruct"))
        self._policy = Policy()

    def hear(self, sound: Pcm16) -> tuple[Edge, ...]:
        """The edges in ``sound``; at each pause the words and the score of all that was said since the first."""
        found, begun = [], None
        detector = SileroDetector()
        detector.quicken(True)
        for edge in edges_of(detector, sound):
            begun = edge.sample if begun is None else begun
            found.append(self._edge(edge, sound, begun))
        return tuple(found)

    def _edge(self, edge: VoiceEdge, sound: Pcm16, begun: int) -> Edge:
        at_ms, noticed_ms = edge.sample / _PER_MS, edge.noticed_sample / _PER_MS
        if edge.kind == "started":
            return Edge("started", at_ms, noticed_ms)
        start = max(0, begun - int(self._policy.preroll_ms) * _PER_MS)
        end = edge.sample + int(self._policy.tail_ms) * _PER_MS
        there = sound[start : min(end, edge.noticed_sample)]
        words = self._recogniser.recognise(there, True)
        heard = sound[start : max(edge.noticed_sample, edge.sample + _SCORED_AFTER_MS * _PER_MS)]
        score = self._scorer.run(ScoreTurn(1, 1, start, end), heard, start, 0.0).score
        ended = self._words.score(words.text)
        return Edge("paused", at_ms, noticed_ms, words.text, words.doubt, score, words.evidence.logprob, ended)


def heard_as(models: Models, sentence: str, voice: str, held_out: bool = False) -> Heard:
    """A sentence in a voice, heard once: with a pause where it has a bar, else as a finished one."""
    spliced_ms = None
    parts = [spoken(sentence, voice)]
    if "|" in sentence:
        head, tail = halves(sentence, voice)
        parts = [head, silence_ms(_HEARD_MS), tail]
        spliced_ms = _LEAD_MS + head.size / _PER_MS
    sound = in_room(silence_ms(_LEAD_MS), *parts, silence_ms(_AFTER_MS))
    return Heard(sentence, voice, held_out, spliced_ms, models.hear(sound))


def heard_clips(models: Models) -> Iterator[Heard]:
    """Every sentence in every voice, heard once. Odd sentences, and one voice, are held out."""
    for voice in VOICES:
        for sentences in (PAUSED, FINISHED):
            for number, sentence in enumerate(sentences):
                yield heard_as(models, sentence, voice, number % 2 == 1 or voice == "rms")
    recording = RECORDINGS / "jfk.flac"
    if recording.is_file():
        yield Heard("jfk.flac", "jfk", True, None, models.hear(np.concatenate((read(recording), silence_ms(2500)))))


def with_pause(heard: Heard, pause_ms: float) -> Heard:
    """The same clip, had its pause been this long: all that comes after it moves."""
    assert heard.spliced_ms is not None
    back_ms, middle_ms = _HEARD_MS - pause_ms, heard.spliced_ms + _HEARD_MS / 2
    edges = tuple(
        msgspec.structs.replace(edge, at_ms=edge.at_ms - back_ms, noticed_ms=edge.noticed_ms - back_ms)
        if edge.at_ms > middle_ms
        else edge
        for edge in heard.edges
    )
    return msgspec.structs.replace(heard, edges=edges)


class Turn(msgspec.Struct, frozen=True):
    """A turn that was committed, and when its reply was heard, ms."""

    at_ms: float
    commit: Commit
    heard_ms: float = math.inf


def decided(edges: Sequence[Edge], **policy: object) -> list[Turn]:
    """The turns the rules make of these facts: the models answer every order in their usual time."""
    desk = Desk(**policy)
    tail_samples = int(desk.state.policy.tail_ms) * _PER_MS
    pauses = {int(edge.at_ms * _PER_MS) + tail_samples: edge for edge in edges if edge.kind == "paused"}
    queue: list[tuple[float, int, float, Fact]] = []
    numbers = count()

    def later(now_ms: float, at_ms: float, fact: Fact) -> None:
        heapq.heappush(queue, (now_ms, next(numbers), at_ms, fact))

    for edge in edges:
        sample = int(edge.at_ms * _PER_MS)
        paused = SpeechPaused(sample, 5.0, edge.noticed_ms, -20.0, -60.0)
        fact = SpeechStarted(sample, edge.noticed_ms) if edge.kind == "started" else paused
        later(edge.noticed_ms, edge.at_ms, fact)
    turns: list[Turn] = []
    while queue:
        now_ms, _, at_ms, fact = heapq.heappop(queue)
        for order in desk.tell(fact, at_ms):
            match order:
                case Commit():
                    turns.append(Turn(now_ms, order))
                case Play() if turns and turns[-1].heard_ms == math.inf:
                    turns[-1] = msgspec.structs.replace(turns[-1], heard_ms=now_ms + _OUTPUT_MS)
                case WakeAt():
                    due_ms = max(now_ms, order.due_ms)
                    later(due_ms, due_ms, Woke(order.wake))
                case ScoreTurn() | Transcribe() if order.end_sample is not None:
                    done_ms = now_ms + (_WORDS_MS if isinstance(order, Transcribe) else _SCORE_MS)
                    later(done_ms, done_ms, _answer(order, pauses[order.end_sample], now_ms))
                case ScoreWords():
                    done_ms = now_ms + _WORDS_SCORED_MS
                    later(done_ms, done_ms, _words_answer(order, edges, now_ms))
                case Generate():
                    later(now_ms + _CLAUSE_MS, now_ms + _CLAUSE_MS, ClauseCut(order.basis, 0, "Yes.", "Yes."))
                case Synthesize():
                    ready_ms = now_ms + _SOUND_MS
                    later(ready_ms, ready_ms, ClauseBegun(order.basis, order.clause, now_ms, now_ms, 0.0))
                case Cut():
                    later(now_ms, now_ms, PlaybackCut(order.basis, 0.0, "", 0, 0, 0))
                case _:
                    pass
    return turns


def _answer(order: Transcribe | ScoreTurn, edge: Edge, now_ms: float) -> Fact:
    assert order.end_sample is not None
    if isinstance(order, ScoreTurn):
        return TurnScored(order.utterance, order.request, order.start_sample, order.end_sample, edge.score, now_ms, 0.0)
    words = (order.utterance, order.request, edge.text, order.final, order.start_sample, order.end_sample)
    return Transcribed(*words, now_ms, 0.0, Evidence(logprob=edge.logprob), edge.doubt)


def _words_answer(order: ScoreWords, edges: Sequence[Edge], now_ms: float) -> Fact:
    """Whatever was carried over before them, the words are those of the newest pause that has them."""
    ends = [edge.words_score for edge in edges if edge.kind == "paused" and edge.noticed_ms <= now_ms]
    return WordsScored(order.utterance, order.request, ends[-1], now_ms, 0.0)


def tally(clips: Sequence[Heard], **policy: object) -> Tally:
    """Decide every clip at one setting, every pause at every length."""
    result = Tally()
    for clip in clips:
        if clip.spliced_ms is None:
            turns = decided(clip.edges, **policy)
            if turns:
                result.waits_ms.append(turns[-1].at_ms - clip.edges[-1].at_ms)
                result.gaps_ms.append(turns[-1].heard_ms - clip.edges[-1].at_ms)
            continue
        for length_ms in LENGTHS_MS:
            turns = decided(with_pause(clip, length_ms).edges, **policy)
            resumed_ms = clip.spliced_ms + length_ms
            early = [turn for turn in turns if turn.at_ms < resumed_ms]
            result.pauses += 1
            result.cut_offs += bool(early)
            result.short += length_ms <= 700
            result.short_cut_offs += bool(early) and length_ms <= 700
            result.heard += any(turn.heard_ms < resumed_ms for turn in early)
    return result


def load(path: Path | None) -> list[Heard]:
    """What was heard, from the file if it is there; else heard now, and kept there."""
    if path is not None and path.is_file():
        return msgspec.json.decode(path.read_bytes(), type=list[Heard])
    clips = list(heard_clips(Models()))
    if path is not None:
        path.write_bytes(msgspec.json.encode(clips))
    return clips


_SILENCES_MS = (200, 300, 400, 500, 600, 700, 800, 1000)
_RULES = Config().policy()
_AT_ONCE: dict[str, object] = {
    "turn_end": "model",
    "score_after_ms": float(_SCORED_AFTER_MS),
    "words_odds": _RULES.words_odds,
    "words_weight": _RULES.words_weight,
    "beside_words_odds": _RULES.beside_words_odds,
    "clear_logprob": _RULES.clear_logprob,
    "score_words": True,
    "words_after_ms": _RULES.words_after_ms,
    "ended_ms": _RULES.ended_ms,
    "ended_logprob": _RULES.ended_logprob,
    "cut_off_risk": _RULES.cut_off_risk,
}
_OPEN = _AT_ONCE | {"reply_wait_ms": 700.0}
SETTINGS: dict[str, dict[str, object]] = {
    **{f"silence {ms} ms": {"silence_ms": ms} for ms in _SILENCES_MS},
    "silence 300, open": {"silence_ms": 300, "reply_wait_ms": 700.0},
    "silence 500, open": {"silence_ms": 500, "reply_wait_ms": 700.0},
    **{f"model, at once, {risk:.3f}": _AT_ONCE | {"cut_off_risk": risk} for risk in (0.02, 0.035, 0.05, 0.1)},
    **{f"model, open, {risk:.3f}": _OPEN | {"cut_off_risk": risk} for risk in (0.02, 0.035, 0.05, 0.1)},
    "model, open, words alone": _OPEN | {"beside_score_weight": 0.01},
    "no score of words": _OPEN | {"score_words": False},
    "… sound alone": _OPEN | {"score_words": False, "words_odds": 1.0, "cut_off_risk": 0.15},
}


def main() -> None:
    """Print the table, for the clips tuned on and those held out, and how many turns the recording becomes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=Path, help="where what the models found is kept")
    clips = load(parser.parse_args().facts)
    made = [clip for clip in clips if clip.voice != "jfk"]
    print("cut-offs per 100 pauses: all, in pauses up to 700 ms, and those in which a reply was heard;")
    print("finished sentences, ms: median wait for the commit; gap to the reply's first sound: median, mean, p95")
    for name, held_out in (("tuned on", False), ("held out", True)):
        some = [clip for clip in made if clip.held_out == held_out]
        print(
            f"\n{name}: {sum(clip.spliced_ms is not None for clip in some)} paused sentences"
            f" x {len(LENGTHS_MS)} lengths, {sum(clip.spliced_ms is None for clip in some)} finished"
        )
        for setting, policy in SETTINGS.items():
            print(f"  {setting:24} {tally(some, **policy).row()}")
    for clip in clips:
        if clip.voice == "jfk":
            for setting, policy in SETTINGS.items():
                print(f"  {setting:24} jfk.flac becomes {len(decided(clip.edges, **policy))} turns")


if __name__ == "__main__":
    main()

"""Sessions made up at random, with parts that fail at random: each ends in order, and answers what comes last."""

from __future__ import annotations

import random

import pytest

from tests.sessions.devices import NamedSpeaker
from tests.sessions.stage import (
    Heard,
    InlineWorker,
    SlowWorker,
    Stage,
    WatchedTier,
    assert_ended_in_order,
    twin_stage,
)
from tests.sessions.test_cancelling import assert_cancelled_for_good
from tests.sessions.test_purity import assert_decided_again
from voicetui.events import Fact
from voicetui.events.listen import Evidence, Transcribed, TranscribeFailed, TurnScored
from voicetui.events.orders import Commit, ScoreTurn, Transcribe
from voicetui.events.reply import Passage
from voicetui.events.session import DeviceChosen, InterruptAsked, Muted, OverlapChosen, Said, TalkKey, TierChosen
from voicetui.events.sound import DeviceLost
from voicetui.ports import Pcm16, StageError
from voicetui.sound.speaker import NullSpeaker
from voicetui.speak.scripted import ScriptedVoice

REPLIES = ("One two three. Four five six seven eight nine ten. `code` And on it goes.", "Short.", "```\ncode\n```")
TEXTS = ("", "mm-hmm", "stop it now", "what is the", "no", "yes please", "tell me more about it", "...")
DOUBTS = ("", "", "", "invented", "no speech")
COMMANDS: tuple[Fact, ...] = (
    Said("typed"), InterruptAsked(), InterruptAsked(), TierChosen("twin"), TierChosen("nowhere"), OverlapChosen("none"),
    OverlapChosen("full"), Muted(True), Muted(False), TalkKey(True), TalkKey(False),
    DeviceLost("output", "USB", "it was unplugged"), DeviceChosen("output", "other"), DeviceChosen("output", "broken"),
    DeviceChosen("input", "nowhere"),
)  # fmt: skip
AT_LAST: tuple[tuple[Fact, float], ...] = (
    (TalkKey(False), 14_000), (Muted(False), 14_000), (TierChosen("twin"), 14_000), (OverlapChosen("full"), 14_000),
    (InterruptAsked(), 16_000), (Said("at last"), 18_000),
)  # fmt: skip


class AnyWords:
    """Hears something, nothing, doubtful things, or breaks."""

    def __init__(self, seeded: random.Random) -> None:
        self._random = seeded

    def run(
        self, order: Transcribe, sound: Pcm16, first_sample: int, waited_ms: float
    ) -> Transcribed | TranscribeFailed:
        chance = self._random.random()
        if chance < 0.05:
            raise RuntimeError("out of memory")
        if chance < 0.1:
            return TranscribeFailed(order.utterance, order.request, order.final, "the model broke")
        text, doubt = self._random.choice(TEXTS), self._random.choice(DOUBTS)
        end = first_sample + len(sound)
        return Transcribed(
            order.utterance, order.request, text, order.final, first_sample, end, 0.0, waited_ms, Evidence(), doubt
        )


class AnyNotes:
    """Finds something or nothing, and breaks now and then."""

    def __init__(self, seeded: random.Random) -> None:
        self._random = seeded

    def warm(self) -> float:
        return 0.0

    def find(self, query: str, most: int) -> tuple[Passage, ...]:
        if self._random.random() < 0.1:
            raise StageError("The notes cannot be searched.")
        return self._random.choice(((), (Passage("a.md", "Hold the button."),), (Passage("b.md", "Rain."),)))

    def close(self) -> None: ...


class AnyScore:
    """Takes turns for over or not, and breaks now and then."""

    def __init__(self, seeded: random.Random) -> None:
        self._random = seeded

    def run(self, order: ScoreTurn, sound: Pcm16, first_sample: int, waited_ms: float) -> TurnScored:
        if self._random.random() < 0.05:
            raise StageError("The end-of-turn model broke.")
        end = first_sample + len(sound)
        return TurnScored(order.utterance, order.request, first_sample, end, self._random.random(), 0.0, waited_ms)


class AnyWordsScore:
    """Takes sentences for over or not, and breaks now and then."""

    def __init__(self, seeded: random.Random) -> None:
        self._random = seeded

    def warm(self) -> float:
        return 0.0

    def score(self, text: str) -> float:
        if self._random.random() < 0.05:
            raise StageError("The model that scores words broke.")
        return self._random.random() ** 3


def made_up(seeded: random.Random) -> Stage:
    """A stage with bursts of speech for twelve seconds and parts of all speeds, some of which fail now and then."""
    bursts, at_ms = [], 300.0
    while at_ms < 12_000:
        bursts.append((at_ms, at_ms + seeded.uniform(100, 1800)))
        at_ms = bursts[-1][1] + seeded.uniform(130, 2500)
    bad_calls = set(seeded.sample(range(20), 5))
    stage = twin_stage(
        *REPLIES,
        bursts=bursts,
        ttft_ms=seeded.choice((50.0, 400.0, 1500.0)),
        tokens_per_second=seeded.choice((20.0, 80.0, 900.0)),
        overlap=seeded.choice(("none", "clause", "full", "full")),
        duplex=seeded.choice(("half", "full", "full")),
        policy={
            "turn_end": seeded.choice(("silence", "model", "model")),
            "score_words": seeded.choice((False, True)),
            "knowledge": seeded.choice((False, True)),
        },
        voice=ScriptedVoice(failures=lambda call, spoken: "the voice broke" if call in bad_calls else None),
    )
    workers = ("transcribe", "score", "words", "synthesize", "context")
    slow = {name: seeded.choice((0, 0, 50, 300, 2500)) for name in workers}
    stage.parts.make_worker = lambda name, clock: SlowWorker(clock, slow[name]) if slow.get(name) else InlineWorker()
    stage.parts.transcriber, stage.parts.recorder = AnyWords(seeded), Heard()
    stage.parts.scorer, stage.parts.knowledge = AnyScore(seeded), AnyNotes(seeded)
    stage.parts.words = AnyWordsScore(seeded)
    stage.parts.fallback_speaker = lambda: NullSpeaker(stage.clock, 48_000)
    stage.parts.make_speaker = lambda name, host: NamedSpeaker(stage, name)
    return stage


def assert_roles_take_turns(stage: Stage) -> None:
    """Whatever failed or was cut, user and assistant alternate in every request, and none of them says nothing."""
    assert isinstance(stage.tier, WatchedTier)
    for messages in stage.tier.asked:
        roles = [message.role for message in messages if message.role != "system"]
        assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"]
        assert all(message.text.strip() for message in messages)


@pytest.mark.parametrize("seed", range(6))
def test_a_session_made_up_at_random_ends_in_order_and_answers_what_comes_last(seed: int) -> None:
    seeded = random.Random(seed)
    stage = made_up(seeded)
    commands = [(seeded.choice(COMMANDS), seeded.uniform(0, 12_000)) for _ in range(seeded.randrange(12))]
    stage.run_to(34_000, *(stage.post_at(fact, at_ms) for fact, at_ms in (*commands, *AT_LAST)))
    assert_ended_in_order(stage)
    assert_cancelled_for_good(stage)
    assert_decided_again(stage.entries)
    assert_roles_take_turns(stage)
    assert stage.of(Commit)[-1].text == "at last"
    assert stage.outcomes[-1] in ("completed", "failed", "unanswered")


@pytest.mark.parametrize("seed", range(4))
def test_a_session_stopped_at_any_moment_ends_in_order(seed: int) -> None:
    seeded = random.Random(1000 + seed)
    stage = made_up(seeded)
    stage.run_to(seeded.uniform(200, 12_000))
    assert_ended_in_order(stage)
    assert_cancelled_for_good(stage)
    assert_decided_again(stage.entries)

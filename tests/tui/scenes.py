"""Golden sessions, and the moments of them that screens are drawn at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import msgspec

from tests.journal_builder import COMMIT_EARLY, COMMIT_LATE, SEQUENTIAL, JournalBuilder, Timing
from tests.tui.fake_engine import FakeEngine
from voicetui.events import AnyFact, AnyOrder, Entry
from voicetui.events.orders import STAGED, Commit, Generate, Play
from voicetui.events.reply import RequestSent
from voicetui.events.session import GapStaged
from voicetui.tui.app import ScreenOptions

PARIS = ["The capital of France is Paris. ", "It has been since the year 987."]
FRUITS = ["Apples, pears and plums. ", "All three grow well in a small garden, ", "and they keep until spring."]
SLOW = Timing(asked=600, transcript=900, committed=900, token=1150, clause=1260, audio=1390)


@dataclass(frozen=True)
class Scene:
    """A session and how far it has come."""

    journal: JournalBuilder
    at_ms: float
    options: ScreenOptions = field(default_factory=lambda: ScreenOptions("voicetui"))

    def engine(self) -> FakeEngine:
        """The session on manual time, at its moment."""
        return FakeEngine(self.journal.entries, self.at_ms)


def _session(simulated: bool = False) -> JournalBuilder:
    return JournalBuilder().opened("pretend-750" if simulated else "local", simulated=simulated).ready()


def conversation() -> JournalBuilder:
    """Several turns of every kind."""
    return _converse(_session())


def go_on_talking(until_ms: float) -> JournalBuilder:
    """The same again and again."""
    journal = _session()
    while journal.now_ms < until_ms:
        _converse(journal)
    return journal


def _converse(journal: JournalBuilder) -> JournalBuilder:
    journal.turn("Hello there.", ["Hello! ", "How can I help you today?"], COMMIT_EARLY)
    journal.turn("What is the capital of France?", PARIS, replace(COMMIT_LATE, speech=1900), dropped=1)
    journal.rejected("noise")
    journal.turn("And of Italy?", ["The capital of Italy is Rome."], replace(COMMIT_EARLY, speech=900))
    journal.barge_in("Name three fruits, please.", FRUITS, onset_ms=1500, said="Stop, what is the largest planet?",
                     answer=["Jupiter is the largest planet."])  # fmt: skip
    journal.false_interruption("Tell me about tea.", ["Tea is made from leaves. ", "It is drunk hot."])
    journal.turn("Thank you very much.", ["You are welcome."], SEQUENTIAL)
    journal.turn("What is the weather like tomorrow?", ["Sunny, with a little wind. ", "Take a coat."], SLOW)
    return journal


def speaking() -> Scene:
    """The reply of the third-newest turn is heard; its speculation was dropped once."""
    journal = conversation()
    return Scene(journal, journal.times[2].reply_start + 1500)


def waiting() -> Scene:
    """The user has stopped, nothing is heard yet."""
    journal = conversation()
    return Scene(journal, journal.times[2].user_end + 300)


def hearing() -> Scene:
    """The user speaks."""
    journal = conversation()
    return Scene(journal, journal.times[2].onset + 1300)


def barge_in() -> Scene:
    """A reply was interrupted and answered anew."""
    journal = conversation()
    return Scene(journal, journal.times[5].reply_start + 700)


def finished() -> Scene:
    """All turns are over."""
    journal = conversation()
    return Scene(journal, journal.now_ms)


def staged() -> Scene:
    """Real turns, then gaps of 200, 700 and 1500 ms made on purpose, one of which came a little late."""
    journal = _session()
    journal.turn("Hello there.", ["Hello! ", "How can I help you today?"], COMMIT_EARLY)
    journal.turn("Thank you very much.", ["You are welcome."], SEQUENTIAL)
    gaps_ms = (200.0, 700.0, 1500.0)
    journal.add(GapStaged(gaps_ms))
    _held(journal, "What is the capital of Italy?", "It is Rome.", gaps_ms[0], late_ms=0)
    _held(journal, "What is the capital of Japan?", "It is Tokyo.", gaps_ms[1], late_ms=13)
    _held(journal, "How do I make a cup of tea?", "Pour boiling water over the tea.", gaps_ms[2], late_ms=0)
    return Scene(journal, journal.now_ms)


def _held(journal: JournalBuilder, user: str, reply: str, gap_ms: float, late_ms: float) -> None:
    """A turn whose ready-made reply is held for a gap, and starts ``late_ms`` after it."""
    given = max(150.0, gap_ms - 200)
    device = gap_ms + late_ms - given
    ready = Timing(asked=-800, transcript=-700, token=-650, clause=-640, audio=-500, committed=given, device=device)
    first = len(journal.entries)
    journal.turn(user, [reply], ready)
    due_ms = journal.times[max(journal.times)].user_end + gap_ms
    for place, entry in enumerate(journal.entries[first:], first):
        match entry.body:
            case Generate() as body:
                changed: AnyFact | AnyOrder = msgspec.structs.replace(body, tier=STAGED, messages=())
            case RequestSent() as body:
                changed = msgspec.structs.replace(body, tier=STAGED)
            case Commit() as body:
                changed = msgspec.structs.replace(body, reason=STAGED)
            case Play() as body:
                changed = msgspec.structs.replace(body, due_ms=due_ms)
            case _:
                continue
        journal.entries[place] = Entry(entry.seq, entry.at, changed)


def fault() -> Scene:
    """The tier does not answer."""
    journal = _session()
    journal.turn("Hello there.", ["Hello! ", "How can I help you today?"])
    journal.failed("What is the capital of France?", "api.example.com: the connection was refused")
    return Scene(journal, journal.now_ms)


def no_devices() -> Scene:
    """No microphone: turns are typed."""
    journal = _session(simulated=True)
    journal.entries.remove(next(entry for entry in journal.entries if getattr(entry.body, "role", "") == "input"))
    journal.typed("Hello", ["Hi there."])
    options = ScreenOptions("voicetui", "There is no microphone. Plug one in, or type: press /.", typed_only=True)
    return Scene(journal, journal.now_ms, options)


def starting() -> Scene:
    """Nothing has happened."""
    return Scene(JournalBuilder().opened(), 100)


def many_turns() -> Scene:
    """Enough turns for a 95th percentile."""
    journal = _session(simulated=True)
    for number in range(24):
        timing = (COMMIT_EARLY, COMMIT_LATE, SEQUENTIAL, COMMIT_EARLY, SLOW, COMMIT_LATE)[number % 6]
        journal.turn(f"Question number {number + 1}?", ["Here is a short answer."], timing)
    return Scene(journal, journal.now_ms)


SCENES: dict[str, Callable[[], Scene]] = {
    scene.__name__: scene
    for scene in (speaking, waiting, hearing, barge_in, finished, staged, fault, no_devices, starting, many_turns)
}
SIZES: tuple[tuple[int, int], ...] = ((80, 24), (120, 36), (200, 50))

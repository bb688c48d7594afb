"""A scripted person who says a bench's lines, each in its setting."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from voicetui.bench.plan import Arm, Trial
from voicetui.events import Fact
from voicetui.ports import Clock, Pcm16
from voicetui.rehearse.person import Mouth, Person, Watch
from voicetui.rehearse.scenario import Line, Scenario

MAX_TOKENS = 24
"""Replies of a bench are no longer than this, so that its turns are alike and a run is short."""


class Performance:
    """Says the line of every trial, one after the other's answer, and chooses its setting just before.

    The person is patient: nobody asks again during a long gap, because then one setting's turns would not be the
    other's. ``afterwards`` is awaited in the silence after the last answer, while the session is still alive.
    """

    def __init__(
        self,
        arms: Sequence[Arm],
        trials: Sequence[Trial],
        lines: Sequence[Line],
        sounds: Mapping[str, Pcm16],
        mouth: Mouth,
        watch: Watch,
        clock: Clock,
        post: Callable[[Fact], None],
        afterwards: Callable[[], Awaitable[None]],
    ) -> None:
        choices = {arm.name: arm.choose for arm in arms}
        coming = iter(trials)

        def choose(_: Line) -> None:
            for fact in choices[next(coming).arm]:
                post(fact)

        scenario = Scenario(title="bench", lines=tuple(lines[trial.line] for trial in trials))
        self._person = Person(scenario, sounds, mouth, watch, clock, choose)
        self._watch = watch
        self._afterwards = afterwards

    async def perform(self) -> None:
        """Say everything, then let ``afterwards`` have the session to itself."""
        await self._person.perform()
        if not self._watch.closed:
            await self._afterwards()

"""Carrying out ``ScoreTurn`` and ``ScoreWords`` orders: is the turn over, by its sound and by its words."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from voicetui.events import Fact
from voicetui.events.listen import WordsScored
from voicetui.events.orders import ScoreTurn, ScoreWords
from voicetui.events.session import Fault
from voicetui.ports import Clock, Post, StageError, WordsScorer
from voicetui.runtime.parts import Ear, Scorer
from voicetui.runtime.worker import JobRunner


class Scoring:
    """Asks the models, each on its own worker. An order that a newer one overtook in the queue is not answered.

    Turns end without either model, too: one that breaks is told of as a ``Fault`` of its worker's name ("score",
    "words"). ``broken`` tells of what a model does not foresee.
    """

    def __init__(
        self,
        workers: Mapping[str, JobRunner],
        clock: Clock,
        post: Post,
        broken: Callable[[str, Exception], None],
    ) -> None:
        self._workers = workers
        self._clock = clock
        self._post = post
        self._broken = broken
        self._newest = {"score": 0, "words": 0}

    async def turn(self, order: ScoreTurn, scorer: Scorer | None, ear: Ear) -> None:
        """Post the sound's score."""
        if scorer is not None:
            sound, first_sample = ear.read(order.start_sample, order.end_sample)
            await self._run("score", order.request, lambda waited: scorer.run(order, sound, first_sample, waited))

    async def words(self, order: ScoreWords, scorer: WordsScorer | None) -> None:
        """Post the words' score."""
        if scorer is None:
            return
        score = scorer.score

        def answer(waited_ms: float) -> Fact:
            started_ms = self._clock.now_ms()
            found = round(score(order.text), 4)
            return WordsScored(order.utterance, order.request, found, started_ms, waited_ms)

        await self._run("words", order.request, answer)

    async def _run(self, name: str, request: int, answer: Callable[[float], Fact]) -> None:
        self._newest[name] = request

        def job(waited_ms: float) -> None:
            if request == self._newest[name]:
                self._post(answer(waited_ms), self._clock.now_ms())

        try:
            await self._workers[name].run(job)
        except StageError as error:
            self._post(Fault(name, str(error), error.remedy), self._clock.now_ms())
        except Exception as error:
            self._broken(name, error)

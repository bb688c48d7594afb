"""Carrying out ``AssembleContext`` orders: every one is answered, because a turn waits for it."""

from __future__ import annotations

import logging

from voicetui.events.orders import AssembleContext
from voicetui.events.reply import ContextAssembled, Passage
from voicetui.events.session import Fault
from voicetui.ports import Clock, Knowledge, Post
from voicetui.runtime.worker import JobRunner

_log = logging.getLogger(__name__)
_REMEDY = "Replies are given without them. If it goes on, start anew; the log has the details."


class Assembler:
    """Looks things up on the worker. The first search that fails is told as a ``Fault``; the log has them all."""

    def __init__(self, knowledge: Knowledge | None, worker: JobRunner, clock: Clock, post: Post) -> None:
        self._knowledge = knowledge
        self._worker = worker
        self._clock = clock
        self._post = post
        self._told = False

    async def assemble(self, order: AssembleContext) -> None:
        """Post what was found: nothing, with a note, where that failed."""
        started_ms, knowledge = self._clock.now_ms(), self._knowledge

        def job(_waited_ms: float) -> tuple[Passage, ...]:
            return knowledge.find(order.query, order.most) if knowledge is not None else ()

        passages: tuple[Passage, ...] = ()
        note = ""
        try:
            passages = await self._worker.run(job)
        except Exception as error:  # a turn without its notes is still a turn
            note = " ".join(str(error).split()) or type(error).__name__
            _log.exception("the notes could not be searched")
            if not self._told:
                self._told = True
                self._post(Fault("context", f"The notes could not be searched: {note}", _REMEDY), self._clock.now_ms())
        self._post(ContextAssembled(order.context, order.turn, passages, started_ms, note), self._clock.now_ms())

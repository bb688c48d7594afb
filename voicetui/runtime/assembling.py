"""Carrying out ``AssembleContext`` orders: every one is answered, because a turn waits for it."""

from __future__ import annotations

import logging

from voicetui.events.orders import AssembleContext
from voicetui.events.reply import ContextAssembled, Passage
from voicetui.ports import Clock, Knowledge, Post
from voicetui.runtime.worker import JobRunner

_log = logging.getLogger(__name__)


async def assemble(
    order: AssembleContext, knowledge: Knowledge | None, worker: JobRunner, clock: Clock, post: Post
) -> None:
    """Look it up on the worker and post what was found: nothing, with a note, where that failed."""
    started_ms = clock.now_ms()

    def job(_waited_ms: float) -> tuple[Passage, ...]:
        return knowledge.find(order.query, order.most) if knowledge is not None else ()

    passages: tuple[Passage, ...] = ()
    note = ""
    try:
        passages = await worker.run(job)
    except Exception as error:  # a turn without its notes is still a turn
        note = " ".join(str(error).split()) or type(error).__name__
        _log.exception("the notes could not be searched")
    post(ContextAssembled(order.context, order.turn, passages, started_ms, note), clock.now_ms())

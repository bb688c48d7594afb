"""A tier that cannot be made, such as one whose key is not set: chosen after all, it says why it does not answer."""

from __future__ import annotations

from collections.abc import AsyncIterator

from voicetui.events.orders import Message
from voicetui.ports import Prefilled, StageError, StreamItem

_REMEDY = "Start the program again then, or choose another tier."


class AbsentTier:
    """Stands in the place of a tier that a session was not started with. Every request raises ``StageError(why)``."""

    simulated = False

    def __init__(self, name: str, kind: str, model: str, why: str) -> None:
        self.name = name
        self.kind = kind
        self.model = model
        self._why = why

    async def warm(self) -> float:
        """Raises ``StageError``."""
        raise self._error()

    async def stream(self, messages: tuple[Message, ...]) -> AsyncIterator[StreamItem]:  # noqa: ARG002
        """Raises ``StageError``."""
        raise self._error()
        yield

    async def prewarm(self, messages: tuple[Message, ...]) -> AsyncIterator[Prefilled]:  # noqa: ARG002
        """Nothing can be done ahead."""
        return
        yield

    async def idle_ms(self, timeout_ms: float) -> float | None:  # noqa: ARG002
        """None: there is no server."""
        return None

    async def close(self) -> None:
        """Nothing is open."""

    def _error(self) -> StageError:
        return StageError(self._why, _REMEDY, "connect")

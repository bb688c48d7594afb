"""Scopes: who owns the tasks of a turn, and which bases still live."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import anyio
from anyio.abc import TaskGroup

from voicetui.events.base import Basis


class Scopes:
    """The tasks of each living basis, inside the session's task group. Work on a basis that is not living is void.

    A draft's scope is the one its turn inherits when it is committed. ``living`` is the one thing other threads
    look at; it is replaced, never changed in place.
    """

    def __init__(self, group: TaskGroup, on_error: Callable[[str, Exception], None]) -> None:
        """``on_error`` gets the name of a task that failed and why; the others go on."""
        self._group = group
        self._on_error = on_error
        self._scopes: dict[Basis, set[anyio.CancelScope]] = {}
        self._owned = 0
        self._idle = anyio.Event()
        self.living: frozenset[Basis] = frozenset()

    def open(self, basis: Basis) -> None:
        """Let work on this basis live."""
        self._scopes[basis] = set()
        self.living = self.living | {basis}

    def start(self, basis: Basis, job: Callable[[], Coroutine[Any, Any, None]], name: str) -> None:
        """Start a task that is cancelled when its basis is voided. Nothing starts on a void basis."""

        async def owned() -> None:
            scopes = self._scopes.get(basis)
            if scopes is None:
                return
            with anyio.CancelScope() as scope:
                scopes.add(scope)
                self._owned += 1
                try:
                    await self._guarded(job, name)
                finally:
                    scopes.discard(scope)
                    self._owned -= 1
                    if not self._owned:
                        self._idle.set()
                        self._idle = anyio.Event()

        self._group.start_soon(owned, name=f"{name} {basis}")

    def start_free(self, job: Callable[[], Coroutine[Any, Any, None]], name: str) -> None:
        """Start a task of the session's own, which no turn owns."""
        self._group.start_soon(self._guarded, job, name, name=name)

    def close(self, basis: Basis) -> bool:
        """Void a basis: its tasks are cancelled, and what they still deliver is discarded.

        False if it was void already.
        """
        self.living = self.living - {basis}
        scopes = self._scopes.pop(basis, None)
        for scope in scopes or ():
            scope.cancel()
        return scopes is not None

    async def idle(self) -> None:
        """Return when no task of any basis runs."""
        if self._owned:
            await self._idle.wait()

    async def _guarded(self, job: Callable[[], Coroutine[Any, Any, None]], name: str) -> None:
        try:
            await job()
        except Exception as error:  # one task's failure must not end the session
            self._on_error(name, error)

    def is_living(self, basis: Basis) -> bool:
        """Whether work on this basis is still wanted. Safe from any thread."""
        return basis in self.living

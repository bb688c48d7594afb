"""Whether the terminal has room: one that cannot be asked is drawn on."""

from __future__ import annotations

import io
import os

import pytest

from voicetui.tui import quiet
from voicetui.tui.quiet import takes_output


class At(io.StringIO):
    """A stream at a descriptor."""

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor

    def fileno(self) -> int:
        return self._descriptor


def test_a_terminal_that_nobody_reads_has_no_room() -> None:
    reader, writer = os.pipe()
    try:
        assert takes_output(At(writer))
        os.set_blocking(writer, False)
        with pytest.raises(BlockingIOError):
            while True:
                os.write(writer, b"x" * 65_536)
        assert not takes_output(At(writer))
    finally:
        os.close(reader)
        os.close(writer)


def test_a_terminal_at_a_descriptor_too_great_to_ask_is_drawn_on() -> None:
    assert takes_output(At(5000))


def test_where_the_platform_does_not_ask_terminals_they_are_drawn_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*_: object) -> None:
        raise OSError("an operation was attempted on something that is not a socket")

    monkeypatch.setattr(quiet.select, "select", refuses)
    assert takes_output(At(1))

"""Reading the body of one answer: bytes as they come to timed tokens and one end, whatever the server made of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import httpx

from voicetui.ports import ByteRead, Clock, StreamEnded, StreamItem, TokenRead
from voicetui.reply.deltas import DeltaReader, Ending, Finish, Item, Token
from voicetui.reply.http_failures import Endpoint, server_words
from voicetui.reply.provider_errors import ProviderError
from voicetui.reply.sse import SniffingDecoder, SseEvent, is_end_mark
from voicetui.reply.toolcalls import ToolCall
from voicetui.reply.watchdog import Deadlines, Watchdog

Outcome: TypeAlias = Literal["complete", "length", "truncated", "empty"]

_LENGTH_REASONS = ("length", "max_tokens", "max_output_tokens")


class Answer:
    """The body of one answer, item by item to ``emit``.

    ``bytes_read`` counts what has come; set ``cut`` when the connection broke. Raises ``StageError`` for an error the
    provider reports, and for a body that is no chat answer.
    """

    def __init__(
        self,
        target: Endpoint,
        emit: Callable[[StreamItem], None],
        clock: Clock,
        watch: Watchdog,
        limits: Deadlines,
        starts_in_reasoning: bool = False,
    ) -> None:
        self.bytes_read = 0
        self.cut = False
        self._target = target
        self._emit = emit
        self._clock = clock
        self._watch = watch
        self._limits = limits
        self._decoder = SniffingDecoder()
        self._reader = DeltaReader(starts_in_reasoning)
        self._content_type = ""
        self._lead = b""
        self._events = 0
        self._chars = 0
        self._wide = 0
        self._tools = False
        self._reasoned = False
        self._at_ms = 0.0
        self._content_ms: float | None = None
        self._done_mark = False
        self._concluded = False

    async def read(self, response: httpx.Response) -> None:
        """Read to the end of the body; the ``StreamEnded`` is given out at the end mark, before the rest has come."""
        self._content_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        self._watch.expect("first_content", self._limits.first_content_ms)
        plain = response.headers.get("content-encoding", "identity").lower() in ("", "identity")
        async for chunk in response.aiter_raw() if plain else response.aiter_bytes():
            at_ms = self._clock.now_ms()
            if chunk and not self._concluded:
                self._take(chunk, at_ms)

    def _take(self, chunk: bytes, at_ms: float) -> None:
        self._at_ms = at_ms
        if not self.bytes_read:
            self._emit(ByteRead(at_ms))
        self.bytes_read += len(chunk)
        self._refuse_pages(chunk)
        self._events_in(self._decoder.feed(chunk))
        if self._done_mark:
            self.conclude()
            self._watch.expect("drain", self._limits.drain_ms)
        elif self._content_ms is not None and self._watch.stage != "finish":
            left_ms = self._content_ms + max(self._limits.first_content_ms, self._limits.idle_ms) - at_ms
            self._watch.expect("idle", min(self._limits.idle_ms, left_ms))

    def _refuse_pages(self, chunk: bytes) -> None:
        """Raise ``StageError`` for a web page: a log-in, an error page of a proxy, a wrong path."""
        if len(self._lead) < 64:
            self._lead = (self._lead + chunk).lstrip(b"\xef\xbb\xbf \t\r\n")[:64]
        if self._lead[:1] == b"<":
            raise self._target.fail("protocol", f"{self._target.shown} answered with a web page, not with a stream",
                                    "Check base_url: for most servers it ends in /v1.")  # fmt: skip

    def _events_in(self, events: list[SseEvent]) -> None:
        for event in events:
            self._events += 1
            for item in self._reader.read(event):
                self._item(item)
            self._done_mark |= is_end_mark(event.data.rstrip().rpartition("\n")[2])

    def _item(self, item: Item) -> None:
        if isinstance(item, Token):
            self._chars += len(item.text)
            self._wide += sum(character > "\u2e7f" for character in item.text)
            self._reasoned |= item.reasoning
            self._content_ms = self._at_ms
            self._emit(TokenRead(item.text, self._at_ms, item.reasoning))
        elif isinstance(item, ProviderError):
            words = server_words(item.message.encode("utf-8", "replace"))
            raise self._target.fail("provider", f"{self._target.shown} broke off with an error: {words}",
                                    "Try again, or choose another tier.")  # fmt: skip
        elif isinstance(item, ToolCall):
            self._tools = True
        elif isinstance(item, Finish):
            self._watch.expect("finish", self._limits.finish_ms)

    def conclude(self) -> None:
        """Give out the ``StreamEnded``, once. Raises ``StageError`` for a body that was no chat answer at all."""
        if self._concluded:
            return
        self._events_in(self._decoder.close())
        ending = self._reader.finish()
        for item in ending.rest:
            self._item(item)
        self._refuse_strangers()
        self._concluded = True
        outcome, note = self._outcome(ending)
        self._emit(self._ended(outcome, "; ".join(filter(None, [note, *self._mode_notes(ending.reason)]))))

    def _outcome(self, ending: Ending) -> tuple[Outcome, str]:
        note = self._target.secrets.mask(ending.note)
        if ending.outcome == "error":
            return "truncated", note
        if ending.outcome == "empty" and self.cut and not self._done_mark and ending.reason is None:
            return "truncated", "the connection broke before any text"
        if ending.outcome == "complete" and self._tools and not self._chars:
            return "empty", "the model asked for a tool, and none is offered"
        if ending.outcome == "complete" and (ending.reason or "").lower() in _LENGTH_REASONS:
            return "length", note
        return ending.outcome, note

    def _ended(self, outcome: Outcome, note: str) -> StreamEnded:
        usage = self._reader.usage
        counted = usage.completion_tokens if usage else None
        if counted == 0 and self._chars:
            counted = None
        unseen = min(usage.reasoning_tokens or 0, counted or 0) if usage and not self._reasoned else 0
        return StreamEnded(
            outcome,
            prompt_tokens=usage.prompt_tokens if usage else None,
            completion_tokens=estimated_tokens(self._chars, self._wide) if counted is None else counted,
            cached_tokens=usage.cached_tokens if usage else None,
            estimated=counted is None,
            note=note,
            unseen_tokens=unseen,
        )

    def _refuse_strangers(self) -> None:
        """Raise ``StageError`` where nothing in the body was part of a chat answer."""
        if self._chars or self._tools or self.cut or self._done_mark or self._reader.usage or not self._lead:
            return
        if self._decoder.mode == "sse" and (self._events or self._content_type == "text/event-stream"):
            return
        if self._decoder.mode == "sse" and self._decoder.comments:
            return
        kind = self._content_type or "unnamed content"
        raise self._target.fail("protocol", f"{self._target.shown} answered with {kind} that holds no chat answer",
                                "Check base_url: it must name an OpenAI-compatible API.")  # fmt: skip

    def _mode_notes(self, reason: str | None) -> list[str]:
        notes = []
        if self._decoder.mode == "body":
            notes.append("answered in one piece, not as a stream")
        elif self._decoder.mode == "lines":
            notes.append("a stream of JSON lines")
        elif self._content_type not in ("text/event-stream", "") and self._events:
            notes.append(f"an event stream labelled {self._content_type}")
        if reason == "content_filter":
            notes.append("stopped by the provider's content filter")
        return notes


def estimated_tokens(chars: int, wide: int = 0) -> int:
    """A guess where nobody counted: four characters to a token, one for each of the ``wide`` (CJK and beyond)."""
    return -(-(chars - wide) // 4) + wide

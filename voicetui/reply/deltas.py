"""Reading what a chat endpoint streams: events in, text, reasoning, tool calls, usage and errors out.

Understands OpenAI-compatible `/v1/chat/completions` chunks, whole completions, and Ollama's line JSON. The payload
decides, not the event's name. Nothing a server can send raises an exception here.
"""

from typing import Any, Literal

import msgspec

from voicetui.reply.provider_errors import NO_WORDS, ProviderError, names_error, reported_error
from voicetui.reply.sse import SseEvent, is_end_mark, parse_json, split_payloads
from voicetui.reply.thinking import ThinkSplitter
from voicetui.reply.toolcalls import ToolCall, ToolCallAssembler

Outcome = Literal["complete", "truncated", "empty", "error"]

_REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking", "reasoning_text", "reasoning_details")
_REASONING_PARTS = ("thinking", "reasoning", "reasoning_content", "summary_text")


class Token(msgspec.Struct, frozen=True):
    """A piece of text, never empty, whitespace as sent. `reasoning` text is shown but not spoken."""

    text: str
    reasoning: bool = False


class Usage(msgspec.Struct, frozen=True):
    """Token counts by the server. None where it did not say."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None


class Finish(msgspec.Struct, frozen=True):
    """The model stopped; given once per answer. Usage and `[DONE]` may still follow."""

    reason: str


Item = Token | Usage | Finish | ProviderError | ToolCall


class Ending(msgspec.Struct, frozen=True):
    """How an answer ended.

    complete: an end mark was seen. truncated: the connection ended before any end mark. empty: nothing to say came.
    error: the provider reported one (text before it still stands). `note` is a sentence for log and screen, "" when
    there is nothing to remark; `rest` holds items that only the end of the stream could settle.
    """

    outcome: Outcome
    note: str = ""
    reason: str | None = None
    rest: tuple[Item, ...] = ()


class DeltaReader:
    """Turns the events of one answer into items, and tells how it ended.

    `malformed` counts events that were skipped because they could not be read. `usage` is the latest usage.
    """

    def __init__(self, starts_in_reasoning: bool = False) -> None:
        self.malformed = 0
        self.usage: Usage | None = None
        self._think = ThinkSplitter(starts_in_reasoning)
        self._calls = ToolCallAssembler()
        self._choice: Any = None
        self._surrogate = ""
        self._notes: list[str] = []
        self._error = ""
        self._reason: str | None = None
        self._ended = False
        self._done_mark = False
        self._cut = False
        self._answered = False
        self._reasoned = False

    def read(self, event: SseEvent) -> list[Item]:
        """Return what `event` holds, in order; an empty list for pings, comments, roles and unknown events."""
        if event.flaw == "oversized":
            return [self._fail(ProviderError("the server sent a line that is too long to read", "protocol"))]
        if not event.data.strip():
            return [self._fail(ProviderError(NO_WORDS))] if names_error(event.event) else []
        items: list[Item] = []
        for payload in split_payloads(event.data):
            try:
                items += self._payload(payload, event)
            except RecursionError:
                self.malformed += 1
        return items

    @property
    def answered(self) -> bool:
        """Whether anything of an answer (text that is not blank, or a tool call) has been given out."""
        return self._answered

    def finish(self) -> Ending:
        """Take the end of the stream. Call once, after the last event."""
        rest = self._settle(run_tools=self._ended or self._done_mark)
        outcome = self._outcome()
        return Ending(outcome, "; ".join(self._remarks(outcome)), self._reason, tuple(rest))

    # -- one payload ----------------------------------------------------------------------------------------------

    def _payload(self, payload: str, event: SseEvent) -> list[Item]:
        if is_end_mark(payload):
            self._done_mark = True
            return self._settle(run_tools=True)
        named_error = names_error(event.event)
        try:
            value = parse_json(payload)
        except ValueError:
            return self._unreadable(payload, event, named_error)
        items: list[Item] = []
        for document in value if isinstance(value, list) else [value]:
            if isinstance(document, dict):
                items += self._document(document, event.event)
            elif named_error:
                items.append(self._fail(ProviderError(str(document))))
        return items

    def _unreadable(self, payload: str, event: SseEvent, named_error: bool) -> list[Item]:
        if named_error:
            return [self._fail(ProviderError(payload.strip()))]
        if event.flaw == "truncated":
            self._cut = True
        elif event.event == "message":
            self.malformed += 1
        return []

    def _document(self, document: dict[str, Any], kind: str) -> list[Item]:
        items: list[Item] = []
        choices = _listed(document.get("choices"))
        choice = self._pick(choices) if isinstance(choices, list) else None
        if choice is not None:
            items += self._answer_part(choice, whole=document.get("object") != "chat.completion.chunk")
        elif isinstance(document.get("done"), bool):
            items += self._line_part(document)
        usage = _usage(document)
        if usage and usage != self.usage:
            self.usage = usage
            items.append(usage)
        error = reported_error(document, kind) or (reported_error(choice, kind="") if choice else None)
        if error:
            items.append(self._fail(error))
        reason = _reason(choice) if choice else None
        if reason is None and document.get("done") is True:
            reason = _text(document.get("done_reason")) or "stop"
        if reason == "error" and not self._error:
            items.append(self._fail(ProviderError("the provider ended the answer with an error")))
        return items + self._end(reason)

    def _pick(self, choices: list[Any]) -> dict[str, Any] | None:
        """The choice that is the answer: the first one ever seen, and later those of the same index."""
        for choice in choices:
            if not isinstance(choice, dict):
                continue
            index = str(choice.get("index") or 0)
            if self._choice is None:
                self._choice = index
            if index == self._choice:
                return choice
        return None

    def _answer_part(self, choice: dict[str, Any], whole: bool) -> list[Item]:
        delta, message = choice.get("delta"), choice.get("message")
        if isinstance(delta, dict):
            return self._message(delta)
        if isinstance(message, dict):
            if self._answered or self._reasoned or self._calls:
                return []
            items = self._message(message)
            if whole and _reason(choice) is None:
                self._notes.append("a whole answer without a finish reason")
                items += self._end("stop")
            return items
        return self._text_items(choice.get("text"))

    def _line_part(self, document: dict[str, Any]) -> list[Item]:
        message = document.get("message")
        if isinstance(message, dict):
            return self._message(message)
        return self._reasoning(document) + self._text_items(document.get("response"))

    def _message(self, message: dict[str, Any]) -> list[Item]:
        if message.get("role") in ("tool", "function"):
            return []  # what a tool said to the model
        items = self._reasoning(message)
        items += self._text_items(message.get("content"))
        items += self._text_items(message.get("refusal"))
        self._calls.feed(message.get("tool_calls"))
        self._calls.feed(message.get("function_call"))
        return items

    def _reasoning(self, message: dict[str, Any]) -> list[Item]:
        # Some gateways send the same text under two names.
        text = _first(message, *_REASONING_FIELDS)
        if text and not self._answered:
            self._think.reasoning = False
        return self._tokens([(text, True)])

    def _text_items(self, content: Any) -> list[Item]:
        items: list[Item] = []
        for part in content if isinstance(content, list) else [content]:
            if isinstance(part, dict) and part.get("type") in _REASONING_PARTS:
                items += self._tokens([(_plain(part), True)])
            elif text := self._mend(_plain(part)):
                items += self._tokens(self._think.feed(text))
        return items

    def _mend(self, text: str) -> str:
        """Join surrogate pairs that were escaped in two deltas; a half without its other half becomes U+FFFD."""
        if not text:
            return ""
        text = self._surrogate + text
        self._surrogate = text[-1] if "\ud800" <= text[-1] <= "\udbff" else ""
        return _whole_characters(text[: len(text) - len(self._surrogate)])

    def _tokens(self, pieces: list[tuple[str, bool]]) -> list[Item]:
        items: list[Item] = []
        for text, reasoning in pieces:
            text = _whole_characters(text)
            if text:
                self._reasoned |= reasoning
                self._answered |= not reasoning and not text.isspace()
                items.append(Token(text, reasoning))
        return items

    # -- the end --------------------------------------------------------------------------------------------------

    def _fail(self, error: ProviderError) -> ProviderError:
        self._error = self._error or error.message
        return error

    def _end(self, reason: str | None) -> list[Item]:
        if reason is None or self._ended:
            return []
        self._ended, self._reason = True, reason
        return [*self._settle(run_tools=True), Finish(reason)]

    def _settle(self, run_tools: bool) -> list[Item]:
        """Give out what was held back: text that might have been a tag, and tool calls."""
        items = self._tokens(self._think.close())
        if self._surrogate:
            self._surrogate = ""
            items += self._tokens([("\ufffd", self._think.reasoning)])
        calls, broken = self._calls.take()
        if not run_tools:
            if calls or broken:
                self._notes.append(f"{len(calls) + len(broken)} tool call(s) dropped with the cut")
            return items
        self._answered |= bool(calls)
        items += calls
        for name in broken:
            items.append(self._fail(ProviderError(f"tool call {name!r} has ill-formed arguments", "tool_arguments")))
        return items

    def _outcome(self) -> Outcome:
        marked = self._ended or self._done_mark
        if self._error:
            return "error"
        if self._answered:
            return "complete" if marked else "truncated"
        return "truncated" if self._reasoned and not marked else "empty"

    def _remarks(self, outcome: Outcome) -> list[str]:
        remarks = [self._error] if self._error else []
        remarks += self._notes
        if outcome == "truncated":
            remarks.append("the stream ended without an end mark")
        elif outcome == "empty":
            remarks.append("only reasoning came, no answer" if self._reasoned else "the answer is empty")
        elif outcome == "complete" and not self._ended:
            remarks.append("no finish reason")
        if self._reason == "length":
            remarks.append("cut at the token limit")
        if self._think.reasoning and self._reasoned:
            remarks.append("the reasoning was never closed")
        if self._think.stray_close:
            remarks.append("reasoning without an opening tag was taken for the answer")
        if self._cut:
            remarks.append("the last event was cut short")
        if self._calls.dropped:
            remarks.append(f"{self._calls.dropped} stray tool call fragment(s) skipped")
        if self.malformed:
            remarks.append(f"{self.malformed} unreadable event(s) skipped")
        return remarks


def _listed(choices: Any) -> Any:
    """Choices as a list, also from one alone or from an object with numbers for names."""
    if not isinstance(choices, dict):
        return choices
    return [choices] if {"delta", "message", "text"} & choices.keys() else list(choices.values())


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _plain(value: Any) -> str:
    """The text of a string, a list of parts, or a part with its text under one of the usual names."""
    if isinstance(value, list):
        return "".join(map(_plain, value))
    if isinstance(value, dict):
        return _first(value, "text", "thinking", "content", "summary")
    return _text(value)


def _first(values: dict[str, Any], *names: str) -> str:
    """The text of the first of `names` that has any."""
    return next((text for name in names if (text := _plain(values.get(name)))), "")


def _whole_characters(text: str) -> str:
    """Join surrogate pairs and replace lone halves, so that the text can be encoded."""
    if not any("\ud800" <= character <= "\udfff" for character in text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _reason(choice: dict[str, Any]) -> str | None:
    """The finish reason of a choice; "" and "null" are what some providers send for none."""
    reason = choice.get("finish_reason")
    if reason is None and isinstance(choice.get("delta"), dict):
        reason = choice["delta"].get("finish_reason")
    if reason is None or reason is False or str(reason).strip().lower() in ("", "null", "none"):
        return None
    return str(reason)


def _usage(document: dict[str, Any]) -> Usage | None:
    """The usage of a payload, under any of the names in use; None if it has none."""
    vendor = document.get("x_groq")
    usage = document.get("usage") or (vendor.get("usage") if isinstance(vendor, dict) else None)
    if not isinstance(usage, dict):
        if document.get("done") is not True:
            return None
        usage = {"prompt_tokens": document.get("prompt_eval_count"), "completion_tokens": document.get("eval_count")}
    found = Usage(
        prompt_tokens=_count(usage, "prompt_tokens", "input_tokens"),
        completion_tokens=_count(usage, "completion_tokens", "output_tokens"),
        cached_tokens=_count(usage, "prompt_tokens_details.cached_tokens", "prompt_cache_hit_tokens", "cached_tokens"),
        reasoning_tokens=_count(usage, "completion_tokens_details.reasoning_tokens", "reasoning_tokens"),
    )
    return None if found == Usage() else found


_MOST_TOKENS = 100_000_000
"""No context is longer: a server that counts more does not count tokens."""


def _count(usage: dict[str, Any], *paths: str) -> int | None:
    for path in paths:
        value: Any = usage
        for name in path.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS:
            return int(value)
    return None

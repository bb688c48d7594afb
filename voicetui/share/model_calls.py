"""What is known of each call to a language model."""

from __future__ import annotations

from dataclasses import dataclass, field

from voicetui.events import Basis, Entry
from voicetui.events.orders import Generate, Message
from voicetui.events.reply import (
    FirstByte,
    GenerationCancelled,
    GenerationEnded,
    GenerationFailed,
    RequestSent,
    TokensArrived,
)
from voicetui.views.breakdown import finite


@dataclass(slots=True)
class Call:
    """One generation. Times in ms on the session clock; what never came is None, or "" where it is a text."""

    tier: str
    speculative: bool
    messages: tuple[Message, ...]
    connection: str | None = None
    request_ms: float | None = None
    first_byte_ms: float | None = None
    first_token_ms: float | None = None
    first_answer_ms: float | None = None
    text: list[str] = field(default_factory=list)
    outcome: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    estimated: bool = False
    cancelled: bool = False
    failed_stage: str | None = None
    failure: str | None = None

    def took(self, fact: TokensArrived) -> None:
        """Pieces of text came; only those with text are tokens, and reasoning is no answer."""
        times_ms = [token.at_ms for token in fact.tokens if token.text and finite(token.at_ms) is not None]
        if times_ms and self.first_token_ms is None:
            self.first_token_ms = times_ms[0]
        if fact.reasoning:
            return
        if times_ms and self.first_answer_ms is None:
            self.first_answer_ms = times_ms[0]
        self.text.extend(token.text for token in fact.tokens)


class CallFold:
    """Collects the calls of a session by the basis they were made on."""

    def __init__(self) -> None:
        self._calls: dict[Basis, Call] = {}

    def of(self, basis: Basis) -> Call | None:
        """The call on ``basis``, if the journal has it."""
        return self._calls.get(basis)

    def feed(self, entry: Entry) -> None:
        """Take one entry, in journal order."""
        at_ms, body = finite(entry.at), entry.body
        if isinstance(body, Generate):
            self._calls[body.basis] = Call(body.tier, body.speculative, body.messages)
            return
        if not isinstance(
            body, RequestSent | FirstByte | TokensArrived | GenerationEnded | GenerationFailed | GenerationCancelled
        ):
            return
        call = self._calls.get(body.basis)
        if call is None:
            return
        match body:
            case RequestSent():
                call.request_ms, call.connection = at_ms, body.connection
            case FirstByte():
                call.first_byte_ms = at_ms
            case TokensArrived():
                call.took(body)
            case GenerationEnded():
                call.outcome, call.estimated = body.outcome, body.estimated
                call.input_tokens, call.output_tokens = body.prompt_tokens, body.completion_tokens
                call.cached_tokens = body.cached_tokens
            case GenerationCancelled():
                call.cancelled, call.output_tokens, call.estimated = True, body.tokens, True
            case GenerationFailed():
                call.failed_stage, call.failure = body.stage, body.message

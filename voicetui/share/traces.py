"""A session as a trace: a span for the session, one for each turn, one for each piece of work in it.

Model calls follow OpenTelemetry's conventions for generative AI (status Development in 2026,
https://github.com/open-telemetry/semantic-conventions-genai, ``gen_ai.client.inference``); everything else is under
``voicetui.``. What was said is left out unless it is asked for, as the conventions have it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

import msgspec

from voicetui.events import Entry
from voicetui.events.orders import IMPORTED, STAGED
from voicetui.events.session import SessionOpened, TierFacts
from voicetui.share.model_calls import Call, CallFold
from voicetui.views.barge_in import BargeInFigures, fold_barge_ins
from voicetui.views.breakdown import STAGES, finite
from voicetui.views.latency import TurnLatency, fold_latency
from voicetui.views.spans import Mark, Span
from voicetui.views.summary import SummaryView, TurnSummary
from voicetui.views.timeline import fold_timeline

Value: TypeAlias = str | bool | int | float | tuple[str, ...]
Attributes: TypeAlias = dict[str, Value]

SESSION: Final = "session"
"""The key of the root span."""

_NAMES: Final = {
    "you": "speech",
    "endpoint": "endpoint",
    "transcribe": "transcribe",
    "context": "context",
    "llm": "prewarm",
    "clauses": "clause",
    "synthesis": "synthesize",
    "speaker": "play",
}
_SPOKEN_LABELS: Final = ("you", "transcribe", "context", "clauses", "synthesis", "speaker")
"""Lanes whose labels are words of the conversation, or names of notes."""
_SPOKEN_MARKS: Final = ("cut",)
_PROVIDERS: Final = {"openai": "openai", "local": "llama.cpp"}
"""``gen_ai.provider.name`` by the kind of a tier. What speaks OpenAI's protocol is called "openai", whoever runs it."""
_FINISH: Final = {"complete": "stop", "empty": "stop"}


class Event(msgspec.Struct, frozen=True):
    """Something at one instant of a span, ms on the session clock."""

    at_ms: float
    name: str
    attributes: Attributes


class TraceSpan(msgspec.Struct, frozen=True):
    """A span, ms on the session clock. ``key`` is its own in the session and the same at every export.

    ``remote``: a call to another process. ``error``: what it failed of, None where it did not.
    """

    key: str
    parent: str | None
    name: str
    start_ms: float
    end_ms: float
    attributes: Attributes
    events: tuple[Event, ...] = ()
    remote: bool = False
    error: str | None = None


def trace(entries: Iterable[Entry], session: str, with_text: bool = False) -> list[TraceSpan]:
    """The spans of a session: its own first, then the turns', then what was done in them, in order."""
    entries = tuple(entries)
    return _Trace(entries, session, with_text).spans()


class _Trace:
    """What the spans are made from."""

    def __init__(self, entries: tuple[Entry, ...], session: str, with_text: bool) -> None:
        self._session = session
        self._with_text = with_text
        self._opened = next((entry.body for entry in entries if isinstance(entry.body, SessionOpened)), None)
        self._timeline = fold_timeline(entries)
        self._barge_ins = fold_barge_ins(entries)
        self._calls = CallFold()
        view = SummaryView()
        for entry in entries:
            self._calls.feed(entry)
            view.feed(entry)
        self._summary = view.snapshot()
        self._latency = fold_latency(entries)
        self._turns = {turn.turn: f"turn/{turn.turn}" for turn in self._latency}
        self._end_ms = max((at for entry in entries if (at := finite(entry.at)) is not None), default=0.0)

    def spans(self) -> list[TraceSpan]:
        work = self._work()
        within = {key: [span for span in work if span.parent == key] for key in self._turns.values()}
        turns = [
            self._turn(turn, told, within[self._turns[turn.turn]])
            for turn, told in zip(self._latency, self._summary.turns, strict=True)
        ]
        return [self._root(), *turns, *work]

    def _root(self) -> TraceSpan:
        opened, summary = self._opened, self._summary
        attributes: dict[str, Value | None] = {
            "gen_ai.conversation.id": self._session,
            "voicetui.tier": summary.tier,
            "voicetui.simulated": summary.simulated,
            "voicetui.overlap": summary.overlap,
            "voicetui.source": opened.source if opened is not None else None,
            "voicetui.parent": (opened.parent or None) if opened is not None else None,
            "voicetui.turns": len(self._latency),
            "voicetui.gap.n": summary.gap_ms.n,
            "voicetui.gap.p50_ms": summary.gap_ms.p50,
            "voicetui.cut_offs": summary.cut_offs if summary.tier != IMPORTED else None,
            "voicetui.collisions": summary.collisions,
        }
        return TraceSpan(
            SESSION, None, f"session {self._session}", 0.0, self._end_ms, _known(attributes), self._events(None)
        )

    def _turn(self, turn: TurnLatency, told: TurnSummary, work: list[TraceSpan]) -> TraceSpan:
        times_ms = [ms for ms in msgspec.structs.astuple(turn.points) if ms is not None]
        starts = [*times_ms, *(span.start_ms for span in work)]
        ends = [*times_ms, *(span.end_ms for span in work)]
        tier = self._tier(turn.tier)
        attributes: dict[str, Value | None] = {
            "gen_ai.conversation.id": self._session,
            "voicetui.turn": turn.turn,
            "voicetui.tier": turn.tier or (self._opened.tier if self._opened is not None else None),
            "voicetui.simulated": tier.simulated if tier is not None else turn.tier == STAGED,
            "voicetui.staged": turn.staged,
            "voicetui.staged_ms": turn.staged_ms,
            "voicetui.outcome": turn.outcome,
            "voicetui.typed": turn.typed,
            "voicetui.ended_by": turn.ended_by or None,
            "voicetui.gap_ms": turn.gap_ms,
            "voicetui.uncertainty_ms": turn.uncertainty_ms,
            "voicetui.cold": turn.cold,
            "voicetui.cached": turn.cached,
            "voicetui.filler": turn.filler,
            "voicetui.speculation.attempts": told.speculation.attempts,
            "voicetui.speculation.kept": told.speculation.kept,
            "voicetui.speculation.wasted_tokens": told.speculation.wasted_tokens,
            "voicetui.speculation.saved_ms": told.speculation.saved_ms,
            "voicetui.missing": tuple(f"{missing.point}: {missing.reason}" for missing in turn.missing),
        }
        for stage in (*STAGES, "unaccounted"):
            attributes[f"voicetui.stage.{stage}_ms"] = getattr(turn.stages_ms, stage)
        if self._with_text:
            attributes |= {
                "voicetui.user_text": told.user_text,
                "voicetui.reply_text": told.reply_text,
                "voicetui.heard_text": told.heard_text,
            }
        return TraceSpan(
            self._turns[turn.turn],
            SESSION,
            f"turn {turn.turn}",
            min(starts, default=self._end_ms),
            max(ends, default=self._end_ms),
            _known(attributes),
            self._events(turn.turn),
            error="failed" if turn.outcome == "failed" else None,
        )

    def _work(self) -> list[TraceSpan]:
        counts: dict[str, int] = {}
        found = []
        for span in self._timeline.spans:
            if span.lane == "endpoint" and span.label == IMPORTED:
                continue  # nobody knows how long it was waited for
            basis = "/".join(str(part) for part in msgspec.structs.astuple(span.basis)) if span.basis else span.turn
            key = f"{span.lane}/{basis}"
            counts[key] = counts.get(key, 0) + 1
            found.append(self._piece(span, f"{key}/{counts[key]}"))
        return found

    def _piece(self, span: Span, key: str) -> TraceSpan:
        parent = self._turns.get(span.turn, SESSION) if span.turn is not None else SESSION
        end_ms = span.end_ms if span.end_ms is not None else max(self._end_ms, span.start_ms)
        attributes: dict[str, Value | None] = {
            "voicetui.lane": span.lane,
            "voicetui.kind": span.kind,
            "voicetui.discarded": span.kind == "discarded",
            "voicetui.unfinished": True if span.end_ms is None else None,
        }
        if span.label and (self._with_text or span.lane not in _SPOKEN_LABELS):
            attributes["voicetui.label"] = span.label
        call = self._calls.of(span.basis) if span.lane == "llm" and span.basis is not None else None
        if call is None or span.basis is None:
            return TraceSpan(key, parent, _NAMES[span.lane], span.start_ms, end_ms, _known(attributes))
        tier = self._tier(call.tier)
        attributes |= self._call_attributes(call, tier)
        name = f"chat {tier.model}" if tier is not None and tier.model else "chat"
        return TraceSpan(
            key,
            parent,
            "ready-made reply" if call.tier == STAGED else name,
            span.start_ms,
            end_ms,
            _known(attributes),
            _call_events(call),
            remote=tier is not None and tier.kind in _PROVIDERS,
            error=call.failure,
        )

    def _call_attributes(self, call: Call, tier: TierFacts | None) -> dict[str, Value | None]:
        attributes: dict[str, Value | None] = {
            "voicetui.tier": call.tier,
            "voicetui.simulated": tier.simulated if tier is not None else True,
            "voicetui.speculative": call.speculative,
            "voicetui.cancelled": call.cancelled,
            "voicetui.connection": call.connection,
            "voicetui.tokens_estimated": call.estimated if call.output_tokens is not None else None,
        }
        if call.tier == STAGED:
            return attributes
        kind = tier.kind if tier is not None else ""
        attributes |= {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": _PROVIDERS.get(kind, kind or "unknown"),
            "gen_ai.conversation.id": self._session,
            "gen_ai.request.model": (tier.model or None) if tier is not None else None,
            "gen_ai.request.stream": True,
            "gen_ai.usage.input_tokens": call.input_tokens,
            "gen_ai.usage.output_tokens": call.output_tokens,
            "gen_ai.usage.cache_read.input_tokens": call.cached_tokens,
            "gen_ai.response.finish_reasons": (_FINISH.get(call.outcome, call.outcome),) if call.outcome else None,
            "error.type": call.failed_stage,
        }
        if call.first_byte_ms is not None and call.request_ms is not None:
            attributes["gen_ai.response.time_to_first_chunk"] = round((call.first_byte_ms - call.request_ms) / 1000, 6)
        if call.first_token_ms is not None and call.request_ms is not None:
            attributes["voicetui.time_to_first_token_ms"] = round(call.first_token_ms - call.request_ms, 3)
        if self._with_text:
            attributes["gen_ai.input.messages"] = _messages((message.role, message.text) for message in call.messages)
            attributes["gen_ai.output.messages"] = _messages([("assistant", "".join(call.text))])
        return attributes

    def _tier(self, name: str) -> TierFacts | None:
        tiers = self._opened.tiers if self._opened is not None else ()
        return next((tier for tier in tiers if tier.name == name), None)

    def _events(self, turn: int | None) -> tuple[Event, ...]:
        """The marks of a turn; with None those that belong to no turn that was ever committed."""
        marks = (mark for mark in self._timeline.marks if (mark.turn if mark.turn in self._turns else None) == turn)
        return tuple(self._event(mark) for mark in marks)

    def _event(self, mark: Mark) -> Event:
        attributes: Attributes = {}
        if mark.label and (self._with_text or mark.kind not in _SPOKEN_MARKS):
            attributes["voicetui.label"] = mark.label
        if mark.kind == "barge_in" and mark.turn is not None:
            figures = next((one for one in self._barge_ins.get(mark.turn, ()) if one.at_ms == mark.at_ms), None)
            attributes |= _barge_in(figures) if figures is not None else {}
        return Event(mark.at_ms, f"voicetui.{mark.kind}", attributes)


def _barge_in(figures: BargeInFigures) -> Attributes:
    return _known(
        {
            "voicetui.barge_in.kind": figures.kind,
            "voicetui.barge_in.onset_ms": figures.onset_ms,
            "voicetui.barge_in.ducked_ms": figures.ducked_ms,
            "voicetui.barge_in.stop_ms": figures.stop_ms,
            "voicetui.barge_in.decided_ms": figures.decided_ms,
            "voicetui.barge_in.in_silence": figures.in_silence,
            "voicetui.barge_in.heard_words": figures.heard_words,
            "voicetui.barge_in.generated_words": figures.generated_words,
            "voicetui.barge_in.away_ms": figures.away_ms,
        }
    )


def _call_events(call: Call) -> tuple[Event, ...]:
    instants = (("first_byte", call.first_byte_ms), ("first_token", call.first_token_ms),
                ("first_answer_token", call.first_answer_ms))  # fmt: skip
    return tuple(Event(at_ms, f"voicetui.{name}", {}) for name, at_ms in instants if at_ms is not None)


def _messages(messages: Iterable[tuple[str, str]]) -> str:
    """Messages in the form of the conventions' JSON schema."""
    parts: list[dict[str, Any]] = [
        {"role": role, "parts": [{"type": "text", "content": text}]} for role, text in messages
    ]
    return json.dumps(parts, ensure_ascii=False)


def _known(attributes: Mapping[str, Value | None]) -> Attributes:
    """What has a value: no None, no number that is none, no empty list."""
    return {
        name: value
        for name, value in attributes.items()
        if value is not None and value != () and not (isinstance(value, float) and finite(value) is None)
    }

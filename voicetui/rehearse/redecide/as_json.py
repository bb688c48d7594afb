"""What deciding again changes, as JSON-ready values. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from voicetui.conversation.policy import Policy
from voicetui.events import Order
from voicetui.events.orders import Commit
from voicetui.rehearse.redecide.changes import Change, Turn, differs
from voicetui.rehearse.redecide.meaning import cut_in_ms, meaning

SCHEMA = 1


def redecided_json(
    session: str,
    recorded_by: str,
    decided_by: str,
    policy: Policy,
    changes: Mapping[str, object],
    turns: Sequence[Turn],
) -> dict[str, Any]:
    """Everything that was found. Times are ms on the session clock; null where there is none."""
    return {
        "schema": SCHEMA,
        "session": session,
        "recorded_by": recorded_by,
        "decided_by": decided_by,
        "settings": {
            name: {"recorded": msgspec.to_builtins(getattr(policy, name)), "now": msgspec.to_builtins(value)}
            for name, value in changes.items()
        },
        "identical": not differs(turns),
        "rules_changed": any(turn.by_rules for turn in turns),
        "turns": [_turn(turn) for turn in turns],
    }


def _turn(turn: Turn) -> dict[str, Any]:
    return {
        "turn": turn.number,
        "utterance": turn.utterance,
        "begins_ms": turn.begins_ms,
        "user_text": turn.text,
        "recorded_outcome": turn.outcome or None,
        "changed": bool(turn.changes or turn.unknown),
        "meaning": meaning(turn),
        "by_rules": turn.by_rules,
        "by_settings": turn.by_settings,
        "commit": _commit(turn),
        "unknown": msgspec.to_builtins(turn.unknown),
        "orders": [_change(change) for change in turn.changes],
        "orders_not_compared": turn.left,
        "answers_moved": turn.moved_answers,
        "unanswered": [msgspec.to_builtins(order) for order in turn.unanswered],
        "orphans": [
            {"seq": entry.seq, "at_ms": entry.at, "type": msgspec.to_builtins(entry.body)["type"]}
            for entry in turn.orphans
        ],
    }


def _commit(turn: Turn) -> dict[str, Any]:
    """When the turn was and would be committed, and the length of the pause of the user it would be in, if it is."""
    recorded = next((d.told_ms for d in turn.result.episode.decisions for o in d.orders if isinstance(o, Commit)), None)
    run = turn.result.run
    now = recorded
    if run is not None:
        now = next((given.at_ms for given in run.given if isinstance(given.order, Commit)), None)
        now_known = now is not None or run.unknown is None
    else:
        now_known = True
    return {"recorded_ms": recorded, "now_ms": now, "known": now_known, "cuts_into_pause_ms": cut_in_ms(turn)}


def _change(change: Change) -> dict[str, Any]:
    return {
        "change": change.kind,
        "at_ms": change.at_ms,
        "recorded_ms": change.recorded_ms,
        "order": _order(change.order),
        "recorded": _order(change.recorded),
    }


def _order(order: Order | None) -> Any:
    return msgspec.to_builtins(order)

"""What a turn that is decided otherwise means to the person talking: one sentence. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from voicetui.events import Order
from voicetui.events.listen import SpeechPaused, SpeechStarted
from voicetui.events.orders import BargeIn, Commit, Cut, EndTurn, Generate, Pause, Play, Reject, Resume
from voicetui.rehearse.redecide.changes import Change, Turn, orders_differing
from voicetui.rehearse.redecide.decisions import Decision
from voicetui.rehearse.redecide.order_text import short

OrderT = TypeVar("OrderT", bound=Order)
_SAME_MS = 5.0
"""A wake may be that late; nobody hears it."""


def meaning(turn: Turn) -> str:
    """One sentence without its full stop; "as recorded" where no order differs."""
    said = [phrase for phrase in _phrases(turn) if phrase]
    if not said and turn.idle:
        said = ["as recorded, but it looks again at other times" if turn.changes else "as recorded"]
    elif not said:
        said = [f"as recorded, with other orders beside it ({orders_differing(turn)})"]
    unknown = turn.unknown
    if unknown is None:
        return "; ".join(said)
    if unknown.commit and not turn.changes:
        return f"not known from this recording, for {unknown.why}"
    if unknown.commit:
        return f"not known from this recording, for {unknown.why}; without that: {'; '.join(said)}"
    return f"{'; '.join(said)}; what follows is not known from this recording, for {unknown.why}"


def cut_in_ms(turn: Turn) -> float | None:
    """How long the pause of the user is into which the turn would be committed; None where it would not be."""
    change = _of(turn, Commit)
    if change is None or change.at_ms is None:
        return None
    return _pause_after(turn, change)[1]


def _phrases(turn: Turn) -> Iterator[str]:
    commit, reject = _of(turn, Commit), _of(turn, Reject)
    yield _commit(turn, commit) if commit is not None else ""
    yield _reject(reject, commit, turn.unknown is not None) if reject is not None else ""
    yield _drafts(turn)
    yield _moved(turn, Play, "its sound is released")
    yield _moved(turn, Pause, "the reply is held", "the reply is not held then")
    yield _moved(turn, Resume, "the reply comes back", "the reply does not come back then")
    barge_in = _of(turn, BargeIn)
    yield _barge_in(barge_in) if barge_in is not None else _moved(turn, Cut, "the reply is cut")
    yield _outcome(turn)


def _commit(turn: Turn, change: Change) -> str:
    now, then = change.order, change.recorded
    if not isinstance(now, Commit):
        return _not_committed(turn)
    since_ms, pause_ms = _pause_after(turn, change)
    if pause_ms is not None:
        if since_ms > pause_ms:
            return f"would cut in: {short(now.text)} is committed {since_ms - pause_ms:.0f} ms after the user went on"
        return f"would cut in: {short(now.text)} is committed {since_ms:.0f} ms into a pause of {pause_ms:.0f} ms"
    if not isinstance(then, Commit):
        return f"would be a turn: {short(now.text)} is committed"
    how = list(_otherwise(now, then))
    if change.kind == "altered" and not how:
        return ""
    because = f" ({', '.join(how)})" if how else ""
    return f"committed {_shift(change)}{because}"


def _otherwise(now: Commit, then: Commit) -> Iterator[str]:
    if now.silence_ms is not None and now.silence_ms != then.silence_ms:
        before = f" instead of {then.silence_ms:.0f} ms" if then.silence_ms is not None else ""
        yield f"after {now.silence_ms:.0f} ms of silence{before}"
    if now.reason != then.reason:
        yield f"by {now.reason} instead of {then.reason}"
    if abs(now.held_ms - then.held_ms) >= _SAME_MS:
        yield f"held open for {now.held_ms:.0f} ms instead of {then.held_ms:.0f} ms"
    if now.text != then.text:
        yield f"with {short(now.text)} instead of {short(then.text)}"


def _not_committed(turn: Turn) -> str:
    run = turn.result.run
    if run is None or run.unknown is not None or run.state.utterance is None:
        return "" if _of(turn, Reject) is not None or turn.unknown is not None else "not committed"
    paused = _last(turn, SpeechPaused, float("inf"))
    if turn.spoken_again_ms is None:
        return "not committed before the recording ends"
    since = f", {turn.spoken_again_ms - paused.entry.at:.0f} ms after the last word" if paused is not None else ""
    if turn.outcome in ("cut_off", "superseded"):
        return f"would not cut in: it still waits when the user goes on{since}"
    return f"still waits when the user speaks again{since}"


def _reject(change: Change, commit: Change | None, unknown: bool) -> str:
    now, then = change.order, change.recorded
    if not isinstance(now, Reject):
        return "" if commit is not None or unknown else "not rejected"
    if not isinstance(then, Reject):
        return f"would be no turn ({now.reason})"
    if now.reason != then.reason:
        return f"rejected as {now.reason} instead of {then.reason}"
    return f"rejected {_shift(change)}" if change.kind == "moved" else ""


def _drafts(turn: Turn) -> str:
    more = sum(
        (change.kind == "new") - (change.kind == "gone")
        for change in turn.changes
        if isinstance(change.either, Generate) and change.either.speculative
    )
    if not more:
        return ""
    return f"{abs(more)} draft{'s' if abs(more) > 1 else ''} {'more' if more > 0 else 'fewer'}"


def _moved(turn: Turn, kind: type[Order], what: str, never: str = "") -> str:
    """What happens at another time, or ``never`` happens."""
    change = _of(turn, kind)
    if change is None or change.kind in ("new", "altered"):
        return ""
    return f"{what} {_shift(change)}" if change.kind == "moved" else never


def _barge_in(change: Change) -> str:
    now, then = change.order, change.recorded
    if isinstance(now, BargeIn) and isinstance(then, BargeIn):
        if now.kind != then.kind:
            return f"the speech over it counts as a {now.kind} instead of a {then.kind}"
        return f"what the speech over it was ({now.kind}) is decided {_shift(change)}" if change.kind == "moved" else ""
    if isinstance(now, BargeIn):
        return f"the speech over it counts as a {now.kind}"
    return f"the speech over it does not count as a {then.kind}" if isinstance(then, BargeIn) else ""


def _outcome(turn: Turn) -> str:
    change = _of(turn, EndTurn)
    if change is None or not isinstance(change.order, EndTurn) or not isinstance(change.recorded, EndTurn):
        return ""
    if change.order.outcome != change.recorded.outcome:
        return f"ends {change.order.outcome} instead of {change.recorded.outcome}"
    return "with other words heard" if change.order.heard_text != change.recorded.heard_text else ""


def _pause_after(turn: Turn, change: Change) -> tuple[float, float | None]:
    """How long the user was silent at a commit, and how long that silence was where the same utterance went on."""
    assert change.at_ms is not None
    paused = _last(turn, SpeechPaused, change.at_ms)
    since_ms = change.at_ms - paused.entry.at if paused is not None else 0.0
    for decision in turn.result.episode.decisions:
        if not isinstance(decision.entry.body, SpeechStarted) or decision.told_ms <= change.at_ms:
            continue
        went_on = change.recorded_ms is None or change.recorded_ms > decision.told_ms
        if paused is not None and went_on:
            return since_ms, decision.entry.at - paused.entry.at
    return since_ms, None


def _last(turn: Turn, kind: type[SpeechPaused], until_ms: float) -> Decision | None:
    found = None
    for decision in turn.result.episode.decisions:
        if isinstance(decision.entry.body, kind) and decision.told_ms <= until_ms:
            found = decision
    return found


def _of(turn: Turn, kind: type[Order]) -> Change | None:
    """The first change of an order of this kind; one that is given now before one that is not."""
    mine = [change for change in turn.changes if isinstance(change.either, kind)]
    return next((change for change in mine if change.order is not None), mine[0] if mine else None)


def _shift(change: Change) -> str:
    assert change.at_ms is not None and change.recorded_ms is not None
    ms = change.at_ms - change.recorded_ms
    if abs(ms) < _SAME_MS:
        return "at the same time"
    return f"{abs(ms):.0f} ms {'earlier' if ms < 0 else 'later'}"

"""What deciding again changes, for people to read: one line for each turn, the orders that differ under it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from voicetui.events import Entry
from voicetui.rehearse.redecide.changes import Change, Turn
from voicetui.rehearse.redecide.meaning import meaning
from voicetui.rehearse.redecide.order_text import order_text, short
from voicetui.tui.ink import Ink, Row, Run, row, wrap_runs
from voicetui.tui.literal import fit, literal, width

_SIGNS: dict[str, tuple[str, Ink]] = {
    "new": ("+", "band-conversation"),
    "gone": ("-", "band-slow"),
    "moved": ("~", "notice"),
    "altered": ("~", "notice"),
}
_TEXT_CELLS = 34


def redecided_rows(turns: Sequence[Turn], cells: int, settings: bool = False) -> Iterator[Row]:
    """Every turn, one below the other, then what could not be used of the recording.

    ``settings``: some were changed, so that it matters where a change comes from.
    """
    shown = [turn for turn in turns if turn.number is not None or turn.utterance is not None or turn.changes]
    label_cells = max((width(turn.label) for turn in shown), default=0)
    for turn in shown:
        yield from _turn_rows(turn, label_cells, cells, settings)
    orphans = [(turn, turn.orphans) for turn in turns if turn.orphans]
    if orphans:
        yield row("")
        yield row(("recorded facts that answer nothing asked for now", "strong"))
        for turn, entries in orphans:
            yield Row((Run(f"  {turn.label:<{label_cells}}  "), Run(_facts(entries))))


def summary_text(turns: Sequence[Turn]) -> str:
    """How many turns change, in a sentence."""
    spoken = [turn for turn in turns if turn.number is not None or turn.utterance is not None]
    changed = [turn for turn in spoken if (turn.changes and not turn.idle) or turn.unknown]
    idle = [turn for turn in spoken if turn.changes and turn not in changed]
    same = len(spoken) - len(changed) - len(idle)
    parts = [f"{len(changed)} decided otherwise", f"{same} as recorded"]
    if idle:
        parts.insert(1, f"{len(idle)} only looking again at other times")
    unknown = sum(turn.unknown is not None for turn in spoken)
    if unknown:
        parts.append(f"{unknown} not known to their end")
    return f"{len(spoken)} turn{'s' if len(spoken) != 1 else ''} and utterances: {', '.join(parts)}."


def _turn_rows(turn: Turn, label_cells: int, cells: int, settings: bool) -> Iterator[Row]:
    changed = bool(turn.unknown) or not turn.idle
    head = f"{turn.label:<{label_cells}}  {turn.begins_ms / 1e3:8.2f} s  {fit(literal(_said(turn)), _TEXT_CELLS)}  "
    said = literal(meaning(turn))
    if settings and turn.by_rules and not turn.by_settings:
        said += "  (by the rules, not by the settings)"
    room = cells - width(head)
    lines = wrap_runs([Run(said, "strong" if changed else "dim")], max(40, room))
    for place, runs in enumerate(lines):
        yield Row((Run(head if place == 0 else " " * width(head), "text" if changed else "dim"), *runs))
    for change in turn.changes:
        yield from _change_rows(change, cells)
    if turn.left:
        count = f"{turn.left} recorded order{'s' if turn.left != 1 else ''}"
        yield row((f"      {count} after that: not compared", "dim"))


def _said(turn: Turn) -> str:
    return short(turn.text, _TEXT_CELLS - 2) if turn.text else ""


def _change_rows(change: Change, cells: int) -> Iterator[Row]:
    sign, ink = _SIGNS[change.kind]
    now, then = change.order, change.recorded
    text = order_text(change.either)
    if change.kind == "altered" and now is not None:
        text = order_text(now, than=then)
    at_ms = change.first_ms if change.at_ms is None else change.at_ms
    when = f"{at_ms / 1e3:9.3f} s"
    if change.kind == "moved" and change.recorded_ms is not None:
        text += f", at {change.recorded_ms / 1e3:.3f} s in the recording"
        text += f" ({order_text(now, than=then).partition(': ')[2]})" if now is not None and now != then else ""
    head = (Run(f"    {sign} ", ink), Run(f"{when}  ", "dim"))
    indent = sum(width(run.text) for run in head)
    for place, runs in enumerate(wrap_runs([Run(literal(text))], cells - indent)):
        yield Row((*(head if place == 0 else (Run(" " * indent),)), *runs))


def _facts(entries: Sequence[Entry]) -> str:
    counts: dict[str, int] = {}
    for entry in entries:
        name = order_text_name(entry)
        counts[name] = counts.get(name, 0) + 1
    return ", ".join(f"{count} {name}" for name, count in counts.items())


def order_text_name(entry: Entry) -> str:
    """What kind of fact it is, in words."""
    return "".join(f" {each.lower()}" if each.isupper() else each for each in type(entry.body).__name__).strip()

"""What speculation saves, what it wastes, and whether that is worth it."""

from __future__ import annotations

from collections.abc import Sequence

from textual.geometry import Size

from voicetui.tui.canvas import rule
from voicetui.tui.figures import milliseconds, whole
from voicetui.tui.ink import BLANK, Ink, Row, Run, clip_runs, wrap_runs
from voicetui.tui.literal import literal
from voicetui.tui.table import table
from voicetui.tui.view import ScreenView
from voicetui.tui.widgets.panel import Panel
from voicetui.views.ledger import Ledger
from voicetui.views.worth import TURNS_TO_SAY, Verdict, verdict, worth

_SHORT: dict[Verdict, tuple[str, Ink]] = {
    "off": ("not tried: overlap is not full", "dim"),
    "not tried": ("not tried yet", "dim"),
    "too few": (f"worth it? too few turns, it takes {TURNS_TO_SAY}", "dim"),
    "nothing kept": ("not worth it: no draft was kept", "notice"),
    "unnoticed": ("not worth it: nobody notices the gain", "notice"),
    "costly": ("not worth it: more wasted than used", "notice"),
    "worth it": ("worth it here", "accent"),
}


class LedgerPanel(Panel):
    """The session's ledger in a few rows."""

    DEFAULT_CSS = "LedgerPanel { height: 4; }"

    def depends_on(self, view: ScreenView) -> tuple[object, ...]:
        """What the rows are made from."""
        return (view.ledger,)

    def draw(self, size: Size) -> Sequence[Row]:
        """A heading, the figures, the verdict: as much as there is room for."""
        width, height = size
        if self.view is None:
            return [Row(rule(width, "speculation"))]
        ledger = self.view.ledger
        rows = [Row(rule(width, "speculation", f"n {ledger.tried}"))]
        figures = _figures(ledger, width) if ledger.attempts else []
        verdict_rows = [Row((Run("  "), *line)) for line in wrap_runs([Run(worth(ledger))], width - 4)]
        if len(figures) + len(verdict_rows) > height - 1:
            short, ink = _SHORT[verdict(ledger)]
            verdict_rows = [Row((Run("  "), *clip_runs([Run(short, ink)], width - 3)))]
        return [*rows, *figures[: height - 1 - len(verdict_rows)], *verdict_rows]


def ledger_page(ledger: Ledger, width: int) -> list[Row]:
    """The whole ledger: the answer, the figures, what was discarded by stage, and each turn that tried."""
    rows = [Row(rule(width, "speculation: is it worth it here?", "esc goes back")), BLANK]
    rows += [Row((Run("  "), *line)) for line in wrap_runs([Run(worth(ledger), "strong")], width - 4)]
    rows += [BLANK, *_figures(ledger, width), BLANK, *_ahead(ledger, width)]
    if ledger.discarded:
        rows.append(Row((Run("  discarded by stage", "title"),)))
    for stage, waste in sorted(ledger.discarded.items()):
        parts = [("times", str(waste.count)), ("tokens", str(waste.tokens)), ("work", milliseconds(waste.ms))]
        parts.append(("sound", f"{waste.samples / 16_000:.1f} s"))
        rows += table([(literal(stage), ""), *parts], width)
    rows += [BLANK, Row((Run("  turn by turn, the newest first", "title"),))]
    for number, turn in sorted(ledger.turns.items(), reverse=True):
        if turn.attempts:
            kept = "kept" if turn.kept else "dropped"
            parts = [("drafts", str(turn.attempts)), ("", kept), ("saved", milliseconds(turn.saved_ms))]
            parts += [("wasted", f"{turn.wasted_tokens} tokens"), ("work", milliseconds(turn.wasted_ms))]
            rows += table([(f"turn {number}", ""), *parts], width)
    return rows


def _ahead(ledger: Ledger, width: int) -> list[Row]:
    """What was done before there was a request: prompts worked through, notes looked up. Nothing where neither was."""
    prewarm, notes, partials, rows = ledger.prewarm, ledger.retrieval, ledger.partials, list[Row]()
    if partials.real_time_factor is not None:
        parts = [("n", str(partials.n)), ("of real time", f"{partials.real_time_factor:.2f}×")]
        churn = f"{100 * partials.churn:.0f} % of words" if partials.churn is not None else "–"
        rows += table([("partials", ""), *parts, ("revised", churn)], width)
    if prewarm.tokens:
        parts = [("times", str(prewarm.count)), ("tokens", str(prewarm.tokens))]
        rows += table([("prompt ahead", ""), *parts, ("for nothing", f"{prewarm.wasted_tokens} tokens")], width)
    if notes.asked:
        parts = [("looked up", str(notes.asked)), ("adopted", str(notes.adopted))]
        parts += [("in place of others", str(notes.refreshed))]
        parts += [("the same", str(notes.same)), ("too late", str(notes.stale)), ("failed", str(notes.failed))]
        rows += table([("notes", ""), *parts], width)
    return [Row((Run("  ahead of requests", "title"),)), *rows, BLANK] if rows else []


def _figures(ledger: Ledger, width: int) -> list[Row]:
    """Counts, waste and gain; then the rate of exchange, and money where the tier has a price."""
    about = "~" if ledger.estimated else ""
    saved = f"{whole(ledger.saved_ms / ledger.tried)} ms a turn" if ledger.tried else "–"
    rate = f"{about}{ledger.tokens_per_100_ms:.1f} tok" if ledger.tokens_per_100_ms is not None else "–"
    rows = table([("kept", f"{ledger.kept} of {ledger.attempts}"), ("saved", saved)], width)
    wasted = [("wasted", f"{about}{ledger.wasted_tokens} tok, {milliseconds(ledger.wasted_ms)}")]
    rows += table([*wasted, ("100 ms cost", rate)], width)
    wasted_usd, usd = ledger.wasted_usd_per_1000_turns, ledger.usd_per_1000_turns
    if wasted_usd is not None and usd is not None:
        rows += table([("1000 turns", f"${usd:.4f}"), ("of it wasted", f"${wasted_usd:.4f}")], width)
    return rows

"""Names and figures in rows."""

from __future__ import annotations

from collections.abc import Sequence

from voicetui.tui.ink import Row, Run


def table(cells: Sequence[tuple[str, str]], width: int) -> list[Row]:
    """Names and figures in a row; what does not fit goes to the next."""
    rows: list[Row] = []
    runs: list[Run] = [Run("  ")]
    used = 2
    for name, figure in cells:
        size = len(name) + 1 + len(figure)
        if used > 2 and used + 2 + size > width:
            rows.append(Row(tuple(runs)))
            runs, used = [Run("  ")], 2
        runs += [Run("  ")] if used > 2 else []
        runs += [Run(f"{name} ", "dim"), Run(figure, "strong")]
        used += size + (2 if used > 2 else 0)
    return [*rows, Row(tuple(runs))]

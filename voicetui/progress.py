"""Progress on stderr while models are fetched: bars in a terminal, a line for each step elsewhere."""

from __future__ import annotations

import sys
from contextlib import suppress
from types import TracebackType
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn

from voicetui import models
from voicetui.config import Config


class Bars:
    """Shows the progress of ``models.pull``; use as a context manager."""

    def __init__(self, stream: TextIO) -> None:
        console = Console(file=stream, highlight=False, markup=False)
        self._quiet = not console.is_terminal
        self._stream = stream
        columns = (TextColumn("{task.description:42}", markup=False), BarColumn(), DownloadColumn())
        self._bars = Progress(*columns, console=console, disable=self._quiet)
        self._tasks: dict[str, TaskID] = {}
        self._phases: dict[str, str] = {}

    def __enter__(self) -> Bars:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def show(self, progress: models.Progress) -> None:
        """Take in one report."""
        name = progress.model
        if self._quiet:
            if self._phases.get(name) != progress.phase:
                self._phases[name] = progress.phase
                print(f"{name}: {progress.phase}", file=self._stream, flush=True)
            return
        if name not in self._tasks:
            self._tasks[name] = self._bars.add_task(name, total=None)
        total = progress.total_bytes or None
        self._bars.update(
            self._tasks[name], description=f"{name}: {progress.phase}", completed=progress.done_bytes, total=total
        )


def pull_missing(config: Config) -> None:
    """Fetch the embedded models that a configuration loads and that are not here yet.

    Raises ``ModelError`` for one the session cannot do without.
    """
    from voicetui.wiring import needed_models, spare_models

    missing = [name for name in needed_models(config) if not models.installed(models.find(name))]
    if not missing:
        return
    print(f"First use: fetching {', '.join(missing)} into {models.folder()}", file=sys.stderr)
    with Bars(sys.stderr) as bars:
        models.pull([name for name in missing if name not in spare_models(config)], bars.show)
        for name in missing:
            if name in spare_models(config):
                with suppress(models.ModelError):  # the session says what it does without
                    models.pull([name], bars.show)

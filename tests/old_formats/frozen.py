"""The frozen journals, and their summaries as files."""

from __future__ import annotations

import json
from pathlib import Path

from voicetui.journal.read import read_journal
from voicetui.views.summary import summarise

FROZEN = sorted(Path(__file__).parent.glob("*.jsonl"))


def summary_file(journal: Path) -> Path:
    """Where the summary of a frozen journal is kept."""
    return journal.with_suffix(".json")


def summary_text(journal: Path) -> str:
    """The summary that the journal has now."""
    return json.dumps(summarise(read_journal(journal).entries), indent=1, ensure_ascii=False, allow_nan=False) + "\n"

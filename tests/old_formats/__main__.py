"""Write the summaries of the frozen journals anew."""

from __future__ import annotations

from tests.old_formats.frozen import FROZEN, summary_file, summary_text

for path in FROZEN:
    summary_file(path).write_text(summary_text(path), "utf-8")
    print(summary_file(path).name)

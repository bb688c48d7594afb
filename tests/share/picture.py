"""Draws the README's picture of a report from a golden journal: ``python -m tests.share.picture`` writes it to
``assets/pictures/``.
"""

from __future__ import annotations

import asyncio
import base64
import tempfile
from pathlib import Path

from tests.share.reading import facts_of, with_opening
from tests.tui.pictures import FOLDER
from tests.tui.scenes import conversation
from tests.tui.test_browser import page_at
from voicetui.share.report_page import report_html

SIZE = (1120, 860)


async def draw() -> bytes:
    """The first screenful as PNG."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.html"
        journal = with_opening(conversation().closed(), source="demo")
        file.write_text(report_html([facts_of(journal, "20300101T000000Z-local")], "voicetui"), "utf-8")
        async with page_at(f"file://{file}", Path(folder) / "browser") as page:
            assert await page.wait_for("document.readyState === 'complete' && location.href.includes('report')", 20)
            features = [{"name": "prefers-color-scheme", "value": "light"}]
            await page.ask("Emulation.setEmulatedMedia", features=features)
            width, height = SIZE
            await page.ask(
                "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=True
            )
            shot = await page.ask("Page.captureScreenshot", format="png")
            return base64.b64decode(shot["data"])


def main() -> None:
    """Draw it."""
    (FOLDER / "report.png").write_bytes(asyncio.run(draw()))


if __name__ == "__main__":
    main()

"""A report in a real browser: nothing is wider than the page, nothing is asked for, light and dark, on paper too."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import pytest

from tests.share.reading import report_of
from tests.share.test_report_hostile import hostile
from tests.tui.scenes import conversation
from tests.tui.test_browser import Moved, Page, chromium, page_at

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

WIDTHS = (390, 700, 1280, 1920)
LONG = "x" * 300 + " 日本語のテキスト" * 20 + " שלום \u202e" + "a\u0335\u0321\u031b\u0324\u0300\u0315" * 9
TOO_WIDE = """[...document.querySelectorAll('main *:not(.picture *)')].filter(
    each => each.getBoundingClientRect().right > innerWidth + 1 || each.scrollWidth > each.clientWidth + 1
      && each.clientWidth && getComputedStyle(each).overflowX === 'visible' && each.tagName !== 'svg'
      && getComputedStyle(each).display !== 'inline' && !each.closest('thead')
  ).map(each => each.outerHTML.slice(0, 120))"""


async def sized(page: Page, width: int, media: str = "screen", scheme: str = "light") -> None:
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    await page.ask("Emulation.setEmulatedMedia", media=media, features=features)
    await page.ask(
        "Emulation.setDeviceMetricsOverride", width=width, height=844, deviceScaleFactor=1, mobile=width < 500
    )


async def test_a_report_fits_every_width_and_paper_in_light_and_dark(tmp_path: Path) -> None:
    chromium()
    files = {"golden": report_of(conversation()), "hostile": report_of(hostile(LONG), hostile("<b>"))}
    for name, html in files.items():
        (tmp_path / f"{name}.html").write_text(html, "utf-8")
    async with page_at(f"file://{tmp_path / 'golden.html'}", tmp_path / "browser") as page:
        for name in files:
            await page.ask("Page.navigate", url=f"file://{tmp_path / f'{name}.html'}")
            assert await page.wait_for(f"document.readyState === 'complete' && location.href.includes('{name}')", 20)
            for width in WIDTHS:
                await sized(page, width)
                assert await page.evaluate("document.scrollingElement.scrollWidth <= innerWidth"), (name, width)
                assert await page.evaluate(TOO_WIDE) == [], (name, width)
            await sized(page, 690, media="print")
            assert await page.evaluate("document.scrollingElement.scrollWidth <= innerWidth"), name
            assert await page.evaluate("performance.getEntriesByType('resource').length") == 0
        grounds = []
        for scheme in ("light", "dark"):
            await sized(page, 1280, scheme=scheme)
            grounds.append(await page.evaluate("getComputedStyle(document.body).backgroundColor"))
        assert grounds == ["rgb(246, 245, 242)", "rgb(18, 21, 28)"], "the style is let in, and knows both"
        await sized(page, 1280, media="print", scheme="dark")
        assert await page.evaluate("getComputedStyle(document.querySelector('h3')).color") == "rgb(27, 31, 39)"


async def shown(page: Page) -> tuple[str, float]:
    """What the page holds, and how tall it is; nothing while it is left for another."""
    try:
        root = (await page.ask("DOM.getDocument"))["root"]["nodeId"]
        html = (await page.ask("DOM.getOuterHTML", nodeId=root))["outerHTML"]
        return html, (await page.ask("Page.getLayoutMetrics"))["cssContentSize"]["height"]
    except Moved:
        return "", 0.0


async def test_a_report_is_the_same_without_javascript_and_prints(tmp_path: Path) -> None:
    chromium()
    file = tmp_path / "golden.html"
    file.write_text(report_of(conversation()), "utf-8")
    async with page_at(f"file://{file}", tmp_path / "browser") as page:
        assert await page.wait_for("document.readyState === 'complete' && location.href.includes('golden')", 20)
        with_script = await shown(page)
        await page.ask("Emulation.setScriptExecutionDisabled", value=True)
        await page.ask("Page.navigate", url=f"file://{file}?again")
        without = await shown(page)
        for _ in range(500):  # no script runs that could tell when it is there, so it is looked at again and again
            if without == with_script:
                break
            without = await shown(page)
        assert without == with_script
        await page.ask("Emulation.setScriptExecutionDisabled", value=False)
        printed = base64.b64decode((await page.ask("Page.printToPDF", preferCSSPageSize=True))["data"])
        pages = len(re.findall(rb"/Type\s*/Page\b", printed))
        assert printed.startswith(b"%PDF") and 5 <= pages <= 14
        first = "document.querySelector('.tiles').getBoundingClientRect().bottom"
        await sized(page, 1280)
        assert await page.evaluate(first) < 800, "the figures stand in the first screenful"
        await sized(page, 390)
        meaning = "document.querySelector('.meaning').getBoundingClientRect().bottom"
        assert await page.evaluate(meaning) < 844, "on a phone the number and its meaning do"

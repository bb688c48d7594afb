"""Reports of golden journals, and a reader that takes only well-formed pages."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import msgspec

from tests.journal_builder import JournalBuilder
from voicetui.config import without_secrets
from voicetui.events import Entry
from voicetui.events.session import SessionOpened
from voicetui.journal.recorded import Recorded
from voicetui.share.report_page import report_html
from voicetui.share.session_facts import SessionFacts, fold_session

VOID = {"meta", "br", "wbr"}


class Page(HTMLParser):
    """A page as read: every tag must be closed, in order. ``text`` holds what is to be read, ``tags`` what there is."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.struck = ""
        self.titles: list[str] = []
        self.sections: dict[str, str] = {}
        self._open: list[str] = []
        self._pieces: list[str] = []
        self._section = ""
        self.feed(html)
        self.close()
        assert not self._open, f"never closed: {self._open}"

    @property
    def text(self) -> str:
        """All there is to read, white space made single."""
        return " ".join("".join(self._pieces).split())

    def section(self, heading: str) -> str:
        """What stands under a heading."""
        return " ".join(self.sections[heading].split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A tag begins."""
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self._open.append(tag)
        if tag in ("p", "div", "dt", "dd", "li", "td", "th", "text", "summary", "span", "small"):
            self._say(" ")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A shape."""
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        """A tag ends: it must be the one that began last."""
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Text."""
        if self._open and self._open[-1] == "h3":
            self._section = data
            self.sections[data] = ""
        if "title" in self._open:
            self.titles.append(data)
        elif "style" not in self._open:
            self._say(data)
            self.struck += data if "s" in self._open else ""

    def _say(self, text: str) -> None:
        self._pieces.append(text)
        if self._section:
            self.sections[self._section] += text


def facts_of(journal: JournalBuilder, name: str = "golden") -> SessionFacts:
    """What a report knows of a golden session."""
    return fold_session(Recorded(Path(name), None, tuple(journal.entries), ()), without_secrets)


def report_of(*journals: JournalBuilder) -> str:
    """The report of golden sessions."""
    return report_html([facts_of(journal, f"golden-{n}") for n, journal in enumerate(journals, 1)], "voicetui test")


def with_opening(journal: JournalBuilder, **changes: object) -> JournalBuilder:
    """The journal with another beginning."""
    opened = journal.entries[0].body
    assert isinstance(opened, SessionOpened)
    journal.entries[0] = Entry(0, 0.0, msgspec.structs.replace(opened, **changes))
    return journal

"""Which duplex a session begins with, and what a person is told of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from voicetui import doctor, duplex
from voicetui.config import Config, ConfigError, parse_config
from voicetui.duplex import choose_duplex, duplex_text
from voicetui.events import Entry
from voicetui.events.orders import ChangeDuplex
from voicetui.events.session import Duplex, Echo, SessionOpened
from voicetui.events.sound import EchoMeasured
from voicetui.journal.codec import decode
from voicetui.sound.echo import Missing, missing
from voicetui.tui.widgets.status import duplex_text as status_text
from voicetui.views.session_state import SessionStateView
from voicetui.wiring import Choice

LIVE = Choice("microphone")


def audio(text: str = "") -> Config:
    return parse_config(f"[audio]\n{text}", "test.toml")


@pytest.fixture
def present(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duplex, "missing", lambda: None)


@pytest.mark.parametrize(
    ("choice", "config", "expected"),
    [
        (LIVE, "", ("full", "cancelled")),
        (LIVE, "headphones = true", ("full", "headphones")),
        (LIVE, "half_duplex = true", ("half", "")),
        (Choice("microphone", headphones=True), "half_duplex = true", ("full", "headphones")),
        (Choice("microphone", half_duplex=True), "headphones = true", ("half", "")),
        (Choice("microphone", microphone=False), "", ("half", "")),
    ],
)
def test_the_echo_is_cancelled_unless_something_else_is_asked_for(
    present: None, choice: Choice, config: str, expected: tuple[Duplex, Echo]
) -> None:
    assert choose_duplex(audio(config).audio, choice) == expected


def test_without_a_canceller_it_is_half_duplex_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    why = "pywebrtc-audio is not installed"
    lacks = Missing(why, "pip install pywebrtc-audio")
    monkeypatch.setattr(duplex, "missing", lambda: lacks)
    monkeypatch.setattr(doctor, "missing", lambda: lacks)
    chosen = choose_duplex(audio().audio, LIVE)
    assert chosen == ("half", "missing")
    said = duplex_text(*chosen)
    assert why in said and "half duplex" in said
    assert "pip install pywebrtc-audio" in said and "--headphones" in said, "what to do about it"
    (finding,) = doctor._echo(audio())
    assert finding.state == "note" and "pip install pywebrtc-audio" in finding.mend


@pytest.fixture
def broken_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """pywebrtc-audio is installed, and its library cannot be loaded."""
    (tmp_path / "pywebrtc_audio.py").write_text("raise OSError('libwebrtc.so: wrong ELF class')\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "pywebrtc_audio", raising=False)
    missing.cache_clear()
    yield
    missing.cache_clear()


def test_a_canceller_that_is_installed_but_does_not_load_is_missing_for_everyone(broken_wheel: None) -> None:
    chosen = choose_duplex(audio().audio, LIVE)
    assert chosen == ("half", "missing")
    assert "does not load: libwebrtc.so: wrong ELF class" in duplex_text(*chosen)
    (finding,) = doctor._echo(audio())
    assert finding.state == "note" and "wrong ELF class" in finding.what and "--force-reinstall" in finding.mend


def test_each_is_said_in_words() -> None:
    assert "echo cancelled" in duplex_text("full", "cancelled")
    assert "headphones" in duplex_text("full", "headphones")
    assert duplex_text("full", "") == "full duplex: you may interrupt the reply"
    assert "shut" in duplex_text("half", "")


def test_headphones_and_half_duplex_together_are_a_mistake_in_the_configuration() -> None:
    with pytest.raises(ConfigError, match=r"audio\.headphones and audio\.half_duplex"):
        audio("headphones = true\nhalf_duplex = true")


def test_an_old_journal_says_nothing_of_echo() -> None:
    line = (
        b'{"seq":0,"at":1.0,"body":{"type":"session_opened","session":"s","started_utc":"","program":"","tier":"t",'
        b'"tiers":[],"overlap":"full","duplex":"half","source":"microphone","config":{}}}'
    )
    entry = decode(line)
    assert isinstance(entry, Entry) and isinstance(entry.body, SessionOpened)
    assert (entry.body.duplex, entry.body.echo) == ("half", "")


def test_the_state_tells_the_echo_and_the_falling_back() -> None:
    view = SessionStateView()
    view.feed(Entry(0, 0.0, SessionOpened("s", "", "", "t", (), "full", "full", "microphone", {}, "cancelled")))
    assert (view.snapshot().duplex, view.snapshot().echo, view.snapshot().echo_db) == ("full", "cancelled", None)
    assert status_text(view.snapshot()) == "full, echo cancelled"
    view.feed(Entry(1, 1.0, EchoMeasured(1, 118.0, -22.0, -40.0, -84.0, -90.0)))
    assert view.snapshot().echo_db == -62.0
    assert status_text(view.snapshot()) == "full, echo −62 dB"
    view.feed(Entry(2, 2.0, ChangeDuplex("half", "It hears itself.")))
    assert (view.snapshot().duplex, view.snapshot().echo) == ("half", "")
    assert status_text(view.snapshot()) == "half duplex"

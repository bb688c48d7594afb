"""The looks: every ink in every theme, readable, and telling apart what must be told apart."""

from __future__ import annotations

import pytest
from textual.color import Color

from tests.tui.scenes import SCENES
from tests.tui.stage import on_stage
from voicetui.tui.bands import BANDS, band
from voicetui.tui.themes import ANSI, COLOUR_BLIND, DARK, LIGHT, THEMES

pytestmark = pytest.mark.anyio
_READ = ("strong", "dim", "you", "reply", "provisional", "rejected", "work", "notice", "alert")
_DRAWN = ("speculative", "discarded", "faint")
_BANDS = ("conversation", "quick", "workable", "slow", "late")


@pytest.mark.parametrize("theme", [DARK, LIGHT, COLOUR_BLIND], ids=lambda theme: theme.name)
@pytest.mark.parametrize("ink", _READ + _DRAWN + _BANDS)
def test_what_is_read_has_contrast(theme: object, ink: str) -> None:
    """WCAG 2.1 asks for 4.5 : 1 of text, 3 : 1 of large text and graphics."""
    assert isinstance(theme, type(DARK)) and theme.background is not None
    ratio = _contrast(Color.parse(theme.background), Color.parse(theme.variables[f"ink-{ink}"]))
    assert ratio >= (3.0 if ink in _DRAWN + _BANDS else 4.5)


def test_ansi_uses_the_terminals_own_colours_only() -> None:
    assert all(value.startswith("ansi_") for name, value in ANSI.variables.items() if name.startswith("ink-"))


def test_bands_differ_by_shape_and_word_too() -> None:
    assert len({each.shape for each in BANDS}) == len({each.word for each in BANDS}) == len(BANDS)
    assert [band(ms).word for ms in (-50, 300, 301, 1000, 1500, 1501, 9999)] == [
        "conversation", "conversation", "quick", "workable", "slow", "too late", "too late"
    ]  # fmt: skip


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
async def test_every_theme_draws(theme: object) -> None:
    async with on_stage(SCENES["barge_in"]()) as stage:
        before = stage.text()
        assert isinstance(theme, type(DARK))
        stage.app.theme = theme.name
        await stage.settle()
        assert stage.text() == before


async def test_without_colours_all_is_grey(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with on_stage(SCENES["speaking"]()) as stage:
        styles = [segment.style for strip in stage.strips() for segment in strip if segment.style is not None]
    colours = [colour.triplet for style in styles for colour in (style.color, style.bgcolor) if colour is not None]
    assert colours and all(colour is not None and len(set(colour)) == 1 for colour in colours)


async def test_the_theme_key_goes_round() -> None:
    async with on_stage(SCENES["starting"]()) as stage:
        seen = [stage.app.theme]
        for _ in THEMES:
            await stage.press("T")
            seen.append(stage.app.theme)
        assert seen == [*(theme.name for theme in THEMES), THEMES[0].name]


@pytest.mark.parametrize("theme", [DARK, LIGHT, COLOUR_BLIND], ids=lambda theme: theme.name)
@pytest.mark.parametrize("ink", ["strong", "notice", "you", "alert", "dim"])
def test_inks_can_be_read_on_the_row_one_stands_on(theme: object, ink: str) -> None:
    assert isinstance(theme, type(DARK)) and theme.surface is not None
    ground = Color.parse(theme.surface).blend(Color.parse(theme.primary), 0.26)
    assert _contrast(ground, Color.parse(theme.variables[f"ink-{ink}"])) >= 3.0


def _contrast(one: Color, other: Color) -> float:
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: Color) -> float:
    """Relative luminance as WCAG 2.1 defines it."""
    parts = [part / 255 for part in colour.rgb]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
async def test_the_row_one_stands_on_has_a_ground_of_its_own(theme: object) -> None:
    async with on_stage(SCENES["speaking"]()) as stage:
        assert isinstance(theme, type(DARK))
        stage.app.theme = theme.name
        await stage.press("g")
        grounds = {
            word: {segment.style.bgcolor for strip in stage.strips() for segment in strip
                   if word in segment.text and segment.style is not None}
            for word in ("the real pipeline answers", "a steady delay")
        }  # fmt: skip
        assert all(len(each) == 1 for each in grounds.values())
        assert grounds["the real pipeline answers"] != grounds["a steady delay"]

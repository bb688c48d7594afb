"""One line: what the session does, with which tier, how it overlaps, what it hears and records with."""

from __future__ import annotations

from collections.abc import Sequence

from textual.geometry import Size

from voicetui.tui.figures import clock, gaps_text
from voicetui.tui.ink import Ink, Row, Run, clip_runs, spread
from voicetui.tui.literal import clip, literal
from voicetui.tui.view import ScreenView
from voicetui.tui.widgets.panel import Panel
from voicetui.views.session_state import Device, SessionState, Word

_WORDS: dict[Word, tuple[str, Ink]] = {
    "loading": ("◌", "dim"),
    "listening": ("○", "text"),
    "hearing you": ("●", "you"),
    "thinking": ("◐", "mark"),
    "speaking": ("●", "reply"),
    "muted": ("⊘", "alert"),
    "closed": ("□", "dim"),
}
_SEPARATOR = Run("   ")


class StatusLine(Panel):
    """The line at the top."""

    DEFAULT_CSS = "StatusLine { height: 1; }"

    def __init__(self, title: str, notice: str = "", typed_only: bool = False, id: str | None = None) -> None:
        super().__init__(id=id)
        self._title = literal(title)
        self._notice = literal(notice)
        self._typed_only = typed_only

    def depends_on(self, view: ScreenView) -> tuple[object, ...]:
        """What the rows are made from."""
        return (view.state, view.recording, view.now_ms // 1000)

    def draw(self, size: Size) -> Sequence[Row]:
        """The one row."""
        width = size.width
        view = self.view
        if view is None:
            return [Row((Run("  " + self._title, "title"),))]
        right = [Run(clock(view.now_ms) + "  ", "dim")]
        groups = [self._word(view), _tier(view), _overlap(view), _echo(view), _recording(view)]
        names = _devices(view, self._typed_only)
        used = sum(sum(len(run.text) for run in group) + 3 for group in groups if group)
        room = width - used - 12
        if room >= 12:
            groups += [(Run(part, ink),) for part, ink in _clipped(names, room)]
        left: list[Run] = [Run("  ")]
        for group in groups:
            if group:
                left += [_SEPARATOR, *group] if len(left) > 1 else [*group]
        return [Row(spread(clip_runs(left, width), right, width))]

    def _word(self, view: ScreenView) -> tuple[Run, ...]:
        glyph, ink = _WORDS[view.state.word]
        word = view.state.word
        if word == "closed" and view.state.closed_reason:
            return (Run(f"{glyph} closed: {literal(view.state.closed_reason)}", ink),)
        text = f"{glyph} {word}".ljust(13)
        muted = (Run(" ⊘ muted", "alert"),) if view.state.muted and word != "muted" else ()
        talking = (Run(" talk key on, space hands over", "you"),) if view.state.talk_key else ()
        return (Run(text, ink), *muted, *talking)


def _tier(view: ScreenView) -> tuple[Run, ...]:
    if view.state.staged_gaps_ms:
        return (Run("staged gap", "notice"), Run(f" {gaps_text(view.state.staged_gaps_ms)} ms", "strong"))
    tier = view.state.tier
    if not tier.name:
        return ()
    name = Run(clip(literal(tier.name), 20), "strong")
    badge = (Run(" "), Run("simulated", "notice")) if tier.simulated else ()
    return (name, *badge)


def _overlap(view: ScreenView) -> tuple[Run, ...]:
    return (Run("overlap ", "dim"), Run(view.state.overlap))


def _echo(view: ScreenView) -> tuple[Run, ...]:
    """The microphone is shut while the reply is audible (half duplex), or what is done about the echo then."""
    shut = (Run(", mic shut", "mark"),) if view.state.duplex == "half" and view.state.mic_gated else ()
    return (Run(duplex_text(view.state)), *shut)


def duplex_text(state: SessionState) -> str:
    """Half or full duplex; where the echo is cancelled, how far below the reply it is then, once that is known."""
    if state.duplex == "half":
        return "half duplex"
    if state.echo == "cancelled" and state.echo_db is not None:
        return f"full, echo {state.echo_db:.0f} dB".replace("-", "−")
    return {"cancelled": "full, echo cancelled", "headphones": "full, headphones"}.get(state.echo, "full duplex")


def _recording(view: ScreenView) -> tuple[Run, ...]:
    if view.recording is None:
        return ()
    if view.recording and view.state.word == "closed":
        return (Run("◉ recorded", "dim"),)
    return (Run("◉ rec", "alert"),) if view.recording else (Run("not recorded", "dim"),)


def _devices(view: ScreenView, typed_only: bool) -> list[tuple[str, Ink]]:
    names: list[tuple[str, Ink]] = []
    if typed_only and view.state.input is None:
        names.append(("no microphone: press / and type", "notice"))
    elif view.state.input is not None:
        names.append(_device("in", view.state.input))
    if view.state.output is not None:
        names.append(_device("out", view.state.output))
    return names


def _device(side: str, device: Device) -> tuple[str, Ink]:
    name = literal(device.name) or "default"
    return (f"{side} {name}: lost", "alert") if device.lost else (f"{side} {name}", "dim")


def _clipped(names: list[tuple[str, Ink]], room: int) -> list[tuple[str, Ink]]:
    """Share the room out evenly."""
    if not names:
        return []
    each = room // len(names) - 3
    return [(clip(text, each), ink) for text, ink in names] if each >= 8 else []

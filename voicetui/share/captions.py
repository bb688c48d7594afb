"""A session to read: captions for its recording (WebVTT), and a plain transcript."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from voicetui.journal.recorded import Recorded
from voicetui.share.controls import without_controls
from voicetui.share.spoken import Spoken
from voicetui.views.summary import SummaryView

WORDLESS: Final = "[speech, words not known]"
"""Stands for speech that nobody transcribed."""
_LEAST_CUE_MS: Final = 1


def as_vtt(lines: Iterable[Spoken], heading: str) -> str:
    """WebVTT (https://www.w3.org/TR/webvtt1/): a cue for each utterance and each clause, on the tracks' clock.

    Only what was said and heard: no typed turns, no rejected noises, no unheard words; a clause that was cut short ends
    with a dash.
    """
    cues = []
    for line in lines:
        text = line.text or (WORDLESS if line.wordless else "")
        if line.start_ms is None or not text.strip():
            continue
        start_ms = round(line.start_ms)
        end_ms = max(start_ms + _LEAST_CUE_MS, round(line.end_ms if line.end_ms is not None else line.start_ms))
        cut = " –" if line.unheard else ""
        cues.append((start_ms, f"{_clock(start_ms)} --> {_clock(end_ms)}\n<v {line.speaker}>{_escaped(text)}{cut}"))
    cues.sort(key=lambda cue: cue[0])
    blocks = ["WEBVTT", f"NOTE {_escaped(heading)}", *(text for _, text in cues)]
    return "\n\n".join(blocks) + "\n"


def as_text(lines: Iterable[Spoken], heading: str) -> str:
    """One line for each utterance and each reply: time on the tracks, speaker, words; what was not heard is marked."""
    out = [heading, ""]
    for line in _whole_replies(lines):
        when = "--:--:--.---" if line.start_ms is None else _clock(round(line.start_ms))
        parts = [_one_line(line.text) or (WORDLESS if line.wordless else "")]
        if line.unheard:
            parts.append(f"[not heard: {_one_line(line.unheard)}]")
        if line.note:
            parts.append(f"({_one_line(line.note)})")
        out.append(f"{when}  {line.speaker:8}  {' '.join(part for part in parts if part)}")
    return "\n".join(out) + "\n"


def heading(session: Recorded) -> str:
    """What the session is, in one line; simulated tiers are called so."""
    view = SummaryView()
    for entry in session.entries:
        view.feed(entry)
    figures, opened = view.figures(), session.opened
    parts = [f"voicetui session {session.name}", opened.started_utc if opened is not None else ""]
    parts.append(f"tier {figures.tier}{' (simulated)' if figures.simulated else ''}" if figures.tier else "")
    return _one_line(", ".join(part for part in parts if part))


def _whole_replies(lines: Iterable[Spoken]) -> list[Spoken]:
    """Clauses of one reply that follow each other become one line."""
    whole: list[Spoken] = []
    for line in lines:
        last = whole[-1] if whole else None
        if last is not None and last.speaker == line.speaker == "voicetui" and last.turn == line.turn:
            whole[-1] = Spoken(
                "voicetui",
                line.turn,
                last.start_ms,
                line.end_ms if line.end_ms is not None else last.end_ms,
                " ".join(part for part in (last.text, line.text) if part),
                " ".join(part for part in (last.unheard, line.unheard) if part),
                last.note or line.note,
                last.wordless and line.wordless,
            )
        else:
            whole.append(line)
    return whole


def _clock(ms: int) -> str:
    """
    >>> _clock(3_723_004)
    '01:02:03.004'
    """
    seconds, ms = divmod(ms, 1000)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{ms:03}"


def _escaped(text: str) -> str:
    return _one_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _one_line(text: str) -> str:
    return " ".join(without_controls(text).split())

"""One HTML page about recorded sessions that needs nothing from elsewhere: no network, no script."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib.resources import files

from voicetui.share.lane_pictures import Board
from voicetui.share.markup import Html, Piece, h
from voicetui.share.report_gaps import gaps_section, stages_section
from voicetui.share.report_hero import hero
from voicetui.share.report_overview import Against, letter, overview
from voicetui.share.report_rest import barge_in_section, faults_section, ledger_section
from voicetui.share.report_setup import meanings, setup_section
from voicetui.share.report_sound import Sound
from voicetui.share.report_talk import talk_section
from voicetui.share.report_turns import timeline_section
from voicetui.share.session_facts import SessionFacts
from voicetui.share.wording import count

GENERATOR = "voicetui report"
MARK = f'<meta name="generator" content="{GENERATOR}">'
"""Stands at the beginning of every report: only such a file may be written over."""


def report_html(
    sessions: Sequence[SessionFacts],
    made_by: str,
    sounds: Sequence[Sound] = (),
    against: Sequence[Against] = (),
) -> str:
    """The page. ``sounds``, if any, are those of the sessions in order. Raises ``ValueError`` for no sessions."""
    if not sessions:
        raise ValueError("a report of nothing")
    several = len(sessions) > 1
    style = files("voicetui.share").joinpath("report.css").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; media-src data:; base-uri 'none'; form-action 'none'"
    name = count(len(sessions), "session") if several else sessions[0].name
    head = h(
        "head",
        h("meta", charset="utf-8"),
        Html(MARK),
        h("meta", http_equiv="Content-Security-Policy", content=policy),
        h("meta", name="viewport", content="width=device-width, initial-scale=1"),
        h("meta", name="color-scheme", content="light dark"),
        h("meta", name="referrer", content="no-referrer"),
        h("title", f"voicetui report: {name}"),
        h("style", Html(style)),
    )
    parts = [
        _session(each, made_by, sounds[number - 1] if sounds else None, number if several else 0)
        for number, each in enumerate(sessions, 1)
    ]
    body = h("body", _patterns(), h("main", overview(sessions, against) if several else None, parts, _end(made_by)))
    return f"<!DOCTYPE html>\n{h('html', head, body, lang='en')}\n"


def _session(facts: SessionFacts, made_by: str, sound: Sound | None, number: int) -> Html:
    board = Board(facts.timeline)
    sections: list[tuple[str, list[Piece]]] = [
        ("Gaps", gaps_section(facts)),
        ("Where the gap went", stages_section(facts)),
        ("Timeline", timeline_section(facts, board)),
        ("Conversation", [_listen(sound), *talk_section(facts)]),
        ("Spoken over an answer", barge_in_section(facts, board)),
        ("Speculation: is it worth it here?", ledger_section(facts)),
        ("Faults", faults_section(facts)),
        ("Setup and versions", setup_section(facts, made_by)),
    ]
    return h(
        "article",
        hero(facts, letter(number) if number else ""),
        [h("section", h("h3", words), pieces) for words, pieces in sections],
        id=f"session-{number}" if number else None,
    )


def _listen(sound: Sound | None) -> Html | None:
    if sound is None:
        return None
    data = base64.b64encode(sound.data).decode()
    return h(
        "figure",
        h("audio", controls=True, preload="metadata", src=Html(f"data:{sound.mime};base64,{data}")),
        h("figcaption", sound.says),
        cls="sound",
    )


def _patterns() -> Html:
    """Hatchings: what is ahead of a decision, thrown away or nobody's is told by its texture too."""
    lines = (("ahead", 4, 45), ("away", 5, -45), ("nobody", 4, 0))
    patterns = [
        h(
            "pattern",
            h("rect", width=size, height=size, cls=f"ground {name}"),
            h("line", x1=0, x2=0, y1=0, y2=size, cls=f"hatch {name}"),
            id=name,
            width=size,
            height=size,
            patternUnits="userSpaceOnUse",
            patternTransform=f"rotate({turned})",
        )
        for name, size, turned in lines
    ]
    return h("svg", h("defs", patterns), width="0", height="0", cls="defs", aria_hidden="true")


def _end(made_by: str) -> Html:
    return h(
        "section",
        h("h3", "What the numbers mean"),
        meanings(),
        h(
            "p",
            f"Made by {made_by} from the recorded journal. This file holds everything it shows and asks nothing of the "
            "network.",
            cls="dim small",
        ),
        cls="last",
    )

"""What a session ran with, what was wrong with its journal, and what the numbers mean."""

from __future__ import annotations

import re

from voicetui.share.markup import Html, Piece, h, said
from voicetui.share.report_gaps import table
from voicetui.share.report_rest import facts_list
from voicetui.share.session_facts import SessionFacts
from voicetui.share.wording import count, date, ms
from voicetui.views.session_state import Device

_CREDENTIALS = re.compile(r"(?<=//)[^/@\s]+@")
_MOST_PROBLEMS = 100
_CLOCKS = {
    "stream": "its stream's time stamps",
    "counted": "counted samples",
    "paced": "no hardware: paced by the clock",
}


def setup_section(facts: SessionFacts, made_by: str) -> list[Piece]:
    """Versions, devices, problems of the journal, configuration."""
    opened, header = facts.opened, facts.header
    lost = "not known: the journal has lost it"
    rows = [
        (
            "session",
            facts.name if opened is None or opened.session == facts.name else f"{facts.name} ({opened.session})",
        ),
        ("begun", date(opened.started_utc) if opened is not None else lost),
        ("ended", facts.closed or "not in order: the journal just stops"),
        ("recorded by", opened.program if opened is not None else header.program if header is not None else lost),
        ("journal format", str(header.voicetui_journal) if header is not None else lost),
        ("report made by", made_by),
        ("loading", _loading(facts)),
        ("microphone", _device(facts.state.input)),
        ("speaker", _device(facts.state.output)),
        ("duplex", f"{facts.state.duplex}{f', echo {facts.state.echo}' if facts.state.echo else ''}"),
    ]
    return [
        facts_list(rows),
        _redactions(facts),
        _problems(facts),
        h(
            "details",
            h("summary", "Configuration (secrets removed)"),
            h("div", facts_list(flat(facts.config)), cls="config"),
            cls="printed",
        ),
    ]


def _loading(facts: SessionFacts) -> str:
    if facts.ready is None:
        return "not known: it never became ready"
    parts = sorted(facts.ready.load_ms.items(), key=lambda part: -part[1])
    return ", ".join(f"{name} {ms(took_ms)}" for name, took_ms in parts) or "nothing had to be loaded"


def _device(device: Device | None) -> str:
    if device is None:
        return "none was opened"
    lost = f"; lost: {device.lost}" if device.lost else ""
    clock = _CLOCKS.get(device.clock, device.clock)
    return (
        f"{device.name} ({device.host}), {device.rate_hz} Hz, latency {ms(device.latency_ms)}, times from {clock}{lost}"
    )


def _problems(facts: SessionFacts) -> Html:
    if not facts.problems:
        return h("p", "Problems found in the journal and the tracks: none.")
    rows: list[list[Piece]] = [
        [str(each.line or "–"), said(each.file, 60), said(each.message, 300)]
        for each in facts.problems[:_MOST_PROBLEMS]
    ]
    more = len(facts.problems) - _MOST_PROBLEMS
    return h(
        "div",
        h("h4", f"Problems found in the journal and the tracks: {len(facts.problems)}"),
        table(("line", "file", "problem"), rows),
        h("p", f"{more} more are not listed.", cls="small") if more > 0 else None,
    )


def _redactions(facts: SessionFacts) -> Html | None:
    made = facts.header.redactions if facts.header is not None else ()
    if not made:
        return None
    told = [
        f"{date(each.at_utc)}: {count(len(each.sounds), 'stretch')} of sound ({each.track}), "
        f"{count(each.lines, 'line')} of the journal"
        for each in made
    ]
    return h("p", h("b", "Taken out of this session: "), "; ".join(told), ".")


def flat(value: object, name: str = "") -> list[tuple[str, str]]:
    """A configuration as names and values; what is not set is left out, and so are user and password of an address."""
    if isinstance(value, dict):
        return [row for key, each in value.items() for row in flat(each, f"{name}.{key}" if name else str(key))]
    if isinstance(value, list | tuple) and any(isinstance(each, dict | list | tuple) for each in value):
        return [row for place, each in enumerate(value, 1) for row in flat(each, f"{name} {place}")]
    if value is None or value in ([], (), ""):
        return []
    if isinstance(value, bool):
        return [(name, "yes" if value else "no")]
    parts = value if isinstance(value, list | tuple) else (value,)
    text = ", ".join(str(part) if str(part).strip() else repr(part) for part in parts)
    return [(name, _CREDENTIALS.sub("(removed)@", text)[:4000])]


MEANINGS = (
    (
        "gap",
        "from the end of the person’s speech, as a microphone hears it, to the first audible sample of the answer, "
        "never from when a detector noticed. A turn that was taken back or not heard has none and is told apart.",
    ),
    (
        "p50, p95, max",
        "half of the gaps, and 95 of 100, are at most so long. p95 is told from 20 turns on, p99 from 100.",
    ),
    (
        "rhythm",
        "how much the gap changes from one turn to the next, on average. People get used to a steady delay, and "
        "collide on an uneven one.",
    ),
    ("cut-off", "the program took a pause for the end and began to answer an unfinished utterance."),
    ("collision", "the person spoke again while waiting for the answer."),
    ("stop", "from the person’s first sound over an answer to the answer’s last audible sample."),
    (
        "draft, speculation",
        "work begun before it was certain that the person had finished: kept if that was right, else thrown "
        "away and counted.",
    ),
    ("simulated tier", "its delays are made up from two figures; nothing it says about time is measured."),
    (
        "staged gap",
        "a ready-made answer was held until a gap that was asked for was over, so that it can be listened to.",
    ),
)


def meanings() -> Html:
    """What the words mean."""
    return h("dl", [h("div", h("dt", word), h("dd", says)) for word, says in MEANINGS], cls="facts meanings")

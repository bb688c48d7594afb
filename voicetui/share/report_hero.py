"""The first screenful of a session: what it is, one number with its meaning, what stands beside it, one sentence."""

from __future__ import annotations

from collections import Counter

from voicetui.share.charts import band_counts, gap_strip
from voicetui.share.markup import Html, Piece, h, said
from voicetui.share.session_facts import SessionFacts
from voicetui.share.wording import count, date, lasted, ms, reason_apart, shape, tail, too_few
from voicetui.views.bands import BandInk, band
from voicetui.views.figures import whole
from voicetui.views.statistics import P95_FROM_N, Stats

_SOURCES = {
    "demo": "A scripted person talked to",
    "run": "Recorded speech was played to",
    "microphone": "A person talked to",
}
_LEADS: dict[BandInk, str] = {
    "band-conversation": "It answers as soon as people answer each other",
    "band-quick": "It answers quickly, a little later than people answer each other",
    "band-workable": "It answers noticeably later than a person would, but one can work with it",
    "band-slow": "It answers slowly: every pause is felt",
    "band-late": "It answers so late that callers speak again, thinking they were not heard",
}
FEW = 5
"""From fewer turns nothing is concluded without saying so."""


def hero(facts: SessionFacts, letter: str = "") -> Html:
    """The first screenful. ``letter`` is what the session is called where there are several."""
    stats, staged = chief_stats(facts)
    labels = [h("span", "simulated tier", cls="label")] if facts.summary.simulated and not staged else []
    labels += [h("span", "staged gap", cls="label")] if staged else []
    return h(
        "header",
        h("p", f"Session {letter}" if letter else "voicetui report", cls="kicker"),
        h("h2" if letter else "h1", "Voice conversation ", h("bdi", facts.name), cls="name"),
        h("p", what_it_is(facts), cls="what"),
        _warnings(facts),
        h(
            "div",
            h("div", _number(facts, stats, staged), labels, cls="big"),
            h("p", meaning(facts, stats, staged), cls="meaning"),
            tiles(facts, stats, staged),
            cls="hero",
        ),
        _picture(facts, stats),
        cls="top",
    )


def chief_stats(facts: SessionFacts) -> tuple[Stats, bool]:
    """The gaps that the session is about, and whether they were staged."""
    summary = facts.summary
    if facts.all_staged and summary.staged_gap_ms is not None:
        return summary.staged_gap_ms, True
    return summary.gap_ms, False


def what_it_is(facts: SessionFacts) -> list[Piece]:
    """Who talked to what, when, for how long."""
    opened, summary = facts.opened, facts.summary
    if facts.imported and opened is not None:
        begins = f"A call recorded elsewhere, {lasted(facts.end_ms)} long, imported on "
        ends = ". What its sound tells is all that is known of it: no words, no stages."
        return [begins, said(date(opened.started_utc), 40), ends]
    if opened is None:
        return ["A recorded conversation whose beginning is not in the journal; ", lasted(facts.end_ms), " long."]
    start = _SOURCES.get(opened.source)
    if opened.parent:
        start = "The recorded microphone of another session was played to"
    models = list(
        dict.fromkeys(tier.model for tier in opened.tiers if tier.name in summary.tier.split("+") and tier.model)
    )
    tier: list[Piece] = ["the tier ", h("b", said(summary.tier, 80))]
    if facts.all_staged:
        tier = ["replies made ready beforehand, held for a ", h("b", "staged gap")]
    elif models:
        tier += [" (", said(", ".join(models), 80), ")"]
    return [
        start or "A conversation was held with",
        " ",
        *tier,
        f", overlap mode {summary.overlap}, for {lasted(facts.end_ms)} on ",
        said(date(opened.started_utc), 40),
        ".",
        *([" Its parent is session ", said(opened.parent, 80), "."] if opened.parent else []),
    ]


def _warnings(facts: SessionFacts) -> Html | None:
    found = []
    if facts.problems:
        lines = count(len(facts.problems), "problem")
        found.append(f"{lines} in the recording: what it lost is missing here too. See “Setup and versions”.")
    if facts.header is not None and facts.header.redactions:
        found.append("Something was taken out of this session on purpose. See “Setup and versions”.")
    if facts.written:
        found.append("The session was still going on: this is as far as it had come.")
    elif not facts.closed:
        found.append("The session did not end in order: its journal just stops.")
    if facts.faults:
        found.append(f"{count(len(facts.faults), 'fault')} happened. See “Faults”.")
    return h("p", h("b", "Note: "), " ".join(found), cls="warning") if found else None


def _number(facts: SessionFacts, stats: Stats, staged: bool) -> list[Piece]:
    if stats.p50 is None:
        return [h("p", "no gap", cls="number"), h("p", why_none(facts), cls="reads")]
    found = band(stats.p50)
    what = "median staged gap" if staged else "median gap"
    return [
        h("p", h("span", whole(stats.p50), cls=f"figure {found.ink}"), h("span", " ms", cls="unit"), cls="number"),
        h("p", shape(found), " ", h("b", found.says), cls="reads"),
        h(
            "p",
            f"{what}, n = {count(stats.n, 'turn')}: the silence between the person’s last sound and the first "
            "sound of the answer",
            cls="dim",
        ),
    ]


def why_none(facts: SessionFacts) -> str:
    """Why there is no figure."""
    if not facts.turns:
        return "nobody said anything that became a turn"
    if all(turn.typed for turn in facts.turns):
        return "every turn was typed: a gap begins with the end of speech"
    kinds = Counter(reason_apart(turn) for turn in facts.turns)
    return "no gap counts: " + ", ".join(f"{n} × {reason}" for reason, n in kinds.items())


def tiles(facts: SessionFacts, stats: Stats, staged: bool) -> Html:
    """What is never told without the number: how many, the tail, the rhythm, and what went wrong beside it."""
    summary, rhythm = facts.summary, facts.rhythm()
    others = [turn for turn in facts.turns if turn.staged == staged]
    apart = len(facts.turns) - stats.n
    beside = f"{count(apart, 'other turn')} told apart" if apart else "all of them"
    name, value = tail(stats)
    cut_offs = summary.staged_cut_offs if staged else summary.cut_offs
    collisions = summary.staged_collisions if staged else summary.collisions
    stops = summary.barge_in_stop_ms
    rows = [
        ("turns, n", str(stats.n), beside),
        ("p50", ms(stats.p50), "half are shorter"),
        (
            "p95",
            value if name == "p95" else "–",
            "one in 20 is longer" if name == "p95" else f"n too small, it takes {P95_FROM_N}",
        ),
        ("max", ms(stats.max), band(stats.max).word if stats.max is not None else ""),
        ("rhythm", ms(stats.rhythm), f"largest change {ms(rhythm.largest)}" if rhythm else "it takes two turns"),
        (
            "cut-offs",
            "–" if facts.imported else str(cut_offs),
            "not known: the sound does not tell"
            if facts.imported
            else f"of {count(len(others), 'turn')}: answered too early",
        ),
        ("collisions", str(collisions), "the person spoke again while waiting"),
        ("stop", ms(stops.p50), f"median, n = {count(stops.n, 'interruption')}" if stops.n else "nobody interrupted"),
    ]
    return h(
        "dl",
        [h("div", h("dt", what), h("dd", value), h("dd", note, cls="dim")) for what, value, note in rows],
        cls="tiles",
    )


def meaning(facts: SessionFacts, stats: Stats, staged: bool) -> str:
    """What the figures say, in one sentence."""
    if stats.p50 is None or stats.max is None:
        return f"There is nothing to measure: {why_none(facts)}."
    if staged:
        return (
            "These gaps were made on purpose, to be listened to: a ready-made reply was held until they were over, "
            "so they say nothing about how fast a tier is."
        )
    lead = _LEADS[band(stats.p50).ink]
    few = f"From only {count(stats.n, 'turn')}: " if stats.n < FEW else ""
    if stats.p95 is not None:
        late = f"; one answer in twenty takes longer than {ms(stats.p95)} ({band(stats.p95).word})"
    else:
        late = f"; the slowest answer took {ms(stats.max)} ({band(stats.max).word})"
    total = sum(not turn.staged for turn in facts.turns)
    cut = facts.summary.cut_offs
    never = "and it never answered into an unfinished sentence"
    hasty = f"and in {cut} of {count(total, 'turn')} it answered into an unfinished sentence"
    made_up = "; all this with the made-up times of a simulated tier" if facts.summary.simulated else ""
    beside = "" if facts.imported else f", {hasty if cut else never}"
    again = facts.summary.collisions
    if again:
        beside += f"; {count(again, 'time')} the person spoke again while waiting for it"
    lead = f"{few}{lead[0].lower()}{lead[1:]}" if few else lead
    return f"{lead}{late}{beside}{made_up}."


def _picture(facts: SessionFacts, stats: Stats) -> Html | None:
    if stats.p50 is None:
        return None
    turns = facts.counted
    few = too_few(stats)
    return h(
        "figure",
        gap_strip(turns, stats.p50),
        band_counts(turns),
        h(
            "figcaption",
            f"Every gap, n = {count(len(turns), 'turn')}{f' ({few})' if few else ''}. People leave "
            "about 200 ms between their turns.",
        ),
    )

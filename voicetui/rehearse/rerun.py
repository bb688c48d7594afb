"""What a person did in a recorded session, cut into pieces that can be done again at the right moment. Pure.

A piece is a stretch of the microphone's track, and what the hands did meanwhile. It begins where the person had
something to react to: everything before was answered or dropped ("idle"), or a reply was audible ("reply"). Whatever
they began without that (a sentence that goes on after a pause, a question repeated into the silence) keeps its
distance from what they said before, and is part of the same piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from voicetui.events import Entry
from voicetui.events.session import InterruptAsked, Said
from voicetui.events.sound import RATE_HZ
from voicetui.rehearse.course import PER_MS, Course, Deed, Span

PREROLL_SAMPLES = RATE_HZ // 2
TAIL_SAMPLES = 2 * RATE_HZ // 5
"""Sound around what the detector called speech, as far as nothing else is said there: a soft voice is noticed up to
415 ms late."""

_APART = RATE_HZ // 20


class Act(msgspec.Struct, frozen=True):
    """Something the hands did, so long after the piece's onset (or before it)."""

    after_ms: float
    deed: Deed


class More(msgspec.Struct, frozen=True):
    """Speech that went on, or came again, before anything was answered, so long after the piece's onset."""

    after_ms: float
    text: str


class Piece(msgspec.Struct, frozen=True):
    """What is done without waiting for anything. ``after_ms`` is from what it waits for to its onset.

    ``when`` "idle": what it waits for is the end of the last reply as it was heard, or of what was dropped instead.
    "reply": the first audible sample of the reply to piece number ``over``.  Samples count on the recorded track; the
    first speech begins at ``onset_sample``, the last ends at ``silent_sample``, and all of ``start_sample`` to
    ``end_sample`` is heard (nothing, where only the hands did something).  ``at_ms`` is the onset in the old session.
    """

    when: Literal["idle", "reply"]
    after_ms: float
    at_ms: float
    start_sample: int = 0
    onset_sample: int = 0
    silent_sample: int = 0
    end_sample: int = 0
    over: int = -1
    acts: tuple[Act, ...] = ()
    more: tuple[More, ...] = ()
    text: str = ""

    @property
    def spoken(self) -> bool:
        """Whether there is sound in it."""
        return self.end_sample > self.start_sample

    @property
    def called(self) -> str:
        """What people may call it: its words, or what the hands did."""
        typed = " ".join(act.deed.text for act in self.acts if isinstance(act.deed, Said))
        keys = "the interrupt key" if any(isinstance(act.deed, InterruptAsked) for act in self.acts) else ""
        return self.text or typed or keys or ("speech without words" if self.spoken else "a key")


class Missed(msgspec.Struct, frozen=True):
    """What was done over a reply there, and not here. ``at_ms`` and ``after_reply_start_ms`` are the old session's."""

    at_ms: float
    after_reply_start_ms: float
    text: str
    why: str

    def told(self) -> str:
        """As a sentence for a person."""
        return f"{self.text!r} came {self.after_reply_start_ms:.0f} ms into a reply there; here {self.why}"


class Collided(msgspec.Struct, frozen=True):
    """What was said before a reply was heard there (``at_ms``), and over one here."""

    at_ms: float
    after_reply_start_ms: float
    text: str

    def told(self) -> str:
        """As a sentence for a person."""
        here = f"here it came {self.after_reply_start_ms:.0f} ms into one"
        return f"{self.text!r} was said before a reply was heard there; {here}"


class Plan(msgspec.Struct, frozen=True):
    """A person's part. ``acts`` are all that the hands did, ``after_ms`` counted from the track's first sample, which
    was at the ADC at ``zero_ms`` on the old session's clock. ``taken``: where the track holds speech, a reply's echo,
    or what the journal does not tell of; (start, end) in samples.
    """

    pieces: tuple[Piece, ...]
    acts: tuple[Act, ...]
    zero_ms: float
    taken: tuple[tuple[int, int], ...]


def plan(entries: Sequence[Entry], samples: int) -> Plan:
    """The person's part of a session whose microphone's track has so many samples."""
    course = Course(entries, samples)
    assert course.zero_ms is not None
    events: list[tuple[float, Span | Deed]] = [(span.at_ms, span) for span in course.spans]
    events += course.acts
    events.sort(key=lambda event: event[0])
    pieces: list[Piece] = []
    for at_ms, event in events:
        if not pieces or not course.goes_on(at_ms):
            pieces.append(_begun(course, pieces, at_ms))
        pieces[-1] = _with(pieces[-1], at_ms, event)
        if isinstance(event, Span) and at_ms > pieces[-1].at_ms and course.reply_at(at_ms) is None:
            more = More(at_ms - pieces[-1].at_ms, course.words_of(at_ms, at_ms + 1))
            pieces[-1] = msgspec.structs.replace(pieces[-1], more=(*pieces[-1].more, more))
    acts = tuple(Act(at_ms - course.zero_ms, deed) for at_ms, deed in course.acts)
    taken = [(span.onset, span.end) for span in course.all_spans]
    taken += [(course.sample_at(start), course.sample_at(end)) for start, end in course.replies]
    known = course.sample_at(course.end_ms)
    if known < samples:
        taken.append((known, samples))
    return Plan(tuple(_bounded(piece, course, samples) for piece in pieces), acts, course.zero_ms, tuple(taken))


def missed(pieces: Sequence[Piece], onsets_ms: Sequence[float], entries: Sequence[Entry]) -> tuple[Missed, ...]:
    """What was done over a reply in the old session and over none in the new one, which ``entries`` are of.

    ``onsets_ms``: when each piece was done there, as far as the session went.
    """
    replies = Course(entries, 0).replies
    found = []
    for piece, onset_ms in zip(pieces, onsets_ms, strict=False):
        if piece.when == "reply" and not any(start <= onset_ms < end for start, end in replies):
            since = max((end for _, end in replies if end <= onset_ms), default=None)
            began_ms = max((ms for ms in onsets_ms[: piece.over + 1] if ms < onset_ms), default=0.0)
            why = (
                f"the reply was over {onset_ms - since:.0f} ms before"
                if since is not None and since > began_ms
                else "no reply was being heard then"
            )
            found.append(Missed(round(piece.at_ms, 1), round(piece.after_ms, 1), piece.called, why))
    return tuple(found)


def collided(pieces: Sequence[Piece], onsets_ms: Sequence[float], entries: Sequence[Entry]) -> tuple[Collided, ...]:
    """What came before a reply in the old session and over one in the new one: most of it nobody would have said here.

    The arguments are those of ``missed``.
    """
    course = Course(entries, 0)
    return tuple(
        Collided(
            round(piece.at_ms + more.after_ms, 1),
            round(onset_ms + more.after_ms - reply_ms, 1),
            more.text or piece.called,
        )
        for piece, onset_ms in zip(pieces, onsets_ms, strict=False)
        for more in piece.more
        if (reply_ms := course.reply_at(onset_ms + more.after_ms)) is not None
    )


def _begun(course: Course, before: Sequence[Piece], at_ms: float) -> Piece:
    reply_ms = course.reply_at(at_ms)
    if reply_ms is None or not before:
        return Piece("idle", max(0.0, at_ms - course.idle_since(at_ms)), at_ms)
    over = max((n for n, piece in enumerate(before) if piece.at_ms < reply_ms), default=0)
    return Piece("reply", at_ms - reply_ms, at_ms, over=over)


def _with(piece: Piece, at_ms: float, event: Span | Deed) -> Piece:
    """The piece, and this in it."""
    if not isinstance(event, Span):
        return msgspec.structs.replace(piece, acts=(*piece.acts, Act(at_ms - piece.at_ms, event)))
    if piece.silent_sample > piece.onset_sample:
        return msgspec.structs.replace(piece, silent_sample=event.end)
    later_ms = event.at_ms - piece.at_ms
    acts = tuple(Act(act.after_ms - later_ms, act.deed) for act in piece.acts)
    return msgspec.structs.replace(
        piece, at_ms=event.at_ms, after_ms=piece.after_ms + later_ms, acts=acts, onset_sample=event.onset,
        silent_sample=max(event.end, event.onset + 1),
    )  # fmt: skip


def _bounded(piece: Piece, course: Course, samples: int) -> Piece:
    """The piece with what is heard around its speech, and its words."""
    if piece.silent_sample <= piece.onset_sample:
        return piece
    before = max((span.end for span in course.all_spans if span.end <= piece.onset_sample), default=-_APART)
    after = min(
        (span.onset for span in course.all_spans if span.onset >= piece.silent_sample), default=samples + _APART
    )
    last_ms = piece.at_ms + (piece.silent_sample - piece.onset_sample) / PER_MS
    return msgspec.structs.replace(
        piece,
        start_sample=min(piece.onset_sample, max(0, piece.onset_sample - PREROLL_SAMPLES, before + _APART)),
        end_sample=max(piece.silent_sample, min(samples, piece.silent_sample + TAIL_SAMPLES, after - _APART)),
        text=course.words_of(piece.at_ms, last_ms),
    )

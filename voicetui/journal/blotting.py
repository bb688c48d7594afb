"""What has to go from a journal's texts: what was said in a span of time, and words wherever they stand."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Final, Literal

import msgspec

from voicetui.journal.blot import MARK, Letters, Span, blot, blot_pieces, find_words, joined, letters_of, word_count
from voicetui.journal.lines import Line, Lines
from voicetui.journal.spoken import Clause, Reply, Slot, Spoken, Utterance

Side = Literal["user", "reply", "both"]
_LONG_WORDS: Final = 3
"""A text of so many words, said in the span, is looked for everywhere; shorter ones are said at other times, too."""


class Wanted(msgspec.Struct, frozen=True):
    """What is to go: what was said by ``side`` from ``start_ms`` to ``end_ms`` on the session clock (None: no span),
    and ``words``, each a phrase, wherever they stand. ``sound``: the sound in which the words are heard, too.
    """

    start_ms: float | None = None
    end_ms: float | None = None
    side: Side = "both"
    words: tuple[str, ...] = ()
    sound: bool = True

    def touches(self, start_ms: float | None, end_ms: float | None) -> bool:
        """Whether something that lasted from then to then overlaps the span."""
        if self.start_ms is None or self.end_ms is None or start_ms is None:
            return False
        last_ms = start_ms if end_ms is None else max(start_ms, end_ms)
        return start_ms < self.end_ms and (last_ms > self.start_ms or start_ms >= self.start_ms)

    @property
    def of_user(self) -> bool:
        """Whether what the user said in the span is to go."""
        return self.side in ("user", "both")

    @property
    def of_reply(self) -> bool:
        """Whether what the reply said in the span is to go."""
        return self.side in ("reply", "both")


class Blotter:
    """Blots a journal's texts. Afterwards ``sounds`` are the spans in which it could be heard, by side, and ``words``
    what must not be found any more; ``short`` counts texts that are too short to be looked for elsewhere.
    """

    def __init__(self, spoken: Spoken, wanted: Wanted) -> None:
        self._spoken = spoken
        self._wanted = wanted
        self._given = [letters_of(each).text for each in wanted.words]
        self.words: list[str] = list(dict.fromkeys(self._given))
        self.sounds: set[tuple[str, float, float]] = set()
        self.short = 0
        self._renamed: dict[str, tuple[str, int]] = {}
        self._brief: dict[int, set[str]] = {}
        self._touched_turns: set[int] = set()

    def run(self) -> None:
        """Blot out everything that has to go."""
        spoken, wanted = self._spoken, self._wanted
        said = [each for each in spoken.utterances.values() if self._said_then(each)]
        typed = [slot for at_ms, slot in spoken.typed if wanted.of_user and wanted.touches(at_ms, at_ms)]
        for slot in (*(slot for each in said for slot in each.slots if _lasting(slot)), *typed):
            self._seek(slot.text)
        for reply in spoken.replies.values():
            for clause in self._heard_then(reply):
                for slot in (*clause.written, *clause.said):
                    self._seek(slot.text)
        for each in said:
            self._blot_whole(each)
        for each in spoken.utterances.values():
            if each not in said:
                self._blot_utterance(each)
        for slot in typed:
            self._replace(slot, MARK)
        for _, slot in spoken.typed:
            self._blot_words(slot)
        for reply in spoken.replies.values():
            self._blot_reply(reply)
        self._blot_requests()
        for start_ms, end_ms, slot in spoken.passages:
            if wanted.touches(start_ms, end_ms):
                self._replace(slot, MARK)
            self._blot_words(slot)
        for slot in spoken.others:
            self._blot_words(slot)
        something = (
            any(slot.line.changed for slot in (*spoken.slots(), *spoken.pieces())) or wanted.start_ms is not None
        )
        for line in spoken.unreadable:
            if something or find_words(self.words, letters_of(line.text)):
                line.drop()

    # ---- the user

    def _said_then(self, utterance: Utterance) -> bool:
        return self._wanted.of_user and self._wanted.touches(utterance.start_ms, utterance.end_ms)

    def _seek(self, text: str) -> None:
        """From now on ``text`` is looked for, if it is long enough to be nothing else."""
        letters = letters_of(text).text
        if word_count(text) >= _LONG_WORDS and letters not in self.words:
            self.words.append(letters)

    def _blot_whole(self, utterance: Utterance) -> None:
        self._touched_turns.add(utterance.turn)
        for slot in utterance.slots:
            letters = letters_of(slot.text)
            if letters.text and word_count(slot.text) < _LONG_WORDS:
                self.short += 1
                self._brief.setdefault(utterance.turn, set()).add(letters.text)
                if utterance.turn in self._spoken.taken_back:  # who was cut off goes on in the turn after
                    self._brief.setdefault(utterance.turn + 1, set()).add(letters.text)
            self._replace(slot, MARK)

    def _blot_utterance(self, utterance: Utterance) -> None:
        texts = [(slot, letters_of(slot.text)) for slot in utterance.slots]
        words = [*self.words, *self._brief.get(utterance.turn, ())]
        found = [(slot, letters, find_words(words, letters)) for slot, letters in texts]
        lasting = [(letters, spans) for slot, letters, spans in found if _lasting(slot) and letters.text]
        models = [(letters, spans[0][0]) for letters, spans in lasting if spans]
        if any(find_words(self._given, letters) for _, letters in texts):
            self._silence("user", utterance.start_ms, utterance.end_ms)
        if models or any(spans for _, _, spans in found):
            self._touched_turns.add(utterance.turn)
        for slot, letters, spans in found:
            self._replace(slot, blot(slot.text, letters, spans or _unlike(letters, models)))

    def _silence(self, side: str, start_ms: float | None, end_ms: float | None) -> None:
        if self._wanted.sound and start_ms is not None and end_ms is not None and end_ms > start_ms:
            self.sounds.add((side, start_ms, end_ms))

    # ---- the reply

    def _heard_then(self, reply: Reply) -> list[Clause]:
        if not self._wanted.of_reply:
            return []
        return [each for each in reply.clauses.values() if self._wanted.touches(each.start_ms, each.end_ms)]

    def _blot_reply(self, reply: Reply) -> None:
        slots = [slot for slot, _ in reply.pieces]
        clauses = [reply.clauses[number] for number in sorted(reply.clauses)]
        text = "".join(slot.text for slot in slots)
        letters = letters_of(text or " ".join(each.written[0].text for each in clauses if each.written))
        places = _places(clauses, letters)
        spans = find_words(self.words, letters)
        for clause, place in zip(clauses, places, strict=True):
            if clause in self._heard_then(reply):
                spans.append(place or (0, len(letters.text)))
            elif place is None and any(self._found(slot) for slot in clause.written):
                spans.append((0, len(letters.text)))
        spans += self._unheard_then(reply, letters, clauses, places)
        spans = joined(spans)
        given = find_words(self._given, letters)
        for clause, place in zip(clauses, places, strict=True):
            here = _within(spans, place) if place is not None else [*spans][:1]
            self._blot_clause(clause, here, place)
            if (place is not None and _within(given, place)) or (place is None and given):
                self._silence("reply", clause.start_ms, clause.end_ms)
        pieces = blot_pieces([slot.text for slot in slots], letters, spans) if slots else []
        for slot, piece in zip(slots, pieces, strict=True):
            slot.put(piece)
        for slot in reply.heard:
            self._blot_heard(slot, letters, spans)
        self._blot_reasoning(reply)

    def _unheard_then(
        self, reply: Reply, letters: Letters, clauses: Sequence[Clause], places: Sequence[Span | None]
    ) -> list[Span]:
        """Pieces that came in the span and were never to be heard: there is no other time at which they were said."""
        heard = [place for clause, place in zip(clauses, places, strict=True) if clause.start_ms is not None and place]
        found: list[Span] = []
        begin = 0
        for slot, at_ms in reply.pieces:
            end = begin + len(slot.text)
            span = (bisect_left(letters.starts, begin), bisect_left(letters.starts, end))
            begin = end
            if span[0] == span[1] or not self._wanted.of_reply or not self._wanted.touches(at_ms, at_ms):
                continue
            if not any(_within([span], place) for place in heard):
                found.append(span)
        return found

    def _blot_clause(self, clause: Clause, spans: Sequence[Span], place: Span | None) -> None:
        """Blot ``spans`` of the reply in a clause's texts; how it was to be said may be spelt otherwise."""
        written = letters_of(clause.written[0].text) if clause.written else letters_of("")
        for slot in (*clause.written, *clause.said):
            letters = letters_of(slot.text)
            own = find_words(self.words, letters)
            if spans and place is not None and letters.text == written.text:
                own += [(max(0, start - place[0]), end - place[0]) for start, end in spans]
            elif spans and not own:
                own = [(0, len(letters.text))]
            self._replace(slot, blot(slot.text, letters, own))

    def _blot_heard(self, slot: Slot, reply: Letters, spans: Sequence[Span]) -> None:
        letters = letters_of(slot.text)
        if not letters.text:
            return
        place = 0 if reply.text.startswith(letters.text) else reply.text.find(letters.text)
        own = find_words(self.words, letters)
        if place >= 0:
            here = _within(spans, (place, place + len(letters.text)))
            own += [(start - place, end - place) for start, end in here]
        elif spans and not own:
            own = [(0, len(letters.text))]
        self._replace(slot, blot(slot.text, letters, own))

    def _blot_reasoning(self, reply: Reply) -> None:
        slots = [slot for slot, _ in reply.reasoning]
        texts = [slot.text for slot in slots]
        letters = letters_of("".join(texts))
        if not slots:
            return
        for slot, text in zip(slots, blot_pieces(texts, letters, find_words(self.words, letters)), strict=True):
            slot.put(text)
        for slot, at_ms in reply.reasoning:
            if slot.text.strip() and self._wanted.of_reply and self._wanted.touches(at_ms, at_ms):
                slot.put(MARK)

    # ---- what was made of it

    def _blot_requests(self) -> None:
        for asked in self._spoken.asked:
            for place, (role, slot) in enumerate(asked.messages):
                letters = letters_of(slot.text)
                new, since = self._renamed.get(letters.text, ("", 0))
                if new and role != "system" and slot.line.number > since:
                    slot.put(new)
                    continue
                brief = self._brief.get(asked.turn, set()) if place == len(asked.messages) - 1 else set()
                slot.put(blot(slot.text, letters, find_words([*self.words, *brief], letters)))
        for turn, slot in self._spoken.queries:
            if turn in self._touched_turns and slot.text:
                slot.put(MARK)
            self._blot_words(slot)

    def _found(self, slot: Slot) -> list[Span]:
        return find_words(self.words, letters_of(slot.text))

    def _blot_words(self, slot: Slot) -> None:
        letters = letters_of(slot.text)
        self._replace(slot, blot(slot.text, letters, find_words(self.words, letters)))

    def _replace(self, slot: Slot, text: str) -> None:
        """Put ``text`` there, and remember it for requests that repeat what stood there; what is empty stays so."""
        old = slot.text
        if not old.strip() or text == old:
            return
        slot.put(text)
        letters = letters_of(old).text
        if letters:
            self._renamed.setdefault(letters, (text, slot.line.number))


def remaining(spoken: Spoken, words: Iterable[str]) -> list[Line]:
    """The lines in which any of ``words`` (as letters) is still found, alone or together with those beside them."""
    words = list(words)
    found = [slot.line for slot in spoken.slots() if find_words(words, letters_of(slot.text))]
    for reply in spoken.replies.values():
        written = [clause.written[0] for _, clause in sorted(reply.clauses.items()) if clause.written]
        pieces, reasoning = [slot for slot, _ in reply.pieces], [slot for slot, _ in reply.reasoning]
        together = [(pieces, ""), (reasoning, ""), (written, " ")]
        found += [
            slots[0].line
            for slots, between in together
            if find_words(words, letters_of(between.join(slot.text for slot in slots)))
        ]
    return found


def touch_odd(lines: Lines, words: Sequence[str]) -> None:
    """Have lines written anew that hold one of ``words`` where their record does not show it."""
    for line in lines:
        if line.odd and find_words(words, letters_of(line.text)):
            line.touch()


def _lasting(slot: Slot) -> bool:
    """Whether a wording is none that was only on the way to a better one."""
    return slot.within.get("final", True) is not False


def _unlike(letters: Letters, models: Sequence[tuple[Letters, int]]) -> list[Span]:
    """What of a wording cannot be told apart from words that a better wording has at a place: from there on, or from
    where the two begin to differ.
    """
    if not models or not letters.text:
        return []
    same, place = max((_alike(letters.text, model.text), place) for model, place in models)
    if same == len(letters.text) and same <= place:
        return []
    start = max((each for each in letters.breaks if each <= min(same, place)), default=0)
    return [(start, len(letters.text))] if start < len(letters.text) else []


def _alike(text: str, other: str) -> int:
    """How many letters at their beginnings are the same."""
    differing = (place for place, (a, b) in enumerate(zip(text, other, strict=False)) if a != b)
    return next(differing, min(len(text), len(other)))


def _places(clauses: Sequence[Clause], reply: Letters) -> list[Span | None]:
    """Where in the reply each clause stands."""
    found: list[Span | None] = []
    done = 0
    for clause in clauses:
        text = letters_of(clause.written[0].text).text if clause.written else ""
        place = reply.text.find(text, done) if text else -1
        found.append((place, place + len(text)) if place >= 0 else None)
        done = place + len(text) if place >= 0 else done
    return found


def _within(spans: Iterable[Span], place: Span) -> list[Span]:
    return [(max(start, place[0]), min(end, place[1])) for start, end in spans if start < place[1] and end > place[0]]

"""Work that is told of after its basis became void: it is waste, and says so."""

from __future__ import annotations

from voicetui.events import Fact
from voicetui.events.reply import (
    ClauseCut,
    ContextReady,
    FirstByte,
    GenerationCancelled,
    GenerationEnded,
    GenerationFailed,
    RequestSent,
    TokensArrived,
)
from voicetui.events.speak import ClauseBegun, ClauseSynthesized, Discarded, SynthesisFailed


def as_waste(fact: Fact) -> Fact | None:
    """What a fact about a void basis still tells; None where that is nothing.

    What was heard stays as it is. Sound that was made is told as ``Discarded`` by whoever drops it.
    """
    match fact:
        case TokensArrived():
            return Discarded(fact.basis, "generate", tokens=len(fact.tokens), reason="came too late")
        case GenerationEnded():
            return GenerationCancelled(fact.basis, fact.completion_tokens or 0, 0.0)
        case GenerationFailed():
            return GenerationCancelled(fact.basis, 0, 0.0)
        case ContextReady() | RequestSent() | FirstByte() | ClauseCut():
            return None
        case ClauseBegun() | ClauseSynthesized() | SynthesisFailed():
            return None
        case _:
            return fact

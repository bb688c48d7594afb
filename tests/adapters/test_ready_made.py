"""What is ready before it is asked for: the reply's text and its sound."""

from __future__ import annotations

import pytest

from voicetui.events.orders import STAGED
from voicetui.ports import StageError, TokenRead
from voicetui.reply.ready_made_tier import ReadyMadeTier, spoken_of
from voicetui.runtime.clock import ManualClock
from voicetui.speak.ready_voice import ReadyVoice
from voicetui.speak.scripted import ScriptedVoice


async def said(tier: ReadyMadeTier) -> str:
    """The next reply."""
    return "".join([item.text async for item in tier.stream(()) if isinstance(item, TokenRead)])


@pytest.mark.anyio
async def test_the_reply_put_ready_is_given_until_another_is_else_some_in_turn() -> None:
    tier = ReadyMadeTier(ManualClock(), ("One.", "Two."))
    assert (tier.name, tier.simulated) == (STAGED, True)
    assert [await said(tier) for _ in range(3)] == ["One.", "Two.", "One."]
    tier.put_ready("Paris.")
    assert [await said(tier) for _ in range(2)] == ["Paris.", "Paris."]
    tier.put_ready("")
    assert await said(tier) == "Two."


def test_without_replies_there_is_no_such_tier() -> None:
    with pytest.raises(ValueError, match="at least one"):
        ReadyMadeTier(ManualClock(), ())


def test_what_is_spoken_of_a_reply_is_its_clauses_joined() -> None:
    assert spoken_of("It is Paris. I am quite sure of that, and so is everybody else.") == (
        "It is Paris. I am quite sure of that, and so is everybody else."
    )
    assert spoken_of("**Paris**") == "Paris"


def test_a_text_said_before_costs_no_second_synthesis_and_sounds_the_same() -> None:
    inner = ScriptedVoice()
    voice = ReadyVoice(inner, ["One two. Three.", "One two. Three.", "Four."])
    voice.warm()
    assert inner.calls == 2
    first, again = list(voice.synthesize("One two. Three.")), list(voice.synthesize("One two. Three."))
    assert len(first) == 2
    assert all((one == other).all() for one, other in zip(first, again, strict=True))
    assert inner.calls == 2
    list(voice.synthesize("Five."))
    assert inner.calls == 3


def test_a_text_that_fails_beforehand_is_tried_again_when_it_is_asked_for() -> None:
    inner = ScriptedVoice(failures=lambda call, _: "broken" if call == 0 else None)
    voice = ReadyVoice(inner, ["One."])
    voice.warm()
    assert len(list(voice.synthesize("One."))) == 1
    broken = ReadyVoice(ScriptedVoice(failures=lambda *_: "broken"), ["One."])
    broken.warm()
    with pytest.raises(StageError):
        list(broken.synthesize("One."))

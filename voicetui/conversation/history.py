"""What was said so far, as the tier gets it. Holds only what was heard."""

from __future__ import annotations

from voicetui.conversation.state import Exchange, State, Step
from voicetui.events.orders import Message
from voicetui.events.reply import Passage


def messages(state: State, user_text: str) -> tuple[Message, ...]:
    """The request for ``user_text``: system prompt, history, what the notes say, the user's words.

    In the order of their constancy, for the sake of the tier's prompt cache: the notes stand in the last message, so
    that other notes cost the history nothing.
    """
    system = (Message("system", state.policy.system_prompt),) if state.policy.system_prompt else ()
    past: list[Message] = []
    for exchange in state.history:
        past += [Message("user", exchange.user), Message("assistant", exchange.assistant)]
    return (*system, *past, Message("user", _notes(state) + user_text))


def passages(state: State) -> tuple[Passage, ...]:
    """What the notes say for the next turn."""
    return state.context.passages if state.context.turn == state.next_turn else ()


def _notes(state: State) -> str:
    found = passages(state)
    if not found:
        return ""
    return "Notes that may help:\n" + "".join(f"- {passage.text}\n" for passage in found) + "\nThe user says:\n"


def remember(step: Step, user_text: str, heard_text: str, interrupted: bool) -> None:
    """Keep an exchange. One whose answer nobody heard is left out: an empty or invented answer teaches small models to
    give more of them. So is one whose question nobody understood.
    """
    if not heard_text.strip() or not user_text.strip():
        return
    history = (*step.state.history, Exchange(user_text, heard_text.strip(), interrupted))
    most = step.state.policy.history_exchanges
    if len(history) > most:
        history = history[len(history) - most // 2 :]
    step.set(history=history)


def turn_text(state: State, words: str) -> str:
    """The text of the turn these words make: words carried from a turn taken back come first."""
    return f"{state.carried} {words}".strip() if state.carried else words.strip()

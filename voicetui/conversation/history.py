"""What was said so far, as the tier gets it. Holds only what was heard."""

from __future__ import annotations

from voicetui.conversation.state import Exchange, State, Step
from voicetui.events.orders import Message


def messages(state: State, user_text: str) -> tuple[Message, ...]:
    """The request for ``user_text``: system prompt, history, the user's words.

    Its prefix only changes when the history is trimmed.
    """
    system = (Message("system", state.policy.system_prompt),) if state.policy.system_prompt else ()
    past: list[Message] = []
    for exchange in state.history:
        past += [Message("user", exchange.user), Message("assistant", exchange.assistant)]
    return (*system, *past, Message("user", user_text))


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

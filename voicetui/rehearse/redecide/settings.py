"""What can be changed for deciding again: fields of ``Policy``, by their own names or by those of the configuration."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from typing import Literal, get_args, get_origin, get_type_hints

import msgspec

from voicetui.conversation.policy import Policy

CONFIGURED: Mapping[str, str] = {
    "conversation.system_prompt": "system_prompt",
    "conversation.prewarm": "prewarm",
    "endpoint.policy": "turn_end",
    "endpoint.silence_ms": "silence_ms",
    "endpoint.sure_ms": "sure_ms",
    "endpoint.reply_wait_ms": "reply_wait_ms",
    "endpoint.score_after_ms": "score_after_ms",
    "endpoint.unsure_ms": "unsure_ms",
    "endpoint.cut_off_risk": "cut_off_risk",
    "endpoint.score_weight": "score_weight",
    "endpoint.words_odds": "words_odds",
    "endpoint.unfinished_ms": "unfinished_ms",
    "endpoint.resume_ms": "resume_ms",
    "knowledge.passages": "knowledge_passages",
}
"""Keys of the configuration that are fields of the policy."""
HEARD: Mapping[str, str] = {"endpoint.quick_pauses": "quick_pauses"}
"""Keys that are fields of it, too, but change what is heard: the recorded pauses are not those there would be."""

_BELOW_ZERO = ("clear_logprob",)
_BETWEEN = {"cut_off_risk": (0.0, 1.0), "least_doubt": (0.0, 0.5)}
_ABOVE_ZERO = ("score_weight", "words_odds")


class SettingError(ValueError):
    """A setting that is none; ``str(error)`` says what was found and what is allowed."""


class UnknownSetting(SettingError):
    """A setting whose key is no field of the policy. ``key`` is what was written."""

    def __init__(self, key: str) -> None:
        super().__init__(f"{key} is no setting that can be decided again. Allowed: {', '.join(names())}.")
        self.key = key


def names() -> list[str]:
    """Every name a setting may have: the fields of ``Policy``, then the configuration's names for some of them."""
    fields = (field.name for field in msgspec.structs.fields(Policy))
    return [*(name for name in fields if name not in HEARD.values()), *CONFIGURED]


def changes_of(settings: Sequence[str], recorded: Policy) -> dict[str, object]:
    """The fields of ``recorded`` that ``key=value`` settings change, with their new values.

    A value is TOML, numbers separated by commas, or text without its quotes.  Raises ``SettingError``.
    """
    changes: dict[str, object] = {}
    for setting in settings:
        key, equals, text = (part.strip() for part in setting.partition("="))
        if not equals or not key:
            raise SettingError(f"--set {setting}: write key=value, such as silence_ms=400.")
        field = CONFIGURED.get(key, key)
        if field not in recorded.__struct_fields__ or field in HEARD.values():
            raise UnknownSetting(key)
        changes[field] = _checked(setting, field, text)
    policy = msgspec.structs.replace(recorded, **changes)
    if policy.sure_ms > policy.unsure_ms and {"sure_ms", "unsure_ms"} & set(changes):
        raise SettingError(
            f"sure_ms would be {policy.sure_ms:g}, more than unsure_ms {policy.unsure_ms:g}. "
            "Set both, unsure_ms at least as long."
        )
    return {name: value for name, value in changes.items() if value != getattr(recorded, name)}


def _checked(setting: str, field: str, text: str) -> object:
    try:
        value = getattr(msgspec.convert({field: _value(text)}, Policy), field)
    except msgspec.ValidationError as error:
        raise SettingError(f"--set {setting}: found {text!r}. Allowed: {_allowed(field)}.") from error
    numbers = value if isinstance(value, tuple) else (value,)
    for number in numbers:
        if isinstance(number, (int, float)) and not isinstance(number, bool):
            _check_number(setting, field, float(number))
    return value


def _allowed(field: str) -> str:
    hint = get_type_hints(Policy)[field]
    if get_origin(hint) is Literal:
        return ", ".join(map(repr, get_args(hint)))
    if get_origin(hint) is tuple:
        return "numbers separated by commas"
    return {bool: "true or false", int: "a whole number", float: "a number"}.get(hint, "a text")


def _check_number(setting: str, field: str, number: float) -> None:
    if not math.isfinite(number):
        raise SettingError(f"--set {setting}: a finite number is needed.")
    low, high = _BETWEEN.get(field, (0.0, math.inf))
    if field in _BETWEEN and not low < number < high:
        raise SettingError(f"--set {setting}: allowed is more than {low:g} and less than {high:g}.")
    if number < 0 and field not in _BELOW_ZERO:
        raise SettingError(f"--set {setting}: allowed is 0 or more.")
    if number == 0 and field in _ABOVE_ZERO:
        raise SettingError(f"--set {setting}: allowed is more than 0.")


def _value(text: str) -> object:
    for written in (text, f"[{text}]" if "," in text else text):
        try:
            return tomllib.loads(f"value = {written}")["value"]
        except tomllib.TOMLDecodeError:
            continue
    return text

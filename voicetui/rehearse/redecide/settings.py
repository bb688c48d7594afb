"""What can be changed for deciding again: the numbers of the rules."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from typing import Literal, get_args, get_origin, get_type_hints

import msgspec

from voicetui.conversation.policy import Policy

HEARD = ("quick_pauses",)
"""Fields that change what is heard: the recorded pauses are not those there would be."""

_BELOW_ZERO = ("clear_logprob", "ended_logprob")
_BETWEEN = {"cut_off_risk": (0.0, 1.0), "least_doubt": (0.0, 0.5)}
_MOST = 1e9
_ABOVE_ZERO = ("score_weight", "words_odds", "beside_words_odds", "even_words", "least_words")


class SettingError(ValueError):
    """A setting that is none; ``str(error)`` says what was found and what is allowed."""


class UnknownSetting(SettingError):
    """A setting whose key is no number that can be decided again. ``key`` is what was written."""

    def __init__(self, key: str, allowed: Sequence[str]) -> None:
        super().__init__(f"{key} is no setting that can be decided again. Allowed: {', '.join(allowed)}.")
        self.key = key


def fields() -> list[str]:
    """The fields of ``Policy`` that can be decided again."""
    return [field.name for field in msgspec.structs.fields(Policy) if field.name not in HEARD]


def changes_of(settings: Sequence[str], recorded: Policy, also: Mapping[str, str]) -> dict[str, object]:
    """The fields of ``recorded`` that ``key=value`` settings change, with their new values.

    ``also`` are other names for some of the fields: those of the configuration.
    A value is TOML, numbers separated by commas, or text without its quotes.  Raises ``SettingError``.
    """
    changes: dict[str, object] = {}
    for setting in settings:
        key, equals, text = (part.strip() for part in setting.partition("="))
        if not equals or not key:
            raise SettingError(f"--set {setting}: write key=value, such as silence_ms=400.")
        field = also.get(key, key)
        if field not in fields():
            raise UnknownSetting(key, [*fields(), *also])
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
    for number in _numbers(value):
        if wanted := _wanted(field, number):
            raise SettingError(f"--set {setting}: {wanted}.")
    return value


def check_recorded(policy: Policy) -> None:
    """Raises ``SettingError`` for recorded numbers that no rule can decide by, as in a damaged journal."""
    for field in fields():
        for number in _numbers(getattr(policy, field)):
            if wanted := _wanted(field, number) or ("" if abs(number) <= _MOST else f"allowed is up to {_MOST:g}"):
                raise SettingError(f"{field} is {number:g}, {wanted}")


def _numbers(value: object) -> list[float]:
    values = value if isinstance(value, tuple) else (value,)
    return [float(each) for each in values if isinstance(each, (int, float)) and not isinstance(each, bool)]


def _allowed(field: str) -> str:
    hint = get_type_hints(Policy)[field]
    if get_origin(hint) is Literal:
        return ", ".join(map(repr, get_args(hint)))
    if get_origin(hint) is tuple:
        return "numbers separated by commas"
    return {bool: "true or false", int: "a whole number", float: "a number"}.get(hint, "a text")


def _wanted(field: str, number: float) -> str:
    """What number is wanted instead, "" where this one will do."""
    if not math.isfinite(number):
        return "a finite number is needed"
    low, high = _BETWEEN.get(field, (0.0, math.inf))
    if field in _BETWEEN and not low < number < high:
        return f"allowed is more than {low:g} and less than {high:g}"
    if number < 0 and field not in _BELOW_ZERO:
        return "allowed is 0 or more"
    if number == 0 and field in _ABOVE_ZERO:
        return "allowed is more than 0"
    return ""


def _value(text: str) -> object:
    for written in (text, f"[{text}]" if "," in text else text):
        try:
            return tomllib.loads(f"value = {written}")["value"]
        except tomllib.TOMLDecodeError:
            continue
    return text

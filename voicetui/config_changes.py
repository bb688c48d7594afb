"""A configuration with single keys changed: by hand (``table.key=value``), or to what a recorded session had."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from voicetui.config import Config, ConfigError, check_config, without_secrets

_NOT_COMPARED = ("record", "audio", "policy", "tiers")
"""Where sessions are kept and what they were heard through is no part of how they were answered."""


def with_settings(config: Config, settings: Sequence[str]) -> Config:
    """The configuration with every ``table.key=value`` in it, ``tiers.NAME.key=value`` for a tier.

    A value is TOML, or text without its quotes. Raises ``ConfigError`` naming the setting.
    """
    raw: dict[str, Any] = msgspec.to_builtins(config)
    for setting in settings:
        key, equals, value = setting.partition("=")
        *tables, name = key.strip().split(".")
        source = f"--set {setting}"
        if not equals or not tables or not all((*tables, name)):
            raise ConfigError(f"{source}: write table.key=value, such as listen.vad_threshold=0.6.")
        _table(raw, tables, source)[name] = _value(value.strip())
        config = check_config(raw, source)
    return config


def like_recorded(config: Config, recorded: Mapping[str, object], table: str) -> Config:
    """The configuration with one table's keys as a recorded session had them, as far as there still are such keys.

    Raises ``ConfigError`` where they are not valid any more.
    """
    raw: dict[str, Any] = msgspec.to_builtins(config)
    there = recorded.get(table)
    if isinstance(there, Mapping):
        raw[table] = {key: there.get(key, value) for key, value in raw[table].items()}
    return check_config(raw, "the configuration of the recorded session")


def differences(recorded: Mapping[str, object], now: Mapping[str, object], tier: str) -> list[str]:
    """What differs between two journalled configurations and matters for how a session goes: sentences for a person.

    Of the tiers only ``tier`` counts. Keys that only one of them knows do not differ.
    """
    recorded, now = _plain(recorded), _plain(now)
    there, here = _flat(recorded, tier), _flat(now, tier)
    found = {key: value for key, value in here.items() if key in there and there[key] != value}
    rules_there, rules = recorded.get("policy"), now.get("policy")
    if isinstance(rules_there, Mapping) and isinstance(rules, Mapping):
        named = {key.rpartition(".")[2] for key in here} | {"turn_end", "staged_gaps_ms"}
        for key, value in rules.items():
            if key not in named and key in rules_there and rules_there[key] != value:
                there[f"rule {key}"], found[f"rule {key}"] = rules_there[key], value
    return [f"{key}: {there[key]!r} there, {value!r} here" for key, value in found.items()]


def _plain(config: Mapping[str, object]) -> dict[str, object]:
    """As a journal holds it: a tuple is a list there."""
    values: dict[str, object] = msgspec.json.decode(msgspec.json.encode(config))
    return values


def _flat(config: Mapping[str, object], tier: str) -> dict[str, object]:
    config = {key: without_secrets(value) for key, value in config.items()}
    flat = {
        f"{name}.{key}": value
        for name, table in config.items()
        if name not in _NOT_COMPARED and isinstance(table, Mapping)
        for key, value in table.items()
    }
    tiers = config.get("tiers")
    for table in tiers if isinstance(tiers, Sequence) and not isinstance(tiers, str) else ():
        if isinstance(table, Mapping) and table.get("name") == tier:
            flat |= {f"tier {tier}: {key}": value for key, value in table.items() if key != "price"}
    return flat


def _table(raw: dict[str, Any], names: Sequence[str], source: str) -> dict[str, Any]:
    """The table that a setting's key is in. Raises ``ConfigError``."""
    if names[0] == "tiers":
        known = [tier["name"] for tier in raw["tiers"]]
        found = next((tier for tier in raw["tiers"] if tier["name"] == ".".join(names[1:])), None)
        if found is None:
            raise ConfigError(f"{source}: write tiers.NAME.key=value. The tiers are {', '.join(known)}.")
        tier: dict[str, Any] = found
        return tier
    if len(names) != 1 or not isinstance(raw.get(names[0]), dict):
        raise ConfigError(f"{source}: there is no table {'.'.join(names)!r}. Allowed: {', '.join(raw)}.")
    table: dict[str, Any] = raw[names[0]]
    return table


def _value(text: str) -> object:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text

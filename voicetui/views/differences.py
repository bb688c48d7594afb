"""How a session was set up, and in what two of them differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from voicetui.events import Entry
from voicetui.events.session import GapStaged, SessionOpened
from voicetui.events.sound import DeviceLost, DeviceOpened
from voicetui.views.session_state import staged_gaps_of
from voicetui.views.summary import Summary

_TOLD_APART = ("conversation.tier", "conversation.overlap", "record.", "policy.staged_gaps_ms")
"""Keys of the configuration that are told in other words, or that change nothing that is heard."""


class SetUp(msgspec.Struct, frozen=True):
    """A session's settings by name, as text: what was chosen, the configuration key by key, what it was run on.

    ``tiers`` are those that answered.
    """

    values: dict[str, str]
    tiers: tuple[str, ...] = ()


class Difference(msgspec.Struct, frozen=True):
    """A setting that is not the same. ``one`` or ``other`` is "" where that session does not tell."""

    what: str
    one: str
    other: str

    @property
    def known(self) -> bool:
        """Whether both sessions tell it; what only one tells may be the same in the other."""
        return bool(self.one and self.other)


def differences(one: SetUp, other: SetUp) -> tuple[Difference, ...]:
    """What differs, in the order of importance. A tier that only one of them used is named, but not told key by key."""
    alone = tuple(f"tiers.{name}." for name in {*one.tiers} ^ {*other.tiers})
    names = dict.fromkeys(name for name in [*one.values, *other.values] if not name.startswith(alone))
    both = [Difference(name, one.values.get(name, ""), other.values.get(name, "")) for name in names]
    return tuple(each for each in both if each.one != each.other)


class SetUpFold:
    """Folds a journal to how the session was set up."""

    def __init__(self) -> None:
        self._opened: SessionOpened | None = None
        self._devices: dict[str, list[str]] = {"input": [], "output": []}
        self._staged_gaps_ms: list[tuple[float, ...]] = []

    def feed(self, entry: Entry) -> None:
        """Take one entry, in journal order."""
        match entry.body:
            case SessionOpened() as body:
                self._opened = body
                self._staged_gaps_ms = [staged_gaps_of(body)]
            case GapStaged() as body:
                self._staged_gaps_ms.append(body.gaps_ms)
            case DeviceOpened() as body:
                name = f"{body.name} at {body.rate_hz} Hz, {body.clock} clock"
                if name not in self._devices[body.role]:
                    self._devices[body.role].append(name)
            case DeviceLost() as body:
                self._devices[body.role].append(f"{body.name} lost")
            case _:
                pass

    def snapshot(self, summary: Summary) -> SetUp:
        """The settings. ``summary`` tells the tiers and modes that were really used."""
        opened = self._opened
        if opened is None:
            return SetUp({})
        staged = [gaps_ms for gaps_ms in self._staged_gaps_ms if gaps_ms]
        used = tuple(summary.tier.split("+"))
        models = {tier.name: tier.model or tier.kind for tier in opened.tiers}
        chosen = {
            "tier": summary.tier + (" (simulated)" if summary.simulated else ""),
            "model": " + ".join(models.get(name, name) for name in used),
            "overlap": summary.overlap,
            "staged gaps": " then ".join(",".join(f"{ms:.10g}" for ms in gaps_ms) for gaps_ms in staged) or "none",
            "program": opened.program,
            "duplex": opened.duplex,
            "echo": opened.echo or "nothing done",
        }
        around = {
            "source": opened.source,
            "microphone": " then ".join(self._devices["input"]) or "none",
            "speaker": " then ".join(self._devices["output"]) or "none",
        }
        return SetUp(chosen | _configuration(opened, used) | around, used)


def _configuration(opened: SessionOpened, used: tuple[str, ...]) -> dict[str, str]:
    """The configuration by dotted keys: of the tiers only those used, of the rules only what no other key says."""
    tables = {name: value for name, value in opened.config.items() if name not in ("tiers", "policy")}
    found = dict(_flat(tables, ""))
    tiers = opened.config.get("tiers")
    for tier in tiers if isinstance(tiers, list) else []:
        if isinstance(tier, Mapping) and tier.get("name") in used:
            found |= dict(_flat({key: value for key, value in tier.items() if key != "name"}, f"tiers.{tier['name']}."))
    said = {key.rpartition(".")[2] for key in found}
    policy = opened.config.get("policy")
    rules = dict(_flat(policy, "policy.")) if isinstance(policy, Mapping) else {}
    found |= {key: value for key, value in rules.items() if key.rpartition(".")[2] not in said}
    return {key: value for key, value in found.items() if not key.startswith(_TOLD_APART)}


def _flat(table: Mapping[str, object], before: str) -> Iterator[tuple[str, str]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", _text(value)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value)) or "none"
    return "none" if value is None else str(value)

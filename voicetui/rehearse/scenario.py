"""A conversation's script: who says what, when. TOML."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec

from voicetui.toml_text import TomlError, convert, read_toml

Wait = Annotated[float, msgspec.Meta(ge=0, le=120_000)]


class ScenarioError(Exception):
    """A scenario cannot be used; ``str(error)`` names file, key, what was found and what is allowed."""


class Line(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One thing the person says.

    ``say`` lists clips (file names) and pauses inside (ms).  ``when`` "idle": ``after_ms`` after everything said
    before is answered or dropped.  ``when`` "reply": ``after_ms`` after the first audible sample of the next reply,
    so over it.
    """

    say: Annotated[tuple[str | Wait, ...], msgspec.Meta(min_length=1)]
    when: Literal["idle", "reply"] = "idle"
    after_ms: Wait = 600.0
    text: str = ""
    """What the clips say, for people and tests."""
    reply: str = ""
    """The ready-made answer to it, for when the gap is staged."""
    note: str = ""
    """What this line is here to show."""


class Scenario(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A script. ``patience_ms`` after a line's last sound, and the person asks ``impatient`` once (null: never)."""

    title: str
    lines: tuple[Line, ...]
    impatient: tuple[str | Wait, ...] = ()
    patience_ms: Wait = 1500.0
    give_up_ms: Wait = 15_000.0
    """After this long without an answer, the person goes on with the next line."""


def load_scenario(path: Path) -> Scenario:
    """Read a scenario; its clips' names become paths beside it. Raises ``ScenarioError``."""
    try:
        scenario = convert(read_toml(path), Scenario, str(path))
    except FileNotFoundError as error:
        raise ScenarioError(f"{path}: there is no such file. Give a WAV, a FLAC or a scenario (TOML).") from error
    except TomlError as error:
        raise ScenarioError(f"{error}") from error
    if not scenario.lines:
        raise ScenarioError(f'{path}: lines is empty. A scenario needs at least one [[lines]] with say = ["clip.wav"].')
    beside = path.resolve().parent

    def located(say: tuple[str | float, ...]) -> tuple[str | float, ...]:
        return tuple(str(beside / each) if isinstance(each, str) else each for each in say)

    lines = tuple(msgspec.structs.replace(line, say=located(line.say)) for line in scenario.lines)
    return msgspec.structs.replace(scenario, lines=lines, impatient=located(scenario.impatient))


def of_files(paths: list[Path]) -> Scenario:
    """The script of a person who says each file in turn."""
    return Scenario(title="files", lines=tuple(Line(say=(str(path),)) for path in paths))


def clips(scenario: Scenario) -> list[str]:
    """Every clip's path, once."""
    says = [*(line.say for line in scenario.lines), scenario.impatient]
    return list(dict.fromkeys(each for say in says for each in say if isinstance(each, str)))

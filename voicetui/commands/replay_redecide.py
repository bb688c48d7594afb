"""Today's rules decide the recording again, without models; show which orders differ.

Exit status 0: every order is the recorded one. 1: some differ, or the session cannot be decided again. 2: called wrong.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voicetui.talk import say

if TYPE_CHECKING:
    from voicetui.conversation.policy import Policy
    from voicetui.journal.recorded import Recorded

_SESSION_FLAGS = ("tier", "overlap")
_TABLES = ("conversation", "audio", "listen", "endpoint", "speak", "knowledge")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Deciding again takes nothing of its own: ``--set`` and ``--json`` are shared."""


def command(arguments: argparse.Namespace) -> int:
    """Decide again and show; the exit status. Raises ``RecordedError``."""
    from voicetui.config import load_config, recordings_folder
    from voicetui.journal.recorded import find_session, open_recorded
    from voicetui.rehearse.redecide.settings import SettingError, UnknownSetting, changes_of

    json_file = Path(arguments.json) if arguments.json else None
    recorded = open_recorded(find_session(arguments.session, recordings_folder(load_config(arguments.config)[0])))
    policy = _policy(recorded)
    try:
        changes = changes_of(arguments.set or [], policy, configured())
    except UnknownSetting as error:
        print(f"voicetui: {_needs_rerun(error.key, arguments) or error}", file=sys.stderr)
        return 2
    except SettingError as error:
        print(f"voicetui: {error}", file=sys.stderr)
        return 2
    return _decide(recorded, policy, changes, json_file)


def configured() -> dict[str, str]:
    """Keys of the configuration that are numbers of the rules, each with its name among those."""
    from voicetui.config import Config
    from voicetui.rehearse.redecide.settings import fields

    known = fields()
    tables = {table: getattr(Config(), table).__struct_fields__ for table in _TABLES}
    same = {f"{table}.{name}": name for table, names in tables.items() for name in names if name in known}
    return {**same, "endpoint.policy": "turn_end", "knowledge.passages": "knowledge_passages"}


def _policy(recorded: Recorded) -> Policy:
    """The numbers of the recorded rules. Raises ``RecordedError`` where nothing can be decided again."""
    import msgspec

    from voicetui.events.orders import IMPORTED
    from voicetui.journal.recorded import RecordedError
    from voicetui.rehearse.redecide.session import NoBeginning, recorded_policy
    from voicetui.rehearse.redecide.settings import SettingError, check_recorded

    if recorded.opened is not None and recorded.opened.source == IMPORTED:
        raise RecordedError(
            f"{recorded.name} was imported: no rules decided in it, so there is nothing to decide again. "
            f"`voicetui replay {recorded.name} --rerun` holds it with this program."
        )
    try:
        policy = recorded_policy(recorded.entries)
        check_recorded(policy)
        return policy
    except NoBeginning as error:
        raise RecordedError(
            f"{recorded.folder / 'journal.jsonl'} has lost how the session began, so nothing in it can be decided "
            f"again. `voicetui replay {recorded.name}` shows what is left."
        ) from error
    except msgspec.ValidationError as error:
        raise RecordedError(
            f"The rules' numbers in {recorded.folder / 'journal.jsonl'} are none of this version: {error}. "
            "Decide it again with the version that recorded it."
        ) from error
    except SettingError as error:
        raise RecordedError(
            f"The rules' numbers in {recorded.folder / 'journal.jsonl'} cannot be: {error}. The journal is damaged; "
            f"`voicetui replay {recorded.name}` shows what is left."
        ) from error


def _decide(recorded: Recorded, policy: Policy, changes: dict[str, object], json_file: Path | None) -> int:
    from voicetui import __version__
    from voicetui.commands.compare_text import show_rows
    from voicetui.commands.redecide_text import redecided_rows, summary_text
    from voicetui.rehearse.redecide.as_json import redecided_json
    from voicetui.rehearse.redecide.changes import differs, turns_of
    from voicetui.rehearse.redecide.session import redecide

    opened = recorded.opened
    program = opened.program if opened is not None else ""
    say(_what_is_done(recorded, policy, changes, program, __version__))
    turns = turns_of(redecide(recorded.entries, changes))
    for problem in recorded.problems:
        say(problem.told)
    if recorded.written:
        say("It is still being written: it is decided again as far as it has come.")
    if recorded.redactions:
        say("Texts were taken out of it: what depended on them is decided otherwise now.")
    elif any(turn.by_rules for turn in turns):
        say(
            "With the recorded settings, too, today's rules give other orders than the recorded ones: they have "
            "changed since. Each turn starts from what the recorded orders imply, as far as they tell."
        )
    cells = max(80, min(shutil.get_terminal_size((160, 24)).columns, 200))
    show_rows(redecided_rows(turns, cells, bool(changes)), sys.stdout, cells)
    if any(turn.moved_answers for turn in turns):
        say("Words asked for at another time are taken to come as long after as they did.")
    say(summary_text(turns))
    if json_file is not None and not _write(
        redecided_json(recorded.name, program, __version__, policy, changes, turns), json_file
    ):
        return 1
    return 1 if differs(turns) else 0


def _what_is_done(recorded: Recorded, policy: Policy, changes: dict[str, object], program: str, now: str) -> str:
    by = f" (recorded by {program})" if program else ""
    told = ", ".join(
        f"{name} {_plain(value)} instead of {_plain(getattr(policy, name))}" for name, value in changes.items()
    )
    return f"{recorded.name}{by}, decided again by voicetui {now}{f', with {told}' if told else ''}:"


def _plain(value: object) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple):
        return ",".join(map(_plain, value)) or "none"
    return {True: "true", False: "false"}.get(value, str(value)) if isinstance(value, bool) else repr(value)


def _needs_rerun(key: str, arguments: argparse.Namespace) -> str:
    """What to type for a setting that only a re-run can change; "" where nothing has such a name."""
    import msgspec

    from voicetui.config import Config

    value = next(each.partition("=")[2] for each in arguments.set if each.partition("=")[0].strip() == key)
    if key in _SESSION_FLAGS:
        option = f"--{key} {value}"
    else:
        tables = msgspec.to_builtins(Config())
        places = [f"{table}.{name}" for table in _TABLES for name in tables[table]]
        meant = [place for place in places if key in (place, place.partition(".")[2])]
        if not meant and not key.startswith("tiers."):
            return ""
        if len(meant) > 1:
            return f"{key} may be {' or '.join(meant)}. Name one; either needs a re-run (--rerun), not --redecide."
        option = f"--set {meant[0] if meant else key}={value}"
    return (
        f"{key} changes what is heard or answered, which no rule can tell from a recording. Run it again instead: "
        f"voicetui replay {arguments.session} --rerun {option}"
    )


def _write(found: dict[str, Any], json_file: Path) -> bool:
    import msgspec

    try:
        json_file.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n")
    except OSError as error:
        print(f"voicetui: {json_file}: {error.strerror or error}. Name another file.", file=sys.stderr)
        return False
    return True

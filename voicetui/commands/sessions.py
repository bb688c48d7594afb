"""List the recorded sessions, tag them, throw them away, check them.

`voicetui sessions` alone lists; each of `ACTIONS` does something else.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from voicetui.journal.sift import Order, Wanted


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What listing takes, and the other actions."""
    _add_list(parser)
    actions = parser.add_subparsers(title="actions", metavar="ACTION")
    for name, run, add in ACTIONS:
        sub = actions.add_parser(
            name,
            help=(run.__doc__ or "").rstrip("."),
            description=run.__doc__,
            argument_default=argparse.SUPPRESS,  # what stands before the action counts too
        )
        sub.add_argument("--config", metavar="FILE", help="configuration (TOML) instead of the one that would be found")
        add(sub)
        sub.set_defaults(action=run)


def command(arguments: argparse.Namespace) -> int:
    """Do what was asked; the exit status."""
    from voicetui.config import load_config, recordings_folder

    recordings = recordings_folder(load_config(arguments.config)[0])
    action: Callable[[argparse.Namespace, Path], int] = getattr(arguments, "action", _list)
    return action(arguments, recordings)


# ---- listing


def _add_list(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--since", type=_since, metavar="D", help="begun then or later: 2026-11-30 (UTC), or 7d, 12h")
    parser.add_argument("--until", type=_until, metavar="D", help="begun then or earlier")
    parser.add_argument("--tier", metavar="T", help="in which this tier answered")
    parser.add_argument("--worst-gap-over", type=float, metavar="MS", help="whose worst real gap is longer")
    parser.add_argument("--faults", action="store_true", help="in which something failed")
    parser.add_argument("--tag", metavar="T", help="that have this tag")
    parser.add_argument(
        "--sort", choices=("date", "gap", "length", "size"), help="newest (default), worst, longest or largest first"
    )
    parser.add_argument("--screen", action="store_true", help="as a screen: sort, filter, tag, throw away, open")
    parser.add_argument("--json", metavar="FILE", help='write the list there too ("-": on standard output instead)')


def _list(arguments: argparse.Namespace, recordings: Path) -> int:
    """List the recorded sessions."""
    from voicetui.journal.listing import cache_file, list_sessions, size_on_disk
    from voicetui.journal.shelf import trash_of, trashed
    from voicetui.journal.sift import in_order
    from voicetui.journal.target import target_refused
    from voicetui.tui.session_columns import megabytes, table

    wanted, order = _wanted(arguments), _order(arguments)
    json_file = getattr(arguments, "json", None)
    wrong = target_refused(Path(json_file)) if json_file not in (None, "-") else ""
    if wrong:
        print(f"voicetui: {wrong}", file=sys.stderr)
        return 2
    if getattr(arguments, "screen", False):
        from voicetui.commands.sessions_screen import show

        return show(recordings, wanted, order, arguments.config)
    everything = list_sessions(recordings, cache_file(), _progress)
    rows = in_order(filter(wanted.has, everything), order)
    if json_file is not None and not _write_json(rows, json_file):
        return 1
    if rows and json_file != "-":
        cells = os.get_terminal_size().columns if sys.stdout.isatty() else None
        columns = table(rows, cells)
        print("\n".join((columns.heading, *columns.lines)))
        if columns.left_out:
            print(
                f"No room for: {', '.join(columns.left_out)}. Piped, or with --json, they are there.", file=sys.stderr
            )
    thrown_away = trashed(recordings)
    in_trash = (
        f"; {len(thrown_away)} in the trash, {megabytes(size_on_disk(trash_of(recordings)))}" if thrown_away else ""
    )
    shown = "" if len(rows) == len(everything) else f"{len(rows)} of "
    size = megabytes(sum(row.size_bytes for row in everything))
    print(
        f"{shown}{len(everything)} sessions in {recordings}, {size}{in_trash if thrown_away else ''}", file=sys.stderr
    )
    if not everything:
        print("`voicetui demo` makes one.", file=sys.stderr)
    return 0


def _wanted(arguments: argparse.Namespace) -> Wanted:
    from voicetui.journal.sift import Wanted

    return Wanted(
        since=getattr(arguments, "since", None),
        until=getattr(arguments, "until", None),
        tier=getattr(arguments, "tier", None),
        gap_over_ms=getattr(arguments, "worst_gap_over", None),
        faults=getattr(arguments, "faults", False),
        tag=getattr(arguments, "tag", None),
    )


def _order(arguments: argparse.Namespace) -> Order:
    order: Order = getattr(arguments, "sort", None) or "date"
    return order


def _write_json(rows: object, name: str) -> bool:
    import msgspec

    text = msgspec.json.format(msgspec.json.encode(rows), indent=1) + b"\n"
    if name == "-":
        sys.stdout.write(text.decode())
        return True
    try:
        Path(name).write_bytes(text)
    except OSError as error:
        print(f"voicetui: {name}: {error.strerror or error}. Name another file.", file=sys.stderr)
        return False
    return True


def _progress(done: int, of: int) -> None:
    """Only reading many for the first time takes long enough to be told."""
    if of >= 20 and sys.stderr.isatty():
        print(f"\rreading session {done} of {of}" if done < of else "\r\x1b[K", end="", file=sys.stderr, flush=True)


def _since(text: str) -> datetime:
    return _instant(text, end=False)


def _until(text: str) -> datetime:
    return _instant(text, end=True)


def _instant(text: str, end: bool) -> datetime:
    from voicetui.journal.sift import instant
    from voicetui.runtime.clock import wall_utc

    try:
        return instant(text, wall_utc(), end)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


# ---- the other actions


def _add_names(parser: argparse.ArgumentParser, many: bool = True) -> None:
    what = 'its folder, its name or the beginning of that, or "latest" for the newest'
    if many:
        parser.add_argument("sessions", nargs="+", metavar="SESSION", help=what)
    else:
        parser.add_argument("session", metavar="SESSION", help=what)


def _add_tag(parser: argparse.ArgumentParser) -> None:
    _add_names(parser, many=False)
    parser.add_argument("tags", nargs="+", metavar="TAG", help="words without spaces")
    parser.add_argument("--remove", action="store_true", default=False, help="take them away instead")


def _tag(arguments: argparse.Namespace, recordings: Path) -> int:
    """Give a session tags, or take them away."""
    from voicetui.journal.recorded import find_session
    from voicetui.journal.shelf import change_tags

    folder = find_session(arguments.session, recordings)
    add, remove = ((), arguments.tags) if arguments.remove else (arguments.tags, ())
    tags = change_tags(folder, add, remove)
    print(f"{folder.name}: {' '.join(tags) or 'no tags'}")
    return 0


def _delete(arguments: argparse.Namespace, recordings: Path) -> int:
    """Move sessions to the trash."""
    from voicetui.journal.recorded import find_session
    from voicetui.journal.shelf import trash_session

    folders = [find_session(called, recordings) for called in arguments.sessions]
    for folder in dict.fromkeys(folders):
        trash_session(folder, recordings)
        print(folder.name)
    print("In the trash: `voicetui sessions restore` brings them back, `empty-trash` deletes them.", file=sys.stderr)
    return 0


def _restore(arguments: argparse.Namespace, recordings: Path) -> int:
    """Bring sessions back from the trash."""
    from voicetui.journal.shelf import restore_session

    for called in arguments.sessions:
        print(restore_session(called, recordings).name)
    return 0


def _add_yes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--yes", action="store_true", default=False, help="do not ask")


def _empty_trash(arguments: argparse.Namespace, recordings: Path) -> int:
    """Delete what is in the trash, for good."""
    from voicetui.journal.listing import size_on_disk
    from voicetui.journal.shelf import empty_trash, trash_of, trashed
    from voicetui.tui.session_columns import megabytes

    folders = trashed(recordings)
    if not folders and not trash_of(recordings).is_dir():
        print("The trash is empty.", file=sys.stderr)
        return 0
    for folder in folders:
        print(folder.name)
    size = megabytes(size_on_disk(trash_of(recordings)))
    if not _sure(arguments, f"Delete these {len(folders)} sessions, {size}, for good?"):
        return 2
    print(f"{empty_trash(recordings)} sessions deleted, {size}", file=sys.stderr)
    return 0


def _add_keep(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--keep", type=_count, default=None, metavar="N", help="keep the newest N")
    parser.add_argument("--keep-days", type=_days, default=None, metavar="D", help="keep none that is older")
    _add_yes(parser)


def _keep(arguments: argparse.Namespace, recordings: Path) -> int:
    """Move old sessions to the trash; never one with a tag, or one that is being written."""
    from voicetui.journal.shelf import clear_away, outlived
    from voicetui.runtime.clock import wall_utc

    if arguments.keep is None and arguments.keep_days is None:
        print("voicetui: say what to keep: --keep N, --keep-days D, or both.", file=sys.stderr)
        return 2
    folders = outlived(recordings, arguments.keep, arguments.keep_days, wall_utc())
    if not folders:
        print("Nothing has to go.", file=sys.stderr)
        return 0
    for folder in folders:
        print(folder.name)
    if not _sure(arguments, f"Move these {len(folders)} sessions to the trash?"):
        return 2
    moved = clear_away(folders, recordings)
    print(f"{len(moved)} sessions moved to the trash; `voicetui sessions restore` brings them back", file=sys.stderr)
    return 0 if len(moved) == len(folders) else 1


def _check(arguments: argparse.Namespace, recordings: Path) -> int:
    """Name all that is wrong with a session, journal and tracks; exit status 1 if there is anything."""
    from voicetui.journal.recorded import find_session, open_recorded
    from voicetui.tui.literal import literal

    recorded = open_recorded(find_session(arguments.session, recordings))
    for problem in recorded.problems:
        print(literal(problem.told))
    for redaction in recorded.redactions:
        print(f"{recorded.name} was redacted on {literal(redaction.at_utc)}", file=sys.stderr)
    state = "is being written" if recorded.written else "checked"
    many = f"{len(recorded.problems)} problems" if recorded.problems else "nothing is wrong"
    print(f"{recorded.name} {state}: {len(recorded.entries)} entries, {many}", file=sys.stderr)
    return 1 if recorded.problems else 0


def _sure(arguments: argparse.Namespace, question: str) -> bool:
    if arguments.yes:
        return True
    if not sys.stdin.isatty():
        print(f"voicetui: {question} Nothing was done: say --yes.", file=sys.stderr)
        return False
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().casefold() in ("y", "yes"):
        return True
    print("Nothing was done.", file=sys.stderr)
    return False


def _count(text: str) -> int:
    if not text.isdecimal() or len(text) > 9:
        raise argparse.ArgumentTypeError(f"found {text!r}; allowed: a number of sessions, 0 or more")
    return int(text)


def _days(text: str) -> float:
    try:
        days = float(text)
    except ValueError:
        days = -1.0
    if not 0 <= days <= 36_500:
        raise argparse.ArgumentTypeError(f"found {text!r}; allowed: a number of days, 0 or more")
    return days


ACTIONS: tuple[
    tuple[str, Callable[[argparse.Namespace, Path], int], Callable[[argparse.ArgumentParser], None]], ...
] = (
    ("list", _list, _add_list),
    ("tag", _tag, _add_tag),
    ("delete", _delete, _add_names),
    ("restore", _restore, _add_names),
    ("empty-trash", _empty_trash, _add_yes),
    ("keep", _keep, _add_keep),
    ("check", _check, lambda parser: _add_names(parser, many=False)),
)
"""Name, function and arguments of each; the function's docstring is its help."""

"""A session without a screen: one line for each turn, and the summary as JSON."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TextIO

from voicetui.config import Config
from voicetui.duplex import duplex_text
from voicetui.events import Entry
from voicetui.events.orders import IMPORTED, EndTurn, Reject
from voicetui.events.session import NOT_STARTED, Fault, Ready, SessionOpened, StopAsked
from voicetui.events.sound import DeviceLost, DeviceOpened
from voicetui.keeping import keep_house
from voicetui.runtime.clock import SystemClock
from voicetui.runtime.heap import settled
from voicetui.runtime.log import native_chatter_to
from voicetui.streams import system_text
from voicetui.views.summary import summarise
from voicetui.wiring import Choice, Wired, converse, wire


class Teller:
    """Prints what happens: turns on ``out``, talk on ``talk``."""

    def __init__(
        self,
        entries_since: Callable[[int], Sequence[Entry]],
        out: TextIO,
        talk: TextIO,
        summary: Callable[[], dict[str, Any]] | None = None,
        unheard: Callable[[OSError], None] | None = None,
    ) -> None:
        """``summary`` is asked for at the end of every turn; without it what came so far is summed up.

        ``unheard`` is told once that ``out`` takes nothing more; without it the error is raised.
        """
        self._entries_since = entries_since
        self._out: TextIO | None = out
        self._talk = talk
        self._summary = summary or (lambda: summarise(entries_since(0)))
        self._unheard = unheard
        self._told = 0

    def tell(self) -> None:
        """Print what the journal got since the last call."""
        entries = self._entries_since(self._told)
        self._told += len(entries)
        for entry in entries:
            self._one(entry)

    def _one(self, entry: Entry) -> None:
        match entry.body:
            case SessionOpened(tier=tier, overlap=overlap, duplex=duplex, echo=echo):
                self._say(f"tier {tier}, overlap {overlap}, {duplex_text(duplex, echo)}")
            case DeviceOpened(role=role, name=name, rate_hz=rate_hz, clock=clock):
                silent = "  (nothing will be heard)" if role == "output" and clock == "paced" else ""
                self._say(f"{role}: {name} at {rate_hz} Hz{silent}")
            case Ready():
                self._say(f"ready after {entry.at / 1e3:.1f} s")
            case Fault(stage=stage, message=message, remedy=remedy):
                end = "" if not remedy or message.rstrip().endswith((".", "!", "?", ":")) else "."
                self._say(" ".join(f"fault ({stage}): {message}{end} {remedy}".split()))
            case DeviceLost(role=role, name=name, reason=reason):
                self._say(f"lost ({role}): {name}: {reason}")
            case Reject(reason=reason, text=text):
                self._say(f"not a turn ({reason}){f': {text}' if text else ''}")
            case EndTurn(turn=turn):
                self._turn(turn)
            case _:
                pass

    def _turn(self, number: int) -> None:
        summary = self._summary()
        turn = next((turn for turn in summary["turns"] if turn["turn"] == number), None)
        if turn is None:
            return
        gap = "no gap" if turn["gap_ms"] is None else f"gap {turn['gap_ms']:.0f} ms"
        mark = " (simulated)" if summary["simulated"] else ""
        if turn["staged"]:
            gap, mark = f"staged {gap}" if turn["gap_ms"] is not None else "staged gap, not heard", ""
        heard = turn["heard_text"].strip() or "(nothing heard)"
        words = f"{turn['user_text']!r} -> {heard!r}" if summary["tier"] != IMPORTED else "(words not known)"
        self._print(f"turn {number}  {gap}{mark}  {turn['outcome']}  {words}{_drafts(turn)}")

    def _print(self, line: str) -> None:
        if self._out is None:
            return
        try:
            print(line, file=self._out, flush=True)
        except OSError as error:
            if self._unheard is None:
                raise
            self._out = None
            self._unheard(error)

    def _say(self, text: str) -> None:
        """One line; what a journal from elsewhere may hold must not steer the terminal."""
        print("".join(each if each.isprintable() else " " for each in text), file=self._talk, flush=True)


def _drafts(turn: dict[str, Any]) -> str:
    """What became of the work begun before the turn was over."""
    made = turn["speculation"]
    if not made["attempts"] or turn["outcome"] == "failed":
        return ""
    kept = f"draft kept, {made['saved_ms']:.0f} ms saved" if made["kept"] else f"{made['attempts']} drafts dropped"
    wasted = f", {made['wasted_tokens']} tokens wasted" if made["wasted_tokens"] else ""
    return f"  ({kept}{wasted})"


async def run_headless(
    config: Config, choice: Choice, *, seconds: float | None, json_file: Path | None, refused: Sequence[str] = ()
) -> int:
    """Converse until the source ends, ``seconds`` are over or a signal comes; the exit status.

    ``refused`` are messages about inputs that could not be used: they are journalled as faults and make the status 1.
    """
    if choice.record:
        keep_house(config)
    return await hold(wire(config, choice, SystemClock()), seconds=seconds, json_file=json_file, refused=refused)


async def hold(
    wired: Wired,
    *,
    seconds: float | None = None,
    json_file: Path | None = None,
    refused: Sequence[str] = (),
    completed: Callable[[dict[str, Any]], dict[str, Any]] = lambda summary: summary,
) -> int:
    """``run_headless`` for a session that is wired already.

    ``completed`` gets the summary when the session is over, and returns it as it is to be written.
    """
    if wired.folder is not None:
        print(f"Recording this session in {wired.folder} (--no-record turns that off).", file=sys.stderr)
    with settled(), native_chatter_to(wired.folder / "log.txt" if wired.folder is not None else None):
        told = await _converse_aloud(wired, seconds, refused)
        return _finish(wired, json_file, bool(refused) or not told, completed)


async def _converse_aloud(wired: Wired, seconds: float | None, refused: Sequence[str]) -> bool:
    """Whether every turn could be told on standard output."""
    session = wired.session
    lost: list[OSError] = []

    def unheard(error: OSError) -> None:
        lost.append(error)
        if isinstance(error, BrokenPipeError):
            print("voicetui: nobody reads standard output any more, so the session ends.", file=sys.stderr)
            session.post(StopAsked("signal"))
        else:
            print(f"voicetui: {system_text(error)} The session goes on, its turns are not told.", file=sys.stderr)

    teller = Teller(wired.journal.entries_since, sys.stdout, sys.stderr, unheard=unheard)
    feed_person = session.on_entries

    def told() -> None:
        feed_person()
        teller.tell()

    session.on_entries = told
    for message in refused:
        session.post(Fault("input", message))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, lambda: session.post(StopAsked("signal")))
    timer = asyncio.create_task(_stop_after(wired, seconds)) if seconds is not None else None
    try:
        await converse(wired)
    finally:
        if timer is not None:
            timer.cancel()
    return not lost


async def _stop_after(wired: Wired, seconds: float) -> None:
    await wired.clock.sleep_until(wired.clock.now_ms() + seconds * 1e3)
    wired.session.post(StopAsked("seconds"))


def _finish(
    wired: Wired, json_file: Path | None, refused: bool, completed: Callable[[dict[str, Any]], dict[str, Any]]
) -> int:
    summary = summarise(wired.journal.entries_since(0))
    lag = wired.session.lag.quantile_ms(0.99)
    tell_figures(summary, sys.stderr)
    if lag is not None:
        print(f"engine loop lag p99 {lag:.1f} ms", file=sys.stderr)
    summary = completed(summary)
    if json_file is not None:
        write_summary(summary, json_file)
    return 1 if refused or _failed(wired.journal.entries_since(0)) else 0


def _failed(entries: Sequence[Entry]) -> bool:
    """Whether something was asked of the session that it could not do: hear, answer, or record."""
    for entry in entries:
        match entry.body:
            case DeviceLost() | Fault(stage="record") | EndTurn(outcome="failed") | Reject(reason="failed"):
                return True
            case StopAsked(why=why) if why == NOT_STARTED:
                return True
    return False


def tell_figures(summary: dict[str, Any], talk: TextIO) -> None:
    """Print what all turns say together."""
    for name, gap in (("gap", summary["gap_ms"]), ("staged gap", summary["staged_gap_ms"])):
        if gap is not None and gap["n"]:
            before = "staged_" if name == "staged gap" else ""
            median = f"median {name} {gap['p50']:.0f} ms, max {gap['max']:.0f} ms, n = {gap['n']}"
            cut_offs = "not known" if summary["tier"] == IMPORTED else summary[before + "cut_offs"]
            counts = f"cut-offs {cut_offs}, collisions {summary[before + 'collisions']}"
            print(f"{median}, {counts}", file=talk)
    outcomes = [turn["outcome"] for turn in summary["turns"]]
    if failed := outcomes.count("failed"):
        print(f"turns that failed: {failed} of {len(outcomes)}; the reasons are told where they came up", file=talk)
    if not outcomes and not summary["rejected"]:
        print("no speech was heard, so there was nothing to answer", file=talk)
    if summary["ledger"]["turns"]:
        print(summary["ledger"]["verdict"], file=talk)


def write_summary(summary: dict[str, Any], json_file: Path) -> None:
    """Write the summary as JSON. Raises ``OSError``."""
    json_file.write_text(json.dumps(summary, indent=1, ensure_ascii=False, allow_nan=False) + "\n", "utf-8")

"""The recorded microphone goes through the live pipeline again, in real time, and makes a new session."""

from __future__ import annotations

import argparse
import asyncio
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from voicetui.talk import say

if TYPE_CHECKING:
    from voicetui.config import Config
    from voicetui.events.session import SessionOpened
    from voicetui.journal.recorded import Recorded
    from voicetui.ports import Pcm16
    from voicetui.rehearse.again import Again
    from voicetui.rehearse.rerun import Plan
    from voicetui.wiring import Choice, Wired

_IMPORTED = "imported"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What a re-run takes, besides ``--set`` and ``--json``."""
    from voicetui.cli import add_gap

    group = parser.add_argument_group("with --rerun")
    group.add_argument("--tier", metavar="T", default=None, help="the tier to answer (default: the session's)")
    group.add_argument(
        "--overlap", choices=("none", "clause", "full"), default=None, help="how the stages overlap (default: as there)"
    )
    group.add_argument(
        "--pace",
        choices=("turn", "tape"),
        default=None,
        help="turn (default): say everything when the reply before it is over, as far after it as there; "
        "tape: play the track",
    )
    add_gap(group)
    group.add_argument("--no-record", action="store_true", default=False, help="keep nothing on disk")
    group.add_argument("--speaker", action="store_true", default=False, help="play both sides on the real speaker")


def command(arguments: argparse.Namespace) -> int:
    """Hold the conversation again; the exit status."""
    from voicetui.config import load_config, recordings_folder
    from voicetui.journal.recorded import find_session, open_recorded
    from voicetui.progress import pull_missing
    from voicetui.rehearse.tape import recorded_track

    arguments.pace = arguments.pace or "turn"
    json_file = Path(arguments.json) if arguments.json else None
    found = load_config(arguments.config)[0]
    recorded = open_recorded(find_session(arguments.session, recordings_folder(found)))
    config = _config(found, recorded, arguments)
    track = recorded_track(recorded, say)
    plan = _plan(recorded, track, arguments.pace)
    pull_missing(config)
    choice = _choice(recorded, config, arguments)
    return asyncio.run(_run(recorded, config, choice, track, plan, json_file, arguments))


def _config(found: Config, recorded: Recorded, arguments: argparse.Namespace) -> Config:
    """Today's configuration with the session's tier, overlap mode and turn-end rules, and what was asked for instead.

    Raises ``ConfigError``.
    """
    from voicetui.config import ConfigError
    from voicetui.config_changes import like_recorded, with_settings

    opened = recorded.opened
    settings = arguments.set or []
    config = found
    names = [tier.name for tier in config.tiers]
    if opened is not None:
        chosen = arguments.tier or any(each.partition("=")[0].strip() == "conversation.tier" for each in settings)
        tier = opened.tier if opened.tier in names else config.conversation.tier
        if opened.tier not in names and not chosen and opened.source != _IMPORTED:
            raise ConfigError(
                f"{recorded.name} was held with the tier {opened.tier!r}, which is not configured here. Configure it, "
                f"or name another with --tier: {', '.join(names)}."
            )
        overlap = opened.overlap if opened.source != _IMPORTED else config.conversation.overlap
        conversation = msgspec.structs.replace(config.conversation, tier=tier, overlap=overlap)
        config = msgspec.structs.replace(config, conversation=conversation)
        config = like_recorded(config, opened.config, "endpoint")
    config = with_settings(config, settings)
    if arguments.tier is not None and arguments.tier not in names:
        raise ConfigError(f"There is no tier {arguments.tier!r}. Allowed: {', '.join(names)}.")
    return config


def _choice(recorded: Recorded, config: Config, arguments: argparse.Namespace) -> Choice:
    """A session answered like the recorded one. What was changed there by the way is not changed again."""
    from voicetui.conversation.policy import Policy
    from voicetui.rehearse.scenario import Scenario
    from voicetui.wiring import Choice

    opened = recorded.opened
    there: dict[str, Any] = dict(opened.config) if opened is not None else {}
    policy = there.get("policy")
    exchanges = policy.get("history_exchanges") if isinstance(policy, dict) else None
    return Choice(
        "rerun",
        arguments.tier or config.conversation.tier,
        arguments.overlap or config.conversation.overlap,
        True,
        "device" if arguments.speaker else "null",
        record=not arguments.no_record,
        scenario=Scenario(title="rerun", lines=()),
        max_tokens=_longest_reply(opened),
        gaps_ms=arguments.gap,
        aloud=arguments.speaker,
        history_exchanges=exchanges if exchanges != Policy().history_exchanges else None,
        parent=opened.session if opened is not None and opened.session else recorded.name,
    )


def _longest_reply(opened: SessionOpened | None) -> int | None:
    """How many tokens the session's tier might answer with: more would be another conversation."""
    tiers = opened.config.get("tiers") if opened is not None else None
    for tier in tiers if isinstance(tiers, list | tuple) else ():
        if opened is not None and isinstance(tier, dict) and tier.get("name") == opened.tier:
            tokens = tier.get("max_tokens")
            return tokens if isinstance(tokens, int) and tokens > 0 else None
    return None


def _plan(recorded: Recorded, track: Pcm16, pace: str) -> Plan:
    """The person's part. Raises ``RecordedError`` where there is none."""
    from voicetui.journal.recorded import RecordedError
    from voicetui.rehearse.rerun import plan

    made = plan(recorded.entries, len(track))
    if pace == "turn" and not made.pieces:
        sound = "--pace tape plays its track all the same" if len(track) and abs(track).max() > 0 else "it is silent"
        raise RecordedError(f"Nobody says or types anything in {recorded.name}: {sound}.")
    if pace == "tape" and not len(track) and not made.acts:
        raise RecordedError(f"{recorded.name} is empty: its user.wav holds no sound, and nothing is typed.")
    spoken = [piece for piece in made.pieces if piece.spoken]
    silent = sum(not track[piece.start_sample : piece.end_sample].any() for piece in spoken)
    why = " (sound was taken out of it)" if any(each.sounds for each in recorded.redactions) else ""
    if silent and silent == len(made.pieces):
        raise RecordedError(f"All that was said in {recorded.name} is silent in its user.wav{why}.")
    if silent:
        say(f"{silent} of {len(spoken)} pieces of speech are silent in its user.wav{why}.")
    return made


def _wire(config: Config, choice: Choice, track: Pcm16, plan: Plan, pace: str) -> tuple[Wired, Again]:
    """The session, with the recorded person in the place of a scripted one."""
    from voicetui.events.sound import RATE_HZ
    from voicetui.rehearse.again import Again, Straight
    from voicetui.rehearse.tape import room_of
    from voicetui.sound.aloud import Mouth
    from voicetui.sound.microphone import FileMicrophone
    from voicetui.wiring import wire

    wired = wire(config, choice)
    margin = RATE_HZ // 2
    taken = [(max(0, start - margin), end + margin) for start, end in plan.taken]
    microphone = FileMicrophone(wired.clock, room=room_of(track, taken), name=choice.source)
    wired.microphone = wired.session.parts.microphone = microphone
    mouth = Mouth(microphone, lambda: wired.session.parts.speaker)
    make = Straight if pace == "tape" else Again
    person = make(plan, track, mouth, wired.watch, wired.clock, wired.session.post)
    wired.person = person
    return wired, person


async def _run(
    recorded: Recorded,
    config: Config,
    choice: Choice,
    track: Pcm16,
    plan: Plan,
    json_file: Path | None,
    arguments: argparse.Namespace,
) -> int:
    from voicetui.headless import hold
    from voicetui.rehearse.outcome import compared
    from voicetui.rehearse.rerun import collided, missed
    from voicetui.views.summary import summarise

    wired, person = _wire(config, choice, track, plan, arguments.pace)
    _tell_plan(recorded, plan, choice, wired, arguments.pace)

    def completed(summary: dict[str, Any]) -> dict[str, Any]:
        entries = wired.journal.entries_since(0)
        done_ms = [ms for ms in person.onsets_ms if ms <= entries[-1].at]
        lost = missed(plan.pieces, done_ms, entries)
        early = collided(plan.pieces, done_ms, entries)
        for told in (*(each.told() for each in lost), *(each.told() for each in early)):
            say(told)
        comparison = compared(summarise(recorded.entries), summary)
        for line in comparison.told(person.finished):
            print(line)
        if wired.folder is not None:
            print(f"new session {wired.folder.name} (voicetui compare {recorded.name} {wired.folder.name} shows more)")
        added = {"parent": choice.parent, "pace": arguments.pace, "complete": person.finished, "missed_barge_ins": lost,
                 "new_barge_ins": early, "comparison": comparison}  # fmt: skip
        return {**summary, **msgspec.to_builtins(added)}

    status = await hold(wired, json_file=json_file, completed=completed)
    if not person.finished:
        say(f"The re-run of {recorded.name} ended before everything was said again.")
        return 1
    return status


def _tell_plan(recorded: Recorded, plan: Plan, choice: Choice, wired: Wired, pace: str) -> None:
    """Say what will be heard, and what is not as it was there."""
    from voicetui.config_changes import differences
    from voicetui.events.session import GapStaged, OverlapChosen, TierChosen
    from voicetui.views.session_state import staged_gaps_of

    what = "its whole track" if pace == "tape" else f"{len(plan.pieces)} pieces of what was said and typed"
    took_s = max((entry.at for entry in recorded.entries if math.isfinite(entry.at)), default=0.0) / 1e3
    say(f"Re-run of {recorded.name}: {what}, in real time; it took {took_s:.0f} s there.")
    opened = recorded.opened
    if opened is None:
        say("Its journal has lost how it began: it is answered with the configuration found here.")
        return
    if opened.source == _IMPORTED:
        say(f"It was imported: tier {choice.tier}, overlap {choice.overlap} answers here.")
    elif opened.tier != choice.tier or opened.overlap != choice.overlap:
        say(f"tier {opened.tier}, overlap {opened.overlap} there; tier {choice.tier}, overlap {choice.overlap} here")
    staged = any(isinstance(entry.body, GapStaged) and entry.body.gaps_ms for entry in recorded.entries)
    if (staged or staged_gaps_of(opened)) and not choice.gaps_ms:
        say("Its gaps were staged; here the real pipeline answers (--gap stages them again).")
    changed = {type(entry.body) for entry in recorded.entries} & {TierChosen, OverlapChosen}
    if changed:
        say(f"It changed its tier or overlap mode on the way; here all of it is {choice.tier}, {choice.overlap}.")
    for problem in recorded.problems:
        say(problem.told)
    now: SessionOpened = wired.session.opened
    for difference in differences(opened.config, now.config, choice.tier or ""):
        say(f"not as there: {difference}")

"""A recorded session decided again by today's rules, turn by turn, perhaps with other numbers. Pure.

Every turn starts from what was known when it began in the recording, so that a turn that is decided otherwise does not
make all later ones differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from voicetui.conversation.decide import decide
from voicetui.conversation.policy import Policy
from voicetui.conversation.staged import quicken
from voicetui.conversation.state import State, Step
from voicetui.events import Entry
from voicetui.events.session import GapStaged, SessionClosed, SessionOpened
from voicetui.rehearse.redecide.decisions import Decision, Episode, decisions_of, episodes_of
from voicetui.rehearse.redecide.episode import EpisodeRun, run_episode, unheard
from voicetui.rehearse.redecide.implied import Implied


class NoBeginning(ValueError):
    """The journal does not say what the session began with, so nothing in it can be decided again."""


class Redecided(msgspec.Struct, frozen=True):
    """One episode decided again. ``run`` is None where every order is the recorded one.

    ``plain`` is the same with the recorded numbers, where today's rules no longer give the recorded orders (else None);
    ``before`` is what was known when it began.
    """

    episode: Episode
    before: State
    run: EpisodeRun | None
    plain: EpisodeRun | None

    @property
    def same_rules(self) -> bool:
        """Whether today's rules with the recorded numbers give the recorded orders."""
        return self.plain is None


def redecide(
    entries: Sequence[Entry], changes: Mapping[str, object] | None = None, every: bool = False
) -> list[Redecided]:
    """Every episode of a session, decided with its recorded policy and ``changes`` to it (fields of ``Policy``).

    ``every``: also those that nothing changes are run on their own.  Raises ``NoBeginning``, and
    ``msgspec.ValidationError`` where the recorded policy is none.
    """
    decisions = decisions_of(entries)
    policy = _policy(decisions)
    torn = not any(isinstance(each.entry.body, SessionClosed) for each in decisions[-1:])
    changed = dict(changes or {})
    implied, staged = Implied(policy, decisions), False
    results, state = [], State()
    for episode in episodes_of(decisions):
        before, last = state, episode.ends_ms is None
        if torn and last:
            episode = _completed(before, episode)
        state, same_rules = _as_recorded(before, episode)
        plain = None if same_rules else run_episode(before, episode)
        run = plain
        if changed or (every and same_rules):
            seed = _with(changed, before, staged)
            with_changes = msgspec.structs.replace(episode, decisions=_opened_with(changed, episode.decisions))
            run = unheard(seed, episode) if _hears_otherwise(seed) else run_episode(seed, with_changes)
        staged = staged or any(isinstance(each.entry.body, GapStaged) for each in episode.decisions)
        implied.follow(episode.decisions)
        if plain is not None and not last:
            state = implied.state(plain.state)
        results.append(Redecided(episode, before, run, plain))
    return results


def recorded_policy(entries: Sequence[Entry]) -> Policy:
    """The policy a session was recorded with. Raises as ``redecide`` does."""
    return _policy(decisions_of(entries))


def _policy(decisions: Sequence[Decision]) -> Policy:
    opened = decisions[0].entry.body if decisions else None
    if not isinstance(opened, SessionOpened):
        raise NoBeginning
    return msgspec.convert(opened.config.get("policy", {}), Policy)


def _hears_otherwise(seed: State) -> bool:
    """Whether the ear would be another with these numbers, so that the recorded pauses are not those it would tell."""
    step = Step(seed, 0.0)
    quicken(step)
    return seed.open and bool(step.orders)


def _as_recorded(state: State, episode: Episode) -> tuple[State, bool]:
    """The state after an episode, and whether it was decided as recorded."""
    same = True
    for decision in episode.decisions:
        state, orders = decide(state, decision.entry)
        same = same and orders == decision.orders
    return state, same


def _completed(state: State, episode: Episode) -> Episode:
    """The last episode of a journal that broke off: what was decided last may not have been written to its end."""
    *whole, last = episode.decisions
    for decision in whole:
        state, _ = decide(state, decision.entry)
    _, orders = decide(state, last.entry)
    if orders[: len(last.orders)] != last.orders:
        return episode
    return msgspec.structs.replace(episode, decisions=(*whole, msgspec.structs.replace(last, orders=orders)))


def _with(changes: dict[str, object], before: State, staged: bool) -> State:
    """What an episode begins with, with other numbers in its policy. ``staged``: gaps were chosen since the opening."""
    seed = msgspec.structs.replace(before, policy=msgspec.structs.replace(before.policy, **changes))
    if "staged_gaps_ms" not in changes or staged:
        return seed
    setting = msgspec.structs.replace(seed.setting, staged_gaps_ms=seed.policy.staged_gaps_ms)
    return msgspec.structs.replace(seed, setting=setting)


def _opened_with(changes: dict[str, object], decisions: tuple[Decision, ...]) -> tuple[Decision, ...]:
    """The session's first decision with other numbers in its policy."""
    opened = decisions[0].entry.body
    if not changes or not isinstance(opened, SessionOpened):
        return decisions
    recorded = opened.config.get("policy", {})
    policy = {**(recorded if isinstance(recorded, dict) else {}), **msgspec.to_builtins(changes)}
    opened = msgspec.structs.replace(opened, config={**opened.config, "policy": policy})
    entry = msgspec.structs.replace(decisions[0].entry, body=opened)
    return (msgspec.structs.replace(decisions[0], entry=entry), *decisions[1:])

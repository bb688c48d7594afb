"""From orders to the stages that carry them out."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeAlias, TypeVar

import anyio

from voicetui.events import Basis, Order
from voicetui.events.listen import Transcribed, TranscribeFailed
from voicetui.events.orders import (
    AssembleContext,
    Cancel,
    ChangeDuplex,
    Cut,
    Duck,
    EndSession,
    EndTurn,
    FinishPlayback,
    GateMic,
    Generate,
    Pause,
    Play,
    PrepareTier,
    Prewarm,
    QuickenEar,
    Resume,
    ScoreTurn,
    ScoreWords,
    Synthesize,
    Transcribe,
    UseDevice,
    WakeAt,
)
from voicetui.events.reply import ContextReady, GenerationFailed
from voicetui.events.session import Fault, Woke
from voicetui.events.speak import Discarded, SynthesisFailed
from voicetui.ports import RATE_HZ, Clock, Microphone, Pcm16, Post, Speaker, StageError, Tier
from voicetui.runtime.assembling import Assembler
from voicetui.runtime.changing import Changing
from voicetui.runtime.hearing import post_edge
from voicetui.runtime.parts import ClauseSound, Parts, Player
from voicetui.runtime.prewarm import Prewarmer
from voicetui.runtime.scoring import Scoring
from voicetui.runtime.speaking import collect_playback, open_speaker
from voicetui.runtime.turn import Scopes

SoundT = TypeVar("SoundT", bound=ClauseSound)
PlayerOrder: TypeAlias = Play | FinishPlayback | Duck | Pause | Resume | Cut
_CLOSE_MS = 750.0
_FADING_MS = 16.0
_REOPENINGS = 3
_log = logging.getLogger(__name__)


class Hands(Generic[SoundT]):
    """Carries out orders. Those that only stand in the journal as decisions need no hands."""

    def __init__(
        self, parts: Parts[SoundT], clock: Clock, post: Post, scopes: Scopes, is_muted: Callable[[], bool]
    ) -> None:
        self.ended = anyio.Event()
        self.player: Player[SoundT] | None = None
        """None while there is no speaker: before the first is open, and while one is taken away for another."""
        self._parked: list[PlayerOrder] = []
        self._parts = parts
        self._clock = clock
        self._post = post
        self._scopes = scopes
        self._replier = parts.make_replier(post)
        self._synthesizer = parts.make_synthesizer(post)
        self._workers = {
            name: parts.make_worker(name, clock)
            for name in ("transcribe", "score", "words", "context", "synthesize", "echo")
        }
        self._scoring = Scoring(self._workers, clock, post, self._broken)
        self._assembler = Assembler(parts.knowledge, self._workers["context"], clock, post)
        self._sounds: dict[tuple[Basis, int], SoundT] = {}
        self._tier_locks = {name: anyio.Lock() for name in parts.tiers}
        self._ready_tiers: set[str] = set()
        self._prewarmer = Prewarmer(parts.tiers, self._ready_tiers, clock, post, scopes.start_free)
        self._newest_request = 0
        self._gated = False
        self._ungated_ms = 0.0
        self._speakers_lost = 0
        self.speaker_lock = anyio.Lock()
        self.changing = Changing(parts, clock, post, self, is_muted)

    def carry_out(self, order: Order) -> None:
        """Start carrying out one order; never waits. What comes of it is posted as facts."""
        match order:
            case WakeAt():
                self._scopes.start_free(lambda: self._wake(order), f"wake {order.why}")
            case Transcribe():
                self._newest_request = order.request
                self._scopes.start_free(lambda: self._transcribe(order), "transcribe")
            case ScoreTurn():
                self._scopes.start_free(lambda: self._scoring.turn(order, self._parts.scorer, self._parts.ear), "score")
            case ScoreWords():
                self._scopes.start_free(lambda: self._scoring.words(order, self._parts.words), "words")
            case AssembleContext():
                self._scopes.start_free(lambda: self._assembler.assemble(order), "context")
            case Prewarm():
                self._prewarmer.start(order)
            case Generate():
                self._prewarmer.stop()
                self._scopes.open(order.basis)
                self._scopes.start(order.basis, lambda: self._generate(order), "generate")
            case Synthesize():
                self._scopes.start(order.basis, lambda: self._synthesize(order), "synthesize")
            case Play() | FinishPlayback() | Duck() | Pause() | Resume() | Cut():
                self._to_player(order)
            case Cancel():
                self._void(order.basis, order.reason)
            case EndTurn():
                self._void(order.basis, order.outcome)
                self._measure_echo(order.turn)
            case PrepareTier():
                self._scopes.start_free(lambda: self._prepare(order.tier), "prepare tier")
            case GateMic():
                self._gate(order.closed)
            case QuickenEar():
                self._parts.ear.quicken(order.on)
            case UseDevice():
                self.changing.use(order)
            case ChangeDuplex() if order.duplex == "half":
                self._post(Fault("echo", order.reason, order.remedy), self._clock.now_ms())
            case EndSession():
                self.ended.set()
            case _:
                pass

    def start_free(self, job: Callable[[], Coroutine[Any, Any, None]], name: str) -> None:
        """Start a task of the session's own."""
        self._scopes.start_free(job, name)

    async def warm(self, tier: str) -> dict[str, float]:
        """Warm every model and the session's tier at the same time; each part's ms.

        What fails is posted as a ``Fault``.
        """
        load_ms: dict[str, float] = {}

        async def one(name: str) -> None:
            started_ms = self._clock.now_ms()
            try:
                if name == "tier":
                    await self._prepare(tier)
                else:
                    await self._workers[name].run(lambda _: self._parts.warm[name]())
            except StageError as error:
                self._post(Fault(name, str(error), error.remedy), self._clock.now_ms())
            except Exception as error:  # whatever a model raises costs that model, not the session
                self._broken(name, error)
            load_ms[name] = round(self._clock.now_ms() - started_ms, 1)

        async with anyio.create_task_group() as group:
            for name in ("tier", *self._parts.warm):
                group.start_soon(one, name)
        return load_ms

    async def close(self) -> None:
        """Void everything that lives, stop the workers and close what is open, within about a second and a half."""
        self._prewarmer.stop()
        for basis in self._scopes.living:
            self._void(basis, "session ended")
        for worker in self._workers.values():
            worker.close()
        parts = self._parts
        with anyio.move_on_after(_CLOSE_MS / 1e3):
            for device in (parts.microphone, parts.speaker):
                await self._close_quietly(device)
            await self._scopes.idle()
        with anyio.move_on_after(_CLOSE_MS / 1e3):
            for tier in parts.tiers.values():
                await self._close_quietly(tier)
        if self.player is not None:
            self.player.close()
            collect_playback(self.player, self._parts)

    async def _wake(self, order: WakeAt) -> None:
        await self._clock.sleep_until(order.due_ms)
        self._post(Woke(order.wake), self._clock.now_ms())

    async def _transcribe(self, order: Transcribe) -> None:
        # A partial begun now would still be running when the pause that seems to come asks for the final words.
        while not order.final and self._parts.ear.fading and order.request == self._newest_request:
            await self._clock.sleep_until(self._clock.now_ms() + _FADING_MS)
        sound, first_sample = self._parts.ear.read(order.start_sample, order.end_sample)

        def job(waited_ms: float) -> None:
            if order.request == self._newest_request:
                fact = self._recognised(order, sound, first_sample, waited_ms)
                self._post(fact, self._clock.now_ms())

        await self._workers["transcribe"].run(job)

    def _recognised(
        self, order: Transcribe, sound: Pcm16, first_sample: int, waited_ms: float
    ) -> Transcribed | TranscribeFailed:
        try:
            return self._parts.transcriber.run(order, sound, first_sample, waited_ms)
        except Exception as error:  # an utterance without an answer would stay open for ever
            self._broken("transcribe", error)
            message = f"the recogniser broke ({type(error).__name__})"
            return TranscribeFailed(order.utterance, order.request, order.final, message)

    async def _generate(self, order: Generate) -> None:
        now_ms = self._clock.now_ms()
        self._post(ContextReady(order.basis, len(order.messages), now_ms), now_ms)
        tier = self._parts.tiers.get(order.tier)
        if tier is None:
            names = ", ".join(self._parts.tiers)
            failed = GenerationFailed(
                order.basis, "connect", f"there is no tier {order.tier!r}", f"Choose one of: {names}."
            )
            self._post(failed, now_ms)
            return
        try:
            await self._prepare(order.tier)
            await self._replier.run(order, tier)
        except StageError as error:
            failed = GenerationFailed(order.basis, error.stage or "connect", str(error), error.remedy)
            self._post(failed, self._clock.now_ms())
        except Exception as error:  # a turn without an answer would never end
            self._broken("generate", error)
            message = f"tier {order.tier!r} stopped for a reason of its own ({type(error).__name__})"
            self._post(GenerationFailed(order.basis, "provider", message), self._clock.now_ms())

    async def _prepare(self, name: str) -> None:
        """Warm a tier once. Raises ``StageError``; the next try starts anew."""
        if name not in self._parts.tiers or name in self._ready_tiers:
            return
        async with self._tier_locks[name]:
            if name not in self._ready_tiers:
                await self._parts.tiers[name].warm()
                self._ready_tiers.add(name)

    async def _synthesize(self, order: Synthesize) -> None:
        def begun(sound: SoundT) -> None:
            if sound.begun is not None and self._scopes.is_living(order.basis):
                self._sounds[order.basis, order.clause] = sound
                self._post(sound.begun, sound.begun_at_ms)

        def job(waited_ms: float) -> SoundT | None:
            if not self._scopes.is_living(order.basis):
                return None
            sound = self._synthesizer.run(order, self._scopes.is_living, waited_ms, begun)
            if sound is not None and sound.begun is None and not self._scopes.is_living(order.basis):
                self._discard(order.basis, sound, "came too late")
                return None
            return sound

        try:
            sound = await self._workers["synthesize"].run(job)
        except Exception as error:  # a turn that waits for a clause for ever would never end
            self._broken("synthesize", error)
            message = f"the voice broke ({type(error).__name__})"
            self._post(SynthesisFailed(order.basis, order.clause, message), self._clock.now_ms())
            return
        if not self._scopes.is_living(order.basis):  # voided while the job's result was on its way here
            late = sound if sound is not None and sound.begun is None else None
            late = late or self._sounds.pop((order.basis, order.clause), None)
            if late is not None:
                self._discard(order.basis, late, "came too late")
            return
        if sound is None:
            return
        if sound.begun is None:
            self._sounds[order.basis, order.clause] = sound
        self._post(sound.fact, sound.at_ms)

    def attach(self, player: Player[SoundT]) -> None:
        """Give the session its first or another speaker; what was ordered of it before is carried out now."""
        self.player = player
        self._speakers_lost = 0
        parked, self._parked = self._parked, []
        for order in parked:
            self._to_player(order)

    def detach(self) -> Player[SoundT] | None:
        """Take the speaker away; what is ordered of it waits for the next."""
        player, self.player = self.player, None
        return player

    def _to_player(self, order: PlayerOrder) -> None:
        player = self.player
        if player is None:
            self._parked.append(order)
            return
        match order:
            case Play():
                sound = self._sounds.pop((order.basis, order.clause), None)
                if sound is not None:  # discarded while it waited for a speaker
                    player.play(order, sound)
            case FinishPlayback():
                player.finish(order)
            case Duck():
                player.duck(order)
            case Pause():
                player.pause(order)
            case Resume():
                player.resume(order)
            case Cut():
                player.cut(order)
        collect_playback(player, self._parts)

    def _void(self, basis: Basis, reason: str) -> None:
        self._scopes.close(basis)
        for key in [key for key in list(self._sounds) if key[0] == basis]:  # a voice may add to them meanwhile
            self._discard(basis, self._sounds.pop(key), reason)

    def _discard(self, basis: Basis, sound: ClauseSound, reason: str) -> None:
        samples = round(sound.duration_ms * RATE_HZ / 1000)
        waste = Discarded(basis, "synthesize", samples=samples, ms=round(sound.made_ms, 3), reason=reason)
        self._post(waste, self._clock.now_ms())

    def shut(self, at_ms: float) -> bool:
        """Whether sound that was at the ADC at ``at_ms`` is kept from the detector. It comes here some time later."""
        return self._gated or at_ms < self._ungated_ms

    def tell_played(self) -> None:
        """Tell what the speaker played so far."""
        if self.player is not None:
            collect_playback(self.player, self._parts)

    @property
    def speaking(self) -> bool:
        """Whether a reply is on the speaker."""
        return self.player is not None and self.player.busy

    def _measure_echo(self, turn: int) -> None:
        canceller = self._parts.canceller
        if canceller is None:
            return
        job = canceller.measuring(turn)

        async def measure() -> None:
            found = None if self.ended.is_set() else await self._workers["echo"].run(lambda _: job())
            if found is not None:
                canceller.align(found)
                self._parts.ear.expect_echo(found.heard_dbfs)
                self._post(found, self._clock.now_ms())

        self._scopes.start_free(measure, "measure echo")

    def _gate(self, closed: bool) -> None:
        self._gated = closed
        if closed:
            edge = self._parts.ear.stop_listening()
            if edge is not None:
                post_edge(edge, self._parts.ear, self._post)
        else:
            self._ungated_ms = self._clock.now_ms()

    async def replace_speaker(self) -> None:
        """The speaker is lost: open it anew, else a silent one. What was to be heard on the old one is cut."""
        async with self.speaker_lock:
            self._speakers_lost += 1
            if self._speakers_lost > _REOPENINGS and self._parts.fallback_speaker is not None:
                await self._close_quietly(self._parts.speaker)
                self._parts.speaker = self._parts.fallback_speaker()
            player = await open_speaker(self._parts, self._clock, self._post)
            lost, self.player = self.player, player
        if lost is not None:
            lost.close()
            collect_playback(lost, self._parts)

    def _broken(self, name: str, error: Exception) -> None:
        """A part failed in a way it does not foresee: say so, with the details in the log."""
        _log.error("%s failed", name, exc_info=error)
        fault = Fault(name, f"{name} failed: {type(error).__name__}", "The session's log.txt has the details.")
        self._post(fault, self._clock.now_ms())

    async def _close_quietly(self, part: Microphone | Speaker | Tier | None) -> None:
        try:
            if part is not None:
                await part.close()
        except Exception:
            _log.exception("a part could not be closed")

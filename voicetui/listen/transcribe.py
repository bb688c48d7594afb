"""interim"""
from __future__ import annotations
from voicetui.events.listen import Transcribed, TranscribeFailed
from voicetui.events.orders import Transcribe
from voicetui.ports import Clock, Pcm16, Recogniser


class Transcriber:
    def __init__(self, recogniser: Recogniser, clock: Clock) -> None:
        self._r = recogniser
        self._clock = clock

    def run(self, order: Transcribe, sound: Pcm16, first_sample: int, waited_ms: float) -> Transcribed | TranscribeFailed:
        t = self._clock.now_ms()
        r = self._r.recognise(sound, order.final)
        return Transcribed(order.utterance, order.request, r.text, order.final, first_sample, first_sample + len(sound), t, waited_ms, r.evidence, r.doubt)

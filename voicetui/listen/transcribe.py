"""One ``Transcribe`` order to one fact. Runs on the recogniser's worker thread."""

from __future__ import annotations

from voicetui.events.listen import Transcribed, TranscribeFailed
from voicetui.events.orders import Transcribe
from voicetui.ports import Clock, Pcm16, Recogniser, StageError


class Transcriber:
    """Answers ``Transcribe`` orders with what a recogniser hears. Keeps nothing from one order to the next."""

    def __init__(self, recogniser: Recogniser, clock: Clock) -> None:
        self._recogniser = recogniser
        self._clock = clock

    def run(
        self, order: Transcribe, sound: Pcm16, first_sample: int, waited_ms: float
    ) -> Transcribed | TranscribeFailed:
        """The answer to ``order`` about ``sound`` (int16 [n], 16 kHz), which starts at ``first_sample`` of the track.

        ``waited_ms`` is how long the order stood in the worker's queue; decoding begins now.  Blocks while decoding.
        Never raises: whatever goes wrong becomes ``TranscribeFailed`` with a sentence for a person.
        """
        started_ms = self._clock.now_ms()
        try:
            heard = self._recogniser.recognise(sound, order.final, order.window)
        except StageError as error:
            message = " ".join(part for part in (str(error), error.remedy) if part)
            return TranscribeFailed(order.utterance, order.request, order.final, message)
        except Exception as error:  # a recogniser is foreign code: a fault of it must not end the worker
            message = f"The recogniser broke: {type(error).__name__}: {error}"
            return TranscribeFailed(order.utterance, order.request, order.final, message)
        return Transcribed(
            utterance=order.utterance,
            request=order.request,
            text=heard.text,
            final=order.final,
            start_sample=first_sample,
            end_sample=first_sample + int(sound.size),
            started_ms=started_ms,
            waited_ms=waited_ms,
            evidence=heard.evidence,
            doubt=heard.doubt,
        )

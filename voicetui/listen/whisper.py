"""interim"""
from __future__ import annotations
import numpy as np
from voicetui.events.listen import Evidence
from voicetui.ports import Recognition


class WhisperRecogniser:
    def __init__(self, path, language="en", threads=1):
        self.path, self.language, self.threads = path, language, threads
        self.m = None

    def warm(self):
        from faster_whisper import WhisperModel
        self.m = WhisperModel(str(self.path), device="cpu", compute_type="int8", cpu_threads=self.threads)
        self.recognise(np.zeros(16000, np.int16), True)
        return 0.0

    def recognise(self, samples, final):
        from faster_whisper.tokenizer import Tokenizer
        import ctranslate2
        if len(samples) < 1600:
            return Recognition("", Evidence())
        m = self.m
        x = samples.astype(np.float32) / 32768
        n = max(1000, len(x) // 160 + 500)
        f = m.feature_extractor(np.pad(x, (0, n * 160 - len(x))))[:, :n]
        enc = m.model.encode(ctranslate2.StorageView.from_array(np.ascontiguousarray(f[None], dtype=np.float32)), to_cpu=False)
        tok = Tokenizer(m.hf_tokenizer, False, task="transcribe", language="en")
        r = m.model.generate(enc, [[*tok.sot_sequence, tok.no_timestamps]], beam_size=1, max_length=120, return_scores=True, return_no_speech_prob=True)[0]
        return Recognition(tok.decode(r.sequences_ids[0]).strip(), Evidence(no_speech=r.no_speech_prob, logprob=r.scores[0]))

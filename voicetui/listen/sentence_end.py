"""Is a sentence over after these words: a small language model's next word, on llama.cpp."""

from __future__ import annotations

import importlib
import math
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from voicetui.ports import Clock, StageError

_BEFORE: Final = "<|im_start|>system\nYou are a friendly phone assistant.<|im_end|>\n<|im_start|>user\n"
"""As SmolLM2's chat template begins a conversation."""

_CONTEXT_TOKENS: Final = 512
_BLOCK_CHARACTERS: Final = 120
"""Of a long text the newest one to two blocks are read: cut so, its beginning stays the same for a while."""
_LIKELIEST: Final = 40
"""Tokens looked at: what is not among them is no likely end."""
_ENDS: Final = (".", "?", "!")
_SIGNS: Final = " \t\n.?!,;:…-–—\"'”’)"
_REMEDY: Final = "Run `voicetui models pull`, or set [endpoint] score_words = false."


class SentenceEnd:
    """A ``WordsScorer`` on the chat model in ``model_path`` (GGUF). Loaded when first used; safe from any thread.

    The words are read as a chat's user text without the signs they end with; the score is the probability that the
    next token is a full stop, a question mark, an exclamation mark, or the end of the message.  What words have in
    common with those before them is not computed again: a word more costs some 20 ms on one thread.

    The idea is LiveKit's turn detector (the same base model, trained to end messages); untrained, the signs tell more
    than the end of the message: over 341 pauses the areas under the curve were 0.96 and 0.76.
    """

    def __init__(self, model_path: Path, *, threads: int = 1, clock: Clock | None = None) -> None:
        self._model_path = model_path
        self._threads = threads
        self._clock = clock
        self._server: Any = None
        self._one_at_a_time = threading.Lock()

    def warm(self) -> float:
        """Load the model and let it read what every text begins with. The ms of that. Raises ``StageError``."""
        with self._one_at_a_time:
            self._loaded()
        begun_ms = self._clock.now_ms() if self._clock else 0.0
        self.score("Hello")
        return self._clock.now_ms() - begun_ms if self._clock else 0.0

    def score(self, text: str) -> float:
        """The probability, 0 to 1, that a sentence is over after ``text``, whatever sign it ends with; 0 for no words.

        Raises ``StageError``.
        """
        bare = _newest(text.strip().rstrip(_SIGNS)).encode(errors="replace").decode()
        if not bare:
            return 0.0
        request = {"prompt": _BEFORE + bare, "n_predict": 1, "n_probs": _LIKELIEST, "temperature": 0}
        with self._one_at_a_time:
            server = self._loaded()
            try:
                answer = server.handle_completions(request | {"cache_prompt": True})
                return _ended(answer["choices"][0]["logprobs"]["content"])
            except Exception as error:  # llama.cpp and its binding raise their own, undocumented kinds
                message = f"The model that scores words failed: {type(error).__name__}: {error}"
                raise StageError(message, _REMEDY, "words") from error

    def _loaded(self) -> Any:
        if self._server is None:
            self._server = _load(self._model_path, self._threads)
        return self._server


def _newest(text: str) -> str:
    """The last one to two blocks of a long text, from a word's beginning on."""
    skipped = max(0, len(text) // _BLOCK_CHARACTERS - 1) * _BLOCK_CHARACTERS
    return text[text.find(" ", skipped) + 1 :] if skipped else text


def _ended(content: Sequence[Mapping[str, Any]]) -> float:
    """The share of the likeliest next tokens that end a sentence; 1 where the message itself was ended."""
    if not content:
        return 1.0
    likeliest = content[0]["top_logprobs"]
    return min(1.0, sum(math.exp(each["logprob"]) for each in likeliest if _is_end(each["token"])))


def _is_end(token: str) -> bool:
    bare = token.strip()
    return bare.startswith(_ENDS) and not bare.startswith("..")


def _load(model_path: Path, threads: int) -> Any:
    """llama.cpp with the model. Blocks. Raises ``StageError``."""
    try:
        xllamacpp = importlib.import_module("xllamacpp")
    except ImportError as error:
        remedy = "Install the package xllamacpp, or set [endpoint] score_words = false."
        raise StageError(f"The model that scores words cannot run: {error}", remedy, "words") from None
    if not model_path.is_file():
        raise StageError(f"There is no model {model_path}.", _REMEDY, "words")
    params = xllamacpp.CommonParams()
    params.model.path = str(model_path)
    params.n_ctx = _CONTEXT_TOKENS
    params.n_parallel = 1
    params.n_batch = params.n_ubatch = 32
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.n_gpu_layers = 0
    params.cache_ram_mib = 0
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.warmup = True
    params.verbosity = 0
    try:
        return xllamacpp.Server(params)
    except Exception as error:
        message = f"llama.cpp could not load {model_path.name}: {error}"
        raise StageError(message, _REMEDY, "words") from None

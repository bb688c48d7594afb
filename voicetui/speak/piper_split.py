"""A Piper model in two: words to a latent sound, and the latent sound to samples, which can be made piece by piece."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from voicetui.ports import PcmFloat

DECODER: Final = "/dec/"
"""The prefix of the nodes of VITS's waveform decoder in every model of Piper's own export."""

CONTEXT_FRAMES: Final = 12
"""Latent frames on either side that a sample depends on (measured: with 12 a piece differs from the whole by 1e-6)."""

FIRST_FRAMES: Final = 16
"""Latent frames in the first piece: 0.19 s of sound at Piper's usual 256 samples a frame. Each piece is twice as long
as the one before it, so that each is made while the one before it plays.
"""

log = logging.getLogger("voicetui.speak.piper")


class Halves(NamedTuple):
    """Two ONNX models; ``latent`` (float32 [1, channels, frames]) is what the first gives and the second takes."""

    text: bytes
    sound: bytes
    latent: str


def split_model(model: bytes, durations: str = "") -> Halves | None:
    """The two halves of a VITS model; None where it has another shape, or the package ``onnx`` is missing.

    ``durations`` names one more tensor that the first half is to give.
    """
    try:
        import onnx
    except ImportError:
        log.info("the package onnx is missing: clauses are made in one piece")
        return None
    graph = onnx.load_model_from_string(model).graph
    constants = {each.name for each in graph.initializer}
    decoder = [node for node in graph.node if node.name.startswith(DECODER)]
    made = {name for node in decoder for name in node.output}
    taken = {name for node in decoder for name in node.input} - made - constants - {""}
    if len(taken) != 1:
        return None
    (latent,) = taken
    wanted = [latent, durations] if durations else [latent]
    text, sound = _before(graph, wanted, set()), _before(graph, [graph.output[0].name], {latent})
    if any(each.name in sound.inputs for each in graph.input):
        return None
    value = onnx.helper.make_tensor_value_info
    outputs = [value(name, onnx.TensorProto.FLOAT, None) for name in wanted]
    whole = onnx.load_model_from_string(model)

    def half(part: _Part, inputs: list[Any], outputs: list[Any]) -> bytes:
        whole.graph.ClearField("node")
        whole.graph.ClearField("initializer")
        whole.graph.ClearField("input")
        whole.graph.ClearField("output")
        whole.graph.ClearField("value_info")
        whole.graph.node.extend(part.nodes)
        whole.graph.initializer.extend(part.constants)
        whole.graph.input.extend(inputs)
        whole.graph.output.extend(outputs)
        return bytes(whole.SerializeToString())

    return Halves(
        half(text, [each for each in graph.input if each.name in text.inputs], outputs),
        half(sound, [value(latent, onnx.TensorProto.FLOAT, None)], [graph.output[0]]),
        latent,
    )


class _Part(NamedTuple):
    nodes: list[Any]
    constants: list[Any]
    inputs: set[str]


def _before(graph: Any, wanted: list[str], given: set[str]) -> _Part:
    """What of a graph is needed to make ``wanted`` from its inputs and ``given``."""
    makers = {name: number for number, node in enumerate(graph.node) for name in node.output}
    needed: set[int] = set()
    seen: set[str] = set()
    waiting = list(wanted)
    while waiting:
        name = waiting.pop()
        if name in seen or name in given:
            continue
        seen.add(name)
        number = makers.get(name)
        if number is not None and number not in needed:
            needed.add(number)
            waiting += _reads(graph.node[number])
    return _Part(
        [graph.node[number] for number in sorted(needed)],
        [each for each in graph.initializer if each.name in seen],
        {each.name for each in graph.input} & seen,
    )


def _reads(node: Any) -> Iterator[str]:
    """The tensors a node reads, those of the graphs inside it included."""
    yield from node.input
    for attribute in node.attribute:
        for inner in (*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])):
            for each in inner.node:
                yield from _reads(each)


class SplitSession:
    """Stands where piper expects its ONNX session, and runs the two halves one after the other.

    While it is ``holding`` it stops after the first half: piper gets silence of the right length, and the latent sound
    waits in ``latent`` for ``parts``. Not for several threads at once.
    """

    def __init__(self, text: Any, sound: Any, latent: str) -> None:
        """``text`` and ``sound`` are ONNX Runtime sessions of ``Halves``."""
        self._text = text
        self._sound = sound
        self._name = latent
        self._holding = False
        self._hop_samples = 0
        self.latent: NDArray[np.float32] | None = None

    def get_providers(self) -> list[str]:
        """What computes the sound."""
        return list(self._sound.get_providers())

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Stop after the first half, inside this context."""
        self._holding = True
        try:
            yield
        finally:
            self._holding = False

    def run(self, _outputs: None, feed: dict[str, Any]) -> list[Any]:
        """The samples, float32 [1, 1, n], and the durations of the phonemes where the model tells them."""
        latent, *durations = self._text.run(None, feed)
        if not self._hop_samples:
            self._hop_samples = self._decode(latent).size // latent.shape[2]
        if self._holding:
            self.latent = latent
            return [np.zeros((1, 1, latent.shape[2] * self._hop_samples), np.float32), *durations]
        return [self._decode(latent).reshape(1, 1, -1), *durations]

    def parts(self, latent: NDArray[np.float32]) -> Iterator[PcmFloat]:
        """The samples of ``latent``, float32 [n] piece by piece, the first ones soon. Joined they are the whole."""
        frames, at, size = latent.shape[2], 0, FIRST_FRAMES
        while at < frames:
            end = at + size if frames - at - size > CONTEXT_FRAMES else frames
            first, last = max(0, at - CONTEXT_FRAMES), min(frames, end + CONTEXT_FRAMES)
            samples = self._decode(np.ascontiguousarray(latent[:, :, first:last]))
            yield samples[(at - first) * self._hop_samples : (end - first) * self._hop_samples]
            at, size = end, size * 2

    def _decode(self, latent: NDArray[np.float32]) -> PcmFloat:
        samples: PcmFloat = self._sound.run(None, {self._name: latent})[0].reshape(-1)
        return samples

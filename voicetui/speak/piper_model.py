"""Loading a Piper model: its description, espeak-ng's data, an onnxruntime session with threads of our choosing."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path
from typing import Any, Final

import onnxruntime

from voicetui.ports import StageError
from voicetui.speak.piper_split import SplitSession, split_model

WANTED: Final = "piper-tts 1.3 or newer (below 2)"

_PULL: Final = "Pull the voice again: `voicetui models pull`."
_ESPEAK_FILES: Final = ("phontab", "phonindex", "phondata", "intonations")
"""What espeak-ng cannot start without; each language adds its own ``<code>_dict``."""

_DURATIONS: Final = b"Ceil_output_"
_NAME_BYTES: Final = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/.")

log = logging.getLogger("voicetui.speak.piper")
log.addHandler(logging.NullHandler())  # without a handler of the program's own, warnings would go to the screen


def read_description(path: Path) -> dict[str, Any]:
    """The JSON that comes with a voice. Raises ``StageError`` when it is not one."""
    try:
        description = json.loads(path.read_text(encoding="utf-8"))
        if not int(description["audio"]["sample_rate"]) > 0 or not description["espeak"]["voice"]:
            raise ValueError("audio.sample_rate or espeak.voice is empty")
    except OSError as error:
        raise StageError(
            f"The description of the Piper voice cannot be read at {path}: {error.strerror or error}",
            f"It lies beside the model, as <model>.onnx.json. {_PULL}",
            "load",
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise StageError(f"{path} does not describe a Piper voice: {one_line(error)}", _PULL, "load") from error
    return dict(description)


def load_engine(
    model_path: Path, description: dict[str, Any], threads: int, spinning: bool, use_gpu: bool, espeak_data: Path | None
) -> Any:
    """piper's own voice object around a session of ours. Raises ``StageError`` naming the path at fault."""
    try:
        import piper
        import piper.phonemize_espeak as espeak

        data = espeak_data or Path(espeak.ESPEAK_DATA_DIR)
    except (ImportError, AttributeError) as error:
        raise StageError(
            f"piper-tts cannot be used: {one_line(error)}", f"Install {WANTED}: pip install -U piper-tts", "load"
        ) from error
    check_espeak_data(data, str(description["espeak"]["voice"]))
    _quiet_piper_log()
    if not model_path.is_file():
        raise StageError(f"There is no Piper model at {model_path}", _PULL, "load")
    try:
        return piper.PiperVoice(
            session=_session(model_path, threads, spinning, use_gpu),
            config=piper.PiperConfig.from_dict(description),
            espeak_data_dir=data,
        )
    except (AttributeError, TypeError) as error:
        raise StageError(
            f"This piper-tts has another interface than expected: {one_line(error)}",
            f"Install {WANTED}: pip install -U piper-tts",
            "load",
        ) from error
    except Exception as error:  # onnxruntime raises types of its own
        raise StageError(f"The Piper model {model_path} cannot be loaded: {one_line(error)}", _PULL, "load") from error


def _session(model_path: Path, threads: int, spinning: bool, use_gpu: bool) -> Any:
    """The model on ONNX Runtime: in two halves where it can be divided, else whole."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # what fails is raised; the screen is not for logs
    for key in ("session.intra_op.allow_spinning", "session.inter_op.allow_spinning"):
        options.add_session_config_entry(key, "1" if spinning else "0")
    wanted = ["CUDAExecutionProvider", "CPUExecutionProvider"] if use_gpu else ["CPUExecutionProvider"]
    usable = [name for name in wanted if name in onnxruntime.get_available_providers()]
    model = model_path.read_bytes()

    def load(part: bytes) -> onnxruntime.InferenceSession:
        return onnxruntime.InferenceSession(part, sess_options=options, providers=usable)

    session: Any
    try:
        halves = split_model(model, durations_of(model))
        if halves is not None:
            session = SplitSession(load(halves.text), load(halves.sound), halves.latent)
        else:
            session = load(with_durations(model))
    except Exception:  # a model that takes neither the cut nor the second output is as good without them
        session = load(model)
    if session.get_providers()[0] != wanted[0]:
        log.warning("%s was asked for; Piper runs on %s", wanted[0], session.get_providers()[0])
    return session


def with_durations(model: bytes) -> bytes:
    """The same ONNX model, which also gives out how many samples each phoneme takes, if it has one such tensor.

    VITS rounds the durations up in its only Ceil node. Protobuf joins what is appended to a message with what is there:
    ``ModelProto.graph`` (field 7) . ``output`` (12) . ``name`` (1), see onnx.proto and "Last One Wins" in the protobuf
    encoding guide.
    """
    name = durations_of(model).encode()
    if not name:
        return model
    message = name
    for field in (1, 12, 7):
        if len(message) > 127:
            return model
        message = bytes((field << 3 | 2, len(message))) + message
    return model + message


def durations_of(model: bytes) -> str:
    """The tensor of an ONNX model that holds how long each phoneme takes; "" if there is not exactly one."""
    names: set[bytes] = set()
    at = model.find(_DURATIONS)
    while at >= 0:
        first, end = at, at + len(_DURATIONS)
        while first and model[first - 1] in _NAME_BYTES:
            first -= 1
        while end < len(model) and model[end] in b"0123456789":
            end += 1
        names.add(model[first:end])
        at = model.find(_DURATIONS, end)
    return names.pop().decode() if len(names) == 1 else ""


def check_espeak_data(folder: Path, language: str) -> None:
    """Raises ``StageError``, naming the path, when espeak-ng's data are not where they must be."""
    missing = [name for name in _ESPEAK_FILES if not (folder / name).is_file()]
    code = re.split(r"[-+]", language)[0]
    if not missing and code.isalpha() and not (folder / f"{code}_dict").is_file():
        missing = [f"{code}_dict"]
    if missing:
        what = f"{', '.join(missing)} missing" if folder.is_dir() else "there is no such folder"
        raise StageError(
            f"espeak-ng's data are not complete at {folder}: {what}",
            "Install piper-tts again: pip install --force-reinstall piper-tts",
            "load",
        )


class _OncePerSymbol(logging.Filter):
    """Turns piper's warning at every unknown phoneme into one line for each distinct symbol, in our own log."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: set[str] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        """Nothing passes; what is new is told under this module's logger."""
        message = record.getMessage()
        if record.levelno >= logging.WARNING and message not in self._seen:
            self._seen.add(message)
            log.warning("%s", message)
        return False


_once_per_symbol: Final = _OncePerSymbol()


def _quiet_piper_log() -> None:
    logging.getLogger("piper.phoneme_ids").addFilter(_once_per_symbol)  # adding it again changes nothing


def one_line(error: BaseException) -> str:
    """An error's message on one line of at most 300 characters."""
    return " ".join(str(error).split())[:300] or type(error).__name__

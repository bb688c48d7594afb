"""Downloading a wheel: a fake pip, a fake uv, a package index on this machine."""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from voicetui import fetch
from voicetui.fetch import FetchError, Wheel

Patch = pytest.MonkeyPatch
FakePython = Callable[[str], Path]
Index = tuple[str, list[str | None]]
CONTENT = b"not really a zip file" * 1000


@pytest.fixture
def fake_python(tmp_path: Path, monkeypatch: Patch) -> FakePython:
    """Put a shell script in the place of the Python that runs pip; the arguments it got land in ``arguments``."""

    def install(body: str) -> Path:
        script = tmp_path / "python"
        script.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/arguments\n{body}\n')
        script.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(script))
        return tmp_path / "arguments"

    return install


class TestPip:
    """The child process that downloads."""

    WHEEL = Wheel("a-voice", "1.0", 4000)

    def test_it_is_asked_for_one_wheel_and_watched(self, tmp_path: Path, fake_python: FakePython) -> None:
        spot = tmp_path / "spot"
        spot.mkdir()
        seen: list[int] = []
        arguments = fake_python(
            'read line && exit 9\nmkdir "$TMPDIR/pip-1"; head -c 3000 /dev/zero > "$TMPDIR/pip-1/w"\n'
            'while [ ! -e "$TMPDIR/seen" ]; do sleep 0.05; done; head -c 4000 /dev/zero > "$TMPDIR/a_voice-1.0.whl"'
        )

        def report(done_bytes: int) -> None:
            seen.append(done_bytes)
            if done_bytes == 3000:
                (spot / "seen").touch()

        assert fetch.fetch_wheel(self.WHEEL, spot, report) == spot / "a_voice-1.0.whl"
        assert 3000 in seen
        assert seen[-1] == 4000
        said = arguments.read_text().split()
        assert said[:4] == ["-P", "-m", "pip", "download"] and said[-1] == "a-voice==1.0"
        assert {"--no-deps", "--no-input", "--disable-pip-version-check", "--only-binary"} <= set(said)

    def test_its_last_useful_line_is_told_without_secrets(self, tmp_path: Path, fake_python: FakePython) -> None:
        fake_python(
            "echo 'Looking in indexes: https://me:s3cret@mirror.example/simple'\n"
            "echo \"WARNING: Retrying (Retry(total=0, connect=None)) after connection broken by 'NewConnectionError("
            "'<pip._vendor.urllib3.HTTPSConnection object at 0x7f05>: [Errno 101] Network is unreachable')': "
            'https://me:s3c@ret@mirror.example/simple/?token=abc" >&2\n'
            "echo 'ERROR: Could not find a version that satisfies the requirement a-voice==1.0' >&2\n"
            "echo 'ERROR: No matching distribution found for a-voice==1.0' >&2; exit 1"
        )
        with pytest.raises(FetchError) as caught:
            fetch.fetch_wheel(self.WHEEL, tmp_path, lambda _: None)
        assert str(caught.value) == (
            "connection broken by 'NewConnectionError('[Errno 101] Network is unreachable')': "
            "https://***@mirror.example/simple/?***"
        )

    def test_silence_and_nothing_are_failures_too(self, tmp_path: Path, fake_python: FakePython) -> None:
        fake_python("exit 3")
        with pytest.raises(FetchError, match="exit code 3"):
            fetch.fetch_wheel(self.WHEEL, tmp_path, lambda _: None)
        fake_python("exit 0")
        with pytest.raises(FetchError, match="no wheel of a-voice"):
            fetch.fetch_wheel(self.WHEEL, tmp_path, lambda _: None)

    def test_an_interrupt_kills_it_and_what_it_started(self, tmp_path: Path, fake_python: FakePython) -> None:
        fake_python(f"sleep 60 & echo $! > {tmp_path}/child; echo $$ > {tmp_path}/pid; wait")

        def interrupt(_: int) -> None:
            if (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().strip():
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            fetch.fetch_wheel(self.WHEEL, tmp_path, interrupt)
        for name in ("pid", "child"):
            assert is_gone(int((tmp_path / name).read_text()))

    def test_uv_runs_pip_where_pip_is_missing(self, tmp_path: Path, monkeypatch: Patch) -> None:
        hide_pip(monkeypatch)
        uv = tmp_path / "uv"
        uv.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/arguments\ntouch "$TMPDIR/a_voice-1.0.whl"\n')
        uv.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
        assert fetch.fetch_wheel(self.WHEEL, tmp_path, lambda _: None) == tmp_path / "a_voice-1.0.whl"
        assert (tmp_path / "arguments").read_text().startswith("tool run pip download")


def is_gone(pid: int) -> bool:
    """Whether a process ends, or is a zombie nobody has collected, within ten seconds."""
    for _ in range(200):
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        threading.Event().wait(0.05)
    return False


def hide_pip(monkeypatch: Patch) -> None:
    """Make pip unimportable."""
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "pip" else found(name, *rest))


@pytest.fixture
def index() -> Iterator[Index]:
    """A package index on this machine behind a password, and the credentials each request came with."""
    logins: list[str | None] = []
    links = [
        {"filename": "a_voice-0.9-py3-none-any.whl", "url": "old"},
        {"filename": "a_voice-1.0.tar.gz", "url": "no"},
    ]
    links.append({"filename": "a_voice-1.0-py3-none-any.whl", "url": "../../files/a.whl"})

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            logins.append(self.headers["Authorization"])
            found = {"/simple/a-voice/": json.dumps({"files": links}).encode(), "/files/a.whl": CONTENT}.get(self.path)
            self.send_response(200 if found else 404)
            self.end_headers()
            self.wfile.write(found or b"")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield f"http://me:s3cret@127.0.0.1:{server.server_port}/simple", logins
    server.shutdown()
    server.server_close()
    thread.join()


class TestIndex:
    """The package index, asked directly where neither pip nor uv is there."""

    @pytest.fixture(autouse=True)
    def _no_tools(self, monkeypatch: Patch) -> None:
        hide_pip(monkeypatch)
        monkeypatch.setenv("PATH", "/nonexistent")
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.delenv(name, raising=False)
            monkeypatch.delenv(name.lower(), raising=False)

    def test_the_wheel_of_that_version_comes(self, index: Index, monkeypatch: Patch, tmp_path: Path) -> None:
        url, logins = index
        monkeypatch.setenv("PIP_INDEX_URL", url)
        assert fetch.fetch_wheel(Wheel("a-voice", "1.0", 1), tmp_path, lambda _: None).read_bytes() == CONTENT
        assert logins == [f"Basic {base64.b64encode(b'me:s3cret').decode()}"] * 2

    def test_failures_name_no_password(self, index: Index, monkeypatch: Patch, tmp_path: Path) -> None:
        for url in (f"{index[0]}/nothing", "http://me:s3cret@127.0.0.1:9/simple", "http://me:s3cret@[bad/simple"):
            monkeypatch.setenv("PIP_INDEX_URL", url)
            with pytest.raises(FetchError, match=r"not installed .*the index itself: ") as caught:
                fetch.fetch_wheel(Wheel("a-voice", "1.0", 1), tmp_path, lambda _: None)
            assert "s3cret" not in str(caught.value)

    def test_a_version_the_index_lacks(self, index: Index, monkeypatch: Patch, tmp_path: Path) -> None:
        monkeypatch.setenv("PIP_INDEX_URL", index[0])
        with pytest.raises(FetchError, match=r"^http://127.0.0.1:\d+/simple/a-voice/ has no wheel of a-voice 7"):
            fetch.fetch_wheel(Wheel("a-voice", "7", 1), tmp_path, lambda _: None)

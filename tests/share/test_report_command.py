"""``voicetui report`` as a person meets it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

from tests.journal_builder import JournalBuilder
from tests.share.reading import Page
from voicetui.cli import run
from voicetui.share.report_sound import session_sound
from voicetui.sound.wav import WavWriter


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A recorded session."""
    folder = tmp_path / "recordings" / "20260101T000000Z-local"
    folder.mkdir(parents=True)
    JournalBuilder().opened().ready().turn("What time is it?", ["It is noon."]).closed().write(folder / "journal.jsonl")
    return folder


def with_tracks(folder: Path) -> None:
    """A second of tone on the user's track, and half a second on the reply's."""
    for stem, hz, samples in (("user", 440, 16000), ("reply", 880, 8000)):
        writer = WavWriter(folder / f"{stem}.wav")
        writer.append((8000 * np.sin(2 * np.pi * hz * np.arange(samples) / 16000)).astype(np.int16))
        writer.close()


def test_the_file_is_written_and_named(session: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.html"
    assert run(["report", str(session), "-o", str(out)]) == 0
    told = capsys.readouterr()
    assert told.out == f"{out}\n" and "MB" in told.err
    assert "20260101T000000Z-local" in Page(out.read_text("utf-8")).text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.html", "recordings"], "nothing half is left"


def test_without_a_name_it_is_named_after_the_session(
    session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["report", str(session)]) == 0
    assert (tmp_path / "20260101T000000Z-local.html").is_file()


def test_only_an_earlier_report_is_written_over(
    session: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, other = tmp_path / "out.html", tmp_path / "mine.html"
    assert run(["report", str(session), "-o", str(out)]) == run(["report", str(session), "-o", str(out)]) == 0
    other.write_text("my own page")
    assert run(["report", str(session), "-o", str(other)]) == 2
    assert other.read_text() == "my own page"
    assert "was not made by this command" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("none/out.html", "its folder does not exist"),
        (".", "is a folder"),
        ("recordings/20260101T000000Z-local/x.html", "own files"),
    ],
)
def test_a_place_that_will_not_do_is_named(
    session: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, says: str
) -> None:
    assert run(["report", str(session), "-o", str(tmp_path / name)]) == 2
    assert says in capsys.readouterr().err


def test_what_is_no_session_ends_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", str(tmp_path / "nothing"), "-o", str(tmp_path / "x.html")]) == 1
    assert "There is no session" in capsys.readouterr().err and not (tmp_path / "x.html").exists()


def test_both_voices_are_in_it_on_their_sides(session: Path, tmp_path: Path) -> None:
    with_tracks(session)
    out = tmp_path / "out.html"
    assert run(["report", str(session), "-o", str(out), "--audio"]) == 0
    page = Page(out.read_text("utf-8"))
    source = next(value for tag, name, value in page.attributes if tag == "audio" and name == "src")
    assert source.startswith("data:audio/") and "1 s, " in page.text
    sound = session_sound(session)
    decoded = tmp_path / "sound"
    decoded.write_bytes(sound.data)
    samples, rate_hz = soundfile.read(decoded)
    assert rate_hz == 16000 and abs(len(samples) - 16000) < 200
    peaks = [int(np.abs(np.fft.rfft(samples[:8000, side])).argmax() * 2) for side in (0, 1)]
    assert peaks == [440, 880]
    assert np.abs(samples[9000:15000, 1]).max() < 0.02, "the shorter track ends in silence"


def test_asked_for_sound_that_is_not_there_nothing_is_written(
    session: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.html"
    assert run(["report", str(session), "-o", str(out), "--audio"]) == 1
    assert "without sound" in capsys.readouterr().err and not out.exists()


def test_two_sessions_are_compared_as_far_as_they_can_be(session: Path, tmp_path: Path) -> None:
    other = session.parent / "20260102T000000Z-local"
    other.mkdir()
    JournalBuilder().opened().ready().turn("What time is it?", ["It is one."]).closed().write(other / "journal.jsonl")
    out = tmp_path / "out.html"
    assert run(["report", str(session), str(other), str(session), "-o", str(out)]) == 0
    page = Page(out.read_text("utf-8"))
    assert "2 sessions" in page.text and "B against A" in page.text


def test_a_report_is_no_file_called_dash(
    session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["report", str(session), "-o", "-"]) == 2
    assert "a report is a file" in capsys.readouterr().err and not (tmp_path / "-").exists()

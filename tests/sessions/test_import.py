"""A call recorded elsewhere becomes a session: the figures it was made with, and words about files that are none."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import soundfile
import soxr

from tests.adapters.hearing import as_pcm, noise, recording_file, say, silence, without_edges
from voicetui.cli import run
from voicetui.config import assets
from voicetui.events import Entry
from voicetui.events.listen import SpeechPaused, SpeechStarted
from voicetui.events.orders import IMPORTED, OpenUtterance
from voicetui.events.session import SessionOpened
from voicetui.events.sound import ClockMapped
from voicetui.journal.check import check_session
from voicetui.journal.read import read_journal
from voicetui.ports import RATE_HZ, Pcm16
from voicetui.sound.wav import read_audio, read_parts
from voicetui.views.barge_in import fold_barge_ins
from voicetui.views.breakdown import StagesMs
from voicetui.views.latency import fold_latency
from voicetui.views.summary import summarise
from voicetui.views.timeline import fold_timeline

WITHIN_MS = 25.0
SECONDS = 20


def clip(name: str) -> Pcm16:
    return without_edges(read_audio(assets() / "clips" / f"{name}.wav")[0])


class Call:
    """Two tracks that voices are laid on, so that every gap is known to the sample."""

    def __init__(self, seconds: float) -> None:
        self.user, self.reply = silence(seconds), silence(seconds)

    def lay(self, track: Pcm16, at_ms: float, sound: Pcm16) -> float:
        """Put ``sound`` on a track; when it ends, ms."""
        first = round(at_ms * 16)
        track[first : first + len(sound)] = sound
        return (first + len(sound)) / 16

    def write(self, path: Path, rate_hz: int = RATE_HZ, subtype: str = "PCM_16") -> Path:
        frames = np.stack((self.user, self.reply), axis=1) / 32768
        if rate_hz != RATE_HZ:
            frames = soxr.resample(frames, RATE_HZ, rate_hz)
        soundfile.write(path, frames, rate_hz, subtype=subtype)
        return path


@pytest.fixture(scope="module")
def call() -> Call:
    """A question answered after 620 ms; one answered over its end; a reply cut 300 ms after an interruption began; the
    interruption answered after 450 ms, with an "okay" over it.
    """
    made = Call(SECONDS)
    answer = without_edges(say("The capital of France is Paris, of course.", "rms"))
    long = without_edges(say("The largest planet of them all is Jupiter, and it has a great many moons.", "rms"))
    end_ms = made.lay(made.user, 1000, clip("capital-of-france"))
    made.lay(made.reply, end_ms + 620, answer)
    end_ms = made.lay(made.user, 6800, clip("largest-planet"))
    start_ms = end_ms - 150
    onset_ms = start_ms + 1500
    made.lay(made.reply, start_ms, long[: round((onset_ms + 300 - start_ms) * 16)])
    end_ms = made.lay(made.user, onset_ms, clip("capital-of-italy"))
    made.lay(made.reply, end_ms + 450, long)
    made.lay(made.user, end_ms + 450 + 1200, clip("okay"))
    return made


def configured(folder: Path) -> Path:
    file = folder / "voicetui.toml"
    file.write_text(f'[record]\nfolder = "{folder / "recordings"}"\n', "utf-8")
    return file


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return configured(tmp_path)


@pytest.fixture(scope="module")
def session(call: Call, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tuple[Entry, ...]]:
    """The call, imported from a stereo file. Nobody may change it."""
    config = configured(tmp_path_factory.mktemp("call"))
    return imported(config, str(call.write(config.parent / "call.wav")))


def imported(config: Path, *arguments: str) -> tuple[Path, tuple[Entry, ...]]:
    assert run(["import", *arguments, "--name", "call", "--config", str(config)]) == 0
    folder = config.parent / "recordings" / "call"
    journal = read_journal(folder)
    assert not journal.problems and not check_session(folder, journal, written=False)
    return folder, journal.entries


def refused(capsys: pytest.CaptureFixture[str], config: Path, *arguments: str) -> str:
    assert run(["import", *arguments, "--config", str(config)]) == 1
    assert not list((config.parent / "recordings").glob("*"))
    return capsys.readouterr().err


def judge(entries: tuple[Entry, ...], lost_ms: float = 0.0, within_ms: float = WITHIN_MS) -> None:
    """The call's own figures are found again; of the first utterance's end ``lost_ms`` at most are not heard."""
    found = list(fold_latency(entries))
    assert [turn.outcome for turn in found] == ["completed", "interrupted", "completed"]
    gaps = [turn.gap_ms for turn in found if turn.gap_ms is not None]
    assert 620 - within_ms <= gaps[0] <= 620 + lost_ms + within_ms
    assert gaps[1:] == pytest.approx([-150, 450], abs=within_ms)
    assert [turn.overlaps_user for turn in found] == [False, True, False]
    barge_ins = [one for turn in fold_barge_ins(entries).values() for one in turn]
    assert [one.kind for one in barge_ins] == ["bid", "backchannel"]
    assert barge_ins[0].onset_ms == pytest.approx(1500, abs=within_ms)
    assert barge_ins[0].stop_ms == pytest.approx(300, abs=within_ms)
    assert barge_ins[1].onset_ms == pytest.approx(1200, abs=within_ms)


def test_a_stereo_call_has_its_gaps_its_overlap_and_its_interruption(
    call: Call, session: tuple[Path, tuple[Entry, ...]]
) -> None:
    folder, entries = session
    judge(entries)
    assert np.array_equal(read_parts(folder, "user")[0], call.user)
    assert np.array_equal(read_parts(folder, "reply")[0], call.reply)


def test_what_sound_cannot_tell_is_missing_with_the_reason(session: tuple[Path, tuple[Entry, ...]]) -> None:
    _, entries = session
    turn = fold_latency(entries)[0]
    assert turn.stages_ms == StagesMs(unaccounted=turn.gap_ms)
    assert {missing.point for missing in turn.missing} == {
        "pause_noticed", "committed", "transcript", "context", "request", "first_byte", "first_token",
        "first_answer_token", "first_clause", "first_audio",
    }  # fmt: skip
    assert {missing.reason for missing in turn.missing} == {"the call was imported: only what was heard is known"}
    assert not turn.typed and not turn.cold
    (bid,) = fold_barge_ins(entries)[2]
    assert bid.decided_ms is None and bid.heard_words is None
    summary = summarise(entries)
    assert (summary["tier"], summary["simulated"], summary["gap_ms"]["n"]) == (IMPORTED, False, 3)
    assert [each["reason"] for each in summary["rejected"]] == ["backchannel"]
    timeline = fold_timeline(entries)
    spans = [span for span in timeline.spans if span.end_ms != span.start_ms]
    assert {span.lane for span in spans if span.kind != "discarded"} == {"you", "speaker"}
    assert {mark.kind for mark in timeline.marks} == {"gap", "barge_in", "cut", "reject"}
    opened = next(entry.body for entry in entries if isinstance(entry.body, SessionOpened))
    assert (opened.source, opened.tier) == (IMPORTED, IMPORTED)
    assert opened.config["imported"] == {"files": ["call.wav"], "notes": []}


def test_utterances_can_be_cut_from_the_track_as_live_ones(session: tuple[Path, tuple[Entry, ...]]) -> None:
    folder, entries = session
    samples, _ = read_parts(folder, "user")
    maps = [(entry.at, entry.body.sample) for entry in entries if isinstance(entry.body, ClockMapped)]
    assert maps == [(sample / 16, sample) for sample in range(0, len(samples), 10 * RATE_HZ)]
    opened = [entry.body for entry in entries if isinstance(entry.body, OpenUtterance)]
    assert [(each.utterance, each.turn, each.over_reply) for each in opened] == [
        (1, 1, False), (2, 2, False), (3, 3, True), (4, 4, True),
    ]  # fmt: skip
    starts = [entry for entry in entries if isinstance(entry.body, SpeechStarted)]
    assert all(entry.at == entry.body.sample / 16 for entry in starts if isinstance(entry.body, SpeechStarted))
    assert {each.sample for each in opened} <= {e.body.sample for e in starts if isinstance(e.body, SpeechStarted)}
    ends = [entry.body.sample for entry in entries if isinstance(entry.body, SpeechPaused)]
    assert len(ends) == len(starts) and all(sample <= len(samples) for sample in ends)


@pytest.mark.parametrize(("rate_hz", "subtype"), [(8_000, "PCM_24"), (44_100, "FLOAT")])
def test_calls_come_in_many_formats(call: Call, config: Path, rate_hz: int, subtype: str) -> None:
    _, entries = imported(config, str(call.write(config.parent / "call.wav", rate_hz, subtype)))
    judge(entries, lost_ms=100 if rate_hz == 8_000 else 0)  # the s of "France" lies above what 8 kHz can carry


def test_a_line_that_hisses_changes_little(call: Call, config: Path) -> None:
    made = Call(SECONDS)
    made.user, made.reply = (
        as_pcm(track.astype(np.float64) + noise(SECONDS, -52, seed))
        for seed, track in enumerate((call.user, call.reply))
    )
    _, entries = imported(config, str(made.write(config.parent / "call.wav")))
    judge(entries)


def test_the_other_side_in_ones_channel_is_not_ones_speech(
    call: Call, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made, gain = Call(SECONDS), 0.1
    made.user = as_pcm(call.user.astype(np.float64) + gain * call.reply)
    made.reply = as_pcm(call.reply.astype(np.float64) + gain * call.user)
    _, entries = imported(config, str(made.write(config.parent / "call.wav")))
    judge(entries, within_ms=40)  # what is soft is hard to tell from a leak
    assert "The other side leaks into the user's channel" in capsys.readouterr().err


def test_two_mono_files_may_be_swapped_and_of_different_lengths(call: Call, config: Path) -> None:
    mine, theirs = config.parent / "mine.wav", config.parent / "theirs.flac"
    soundfile.write(mine, call.user[: 18 * RATE_HZ], RATE_HZ)
    soundfile.write(theirs, call.reply, RATE_HZ)
    folder, entries = imported(config, str(theirs), "--reply", str(mine), "--swap")
    judge(entries)
    user, reply = read_parts(folder, "user")[0], read_parts(folder, "reply")[0]
    assert len(user) == len(reply) == SECONDS * RATE_HZ and not user[18 * RATE_HZ :].any()


def test_a_user_alone_is_not_answered(call: Call, config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = config.parent / "mine.wav"
    soundfile.write(mine, call.user, RATE_HZ)
    folder, entries = imported(config, str(mine))
    assert "taken for the user's side" in capsys.readouterr().err
    found = fold_latency(entries)
    assert {(turn.outcome, turn.gap_ms) for turn in found} == {("unanswered", None)}
    missing = {each.point: each.reason for each in found[0].missing}
    assert missing["reply_start"] == "the reply was not heard: unanswered, the recording has no reply track"
    assert summarise(entries)["gap_ms"]["n"] == 0
    assert not read_parts(folder, "reply")[0].any()


def test_one_microphone_saved_as_stereo_is_one_side(
    call: Call, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    twice = config.parent / "twice.wav"
    soundfile.write(twice, np.stack((call.user / 32768, call.user / 40000), axis=1), RATE_HZ)
    folder, _ = imported(config, str(twice))
    assert "the same sound in both channels" in capsys.readouterr().err
    assert not read_parts(folder, "reply")[0].any()


def test_a_speech_from_elsewhere_is_a_user(config: Path) -> None:
    folder, entries = imported(config, str(recording_file("jfk.flac")))
    (turn,) = fold_latency(entries)
    assert turn.points.user_end is not None and 10_000 < turn.points.user_end < 11_000
    assert len(read_parts(folder, "user")[0]) == 176_000


def test_every_view_of_an_imported_call_can_be_exported(
    call: Call, session: tuple[Path, tuple[Entry, ...]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, _ = session
    for form in ("csv", "jsonl", "vtt", "text", "otlp"):
        assert run(["export", str(folder), "--as", form]) == 0
        assert capsys.readouterr().out
    again = tmp_path / "again.wav"
    assert run(["export", str(folder), "--as", "wav", "-o", str(again)]) == 0
    assert np.array_equal(soundfile.read(again, dtype="int16")[0], np.stack((call.user, call.reply), axis=1))
    assert run(["replay", str(folder), "--headless", "--json", str(tmp_path / "figures.json")]) == 0
    told = capsys.readouterr()
    assert "turn 1  gap 6" in told.out and "cut-offs not known, collisions" in told.err
    assert run(["export", str(folder), "--as", "otlp"]) == 0
    assert "voicetui.cut_offs" not in capsys.readouterr().out
    assert json.loads((tmp_path / "figures.json").read_text("utf-8"))["tier"] == IMPORTED
    assert run(["replay", str(folder), "--redecide"]) == 1
    assert "no rules decided in it" in capsys.readouterr().err


def test_files_that_are_no_calls_are_refused_in_words(
    call: Call, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = config.parent
    stereo, mono = call.write(folder / "call.wav"), folder / "mono.wav"
    soundfile.write(mono, call.user, RATE_HZ)
    three, empty, text = (folder / name for name in ("three.wav", "empty.wav", "text.wav"))
    soundfile.write(three, np.stack((call.user, call.user, call.reply), axis=1), RATE_HZ)
    empty.touch()
    text.write_text("no sound at all", "utf-8")
    quiet, blank = folder / "quiet.wav", folder / "blank.wav"
    soundfile.write(quiet, np.stack((silence(3), silence(3) + 1), axis=1), RATE_HZ)
    soundfile.write(blank, np.zeros((0, 2)), RATE_HZ)
    for arguments, says in (
        ((str(three),), "3 channels, and a call has two"),
        ((str(empty),), "is empty (0 bytes)"),
        ((str(text),), "not a sound file that can be read"),
        ((str(quiet),), "Nobody speaks"),
        ((str(blank),), "holds no sound"),
        ((str(folder / "nothing.wav"),), "does not exist"),
        ((str(mono), "--swap"), "nothing to swap"),
        ((str(mono), "--reply", str(stereo)), "call.wav has 2 channels; with --reply each side is a file of one"),
    ):
        assert says in refused(capsys, config, *arguments)


def test_a_name_is_taken_once_and_must_be_one(call: Call, config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(call.write(config.parent / "call.wav"))
    assert run(["import", file, "--config", str(config)]) == 0
    said = capsys.readouterr()
    folder = Path(said.out.strip())
    assert folder.name.endswith("Z-imported") and "turns: 3, gap p50" in said.err
    before = (folder / "journal.jsonl").read_bytes()
    assert run(["import", file, "--name", folder.name, "--config", str(config)]) == 1
    assert "exists already" in capsys.readouterr().err
    assert (folder / "journal.jsonl").read_bytes() == before
    assert run(["import", file, "--name", "../call", "--config", str(config)]) == 2
    assert "no name for a session" in capsys.readouterr().err

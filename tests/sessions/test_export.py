"""A session as files of other programs: what they hold, and what is said when that cannot be."""

from __future__ import annotations

import csv
import io
import json
import re
import socket
import threading
import wave
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.absent import need_package
from tests.journal_builder import COMMIT_LATE, JournalBuilder
from voicetui.cli import run
from voicetui.events.sound import ClockMapped
from voicetui.sound.wav import WavWriter
from voicetui.views.latency import fold_latency

START_NS = 1_893_456_000 * 10**9
"""2030-01-01T00:00:00Z, when golden sessions begin."""
NAME = "20300101T000000Z-local"


def conversation() -> JournalBuilder:
    journal = JournalBuilder().opened().ready()
    journal.add(ClockMapped(0), journal.now_ms)
    journal.turn("=1+1 is what?", ["It is <two> --> & more."], COMMIT_LATE, dropped=1)
    journal.barge_in("Tell me a story.", ["Once upon a time there was a king. ", "He was old."], onset_ms=900)
    journal.false_interruption("Go on.", ["Then he laughed and went to bed."])
    journal.rejected("noise")
    return journal.failed("What?", "the tier did not answer").closed()


@pytest.fixture
def session(tmp_path: Path) -> Path:
    folder = tmp_path / NAME
    folder.mkdir()
    conversation().write(folder / "journal.jsonl")
    return folder


def exported(session: Path, form: str, *more: str) -> str:
    file = session.parent / f"out.{form}"
    assert run(["export", str(session), "--as", form, "-o", str(file), *more]) == 0
    return file.read_text("utf-8")


def attributes(span: dict[str, Any]) -> dict[str, Any]:
    found = {}
    for pair in span["attributes"]:
        (kind, value) = next(iter(pair["value"].items()))
        if kind == "arrayValue":
            value = [each["stringValue"] for each in value["values"]]
        found[pair["key"]] = int(value) if kind == "intValue" else value
    return found


def spans_of(text: str) -> list[dict[str, Any]]:
    (resource,) = json.loads(text)["resourceSpans"]
    assert {"key": "service.name", "value": {"stringValue": "voicetui"}} in resource["resource"]["attributes"]
    (scope,) = resource["scopeSpans"]
    found: list[dict[str, Any]] = scope["spans"]
    return found


def test_spans_have_the_protocols_shape_and_hang_together(session: Path) -> None:
    spans = spans_of(exported(session, "otlp"))
    ids = [span["spanId"] for span in spans]
    assert len(set(ids)) == len(ids)
    assert len({span["traceId"] for span in spans}) == 1
    for span in spans:
        assert re.fullmatch("[0-9a-f]{32}", span["traceId"]) and re.fullmatch("[0-9a-f]{16}", span["spanId"])
        assert span["startTimeUnixNano"].isdecimal() and span["endTimeUnixNano"].isdecimal()
        assert START_NS <= int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"])
        assert span.get("parentSpanId") in (None, *ids)
    assert [span["name"] for span in spans if "parentSpanId" not in span] == [f"session {NAME}"]
    turns = [span for span in spans if span["name"].startswith("turn ")]
    assert [span["name"] for span in turns] == [f"turn {turn.turn}" for turn in fold_latency(conversation().entries)]
    assert all(span["parentSpanId"] == spans[0]["spanId"] for span in turns)


def test_exporting_again_gives_the_same_spans(session: Path) -> None:
    assert exported(session, "otlp") == exported(session, "otlp")


def test_a_turns_span_tells_its_gap_and_its_work_lies_within_it(session: Path) -> None:
    spans = spans_of(exported(session, "otlp"))
    turn, latency = spans[1], fold_latency(conversation().entries)[0]
    told = attributes(turn)
    assert told["voicetui.gap_ms"] == latency.gap_ms == 480.0
    assert told["voicetui.stage.endpoint_ms"] == 450.0 and told["voicetui.simulated"] is False
    children = [span for span in spans if span.get("parentSpanId") == turn["spanId"]]
    kept = [span for span in children if not attributes(span)["voicetui.discarded"]]
    names = {span["name"] for span in kept}
    assert names == {"speech", "endpoint", "transcribe", "context", "chat model", "clause", "synthesize", "play"}
    assert all(int(span["startTimeUnixNano"]) >= int(turn["startTimeUnixNano"]) for span in children)
    assert all(int(span["endTimeUnixNano"]) <= int(turn["endTimeUnixNano"]) for span in children)
    assert latency.points.reply_start is not None
    play = next(span for span in kept if span["name"] == "play")
    assert int(play["startTimeUnixNano"]) == START_NS + round(latency.points.reply_start * 1e6)


def test_model_calls_follow_the_conventions_and_wasted_ones_are_marked(session: Path) -> None:
    spans = spans_of(exported(session, "otlp"))
    wasted, kept = [attributes(span) for span in spans if span["name"] == "chat model"][:2]
    assert wasted["voicetui.discarded"] and wasted["voicetui.speculative"] and wasted["voicetui.cancelled"]
    assert "gen_ai.response.finish_reasons" not in wasted and wasted["gen_ai.usage.output_tokens"] == 3
    assert not kept["voicetui.discarded"] and kept["voicetui.speculative"]
    assert (kept["gen_ai.operation.name"], kept["gen_ai.provider.name"]) == ("chat", "llama.cpp")
    assert (kept["gen_ai.request.model"], kept["gen_ai.conversation.id"]) == ("model", NAME)
    assert (kept["gen_ai.usage.input_tokens"], kept["gen_ai.usage.output_tokens"]) == (40, 6)
    assert kept["gen_ai.response.finish_reasons"] == ["stop"]
    assert kept["gen_ai.response.time_to_first_chunk"] == 0.04
    failed = next(span for span in spans if span["name"] == "chat model" and span["status"])
    assert failed["status"] == {"code": 2, "message": "the tier did not answer"}
    assert attributes(failed)["error.type"] == "connect"


def test_an_interruption_is_an_event_with_its_figures(session: Path) -> None:
    events = [event for span in spans_of(exported(session, "otlp")) for event in span["events"]]
    bid, backchannel = [attributes(event) for event in events if event["name"] == "voicetui.barge_in"]
    assert (bid["voicetui.barge_in.kind"], bid["voicetui.barge_in.onset_ms"]) == ("bid", 900.0)
    assert bid["voicetui.barge_in.stop_ms"] == 230.0
    assert backchannel["voicetui.barge_in.kind"] == "backchannel"
    assert "voicetui.barge_in.stop_ms" not in backchannel


def test_what_was_said_is_in_the_spans_only_when_asked_for(session: Path) -> None:
    words = ("what?", "story", "king", "laughed")
    without = exported(session, "otlp")
    assert not [word for word in words if word in without]
    with_text = exported(session, "otlp", "--with-text")
    assert all(word in with_text for word in words)
    chat = next(
        attributes(span) for span in spans_of(with_text) if attributes(span).get("gen_ai.response.finish_reasons")
    )
    assert json.loads(chat["gen_ai.input.messages"])[0]["parts"] == [{"type": "text", "content": "=1+1 is what?"}]


def test_a_journal_without_a_date_has_no_spans(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    journal = session / "journal.jsonl"
    journal.write_text(journal.read_text("utf-8").replace("2030-01-01T00:00:00Z", "yesterday"), "utf-8")
    assert run(["export", str(session), "--as", "otlp"]) == 1
    assert "does not say when" in capsys.readouterr().err


def test_rows_hold_every_turn_and_no_formula(session: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(exported(session, "csv"))))
    latency = fold_latency(conversation().entries)
    assert [int(row["turn"]) for row in rows] == [turn.turn for turn in latency]
    assert rows[0]["user_text"] == "'=1+1 is what?"
    assert float(rows[0]["gap_ms"]) == latency[0].gap_ms
    assert (rows[1]["barge_in_kind"], float(rows[1]["barge_in_stop_ms"])) == ("bid", 230.0)
    assert rows[1]["heard_text"] == "Once upon a time"
    assert rows[-1]["gap_ms"] == "" and "reply_start: the reply was not heard: failed" in rows[-1]["missing"]
    objects = [json.loads(line) for line in exported(session, "jsonl").splitlines()]
    assert objects[0]["user_text"] == "=1+1 is what?" and objects[-1]["gap_ms"] is None
    assert [list(each) for each in objects] == [list(rows[0])] * len(rows)


def test_a_journal_that_lost_its_beginning_is_exported_as_far_as_it_goes(
    session: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = session / "journal.jsonl"
    journal.write_text("".join(journal.read_text("utf-8").splitlines(keepends=True)[6:]), "utf-8")
    row = json.loads(exported(session, "jsonl").splitlines()[0])
    assert (row["session"], row["gap_ms"], row["overlap"]) == (NAME, 480.0, None)
    assert "journal.jsonl" in capsys.readouterr().err
    assert "=1+1" in exported(session, "text") and "=1+1" in exported(session, "vtt")


def test_captions_are_on_the_tracks_clock_and_well_formed(session: Path) -> None:
    times = conversation().times
    head, note, *cues = exported(session, "vtt").strip().split("\n\n")
    assert head == "WEBVTT" and note.startswith("NOTE ") and "-->" not in note
    stamp = r"(\d\d):(\d\d):(\d\d\.\d{3})"
    starts = []
    for cue in cues:
        timing, text = cue.split("\n")
        found = re.fullmatch(f"{stamp} --> {stamp}", timing)
        assert found is not None and "-->" not in text
        start, end = [sum(float(n) * by for n, by in zip(part, (3600, 60, 1), strict=True)) for part in
                      (found.groups()[:3], found.groups()[3:])]  # fmt: skip
        assert start < end
        starts.append(start * 1000)
    assert starts == sorted(starts)
    assert cues[0].endswith("<v User>=1+1 is what?")
    assert starts[0] == times[1].onset - 500  # the microphone's first sample came 500 ms into the session
    assert cues[1].endswith("<v voicetui>It is &lt;two&gt; --&gt; &amp; more.")
    assert "<v voicetui>Once upon a time –" in "\n".join(cues) and "king" not in "\n".join(cues)


def test_a_transcript_marks_what_was_not_heard(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["export", str(session), "--as", "text"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "tier local" in lines[0]
    assert any(line.endswith("voicetui  Once upon a time [not heard: there was a king. He was old.]") for line in lines)
    assert any(line.endswith("(no turn: backchannel)") for line in lines)


def test_what_was_said_cannot_command_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nasty = "What \x1b]0;time\x07 is\u202e it,\x9b31m\r\n-->?"
    journal = JournalBuilder().opened().ready().turn(nasty, [nasty]).closed()
    (tmp_path / "nasty").mkdir()
    journal.write(tmp_path / "nasty" / "journal.jsonl")
    for form, more in (("text", ()), ("vtt", ()), ("csv", ()), ("jsonl", ()), ("otlp", ("--with-text",))):
        assert run(["export", str(tmp_path / "nasty"), "--as", form, *more]) == 0
        out = capsys.readouterr().out
        assert "time" in out and not [mark for mark in "\x1b\x07\x9b\r\u202e" if mark in out], form
    assert json.loads(exported(tmp_path / "nasty", "jsonl"))["user_text"] == nasty


def test_simulated_tiers_are_called_so(tmp_path: Path) -> None:
    journal = JournalBuilder().opened("pretend", simulated=True).ready().turn("Hello.", ["Hi."]).closed()
    (tmp_path / "simulated").mkdir()
    journal.write(tmp_path / "simulated" / "journal.jsonl")
    assert "pretend (simulated)" in exported(tmp_path / "simulated", "text")
    assert json.loads(exported(tmp_path / "simulated", "jsonl"))["simulated"] is True
    spans = [attributes(span) for span in spans_of(exported(tmp_path / "simulated", "otlp"))]
    assert all(span["voicetui.simulated"] for span in spans if "voicetui.simulated" in span)
    assert any(span.get("gen_ai.provider.name") == "simulated" for span in spans)


def test_staged_gaps_are_called_so(tmp_path: Path) -> None:
    journal = JournalBuilder().opened().ready().turn("Hello.", ["Hi there."]).closed()
    (tmp_path / "staged").mkdir()
    file = journal.write(tmp_path / "staged" / "journal.jsonl")
    file.write_text(file.read_text("utf-8").replace('"reason":"silence"', '"reason":"staged"'), "utf-8")
    assert exported(tmp_path / "staged", "text").rstrip().endswith("voicetui  Hi there. (staged gap)")
    assert json.loads(exported(tmp_path / "staged", "jsonl"))["staged"] is True
    assert attributes(spans_of(exported(tmp_path / "staged", "otlp"))[1])["voicetui.staged"] is True


def test_a_stereo_file_has_the_tracks_samples(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    user, reply = (np.arange(count, dtype=np.int64) % 30_011 - 15_000 for count in (100_000, 70_000))
    for name, track in (("user.wav", user), ("reply.wav", reply)):
        writer = WavWriter(session / name, limit_bytes=120_044)
        writer.append(track.astype(np.int16))
        writer.close()
    file = session.parent / "call.wav"
    assert run(["export", str(session), "--as", "wav", "-o", str(file)]) == 0
    with wave.open(str(file)) as sound:
        assert (sound.getnchannels(), sound.getframerate(), sound.getsampwidth()) == (2, 16_000, 2)
        frames = np.frombuffer(sound.readframes(200_000), "<i2").reshape(-1, 2)
    assert np.array_equal(frames[:, 0], user)
    assert np.array_equal(frames[:, 1], np.concatenate((reply, np.zeros(30_000))))
    for part in session.glob("reply*.wav"):
        part.unlink()
    assert run(["export", str(session), "--as", "wav", "-o", str(file)]) == 0
    assert "reply.wav is not there: the right channel is silent" in capsys.readouterr().err
    with wave.open(str(file)) as sound:
        assert not np.frombuffer(sound.readframes(200_000), "<i2").reshape(-1, 2)[:, 1].any()


def test_a_session_without_sound_or_with_too_much_is_no_wav(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = session.parent / "call.wav"
    assert run(["export", str(session), "--as", "wav", "-o", str(file)]) == 1
    assert "recorded without sound" in capsys.readouterr().err
    for name in ("user.wav", "user.2.wav"):
        writer = WavWriter(session / name)
        writer.close()
        with (session / name).open("r+b") as track:
            track.truncate(2**31)
    assert run(["export", str(session), "--as", "wav", "-o", str(file)]) == 1
    assert "a stereo WAV file can hold 18.6 h" in capsys.readouterr().err
    assert [path.name for path in session.parent.iterdir()] == [NAME]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("wav",), "a WAV needs a file"),
        (("csv", "--to", "http://localhost:4318"), "--to sends spans"),
        (("vtt", "--with-text"), "--with-text is for"),
        (("csv", "-o", "nowhere/out.csv"), "does not exist"),
        (("csv", "-o", "{session}/journal.jsonl"), "never touched"),
    ],
)
def test_what_does_not_go_together(
    session: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], says: str
) -> None:
    before = (session / "journal.jsonl").read_bytes()
    form, *more = (each.replace("{session}", str(session)) for each in arguments)
    assert run(["export", str(session), "--as", form, *more]) == 2
    assert says in capsys.readouterr().err
    assert (session / "journal.jsonl").read_bytes() == before


class Collector:
    """Takes what is sent to it over HTTP, and answers as it is told to."""

    def __init__(self) -> None:
        self.taken: list[tuple[str, dict[str, str], bytes]] = []
        self.refused_kind = ""
        self.answer: dict[str, Any] = {}
        self.status = 200
        double = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                double.taken.append((self.path, {name.lower(): value for name, value in self.headers.items()}, body))
                refused = bool(double.refused_kind) and self.headers["content-type"] == double.refused_kind
                self.send_response(415 if refused else double.status)
                self.send_header("content-type", "application/json")
                self.end_headers()
                self.wfile.write(json.dumps(double.answer).encode())

            def log_message(self, *_: object) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def collector() -> Iterator[Collector]:
    double = Collector()
    yield double
    double.close()


def send(session: Path, url: str) -> int:
    return run(["export", str(session), "--as", "otlp", "--to", url])


def test_a_collector_gets_the_very_same_spans(
    session: Path, collector: Collector, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20secret, x-team=voice")
    assert send(session, collector.url) == 0
    said = capsys.readouterr()
    ((path, headers, body),) = collector.taken
    assert (path, headers["content-type"]) == ("/v1/traces", "application/json")
    assert (headers["authorization"], headers["x-team"]) == ("Bearer secret", "voice")
    assert spans_of(body.decode()) == spans_of(exported(session, "otlp"))
    assert "spans of" in said.err and not said.out


def test_a_collector_that_takes_only_protobuf_gets_that(session: Path, collector: Collector) -> None:
    need_package("opentelemetry")
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    collector.refused_kind = "application/json"
    assert send(session, f"{collector.url}/custom/traces") == 0
    (_, refused, _), (path, headers, body) = collector.taken
    assert (refused["content-type"], headers["content-type"]) == ("application/json", "application/x-protobuf")
    assert path == "/custom/traces"
    message = ExportTraceServiceRequest.FromString(body)
    got = message.resource_spans[0].scope_spans[0].spans
    wanted = spans_of(exported(session, "otlp"))
    assert [span.span_id.hex() for span in got] == [span["spanId"] for span in wanted]
    assert [span.start_time_unix_nano for span in got] == [int(span["startTimeUnixNano"]) for span in wanted]


def test_a_collector_that_refuses_is_quoted(
    session: Path, collector: Collector, capsys: pytest.CaptureFixture[str]
) -> None:
    collector.status = 401
    assert send(session, collector.url) == 1
    assert "answered 401" in capsys.readouterr().err
    collector.status, collector.answer = 200, {"partialSuccess": {"rejectedSpans": "3", "errorMessage": "too old"}}
    assert send(session, collector.url) == 1
    assert "rejected 3 spans: too old" in capsys.readouterr().err


def test_a_dead_collector_is_said_in_words(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        assert send(session, url) == 1
    said = capsys.readouterr()
    assert f"No collector could be reached at {url}/v1/traces" in said.err and "4318" in said.err
    assert send(session, "localhost:4318") == 1
    assert "no web address" in capsys.readouterr().err


def test_no_cause_commands_the_terminal_that_shows_a_transcript(tmp_path: Path) -> None:
    folder = tmp_path / NAME
    folder.mkdir()
    journal = JournalBuilder().opened().ready().rejected("noise\x1b[2J\nagain", "Hm")
    journal.closed().write(folder / "journal.jsonl")
    told = exported(folder, "text")
    assert "(no turn: noise[2J again)" in told and "\x1b" not in told


def test_what_is_missing_is_named(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exported(session, "csv")
    assert "user.wav: is missing" in capsys.readouterr().err

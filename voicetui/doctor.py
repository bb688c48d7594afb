"""What a conversation needs, checked one by one, each with how to mend it."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TextIO

from voicetui import models
from voicetui.config import Config, recordings_folder
from voicetui.ports import SoundError
from voicetui.runtime.clock import SystemClock
from voicetui.sound.devices import list_devices
from voicetui.sound.echo import missing
from voicetui.sound.loopback import measure
from voicetui.sound.microphone import DeviceMicrophone
from voicetui.sound.speaker import DeviceSpeaker
from voicetui.tui.literal import literal
from voicetui.wiring import needed_models, spare_models

_LEAST_FREE_MB = 200


class Finding(NamedTuple):
    """``state`` is "ok", "note" (a feature is missing) or "bad" (the main job cannot run)."""

    state: str
    what: str
    mend: str = ""


def examine(config: Config, out: TextIO, loopback: bool = False) -> int:
    """Print every finding; 1 if anything keeps the main job from running. ``loopback`` also plays and hears chirps."""
    checks: tuple[Callable[[Config], list[Finding]], ...] = (
        _python,
        _models,
        _local_tier,
        _keys,
        _echo,
        _devices,
        _folder,
    )
    findings = [finding for check in checks for finding in check(config)]
    if loopback:
        findings.append(asyncio.run(_loopback(config)))
    for finding in findings:
        print(f"{finding.state:5} {literal(finding.what)}", file=out)
        if finding.mend:
            print(f"      -> {literal(finding.mend)}", file=out)
    return 1 if any(finding.state == "bad" for finding in findings) else 0


def _python(_: Config) -> list[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    return [Finding("ok", f"Python {version}, {os.cpu_count()} cores")]


def _models(config: Config) -> list[Finding]:
    found = []
    for name in needed_models(config):
        model = models.find(name)
        spare = spare_models(config)
        state, without = ("note", f": {spare[name]}") if name in spare else ("bad", "")
        if not models.installed(model):
            found.append(Finding(state, f"model {name} is not installed{without}", f"voicetui models pull {name}"))
        elif models.verify(model):
            found.append(Finding(state, f"model {name} is damaged{without}", f"voicetui models pull {name}"))
        else:
            found.append(Finding("ok", f"model {name}"))
    return found


def _local_tier(config: Config) -> list[Finding]:
    if not any(tier.kind == "local" for tier in config.tiers):
        return []
    if importlib.util.find_spec("xllamacpp") is not None:
        return [Finding("ok", "embedded language model server (xllamacpp)")]
    return [
        Finding(
            "bad", "xllamacpp is not installed: local tiers cannot answer", "pip install xllamacpp, or use another tier"
        )
    ]


def _keys(config: Config) -> list[Finding]:
    found = []
    for tier in config.tiers:
        if tier.api_key_env and not os.environ.get(tier.api_key_env):
            state = "bad" if tier.name == config.conversation.tier else "note"
            found.append(
                Finding(state, f"tier {tier.name}: {tier.api_key_env} is not set", "export it before you start")
            )
    return found


def _echo(_: Config) -> list[Finding]:
    lacks = missing()
    if lacks is None:
        return [Finding("ok", "echo cancelling (WebRTC)")]
    mend = f"{lacks.mend}, or use --headphones; until then the microphone is shut while it speaks"
    return [Finding("note", f"no echo cancelling: {lacks.why}", mend)]


def _devices(_: Config) -> list[Finding]:
    try:
        found = list_devices()
    except SoundError as error:
        return [Finding("note", "sound devices cannot be used", str(error))]
    inputs = [device.name for device in found if device.input_channels]
    outputs = [device.name for device in found if device.output_channels]
    advice = "plug one in, or use `voicetui demo` and `voicetui run`"
    return [
        Finding("ok", f"microphones: {', '.join(inputs)}") if inputs else Finding("note", "no microphone", advice),
        Finding("ok", f"speakers: {', '.join(outputs)}")
        if outputs
        else Finding("note", "no speaker: replies are not heard", advice),
    ]


def _folder(config: Config) -> list[Finding]:
    folder = recordings_folder(config)
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if not os.access(existing, os.W_OK):
        return [
            Finding("bad", f"recordings folder {folder} cannot be written", "set record.folder, or use --no-record")
        ]
    free_mb = shutil.disk_usage(Path(existing)).free / 1e6
    if free_mb < _LEAST_FREE_MB:
        return [
            Finding("note", f"only {free_mb:.0f} MB free for recordings in {folder}", "make room, or set record.folder")
        ]
    return [Finding("ok", f"recordings in {folder}, {free_mb / 1e3:.0f} GB free")]


async def _loopback(config: Config) -> Finding:
    """The times of speaker and microphone against each other, by chirps through the air."""
    clock = SystemClock()
    speaker = DeviceSpeaker(clock, config.audio.output, latency_ms=config.audio.output_latency_ms)
    try:
        result = await measure(speaker, DeviceMicrophone(clock, config.audio.input), clock)
    except SoundError as error:
        return Finding("bad", f"loopback: {error}", "see `voicetui devices`")
    heard = f"{len(result.residual_ms)} of {result.played} chirps heard"
    if not result.residual_ms:
        return Finding("bad", f"loopback: {heard}", "turn the speaker up, or bring the microphone nearer")
    spread_ms = max(result.residual_ms) - min(result.residual_ms)
    return Finding("ok", f"loopback: {heard}, residual {result.median_ms:.1f} ms, spread {spread_ms:.1f} ms")

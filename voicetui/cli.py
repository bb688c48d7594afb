"""The command line: data on stdout, talk on stderr, exit status 0 (ok), 1 (the thing failed) or 2 (called wrong)."""

from __future__ import annotations

import argparse
import asyncio
import importlib
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from voicetui import __version__, streams
from voicetui import arguments as numbers
from voicetui import commands as recorded_commands
from voicetui.benchmark import add_arguments as _add_bench
from voicetui.config import Config, ConfigError, assets, load_config
from voicetui.talk import say

if TYPE_CHECKING:
    from voicetui.wiring import Choice


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Run a command and exit with its status."""
    streams.make_usable()
    try:
        status = run(argv)
    except KeyboardInterrupt:  # while the command was still being looked for
        status = 1
    except Exception as error:
        say(f"voicetui: {streams.mistake_text(error)}")
        status = 1
    sys.exit(streams.ended(status))


def run(argv: Sequence[str] | None = None) -> int:
    """Run a command; its exit status. Errors a person can meet are one message on stderr."""
    arguments = _parser().parse_args(argv)
    from voicetui.journal.recorded import RecordedError
    from voicetui.models import ModelError
    from voicetui.ports import SoundError, StageError
    from voicetui.rehearse.scenario import ScenarioError

    try:
        return int(arguments.command(arguments))
    except (ConfigError, ModelError, RecordedError, SoundError, StageError, ScenarioError) as error:
        remedy = getattr(error, "remedy", "")
        end = f"{'' if f'{error}'.endswith(('.', '!', '?')) else '.'} {remedy}" if remedy else ""
        say(f"voicetui: {error}{end}")
        return 2 if isinstance(error, ConfigError) else 1
    except KeyboardInterrupt:
        say("voicetui: interrupted")
        return 1
    except BrokenPipeError:
        return 1
    except OSError as error:
        say(f"voicetui: {streams.system_text(error)}")
        return 1


def live(arguments: argparse.Namespace) -> int:
    """Talk to it on the real devices."""
    from voicetui.progress import pull_missing
    from voicetui.sound.devices import list_devices
    from voicetui.wiring import Choice

    _refuse_in_vain(arguments)
    config = _config(arguments)
    advice = _no_input_advice(list_devices)
    choice = Choice(
        "microphone",
        arguments.tier,
        arguments.overlap,
        arguments.headphones or None,
        half_duplex=arguments.half_duplex,
        record=not arguments.no_record,
        gaps_ms=arguments.gap,
    )
    if not arguments.headless:
        later = f"{advice} Press d to choose one that is plugged in later." if advice else ""
        return _screen(arguments, config, replace(choice, microphone=not advice), later)
    if advice:
        say(f"voicetui: {advice}")
        return 1
    pull_missing(config)
    return _headless(arguments, config, choice, seconds=arguments.seconds)


def demo(arguments: argparse.Namespace) -> int:
    """A scripted person talks to the real pipeline."""
    from voicetui.progress import pull_missing
    from voicetui.rehearse.scenario import load_scenario
    from voicetui.wiring import Choice

    _refuse_in_vain(arguments)
    config = _config(arguments)
    if arguments.serve is not None:
        return _serve(arguments, config)
    scenario = load_scenario(assets() / "scenarios" / ("staged.toml" if arguments.gap else "demo.toml"))
    choice = Choice(
        "demo",
        arguments.tier,
        arguments.overlap,
        True,
        record=not arguments.no_record,
        scenario=scenario,
        max_tokens=24,
        gaps_ms=arguments.gap,
        aloud=True,
    )
    if arguments.headless:
        pull_missing(config)
        return _headless(arguments, config, choice)
    return _screen(arguments, config, choice, "")


def run_inputs(arguments: argparse.Namespace) -> int:
    """Converse with files or a scenario instead of a person."""
    from voicetui.ports import SoundError
    from voicetui.progress import pull_missing
    from voicetui.rehearse.scenario import load_scenario, of_files
    from voicetui.sound.wav import read_audio
    from voicetui.wiring import Choice, Output

    config = _config(arguments)
    paths = [Path(each) for each in arguments.inputs]
    refused: list[str] = []
    if len(paths) == 1 and paths[0].suffix == ".toml":
        scenario = load_scenario(paths[0])
    elif any(path.suffix == ".toml" for path in paths):
        raise ConfigError("A scenario is given alone, not together with other inputs. Run them one after the other.")
    else:
        good = []
        for path in paths:
            try:
                read_audio(path)
                good.append(path)
            except SoundError as error:
                refused.append(str(error))
        scenario = of_files(good)
    for message in refused:
        say(f"voicetui: {message}")
    if not scenario.lines:
        return 1
    pull_missing(config)
    output: Output = "device" if arguments.speaker else "null"
    choice = Choice(
        "run", arguments.tier, arguments.overlap, True, output, record=not arguments.no_record, scenario=scenario
    )
    return _headless(arguments, config, choice, refused=refused)


def bench(arguments: argparse.Namespace) -> int:
    """Compare overlap modes, or tiers, on the same recordings."""
    from voicetui.benchmark import bench as compare

    return compare(arguments)


def models(arguments: argparse.Namespace) -> int:
    """Show what is installed, or fetch what is missing."""
    from voicetui import models as catalogue
    from voicetui.progress import Bars

    if arguments.action == "list" and arguments.names:
        raise ConfigError("models list takes no names, it shows all. To fetch one: voicetui models pull NAME.")
    if arguments.action == "pull":
        names = arguments.names or (
            [m.name for m in catalogue.catalogue()] if arguments.all else list(catalogue.DEFAULT_SET)
        )
        with Bars(sys.stderr) as bars:
            catalogue.pull(names, bars.show)
    for model in catalogue.catalogue():
        state = "installed" if catalogue.installed(model) else "-"
        default = "default" if model.name in catalogue.DEFAULT_SET else ""
        print(
            f"{model.name:28} {state:10} {default:8} {model.size_bytes / 1e6:6.0f} MB  {model.license:12} {model.what}"
        )
    print(f"in {catalogue.folder()}", file=sys.stderr)
    return 0


def devices(_: argparse.Namespace) -> int:
    """Show the sound devices; having none is no failure."""
    from voicetui.ports import SoundError
    from voicetui.sound.devices import list_devices
    from voicetui.tui.literal import literal

    try:
        found = list_devices()
    except SoundError as error:
        say(f"voicetui: {error}")
        return 0
    for device in found:
        roles = f"{device.input_channels} in, {device.output_channels} out"
        defaults = (("default-input", device.default_input), ("default-output", device.default_output))
        default, host = " ".join(word for word, is_so in defaults if is_so), literal(device.host)
        print(f"{device.name!r:44} {host:12} {roles:14} {device.default_rate_hz:6} Hz  {default}".rstrip())
    if not found:
        print("No sound devices. `voicetui demo` needs none.", file=sys.stderr)
    return 0


def doctor(arguments: argparse.Namespace) -> int:
    """Check what a conversation needs, and say how to mend what is wrong."""
    from voicetui.doctor import examine

    return examine(_config(arguments), sys.stdout, arguments.loopback)


def _config(arguments: argparse.Namespace) -> Config:
    return load_config(arguments.config)[0]


def _refuse_in_vain(arguments: argparse.Namespace) -> None:
    """Raises ``ConfigError`` for what only a session without a screen heeds."""
    given = [name for name in ("json", "seconds") if getattr(arguments, name, None) is not None]
    if given and not arguments.headless:
        raise ConfigError(f"--{given[0]} does nothing on a screen. Use it with --headless.")


def _headless(
    arguments: argparse.Namespace,
    config: Config,
    choice: Choice,
    seconds: float | None = None,
    refused: Sequence[str] = (),
) -> int:
    from voicetui.headless import run_headless
    from voicetui.journal.target import target_refused

    json_file = Path(arguments.json) if arguments.json else None
    if json_file is not None and (wrong := target_refused(json_file)):
        raise ConfigError(wrong)
    return asyncio.run(run_headless(config, choice, seconds=seconds, json_file=json_file, refused=refused))


def _serve(arguments: argparse.Namespace, config: Config) -> int:
    from voicetui.progress import pull_missing
    from voicetui.serve import serve

    pull_missing(config)
    chosen = [
        word
        for name in ("config", "tier", "overlap")
        if (value := getattr(arguments, name)) is not None
        for word in (f"--{name}", value)
    ]
    chosen += ["--gap", ",".join(f"{gap_ms:.10g}" for gap_ms in arguments.gap)] if arguments.gap else []
    flags = [f"--{name.replace('_', '-')}" for name in ("no_record", "present") if getattr(arguments, name)]
    return serve(["demo", *chosen, *flags], arguments.serve)


def _screen(arguments: argparse.Namespace, config: Config, choice: Choice, notice: str) -> int:
    from voicetui.progress import pull_missing
    from voicetui.serve import NOTICE, served

    if not served() and (why := streams.no_screen()):
        say(f"voicetui: {why} Use --headless, or `voicetui run INPUT...`.")
        return 2
    from voicetui.screen import show

    pull_missing(config)
    return show(config, choice, notice or (NOTICE if served() else ""), present=getattr(arguments, "present", False))


def _no_input_advice(list_devices: object) -> str:
    from voicetui.ports import SoundError

    try:
        assert callable(list_devices)
        found = list_devices()
    except SoundError as error:
        return str(error)
    if any(device.input_channels for device in found):
        return ""
    return "There is no microphone. Plug one in (see `voicetui devices`), or try `voicetui demo`, which needs none."


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="voicetui",
        description="A terminal bench for live voice conversation: talk, and see where every millisecond went.",
    )
    parser.add_argument("--version", action="version", version=f"voicetui {__version__}")
    _add_common(parser)
    _add_live(parser)
    parser.set_defaults(command=live)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name, command, add in (
        ("live", live, _add_live),
        ("demo", demo, _add_demo),
        ("run", run_inputs, _add_run),
        ("bench", bench, _add_bench),
        ("models", models, _add_models),
        ("devices", devices, None),
        ("doctor", doctor, _add_doctor),
    ):
        sub = commands.add_parser(
            name,
            help=(command.__doc__ or "").rstrip("."),
            description=command.__doc__,
            argument_default=argparse.SUPPRESS,  # what stands before the command counts too
        )
        _add_common(sub)
        if add is not None:
            add(sub)
        sub.set_defaults(command=command)
    for name in recorded_commands.NAMES:
        module = importlib.import_module(recorded_commands.module(name))
        summary = (module.__doc__ or "").partition("\n")[0]
        sub = commands.add_parser(
            name, help=summary.rstrip("."), description=summary, argument_default=argparse.SUPPRESS
        )
        _add_common(sub)
        module.add_arguments(sub)
        sub.set_defaults(command=module.command)
    return parser


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", metavar="FILE", help="configuration (TOML) instead of the one that would be found")


def _add_session(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tier", metavar="T", help="the LLM choice, by its name in [[tiers]]")
    parser.add_argument("--overlap", choices=("none", "clause", "full"), help="how the stages overlap")
    parser.add_argument("--no-record", action="store_true", help="keep nothing on disk")
    parser.add_argument("--json", metavar="FILE", help="write the session summary there (without a screen)")


def _add_live(parser: argparse.ArgumentParser) -> None:
    _add_session(parser)
    parser.add_argument("--headless", action="store_true", help="no screen: one line for each turn")
    parser.add_argument("--seconds", type=numbers.seconds, metavar="N", help="end after N seconds (with --headless)")
    echo = parser.add_mutually_exclusive_group()
    echo.add_argument("--headphones", action="store_true", help="you wear headphones: no echo has to be cancelled")
    echo.add_argument(
        "--half-duplex", action="store_true", help="shut the microphone while the reply is audible, instead"
    )
    add_gap(parser)
    parser.add_argument("--present", action="store_true", help="presenter mode: one big number")


def _add_demo(parser: argparse.ArgumentParser) -> None:
    _add_session(parser)
    parser.add_argument("--headless", action="store_true", help="no screen: one line for each turn")
    add_gap(parser)
    parser.add_argument("--present", action="store_true", help="presenter mode: one big number")
    parser.add_argument(
        "--serve",
        nargs="?",
        type=numbers.port,
        const=8000,
        default=None,
        metavar="PORT",
        help="show the screen in a browser, on this machine only (default 8000)",
    )


def add_gap(parser: argparse._ActionsContainer) -> None:
    """The flag that stages gaps."""
    parser.add_argument(
        "--gap",
        type=numbers.gaps,
        default=(),
        metavar="MS[,MS...]",
        help="staged gap: release a ready-made reply exactly this long after you stop, in turn if there are several",
    )


def _add_run(parser: argparse.ArgumentParser) -> None:
    _add_session(parser)
    parser.add_argument("inputs", nargs="+", metavar="INPUT", help="WAV or FLAC files, or one scenario (TOML)")
    parser.add_argument("--speaker", action="store_true", default=False, help="play the replies on the real speaker")


def _add_models(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", nargs="?", choices=("list", "pull"), default="list", help="list them, or fetch them")
    parser.add_argument(
        "names", nargs="*", default=[], metavar="NAME", help="which ones (default: what the demo needs)"
    )
    parser.add_argument("--all", action="store_true", default=False, help="every model of the catalogue")


def _add_doctor(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--loopback", action="store_true", default=False, help="also play chirps, hear them, and show the residual"
    )

"""Configuration: TOML into typed records.

Every mistake is answered with file, key, what was found and what is allowed.
"""

from __future__ import annotations

import os
import re
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

import msgspec
import platformdirs

from voicetui.conversation.policy import Policy
from voicetui.events.orders import STAGED
from voicetui.events.session import Overlap
from voicetui.toml_text import TomlError, convert, is_file, not_json, parse_toml, read_toml

Amount = Annotated[float, msgspec.Meta(ge=0, le=1e9)]
Positive = Annotated[float, msgspec.Meta(gt=0, le=1e9)]
Share = Annotated[float, msgspec.Meta(gt=0, lt=1)]
Count = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
Threads = Annotated[int, msgspec.Meta(ge=1, le=256)]
Name = Annotated[str, msgspec.Meta(min_length=1)]
_SECRET = ("key", "token", "secret", "authorization", "password", "bearer", "credential")
_SECRET_WORDS = ("auth", "oauth")
"""Secret as words of their own only: an author is none."""


_RULES = Policy()


class ConfigError(Exception):
    """The configuration cannot be used; ``str(error)`` names file, key, what was found and what is allowed."""


class _Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class Conversation(_Table, frozen=True):
    """Who answers, and how the pipeline overlaps."""

    tier: Name = "local"
    overlap: Overlap = "full"
    system_prompt: str = "You are a helpful assistant."
    prewarm: bool = True
    prewarm_pauses: bool = False
    prewarm_newest: bool = True


class Audio(_Table, frozen=True):
    """Devices. ``None`` is the system's default."""

    input: str | None = None
    output: str | None = None
    headphones: bool = False
    half_duplex: bool = False
    output_latency_ms: Annotated[float, msgspec.Meta(ge=5, le=500)] = 30


class Listen(_Table, frozen=True):
    """Recogniser and detector."""

    model: Name = "whisper-tiny.en"
    language: Name = "en"
    threads: Threads = 2
    vad_threshold: Share = 0.5


class Endpoint(_Table, frozen=True):
    """When a turn is over; ms from the acoustic end of the speech. The numbers mean what ``Policy`` says."""

    policy: Literal["silence", "model"] = "model"
    model: Name = "smart-turn-v3.2"
    threads: Threads = 1
    silence_ms: Positive = 500
    sure_ms: Positive = _RULES.sure_ms
    unsure_ms: Positive = _RULES.unsure_ms
    ended_ms: Positive = 750
    ended_logprob: Annotated[float, msgspec.Meta(ge=-10, le=0)] = -0.2
    reply_wait_ms: Annotated[float, msgspec.Meta(ge=0, le=10_000)] = 700
    score_after_ms: Annotated[float, msgspec.Meta(ge=0, le=1000)] = 100
    quick_pauses: bool = True
    cut_off_risk: Share = 0.035
    score_words: bool = True
    words_after_ms: Annotated[float, msgspec.Meta(ge=0, le=1000)] = 400
    words_model: Name = "smollm2-135m-instruct"
    score_weight: Annotated[float, msgspec.Meta(gt=0, le=10)] = _RULES.score_weight
    words_odds: Annotated[float, msgspec.Meta(gt=0, le=1000)] = 60.0
    words_weight: Annotated[float, msgspec.Meta(ge=0, le=10)] = 1.1
    beside_words_odds: Annotated[float, msgspec.Meta(gt=0, le=1000)] = 40.0
    clear_logprob: Annotated[float, msgspec.Meta(ge=-10, le=0)] = -0.15
    unfinished_ms: Positive = 1500
    resume_ms: Positive = 1000


class Speak(_Table, frozen=True):
    """The voice."""

    voice: Name = "piper-en_US-joe-medium"
    threads: Threads = 1
    cached_clauses: Annotated[int, msgspec.Meta(ge=0, le=1000)] = 0


class Knowledge(_Table, frozen=True):
    """A folder of notes to look things up in; None: there is none. ``passages`` of them go into a request, at most."""

    folder: Name | None = None
    passages: Count = 2


class Record(_Table, frozen=True):
    """Whether and where sessions are kept, how many of them and for how many days (None: all, for ever)."""

    on: bool = True
    folder: str | None = None
    keep: Count | None = None
    keep_days: Positive | None = None


class Spread(_Table, frozen=True):
    """Two quantiles of a simulated delay, ms."""

    p50: Positive
    p95: Positive


class Price(_Table, frozen=True):
    """USD per million tokens."""

    input: Amount
    output: Amount


class TierTable(_Table, frozen=True):
    """One LLM choice."""

    name: Name
    kind: Literal["local", "openai", "simulated"]
    model: str = ""
    base_url: str | None = None
    api_key_env: str | None = None
    max_tokens: Count = 96
    temperature: Annotated[float, msgspec.Meta(ge=0, le=100)] = 0.0
    starts_in_reasoning: bool = False
    threads: Threads | None = None
    price: Price | None = None
    ttft_ms: Spread | None = None
    tokens_per_second: Positive | None = None
    replies: tuple[str, ...] = ()
    seed: Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)] = 0
    extra: dict[str, object] = {}


class Config(_Table, frozen=True):
    """Everything that can be configured."""

    conversation: Conversation = Conversation()
    audio: Audio = Audio()
    listen: Listen = Listen()
    endpoint: Endpoint = Endpoint()
    speak: Speak = Speak()
    knowledge: Knowledge = Knowledge()
    record: Record = Record()
    tiers: tuple[TierTable, ...] = ()

    def scores_words(self) -> bool:
        """Whether a language model scores the words at a pause, too: it knows English alone."""
        return self.endpoint.score_words and self.listen.language == "en"

    def policy(self) -> Policy:
        """The rules' numbers."""
        return Policy(
            system_prompt=self.conversation.system_prompt,
            prewarm=self.conversation.prewarm,
            prewarm_pauses=self.conversation.prewarm_pauses,
            prewarm_newest=self.conversation.prewarm_newest,
            knowledge=self.knowledge.folder is not None,
            knowledge_passages=self.knowledge.passages,
            silence_ms=self.endpoint.silence_ms,
            turn_end=self.endpoint.policy,
            sure_ms=self.endpoint.sure_ms,
            unsure_ms=self.endpoint.unsure_ms,
            ended_ms=self.endpoint.ended_ms,
            ended_logprob=self.endpoint.ended_logprob,
            reply_wait_ms=self.endpoint.reply_wait_ms,
            score_after_ms=self.endpoint.score_after_ms,
            quick_pauses=self.endpoint.quick_pauses,
            cut_off_risk=self.endpoint.cut_off_risk,
            score_weight=self.endpoint.score_weight,
            score_words=self.scores_words(),
            words_after_ms=self.endpoint.words_after_ms,
            words_odds=self.endpoint.words_odds,
            words_weight=self.endpoint.words_weight,
            beside_words_odds=self.endpoint.beside_words_odds,
            clear_logprob=self.endpoint.clear_logprob,
            unfinished_ms=self.endpoint.unfinished_ms,
            resume_ms=self.endpoint.resume_ms,
        )


def assets() -> Path:
    """The folder of shipped clips, scenarios and defaults: inside the installed package, or beside it in a checkout."""
    inside = Path(str(files("voicetui"))) / "assets"
    return inside if inside.is_dir() else Path(__file__).resolve().parent.parent / "assets"


def checkout() -> Path | None:
    """The checkout this program runs from, if it does."""
    root = Path(__file__).resolve().parent.parent
    return root if (root / "pyproject.toml").is_file() and (root / "recordings").is_dir() else None


def recordings_folder(config: Config) -> Path:
    """Where sessions are kept: as configured, ``recordings/`` of the checkout, or the user's data folder."""
    if config.record.folder:
        return Path(config.record.folder).expanduser()
    root = checkout()
    return root / "recordings" if root is not None else platformdirs.user_data_path("voicetui") / "recordings"


def find_config(named: str | None) -> Path:
    """The configuration file that counts. Raises ``ConfigError`` if the named one is not there."""
    if named is not None:
        path = Path(os.path.expanduser(named))  # noqa: PTH111 (Path.expanduser raises on an unknown user)
        if not is_file(path):
            what = " is no ordinary file" if os.path.lexists(path) else ": there is no such configuration file"
            raise ConfigError(f"{path if named else '(nothing)'}{what}. Name an existing one with --config.")
        return path
    for path in (Path("voicetui.toml"), platformdirs.user_config_path("voicetui") / "voicetui.toml"):
        if is_file(path):
            return path
    return assets() / "voicetui.toml"


def load_config(named: str | None = None) -> tuple[Config, Path]:
    """Read and check the configuration. Raises ``ConfigError``."""
    path = find_config(named)
    try:
        raw = read_toml(path)
    except (TomlError, FileNotFoundError) as error:
        raise ConfigError(f"{error}") from error
    return check_config(raw, str(path)), path


def parse_config(text: str, source: str) -> Config:
    """Check a configuration text.

    Raises ``ConfigError`` naming ``source``, the key, what was found and what is allowed.
    """
    try:
        raw = parse_toml(text, source)
    except TomlError as error:
        raise ConfigError(f"{error}") from error
    return check_config(raw, source)


def check_config(raw: dict[str, object], source: str) -> Config:
    """The configuration of these JSON-ready values. Raises ``ConfigError`` as ``parse_config`` does."""
    try:
        config = convert(raw, Config, source, hidden=_may_hold_a_key)
    except TomlError as error:
        raise ConfigError(f"{error}") from error
    return _checked(config, source)


def _may_hold_a_key(place: str) -> bool:
    return place.startswith("tiers") and not place.endswith((".kind", ".name", ".model"))


def _checked(config: Config, source: str) -> Config:
    if not config.tiers:
        default = parse_config((assets() / "voicetui.toml").read_text("utf-8"), "the built-in configuration")
        config = msgspec.structs.replace(config, tiers=default.tiers)
    if config.audio.headphones and config.audio.half_duplex:
        raise ConfigError(
            f"{source}: audio.headphones and audio.half_duplex are both true. Allowed: one of them, or neither "
            "(the echo is cancelled)."
        )
    names = [tier.name for tier in config.tiers]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"{source}: two [[tiers]] are named {name!r}. Every tier needs a name of its own.")
    for tier in config.tiers:
        _check_tier(tier, source)
    if STAGED in names:
        raise ConfigError(f"{source}: a tier is named {STAGED!r}: that one answers staged gaps. Choose another name.")
    if config.endpoint.sure_ms > config.endpoint.unsure_ms:
        raise ConfigError(
            f"{source}: endpoint.sure_ms is {config.endpoint.sure_ms:g}, more than unsure_ms "
            f"{config.endpoint.unsure_ms:g}. unsure_ms must be at least sure_ms."
        )
    if config.conversation.tier not in names:
        raise ConfigError(
            f"{source}: conversation.tier is {config.conversation.tier!r}, but there is no such tier. "
            f"Allowed: {', '.join(names)}."
        )
    return config


def _check_tier(tier: TierTable, source: str) -> None:
    where = f"{source}: tier {tier.name!r}"
    if tier.kind == "openai":
        if re.match(r"[^/]*//[^/]*@", tier.base_url or ""):
            raise ConfigError(
                f"{where}: base_url holds a user or password. "
                "Put the key into an environment variable and name that in api_key_env."
            )
        if not tier.base_url or not _is_url(tier.base_url):
            raise ConfigError(
                f"{where}: base_url is {tier.base_url!r}. An openai tier needs one such as https://host/v1."
            )
    if unfit := not_json(tier.extra):
        raise ConfigError(f"{where}: extra.{unfit}. Allowed: text, numbers, true and false, lists and tables of these.")
    if tier.kind in ("openai", "local") and not tier.model:
        raise ConfigError(f"{where}: model is missing. Name the model this tier is to use.")
    if tier.kind == "simulated" and (tier.ttft_ms is None or tier.tokens_per_second is None):
        raise ConfigError(
            f"{where}: a simulated tier needs ttft_ms = {{ p50 = ..., p95 = ... }} and tokens_per_second."
        )
    if tier.ttft_ms is not None and tier.ttft_ms.p95 < tier.ttft_ms.p50:
        raise ConfigError(
            f"{where}: ttft_ms.p95 is {tier.ttft_ms.p95:g}, less than p50 {tier.ttft_ms.p50:g}. "
            "p95 must be at least p50."
        )
    if tier.api_key_env and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", tier.api_key_env):
        raise ConfigError(
            f"{where}: api_key_env is no name of an environment variable (its value is not shown: it may be a key). "
            "Write the variable's name, such as OPENAI_API_KEY, and put the key into that variable."
        )


def _is_url(text: str) -> bool:
    """Whether requests can be sent there, as far as the text tells."""
    try:
        parts = urlsplit(text)
        return bool(re.match(r"https?://[^/\s]+\S*$", text) and parts.hostname and parts.port != 0)
    except ValueError:
        return False


def api_key(tier: TierTable) -> str | None:
    """The tier's key from the environment. Raises ``ConfigError`` when its variable is named but not set."""
    if tier.api_key_env is None:
        return None
    key = os.environ.get(tier.api_key_env)
    if not key:
        raise ConfigError(
            f"tier {tier.name!r}: the environment variable {tier.api_key_env} is not set. "
            "Set it to your key, or choose another tier."
        )
    return key


def without_secrets(value: object) -> object:
    """JSON-ready values with all that holds text under a secret's name replaced: the text, its list, its table."""
    if isinstance(value, dict):
        return {key: _without_secrets(key, each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_secrets(each) for each in value]
    return value


def _without_secrets(key: str, value: object) -> object:
    if key != "api_key_env" and _secret(key) and _holds_text(value):
        return "(removed)"
    if key == "base_url" and isinstance(value, str):  # some servers take their key as a parameter
        return re.sub(r"([?&][^=&#]*=)[^&#]+", r"\1(removed)", value)
    return without_secrets(value)


def _secret(key: str) -> bool:
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", key)
    return any(part in key.lower() for part in _SECRET) or any(word.lower() in _SECRET_WORDS for word in words)


def _holds_text(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_text, value.values()))
    return any(map(_holds_text, value)) if isinstance(value, (list, tuple)) else isinstance(value, str)

"""Every mistake in the configuration names file, key, what was found and what is allowed."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from voicetui.config import (
    ConfigError,
    TierTable,
    api_key,
    load_config,
    parse_config,
    recordings_folder,
    without_secrets,
)
from voicetui.wiring import Choice, _opened


def test_the_built_in_configuration_needs_no_key_and_names_its_tier() -> None:
    config, path = load_config(None)
    assert path.name == "voicetui.toml"
    assert config.conversation.tier in [tier.name for tier in config.tiers]
    assert not any(tier.api_key_env for tier in config.tiers)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[conversation]\ntier = 3", ["conversation.tier", "3", "str"]),
        ("[talk]\na = 1", ["talk", "conversation, audio, listen"]),
        ("[endpoint]\nsilence_ms = -4", ["endpoint.silence_ms", "-4", "> 0"]),
        ("[endpoint]\npolicy = 'magic'", ["endpoint.policy", "magic", "'silence', 'model'"]),
        ("[endpoint]\nsure_ms = 2000", ["endpoint.sure_ms", "2000", "unsure_ms 1200"]),
        ("[endpoint]\ncut_off_risk = 1.5", ["endpoint.cut_off_risk", "1.5", "< 1"]),
        ("[endpoint]\nscore_weight = 11", ["endpoint.score_weight", "11", "<= 10"]),
        ("[endpoint]\nwords_odds = 1e9", ["endpoint.words_odds", "<= 1000"]),
        ("[endpoint]\nsilence = 4", ["endpoint.silence", "silence_ms"]),
        ('[conversation]\noverlap = "fll"', ["conversation.overlap", "'fll'", "'none', 'clause', 'full'"]),
        ('[[tiers]]\nname = "a"\nkind = "x"', ["tiers[0].kind", "'x'", "'local', 'openai', 'simulated'"]),
        ('[[tiers]]\nname = "a"', ["tiers[0].kind", "missing"]),
        ('[[tiers]]\nname = "a"\nkind = "openai"\nmodel = "m"', ["'a'", "base_url", "None"]),
        (
            '[[tiers]]\nname = "a"\nkind = "openai"\nmodel = "m"\nbase_url = "https://me:secret@host/v1"',
            ["base_url", "api_key_env"],
        ),
        ('[[tiers]]\nname = "a"\nkind = "simulated"', ["ttft_ms", "tokens_per_second"]),
        ('[conversation]\ntier = "nope"', ["'nope'", "local"]),
        ('[[tiers]]\nname="a"\nkind="local"\nmodel="m"\n[[tiers]]\nname="a"\nkind="local"\nmodel="m"', ["two", "'a'"]),
        ('[[tiers]]\nname="staged"\nkind="local"\nmodel="m"', ["'staged'", "another name"]),
        ("x = ", ["no valid TOML"]),
    ],
)
def test_a_mistake_is_explained(text: str, words: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_config(text, "my.toml")
    message = str(caught.value)
    assert message.startswith("my.toml")
    for word in words:
        assert word in message
    assert "secret" not in message


def test_a_key_written_where_its_variable_belongs_is_not_repeated() -> None:
    text = '[conversation]\ntier="a"\n[[tiers]]\nname="a"\nkind="openai"\nmodel="m"\nbase_url="https://h/v1"\napi_key_env="sk-12345"'
    with pytest.raises(ConfigError) as caught:
        parse_config(text, "my.toml")
    assert "sk-12345" not in str(caught.value)


def test_a_missing_key_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FAST_KEY", raising=False)
    tier = TierTable(name="fast", kind="openai", model="m", base_url="https://h/v1", api_key_env="FAST_KEY")
    with pytest.raises(ConfigError, match="FAST_KEY"):
        api_key(tier)


def test_a_named_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nothing\.toml"):
        load_config(str(tmp_path / "nothing.toml"))


def test_what_is_configured_is_what_the_session_says_and_secrets_are_not_in_it() -> None:
    config = parse_config(
        '[listen]\nvad_threshold = 0.9\n[conversation]\ntier="a"\n[[tiers]]\nname="a"\nkind="openai"\nmodel="m"\n'
        'base_url="https://h/v1"\nextra = { headers = { "x-api-key" = "sk-12345" } }',
        "my.toml",
    )
    opened = _opened(config, Choice("test"), "a", None)
    written = msgspec.json.encode(opened).decode()
    assert '"vad_threshold":0.9' in written
    assert "sk-12345" not in written


@pytest.mark.parametrize(
    "extra",
    [
        {"api_keys": ["sk-1"]},
        {"authorization": {"bearer": "sk-1"}},
        {"headers": {"Bearer": "sk-1"}},
        {"auth": [{"user": "me", "pass": "sk-1"}]},
        {"x-auth": "sk-1"},
        {"httpAuth": "sk-1"},
        {"credentials": ["a", 1, "sk-1"]},
    ],
)
def test_whatever_holds_text_under_the_name_of_a_secret_is_removed(extra: dict[str, object]) -> None:
    shown = without_secrets({"extra": extra})
    assert "sk-1" not in str(shown) and "(removed)" in str(shown)


def test_what_only_looks_like_a_secret_stays() -> None:
    plain = {"api_key_env": "FAST_KEY", "author": "Ann", "authors": ["Ann"], "max_tokens": 96, "tokens": {"most": [1]}}
    assert without_secrets(plain) == plain


def test_a_configured_folder_is_where_sessions_are_kept() -> None:
    config = parse_config('[record]\nfolder = "~/talks"', "my.toml")
    assert recordings_folder(config) == Path("~/talks").expanduser()

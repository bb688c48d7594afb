"""TOML that is damaged, hostile or merely from another editor."""

from __future__ import annotations

from pathlib import Path

import pytest

from voicetui.config import ConfigError, load_config, parse_config, without_secrets
from voicetui.rehearse.scenario import ScenarioError, load_scenario

TIER = '[conversation]\ntier = "x"\n[[tiers]]\nname = "x"\nkind = "openai"\nmodel = "m"\n'


def config_error(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        parse_config(text, "my.toml")
    return str(caught.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[conversation]\n".encode("utf-16"), "no UTF-8 text (byte 0)"),
        (b'[conversation]\ntier = "caf\xe9"', "no UTF-8 text (byte 26)"),
        (b"a = " + b"[" * 5000, "nested too deep"),
        (b"a = " + b"9" * 5000, "a number is too long"),
        (b'[record]\nfolder = "a\\u0000b"', "record.folder holds a NUL character"),
    ],
)
def test_a_file_that_is_no_toml_is_named_with_what_is_wrong(tmp_path: Path, content: bytes, words: str) -> None:
    file = tmp_path / "my.toml"
    file.write_bytes(content)
    with pytest.raises(ConfigError, match=r"my\.toml") as caught:
        load_config(str(file))
    assert words in str(caught.value)
    with pytest.raises(ScenarioError, match=r"my\.toml"):
        load_scenario(file)


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    file.write_bytes(b'\xef\xbb\xbf[conversation]\noverlap = "none"\n')
    assert load_config(str(file))[0].conversation.overlap == "none"


def test_a_folder_is_no_configuration(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is no ordinary file"):
        load_config(str(tmp_path))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[endpoint]\nsilence_ms = inf", ["endpoint.silence_ms: found inf"]),
        ("[endpoint]\nresume_ms = 1e300", ["endpoint.resume_ms: found 1e+300"]),
        ("[record]\nkeep_days = inf", ["record.keep_days: found inf"]),
        ("[listen]\nthreads = 100000000000000000000", ["listen.threads", "<= 256"]),
        (TIER + 'base_url = "http://h/v1"\ntemperature = nan', ["tiers[0].temperature: found nan"]),
        (TIER + 'base_url = "http://h/v1"\nextra = { since = 2026-01-01 }', ["tier 'x'", "extra.since"]),
        (TIER + 'base_url = "http://h/v1"\nextra = { a = [1, { b = nan }] }', ["extra.a[1].b: found nan"]),
        (TIER + 'base_url = "http://[::1"', ["base_url", "http://[::1"]),
        (TIER + 'base_url = "http://host:99999/v1"', ["base_url", "99999"]),
        (TIER + 'base_url = "http://host:port/v1"', ["base_url", ":port"]),
        (TIER + 'base_url = "http://ho st/v1"', ["base_url", "ho st"]),
    ],
)
def test_what_no_session_could_use_is_refused_before_it_begins(text: str, words: list[str]) -> None:
    message = config_error(text)
    for word in words:
        assert word in message


def test_a_long_value_is_shortened() -> None:
    assert len(config_error(f'[conversation]\noverlap = "{"x" * 9999}"')) < 250


@pytest.mark.parametrize(
    "text",
    [
        TIER + 'base_url = "http://h/v1"\napi_key_env = ["sk-12345"]',
        TIER + 'base_url = "http://h/v1"\nextra = "sk-12345"',
        TIER + 'base_url = ["https://me:sk-12345@h/v1"]',
        TIER + 'base_url = "htps://me:sk-12345@h/v1"',
        'tiers = ["sk-12345"]',
    ],
)
def test_what_may_be_a_key_is_not_repeated(text: str) -> None:
    assert "sk-12345" not in config_error(text)


def test_a_key_in_the_parameters_of_an_address_is_not_written_down() -> None:
    config = parse_config(TIER + 'base_url = "https://h/v1?version=2026&key=sk-12345"', "my.toml")
    (table,) = config.tiers
    shown = without_secrets({"base_url": table.base_url})
    assert shown == {"base_url": "https://h/v1?version=(removed)&key=(removed)"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "title is missing"),
        ('title = "t"', "lines is missing"),
        ('title = "t"\nlines = []', "lines is empty"),
        ('title = "t"\n[[lines]]\nsay = []', "lines[0].say: found []. Expected `array` of length >= 1"),
        ('title = "t"\n[[lines]]\nsay = "a.wav"', "lines[0].say: found 'a.wav'. Expected `array`"),
        ('title = "t"\n[[lines]]\nsay = ["a.wav", nan]', "lines[0].say[1]: found nan"),
        ('title = "t"\n[[lines]]\nsay = ["a.wav", -5]', "lines[0].say[1]: found -5"),
        ('title = "t"\n[[lines]]\nsay = ["a.wav", inf]', "lines[0].say[1]: found inf"),
        ('title = "t"\n[[lines]]\nsay = ["a.wav"]\nwhen = "never"', "lines[0].when: found 'never'. Allowed: 'idle'"),
        ('title = "t"\npatience = 3\n[[lines]]\nsay = ["a.wav"]', "patience is no known key. Allowed: title, lines"),
        ('title = "t"\n[[lines]]\nsays = ["a.wav"]', "lines[0].says is no known key. Allowed: say, when"),
    ],
)
def test_a_scenarios_mistakes_are_explained_like_a_configurations(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "talk.toml"
    file.write_text(text)
    with pytest.raises(ScenarioError) as caught:
        load_scenario(file)
    assert str(caught.value).startswith(str(file))
    assert words in str(caught.value)

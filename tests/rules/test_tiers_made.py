"""A tier that cannot be made keeps no session from starting on another."""

from __future__ import annotations

import asyncio

import pytest

from voicetui.config import ConfigError, parse_config
from voicetui.events.orders import Message
from voicetui.models import ModelError
from voicetui.ports import StageError
from voicetui.runtime.clock import SystemClock
from voicetui.wiring_tiers import make_tiers

CONFIG = """
[conversation]
tier = "pretend"
[[tiers]]
name = "pretend"
kind = "simulated"
ttft_ms = { p50 = 10, p95 = 20 }
tokens_per_second = 100
[[tiers]]
name = "fast"
kind = "openai"
model = "m"
base_url = "https://h/v1"
api_key_env = "FAST_KEY_THAT_IS_NOT_SET"
[[tiers]]
name = "big"
kind = "local"
model = "no-such-model"
"""


@pytest.mark.parametrize(("name", "error"), [("fast", ConfigError), ("big", ModelError)])
def test_the_chosen_tier_must_be_there(name: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        make_tiers(parse_config(CONFIG, "my.toml"), SystemClock(), {name})


@pytest.mark.parametrize(("name", "words"), [("fast", "FAST_KEY_THAT_IS_NOT_SET"), ("big", "no-such-model")])
def test_another_one_says_why_it_does_not_answer_when_it_is_chosen_later(name: str, words: str) -> None:
    tiers = make_tiers(parse_config(CONFIG, "my.toml"), SystemClock(), {"pretend"})

    async def asked() -> None:
        async for _ in tiers[name].stream((Message("user", "Hi"),)):
            pass

    for request in (tiers[name].warm(), asked()):
        with pytest.raises(StageError) as caught:
            asyncio.run(request)
        assert words in str(caught.value) and caught.value.remedy

"""From a ``[[tiers]]`` table to the tier."""

from __future__ import annotations

from collections.abc import Container

import msgspec

from voicetui import models
from voicetui.config import Config, ConfigError, TierTable, api_key
from voicetui.models import ModelError
from voicetui.ports import Clock, Tier
from voicetui.reply.absent_tier import AbsentTier
from voicetui.reply.local_tier import LocalTier
from voicetui.reply.openai_tier import OpenAiTier
from voicetui.reply.simulated_tier import DEFAULT_REPLIES, SimulatedTier


def limited(config: Config, max_tokens: int | None) -> Config:
    """The configuration with no tier's replies longer than ``max_tokens`` (None: as they are)."""
    if max_tokens is None:
        return config
    tiers = tuple(
        msgspec.structs.replace(table, max_tokens=min(table.max_tokens, max_tokens)) for table in config.tiers
    )
    return msgspec.structs.replace(config, tiers=tiers)


def make_tiers(config: Config, clock: Clock, chosen: Container[str]) -> dict[str, Tier]:
    """Every tier, by name. One that cannot be made and is not ``chosen`` says so when it is asked for.

    Raises ``ConfigError`` or ``ModelError`` for a chosen one.
    """
    tiers: dict[str, Tier] = {}
    for table in config.tiers:
        try:
            tiers[table.name] = make_tier(table, clock, config.conversation.system_prompt)
        except (ConfigError, ModelError) as error:
            if table.name in chosen:
                raise
            tiers[table.name] = AbsentTier(table.name, table.kind, table.model, f"{error}")
    return tiers


def make_tier(table: TierTable, clock: Clock, system_prompt: str = "") -> Tier:
    """The tier of a ``[[tiers]]`` table. Raises ``ConfigError`` or ``ModelError``."""
    if table.kind == "simulated":
        assert table.ttft_ms is not None and table.tokens_per_second is not None
        return SimulatedTier(
            clock,
            table.name,
            table.model or "simulated",
            ttft_p50_ms=table.ttft_ms.p50,
            ttft_p95_ms=table.ttft_ms.p95,
            tokens_per_second=table.tokens_per_second,
            max_tokens=table.max_tokens,
            seed=table.seed,
            replies=table.replies or DEFAULT_REPLIES,
        )
    if table.kind == "local":
        return LocalTier(
            clock,
            table.name,
            table.model,
            models.path_of(table.model),
            system_prompt=system_prompt,
            max_tokens=table.max_tokens,
            temperature=table.temperature,
            threads=table.threads,
            extra=table.extra,
        )
    assert table.base_url is not None
    return OpenAiTier(
        clock,
        table.name,
        table.model,
        table.base_url,
        api_key=api_key(table),
        api_key_env=table.api_key_env or "",
        max_tokens=table.max_tokens,
        temperature=table.temperature,
        starts_in_reasoning=table.starts_in_reasoning,
        extra=table.extra,
    )

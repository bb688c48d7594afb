"""How late the loop runs, as the session's log tells it."""

from __future__ import annotations

import asyncio

from voicetui.runtime.clock import ManualClock
from voicetui.runtime.lag import LoopLag


def test_a_loop_in_time_is_told_with_its_count_and_a_short_session_with_nothing() -> None:
    async def beat() -> LoopLag:
        lag, clock = LoopLag(), ManualClock()
        watching = asyncio.create_task(lag.watch(clock))
        await clock.advance(500)
        assert lag.told() == "" and lag.quantile_ms(0.5) is None
        await clock.advance(1500)
        watching.cancel()
        return lag

    lag = asyncio.run(beat())
    assert lag.told().startswith("engine loop lag: p50 0.00 ms, p99 0.00 ms, n = ")
    lag.late_ms.extend([40.0] * 10)
    assert lag.quantile_ms(0.99) == 40.0 and lag.quantile_ms(0.5) == 0.0

"""The settings with which a device opens: what is tried, in which order, and what is said where nothing works."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Final, TypeVar

from voicetui.events.sound import Role
from voicetui.ports import SoundError
from voicetui.sound.devices import (
    BAD_CHANNELS,
    BAD_RATE,
    BUSY,
    Backend,
    BackendError,
    Device,
    StreamSettings,
    list_devices,
    offer,
)

OTHER_RATES_HZ: Final = (48_000, 44_100, 96_000, 192_000, 32_000, 22_050, 16_000, 8_000)
"""Tried in this order when a device refuses its own default rate."""

_BLOCK_S: Final = 0.010
"""Asked of the host: with blocks of its own choice a speaker's stamps were up to 51 ms off a recording (ALSA)."""

_T = TypeVar("_T")


def attempts(role: Role, device: Device, rate_hz: int | None = None) -> list[tuple[int, int]]:
    """(rate_hz, channels) in the order to try: the device's own rate first, one channel before more."""
    own = [device.default_rate_hz] if device.default_rate_hz > 0 else []
    rates = [rate_hz] if rate_hz is not None else list(dict.fromkeys([*own, *OTHER_RATES_HZ]))
    most = device.channels(role)
    counts = [count for count in dict.fromkeys((1, 2, most)) if 1 <= count <= most]
    return [(rate, count) for rate in rates for count in counts]


def settle_on(
    backend: Backend,
    role: Role,
    device: Device,
    latency_s: float,
    use: Callable[[StreamSettings], _T],
    rate_hz: int | None = None,
) -> tuple[StreamSettings, _T]:
    """The first settings with which ``use`` raises no ``BackendError``, and what it made of them.

    Raises ``SoundError``: busy at once, anything else when nothing is left to try.
    """
    last = BackendError("it has no channels", BAD_CHANNELS)
    bad_hz = 0
    for rate, channels in attempts(role, device, rate_hz):
        if rate == bad_hz:
            continue
        settings = StreamSettings(device.index, rate, channels, max(1, round(rate * _BLOCK_S)), latency_s)
        try:
            return settings, use(settings)
        except BackendError as error:
            last = error
            if error.code == BUSY:
                break
            if error.code == BAD_RATE:
                bad_hz = rate
    raise refusal(backend, role, device, last)


def refusal(backend: Backend, role: Role, device: Device, error: BackendError) -> SoundError:
    """The message for a device that would not open: what it is, why, and what else there is."""
    others: list[Device] = []
    with suppress(SoundError):
        others = [other for other in list_devices(backend) if other.channels(role) > 0 and other.index != device.index]
    if error.code == BUSY:
        why = "is in use by another program. Close that, or choose another device"
    elif error.code == BAD_RATE:
        why = "accepts none of the usual sample rates"
    elif error.code == BAD_CHANNELS:
        why = f"refused every number of channels up to the {device.channels(role)} it reports"
    else:
        why = f"cannot be opened: {error}"
    there_is = offer(others, role) if others else f"There is no other {role} device."
    return SoundError(f"the {role} device '{device.name}' ({device.host}) {why}. {there_is}")

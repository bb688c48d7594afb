"""Sound files: a writer whose files survive ``kill -9``, and a reader that takes what is really there."""

from __future__ import annotations

import errno
import os
import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from voicetui.ports import RATE_HZ, Pcm16, PcmFloat, SoundError
from voicetui.sound.rates import HIGHEST_HZ, LOWEST_HZ, ResampleStream, to_int16

LIMIT_BYTES: Final = 2**32 - 2**16
"""A part of a recording is kept below this; sizes in a WAV header have 32 bits."""

_HEADER: Final = 44
_HEADER_EVERY: Final = 2 * RATE_HZ
"""Bytes after which the header is brought up to date: one second."""
_CHUNK: Final = 1 << 18
_MOST_CHANNELS: Final = 64

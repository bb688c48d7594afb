"""How much of a core a process takes, as Linux counts it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

_TICK_S = 1 / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class CpuTime:
    """Seconds of CPU used so far: by the whole process, and by its main thread, which is the screen's if it has one."""

    whole_s: float
    main_s: float


def cpu_time(process: int) -> CpuTime:
    """What a living process has used. Raises ``OSError`` once it is gone."""
    return CpuTime(_used_s(Path(f"/proc/{process}/stat")), _used_s(Path(f"/proc/{process}/task/{process}/stat")))


def load_average() -> float:
    """The load of the last minute."""
    return os.getloadavg()[0]


def _used_s(stat: Path) -> float:
    """User and system time: fields 14 and 15 of proc(5), counted behind the program's name."""
    fields = stat.read_text("ascii", "replace").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * _TICK_S

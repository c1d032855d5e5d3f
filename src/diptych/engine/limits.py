"""The limits of time and memory for tasks in worker processes: of a page, of a pair, of a site.

A task that reaches one of them fails alone; its process is ended, or its allocation is refused.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple


class TaskLimits(NamedTuple):
    """The maximum time and memory for a task; None means unlimited."""

    seconds: float | None
    bytes: int | None


PAGE_LIMITS = TaskLimits(30.0, 2 << 30)
"""limits for parsing a page; one of 10 MB takes less than two seconds"""
PAIR_LIMITS = TaskLimits(120.0, 2 << 30)
"""limits for aligning two pages; the largest take some seconds and 500 MB"""
SITE_LIMITS = TaskLimits(3600.0, 64 << 30)
"""limits for pairing all pages of a site; 100,000 pages take two minutes"""
MEMORY_SHARE = 0.5
"""share of the memory of the machine that one task may use, whatever its limits are"""
MIN_MEMORY = 1 << 30
"""bytes that a task may always use: less is not enough for the models"""
_CONTROL_GROUPS = tuple(
    Path("/sys/fs/cgroup") / name for name in ("memory.max", "memory/memory.limit_in_bytes")
)
"""limits of a container in the versions 2 and 1; `max` or a huge number if there is none"""


def limited_bytes(wanted: int, machine: int | None) -> int:
    """The bytes that a task may use of the `wanted` ones; `machine` is the memory of the machine.

    If `machine` is None, the memory is unknown, and the task may use all the `wanted` bytes.

    >>> [limited_bytes(2 << 30, size and size << 30) >> 30 for size in (64, 2, 1, None)]
    [2, 1, 1, 2]
    """
    return min(wanted, max(MIN_MEMORY, int(machine * MEMORY_SHARE))) if machine else wanted


@cache
def machine_memory() -> int | None:
    """The memory in bytes that all processes may use together; None if the system does not tell."""
    sizes: list[int] = []
    with suppress(OSError, ValueError, AttributeError):
        sizes.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for group in _CONTROL_GROUPS:
        with suppress(OSError, ValueError):
            sizes.append(int(group.read_text("ascii")))
    return min((size for size in sizes if size > 0), default=None)

"""The CPU time and memory that a run has used so far, in this process and in its workers."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_PROCESSES = Path("/proc")
_CPU_FIELDS = slice(11, 13)  # user and system time in `stat`, counted after the name of the process
_PEAK = b"VmHWM:"


class Usage(NamedTuple):
    """The CPU time and memory used so far."""

    main: float
    """CPU seconds of this process"""
    workers: float
    """CPU seconds of its worker processes, including those that have ended"""
    peak: int
    """sum of the peak memory of all running processes, in bytes"""


def usage(workers: Iterable[int]) -> Usage:
    """Measure this process and the workers with the given process ids.

    Only Linux shows the usage of other processes while they run; elsewhere, workers are counted
    when they have ended.
    """
    pids = list(workers)
    spent = _ended_cpu() + sum(map(_running_cpu, pids))
    peak = _own_peak() + sum(map(_running_peak, pids))
    return Usage(time.process_time(), spent, peak)


def _ended_cpu() -> float:
    """The CPU seconds of all child processes that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def _running_cpu(pid: int) -> float:
    """The CPU seconds of a running process; 0 if it has ended or the system does not tell."""
    with suppress(OSError, ValueError, IndexError):
        # The name of the process stands in parentheses, and may contain spaces.
        fields = (_PROCESSES / str(pid) / "stat").read_bytes().rpartition(b") ")[2].split()
        return sum(map(int, fields[_CPU_FIELDS])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def _running_peak(pid: int | str) -> int:
    """The peak memory of a running process in bytes; 0 if the system does not tell."""
    with suppress(OSError, ValueError, IndexError):
        lines = (_PROCESSES / str(pid) / "status").read_bytes().splitlines()
        return sum(int(line.split()[1]) << 10 for line in lines if line.startswith(_PEAK))
    return 0


def _own_peak() -> int:
    """The peak memory of this process in bytes; 0 if the system does not tell."""
    if found := _running_peak("self"):
        return found
    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak << 10

"""The CPU time and memory of this process and its workers."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from diptych.engine import usage as module
from diptych.engine.usage import usage

IS_SHOWN = module._PROCESSES.is_dir()  # Linux shows the usage of processes while they run
BUSY = "import time\nheld = bytearray(80_000_000)\nwhile time.process_time() < 0.4: pass\n"
WAITING = f"{BUSY}print(flush=True)\ninput()"


@contextmanager
def worker() -> Iterator[subprocess.Popen[bytes]]:
    """A process that has worked for 0.4 s, holds 80 MB, and waits."""
    command = [sys.executable, "-c", WAITING]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        process.communicate(b"\n")


def test_work_of_this_process_is_counted() -> None:
    before, end = usage([]), time.process_time() + 0.1
    while time.process_time() < end:
        pass
    after = usage([])
    assert 0.09 < after.main - before.main < 1
    assert after.workers == before.workers
    assert after.peak > 10_000_000


def test_running_worker_is_counted_with_its_memory() -> None:
    before = usage([])
    with worker() as process:
        during = usage([process.pid])
    after = usage([])
    assert (0.35 < during.workers - before.workers < 1.5) == IS_SHOWN
    assert (during.peak - before.peak > 80_000_000) == IS_SHOWN
    # A worker that has ended is counted too, but not twice.
    assert 0.35 < after.workers - before.workers < 1.5
    assert usage([process.pid]).workers == after.workers


def test_name_of_a_process_may_contain_anything(tmp_path, monkeypatch) -> None:
    folder = tmp_path / "7"
    folder.mkdir()
    ticks = os.sysconf("SC_CLK_TCK")
    (folder / "stat").write_text(f"7 (a) 1 2 (b) S {' '.join(['9'] * 10)} {ticks} {2 * ticks} 0\n")
    (folder / "status").write_text("Name:\tVmHWM: 5\nVmPeak:\t 9 kB\nVmHWM:\t    4 kB\n")
    before = usage([])
    monkeypatch.setattr(module, "_PROCESSES", tmp_path)
    assert usage([7]).workers - before.workers == pytest.approx(3.0)
    assert usage([7]).peak - usage([]).peak == 4096


def test_system_that_does_not_tell_counts_what_has_ended(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(module, "_PROCESSES", tmp_path)
    before = usage([os.getpid()])
    assert before.peak > 10_000_000
    subprocess.run([sys.executable, "-c", BUSY], check=True)
    assert usage([os.getpid()]).workers - before.workers > 0.35

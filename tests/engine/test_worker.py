"""A worker process sends the results of several tasks together, but none of them too late."""

from __future__ import annotations

import os
import pickle
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.pooltasks import Held, Nap, Square

import diptych
from diptych.engine.worker import FRAME, READY, Beginning, Order
from diptych.engine.worker_process import frame_of

_SECONDS = 20.0  # a result that does not come in this time is held back


@contextmanager
def started() -> Iterator[subprocess.Popen[bytes]]:
    path = str(Path(diptych.__file__).parent.parent)
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "diptych.engine.worker"], bufsize=0,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    with process:
        try:
            assert process.stdin is not None
            process.stdin.write(frame_of(Beginning(list(sys.path), ())))
            assert _read(process, len(READY)) == READY
            yield process
        finally:
            process.kill()


def _read(process: subprocess.Popen[bytes], size: int) -> bytes:
    assert process.stdout is not None
    data = b""
    while len(data) < size:
        if not select.select([process.stdout], [], [], _SECONDS)[0]:
            pytest.fail("the worker holds a result back")
        part = process.stdout.read(size - len(data))
        assert part
        data += part
    return data


def answer(process: subprocess.Popen[bytes]) -> int:
    """The next number that the process has squared."""
    size = FRAME.unpack(_read(process, FRAME.size))[0]
    number: int = pickle.loads(_read(process, size))[0]
    return number


@pytest.fixture
def pipes(tmp_path: Path) -> tuple[Path, Path]:
    for name in ("first", "last"):
        os.mkfifo(tmp_path / name)
    return tmp_path / "first", tmp_path / "last"


def send(process: subprocess.Popen[bytes], *orders: Order) -> None:
    assert process.stdin is not None
    process.stdin.write(b"".join(map(frame_of, orders)))


def test_earlier_results_are_sent_before_a_separate_task_begins(pipes) -> None:
    first, last = pipes
    with started() as process:
        separate = Order(Held(4, last), None, True)
        send(process, Order(Held(2, first), None), Order(Square(3), None), separate)
        first.write_bytes(b"go on")
        assert [answer(process), answer(process)] == [4, 9]
        last.write_bytes(b"go on")
        assert answer(process) == 16


def test_result_of_a_separate_task_is_sent_at_once(pipes) -> None:
    first, last = pipes
    with started() as process:
        send(process, Order(Held(2, first), None, True), Order(Held(3, last), None))
        first.write_bytes(b"go on")
        assert answer(process) == 4
        last.write_bytes(b"go on")
        assert answer(process) == 9


def test_result_of_a_quick_task_does_not_wait_for_the_next_one(pipes) -> None:
    _, last = pipes
    with started() as process:
        send(process, Order(Square(2), None), Order(Held(3, last), None))
        assert answer(process) == 4
        last.write_bytes(b"go on")
        assert answer(process) == 9


def test_results_do_not_wait_for_a_long_task(pipes) -> None:
    first, last = pipes
    with started() as process:
        # The first result may wait for more; the second one comes when the wait is over.
        orders = [
            Order(Held(2, first), None),
            *[Order(Nap(), None)] * 2,
            Order(Held(3, last), None),
        ]
        send(process, *orders)
        first.write_bytes(b"go on")
        assert answer(process) == 4
        last.write_bytes(b"go on")
        assert [answer(process) for _ in range(3)] == [0, 0, 9]

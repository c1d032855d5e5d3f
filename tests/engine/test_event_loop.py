"""The event loop in its own thread: ticks while waiting, and Ctrl-C."""

from __future__ import annotations

import asyncio
import signal
import threading

import pytest
from support.waiting import PATIENCE

from diptych.engine.event_loop import EventLoopThread


def test_ticks_are_called_until_the_result_is_there() -> None:
    ticks: list[int] = []
    loop = EventLoopThread()
    loop.loop  # noqa: B018 - it runs
    done = asyncio.Event()

    def tick() -> None:
        ticks.append(1)
        if len(ticks) == 3:
            loop.loop.call_soon_threadsafe(done.set)

    assert loop.run(done.wait(), tick) is True
    assert len(ticks) >= 3
    loop.close()


def test_exception_of_a_tick_cancels_the_work() -> None:
    class StopError(Exception):
        pass

    def tick() -> None:
        raise StopError

    cancelled: list[bool] = []

    async def wait() -> None:
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    loop = EventLoopThread()
    with pytest.raises(StopError):
        loop.run(wait(), tick)
    assert cancelled == [True]
    loop.close()


def test_interrupt_while_threads_end_says_nothing(caplog: pytest.LogCaptureFixture) -> None:
    here, is_over, is_free = threading.get_ident(), threading.Event(), threading.Event()
    loop = EventLoopThread()

    async def begin() -> None:
        asyncio.get_running_loop().run_in_executor(None, is_free.wait)

    loop.run(begin())
    closing = loop.loop
    usual = closing.shutdown_default_executor

    async def interrupted() -> None:
        closing.call_later(0.05, signal.pthread_kill, here, signal.SIGINT)
        await usual()

    closing.shutdown_default_executor = interrupted  # type: ignore[method-assign]
    threading.Timer(0.5, is_free.set).start()  # the loop waits for the thread all the same
    with pytest.raises(KeyboardInterrupt):
        loop.close()
    closing.call_soon_threadsafe(closing.call_later, 0.05, is_over.set)
    assert is_over.wait(PATIENCE)
    assert caplog.records == []
    closing.shutdown_default_executor = usual  # type: ignore[method-assign]
    loop.close()

"""The event loop in its own thread: ticks while waiting, and Ctrl-C."""

from __future__ import annotations

import asyncio
import signal
import threading

import pytest

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


def test_interrupt_while_the_loop_ends_is_raised_when_it_has_ended(
    caplog: pytest.LogCaptureFixture,
) -> None:
    here, is_free, ended = threading.get_ident(), threading.Event(), list[bool]()
    loop = EventLoopThread()

    async def begin() -> None:
        asyncio.get_running_loop().run_in_executor(None, is_free.wait)
        asyncio.create_task(last())  # noqa: RUF006 - it is cancelled when the loop is closed
        await asyncio.sleep(0)

    async def last() -> None:
        try:
            await asyncio.sleep(1000)
        finally:
            for _ in range(3):
                await asyncio.sleep(0.2)  # the other thread waits by then
                signal.pthread_kill(here, signal.SIGINT)
            ended.append(True)
            is_free.set()

    loop.run(begin())
    with pytest.raises(KeyboardInterrupt):
        loop.close()
    assert ended == [True]
    assert not loop.is_started
    assert caplog.records == []

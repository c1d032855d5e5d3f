"""The event loop in its own thread: ticks while waiting, and signals at any moment."""

from __future__ import annotations

import asyncio
import signal
import threading

import pytest

from diptych.engine.event_loop import EventLoopThread


async def answer() -> int:
    return 42


def test_coroutine_runs_in_another_thread_even_within_a_loop() -> None:
    own = EventLoopThread()

    async def caller() -> int:
        return own.run(answer())

    assert not own.is_started
    assert asyncio.run(caller()) == 42
    assert own.is_started
    own.close()
    assert not own.is_started


def test_closed_loop_is_started_again_when_it_is_needed() -> None:
    own = EventLoopThread()
    own.close()
    assert own.run(answer()) == own.run(answer()) == 42
    own.close()
    own.close()
    assert own.run(answer()) == 42
    own.close()


def test_loop_whose_start_is_interrupted_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    own = EventLoopThread()
    loop = asyncio.new_event_loop()

    def interrupted(*given: object, **more: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(asyncio, "new_event_loop", lambda: loop)
        patch.setattr(threading, "Thread", interrupted)
        with pytest.raises(KeyboardInterrupt):
            own.loop  # noqa: B018
    loop.close()
    own.close()
    assert own.run(answer()) == 42
    own.close()


@pytest.mark.parametrize("place", ["call_soon_threadsafe", "close"])
def test_closing_that_is_interrupted_may_be_repeated(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An exception of a signal is raised once, and whoever handles it closes everything."""
    own = EventLoopThread()
    loop = own.loop
    act = getattr(loop, place)

    def interrupted(*given: object, **more: object) -> None:
        act(*given, **more)
        if place == "close" or given == (loop.stop,):
            raise KeyboardInterrupt

    monkeypatch.setattr(loop, place, interrupted)
    with pytest.raises(KeyboardInterrupt):
        own.close()
    own.close()
    for thread in threading.enumerate():
        if thread.name == "diptych-engine":
            thread.join(10)
    assert "diptych-engine" not in {thread.name for thread in threading.enumerate()}
    monkeypatch.undo()


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
    here, is_free = threading.get_ident(), threading.Event()
    own = EventLoopThread()

    async def begin() -> None:
        asyncio.get_running_loop().run_in_executor(None, is_free.wait)

    own.run(begin())
    loop = own.loop
    usual = loop.shutdown_default_executor

    async def interrupted() -> None:
        loop.call_later(0.05, signal.pthread_kill, here, signal.SIGINT)
        await usual()

    loop.shutdown_default_executor = interrupted  # type: ignore[method-assign]
    threading.Timer(0.5, is_free.set).start()
    with pytest.raises(KeyboardInterrupt):
        own.close()
    assert is_free.wait(10)
    assert caplog.records == []
    own.close()

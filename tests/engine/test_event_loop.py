"""The event loop in its own thread, which signals may interrupt at any moment."""

from __future__ import annotations

import asyncio
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
    loop.close()

"""An event loop in its own thread, which also works if the caller already runs an event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")
_TICK_SECONDS = 0.1  # between two ticks while waiting for a result


class EventLoopThread:
    """An event loop whose thread starts with the first coroutine and ends with `close`."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    @property
    def is_started(self) -> bool:
        """True if the thread has been started, and so must be stopped with `close`."""
        return self._loop is not None

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The running event loop, which is started on first use."""
        if self._loop is None:
            loop = asyncio.new_event_loop()
            thread = threading.Thread(target=loop.run_forever, name="diptych-engine", daemon=True)
            thread.start()
            self._loop, self._thread = loop, thread  # now: nobody waits for a loop that never ran
        return self._loop

    def run(
        self, coroutine: Coroutine[Any, Any, Value], tick: Callable[[], None] | None = None
    ) -> Value:
        """Run a coroutine, and wait for its result; meanwhile `tick` is called ten times a second.

        An exception in the calling thread, such as Ctrl-C or one of `tick`, cancels the coroutine
        and is raised again.
        """
        run = _Run(coroutine)
        future = asyncio.run_coroutine_threadsafe(run.to_its_end(), self.loop)
        try:
            while not run.ended.wait(_TICK_SECONDS if tick is not None else None):
                if tick is not None:
                    tick()
        finally:
            while not run.ended.is_set():
                with suppress(KeyboardInterrupt):  # a second Ctrl-C: it is being cancelled
                    future.cancel()
                    run.ended.wait()
        if run.fatal is not None:
            raise run.fatal
        return future.result()

    def finish(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine to its end; Ctrl-C does not cancel it, and is raised again afterwards.

        If a coroutine that ends processes were cancelled, some would be left behind.
        """
        run = _Run(coroutine)
        future = asyncio.run_coroutine_threadsafe(run.to_its_end(), self.loop)
        interrupt: KeyboardInterrupt | None = None
        is_over = False
        while not is_over:
            try:
                is_over = run.ended.wait()
            except KeyboardInterrupt as error:
                interrupt = error
        if interrupt is not None:
            raise interrupt
        future.result()

    def close(self) -> None:
        """Cancel all running tasks, stop the loop, and end its thread."""
        loop, thread = self._loop, self._thread
        if loop is None or thread is None:
            return
        try:
            self.finish(_end(loop))
        finally:
            self._loop = self._thread = None  # if a signal interrupts the rest, it is not repeated
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()


async def _end(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel all tasks of a loop, and end its generators and threads."""
    await _cancel_others()
    await loop.shutdown_asyncgens()
    await loop.shutdown_default_executor()


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


class _Run(Generic[Value]):
    """A coroutine to run in the event loop.

    `ended` is set when the coroutine ends.  `fatal` is an exception that would have ended the loop,
    such as a `KeyboardInterrupt`.
    """

    def __init__(self, coroutine: Coroutine[Any, Any, Value]) -> None:
        self.ended = threading.Event()
        self.fatal: BaseException | None = None
        self._coroutine = coroutine

    async def to_its_end(self) -> Value:
        try:
            return await self._coroutine
        except (KeyboardInterrupt, SystemExit) as error:
            self.fatal = error
            raise asyncio.CancelledError from error
        finally:
            self.ended.set()

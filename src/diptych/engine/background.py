"""Run a function in a separate thread, and iterate over its results as they arrive."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from queue import SimpleQueue
from typing import TypeVar

Value = TypeVar("Value")
Emit = Callable[[Value], None]


def stream(work: Callable[[Emit[Value], Callable[[], bool]], object]) -> Iterator[Value]:
    """Iterate over the values that `work` emits while it runs in a separate thread.

    `work` receives two functions: the first emits a value; the second returns True once the
    iteration has ended, and `work` must then return.  An exception in `work` is raised here.

    >>> list(stream(lambda emit, is_over: [emit(1), emit(2)]))
    [1, 2]
    """
    values: SimpleQueue[Value | Future[object]] = SimpleQueue()
    is_over = threading.Event()
    context = copy_context()
    with ThreadPoolExecutor(1, "diptych-search") as thread:
        done = thread.submit(context.run, work, values.put, is_over.is_set)
        done.add_done_callback(values.put)  # after all values
        try:
            while (value := values.get()) is not done:
                yield value  # type: ignore[misc]  # no other future is in the queue
            done.result()
        finally:
            is_over.set()

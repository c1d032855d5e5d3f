"""Work in a thread of its own whose results are iterated over as they come."""

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
    """Iterate over the values that some work emits, while it goes on in a thread of its own.

    The work is given a function that emits a value, and a function that returns True as soon as
    nobody iterates any more: it must end then.  An exception of the work is raised here.

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

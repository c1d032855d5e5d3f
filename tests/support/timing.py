"""Bounds on time that hold on a busy machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import process_time

LEAST = 5.0  # seconds; a slow machine takes several times as long as a quick one


@contextmanager
def processor_seconds(most: float = LEAST) -> Iterator[None]:
    """Fail if what is done inside takes more of the processor.

    What other processes take does not count.
    """
    assert most >= LEAST, "too little for a slow machine"
    began = process_time()
    yield
    assert process_time() - began < most

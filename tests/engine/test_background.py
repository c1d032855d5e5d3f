from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import ContextVar

import pytest

from diptych.engine.background import stream

NAME: ContextVar[str] = ContextVar("name", default="")


def test_values_come_while_the_work_goes_on() -> None:
    may_end = threading.Event()

    def work(emit: Callable[[int], None], is_over: Callable[[], bool]) -> None:
        emit(1)
        assert may_end.wait(60)
        emit(2)

    values = stream(work)
    assert next(values) == 1
    may_end.set()
    assert list(values) == [2]


def test_work_is_told_that_nobody_listens() -> None:
    ended = threading.Event()

    def work(emit: Callable[[int], None], is_over: Callable[[], bool]) -> None:
        emit(1)
        while not is_over():
            pass
        ended.set()

    values = stream(work)
    assert next(values) == 1
    values.close()
    assert ended.is_set(), "it has ended when close returns"


def test_exception_of_the_work_comes_after_its_values() -> None:
    def work(emit: Callable[[int], None], is_over: Callable[[], bool]) -> None:
        emit(1)
        raise KeyError("lost")

    values = stream(work)
    assert next(values) == 1
    with pytest.raises(KeyError, match="lost"):
        next(values)


def test_work_has_the_context_of_its_caller() -> None:
    NAME.set("caller")
    assert list(stream(lambda emit, is_over: emit(NAME.get()))) == ["caller"]

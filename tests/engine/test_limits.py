"""The limits of tasks: those of a page, of a pair and of a site hold in the worker processes."""

from __future__ import annotations

import sys

import pytest
from support.pooltasks import Allowed, Growing, Hanging, Square

from diptych.engine import limits
from diptych.engine.limits import (
    MEMORY_SHARE,
    MIN_MEMORY,
    PAGE_LIMITS,
    PAIR_LIMITS,
    SITE_LIMITS,
    TaskLimits,
    limited_bytes,
    machine_memory,
)
from diptych.engine.worker import Failed
from diptych.engine.workers import ALONE, Workers

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits all memory")
KINDS = pytest.mark.parametrize("kind", [PAGE_LIMITS, PAIR_LIMITS, SITE_LIMITS])


@KINDS
def test_page_pair_and_site_have_limits_of_time_and_memory(kind: TaskLimits) -> None:
    assert kind.seconds is not None
    assert kind.bytes is not None
    assert 0 < kind.seconds <= 3600.0
    assert kind.bytes >= MIN_MEMORY


@LINUX
def test_workers_enforce_the_memory_and_lift_the_limit_afterwards() -> None:
    with Workers(1) as workers:
        for kind in (PAGE_LIMITS, PAIR_LIMITS, SITE_LIMITS):
            assert kind.bytes is not None
            found = workers.submit(Allowed(), ALONE, limits=kind).result()
            assert found == limited_bytes(kind.bytes, machine_memory())
        unlimited = workers.submit(Allowed(), ALONE, limits=TaskLimits(None, None)).result()
        assert isinstance(unlimited, int)
        assert unlimited < 0 or unlimited > SITE_LIMITS.bytes


@LINUX
@pytest.mark.parametrize(
    ("task", "limit", "kind"),
    [(Growing(), TaskLimits(60.0, 1 << 30), "MemoryError"),
     (Hanging(), TaskLimits(1.0, 1 << 30), "TimeoutError")],
)  # fmt: skip
def test_task_beyond_a_limit_fails_alone(
    task: Growing | Hanging, limit: TaskLimits, kind: str
) -> None:
    with Workers(1) as workers:
        first = workers.submit(task, ALONE, limits=limit)
        second = workers.submit(Square(3), ALONE)
        assert first.result() == Failed(kind)
        assert second.result()[0] == 9


def test_no_task_may_use_more_than_a_share_of_a_small_machine() -> None:
    small = 4 << 30
    assert limited_bytes(SITE_LIMITS.bytes or 0, small) == small * MEMORY_SHARE
    assert limited_bytes(PAGE_LIMITS.bytes or 0, 1 << 28) == MIN_MEMORY
    assert limited_bytes(PAGE_LIMITS.bytes or 0, 1 << 40) == PAGE_LIMITS.bytes


def test_memory_of_a_container_counts(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    group = tmp_path / "memory.max"
    monkeypatch.setattr(limits, "_CONTROL_GROUPS", (group,))
    whole = machine_memory.__wrapped__()
    for text, expected in (("max\n", whole), (f"{1 << 29}\n", 1 << 29), ("0\n", whole)):
        group.write_text(text, "ascii")
        assert machine_memory.__wrapped__() == expected


@pytest.mark.parametrize(
    ("text", "expected"), [(f"{1 << 29}\n", 1 << 29), ("9223372036854771712\n", None), ("x", None)]
)
def test_memory_of_a_container_of_the_first_version_counts(
    tmp_path, monkeypatch: pytest.MonkeyPatch, text: str, expected: int | None
) -> None:
    group = tmp_path / "memory.limit_in_bytes"
    monkeypatch.setattr(limits, "_CONTROL_GROUPS", (tmp_path / "memory.max", group))
    whole = machine_memory.__wrapped__()
    group.write_text(text, "ascii")
    assert machine_memory.__wrapped__() == (expected or whole)

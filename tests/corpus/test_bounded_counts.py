"""Counts of many items in little memory."""

from __future__ import annotations

from support.timing import processor_seconds

from diptych.corpus.bounded_counts import BoundedCounter


def test_frequent_items_survive() -> None:
    counts: BoundedCounter[str] = BoundedCounter(10)
    for number in range(1000):
        counts.add(["often", f"once {number}"])
    assert len(counts) <= 10
    assert counts["often"] == 1000


def test_items_of_equal_frequency_do_not_stay_for_ever() -> None:
    counts: BoundedCounter[int] = BoundedCounter(10)
    counts.add(dict.fromkeys(range(100), 7))
    assert not counts


def test_rare_items_do_not_make_a_full_counter_slow() -> None:
    counts: BoundedCounter[int] = BoundedCounter(100_000)
    counts.add(dict.fromkeys(range(100_000), 2))
    with processor_seconds():
        for number in range(100_000, 120_000):
            counts.add([number])
    assert len(counts) <= 100_000

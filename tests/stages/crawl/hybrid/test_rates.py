from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.stages.crawl.hybrid.rates import Chances

KINDS = (("fr",), ("fr", "news"))


def counted(tried: int, paid: int, weight: float = 3.0) -> Chances:
    chances = Chances(weight)
    for number in range(tried):
        chances.tried(KINDS)
        if number < paid:
            chances.paid(KINDS)
    return chances


@given(st.floats(0, 1), st.floats(0.1, 100))
def test_before_anything_was_tried_it_is_as_usual(usual: float, weight: float) -> None:
    assert Chances(weight).of(KINDS, usual) == usual


@given(st.integers(0, 50), st.integers(0, 50), st.floats(0, 1), st.floats(0.1, 100))
def test_chance_stays_a_chance(tried: int, paid: int, usual: float, weight: float) -> None:
    assert 0 <= counted(tried, min(tried, paid), weight).of(KINDS, usual) <= 1 + 1e-9


@given(st.integers(0, 30), st.floats(0.01, 0.99))
def test_each_success_raises_it_and_each_failure_lowers_it(tried: int, usual: float) -> None:
    before = counted(tried, tried // 2).of(KINDS, usual)
    won, lost = counted(tried, tried // 2), counted(tried, tried // 2)
    won.tried(KINDS)
    won.paid(KINDS)
    lost.tried(KINDS)
    assert lost.of(KINDS, usual) < before < won.of(KINDS, usual)


def test_it_comes_to_what_was_seen() -> None:
    assert counted(10_000, 2_500).of(KINDS, 0.9) == pytest.approx(0.25, abs=0.01)


def test_kind_that_was_never_tried_is_judged_by_the_one_above_it() -> None:
    chances = counted(20, 0)
    assert chances.of([("fr",), ("fr", "blog")], 0.9) == chances.of([("fr",)], 0.9) < 0.5
    assert chances.of([("en",), ("en", "news")], 0.9) == 0.9


def test_kind_that_was_often_tried_is_judged_by_itself() -> None:
    chances = counted(50, 0)
    for _ in range(50):
        chances.tried([("fr",), ("fr", "docs")])
        chances.paid([("fr",), ("fr", "docs")])
    assert chances.of([("fr",), ("fr", "docs")], 0.5) > 0.9
    assert chances.of([("fr",), ("fr", "news")], 0.5) < 0.1
    assert 0.4 < chances.of([("fr",)], 0.5) < 0.6


def test_more_weight_is_slower_to_learn() -> None:
    slow, quick = counted(3, 3, weight=30.0), counted(3, 3, weight=1.0)
    assert 0.1 < slow.of(KINDS, 0.1) < quick.of(KINDS, 0.1)


def test_what_paid_with_a_probability_counts_for_so_much() -> None:
    half = Chances(1.0)
    for _ in range(1000):
        half.tried(KINDS)
        half.paid(KINDS, 0.5)
    assert half.of(KINDS, 1.0) == pytest.approx(0.5, abs=0.01)

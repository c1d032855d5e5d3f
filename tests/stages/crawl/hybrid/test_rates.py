from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.stages.crawl.hybrid.rates import Rates

KINDS = (("fr",), ("fr", "news"))


def counted(trials: int, successes: int, weight: float = 3.0) -> Rates:
    rates = Rates(weight)
    for number in range(trials):
        rates.add_trial(KINDS)
        if number < successes:
            rates.add_success(KINDS)
    return rates


@given(st.floats(0, 1), st.floats(0.1, 100))
def test_before_any_trial_the_rate_is_the_prior(prior: float, weight: float) -> None:
    assert Rates(weight).rate(KINDS, prior) == prior


@given(st.integers(0, 50), st.integers(0, 50), st.floats(0, 1), st.floats(0.1, 100))
def test_rate_stays_between_0_and_1(
    trials: int, successes: int, prior: float, weight: float
) -> None:
    assert 0 <= counted(trials, min(trials, successes), weight).rate(KINDS, prior) <= 1 + 1e-9


@given(st.integers(0, 30), st.floats(0.01, 0.99))
def test_each_success_raises_the_rate_and_each_failure_lowers_it(trials: int, prior: float) -> None:
    before = counted(trials, trials // 2).rate(KINDS, prior)
    won, lost = counted(trials, trials // 2), counted(trials, trials // 2)
    won.add_trial(KINDS)
    won.add_success(KINDS)
    lost.add_trial(KINDS)
    assert lost.rate(KINDS, prior) < before < won.rate(KINDS, prior)


def test_rate_approaches_the_observed_share() -> None:
    assert counted(10_000, 2_500).rate(KINDS, 0.9) == pytest.approx(0.25, abs=0.01)


def test_untried_kind_has_the_rate_of_the_more_general_one() -> None:
    rates = counted(20, 0)
    assert rates.rate([("fr",), ("fr", "blog")], 0.9) == rates.rate([("fr",)], 0.9) < 0.5
    assert rates.rate([("en",), ("en", "news")], 0.9) == 0.9


def test_often_tried_kind_has_its_own_rate() -> None:
    rates = counted(50, 0)
    for _ in range(50):
        rates.add_trial([("fr",), ("fr", "docs")])
        rates.add_success([("fr",), ("fr", "docs")])
    assert rates.rate([("fr",), ("fr", "docs")], 0.5) > 0.9
    assert rates.rate([("fr",), ("fr", "news")], 0.5) < 0.1
    assert 0.4 < rates.rate([("fr",)], 0.5) < 0.6


def test_more_weight_is_slower_to_learn() -> None:
    slow, quick = counted(3, 3, weight=30.0), counted(3, 3, weight=1.0)
    assert 0.1 < slow.rate(KINDS, 0.1) < quick.rate(KINDS, 0.1)


def test_success_counts_by_its_probability() -> None:
    half = Rates(1.0)
    for _ in range(1000):
        half.add_trial(KINDS)
        half.add_success(KINDS, 0.5)
    assert half.rate(KINDS, 1.0) == pytest.approx(0.5, abs=0.01)

"""How many segments of a run are right, by their scores, and what that makes of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from diptych.stages.filter.quality.model import rescored, rescored_by_repeats, share_right
from diptych.units import Repeats

SCORES = st.lists(st.floats(0, 1), max_size=200).map(np.array)
USUAL, LEAST, LARGEST = 0.7, 0.05, 0.7


def simulated(
    share: float, count: int = 2000, *, apart: float = 3.0
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Scores that hold where half are right, and which are right: a share of them.

    Odds of two normal distributions around `apart` and its negative, whose variance is twice that,
    are those of the likelihoods themselves.
    """
    chance = np.random.default_rng(int(1000 * share))
    is_right = np.arange(count) < round(share * count)
    odds = np.where(is_right, apart, -apart) + chance.normal(0, np.sqrt(2 * apart), count)
    return 1 / (1 + np.exp(-odds)), is_right


def once(count: int) -> Repeats:
    return Repeats(*np.ones((3, count), np.int64))


def test_simulated_scores_are_calibrated_if_half_are_correct() -> None:
    scores, is_right = simulated(0.5, 20_000)
    for low in (0.1, 0.5, 0.8):
        among = (scores >= low) & (scores < low + 0.1)
        assert is_right[among].mean() == pytest.approx(scores[among].mean(), abs=0.06)


@pytest.mark.parametrize("apart", [1.5, 3.0, 6.0])
@pytest.mark.parametrize("share", [0.2, 0.3, 0.5, 0.6])
def test_share_of_correct_segments_is_estimated(share: float, apart: float) -> None:
    assert share_right(simulated(share, apart=apart)[0]) == pytest.approx(share, abs=0.03)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.6])
def test_rescored_scores_are_calibrated_for_that_share(share: float) -> None:
    scores, is_right = simulated(share, 20_000)
    found = rescored(scores, once(len(scores)), again=0.5, apart=0.5)
    assert found.mean() == pytest.approx(share, abs=0.02)
    for low in (0.2, 0.5, 0.8):
        among = (found >= low) & (found < low + 0.2)
        assert is_right[among].mean() == pytest.approx(found[among].mean(), abs=0.08)


def test_few_segments_are_shrunk_towards_the_prior() -> None:
    shares = [share_right(np.full(count, 0.01)) for count in (0, 1, 5, 20, 100, 1000)]
    assert shares[0] == pytest.approx(USUAL)
    assert shares == sorted(shares, reverse=True)
    assert shares[1] > 0.6
    assert shares[3] > 0.2
    assert shares[-1] == LEAST


def test_order_does_not_matter() -> None:
    scores, _ = simulated(0.7, 500)
    assert share_right(scores[::-1]) == pytest.approx(share_right(scores), abs=1e-9)


@given(scores=SCORES)
def test_share_never_leaves_its_limits(scores: NDArray[np.float64]) -> None:
    assert LEAST <= share_right(scores) <= LARGEST


@pytest.mark.parametrize(("score", "limit"), [(0.0, LEAST), (1.0, LARGEST)])
def test_extreme_shares_are_clipped(score: float, limit: float) -> None:
    assert share_right(np.full(10_000, score)) == limit


@given(scores=SCORES)
def test_rescored_scores_are_shares_in_order(scores: NDArray[np.float64]) -> None:
    ordered = np.sort(scores)
    found = rescored(ordered, once(len(ordered)), again=0.5, apart=0.5)
    assert ((found >= 0) & (found <= 1)).all()
    assert (np.diff(found) >= 0).all()


def test_more_correct_segments_raise_a_score() -> None:
    beside = [
        rescored(np.array([0.6, *[other] * 200]), once(201), again=0.5, apart=0.5)[0]
        for other in (0.01, 0.5, 0.99)
    ]
    assert beside == sorted(beside)
    assert beside[0] < 0.6 < beside[2]


@given(scores=SCORES)
def test_repeats_do_not_change_unique_segments(scores: NDArray[np.float64]) -> None:
    found = rescored_by_repeats(scores, once(len(scores)), again=1.0, apart=1.0)
    assert found.tolist() == scores.tolist()

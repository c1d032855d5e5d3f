from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.page.neighbourhood import BUCKETS
from diptych.stages.discover.shared.naive_bayes import fit

GOOD, BAD, NOISE = 1, 2, range(100, 400)


def examples(
    count: int, seed: int = 1, *, noise: float = 0.0
) -> tuple[list[list[int]], list[float]]:
    """Links with a word that tells, and others that do not; of some the word is wrong."""
    chance = random.Random(seed)
    rows, shares = [], []
    for _ in range(count):
        is_good = chance.random() < 0.3
        says_good = is_good if chance.random() >= noise else not is_good
        rows.append([GOOD if says_good else BAD, *chance.sample(NOISE, 5)])
        shares.append(float(is_good))
    return rows, shares


def test_informative_word_raises_the_probability() -> None:
    model = fit(*examples(400))
    good, bad = model.probabilities([[GOOD], [BAD]])
    assert good > 0.9
    assert bad < 0.1


def test_probabilities_are_calibrated() -> None:
    """Every fifth word lies, so that it may not be surer than that."""
    rows, shares = examples(3000, noise=0.2)
    model = fit(rows, shares)
    others, truth = examples(3000, seed=2, noise=0.2)
    said = model.probabilities(others)
    for low, high in ((0.0, 0.2), (0.2, 0.6), (0.6, 1.0)):
        part = [share for share, p in zip(truth, said, strict=True) if low <= p < high]
        expected = [p for p in said if low <= p < high]
        if len(part) > 100:
            assert sum(part) / len(part) == pytest.approx(sum(expected) / len(part), abs=0.08)


def test_uninformative_words_change_nothing() -> None:
    chance = random.Random(3)
    rows = [chance.sample(NOISE, 5) for _ in range(500)]
    shares = [float(chance.random() < 0.25) for _ in rows]
    said = fit(rows, shares).probabilities(rows)
    usual = sum(shares) / len(shares)
    assert max(abs(said - usual)) < 0.15


def test_shares_count_by_their_size() -> None:
    rows = [[GOOD] if number % 2 else [BAD] for number in range(200)]
    shares = [0.4 if number % 2 else 0.1 for number in range(200)]
    good, bad, unknown = fit(rows, shares).probabilities([[GOOD], [BAD], [77]])
    assert good == pytest.approx(0.4, abs=0.05)
    assert bad == pytest.approx(0.1, abs=0.05)
    assert bad < unknown < good


def test_few_examples_give_only_the_mean_share() -> None:
    assert list(fit([], []).probabilities([[GOOD]])) == [0.5]
    few = fit([[GOOD], [BAD]], [1.0, 0.0]).probabilities([[GOOD], [BAD]])
    assert few[0] == few[1]
    always = fit([[GOOD]] * 100, [1.0] * 100).probabilities([[GOOD], [BAD]])
    assert always[0] == always[1] > 0.95


@given(
    st.lists(
        st.tuples(
            st.lists(st.integers(0, BUCKETS - 1), max_size=8), st.floats(0, 1, allow_nan=False)
        ),
        max_size=80,
    )
)
def test_probabilities_are_probabilities(given: list[tuple[list[int], float]]) -> None:
    rows, shares = [row for row, _ in given], [share for _, share in given]
    said = fit(rows, shares).probabilities([[], [5], *rows])
    assert len(said) == len(rows) + 2
    assert all(0.0 <= p <= 1.0 for p in said)
    assert list(said) == list(fit(rows, shares).probabilities([[], [5], *rows]))

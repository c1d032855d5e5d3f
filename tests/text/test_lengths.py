from __future__ import annotations

import itertools
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.kernels.length_costs import MAX_COST, length_cost
from diptych.text.lengths import Step, cheapest_path, text_length, text_lengths

MOVES = [(1, 1), (1, 0), (0, 1), (2, 1), (1, 2), (2, 2)]


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("", 0),
        ("   ", 0),
        ("house", 5),
        (" a \n\t b ", 3),
        (" a", 1),
        ("a ", 1),
        ("a  b", 3),
        ("a\n\u2003b\x85", 3),
        ("\xa0a\xa0b\u3000", 3),
        ("“a” → b", 7),
        ("été", 3),
        ("你好", 7),
        ("おは", 4.6),
        ("안녕", 4.6),
        ("Linux 内核", 6 + 7),
    ],
)
def test_text_length_counts_alphabetic_letters(text: str, length: float) -> None:
    assert text_length(text) == pytest.approx(length)


PIECES = st.sampled_from(
    [" ", "  ", "\n", "\t", "\xa0", "\u2003", "\u202f", "\u3000", "\x1c", "a", "b c", "é",
     "слово", "ไทย", "中", "🙂", "\ud800", "→", "\u00ad", "\u200b", "\u21ff", "\u2200", "\x00"]
)  # fmt: skip


@given(st.lists(st.lists(PIECES, max_size=6).map("".join) | st.text(max_size=9), max_size=6))
def test_lengths_of_many_texts_are_those_of_each(texts: list[str]) -> None:
    assert text_lengths(texts).tolist() == [text_length(text) for text in texts]


def test_largest_cost_is_that_of_the_authors_program() -> None:
    assert length_cost(1, 100_000) == MAX_COST == 2500 / 100


def test_only_equal_lengths_cost_nothing() -> None:
    assert length_cost(120, 120) == 0
    assert length_cost(0, 0) == 0
    assert 0 < length_cost(120, 121) < length_cost(120, 140) < length_cost(120, 200) < MAX_COST


def test_cost_is_the_two_sided_tail_of_the_normal_deviate() -> None:
    # One standard deviation at 100 characters: sqrt(6.8 * 100) = 26.08 beyond the mean of both.
    left, right = 100 - 26.0768 / 2, 100 + 26.0768 / 2
    assert length_cost(left, right) == pytest.approx(-math.log(0.3173), abs=1e-3)


def test_expected_ratio_moves_the_cheapest_length() -> None:
    assert length_cost(100, 150, 1.5) == 0
    assert length_cost(100, 150, 1.5) < length_cost(100, 100, 1.5)


@given(st.floats(0, 1e7), st.floats(0, 1e7))
def test_cost_is_symmetric_and_bounded(left: float, right: float) -> None:
    assert length_cost(left, right) == length_cost(right, left)
    assert 0 <= length_cost(left, right) <= MAX_COST


def brute_force(rows: int, columns: int, cost: dict[Step, float]) -> float:
    """The lowest total cost of all paths, by brute force."""
    if rows == columns == 0:
        return 0.0
    totals = [
        brute_force(rows - left, columns - right, cost)
        + cost[Step(rows - left, columns - right, left, right)]
        for left, right in MOVES
        if left <= rows and right <= columns
    ]
    return min(totals)


@pytest.mark.parametrize("seed", range(20))
def test_path_is_the_cheapest_of_all(seed: int) -> None:
    chance = random.Random(seed)
    rows, columns = chance.randrange(5), chance.randrange(5)
    cost = {
        Step(row, column, *move): chance.random() * 5
        for row, column, move in itertools.product(range(5), range(5), MOVES)
    }
    steps = cheapest_path(rows, columns, MOVES, lambda *step: cost[Step(*step)], max_cells=10_000)
    assert sum(cost[step] for step in steps) == pytest.approx(brute_force(rows, columns, cost))


@given(
    st.integers(0, 30), st.integers(0, 30), st.integers(1, 1000), st.randoms(use_true_random=False)
)
def test_path_is_complete_in_the_narrowest_band(
    rows: int, columns: int, max_cells: int, chance: random.Random
) -> None:
    steps = cheapest_path(rows, columns, MOVES, lambda *step: chance.random(), max_cells=max_cells)
    row = column = 0
    for step in steps:
        assert (step.left, step.right) == (row, column)
        assert (step.left_count, step.right_count) in MOVES
        row, column = row + step.left_count, column + step.right_count
    assert (row, column) == (rows, columns)


def test_band_bounds_the_work() -> None:
    seen: set[tuple[int, int]] = set()

    def cost(left: int, right: int, left_count: int, right_count: int) -> float:
        seen.add((left, right))
        return abs(left_count - right_count)

    cheapest_path(400, 400, MOVES, cost, max_cells=4_000)
    assert 400 < len(seen) < 6_000


def test_band_follows_the_diagonal_of_unequal_sequences() -> None:
    steps = cheapest_path(100, 200, MOVES, lambda *s: 0 if s[2:] == (1, 2) else 1, max_cells=2_000)
    assert {step[2:] for step in steps} == {(1, 2)}


def test_earlier_move_wins_a_tie() -> None:
    steps = cheapest_path(1, 1, [(1, 0), (0, 1), (1, 1)], lambda *s: sum(s[2:]), max_cells=100)
    assert [step[2:] for step in steps] == [(0, 1), (1, 0)]

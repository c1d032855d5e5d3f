"""Rows of numbers that are computed once for each text."""

from __future__ import annotations

import numpy as np

from diptych.stages.filter.shared.row_table import RowTable


def lengths(asked: list[list[str]], texts: list[str]) -> np.ndarray:
    asked.append(texts)
    return np.array([[len(text), 1.0] for text in texts])


def test_each_row_is_computed_once_and_new_ones_in_one_call() -> None:
    table, asked = RowTable[str](2, 100_000), []
    for texts in (["a", "bb", "a"], ["bb"], ["ccc", "a", "dddd", "ccc"], []):
        places = table.places(texts, lambda new: lengths(asked, new))
        assert table.chosen(places).tolist() == [[len(text), 1.0] for text in texts]
    assert asked == [["a", "bb"], ["ccc", "dddd"]]
    assert len(table) == 4


def test_many_rows_are_kept_while_the_table_grows() -> None:
    table = RowTable[str](2, 10_000_000)
    texts = ["x" * size for size in range(1500)]
    for start in range(0, 1500, 100):
        table.places(texts[start : start + 100], lambda new: lengths([], new))
    places = table.places(texts, lambda new: lengths([], new))
    assert places == list(range(1500))
    assert table.chosen(places)[:, 0].tolist() == list(range(1500))


def test_full_table_says_so_and_is_cleared() -> None:
    table = RowTable[str](2, 1000)
    table.places(["a", "b"], lambda new: lengths([], new))
    assert not table.is_full
    table.places(["c" * 1000], lambda new: lengths([], new))
    assert table.is_full
    table.clear()
    assert (len(table), table.bytes, table.is_full) == (0, 0, False)
    places = table.places(["bb"], lambda new: lengths([], new))
    assert table.chosen(places).tolist() == [[2, 1]]


def test_numbers_are_keys_too() -> None:
    table = RowTable[int](1, 1000)
    places = table.places([7 << 32, 3, 7 << 32], lambda new: np.array([[key % 5] for key in new]))
    assert table.chosen(places).tolist() == [[(7 << 32) % 5], [3], [(7 << 32) % 5]]

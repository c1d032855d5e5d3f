"""Templates among the segments of a run, and their surplus examples."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.corpus import templates
from diptych.corpus.templates import surplus_examples

Segment = tuple[int, str, str]
"""a site and both texts"""
COLOURS = {"red": "rojo", "blue": "azul", "green": "verde", "black": "negro", "white": "blanco",
           "grey": "gris", "pink": "rosa", "brown": "pardo"}  # fmt: skip


def tags(count: int, site: int = 1) -> list[Segment]:
    return [
        (site, f"A square tag in {left}", f"Etiqueta cuadrada de {right}")
        for left, right in [*COLOURS.items()][:count]
    ]


def found(
    segments: list[Segment], scores: list[float] | None = None, duplicates: tuple[int, ...] = ()
) -> list[int]:
    def texts(marked: np.ndarray) -> Iterator[tuple[int, int, str, str]]:
        for row in np.flatnonzero(marked).tolist():
            yield row, *segments[row]

    is_first = np.ones(len(segments), bool)
    is_first[list(duplicates)] = False
    given = np.linspace(0.9, 0.1, len(segments)) if scores is None else np.array(scores)
    return surplus_examples(texts, is_first, given).tolist()


def test_six_segments_that_differ_in_one_word_are_a_template() -> None:
    assert found(tags(5)) == []
    assert found(tags(6)) == [3, 4, 5]
    assert found([(1, "Other.", "Otro."), *tags(8)]) == [4, 5, 6, 7, 8]


def test_the_best_examples_stay() -> None:
    assert found(tags(6), [0.1, 0.9, 0.5, 0.8, 0.2, 0.9]) == [0, 2, 4]


def test_every_template_keeps_examples_if_segments_are_in_several() -> None:
    items = {"shirt": "camisa", "coat": "abrigo", "hat": "gorro", "sock": "calceta",
             "belt": "faja", "scarf": "chal", "glove": "guante", "shoe": "zapato"}  # fmt: skip
    grid = [
        (1, f"buy the {colour} {item} today", f"compra la {cosa} {color} ahora")
        for colour, color in [*COLOURS.items()][:8]
        for item, cosa in items.items()
    ]
    kept = [grid[row] for row in sorted({*range(len(grid))} - {*found(grid, [0.5] * len(grid))})]
    assert len(kept) < len(grid)
    for word in (*[*COLOURS][:8], *items):
        assert sum(word in left.split() for _, left, _ in kept) >= 3, word


def test_names_and_words_may_stand_in_the_same_place() -> None:
    named = [
        (1, f"A square tag in {name}", f"Etiqueta cuadrada de {name}") for name in ("Ara", "7")
    ]
    assert found([*tags(4), *named]) == [3, 4, 5]


def test_sites_have_templates_of_their_own() -> None:
    assert found([*tags(5), *tags(8, site=2)[5:]]) == []


def test_near_duplicates_are_not_examples() -> None:
    assert found(tags(6), duplicates=(2,)) == []
    assert found(tags(8), duplicates=(0,)) == [4, 5, 6, 7]


def test_labels_of_two_words_are_no_template() -> None:
    assert found([(1, f"Our {left}", f"Nuestro {right}") for left, right in COLOURS.items()]) == []


def test_sentences_are_no_template() -> None:
    end = "and nobody in the whole town knew whether she would come back"
    long = [(1, f"{left} {end}", f"{right} {end[::-1]}") for _, left, right in tags(8)]
    assert found(long) == []
    cut = [(1, *(" ".join(text.split()[:12]) for text in texts)) for _, *texts in long]
    assert found(cut) == [3, 4, 5, 6, 7]


def test_template_of_names() -> None:
    names = [f"{first}{second}ra" for first, second in product("BDF", "aei")]
    assert found([(1, f"Tag {name}", f"Etiqueta {name}") for name in names]) == [3, 4, 5, 6, 7, 8]


def test_no_segments() -> None:
    assert found([]) == []


LABEL = st.tuples(st.just("a"), st.sampled_from("bc"), st.sampled_from("cdefgh"))


@pytest.mark.parametrize("at_once", [1, 20, 200_000])
@given(
    st.sets(st.tuples(LABEL, LABEL), min_size=20, max_size=60), st.integers(0, 2), st.integers(0, 2)
)
def test_surplus_is_what_comparing_all_places_finds(
    at_once: int, labels: set[tuple[tuple[str, ...], ...]], here: int, there: int
) -> None:
    sets: dict[tuple[object, ...], list[int]] = defaultdict(list)
    segments: list[Segment] = []
    for row, (ours, theirs) in enumerate(sorted(labels)):
        left = (*ours[here:], *ours[:here])
        right = tuple(f"{word}y" for word in (*theirs[there:], *theirs[:there]))
        segments.append((1, " ".join(left), " ".join(right)))
        for one, other in product(range(3), range(3)):
            sets[one, left[:one], left[one + 1 :], other, right[:other], right[other + 1 :]].append(
                row
            )
    many = [rows for rows in sets.values() if len(rows) >= 6]
    best = {row for rows in many for row in rows[:3]}
    expected = {row for rows in many for row in rows[3:]} - best
    before = templates._AT_ONCE
    templates._AT_ONCE = at_once
    try:
        assert found(segments) == sorted(expected)
    finally:
        templates._AT_ONCE = before

"""The correction of scores, learned from judged segments."""

from __future__ import annotations

import json

import numpy as np
import pytest

from diptych.learn.lexicon.lexicon import Lexicon
from diptych.stages.filter.quality.correction import (
    NAMES,
    Correction,
    Regression,
    parse_correction,
    shipped_correction,
)
from diptych.stages.filter.quality.measures import measure_columns
from diptych.stages.filter.shared.segments import read_segments
from diptych.types import SegmentPair, Url

URL = Url("http://a.example/")
EMPTY = Lexicon.empty("en", "fr")


def segment(left: str, right: str, *, paths: tuple[str, str] = ("/p", "/p")) -> SegmentPair:
    return SegmentPair(left, right, "en", "fr", URL, URL, *paths, 0.9)


def columns(*segs: SegmentPair) -> dict[str, np.ndarray]:
    return measure_columns(read_segments(segs), EMPTY)


def test_each_measure_counts_with_its_weight() -> None:
    weights = tuple(float(number) for number in range(1, len(NAMES) + 1))
    values = {name: np.array([10.0**at, 0.0]) for at, name in enumerate(NAMES[:5])}
    values |= {name: np.zeros(2) for name in NAMES[5:]}
    correction = Correction(Regression(weights, 0.5), Regression(weights, -60_000.0), 0.1, 0.2)
    assert correction.corrected(values).tolist() == [54321.5, 0.5]
    assert correction.are_partial(values).tolist() == [False, False]
    assert correction.are_partial(values | {"odds": np.array([90_000.0, 0.0])}).tolist() == [
        True, False,
    ]  # fmt: skip


def test_excerpts_end_with_an_ellipsis_on_both_sides() -> None:
    found = columns(
        segment("We were proud to …", "Nous étions fiers de …"),
        segment("Read on [...]", "Lire la suite […]"),
        segment("Standards, codes, etc.", "Normes, codes…"),
        segment("The end.", "La fin."),
    )
    assert found["excerpts"].tolist() == [1, 1, 0, 0]


def test_numbers_that_contradict_each_other_are_counted() -> None:
    found = columns(
        segment("We have 96 members", "Nous avons 125 membres"),
        segment("We have 96 members", "Nous avons 96 membres"),
        segment("We have 96 members", "Nous avons des membres"),
    )
    assert found["number_conflicts"].tolist() == [np.log(2), 0, 0]
    assert found["number_surplus"].tolist() == [0, 0, np.log(2)]


def test_places_are_compared() -> None:
    found = columns(
        segment("Home", "Accueil"), segment("News", "Actualités", paths=("/p", "/div/p"))
    )
    assert found["same_path"].tolist() == [1, 0]


def test_clause_on_one_side_is_a_run_of_unlinked_words() -> None:
    shared = "Alpha Beta Gamma Delta"
    found = columns(
        segment(shared, shared), segment(f"{shared} which nobody had ever seen before", shared)
    )
    for name in ("total", "longest", "last"):
        none, some = found[f"unlinked_{name}_apart"]
        assert none < some, name
    assert found["unlinked_first_apart"][1] == found["unlinked_first_apart"][0]


def test_sides_can_be_swapped() -> None:
    texts = [("Contact us by form in 2 days …", "Formulaire …"), ("Home", "Page d'accueil 7")]
    one = columns(*(segment(left, right) for left, right in texts))
    other = columns(*(segment(right, left) for left, right in texts))
    for name in NAMES[1:]:
        assert np.allclose(one[name], other[name]), name


def test_shipped_correction_is_read_as_it_was_written() -> None:
    shipped = shipped_correction()
    assert parse_correction(json.dumps(shipped.to_json())) == shipped
    assert len(shipped.good.weights) == len(NAMES)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": 9}, "format"),
        ({"again": -0.1}, "negative"),
        ({"apart": "much"}, "not a number"),
        ({"good": {"weights": {"odds": 1.0}, "offset": 0.0}}, "different measures"),
    ],
)
def test_invalid_correction_is_refused(change: dict[str, object], said: str) -> None:
    raw = shipped_correction().to_json() | change
    with pytest.raises(ValueError, match=said):
        parse_correction(json.dumps(raw))


def test_what_lowers_a_score() -> None:
    weights = dict(zip(NAMES, shipped_correction().good.weights, strict=True))
    assert weights["odds"] > 0
    for name in ("number_conflicts", "number_surplus", "length_off", "excerpts"):
        assert weights[name] < 0, name

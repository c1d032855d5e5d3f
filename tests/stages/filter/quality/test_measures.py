"""What is measured of segments: the weights of the model hold for these figures only."""

from __future__ import annotations

import numpy as np
import pytest

from diptych.learn.lexicon.lexicon import Lexicon
from diptych.stages.filter.quality.measures import NAMES, measures
from diptych.stages.filter.shared.segments import read_segments
from diptych.types import SegmentPair, Url

URL = Url("http://example.org/")
LEXICON = Lexicon.of_links(
    "en",
    "fr",
    [
        ("council", "conseil", 4), ("library", "bibliothèque", 3), ("old", "ancienne", 2),
        ("the", "le", 2), ("the", "la", 2), ("open", "ouverte", 1), ("ask", "demandez", 1),
        ("room", "bureau", 1),
    ],
)  # fmt: skip
PAGE = [
    SegmentPair(left, right, "en", "fr", URL, URL, "", "", score)
    for left, right, score in [
        (
            "The council met at 9 in the old library.",
            "Le conseil s'est réuni à 9 heures à la bibliothèque.",
            0.9,
        ),
        (
            "Ask Peter Meier (room 12): peter@a.org!",
            "Demandez à Peter Meier, bureau 13: peter@a.org",
            0.8,
        ),
        ("Is the library open? yes, it is; always", "La bibliothèque est-elle ouverte ?", 0.3),
        (
            'The "old" council and the old, old library',
            "Une ancienne bibliothèque et le conseil",
            0.6,
        ),
        ("See www.b.org/x = y", "Le conseil et la bibliothÃ©que de Peter. voici", 0.1),
        ("Library", "Bibliothèque", 1.0),
    ]
]
# Without those of languages, which are another model's.
MEASURED = {
    "alignment": [0.9, 0.8, 0.3, 0.6, 0.1, 1],
    "length": [3.7136, 3.6889, 3.5553, 3.6889, 2.9957, 2.0794],
    "length_ratio": [0.1974, 0.1219, 0.0972, 0.0541, 0.5845, 0.2048],
    "length_off": [0.4822, 0.2481, 0.3699, 0.2605, 1.4518, 0.3197],
    "words_off": [0.1432, 0.0843, 0.3295, 0.2117, 0.528, 0.011],
    "word_length_off": [0.9559, 1.1004, 1.3389, 1.3518, 1.0692, 1.7742],
    "gain_less": [1.707, 2.533, 1.4984, 1.956, 0, 1.2329],
    "gain_more": [1.95, 2.5468, 1.8065, 2.0717, 0, 1.2932],
    "margin_less": [1.9771, 2.6329, 0.6264, 0.9582, -1.3081, 0.6075],
    "margin_more": [2.2561, 2.671, 0.8711, 1.3039, 0, 1.2329],
    "known_less": [1.2698, 1.4966, 0.7885, 0.9555, 0, 0.3365],
    "known_more": [1.3762, 1.4966, 0.7885, 1.335, 1.1421, 0.3365],
    "told_less": [0.2327, 0.4333, 0.15, 0.2667, 0, 0.4],
    "told_more": [0.3289, 0.4952, 0.24, 0.35, 0.237, 0.4],
    "covered_less": [0.7721, 0.9003, 0.7981, 0.8278, 0.1398, 0.6552],
    "covered_more": [0.8828, 0.9009, 0.8, 0.8328, 0.5, 0.6593],
    "links": [1.7918, 1.7918, 1.3863, 1.6094, 0, 0.6931],
    "in_order": [0.5833, 0.75, 0.875, 0.7, 0.75, 0.75],
    "displaced": [0.1785, 0.0747, 0.1725, 0.3625, 0.15, 0.1],
    "jumps": [0.316, 0.0768, 0.2125, 0.3183, 0.15, 0.15],
    "numbers": [1, 0, 0, 0, 0, 0],
    "numbers_lost": [0, 2, 0, 0, 0, 0],
    "numbers_kept": [0.6667, 0.25, 0.5, 0.5, 0.5, 0.5],
    "names": [0, 3, 0, 0, 0, 0],
    "names_lost": [0, 0, 0, 0, 1, 0],
    "names_kept": [0.5, 0.8, 0.5, 0.5, 0.3333, 0.5],
    "addresses_lost": [0, 0, 0, 0, 1, 0],
    "copied": [0, 0.6, 0, 0, 0, 0],
    "varied_less": [0.9091, 0.8889, 0.9, 0.7, 1, 1],
    "varied_apart": [0.014, 0.0111, 0.1, 0.3, 0, 0],
    "end_differs": [0, 1, 1, 0, 0, 0],
    "begin_differs": [0, 0, 0, 0, 0, 0],
    "stops_apart": [0, 0, 0, 0, 1, 0],
    "commas_apart": [0, 1, 2, 1, 0, 0],
    "questions_apart": [0, 1, 0, 0, 0, 0],
    "colons_apart": [0, 0, 0, 0, 0, 0],
    "brackets_apart": [0, 2, 0, 0, 0, 0],
    "quotes_apart": [1, 0, 0, 2, 0, 0],
    "codes_apart": [0, 0, 0, 0, 2, 0],
    "breaks_apart": [0, 0, 1, 0, 1, 0],
    "letters_less": [0.9302, 0.7647, 0.9062, 0.9143, 0.75, 1],
    "upper_apart": [0.01, 0.0202, 0.0013, 0.0022, 0.0058, 0.0267],
    "damaged": [0, 0, 0, 0, 2, 0],
    "neighbour_alignment": [0.65, 0.6, 0.7, 0.2, 0.8, 0.3],
    "neighbour_gain": [2.0678, 1.6027, 2.2445, 0.7492, 1.5945, 0.8013],
    "page_gain": [1.6027, 1.6027, 1.6027, 1.6027, 1.6027, 1.6027],
    "page_length": [0.3448, 0.3448, 0.3448, 0.3448, 0.3448, 0.3448],
}


@pytest.fixture(scope="module")
def columns() -> dict[str, list[float]]:
    rows = measures(read_segments(PAGE), LEXICON)
    return dict(zip(NAMES, rows.T.tolist(), strict=True))


@pytest.mark.parametrize("name", MEASURED)
def test_measures_are_those_that_the_model_was_trained_with(
    name: str, columns: dict[str, list[float]]
) -> None:
    assert columns[name] == pytest.approx(MEASURED[name], abs=6e-4)


def test_every_measure_is_checked_but_those_of_languages(columns: dict[str, list[float]]) -> None:
    assert set(columns) - set(MEASURED) == {
        "language_less", "language_more", "foreign_less", "foreign_more"
    }  # fmt: skip
    for kind in ("language", "foreign"):
        for less, more in zip(columns[f"{kind}_less"], columns[f"{kind}_more"], strict=True):
            assert less <= more
        assert columns[f"{kind}_less"][0] > 0


def test_text_in_the_language_of_the_other_side_is_below_zero() -> None:
    turned = SegmentPair(PAGE[0].right, PAGE[0].left, "en", "fr", URL, URL, "", "", 0.9)
    row = dict(zip(NAMES, measures(read_segments([turned]), LEXICON)[0].tolist(), strict=True))
    assert row["language_more"] < 0


@pytest.mark.parametrize(
    ("name", "left", "right", "value"),
    [
        ("addresses_lost", "See www.a.org/x, or", "Voir www.a.org/x.", 0),
        ("addresses_lost", "See here", "Voir www.a.org", 1),
        ("addresses_lost", "See here", "Voir http://a.org/", 1),
        ("addresses_lost", "See here", "Voir a@b.org", 1),
        ("addresses_lost", "See a @ b", "Voir a @ c", 0),
        ("begin_differs", "One", "un", 1),
        ("begin_differs", "1 one", "un", 0),
        ("end_differs", "One:", "Un", 1),
        ("end_differs", "One 5", "Un", 0),
        ("upper_apart", "ONE TWO", "家", 0),
        ("upper_apart", "ABCd", "abcd", 4 / 14 - 1 / 14),
        ("quotes_apart", "'a' b", "a b", 2),
        ("colons_apart", "a: b", "a b", 1),
        ("codes_apart", "a = b/c", "a b c", 2),
        ("varied_less", "one one one one", "un deux trois quatre", 0.5),
        ("numbers_kept", "In 1956 and 1957", "En 1956 et 1958", 0.4),
    ],
)
def test_segment_by_itself(name: str, left: str, right: str, value: float) -> None:
    seg = SegmentPair(left, right, "en", "fr", URL, URL, "", "", 0.5)
    row = measures(read_segments([seg]), Lexicon.empty("en", "fr"))[0]
    assert row[NAMES.index(name)] == pytest.approx(value, abs=1e-6)


def test_lengths_are_relative_to_the_median_on_long_pages() -> None:
    def seg(left: int, right: int) -> SegmentPair:
        return SegmentPair("a" * left, "b" * right, "en", "fr", URL, URL, "", "", 0.5)

    name = NAMES.index("length_off")
    alone = measures(read_segments([seg(30, 60)]), LEXICON)[0, name]
    among = measures(read_segments([seg(30, 60)] * 60), LEXICON)[0, name]
    assert among == pytest.approx(alone * 0.25 / (1 - 1 / 21), rel=1e-5)  # 20 of 80, 1 of 21
    assert np.all(measures(read_segments([seg(30, 30)] * 3), LEXICON)[:, name] == 0)

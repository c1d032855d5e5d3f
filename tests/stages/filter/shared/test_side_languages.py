"""In which language the sides of segments are."""

from __future__ import annotations

import numpy as np
import pytest

from diptych.language.identify import MIN_LETTERS, whole_model
from diptych.stages.filter.shared import side_languages
from diptych.stages.filter.shared.side_languages import UNKNOWN_ODDS, language_odds

ENGLISH = "The members of the council met in the old town hall on Tuesday evening."
FRENCH = "Les membres du conseil se sont réunis mardi soir à l'ancien hôtel de ville."
SPANISH = "Los miembros del consejo se reunieron el martes por la tarde en el ayuntamiento."
WEIGHT = 60


def told(text: str, own: str, other: str, weight: int = WEIGHT) -> tuple[float, float]:
    over_other, over_third = language_odds([text], np.array([weight]), own, other)
    return float(over_other[0]), float(over_third[0])


@pytest.mark.parametrize(
    ("text", "own", "other", "is_own", "is_no_third"),
    [
        (ENGLISH, "en", "fr", True, True),
        (FRENCH, "en", "fr", False, False),
        (FRENCH, "fr", "en", True, True),
        (SPANISH, "en", "es", False, False),
    ],
)
def test_text_is_more_probable_in_its_own_language(
    text: str, own: str, other: str, is_own: bool, is_no_third: bool
) -> None:
    over_other, _ = told(text, own, other)
    assert (over_other > 0) is is_own
    assert abs(over_other) > 3
    if is_no_third:
        assert told(text, own, other)[1] > 3


def test_text_in_a_third_language_has_negative_third_odds_only() -> None:
    assert told(SPANISH, "en", "fr")[1] < -3
    # The other of the two languages is no third one.
    assert told(FRENCH, "en", "fr")[1] > told(FRENCH, "en", "de")[1]


def test_short_text_has_unknown_odds() -> None:
    assert told(ENGLISH, "en", "fr", MIN_LETTERS - 1) == (UNKNOWN_ODDS, UNKNOWN_ODDS)
    assert told(ENGLISH, "en", "fr", MIN_LETTERS) != (UNKNOWN_ODDS, UNKNOWN_ODDS)
    found = language_odds([ENGLISH, FRENCH, "a"], np.array([WEIGHT, WEIGHT, 1]), "en", "fr")[0]
    assert found[0] > 0 > found[1]
    assert found[2] == UNKNOWN_ODDS == 0


@pytest.mark.parametrize(("own", "other"), [("en", "en-GB"), ("tet", "en"), ("zh-Hans", "zh-Hant")])
def test_indistinguishable_languages_have_unknown_odds(own: str, other: str) -> None:
    assert told(ENGLISH, own, other) == (UNKNOWN_ODDS, UNKNOWN_ODDS)


def test_unknown_other_language_still_gives_third_odds() -> None:
    over_other, over_third = told(SPANISH, "en", "tet")
    assert over_other == UNKNOWN_ODDS
    assert over_third < -3


def test_beginning_of_a_text_is_enough() -> None:
    begins = (ENGLISH * 3)[:160]
    assert told(begins + FRENCH * 5, "en", "fr") == told(begins, "en", "fr")
    assert told(begins[:-2] + FRENCH, "en", "fr") != told(begins[:-2] + "xxxx", "en", "fr")


def test_no_texts_give_no_odds() -> None:
    assert [len(found) for found in language_odds([], np.array([], int), "en", "fr")] == [0, 0]


def test_pairs_of_common_languages_share_a_model() -> None:
    pairs = [("en", "fr"), ("fr", "en"), ("de", "zh-Hant")]
    models = [side_languages._restricted_model(whole_model(), *pair)[0] for pair in pairs]
    assert models[0] is models[1] is models[2]
    assert side_languages._restricted_model(whole_model(), "en", "cy")[0] is not models[0]

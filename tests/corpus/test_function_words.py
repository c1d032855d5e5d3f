"""Function words, recognised from their use."""

from __future__ import annotations

from diptych.corpus.function_words import RARE, WordUse
from diptych.learn.lexicon.lexicon import Lexicon

NOUNS = "lamp tower keeper storm island lantern harbour beacon sailor captain".split()
VERBS = "guards watches crosses leaves reaches mends".split()


def english() -> WordUse:
    """Sixty sentences such as "the lamp of the tower guards the keeper"."""
    use = WordUse()
    for number in range(60):
        first, second, third = (NOUNS[(number * step + step) % 10] for step in (1, 3, 7))
        verb = VERBS[number % 6]
        use.add([f"the {first} of the {second} {verb} the {third}".split()])
    use.add([["uncommon"]])
    return use


def test_function_words_have_the_highest_odds() -> None:
    odds = english().log_odds(Lexicon.empty("en", "fr"), "left")
    assert min(odds["the"], odds["of"]) > 0
    assert max(odds[noun] for noun in NOUNS) < -1


def test_rare_words_are_not_function_words() -> None:
    assert english().log_odds(Lexicon.empty("en", "fr"), "left")["uncommon"] == RARE


def test_many_translations_raise_the_odds() -> None:
    use = english()
    plain = Lexicon.of_links("en", "fr", [("lamp", "lampe", 1)])
    vague = Lexicon.of_links("en", "fr", [("lamp", f"mot{number}", 1) for number in range(16)])
    one, many = (use.log_odds(each, "left")["lamp"] for each in (plain, vague))
    assert many > one
    assert use.log_odds(vague.reversed(), "right")["lamp"] == many


def test_text_without_words_has_no_odds() -> None:
    use = WordUse()
    use.add([])
    assert use.log_odds(Lexicon.empty("en", "fr"), "left") == {}

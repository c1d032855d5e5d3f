"""Word links and phrases of two sentences."""

from __future__ import annotations

from diptych.learn.lexicon.lexicon import Lexicon
from diptych.learn.lexicon.phrases import (
    MAX_SENTENCE,
    Sentence,
    SentenceLinks,
    phrase_pairs,
    word_links,
)

NONE: frozenset[int] = frozenset()


def lexicon(*links: tuple[str, str, float]) -> Lexicon:
    return Lexicon.of_links("en", "fr", links)


def linked(left: str, right: str, known: Lexicon) -> list[tuple[str, str]]:
    ours, theirs = left.split(), right.split()
    return [(ours[one], theirs[other]) for one, other in word_links(ours, theirs, known).pairs]


def found(left: str, right: str, known: Lexicon, functions: str = "") -> set[tuple[str, str, bool]]:
    """The phrases of two sentences, and True for those with links for all content words."""
    ours, theirs = left.split(), right.split()
    sentences = [
        Sentence(
            [word.strip(",") not in functions.split() for word in words],
            [False] * len(words),
            [place > 0 and not words[place - 1].endswith(",") for place in range(len(words))],
        )
        for words in (ours, theirs)
    ]
    plain = [[word.strip(",") for word in words] for words in (ours, theirs)]
    return {
        (" ".join(plain[0][slice(*one)]), " ".join(plain[1][slice(*other)]), is_whole)
        for one, other, is_whole in phrase_pairs(*sentences, word_links(*plain, known))
    }


def test_best_links_come_first_and_leave_no_word_for_worse_ones() -> None:
    known = lexicon(("old", "vieux", 9), ("old", "phare", 1), ("lamp", "phare", 9))
    assert linked("old lamp", "vieux phare", known) == [("old", "vieux"), ("lamp", "phare")]


def test_repeated_words_are_linked_to_the_nearest() -> None:
    known = lexicon(("sea", "mer", 1), ("sky", "ciel", 1))
    links = word_links("sea sky sky sea".split(), "mer ciel ciel mer".split(), known)
    assert links.pairs == [(0, 0), (1, 1), (2, 2), (3, 3)]


def test_weak_links_are_left_out() -> None:
    known = lexicon(("sea", "mer", 1), ("sea", "ici", 99), ("far", "mer", 99))
    assert linked("sea", "mer", known) == []
    one_way = lexicon(("sea", "mer", 1), ("sea", "ici", 1), ("far", "mer", 199))
    assert linked("sea", "mer", one_way) == []


def test_one_word_can_have_two_translations_beside_each_other() -> None:
    known = lexicon(("online", "ligne", 6), ("online", "en", 4), ("in", "en", 99))
    links = word_links(["online"], ["en", "ligne"], known)
    assert links.pairs == [(0, 0), (0, 1)]
    assert (links.left_seconds, links.right_seconds) == (NONE, frozenset({0}))
    assert linked("online shop", "en boutique belle ligne", known) == [("online", "ligne")]


def test_word_between_two_translations_has_no_link() -> None:
    known = lexicon(("update", "jour", 5), ("update", "mise", 5), ("to", "à", 1))
    assert linked("update", "mise à jour", known) == [("update", "mise"), ("update", "jour")]
    assert linked("to update", "mise à jour", known)[-1] == ("update", "jour")
    assert ("update", "mise") not in linked("to update", "mise à jour", known)


def test_neighbour_joins_before_a_word_further_away() -> None:
    known = lexicon(("republic", "république", 5), ("of", "république", 5))
    pairs = word_links("of the republic of".split(), ["république"], known).pairs
    assert pairs == [(2, 0), (3, 0)]


def test_very_long_sentences_have_no_links() -> None:
    known = lexicon(("sea", "mer", 1))
    many = ["sea"] * (MAX_SENTENCE + 1)
    assert word_links(many, ["mer"], known).pairs == []
    assert word_links([], ["mer"], known).pairs == []


def test_phrases_have_no_link_to_words_outside() -> None:
    known = lexicon(("blue", "bleue", 1), ("house", "maison", 1), ("the", "la", 1))
    assert found("the blue house", "la maison bleue", known, "the la") == {
        ("blue", "bleue", True), ("house", "maison", True), ("blue house", "maison bleue", True),
    }  # fmt: skip


def test_phrase_is_not_divided_by_words_of_another() -> None:
    known = lexicon(("one", "un", 1), ("two", "deux", 1), ("three", "trois", 1))
    pairs = {(left, right) for left, right, _ in found("one two three", "un trois deux", known)}
    assert ("two three", "trois deux") in pairs
    assert "one two" not in {left for left, _ in pairs}


def test_function_words_stand_only_inside_phrases() -> None:
    known = lexicon(("human", "homme", 1), ("rights", "droits", 1))
    pairs = found("human rights", "droits de l homme", known, "de l")
    assert ("human rights", "droits de l homme", True) in pairs
    assert all(not right.startswith(("de", "l")) for _, right, _ in pairs)


def test_function_word_that_belongs_to_the_translation_can_begin_it() -> None:
    known = lexicon(("online", "ligne", 6), ("online", "en", 4))
    assert found("online", "en ligne", known, "en") == {("online", "en ligne", True)}


def test_punctuation_divides_phrases() -> None:
    known = lexicon(("sea", "mer", 1), ("sky", "ciel", 1))
    assert ("sea sky", "mer ciel", True) in found("sea sky", "mer ciel", known)
    assert ("sea sky", "mer ciel", True) not in found("sea, sky", "mer ciel", known)


def test_one_content_word_without_a_link_is_allowed_and_reported() -> None:
    known = lexicon(("protection", "Datenschutz", 1))
    assert found("data protection", "Datenschutz", known) == {
        ("protection", "Datenschutz", True), ("data protection", "Datenschutz", False),
    }  # fmt: skip
    assert ("personal data protection", "Datenschutz", False) not in found(
        "personal data protection", "Datenschutz", known
    )


def test_hyphenated_words_are_not_divided() -> None:
    tied = Sentence([True, True], [False, True], [False, True])
    one = Sentence([True], [False], [False])
    for place in (0, 1):
        links = SentenceLinks([(place, 0)], NONE, NONE)
        assert [tuple(pair.left) for pair in phrase_pairs(tied, one, links)] == [(0, 2)]

"""Grouping and ranking of candidates for terms."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.corpora import side, unit

from diptych.corpus.term_candidates import Extraction, Key, Search, Segment, Survey
from diptych.corpus.term_ranking import Found, Ranking, grouped, is_same_word, without_nested
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.types import LangPair


def key(left: str, right: str) -> Key:
    return Key(tuple(left.split()), tuple(right.split()))


def found(left: str, right: str, evidence: int, **more: object) -> Found:
    plain = Found((key(left, right),), evidence, 0, evidence, True, 0.9, 1.0)
    return replace(plain, **more)


@pytest.mark.parametrize(
    ("one", "other"),
    [("сайта", "сайтов"), ("employé", "employés"), ("works", "worked"), ("a", "a")],
)
def test_endings_do_not_make_another_word(one: str, other: str) -> None:
    assert is_same_word(one, other)


@pytest.mark.parametrize(
    ("one", "other"), [("sea", "seas"), ("inter", "interview"), ("mental", "mentioned")]
)
def test_other_words(one: str, other: str) -> None:
    assert not is_same_word(one, other)


def test_both_sides_of_a_group_differ_only_in_endings() -> None:
    weights = {key("tests", "essais"): 3, key("test", "essai"): 2, key("test", "test"): 1}
    assert sorted(map(len, grouped(weights))) == [1, 2]
    assert grouped(weights)[0][0] == key("tests", "essais")


def test_term_within_a_longer_one_is_left_out() -> None:
    longer, shorter = found("fog signal", "signal de brume", 8), found("fog", "brume", 9)
    assert list(without_nested([shorter, longer])) == [longer]
    often = found("fog", "brume", 20)
    assert list(without_nested([often, longer])) == [often, longer]


def test_label_within_a_longer_term_stays() -> None:
    longer, label = found("fog signal", "signal de brume", 8), found("fog", "brume", 8, labels=1)
    assert list(without_nested([label, longer])) == [label, longer]


def test_longer_term_with_an_unlinked_word_must_be_as_certain() -> None:
    shorter = found("protection", "Datenschutz", 8, confidence=0.6)
    longer = found("data protection", "Datenschutz", 8, is_whole=False)
    assert list(without_nested([shorter, longer])) == [longer]
    vague = replace(longer, confidence=0.5)
    assert list(without_nested([shorter, vague])) == [shorter, vague]


ODDS = dict.fromkeys("sea seas fog signal island rock".split(), -3.0) | {"the": 3.0, "here": -0.6}
SENTENCE = "so then it was the {}", "alors ce fut {}"


def ranked(
    pairs: dict[tuple[str, str], int], labels: dict[tuple[str, str], int] | None = None
) -> Ranking:
    """A ranking of pairs that stand in so many sentences, and labels with so many copies."""
    left_odds = right_odds = ODDS
    extraction = Extraction(Lexicon.empty("en", "fr"), left_odds, right_odds)
    evidence = {key(*pair): count for pair, count in pairs.items()}
    extraction.whole.add(evidence)
    survey = Survey(LangPair("en", "fr"))
    search = Search(evidence.keys(), {key(*label) for label in labels or {}})
    for pair, count in pairs.items():
        texts = (form.format(text) for form, text in zip(SENTENCE, pair, strict=True))
        segment = Segment.of(unit(*map(side, ("en", "fr"), texts)))
        for _ in range(count):
            search.add(segment)
    for (left, right), copies in (labels or {}).items():
        label = Segment.of(unit(side("en", left), side("fr", right), score=0.8, copies=copies))
        survey.add(label)
        search.add(label)
    return Ranking(survey, extraction, search, evidence)


def test_confidence_is_the_share_of_segments_and_lower_for_few() -> None:
    (rare,), (frequent,) = (ranked({("sea", "mer"): count}).found() for count in (3, 30))
    assert (rare.confidence, frequent.confidence) == (2.5 / 3, 29.5 / 30)
    both = ranked({("sea", "mer"): 6, ("sea", "onde"): 2}).found()
    assert [each.keys[0].right for each in both] == [("mer",)]
    assert both[0].confidence == pytest.approx(5.5 / (6 * 8) ** 0.5)


def test_label_of_known_words_that_nothing_links_is_less_certain() -> None:
    ranking = ranked({}, {("fog", "signal"): 9})
    (sure,) = ranking.found()
    ranking.extraction.unlinked.add(key("fog", "signal"))
    (unsure,) = ranking.found()
    assert (sure.confidence, unsure.confidence) == (pytest.approx(0.8), pytest.approx(0.56))


def test_part_of_a_fixed_expression_is_not_a_term() -> None:
    ranking = ranked({("fog", "brume"): 5})
    assert ranking.found()
    beside = ranking.search.sightings[key("fog", "brume")].left.after
    beside.clear()
    beside.update({"signal": 9, "": 1})
    assert ranking.found() == []
    beside.update({"": 1})
    assert ranking.found()
    beside.update({"the": 99})
    assert ranking.found() == []


def test_article_before_a_phrase_does_not_make_it_a_part() -> None:
    ranking = ranked({("fog", "brume"): 5})
    assert ranking.search.sightings[key("fog", "brume")].left.before == {"the": 5}
    assert ranking.found()
    ranking.search.sightings[key("fog", "brume")].left.before["rock"] = 99
    assert ranking.found() == []


def test_shortest_of_the_frequent_forms_is_shown() -> None:
    (forms,) = ranked({("island", "île"): 6, ("islands", "île"): 9}).found()
    assert forms.keys == (key("island", "île"), key("islands", "île"))
    (forms,) = ranked({("island", "île"): 2, ("islands", "île"): 9}).found()
    assert forms.keys[0] == key("islands", "île")
    assert forms.evidence == 11


def test_usefulness_grows_with_length_and_content() -> None:
    (short,), (long,), (vague,) = (
        ranked({pair: 9}).found()
        for pair in (("fog", "signal"), ("fog signal", "fog signal"), ("here", "here"))
    )
    assert long.usefulness == pytest.approx(1.3 * short.usefulness)
    assert vague.usefulness < 0.7 * short.usefulness

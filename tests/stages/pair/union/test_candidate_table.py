"""All evidence on candidates as one table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.fakes import FakeSite, at
from support.sketches import known

from diptych.learn.lexicon.lexicon import Lexicon
from diptych.learn.trees import Forest
from diptych.stages.pair.shared.page_languages import page_languages
from diptych.stages.pair.shared.pages_by_language import pages_by_language
from diptych.stages.pair.shared.similarity import Pairs, SideBySide, similarities
from diptych.stages.pair.union.candidate_table import (
    FEATURES,
    MEASURED,
    Proposals,
    Table,
    _two_best,
    leads_over_rivals,
    score_candidates,
    sure_measures,
)
from diptych.stages.pair.union.model import PagePairModel, load

AGAINST = {"sizes", "copied"}
NEITHER = {"text", "knows_words"}


def model(feature: str, at_least: float = 0.5) -> PagePairModel:
    """A model that asks for one feature: the odds are 3 to 1 with it, 1 to 3 without."""
    number = FEATURES.index(feature)
    return PagePairModel(FEATURES, Forest(
        np.array([0], np.int32), np.array([number, -1, -1], np.int16),
        np.array([at_least, 0, 0], np.float32), np.array([1, 0, 0], np.int32),
        np.array([2, 0, 0], np.int32), np.array([0, -np.log(3), np.log(3)], np.float32), 0.0,
    ))  # fmt: skip


def sides(english: list[str], french: list[str]) -> SideBySide:
    built = FakeSite("en", "fr")
    for lang, pages in (("en", english), ("fr", french)):
        for number, words in enumerate(pages):
            url = f"/{lang}{number}"
            built.page(url, lang).sketch(url, known(words))
    pages_of = pages_by_language(built, page_languages(built))
    return SideBySide(pages_of["en"], pages_of["fr"], Lexicon.empty("en", "fr"))


def pairs(*places: tuple[int, int]) -> Pairs:
    left, right = np.array(places, np.int32).reshape(len(places), 2).T
    return Pairs(left, right)


def ahead(found: dict[tuple[int, int], float]) -> list[float]:
    """The lead of each candidate with some score."""
    scores = np.array(list(found.values()), np.float32)
    return leads_over_rivals(sides(["x"] * 4, ["y"] * 4), pairs(*found), scores).tolist()


# Leads


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ({(0, 0): 0.75}, [0.75]),  # without a rival it is ahead of nothing
        ({(0, 0): 0.75, (1, 1): 0.5}, [0.75, 0.5]),
        ({(0, 0): 0.75, (0, 1): 0.5}, [0.25, -0.25]),
        ({(0, 0): 0.75, (1, 0): 0.5}, [0.25, -0.25]),
        ({(0, 0): 0.75, (0, 1): 0.75}, [0.0, 0.0]),
        ({(0, 0): 0.75, (0, 1): 0.5, (0, 2): 0.25}, [0.25, -0.25, -0.5]),
        # Ahead on one side, behind on the other.
        ({(0, 0): 0.5, (0, 1): 0.25, (1, 0): 1.0}, [-0.5, -0.25, 0.5]),
        ({(3, 3): 0.0, (2, 3): 0.0}, [0.0, 0.0]),
        ({}, []),
    ],
)
def test_a_lead_is_over_the_best_rival_of_either_page(
    scores: dict[tuple[int, int], float], expected: list[float]
) -> None:
    assert ahead(scores) == expected


def two_best(*entries: tuple[int, float]) -> tuple[list[float], list[float]]:
    places = np.array([place for place, _ in entries], np.int32)
    best, second = _two_best(places, np.array([score for _, score in entries], np.float32), 3)
    return best.tolist(), second.tolist()


def test_the_two_best_of_each_place() -> None:
    assert two_best((0, 0.5), (2, 0.25), (0, 0.75), (0, 0.125)) == ([0.75, 0, 0.25], [0.5, 0, 0])
    assert two_best((1, 0.5), (1, 0.5)) == ([0, 0.5, 0], [0, 0.5, 0])
    assert two_best() == ([0, 0, 0], [0, 0, 0])


scored = st.dictionaries(
    st.tuples(st.integers(0, 3), st.integers(0, 3)), st.integers(0, 8).map(lambda n: n / 8)
)


@given(scored)
def test_leads_are_as_defined(found: dict[tuple[int, int], float]) -> None:
    wanted = []
    for pair, score in found.items():
        rivals = [
            other for place, other in found.items()
            if place != pair and (place[0] == pair[0] or place[1] == pair[1])
        ]  # fmt: skip
        wanted.append(score - max(rivals, default=0.0))
    assert ahead(found) == wanted


@given(scored, st.data())
def test_a_higher_score_never_makes_a_lead_less(found, data: st.DataObject) -> None:
    if not found:
        return
    pair = data.draw(st.sampled_from(sorted(found)))
    place = list(found).index(pair)
    higher = found | {pair: found[pair] + 0.25}
    before, after = ahead(found), ahead(higher)
    assert after[place] >= before[place]
    assert all(
        two <= one for n, (one, two) in enumerate(zip(before, after, strict=True)) if n != place
    )


# Tables


def weighed(
    both: SideBySide, some: Pairs, proposals: Proposals, by: PagePairModel, **more
) -> Table:
    """The table of some candidates, whose URLs say nothing."""
    measures = {**similarities(both, some), "url_model": np.zeros(len(some), np.float32)}
    return score_candidates(both, some, proposals, measures, by, **more)


def table(proposals=None, asked: str = "declared", **more) -> Table:
    both = sides(["1899 1900", "1912", "x"], ["1899 1900", "1912", "y"])
    some = pairs((0, 0), (0, 1), (1, 1))
    return weighed(both, some, proposals or {}, model(asked), **more)


def column(found: Table, name: str) -> list[float]:
    return found.rows[:, FEATURES.index(name)].tolist()


EN, FR = at("/en0"), at("/fr0")


def test_a_table_has_a_row_of_all_features_for_each_candidate() -> None:
    found = table()
    assert found.rows.shape == (3, len(FEATURES))
    assert len(set(FEATURES)) == len(FEATURES)
    assert set(MEASURED) < set(FEATURES)
    assert found.urls() == [(EN, FR), (EN, at("/fr1")), (at("/en1"), at("/fr1"))]
    assert column(found, "shared") == pytest.approx([1, 0, 1], abs=1e-5)
    assert column(found, "lead") == pytest.approx([1, -1, 1], abs=1e-5)
    assert column(found, "knows_words") == [0, 0, 0]


def test_declared_is_the_strongest_declaration() -> None:
    found = table({(EN, FR): {"hreflang": 0.5, "switcher": 0.75, "langstrip": 1.0}})
    assert column(found, "declared") == [0.75, 0, 0]
    assert column(found, "url") == [1.0, 0, 0]
    assert column(found, "reciprocal") == [0, 0, 0]


def test_declarations_by_both_pages_are_reciprocal() -> None:
    assert column(table({(EN, FR): {"hreflang": 0.99}}), "reciprocal") == [1, 0, 0]
    assert column(table({(EN, FR): {"keys": 0.99}}), "reciprocal") == [0, 0, 0]


def test_proposals_for_other_pages_add_no_row() -> None:
    found = table({(EN, at("/gone")): {"hreflang": 0.99}, (FR, EN): {"hreflang": 0.99}})
    assert column(found, "declared") == [0, 0, 0]


def test_neighbours_and_siblings_are_looked_up() -> None:
    found = table(neighbours={(EN, FR): 0.75}, siblings={(at("/en1"), at("/fr1")): 0.5})
    assert column(found, "neighbours") == [0.75, 0, 0]
    assert column(found, "siblings") == [0, 0, 0.5]


def test_usual_is_a_share_of_the_sure_pairs() -> None:
    sure = {"shared": np.linspace(0.05, 1.95, 20, dtype=np.float32)}
    assert column(table(sure=sure), "usual_shared") == pytest.approx([0.5, 0, 0.5], abs=0.06)
    few = {"shared": sure["shared"][:3]}
    assert column(table(sure=few), "usual_shared") == column(table(), "usual_shared") == [0.5] * 3


def test_usual_is_computed_from_sure_pairs() -> None:
    found = table({(EN, FR): {"hreflang": 0.99}})
    assert sure_measures(found, 0.7)["shared"].tolist() == column(found, "shared")[:1]
    every = sure_measures(found, 0.0)["shared"].tolist()
    assert every == sorted(column(found, "shared"))


def test_the_model_gives_the_probabilities() -> None:
    found = table({(EN, FR): {"hreflang": 0.99}})
    assert found.scores.tolist() == pytest.approx([0.75, 0.25, 0.25])


def test_candidate_has_all_its_evidence() -> None:
    found = table({(EN, FR): {"switcher": 0.5, "hreflang": 0.75}}).page_pair(0)
    assert (found.left, found.right, found.left_lang, found.right_lang) == (EN, FR, "en", "fr")
    assert found.evidence == "hreflang+switcher"
    scores = dict(found.scores)
    assert (scores["hreflang"], scores["switcher"]) == (0.75, 0.5)
    assert {"url_model", *MEASURED, "neighbours", "siblings"} <= scores.keys()
    assert scores["shared"] == pytest.approx(1, abs=1e-5)


def test_a_candidate_that_nobody_proposes_is_found_by_content_or_neighbours() -> None:
    assert table().page_pair(0).evidence == "content"
    assert table(neighbours={(EN, at("/fr1")): 0.75}).page_pair(1).evidence == "neighbours"


def test_no_candidates_are_an_empty_table() -> None:
    none = weighed(sides([], []), pairs(), {}, model("url"))
    assert (none.rows.shape, none.scores.tolist(), none.urls()) == ((0, len(FEATURES)), [], [])


# The model that comes with the package


rows = st.lists(
    st.lists(st.floats(0, 1, width=32), min_size=len(FEATURES), max_size=len(FEATURES)),
    min_size=1, max_size=5,
)  # fmt: skip


@given(rows, st.integers(0, len(FEATURES) - 1), st.floats(0, 2, width=32))
def test_more_evidence_never_lowers_the_probability(
    values: list[list[float]], number: int, more: float
) -> None:
    shipped = load(FEATURES)
    before = np.array(values, np.float32)
    after = before.copy()
    after[:, number] += np.float32(more)
    change = shipped.probabilities(after) - shipped.probabilities(before)
    name = FEATURES[number]
    if name in AGAINST:
        assert (change <= 1e-6).all(), name
    elif name not in NEITHER:
        assert (change >= -1e-6).all(), name


def test_full_evidence_is_sure_and_no_evidence_is_no_pair() -> None:
    good = np.ones((1, len(FEATURES)), np.float32)
    for name in AGAINST:
        good[:, FEATURES.index(name)] = 0
    good[:, FEATURES.index("text")] = 7
    bad = np.zeros((1, len(FEATURES)), np.float32)
    bad[:, FEATURES.index("sizes")] = 2
    shipped = load(FEATURES)
    assert shipped.probabilities(good)[0] > 0.9
    assert shipped.probabilities(bad)[0] < 0.1

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples

from diptych.learn.lexicon.lexicon import Lexicon
from diptych.protocols import Filter
from diptych.registry import strategies
from diptych.run.segments import LOW_SCORES
from diptych.steps.judge_pairs import GroupFilter
from diptych.types import Decision, SegmentPair, Url
from diptych.units import Repeats

FILTERS = [pytest.param(cls(), id=name) for name, cls in strategies("filter").items()]
URL = Url("http://example.org/")
TEXTS = st.text(max_size=100) | st.sampled_from(
    ["The council met on Tuesday evening.", "Le conseil s'est réuni mardi soir.", "42", "中文"]
)
PAIRS = st.tuples(TEXTS, TEXTS, st.floats(0, 1))
EMPTY = Lexicon.empty("en", "fr")
GOOD = (
    "The council met in the old town hall on Tuesday evening.",
    "Le conseil s'est réuni mardi soir à l'ancien hôtel de ville.",
)


def segment(left: str, right: str, score: float = 0.8) -> SegmentPair:
    return SegmentPair(left, right, "en", "fr", URL, URL, "", "", score)


def judged(strategy: Filter, *segs: SegmentPair) -> list[Decision]:
    return strategy.judge(segs, EMPTY)


@pytest.mark.parametrize("strategy", FILTERS)
@given(pairs=st.lists(PAIRS, max_size=5))
@settings(max_examples=examples(60))
def test_score_is_a_share_and_a_reject_has_a_reason(
    strategy: Filter, pairs: list[tuple[str, str, float]]
) -> None:
    segs = [segment(*pair) for pair in pairs]
    decisions = strategy.judge(segs, EMPTY)
    assert len(decisions) == len(segs)
    for decision in decisions:
        assert 0 <= decision.score <= 1
        assert decision.accept == (not decision.reason)
        assert not decision.accept or decision.score >= strategy.threshold
        assert decision.reason not in LOW_SCORES or decision.score < strategy.threshold
    assert strategy.judge(segs, EMPTY) == decisions
    reasons = [decision.reason for decision in decisions]
    assert strategy.rejections(segs) == ["" if each in LOW_SCORES else each for each in reasons]


@pytest.mark.parametrize("strategy", FILTERS)
@given(groups=st.lists(st.lists(PAIRS, max_size=5), max_size=5))
@settings(max_examples=examples(60))
def test_groups_are_judged_together_as_each_by_itself(
    strategy: Filter, groups: list[list[tuple[str, str, float]]]
) -> None:
    pages = [[segment(*pair) for pair in group] for group in groups]
    if isinstance(strategy, GroupFilter):
        alone = [strategy.judge(page, EMPTY) for page in pages]
        assert strategy.judge_groups(pages, EMPTY) == alone


@pytest.mark.parametrize("strategy", FILTERS)
def test_translation_is_no_worse_than_other_texts(strategy: Filter) -> None:
    other = "Cliquez ici pour lire les 25 commentaires"
    good, bad = judged(strategy, segment(*GOOD), segment(GOOD[0], other))
    assert good.score >= bad.score
    assert good.reason in ("", *LOW_SCORES)


@pytest.mark.parametrize("strategy", FILTERS)
@pytest.mark.parametrize(("left", "right"), [("", ""), ("A house", ""), ("", "Une maison")])
def test_empty_side_is_no_translation(strategy: Filter, left: str, right: str) -> None:
    assert not judged(strategy, segment(left, right))[0].accept


@pytest.mark.parametrize("strategy", FILTERS)
@pytest.mark.parametrize(
    "text",
    [
        "word " * 20_000, "x" * 100_000, "1" * 100_000, "中" * 100_000, "(" * 100_000,
        "\U0010ffff\U000e0001\U0001f600 \u202e\u200d\ue000 a", "\ud800 half", "a\x00b",
        "e\u0301" * 50_000, "\ufdfa" * 1_000,
    ],
    ids=range(10),
)  # fmt: skip
def test_hostile_text_is_judged_like_any_other(strategy: Filter, text: str) -> None:
    segs = [segment(*GOOD), segment(text, GOOD[1]), segment(GOOD[0], text), segment(text, text)]
    decisions = strategy.judge(segs, EMPTY)
    assert all(0 <= decision.score <= 1 for decision in decisions)


Counts = list[tuple[int, int, int]]
COUNTS = st.lists(
    st.tuples(st.integers(1, 1000), st.integers(0, 1000), st.integers(0, 1000)), min_size=1
)


def repeats(counts: Counts) -> Repeats:
    same, left, right = np.array(counts, np.int64).reshape(-1, 3).T
    return Repeats(same, same + left, same + right)


@pytest.mark.parametrize("strategy", FILTERS)
@given(counts=COUNTS, data=st.data())
def test_rescored_scores_are_shares_in_the_same_order(
    strategy: Filter, counts: Counts, data: Any
) -> None:
    some = st.lists(st.floats(0, 1), min_size=len(counts), max_size=len(counts))
    scores = np.array(data.draw(some))
    rescored = strategy.rescore(scores, repeats(counts))
    assert rescored.shape == scores.shape
    assert ((rescored >= 0) & (rescored <= 1)).all()
    higher = strategy.rescore(np.minimum(scores + 0.1, 1.0), repeats(counts))
    assert (higher >= rescored - 1e-12).all()


@pytest.mark.parametrize("strategy", FILTERS)
@given(counts=COUNTS, score=st.floats(0.01, 0.99))
def test_what_comes_again_alike_is_no_worse_and_with_others_no_better(
    strategy: Filter, counts: Counts, score: float
) -> None:
    scores = np.full(len(counts), score)
    rescored = strategy.rescore(scores, repeats(counts))
    more = strategy.rescore(scores, repeats([(3 * same, *rest) for same, *rest in counts]))
    apart = strategy.rescore(
        scores, repeats([(same, left + 1, right) for same, left, right in counts])
    )
    assert (more >= rescored - 1e-12).all()
    assert (apart <= rescored + 1e-12).all()


@pytest.mark.parametrize("strategy", FILTERS)
def test_what_occurs_once_keeps_its_score_where_half_are_right(strategy: Filter) -> None:
    # Of scores that are spread evenly half are right, if each is as likely as it says.
    scores = np.linspace(0, 1, 10_001)
    rescored = strategy.rescore(scores, Repeats(*np.ones((3, len(scores)), np.int64)))
    assert np.abs(rescored - scores).max() < 0.005
    none = np.zeros(0, np.int64)
    assert len(strategy.rescore(np.zeros(0), Repeats(none, none, none))) == 0


@pytest.mark.parametrize("strategy", FILTERS)
@given(scores=st.lists(st.floats(0, 1)))
def test_what_occurs_once_keeps_its_place(strategy: Filter, scores: list[float]) -> None:
    ordered = np.sort(np.array(scores))
    rescored = strategy.rescore(ordered, Repeats(*np.ones((3, len(ordered)), np.int64)))
    assert (np.diff(rescored) >= 0).all()
    assert all(rescored[n] == rescored[n + 1] for n in np.flatnonzero(np.diff(ordered) == 0))

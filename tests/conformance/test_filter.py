from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diptych.protocols import Filter
from diptych.registry import strategies
from diptych.types import SegmentPair, Url

FILTERS = [pytest.param(cls(), id=name) for name, cls in strategies("filter").items()]
URL = Url("http://example.org/")
TEXTS = st.text(max_size=100) | st.sampled_from(
    ["The council met on Tuesday evening.", "42", "中文"]
)


def segment(left: str, right: str, score: float = 0.8) -> SegmentPair:
    return SegmentPair(left, right, "en", "fr", URL, URL, "", "", score)


@pytest.mark.parametrize("strategy", FILTERS)
@given(left=TEXTS, right=TEXTS, score=st.floats(0, 1))
@settings(deadline=None)  # models are loaded at first use
def test_score_is_a_share_and_a_reject_has_a_reason(
    strategy: Filter, left: str, right: str, score: float
) -> None:
    seg = segment(left, right, score)
    decision = strategy.judge(seg)
    assert 0 <= decision.score <= 1
    assert decision.accept == (not decision.reason)
    assert strategy.judge(seg) == decision


@pytest.mark.parametrize("strategy", FILTERS)
def test_translation_is_kept(strategy: Filter) -> None:
    seg = segment(
        "The council met in the old town hall on Tuesday evening.",
        "Le conseil s'est réuni mardi soir à l'ancien hôtel de ville.",
    )
    assert strategy.judge(seg).accept


@pytest.mark.parametrize("strategy", FILTERS)
@pytest.mark.parametrize(("left", "right"), [("", ""), ("A house", ""), ("", "Une maison")])
def test_empty_side_is_no_translation(strategy: Filter, left: str, right: str) -> None:
    assert not strategy.judge(segment(left, right)).accept

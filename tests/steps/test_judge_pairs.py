"""Decisions on page pairs and on the segments of many pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.typing import NDArray

from diptych.learn.lexicon.lexicon import Lexicon
from diptych.reason import Reason
from diptych.steps import judge_pairs as module
from diptych.steps.align_pages import AlignedSentences, Sentence, segment_of
from diptych.steps.judge_pairs import GroupFilter, VerifiedPair, judge_groups, judge_pairs
from diptych.types import Block, Decision, PagePair, SegmentPair, Url
from diptych.units import Repeats

EMPTY = Lexicon.empty("en", "fr")


@dataclass
class OneByOne:
    """A filter that accepts equal texts, and records the sizes of what it is asked."""

    threshold: float = 0.5
    sizes: list[int] = field(default_factory=list)

    def judge(self, segs: Sequence[SegmentPair], lexicon: Lexicon) -> list[Decision]:
        self.sizes.append(len(segs))
        return [
            Decision(seg.left == seg.right, 0.9 if seg.left == seg.right else 0.1, "", ("seen",))
            for seg in segs
        ]

    def rejections(self, segs: Sequence[SegmentPair]) -> list[str]:
        return ["" for _ in segs]

    def rescore(self, scores: NDArray[np.float64], repeats: Repeats) -> NDArray[np.float64]:
        return scores


@dataclass
class Together(OneByOne):
    """The same for many groups in one call."""

    calls: list[list[int]] = field(default_factory=list)

    def judge_groups(
        self, groups: Sequence[Sequence[SegmentPair]], lexicon: Lexicon
    ) -> list[list[Decision]]:
        self.calls.append([len(group) for group in groups])
        return [self.judge(group, lexicon) for group in groups]


def verified(name: str, *sides: tuple[str, str], accept: bool = True) -> VerifiedPair:
    """A pair with a segment for each two sides, in which a blank separates sentences."""
    urls = Url(f"http://a.org/en/{name}"), Url(f"http://a.org/fr/{name}")
    pair = PagePair(*urls, "en", "fr", 1.0, "keys")
    places = [0, 0]

    def sentences(side: int, text: str) -> tuple[Sentence, ...]:
        found = []
        for word in text.split():
            block = Block(f"{word}", f"/html/body/p[{side}]")
            found.append(Sentence(word, block, places[side], 0))
            places[side] += 1
        return tuple(found)

    found = [
        AlignedSentences(sentences(0, left), sentences(1, right), 0.5 if left and right else 0.0)
        for left, right in sides
    ]
    decision = Decision(accept, 0.75, "" if accept else Reason.NOT_PARALLEL)
    return VerifiedPair(pair, decision, found, [segment_of(pair, each) for each in found])


PAIRS = [
    verified("one", ("a", "a"), ("b", ""), ("c c2", "c")),
    verified("two", ("x", "x"), accept=False),
    verified("three"),
    verified("four", ("d", "e"), ("jane@example.org", "jane@example.org")),
]


@pytest.mark.parametrize("kind", [OneByOne, Together])
def test_each_pair_has_its_own_decisions_in_order(kind: type[OneByOne]) -> None:
    results = judge_pairs(PAIRS, kind(), EMPTY)
    assert [result.decision for result in results] == [pair.decision for pair in PAIRS]
    found = [
        [(seg.left, seg.right, decision.accept, decision.reason) for seg, decision in result[1]]
        for result in results
    ]
    assert found[0] == [
        ("a", "a", True, ""), ("b", "", False, "unaligned"), ("c", "c", True, ""),
        ("c2", "", False, "unaligned"),
    ]  # fmt: skip
    assert found[1] == found[2] == []
    assert found[3][0] == ("d", "e", False, "")
    assert results[3].segments[1][1].marks == ("seen", "email")
    assert {seg.left_url for seg, _ in results[3].segments} == {PAIRS[3].pair.left}


def test_pairs_are_not_mended_during_a_crawl() -> None:
    [result] = judge_pairs(PAIRS[:1], Together(), EMPTY, mended=False)
    assert [seg.left for seg, _ in result.segments] == ["a", "b", "c c2"]


def test_segments_of_all_pairs_are_judged_in_two_calls() -> None:
    judge = Together()
    judge_pairs(PAIRS, judge, EMPTY)
    # First the forms of the only segment that could be mended, then what is left of each pair.
    assert judge.calls == [[9], [2, 0, 2]]
    assert isinstance(judge, GroupFilter)
    assert not isinstance(OneByOne(), GroupFilter)


def test_only_so_many_segments_are_judged_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MAX_SEGMENTS", 5)
    segs = [pair for pair in PAIRS[3].segments]
    groups = [segs[:1] * size for size in (2, 3, 1, 9, 0, 4)]
    judge = Together()
    found = judge_groups(groups, judge, EMPTY)
    assert [len(decisions) for decisions in found] == [2, 3, 1, 9, 0, 4]
    assert judge.calls == [[2, 3], [1], [9], [0, 4]]
    assert judge_groups([], judge, EMPTY) == []

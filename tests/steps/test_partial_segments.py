"""Segments in which one side says more than the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from diptych.steps.align_pages import AlignedSentences, Sentence
from diptych.steps.partial_segments import mend_partial
from diptych.types import Block

OTHER = Block("/html/body/p[2]", "x" * 200)


def sentences(*texts: str, first: int = 0, block: Block | None = None) -> tuple[Sentence, ...]:
    """Sentences of one block, one after the other."""
    whole = block or Block("/html/body/p[1]", "." * 200)
    return tuple(
        Sentence(text, whole, first + number, 10 * (first + number))
        for number, text in enumerate(texts)
    )


def mend(
    found: Sequence[AlignedSentences], score: Callable[[Sequence[AlignedSentences]], list[float]]
) -> list[AlignedSentences]:
    """Mend the segments of one page pair."""

    def scores(asked: Sequence[tuple[int, Sequence[AlignedSentences]]]) -> list[list[float]]:
        assert {page for page, _ in asked} == {0}
        return [score(some) for _, some in asked]

    return mend_partial([found], scores)[0]


def aligned(left: tuple[Sentence, ...], right: tuple[Sentence, ...]) -> AlignedSentences:
    return AlignedSentences(left, right, 0.9 if left and right else 0.0)


def alike(found: Sequence[AlignedSentences]) -> list[float]:
    """A score that is high if both sides have the same words."""
    scores = []
    for each in found:
        ours, theirs = ({s.text for s in side} for side in (each.left, each.right))
        scores.append(0.95 if ours == theirs else 0.3 if ours & theirs else 0.01)
    return scores


def texts(found: Sequence[AlignedSentences]) -> list[tuple[str, str]]:
    return [
        ("+".join(s.text for s in each.left), "+".join(s.text for s in each.right))
        for each in found
    ]


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (("a", "b"), ("a",), [("a", "a"), ("b", "")]),
        (("a", "b"), ("b",), [("a", ""), ("b", "b")]),
        (("a",), ("x", "a"), [("", "x"), ("a", "a")]),
        (("a",), ("a", "x", "y"), [("a", "a"), ("", "x"), ("", "y")]),
        (("a", "b"), ("a", "b"), [("a+b", "a+b")]),
        (("a",), ("x",), [("a", "x")]),
        (("a", "b"), ("x", "y"), [("a+b", "x+y")]),
    ],
)
def test_sentences_without_a_counterpart_are_split_off(
    left: tuple[str, ...], right: tuple[str, ...], expected: list[tuple[str, str]]
) -> None:
    found = mend([aligned(sentences(*left), sentences(*right))], alike)
    assert texts(found) == expected
    assert all(each.score == (0.9 if each.left and each.right else 0.0) for each in found)


def test_sentence_without_a_counterpart_is_added_to_its_neighbour() -> None:
    found = [
        aligned(sentences("a"), sentences("a", "b")),
        aligned(sentences("b", first=1), ()),
        aligned(sentences("c", first=2), sentences("c", first=2)),
    ]
    assert texts(mend(found, alike)) == [("a+b", "a+b"), ("c", "c")]
    before = [aligned((), sentences("a")), aligned(sentences("a", "b"), sentences("b", first=1))]
    assert texts(mend(before, alike)) == [("a+b", "a+b")]


@pytest.mark.parametrize(
    "alone",
    [sentences("b", first=2), sentences("b", first=1, block=OTHER)],
    ids=["not adjacent", "in another block"],
)
def test_sentence_from_elsewhere_is_not_added(alone: tuple[Sentence, ...]) -> None:
    found = [aligned(sentences("a"), sentences("a+b")), aligned(alone, ())]

    def better_together(some: Sequence[AlignedSentences]) -> list[float]:
        return [0.95 if len(each.left) > 1 else 0.1 for each in some]

    assert mend(found, better_together) == found


def test_one_sentence_is_added_only_once() -> None:
    found = [
        aligned(sentences("a"), sentences("a")),
        aligned(sentences("b", first=1), ()),
        aligned(sentences("c", first=2), sentences("c", first=2)),
    ]

    def greedy(some: Sequence[AlignedSentences]) -> list[float]:
        return [0.95 if len(each.left) > 1 else 0.1 for each in some]

    mended = mend(found, greedy)
    assert sorted(s.text for each in mended for s in each.left) == ["a", "b", "c"]


def test_small_gains_and_bad_segments_change_nothing() -> None:
    found = [aligned(sentences("a", "b"), sentences("a"))]
    for whole, cut in ((0.6, 0.7), (0.01, 0.39)):

        def score(
            some: Sequence[AlignedSentences], whole: float = whole, cut: float = cut
        ) -> list[float]:
            return [whole if len(each.left) > 1 else cut for each in some]

        assert mend(found, score) == found


def test_forms_are_compared_between_the_same_neighbours() -> None:
    found = [
        aligned(sentences("n"), sentences("n")),
        aligned(sentences("a", "b", first=1), sentences("a", first=1)),
        aligned(sentences("m", first=3), sentences("m", first=2)),
    ]
    asked: list[tuple[str, str]] = []

    def score(some: Sequence[AlignedSentences]) -> list[float]:
        asked.extend(texts(some))
        return alike(some)

    mend(found, score)
    assert asked == [
        ("n", "n"), ("a+b", "a"), ("m", "m"),
        ("n", "n"), ("b", "a"), ("m", "m"),
        ("n", "n"), ("a", "a"), ("m", "m"),
    ]  # fmt: skip


def test_first_segment_stands_between_segments_too() -> None:
    found = [
        aligned(sentences("a", "b"), sentences("a")),
        aligned(sentences("m", first=2), sentences("m", first=1)),
    ]
    asked: list[tuple[str, str]] = []

    def score(some: Sequence[AlignedSentences]) -> list[float]:
        asked.extend(texts(some))
        return alike(some)

    assert texts(mend(found, score)) == [("a", "a"), ("b", ""), ("m", "m")]
    assert asked[::3] == asked[2::3] == [("m", "m")] * 3


def test_forms_of_a_single_segment_are_scored_one_by_one() -> None:
    sizes: list[int] = []

    def score(some: Sequence[AlignedSentences]) -> list[float]:
        sizes.append(len(some))
        return alike(some)

    mend([aligned(sentences("a", "b"), sentences("a"))], score)
    assert sizes == [1, 1, 1]


def test_many_segments_are_scored_in_parts_and_too_many_not_at_all() -> None:
    sizes: list[int] = []

    def score(some: Sequence[AlignedSentences]) -> list[float]:
        sizes.append(len(some))
        return alike(some)

    def pages(count: int) -> list[AlignedSentences]:
        return [
            aligned(
                sentences(f"a{at}", f"b{at}", first=2 * at, block=OTHER),
                sentences(f"a{at}", first=at, block=OTHER),
            )
            for at in range(count)
        ]

    assert len(mend(pages(1000), score)) == 2000
    assert sum(sizes) == 3 * 3000
    assert max(sizes) <= 1500
    sizes.clear()
    many = pages(5001)
    assert mend(many, score) == many
    assert sizes == []


def test_nothing_is_scored_if_nothing_can_be_mended() -> None:
    def never(some: Sequence[AlignedSentences]) -> list[float]:
        raise AssertionError

    found = [aligned(sentences("a"), sentences("x")), aligned(sentences("b", first=5), ())]
    assert mend(found, never) == found
    assert mend([], never) == []


def test_pages_are_mended_together_as_they_are_one_by_one() -> None:
    pages = [
        [aligned(sentences("a", "b"), sentences("a"))],
        [],
        [aligned(sentences("a"), sentences("x"))],
        [
            aligned(sentences("c"), sentences("c", "d")),
            aligned(sentences("m", first=2), sentences("m", first=2)),
        ],
    ]
    calls: list[list[int]] = []

    def scores(asked: Sequence[tuple[int, Sequence[AlignedSentences]]]) -> list[list[float]]:
        calls.append([page for page, _ in asked])
        return [alike(some) for _, some in asked]

    mended = mend_partial(pages, scores)
    assert calls == [[0, 0, 0, 3]]
    assert mended == [mend(found, alike) if found else [] for found in pages]
    assert texts(mended[3]) == [("c", "c"), ("", "d"), ("m", "m")]

from __future__ import annotations

import random
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.fakes import at, paths

from diptych.stages.pair.shared.one_partner import noisy_or, one_partner_each
from diptych.types import PagePair


def pair(
    left: str, right: str, score: float, evidence: str = "hreflang", langs: str = "en fr"
) -> PagePair:
    return PagePair(at(left), at(right), *langs.split(), score, evidence)


def test_strongest_partner_wins_and_the_loser_takes_what_is_left() -> None:
    rivals = [
        pair("/a", "/x", 0.6),
        pair("/a", "/y", 0.9),
        pair("/b", "/y", 0.8),
        pair("/b", "/x", 0.1),
        pair("/c", "/x", 0.7),
    ]
    assert paths(one_partner_each(rivals)) == [("/a", "/y"), ("/c", "/x")]


def test_page_has_a_partner_in_each_language() -> None:
    pairs = [pair("/a", "/x", 0.9), pair("/a", "/z", 0.8, langs="en de")]
    assert one_partner_each(pairs) == pairs


def test_evidence_of_the_same_pair_adds_up() -> None:
    (joined,) = one_partner_each(
        [pair("/a", "/x", 0.8, "langstrip"), pair("/a", "/x", 0.5, "hreflang")]
    )
    assert joined.evidence == "hreflang+langstrip"
    assert joined.score == pytest.approx(0.9)


def test_combined_evidence_beats_stronger_single_evidence() -> None:
    pairs = [
        pair("/a", "/x", 0.85),
        pair("/a", "/y", 0.7, "switcher"),
        pair("/a", "/y", 0.7, "langstrip"),
    ]
    assert paths(one_partner_each(pairs)) == [("/a", "/y")]


def test_repeated_evidence_counts_once() -> None:
    (joined,) = one_partner_each(
        [pair("/a", "/x", 0.5), pair("/a", "/x", 0.8), pair("/a", "/x", 0.7)]
    )
    assert (joined.score, joined.evidence) == (0.8, "hreflang")


def test_pair_found_in_both_directions_is_one_pair() -> None:
    told = [pair("/x", "/a", 0.5, "langstrip", "fr en"), pair("/a", "/x", 0.8)]
    (joined,) = one_partner_each(told)
    assert paths([joined]) == [("/a", "/x")]
    assert (joined.left_lang, joined.right_lang) == ("en", "fr")
    assert joined.score == pytest.approx(0.9)


def test_nothing_is_certain() -> None:
    assert one_partner_each([pair("/a", "/x", 1.0)])[0].score == 0.999
    assert noisy_or([0.999, 0.999]) == 0.999


def test_sum_of_evidence_does_not_depend_on_its_order() -> None:
    scores = (0.1, 0.2, 0.35)
    assert len({noisy_or(order) for order in permutations(scores)}) == 1


def test_page_never_pairs_with_itself_or_its_own_language() -> None:
    assert one_partner_each([pair("/a", "/a", 0.9), pair("/a", "/b", 0.9, langs="en en")]) == []


def test_ties_go_to_the_urls_that_sort_first() -> None:
    tied = [pair("/a", "/y", 0.5), pair("/b", "/x", 0.5), pair("/a", "/x", 0.5)]
    assert paths(one_partner_each(tied)) == [("/a", "/x")]


PAIRS = st.lists(
    st.builds(
        pair,
        st.sampled_from(["/a", "/b", "/c", "/x"]),
        st.sampled_from(["/x", "/y", "/z", "/a"]),
        st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.9, 1.0]),
        st.sampled_from(["hreflang", "switcher", "langstrip"]),
        st.sampled_from(["en fr", "en de", "fr de"]),
    ),
    max_size=12,
)


@given(PAIRS, st.randoms(use_true_random=False))
def test_order_does_not_matter(pairs: list[PagePair], chance: random.Random) -> None:
    shuffled = list(pairs)
    chance.shuffle(shuffled)
    assert one_partner_each(shuffled) == one_partner_each(pairs)


@given(PAIRS)
def test_pairs_with_one_partner_each_stay_as_they_are(pairs: list[PagePair]) -> None:
    settled = one_partner_each(pairs)
    assert one_partner_each(settled) == settled
    ends = [
        (url, frozenset((pair.left_lang, pair.right_lang)))
        for pair in settled
        for url in (pair.left, pair.right)
    ]
    assert len(ends) == len(set(ends))
    scores = [pair.score for pair in settled]
    assert scores == sorted(scores, reverse=True)

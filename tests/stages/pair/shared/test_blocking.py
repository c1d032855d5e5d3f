"""Which URLs are compared: all of a small site, the promising ones of a large one."""

from __future__ import annotations

import random
import re

import pytest
from support.timing import processor_seconds

from diptych.stages.pair.shared.blocking import ALL_PAIRS, candidates


def words(url: str) -> frozenset[object]:
    return frozenset(re.findall(r"\w+", url))


def found(lefts: list[str], rights: list[str], **how: int) -> list[tuple[str, str]]:
    return list(candidates(lefts, rights, words, **how))


def site(pages: int) -> tuple[list[str], list[str]]:
    """Pages with a number of their own, a common folder, and a year they share with many."""
    lefts = [f"en/{2000 + page % 20}/page-n{page}" for page in range(pages)]
    rights = [f"fr/{2000 + page % 20}/page-n{page}" for page in range(pages)]
    return lefts, rights


def test_all_pairs_of_a_small_site() -> None:
    lefts, rights = site(200)
    assert len(lefts) * len(rights) == ALL_PAIRS
    assert found(lefts, rights) == sorted((left, right) for left in lefts for right in rights)


def test_traits_are_not_computed_for_a_small_site() -> None:
    assert list(candidates(["a"], ["b"], lambda url: pytest.fail(url))) == [("a", "b")]


def test_partners_on_a_large_site() -> None:
    lefts, rights = site(500)
    pairs = set(found(lefts, rights))
    assert set(zip(lefts, rights, strict=True)) <= pairs
    assert len(pairs) <= 24 * (len(lefts) + len(rights))
    assert len(pairs) < len(lefts) * len(rights) / 4


@pytest.mark.parametrize("most", [1, 3])
def test_each_url_has_its_nearest(most: int) -> None:
    lefts, rights = site(300)
    pairs = found(lefts, rights, most=most)
    assert len(pairs) <= most * (len(lefts) + len(rights))
    assert set(zip(lefts, rights, strict=True)) <= set(pairs)


def test_rarer_traits_count_more() -> None:
    lefts, rights = site(300)
    lefts.append("x/2005/rare")
    rights.append("y/2006/rare")  # shares nothing but the rarest word
    assert ("x/2005/rare", "y/2006/rare") in found(lefts, rights, most=1)


def test_candidates_come_from_both_sides() -> None:
    # Every right URL is nearest to the same left one; each is still compared with it.
    lefts = ["a/hub-x-y", *(f"a/other{n}" for n in range(300))]
    rights = [f"b/x-y-{n}" for n in range(150)]
    pairs = found(lefts, rights, most=1)
    assert {("a/hub-x-y", right) for right in rights} <= set(pairs)


def test_urls_with_only_common_traits_are_still_compared() -> None:
    lefts, rights = [f"a/x/l{n}" for n in range(400)], [f"a/x/r{n}" for n in range(400)]
    pairs = found(lefts, rights, most=5)
    assert {left for left, _ in pairs} == set(lefts)
    assert {right for _, right in pairs} == set(rights)
    assert len(pairs) <= 5 * 800


def test_urls_that_share_nothing_are_not_compared() -> None:
    lefts, rights = site(300)
    assert not any("alone" in left for left, _ in found([*lefts, "alone"], rights))


def test_order_does_not_matter_and_each_pair_comes_once() -> None:
    lefts, rights = site(260)
    pairs = found(lefts, rights)
    assert pairs == sorted(set(pairs))
    random.Random(1).shuffle(lefts)
    random.Random(2).shuffle(rights)
    assert found([*lefts, *lefts], rights) == pairs


@pytest.mark.parametrize("pages", [3, 300])
def test_no_url_is_its_own_partner(pages: int) -> None:
    urls, _ = site(pages)
    pairs = found(urls, urls)
    assert pairs
    assert all(left != right for left, right in pairs)


def test_nothing_to_compare() -> None:
    assert found([], ["a"]) == found(["a"], []) == found([], []) == []


@pytest.mark.slow
def test_large_sites_are_quick() -> None:
    lefts, rights = site(3000)
    with processor_seconds(20):
        pairs = found(lefts, rights)
    assert len(pairs) <= 24 * 6000
    assert set(zip(lefts, rights, strict=True)) <= set(pairs)

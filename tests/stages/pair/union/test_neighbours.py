"""Pages linked at the same place from pages that are paired."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.fakes import FakeSite, at

from diptych.stages.pair.shared.page_languages import page_languages
from diptych.stages.pair.union.neighbours import _matched, link_lists, votes
from diptych.types import Link, Url

LANG = {letter: "en" if letter.islower() else "fr" for letter in "abcdefghijABCDEFGHIJ"}


def matched(ours: str, theirs: str, *known: str) -> list[str]:
    """Which letters are matched, by those known to be pairs."""
    partner = {Url(pair[0]): Url(pair[1]) for pair in known}
    return ["".join(pair) for pair in _matched([*map(Url, ours)], [*map(Url, theirs)], partner)]


@pytest.mark.parametrize(
    ("ours", "theirs", "known", "expected"),
    [
        ("abc", "ABC", "aA cC", "aA bB cC"),
        ("abc", "ABC", "", "aA bB cC"),  # as many on both sides, and nothing against it
        ("abc", "AC", "aA cC", "aA cC"),  # one is missing: of the rest nothing is said
        ("ac", "ABC", "aA cC", "aA cC"),
        ("abcd", "ABCD", "aA dD", "aA bB cC dD"),
        ("abcd", "ABD", "aA dD", "aA dD"),  # two against one
        ("ab", "BA", "aA bB", "bB"),  # in another order: what is known stays
        ("", "AB", "", ""),
        ("a", "", "", ""),
        ("", "", "", ""),
    ],
)
def test_links_between_known_pairs_are_matched(
    ours: str, theirs: str, known: str, expected: str
) -> None:
    found = matched(ours, theirs, *known.split())
    if ours == "ab":  # one of both stays, whichever it is
        assert found in (["aA"], ["bB"])
    else:
        assert found == expected.split()


def cast(
    *voters: str, links: dict[str, str], partner: dict[str, str] | None = None
) -> dict[str, float]:
    """The votes of pairs of pages."""
    found = votes(
        [(Url(pair[0]), Url(pair[1])) for pair in voters],
        {Url(page): tuple(map(Url, targets)) for page, targets in links.items()},
        {Url(page): lang for page, lang in LANG.items()},
        {Url(left): Url(right) for left, right in (partner or {}).items()},
    )
    return {left + right: share for (left, right), share in found.items()}


def test_one_vote_counts_less_than_many() -> None:
    links = {"a": "h", "A": "H", "b": "h", "B": "H", "c": "h", "C": "H"}
    one = cast("aA", links=links)["hH"]
    three = cast("aA", "bB", "cC", links=links)["hH"]
    assert 0 < one < three <= 1


def test_votes_are_split_between_candidates() -> None:
    # Two say h is H, one says it is I.
    links = {"a": "h", "A": "H", "b": "h", "B": "H", "c": "h", "C": "I"}
    found = cast("aA", "bB", "cC", links=links)
    assert found["hH"] > found["hI"] > 0
    assert found["hH"] < cast("aA", "bB", links=links)["hH"]


def test_links_to_other_languages_are_skipped() -> None:
    # Each page has its switcher at another place.
    links = {"a": "Ahi", "A": "HIa"}
    assert set(cast("aA", links=links)) == {"hH", "iI"}


def test_pages_without_links_have_no_vote() -> None:
    assert cast("aA", "bB", links={"a": "h"}) == {}
    assert cast(links={"a": "h", "A": "H"}) == {}


def test_a_page_votes_once_for_a_pair() -> None:
    once = cast("aA", links={"a": "hi", "A": "HI"})
    assert cast("aA", links={"a": "hih", "A": "HIH"}) == once


def test_known_pairs_are_fixed_points() -> None:
    # The French page lacks one link, but the third is known.
    links = {"a": "hij", "A": "IJ"}
    assert "iI" not in cast("aA", links=links)
    found = cast("aA", links={"a": "hijb", "A": "HIB"}, partner={"h": "H", "b": "B"})
    assert set(found) == {"hH", "bB"}
    assert set(cast("aA", links={"a": "hib", "A": "HIB"}, partner={"h": "H", "b": "B"})) == {
        "hH", "iI", "bB",
    }  # fmt: skip


def test_a_page_in_every_menu_has_all_votes() -> None:
    count = 400
    pages = [(Url(f"en{number}"), Url(f"fr{number}")) for number in range(count)]
    home = Url("home"), Url("accueil")
    links = {url: (home[side],) for pair in pages for side, url in enumerate(pair)}
    lang_of = {
        url: lang for pair in [*pages, home] for url, lang in zip(pair, ("en", "fr"), strict=True)
    }
    few = votes(pages[:20], links, lang_of, {})[home]
    assert votes(pages, links, lang_of, {})[home] >= few > 0.9


letters = st.text("abcdABCD", max_size=6)


@given(st.lists(st.sampled_from(["aA", "bB", "cC", "dD", "aB"]), unique=True), st.data())
def test_votes_are_shares_and_their_order_does_not_matter(voters, data) -> None:
    links = {page: data.draw(letters) for page in "abcdABCD"}
    found = cast(*voters, links=links)
    assert all(0 < share <= 1 for share in found.values())
    assert all(LANG[pair[0]] == "en" and LANG[pair[1]] == "fr" for pair in found)
    assert cast(*reversed(voters), links=links) == found


# Lists of links


def built() -> FakeSite:
    site = FakeSite("en", "fr")
    for page in "abcd":
        site.page(f"/{page}", "en")
    return site.page("/x", "de")


def listed(site: FakeSite, page: str) -> str:
    found = link_lists(site, page_languages(site))
    return "".join(url[-1] for url in found.get(at(page), ()))


def test_links_are_listed_in_their_order() -> None:
    site = built().link("/a", "/c").link("/a", "/b").link("/a", "/d", rel="area").link("/b", "/a")
    assert listed(site, "/a") == "cbd"
    assert listed(site, "/b") == "a"
    assert listed(site, "/c") == ""


def test_missing_pages_and_the_page_itself_are_skipped() -> None:
    site = built().link("/a", "/b").link("/a", "/a").link("/a", "/gone").link("/a", "/x")
    site.link("/a", "/c", rel="alternate", hreflang="fr").link("/a", "/d").link("/x", "/a")
    assert listed(site, "/a") == "bd"
    assert listed(site, "/x") == ""


def test_repeated_links_are_listed_once() -> None:
    # A picture and its caption lead to the same page; a link again at the end is another place.
    site = built()
    for target in ("/b", "/b", "/c", "/a", "/c", "/b"):
        site.link("/a", target)
    assert listed(site, "/a") == "bcb"


def test_redirects_are_followed() -> None:
    site = built().redirect("/old", "/c").link("/a", "/old").link("/a", "/c").link("/a", "/b")
    assert listed(site, "/a") == "cb"


def test_a_page_of_a_hundred_thousand_links_is_cut() -> None:
    many = [Link(at(path), "a", "", "") for _ in range(50_000) for path in ("/b", "/c")]
    site = built().page("/big", "en", links=many)
    assert 100 <= len(link_lists(site, page_languages(site))[at("/big")]) <= 1000

"""Distinct links of a site."""

from __future__ import annotations

import numpy as np
from support.fakes import FakeSite, at

from diptych.stages.pair.shared.site_links import SiteLinks, site_links
from diptych.types import Link


def in_full(links: SiteLinks) -> list[tuple[str, Link]]:
    """All links as (page, link), as `SiteView.links` yields them."""
    numbers = zip(links.page.tolist(), links.link.tolist(), strict=True)
    return [(links.pages[page], links.distinct[link]) for page, link in numbers]


def test_all_links_are_kept_in_their_order() -> None:
    site = FakeSite("en", "fr").page("/a", "en").page("/b", "fr")
    for source, target in (("/a", "/b"), ("/b", "/a"), ("/a", "/b"), ("/a", "/c")):
        site.link(source, target)
    site.link("/b", "/a", rel="alternate", hreflang="en")
    found = in_full(site_links(site))
    assert found == list(site.links())


def test_links_that_differ_only_around_them_are_one() -> None:
    one = Link(at("/b"), anchor="B", around="before", alt="b", src="x.png")
    other = one._replace(around="after", src="y.png")
    site = FakeSite("en", "fr").page("/b", "fr").page("/a", "en", links=[one, other])
    assert site_links(site).distinct == (Link(at("/b"), anchor="B", alt="b"),)
    for field in ("url", "rel", "hreflang", "anchor", "alt"):
        site.page("/c", "en", links=[one, one._replace(**{field: "z"})])
        links = site_links(site)
        assert len(links.distinct) == 2, field
        assert len(in_full(links)) == 4


def test_links_of_a_kind_are_listed_once_per_page() -> None:
    site = FakeSite("en", "fr").page("/a", "en").page("/b", "fr")
    for source, target in (("/a", "/x"), ("/a", "/b"), ("/b", "/x"), ("/a", "/x")):
        site.link(source, target)
    links = site_links(site)
    is_wanted = np.array([link.url == at("/x") for link in links.distinct])
    found = [(page, links.distinct[number].url) for page, number in links.of_kinds(is_wanted)]
    assert found == [(at("/a"), at("/x")), (at("/b"), at("/x"))]


def test_a_site_without_links_has_none() -> None:
    links = site_links(FakeSite("en", "fr").page("/a", "en"))
    assert in_full(links) == links.of_kinds(np.zeros(0, np.bool_)) == []

from __future__ import annotations

import math

import pytest
from fakes import FakeSite
from hypothesis import given
from hypothesis import strategies as st

from diptych.protocols import CrawlPolicy
from diptych.registry import strategies

POLICIES = [pytest.param(cls(), id=name) for name, cls in strategies("crawl").items()]
PATHS = ["/", "/en/", "/fr/", "/en/a", "/fr/a", "/b?lang=fr", "/de/", "/x"]


@st.composite
def sites(draw: st.DrawFn) -> FakeSite:
    site = FakeSite("en", "fr")
    for path in PATHS[:5]:
        site.page(
            path, draw(st.sampled_from(["en", "fr", "de", ""])), depth=draw(st.integers(0, 4))
        )
    for _ in range(draw(st.integers(0, 10))):
        site.link(
            draw(st.sampled_from(PATHS[:5])),
            draw(st.sampled_from(PATHS)),
            draw(st.sampled_from(["Français", "English", "more", ""])),
            rel=draw(st.sampled_from(["a", "area", "alternate", "frame", "canonical"])),
            hreflang=draw(st.sampled_from(["", "fr", "en", "x-default"])),
        )
    return site


@pytest.mark.parametrize("policy", POLICIES)
@given(site=sites())
def test_only_links_of_pages_are_ranked_and_by_numbers(policy: CrawlPolicy, site: FakeSite) -> None:
    known = {link.url for _, link in site.links()}
    for path in PATHS[:5]:
        for ranked in policy.rank(site.read(path), site):
            assert ranked.link.url in known
            assert ranked.link.rel not in ("canonical", "sitemap")
            assert math.isfinite(ranked.priority)


@pytest.mark.parametrize("policy", POLICIES)
@given(site=sites())
def test_same_site_same_ranking(policy: CrawlPolicy, site: FakeSite) -> None:
    for path in PATHS[:5]:
        assert list(policy.rank(site.read(path), site)) == list(policy.rank(site.read(path), site))
    assert list(policy.refill(site)) == list(policy.refill(site))


@pytest.mark.parametrize("policy", POLICIES)
def test_links_of_a_page_in_the_languages_are_followed(policy: CrawlPolicy) -> None:
    site = FakeSite("en", "fr").page("/", "en", depth=0).link("/", "/fr/", "Français")
    assert [ranked.link.url for ranked in policy.rank(site.read("/"), site)] == [
        "http://example.org/fr/"
    ]


@pytest.mark.parametrize("policy", POLICIES)
def test_page_without_links_and_site_without_pages(policy: CrawlPolicy) -> None:
    site = FakeSite("en", "fr")
    assert list(policy.refill(site)) == []
    site.page("/", "en")
    assert list(policy.rank(site.read("/"), site)) == []

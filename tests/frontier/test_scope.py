from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.frontier.scope import SCOPES, Scope, group, unit
from diptych.text.urls import normalise
from diptych.types import Site, Url


def scope_of(kind: str, *seeds: str) -> Scope:
    return Scope.of(group([Url(seed) for seed in seeds], kind=kind), kind=kind)


SITES = [
    # kind, seed, url, site
    ("site", "https://example.org/", "https://example.org/a", "example.org"),
    ("site", "https://example.org/", "http://example.org/a", "example.org"),
    ("site", "https://www.example.org/", "https://fr.example.org/", "example.org"),
    ("site", "https://example.org/", "https://example.com/", None),
    ("site", "https://example.org/", "https://notexample.org/", None),
    ("site", "https://example.org/", "https://example.org.evil.com/", None),
    ("site", "https://shop.example.co.uk/", "https://fr.example.co.uk/", "example.co.uk"),
    ("site", "https://a.co.uk/", "https://b.co.uk/", None),
    ("site", "https://alice.github.io/", "https://bob.github.io/", None),
    ("site", "http://example.org:8080/", "http://example.org:8080/a", "example.org:8080"),
    ("site", "http://example.org:8080/", "http://example.org/a", None),
    ("site", "http://127.0.0.1:9001/", "http://127.0.0.1:9002/", None),
    ("site", "http://[::1]:9001/", "http://[::1]:9001/a", "[::1]:9001"),
    ("host", "https://www.example.org/", "https://www.example.org/a", "www.example.org"),
    ("host", "https://www.example.org/", "http://www.example.org/a", "www.example.org"),
    ("host", "https://www.example.org/", "https://example.org/", None),
    ("host", "https://www.example.org/", "https://fr.example.org/", None),
    ("host", "http://example.org:8080/", "http://example.org:8081/", None),
    ("prefix", "http://example.org/en/", "http://example.org/en/a/b", "example.org/en/"),
    ("prefix", "http://example.org/en/", "https://example.org/en/a", "example.org/en/"),
    ("prefix", "http://example.org/en/", "http://example.org/en", None),
    ("prefix", "http://example.org/en/", "http://example.org/english/", None),
    ("prefix", "http://example.org/en/", "http://example.org/fr/en/", None),
    ("prefix", "http://example.org/en/a.html", "http://example.org/en/b.html", "example.org/en/"),
    ("prefix", "http://example.org/en/a?x=/y/", "http://example.org/en/b", "example.org/en/"),
    ("prefix", "http://example.org/", "http://example.org/any", "example.org/"),
    ("prefix", "http://example.org/", "http://example.org.evil.com/", None),
    ("prefix", "http://example.org:8080/en/", "http://example.org/en/", None),
    ("prefix", "http://example.org/en/", "http://example.org/b?path=example.org/en/", None),
]


@pytest.mark.parametrize(("kind", "seed", "url", "site"), SITES)
def test_which_urls_belong_to_a_site(kind: str, seed: str, url: str, site: str | None) -> None:
    assert scope_of(kind, seed).site_of(url) == site


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("site", ["a.org", "b.org"]),
        ("host", ["a.org", "fr.a.org", "b.org"]),
        ("prefix", ["a.org/", "fr.a.org/", "a.org/x/", "b.org/"]),
    ],
)
def test_seeds_are_grouped_in_the_order_given(kind: str, names: list[str]) -> None:
    seeds = ["http://a.org/", "http://fr.a.org/", "http://a.org/x/y", "http://b.org/"]
    assert [site.name for site in group([Url(seed) for seed in seeds], kind=kind)] == names


def test_seeds_of_one_site_stay_together_and_are_not_repeated() -> None:
    seeds = [Url("http://a.org/"), Url("http://fr.a.org/"), Url("http://a.org/")]
    assert group(seeds) == [Site("a.org", (Url("http://a.org/"), Url("http://fr.a.org/")))]


@pytest.mark.parametrize("kind", SCOPES)
def test_hosts_added_to_a_site_belong_to_it(kind: str) -> None:
    site = Site("a.org", (Url("http://a.org/"), Url("http://www.a.fr/"), Url("http://b.org:81/")))
    scope = Scope.of([site], kind=kind)
    for url in ("http://a.org/x", "http://www.a.fr/x", "http://b.org:81/x"):
        assert scope.site_of(url) == "a.org"
    assert scope.site_of("http://c.org/") is None
    assert scope.site_of("http://b.org/") is None


def test_without_sites_everything_is_outside() -> None:
    for kind in SCOPES:
        assert Scope.of([], kind=kind).site_of("http://a.org/") is None


hosts = st.sampled_from(["a.org", "fr.a.org", "b.co.uk", "127.0.0.1:81", "[::1]:8080"])
paths = st.lists(st.sampled_from(["en", "fr", "a.html", "b"]), max_size=4).map("/".join)
urls = st.builds("http://{}/{}".format, hosts, paths).map(normalise)


@given(st.lists(urls, min_size=1, max_size=5), st.sampled_from(SCOPES))
def test_seeds_are_always_inside_the_scope_of_their_group(seeds: list[Url], kind: str) -> None:
    sites = group(seeds, kind=kind)
    scope = Scope.of(sites, kind=kind)
    assert sorted({seed for site in sites for seed in site.seeds}) == sorted(set(seeds))
    for seed in seeds:
        assert scope.site_of(seed) is not None


@given(urls, urls, st.sampled_from(SCOPES))
def test_two_urls_are_of_one_site_when_their_units_agree(seed: Url, other: Url, kind: str) -> None:
    inside = scope_of(kind, seed).site_of(other) is not None
    if kind == "prefix":
        assert inside is unit(other, kind).startswith(unit(seed, kind))
    else:
        assert inside is (unit(seed, kind) == unit(other, kind))


def test_the_narrower_of_two_folders_owns_its_pages() -> None:
    scope = scope_of("prefix", "http://a.org/", "http://a.org/fr/")
    assert scope.site_of("http://a.org/en/x") == "a.org/"
    assert scope.site_of("http://a.org/fr/x") == "a.org/fr/"

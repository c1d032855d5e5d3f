"""What every crawl policy keeps to, and what every guide does that one with a memory gives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.fakes import HOME, FakeSite, at
from support.hostile import HOSTILE, changed, places

from diptych.files import parser_errors
from diptych.protocols import CrawlPolicy, Guide, GuidedPolicy, SiteView
from diptych.registry import make, strategies
from diptych.run.encoding import read_snapshot, write_snapshot
from diptych.types import (
    CrawlEvent,
    Decision,
    Link,
    Missing,
    Moved,
    Page,
    PagePair,
    PageRecord,
    PairingResult,
    Ranked,
    VerifiedPair,
)

Policy = CrawlPolicy | GuidedPolicy


def with_pairer(policy: Any) -> Any:
    """A policy that asks for a pairer with one, as a recipe gives it."""
    return replace(policy, pair=make("pair", {"use": "pplocator"})) if _asks(policy) else policy


def _asks(policy: object) -> bool:
    return "pair" in getattr(policy, "__dataclass_fields__", {})


POLICIES = [pytest.param(with_pairer(cls()), id=name) for name, cls in strategies("crawl").items()]
GUIDED = [
    pytest.param(cls(), id=name)
    for name, cls in strategies("crawl").items()
    if isinstance(cls(), GuidedPolicy)
]
READ = ["/", "/en/", "/fr/", "/en/a", "/fr/a"]
PATHS = [*READ, "/b?lang=fr", "/de/", "/x"]


def guide_of(policy: Policy, langs: Sequence[str]) -> CrawlPolicy:
    """Who guides the crawl of one site: the policy itself, if it remembers nothing."""
    return policy.guide(langs) if isinstance(policy, GuidedPolicy) else policy


@st.composite
def sites(draw: st.DrawFn) -> FakeSite:
    site = FakeSite("en", "fr")
    for path in READ:
        site.page(
            path, draw(st.sampled_from(["en", "fr", "de", ""])), depth=draw(st.integers(0, 4))
        )
    for _ in range(draw(st.integers(0, 10))):
        site.link(
            draw(st.sampled_from(READ)),
            draw(st.sampled_from(PATHS)),
            draw(st.sampled_from(["Français", "English", "more", ""])),
            rel=draw(st.sampled_from(["a", "area", "alternate", "frame", "canonical"])),
            hreflang=draw(st.sampled_from(["", "fr", "en", "x-default"])),
        )
    return site


def pair_of(left: str, right: str) -> PagePair:
    return PagePair(at(left), at(right), "en", "fr", 0.5, "test")


def news() -> st.SearchStrategy[CrawlEvent]:
    """Anything that may be told, also of URLs that nobody asked for."""
    path, two = st.sampled_from(PATHS), st.tuples(st.sampled_from(PATHS), st.sampled_from(PATHS))
    found = st.builds(
        lambda pair, accept, links: VerifiedPair(
            pair_of(*pair),
            Decision(accept, 0.9 if accept else 0.1, "" if accept else "test"),
            tuple((at(left), at(right)) for left, right in links) if accept else (),
        ),
        two, st.booleans(), st.lists(two, max_size=4),
    )  # fmt: skip
    return st.one_of(
        st.builds(lambda url: Missing(at(url), "http_404"), path),
        st.builds(lambda urls: Moved(at(urls[0]), at(urls[1])), two),
        found,
        st.builds(lambda urls: PairingResult((pair_of(*urls),)), two),
    )


def events() -> st.SearchStrategy[list[str | CrawlEvent]]:
    """Pages, each once, and what happens between them."""
    order = st.permutations(READ)
    return st.builds(
        lambda pages, seen: [event for each in zip(pages, seen, strict=True) for event in each],
        order, st.lists(news(), min_size=len(READ), max_size=len(READ)),
    )  # fmt: skip


Answer = tuple[list[Ranked], list[PagePair | None]]


def replay(guide: Guide, site: FakeSite, history: Sequence[str | CrawlEvent]) -> list[Answer]:
    """Tell a guide everything in order: what it answers, and what it asks after each."""
    answers = []
    for event in history:
        if isinstance(event, str):
            ranked = list(guide.rank(site.read(event), OnlyLanguages(site)))
        else:
            ranked = list(guide.learn(event, OnlyLanguages(site)))
        answers.append((ranked, list(guide.questions())))
    return answers


class OnlyLanguages(FakeSite):
    """A site of which only the languages may be asked."""

    def __init__(self, site: FakeSite) -> None:
        super().__init__(*site.langs)

    def __getattribute__(self, name: str) -> Any:
        assert name not in {"pages", "links", "resolve", "sketches", "lexicon", "site"}, name
        return super().__getattribute__(name)


@pytest.mark.parametrize("policy", POLICIES)
@given(site=sites())
def test_only_links_of_pages_are_ranked_and_by_numbers(policy: Policy, site: FakeSite) -> None:
    known = {link.url for _, link in site.links()}
    guide = guide_of(policy, site.langs)
    ranked = [each for path in READ for each in guide.rank(site.read(path), site)]
    for each in [*ranked, *guide.refill(site)]:
        assert each.link.url in known
        assert each.link.rel not in ("canonical", "sitemap")
        assert math.isfinite(each.priority)


@pytest.mark.parametrize("policy", POLICIES)
@given(site=sites())
def test_same_site_same_ranking(policy: Policy, site: FakeSite) -> None:
    one, other = guide_of(policy, site.langs), guide_of(policy, site.langs)
    for path in READ:
        assert list(one.rank(site.read(path), site)) == list(other.rank(site.read(path), site))
    assert list(one.refill(site)) == list(other.refill(site))


@pytest.mark.parametrize("policy", POLICIES)
def test_links_of_a_page_in_the_languages_are_followed(policy: Policy) -> None:
    site = FakeSite("en", "fr").page("/", "en", depth=0).link("/", "/fr/", "Français")
    guide = guide_of(policy, site.langs)
    assert [ranked.link.url for ranked in guide.rank(site.read("/"), site)] == [at("/fr/")]


@pytest.mark.parametrize("policy", POLICIES)
def test_page_without_links_and_site_without_pages(policy: Policy) -> None:
    site = FakeSite("en", "fr")
    assert list(guide_of(policy, site.langs).refill(site)) == []
    site.page("/", "en")
    assert list(guide_of(policy, site.langs).rank(site.read("/"), site)) == []


@pytest.mark.parametrize("policy", POLICIES)
def test_sitemap_is_taken_as_a_page_without_text(policy: Policy) -> None:
    links = [Link(at(path), "sitemap") for path in PATHS]
    links.append(Link(at("/fr/"), "alternate", "fr"))
    sitemap = Page(PageRecord(at("/sitemap.xml"), "", (), "", 0, 0, 0, ""), tuple(links))
    site = FakeSite("en", "fr")
    for ranked in guide_of(policy, site.langs).rank(sitemap, site):
        assert ranked.link.url in {link.url for link in links}
        assert math.isfinite(ranked.priority)


# -- guides --------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", GUIDED)
@given(site=sites(), history=events())
def test_told_the_same_it_answers_and_asks_the_same(
    policy: GuidedPolicy, site: FakeSite, history: list[str | CrawlEvent]
) -> None:
    one, other = policy.guide(site.langs), policy.guide(site.langs)
    assert replay(one, site, history) == replay(other, site, history)
    assert one.outlook() == other.outlook()
    assert list(one.refill(site)) == list(other.refill(site))


@pytest.mark.parametrize("policy", GUIDED)
@given(site=sites(), before=events(), after=events())
def test_guide_made_from_a_snapshot_knows_and_does_the_same(
    policy: GuidedPolicy,
    site: FakeSite,
    before: list[str | CrawlEvent],
    after: list[str | CrawlEvent],
) -> None:
    one = policy.guide(site.langs)
    replay(one, site, before)
    kept = read_snapshot(write_snapshot(one.snapshot()))
    other = policy.restored(site.langs, kept)
    assert read_snapshot(write_snapshot(other.snapshot())) == kept
    assert other.outlook() == one.outlook()
    assert replay(other, site, after) == replay(one, site, after)
    assert list(other.refill(site)) == list(one.refill(site))
    assert other.outlook() == one.outlook()


@pytest.mark.parametrize("policy", GUIDED)
@given(site=sites(), history=events(), data=st.data())
def test_hostile_snapshot_is_refused_or_does_no_harm(
    policy: GuidedPolicy, site: FakeSite, history: list[str | CrawlEvent], data: st.DataObject
) -> None:
    guide = policy.guide(site.langs)
    replay(guide, site, history)
    kept = read_snapshot(write_snapshot(guide.snapshot()))
    place = data.draw(st.sampled_from(list(places(kept))))
    hostile = changed(kept, place, data.draw(st.sampled_from(HOSTILE)))
    try:
        other = policy.restored(site.langs, hostile)
    except parser_errors():
        return
    replay(other, site, history)
    list(other.refill(site))
    write_snapshot(other.snapshot())


@pytest.mark.parametrize("policy", GUIDED)
@given(site=sites(), history=events())
def test_nothing_is_requested_twice_and_only_pages_that_are_there(
    policy: GuidedPolicy, site: FakeSite, history: list[str | CrawlEvent]
) -> None:
    there: set[str] = set()
    requested: set[frozenset[str]] = set()
    guide = policy.guide(site.langs)
    for event in history:
        there |= {at(event)} if isinstance(event, str) else set()
        for _, questions in replay(guide, site, [event]):
            for pair in questions:
                if pair is not None:
                    assert {pair.left, pair.right} <= there
                    assert {pair.left_lang, pair.right_lang} == {"en", "fr"}
                    assert frozenset((pair.left, pair.right)) not in requested
                    requested.add(frozenset((pair.left, pair.right)))
        assert list(guide.questions()) == []


@pytest.mark.parametrize("policy", GUIDED)
@given(site=sites(), history=events())
def test_what_happens_is_ranked_by_numbers(
    policy: GuidedPolicy, site: FakeSite, history: list[str | CrawlEvent]
) -> None:
    for ranked, _ in replay(policy.guide(site.langs), site, history):
        assert all(math.isfinite(each.priority) for each in ranked)
        assert all(each.link.url.startswith(HOME) for each in ranked)


@pytest.mark.parametrize("policy", GUIDED)
def test_guides_of_two_sites_know_nothing_of_each_other(policy: GuidedPolicy) -> None:
    site = FakeSite("en", "fr").page("/", "en", depth=0).link("/", "/fr/", "Français")
    first: SiteView = site
    one, other = policy.guide(site.langs), policy.guide(site.langs)
    answer = list(one.rank(site.read("/"), first))
    one.learn(Missing(at("/fr/"), "http_404"), site)
    assert list(other.rank(site.read("/"), first)) == answer

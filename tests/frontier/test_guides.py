"""Guides observe events, and observe them again when a crawl is resumed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from weakref import ref

import pytest
from support.fakes import at, make_page
from support.stores import begin

from diptych.frontier import guides as module
from diptych.frontier.guides import Guides, PairQuestion
from diptych.frontier.hosts import SiteInfo
from diptych.frontier.queue import State
from diptych.frontier.sitemaps import SITEMAP_PART, alternates_of
from diptych.page.sitemaps import Sitemap, read_sitemap
from diptych.protocols import CrawlPolicy, GuidedPolicy, SiteView
from diptych.run import encoding
from diptych.run.encoding import read_event, read_snapshot, write_event
from diptych.run.site_view import StoreView
from diptych.run.store import Store
from diptych.run.warc import compose
from diptych.stages.crawl.bfs import Bfs
from diptych.stages.crawl.hybrid.strategy import Hybrid
from diptych.text.urls import url_key
from diptych.types import (
    CrawlEvent,
    Decision,
    Link,
    Missing,
    Moved,
    Outlook,
    Page,
    PagePair,
    PairingResult,
    Ranked,
    Response,
    Site,
    Url,
    VerifiedPair,
)

PAIR = PagePair(at("/en"), at("/fr"), "en", "fr", 0.5, "test")
OTHER_PAIR = PagePair(at("/en/a"), at("/fr/a"), "en", "fr", 0.5, "test")
FOUND = VerifiedPair(PAIR, Decision(True, 0.9), ((at("/a"), at("/b")),))
Observed = tuple[str, object]


@dataclass
class Parrot:
    """A guide that only records its observations; its policy decides what it asks."""

    policy: ParrotPolicy
    observed: list[Observed] = field(default_factory=list)
    snapshots: int = 0

    def rank(self, page: Page, site: SiteView) -> Iterable[Ranked]:
        self.observed.append(("page", (page.url, page.lang, [link.url for link in page.links])))
        return [Ranked(link, 1.0) for link in page.links]

    def refill(self, site: SiteView) -> Iterable[Ranked]:
        return ()

    def learn(self, event: CrawlEvent, site: SiteView) -> Iterable[Ranked]:
        self.observed.append(("news", event))
        return ()

    def questions(self) -> Sequence[PagePair | None]:
        return self.policy.questions(self.observed)

    def outlook(self) -> Outlook | None:
        return Outlook(1.0, 2.0)

    def snapshot(self) -> object:
        self.snapshots += 1
        return [
            [what, write_event(said) if what == "news" else said]  # type: ignore[arg-type]
            for what, said in self.observed
        ]


@dataclass
class ParrotPolicy:
    """A policy whose guides ask after the numbers of observations in `when`."""

    when: dict[int, list[PagePair | None]] = field(default_factory=dict)
    made: list[Parrot] = field(default_factory=list, repr=False)

    def restored(self, langs: Sequence[str], snapshot: Any) -> Parrot:
        guide = self.guide(langs)
        for what, said in snapshot:
            page = (said[0], said[1], said[2]) if what == "page" else ()
            guide.observed.append((what, read_event(*said) if what == "news" else page))
        self._last = len(guide.observed)  # its questions were taken
        return guide

    def guide(self, langs: Sequence[str]) -> Parrot:
        self.made.append(Parrot(self))
        self._last = -1
        return self.made[-1]

    def questions(self, observed: list[Observed]) -> list[PagePair | None]:
        fresh, self._last = len(observed) != self._last, len(observed)
        return self.when.get(len(observed), []) if fresh else []


@dataclass
class Desk:
    """A store with guides, which can be restarted any number of times."""

    store: Store
    policy: CrawlPolicy | GuidedPolicy
    may: Callable[[Url, str], bool] = lambda url, site: True

    def __post_init__(self) -> None:
        self.site = self.info("example.org")
        self.again()

    def info(self, name: str) -> SiteInfo:
        return SiteInfo(self.store.site_id(name), Site(name, ()))

    def again(self) -> None:
        """Continue in another process."""
        self.guides = Guides(self.store, self.policy, ("en", "fr"), self.view, self.may)

    def view(self, site: SiteInfo) -> StoreView:
        return StoreView(self.store, site.site, site.id, ("en", "fr"))

    def page(self, path: str, lang: str, *links: str) -> list[str]:
        """Fetch, save and rank a page."""
        page = make_page(path, lang, links=[Link(at(link)) for link in links])
        pointer = self.store.archive.append(self.record(path, b"x"), 0.0)
        self.queue(at(path), State.FETCHED, None)
        self.store.save_fetch(
            self.site.id, at(path), 0.0, status=200, size=1, reason="", pointer=pointer
        )
        self.store.save_page(self.site.id, page, pointer)
        return [ranked.link.url for ranked in self.guides.rank_page(self.site, page)]

    def answered(self, path: str, event: Missing | Moved) -> None:
        """Record a request for a URL that is not a page."""
        if isinstance(event, Moved):
            self.queue(event.target, State.QUEUED, None)
            self.queue(at(path), State.FETCHED, url_key(event.target))
        else:
            self.queue(at(path), State.FAILED, None)
        self.store.save_fetch(
            self.site.id, at(path), 0.0, status=404, size=1, reason="", pointer=None
        )

    def queue(self, url: Url, state: State, redirect: int | None) -> None:
        """Queue a URL."""
        self.store.db.execute(
            "INSERT INTO urls (key, url, host, kind, state, depth, priority, redirect)"
            " VALUES (?, ?, 1, 0, ?, 0, 0, ?)",
            (url_key(url), url, state, redirect),
        )

    def sitemap(self, path: str, data: bytes) -> Sitemap:
        """Fetch and save a sitemap."""
        pointer = self.store.archive.append(self.record(path, data), 0.0)
        self.store.save_fetch(
            self.site.id, at(path), 0.0, status=200, size=1, reason="", pointer=pointer
        )
        return read_sitemap(data)

    def learn(self, event: CrawlEvent) -> None:
        list(self.guides.learn(self.site, event))

    @staticmethod
    def record(path: str, data: bytes) -> bytes:
        return compose(Response(at(path), 200, (("Content-Type", "text/xml"),), data, 0.0))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path) as opened:
        begin(opened)
        yield opened


def observed(policy: ParrotPolicy) -> list[Observed]:
    return policy.made[-1].observed


# -- memory ----------------------------------------------------------------------------------------


def test_new_guide_is_told_everything_again_in_order(store: Store) -> None:
    policy = ParrotPolicy()
    desk = Desk(store, policy)
    desk.page("/", "en", "/a", "/b")
    desk.learn(Missing(at("/a"), "http_404"))
    desk.page("/b", "fr", "/c")
    sitemap = desk.sitemap("/map.xml", urlset(3))
    list(desk.guides.rank_sitemap(desk.site, at("/map.xml"), sitemap, 0))
    desk.learn(Moved(at("/c"), at("/d")))
    desk.learn(FOUND)
    desk.learn(PairingResult((PAIR, OTHER_PAIR)))
    before = observed(policy)
    assert len(before) == 7
    desk.again()
    desk.guides.outlook(desk.site)
    assert len(policy.made) == 2
    assert observed(policy) == before


def test_guide_observes_everything_once(store: Store) -> None:
    policy = ParrotPolicy()
    desk = Desk(store, policy)
    desk.page("/", "en")
    desk.again()
    desk.learn(Missing(at("/a"), "http_404"))  # the first thing that is told to the new guide
    assert [what for what, _ in observed(policy)] == ["page", "news"]
    desk.again()
    desk.page("/b", "en")
    assert [what for what, _ in observed(policy)] == ["page", "news", "page"]


def test_guides_of_two_sites_observe_their_own_site(store: Store) -> None:
    policy = ParrotPolicy()
    desk = Desk(store, policy)
    other = desk.info("other.org")
    desk.page("/", "en")
    list(desk.guides.learn(other, Missing(Url("http://other.org/"), "dns")))
    desk.again()
    desk.guides.resume([desk.site, other])
    assert [[what for what, _ in made.observed] for made in policy.made[2:]] == [["page"], ["news"]]


def test_crawls_that_never_began_are_not_resumed(store: Store) -> None:
    policy = ParrotPolicy()
    desk = Desk(store, policy)
    desk.guides.resume([desk.site])
    assert policy.made == []


def test_policy_without_a_memory_ranks_pages_and_nothing_is_saved(store: Store) -> None:
    desk = Desk(store, Bfs())
    assert desk.page("/", "en", "/a") == [at("/a")]
    assert list(desk.guides.learn(desk.site, Missing(at("/a"), "dns"))) == []
    assert desk.guides.questions(0.0) == []
    assert desk.guides.outlook(desk.site) is None
    assert not desk.guides.has_memory
    assert store.count("SELECT count(*) FROM guides") == 0


def test_guide_knows_all_links_of_a_long_page_after_it_was_asked_for_more(store: Store) -> None:
    """A guide reads 300 links at a time: once it knew only 301 of 1,001 URLs afterwards."""
    desk = Desk(store, Hybrid(models=False))
    desk.page("/", "en", *(f"/{number}" for number in range(1_000)))
    assert len(list(desk.guides.refill(desk.site))) == 700
    desk.again()
    desk.guides.resume([desk.site])
    desk.guides.release(desk.site)
    (data,) = store.db.execute("SELECT data FROM guides").fetchone()
    assert read_snapshot(data)[0]["listed"] == 1_001


def always_over(site: SiteInfo) -> bool:
    return True


def never_over(site: SiteInfo) -> bool:
    return False


def test_snapshot_replaces_a_long_journal(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = ParrotPolicy({3: [PAIR, None]})
    desk = Desk(store, policy)
    monkeypatch.setattr(module, "MIN_WORK", 450)  # two pages without links
    lengths = []
    for path in ("/", "/a", "/b", "/c", "/d"):
        desk.page(path, "en")
        desk.guides.save([desk.site], never_over)
        lengths.append(store.count("SELECT count(*) FROM journal"))
    assert lengths == [1, 2, 0, 1, 2]
    before = observed(policy)
    desk.again()
    desk.guides.resume([desk.site])
    assert observed(policy) == before
    assert policy.made[-1] is not policy.made[-2]
    assert [question.pair for question in desk.guides.questions(0.0)] == [PAIR, None]


def test_snapshot_that_is_too_large_leaves_the_journal(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = ParrotPolicy()
    desk = Desk(store, policy)
    desk.page("/", "en")
    desk.guides.release(desk.site)
    monkeypatch.setattr(encoding, "MAX_SNAPSHOT", 80)  # one page has 44 bytes
    monkeypatch.setattr(module, "MIN_WORK", 450)  # two pages without links
    work = []
    for path in ("/a", "/b", "/c", "/d"):
        desk.page(path, "en")
        desk.guides.save([desk.site], never_over)
        work.append(policy.made[-1].snapshots)
    assert work == [0, 0, 1, 1], "it is not tried with every commit"
    assert store.count("SELECT count(*) FROM journal") == 4
    desk.guides.release(desk.site)
    desk.again()
    desk.page("/e", "en")
    paths = ("/", "/a", "/b", "/c", "/d", "/e")
    assert [said[0] for _, said in observed(policy)] == [*map(at, paths)]  # type: ignore[index]


def test_guide_of_a_site_that_is_over_is_released_and_comes_back(store: Store) -> None:
    policy = ParrotPolicy()
    desk = Desk(store, policy)
    desk.page("/", "en")
    alive = ref(policy.made.pop())
    desk.guides.save([desk.site], always_over)
    assert len(desk.guides) == 0
    assert alive() is None
    assert desk.guides.outlook(desk.site) == Outlook(1.0, 2.0)
    assert desk.guides.waiting_time(desk.site, 0.0) == math.inf
    assert policy.made == []
    desk.page("/a", "en")
    assert [said[0] for _, said in observed(policy)] == [at("/"), at("/a")]  # type: ignore[index]
    assert len(desk.guides) == 1


def test_guide_that_asks_is_not_released_before_it_is_answered(store: Store) -> None:
    desk = Desk(store, ParrotPolicy({1: [PAIR]}))
    desk.page("/", "en")
    desk.guides.save([desk.site], always_over)
    assert len(desk.guides) == 1
    desk.guides.questions(0.0)
    desk.guides.save([desk.site], always_over)
    assert len(desk.guides) == 1
    desk.learn(FOUND)
    desk.guides.save([desk.site], always_over)
    assert len(desk.guides) == 0
    assert not desk.guides.waiting


def test_finished_sites_are_not_resumed_by_the_next_process(store: Store) -> None:
    policy = ParrotPolicy()
    desk = Desk(store, policy)
    desk.site.pages = 1
    desk.page("/", "en")
    desk.guides.save([desk.site], always_over)
    desk.again()
    policy.made.clear()
    desk.guides.resume([desk.site])
    assert policy.made == []
    assert desk.guides.outlook(desk.site) == Outlook(1.0, 2.0)
    desk.learn(Missing(at("/a"), "http_404"))  # it comes to life again
    desk.again()
    policy.made.clear()
    desk.guides.resume([desk.site])
    assert [what for what, _ in observed(policy)] == ["page", "news"]


def test_guide_without_a_question_is_restored_on_the_first_event(store: Store) -> None:
    policy = ParrotPolicy({3: [PAIR]})
    desk = Desk(store, policy)
    desk.site.pages = 1
    desk.page("/", "en")
    desk.guides.save([desk.site], never_over)
    for path, is_asked in (("/a", False), ("/b", True)):
        desk.again()
        policy.made.clear()
        desk.guides.resume([desk.site])
        assert policy.made == []
        assert desk.guides.outlook(desk.site) == Outlook(1.0, 2.0)
        desk.page(path, "en")  # the journal comes first
        assert desk.guides.questions(0.0) == [PairQuestion(desk.site.id, PAIR)] * is_asked
        desk.guides.save([desk.site], never_over)
    assert len(observed(policy)) == 3
    desk.again()
    desk.guides.resume([desk.site])
    assert desk.guides.questions(0.0) == [PairQuestion(desk.site.id, PAIR)]


def test_guide_with_observations_since_its_snapshot_is_restored(store: Store) -> None:
    desk = Desk(store, ParrotPolicy({2: [PAIR]}))
    desk.page("/", "en")
    desk.guides.save([desk.site], never_over)
    desk.page("/a", "en")
    desk.again()
    desk.guides.resume([desk.site])
    assert desk.guides.questions(0.0) == [PairQuestion(desk.site.id, PAIR)]


def test_guide_of_a_site_without_pages_has_its_outlook(store: Store) -> None:
    desk = Desk(store, ParrotPolicy())
    desk.learn(Missing(at("/"), "dns"))
    desk.guides.save([desk.site], never_over)
    desk.again()
    desk.guides.resume([desk.site])
    assert len(desk.guides) == 0
    assert desk.guides.outlook(desk.site) == Outlook(1.0, 2.0)


@pytest.mark.parametrize("column", ["found", "left"])
def test_damaged_outlook_is_ignored(store: Store, column: str) -> None:
    desk = Desk(store, ParrotPolicy())
    desk.site.pages = 1
    desk.page("/", "en")
    desk.guides.save([desk.site], always_over)
    store.db.execute(f"UPDATE sites SET {column} = 'damaged'")
    desk.again()
    desk.guides.resume([desk.site])
    assert desk.guides.outlook(desk.site) is None


def test_lost_guide_is_rebuilt_on_the_first_event(store: Store) -> None:
    """Also for runs of versions without journals."""
    policy = ParrotPolicy()
    desk = Desk(store, policy)
    desk.site.pages = 1
    desk.page("/", "en")
    desk.guides.release(desk.site)
    store.db.execute("DELETE FROM guides")
    for _ in range(2):
        desk.again()
        policy.made.clear()
        desk.guides.resume([desk.site])
        assert policy.made == []
        assert desk.guides.outlook(desk.site) == Outlook(1.0, 2.0)
    desk.page("/a", "en")
    assert [said[0] for _, said in observed(policy)] == [at("/"), at("/a")]  # type: ignore[index]


def test_guide_that_is_rebuilt_by_a_page_observes_that_page_once(store: Store) -> None:
    policy = ParrotPolicy()
    desk = Desk(store, policy)
    desk.page("/", "en")
    desk.guides.save([desk.site], always_over)
    store.db.execute("UPDATE guides SET data = 'damaged'")
    desk.page("/a", "en")
    assert [said[0] for _, said in observed(policy)] == [at("/"), at("/a")]  # type: ignore[index]


@pytest.mark.parametrize(
    "event", [Missing(at("/a"), "http_404"), Moved(at("/a"), at("/b"))], ids=["missing", "moved"]
)
def test_guide_that_is_rebuilt_by_an_event_observes_it_once(
    store: Store, event: Missing | Moved
) -> None:
    policy = ParrotPolicy()
    desk = Desk(store, policy)
    desk.page("/", "en")
    desk.guides.save([desk.site], always_over)
    store.db.execute("UPDATE guides SET data = 'damaged'")
    desk.answered("/a", event)
    desk.learn(event)
    assert [said for what, said in observed(policy) if what == "news"] == [event]


def test_failed_pairing_is_repeated_even_for_a_finished_site(store: Store) -> None:
    desk = Desk(store, ParrotPolicy({1: [None]}))
    desk.page("/", "en")
    desk.guides.questions(0.0)
    desk.learn(PairingResult(None))
    desk.guides.save([desk.site], always_over)
    assert len(desk.guides) == 0
    desk.again()
    desk.guides.resume([desk.site])
    assert desk.guides.questions(0.0) == [PairQuestion(desk.site.id, None)]


def test_failed_pairing_is_repeated_by_the_next_process(store: Store) -> None:
    desk = Desk(store, ParrotPolicy({1: [None]}))
    desk.page("/", "en")
    desk.guides.questions(0.0)
    desk.learn(PairingResult(None))
    assert not desk.guides.waiting
    for _ in range(2):  # by the journal, and by a snapshot
        desk.again()
        desk.guides.resume([desk.site])
        assert desk.guides.questions(0.0) == [PairQuestion(desk.site.id, None)]
        desk.guides.release(desk.site)
    desk.again()
    desk.guides.resume([desk.site])
    desk.guides.questions(0.0)
    desk.learn(PairingResult(()))
    desk.again()
    desk.guides.resume([desk.site])
    assert desk.guides.questions(0.0) == []


# -- what guides see -------------------------------------------------------------------------------


def test_guides_see_only_links_that_can_be_fetched(store: Store) -> None:
    policy = ParrotPolicy()
    desk = Desk(store, policy, may=lambda url, site: site == "example.org" and "b" not in url)
    assert desk.page("/", "en", "/a", "/b", "/c") == [at("/a"), at("/c")]
    desk.again()
    desk.guides.outlook(desk.site)
    assert observed(policy) == [("page", (at("/"), "en", [at("/a"), at("/c")]))]


def urlset(count: int) -> bytes:
    """A sitemap with this many pages, each with its translation."""
    entries = "".join(
        f"<url><loc>{at(f'/en/{n}')}</loc>"
        f'<xhtml:link rel="alternate" hreflang="fr" href="{at(f"/fr/{n}")}"/></url>'
        for n in range(count)
    )
    return f"<urlset>{entries}</urlset>".encode()


def test_sitemap_is_told_in_parts_each_url_before_its_translations(store: Store) -> None:
    policy = ParrotPolicy()
    desk = Desk(store, policy)
    sitemap = desk.sitemap("/map.xml", urlset(SITEMAP_PART + 2))
    for start in (0, SITEMAP_PART):
        list(desk.guides.rank_sitemap(desk.site, at("/map.xml"), sitemap, start))
    (_, (_, lang, first)), (_, (_, _, rest)) = observed(policy)  # type: ignore[misc]
    assert lang == ""
    assert len(first) == 2 * SITEMAP_PART
    assert rest == [
        at(f"/{lang}/{n}") for n in (SITEMAP_PART, SITEMAP_PART + 1) for lang in ("en", "fr")
    ]
    before = observed(policy)
    desk.again()
    desk.guides.outlook(desk.site)
    assert observed(policy) == before


def test_translations_of_a_sitemap_are_told_with_their_page() -> None:
    sitemap = read_sitemap(urlset(2))
    expected = [(at(f"/en/{n}"), Link(at(f"/fr/{n}"), "alternate", "fr")) for n in range(2)]
    assert alternates_of(sitemap) == expected


# -- questions -------------------------------------------------------------------------------------


def test_questions_are_taken_up_once(store: Store) -> None:
    desk = Desk(store, ParrotPolicy({1: [PAIR, None]}))
    desk.page("/", "en")
    assert desk.guides.questions(5.0) == [
        PairQuestion(desk.site.id, PAIR),
        PairQuestion(desk.site.id, None),
    ]
    assert desk.guides.questions(5.0) == []
    assert desk.guides.waiting


def test_guide_waits_until_all_its_questions_are_answered(store: Store) -> None:
    desk = Desk(store, ParrotPolicy({1: [PAIR, None]}))
    desk.page("/", "en")
    assert desk.guides.waiting_time(desk.site, 5.0) == 0, "it may ask something since"
    desk.guides.questions(5.0)
    assert desk.guides.waiting_time(desk.site, 7.5) == 2.5
    desk.learn(FOUND)
    assert desk.guides.waiting
    desk.learn(Missing(at("/a"), "dns"))
    assert desk.guides.waiting
    desk.learn(PairingResult(()))
    assert not desk.guides.waiting
    assert desk.guides.questions(8.0) == []
    assert desk.guides.waiting_time(desk.site, 9.0) == math.inf


@pytest.mark.parametrize(
    ("answers", "left"),
    [
        ([], [PAIR, OTHER_PAIR, None]),
        ([FOUND], [OTHER_PAIR, None]),
        ([PairingResult(())], [PAIR, OTHER_PAIR]),
        (
            [
                FOUND,
                PairingResult(()),
                VerifiedPair(OTHER_PAIR, Decision(False, 0.0, "unreadable")),
            ],
            [],
        ),
        ([Missing(at("/en"), "dns")], [PAIR, OTHER_PAIR, None]),
    ],
)
def test_unanswered_questions_are_asked_again_by_the_next_process(
    store: Store, answers: list[CrawlEvent], left: list[PagePair | None]
) -> None:
    desk = Desk(store, ParrotPolicy({1: [PAIR, OTHER_PAIR, None]}))
    desk.page("/", "en")
    desk.guides.questions(0.0)
    for event in answers:
        desk.learn(event)
    desk.again()
    desk.guides.resume([desk.site])
    assert [question.pair for question in desk.guides.questions(0.0)] == left
    assert desk.guides.waiting is bool(left)


def test_pair_that_was_requested_twice_and_answered_once_is_asked_again_once(store: Store) -> None:
    desk = Desk(store, ParrotPolicy({1: [PAIR, None, None], 2: [PAIR]}))
    desk.page("/", "en")
    desk.learn(FOUND)
    desk.guides.questions(0.0)
    desk.again()
    desk.guides.resume([desk.site])
    assert [question.pair for question in desk.guides.questions(0.0)] == [None, None, PAIR]

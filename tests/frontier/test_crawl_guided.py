"""Crawls with a guide that assigns values to URLs: waiting and ending."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from support.driving import (
    EAGER,
    HOME,
    ByHand,
    Drive,
    Script,
    page,
    redirect,
    robots,
    sitemap,
    status,
    url,
    web,
)
from support.stores import commit

from diptych.frontier.crawl import MAX_ANSWER_WAIT, MIN_CERTAIN_VALUE, MIN_WORTH
from diptych.frontier.guides import PairQuestion
from diptych.frontier.politeness import Limits
from diptych.frontier.queue import State
from diptych.frontier.samples import SIZE
from diptych.frontier.sitemaps import SITEMAP_PART
from diptych.protocols import SiteView
from diptych.reason import SiteEnd
from diptych.reports.summary import summarise
from diptych.run.encoding import read_event, write_event
from diptych.run.store import Store
from diptych.stages.crawl.hybrid.strategy import Hybrid
from diptych.types import (
    CrawlEvent,
    Kind,
    Link,
    Missing,
    Moved,
    Outlook,
    Page,
    PagePair,
    PairingResult,
    Ranked,
    Url,
    VerifiedPair,
)

HIGH, LOW = 0.9, MIN_CERTAIN_VALUE / 3
ONE = replace(EAGER, connections=1)


@dataclass
class Valued:
    """A guide with fixed values of URLs and a fixed number of pairs found."""

    policy: Values
    observed: list[CrawlEvent] = field(default_factory=list)
    pages: int = 0

    def rank(self, page: Page, site: SiteView) -> Iterable[Ranked]:
        self.pages += 1
        return [Ranked(link, self.policy.value(link.url), lowers=True) for link in page.links]

    def refill(self, site: SiteView) -> Iterable[Ranked]:
        return ()

    def learn(self, event: CrawlEvent, site: SiteView) -> Iterable[Ranked]:
        self.observed.append(event)
        raised = self.policy.raised if isinstance(event, VerifiedPair | PairingResult) else {}
        return [Ranked(Link(url(path)), value) for path, value in raised.items()]

    def questions(self) -> Sequence[PagePair | None]:
        questions = self.policy.asks.pop(self.pages, ())
        return list(questions)

    def outlook(self) -> Outlook:
        return Outlook(self.policy.found, self.policy.left, self.policy.budget)

    def snapshot(self) -> object:
        return [self.pages, [write_event(event) for event in self.observed]]


@dataclass
class Values:
    """Values of URLs by prefix; `asks` gives the questions after a number of pages."""

    values: Mapping[str, float] = field(default_factory=dict)
    usual: float = HIGH
    found: int = 1
    left: float = 1.0
    budget: float = math.inf
    asks: dict[int, Sequence[PagePair | None]] = field(default_factory=dict)
    raised: Mapping[str, float] = field(default_factory=dict)
    """what an answer makes of some paths"""
    made: list[Valued] = field(default_factory=list)

    def guide(self, langs: Sequence[str]) -> Valued:
        self.made.append(Valued(self))
        return self.made[-1]

    def restored(self, langs: Sequence[str], snapshot: Any) -> Valued:
        pages, observed = snapshot
        self.made.append(Valued(self, [read_event(*event) for event in observed], pages))
        return self.made[-1]

    def __repr__(self) -> str:
        return "Values()"

    def value(self, found: Url) -> float:
        path = found.removeprefix(HOME)
        return next((self.values[start] for start in self.values if path.startswith(start)),
                    self.usual)  # fmt: skip

    @property
    def observed(self) -> list[CrawlEvent]:
        return self.made[-1].observed


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "run"


def star(*paths: str) -> dict[Url, Script]:
    return web(page("/", *paths), *(page(path) for path in paths))


def numbered(count: int, folder: str = "") -> list[str]:
    return [f"/{folder}{number}" for number in range(count)]


# -- what a guide is told --------------------------------------------------------------------------


def test_guide_observes_every_url_that_is_not_a_page(folder: Path) -> None:
    answers = web(
        robots("User-agent: *\nDisallow: /closed"),
        page("/", "/gone", "/old", "/closed", "/away", "/a.pdf", "http://other.org/"),
        redirect("/old", "/new"), redirect("/away", "http://other.org/x"), page("/new"),
        status("/gone", 404),
    )  # fmt: skip
    policy = Values()
    Drive(folder, answers, policy).run()
    assert sorted(policy.observed, key=str) == sorted(
        [
            Missing(url("/gone"), "http_404"),
            Moved(url("/old"), url("/new")),
            Missing(url("/closed"), "robots"),
            Missing(url("/away"), "outside"),
        ],
        key=str,
    )
    with Store(folder) as store:
        store.db.execute("UPDATE guides SET maker = 'another version'")
        store.db.execute("DELETE FROM idle_guides")
    again = Values()
    with Drive(folder, answers, again, now=2000.0).opened():
        assert sorted(again.observed, key=str) == sorted(policy.observed, key=str), "it is rebuilt"
        assert again.made[-1].pages == policy.made[-1].pages


def test_page_that_is_tried_again_is_missing_only_when_it_is_given_up(folder: Path) -> None:
    policy = Values()
    answers = {**star("/a", "/b"), url("/a"): status("/a", 503)}
    Drive(folder, answers, policy).run()
    assert policy.observed == [Missing(url("/a"), "http_503")]


def test_highest_value_comes_first_and_values_may_fall(folder: Path) -> None:
    answers = web(page("/", "/a", "/b", "/c"), page("/c", "/a"), page("/a"), page("/b"))
    policy = Values({"/a": 0.6, "/b": 0.5, "/c": 0.9})
    drive = Drive(folder, answers, policy)
    value = policy.value
    policy.value = lambda found: (
        0.4 if found == url("/a") and policy.made[-1].pages > 1 else value(found)
    )  # type: ignore[method-assign]
    assert drive.run().order == ["/", "/c", "/b", "/a"]


# -- links that are not followed -------------------------------------------------------------------


def test_refused_links_hidden_from_guides_are_saved(folder: Path) -> None:
    loop = "/x/x/x/x"
    answers = web(page("/", "/a.pdf", "/b", "/c.jpg", loop), page("/b", "/a.pdf", "/d.zip"))
    policy = Values()
    drive = Drive(folder, answers, policy).run()
    assert drive.order == ["/", "/b"]
    states = drive.states()
    for path in ("/a.pdf", "/c.jpg", "/d.zip"):
        assert states[path] == (State.REFUSED, "not_html")
    assert states[loop][0] is State.REFUSED
    with Store(folder, write=False) as store:
        summary = summarise(store, ("en", "fr"))
    assert ("not_html", 3) in summary.skipped
    assert set(summary.skipped) <= set(summary.steps[0].lost)
    assert policy.observed == []


# -- waiting for answers ---------------------------------------------------------------------------

PAIR = PagePair(url("/a"), url("/b"), "en", "fr", 0.5, "test")


def when(drive: Drive, path: str) -> float:
    return next(at for fetched, at in drive.log if fetched == url(path))


@pytest.mark.parametrize("thinking", [0.5, 2.0, 600.0])
def test_doubtful_pages_wait_for_answers_for_a_limited_time(folder: Path, thinking: float) -> None:
    policy = Values({"/low": LOW}, asks={2: [PAIR]})
    answers = star("/high", "/low")
    drive = Drive(folder, answers, policy, politeness=ONE, thinking=thinking).run()
    asked = when(drive, "/high") + 0.1
    waited = when(drive, "/low") - asked
    assert min(thinking, MAX_ANSWER_WAIT) - 0.1 <= waited <= min(thinking, MAX_ANSWER_WAIT) + 0.5


def test_promising_pages_do_not_wait(folder: Path) -> None:
    policy = Values(asks={2: [PAIR]})
    drive = Drive(folder, star("/a", "/b"), policy, politeness=ONE, thinking=600.0).run()
    assert when(drive, "/b") - when(drive, "/a") < 1.0


def test_answer_that_makes_something_better_comes_before_the_doubtful(folder: Path) -> None:
    answers = star("/first", "/low", "/better")
    policy = Values({"/low": LOW, "/better": LOW / 2}, asks={2: [PAIR]}, raised={"/better": HIGH})
    drive = Drive(folder, answers, policy, politeness=ONE, thinking=1.0).run()
    assert drive.order == ["/", "/first", "/better", "/low"]


def test_crawl_does_not_end_while_a_guide_waits(folder: Path) -> None:
    policy = Values({"/new": HIGH}, asks={1: [None]}, raised={"/new": HIGH})
    drive = Drive(folder, web(page("/"), page("/new")), policy, thinking=50.0).run()
    assert drive.order == ["/", "/new"]
    assert drive.finished


# -- hosts that are not worth it -------------------------------------------------------------------


def test_host_with_nothing_but_doubtful_pages_is_not_even_asked_for_its_robots(
    folder: Path,
) -> None:
    good = [f"http://fr.example.org/{number}" for number in range(5)]
    poor = [f"http://de.example.org/{number}" for number in range(5)]
    answers = web(page("/", *poor, *good, *numbered(5)), *map(page, [*good, *poor, *numbered(5)]))
    policy = Values({"http://de.": 0.1})
    drive = Drive(folder, answers, policy, politeness=EAGER).run()
    order = [fetched for fetched, _ in drive.log]
    first = order.index("http://de.example.org/robots.txt")
    assert {*good, *map(url, numbered(5))} <= set(order[:first])
    assert "http://fr.example.org/robots.txt" in order[:first]
    assert set(poor) <= set(order[first:]), "last, but not forgotten"


def test_host_is_asked_as_soon_as_one_page_of_it_is_worth_it(folder: Path) -> None:
    other = "http://fr.example.org/good"
    answers = web(page("/", other, *numbered(5)), page(other), *map(page, numbered(5)))
    policy = Values({"/": LOW, "http://fr.": HIGH})
    drive = Drive(folder, answers, policy, politeness=EAGER).run()
    order = [fetched for fetched, _ in drive.log]
    assert order.index(other) < min(order.index(url(path)) for path in numbered(5))


def test_one_value_holds_over_all_hosts_of_a_site(folder: Path) -> None:
    good = [f"http://fr.example.org/{number}" for number in range(6)]
    answers = web(page("/", *good, *numbered(6)), *map(page, [*good, *numbered(6)]))
    policy = Values({"http://fr.": 0.9, "/": 0.2})
    order = [claimed for claimed, _ in Drive(folder, answers, policy, politeness=EAGER).run().log]
    assert max(order.index(path) for path in good) < min(order.index(url(p)) for p in numbered(6))


def test_policy_without_an_outlook_is_asked_nothing(folder: Path) -> None:
    drive = Drive(folder, star(*numbered(4)), limits=Limits(patience=2)).run()
    assert drive.order == ["/", *numbered(4)]
    assert drive.ends == {}


# -- patience --------------------------------------------------------------------------------------


def test_site_without_likely_pairs_is_ended_with_a_note(folder: Path) -> None:
    policy = Values({"/low": 0.01}, usual=0.5)
    answers = star(*numbered(3), *numbered(9, "low"))
    drive = Drive(folder, answers, policy, limits=Limits(patience=10)).run()
    assert drive.order == ["/", *numbered(3)]
    assert drive.ends == {"example.org": SiteEnd.UNLIKELY}
    assert drive.states()["/low0"][0] is State.QUEUED


def test_larger_patience_goes_on_where_a_smaller_one_ended(folder: Path) -> None:
    answers = star(*numbered(3), *numbered(9, "low"))
    Drive(folder, answers, Values({"/low": 0.01}, usual=0.5), limits=Limits(patience=10)).run()
    drive = Drive(
        folder, answers, Values({"/low": 0.01}), limits=Limits(patience=1000), now=2000.0
    ).run()
    assert drive.order == numbered(9, "low")
    assert drive.ends == {}


@pytest.mark.parametrize("patience", [None, 0])
def test_without_patience_all_is_fetched(folder: Path, patience: float | None) -> None:
    answers = star(*numbered(5))
    drive = Drive(folder, answers, Values(usual=1e-6), limits=Limits(patience=patience)).run()
    assert len(drive.order) == 6
    assert drive.ends == {}


def test_site_without_any_pair_ends_when_its_budget_is_spent(folder: Path) -> None:
    policy = Values(usual=0.9, found=0, budget=7)
    limits = Limits(share=0.97, patience=12)
    drive = Drive(folder, star(*numbered(20)), policy, politeness=ONE, limits=limits).run()
    assert len(drive.order) == 5, "robots.txt and the sitemap are downloads too"
    assert drive.ends == {"example.org": SiteEnd.NO_PAIRS}


def test_site_without_any_pair_is_fetched_to_its_end_where_no_share_is_asked(folder: Path) -> None:
    policy = Values(usual=0.001, found=0, budget=7)
    drive = Drive(folder, star(*numbered(20)), policy, limits=Limits(patience=12)).run()
    assert len(drive.order) == 21
    assert drive.ends == {}


@pytest.mark.parametrize(
    ("left", "value", "is_enough"),
    [(0.1, 0.001, True), (2.0, 0.001, False), (0.1, MIN_WORTH, False)],
)
def test_site_ends_when_the_requested_share_is_probably_found(
    folder: Path, left: float, value: float, is_enough: bool
) -> None:
    policy = Values(usual=value, found=20, left=left)
    drive = Drive(folder, star(*numbered(9)), policy, limits=Limits(share=0.97)).run()
    assert len(drive.order) == (1 + SIZE if is_enough else 10)
    assert drive.ends == ({"example.org": SiteEnd.ENOUGH} if is_enough else {})


def test_site_is_not_ended_while_something_is_being_found_out(folder: Path) -> None:
    policy = Values({"/low": 0.01}, usual=0.5, asks={4: [PAIR]}, raised={"/new": HIGH})
    answers = {**star(*numbered(3), "/low"), **web(page("/new"))}
    drive = Drive(folder, answers, policy, limits=Limits(patience=10), thinking=30.0).run()
    assert drive.order == ["/", *numbered(3), "/new"]
    assert drive.ends == {"example.org": SiteEnd.UNLIKELY}


def test_end_of_one_site_is_not_that_of_another(folder: Path) -> None:
    answers = {**star(*numbered(3)), **web(page("http://b.net/", "http://b.net/x"),
                                           page("http://b.net/x"))}  # fmt: skip
    policy = Values({"/": 0.01}, usual=0.9)
    seeds = [HOME + "/", "http://b.net/"]
    drive = Drive(folder, answers, policy, seeds=seeds, limits=Limits(patience=10)).run()
    assert drive.fetches("http://b.net/x") == 1
    assert drive.order.count("/0") == 0
    assert drive.ends == {"example.org": SiteEnd.UNLIKELY}


def test_site_is_not_ended_while_its_best_pages_are_to_be_asked_for_again(folder: Path) -> None:
    other = "http://fr.example.org/good"
    busy = status(other, 503, ("Retry-After", "30"))
    script = {url(other): lambda attempt: page(other) if attempt > 1 else busy}
    answers = {**star(*numbered(3), *numbered(3, "low"), other), **script}
    policy = Values({"/low": 0.01}, usual=0.5)
    drive = Drive(folder, answers, policy, limits=Limits(patience=10)).run()
    assert drive.fetches(other) == 2
    assert drive.states()[other][0] is State.FETCHED


# -- large sitemaps --------------------------------------------------------------------------------

LARGE = 2000  # entries


def large_site() -> dict[Url, Script]:
    paths = numbered(LARGE, "p")
    return web(page("/"), sitemap("/sitemap.xml", *map(url, paths)), *map(page, paths[:20]))


def known(drive: Drive) -> int:
    return len(drive.rows(f"SELECT id FROM urls WHERE url LIKE '{HOME}/p%'"))


@pytest.mark.parametrize("policy", [Values(), Hybrid(models=False)], ids=["values", "hybrid"])
def test_large_sitemap_is_processed_in_parts(folder: Path, policy) -> None:
    drive = Drive(folder, large_site(), policy)
    sizes, states = [], []
    with drive.opened() as crawl:
        claims = list(crawl.next(0.0, 1))
        drive.now = 1.0
        drive.report(crawl, claims[0])  # robots.txt
        (claim,) = crawl.next(3.0, 1)
        assert claim.kind is Kind.SITEMAP
        drive.report(crawl, claim)
        while True:
            wake = crawl.wake()
            crawl.next(3.0, 0)
            commit(crawl.store)
            sizes.append(known(drive))
            states.append(drive.states()["/sitemap.xml"][0])
            if states[-1] is State.FETCHED:
                break
            assert wake == 0.0, "the rest is taken in as soon as there is time"
    assert sizes == [*range(SITEMAP_PART, LARGE, SITEMAP_PART), LARGE]
    assert len(sizes) > 1
    assert states[:-1] == [State.CLAIMED] * (len(states) - 1)


def cut_off(folder: Path) -> Drive:
    """A crawl that was killed after processing a part of a sitemap."""
    drive = Drive(folder, large_site(), Values())
    with drive.opened() as crawl:
        for now in (0.0, 3.0):
            (claim,) = crawl.next(now, 1)
            drive.now = now
            drive.report(crawl, claim)
        crawl.next(3.0, 0)
        commit(crawl.store)
    assert 0 < known(drive) < LARGE
    return drive


def test_sitemap_interrupted_by_a_kill_is_processed_completely(folder: Path) -> None:
    before = known(cut_off(folder))
    again = Drive(folder, large_site(), Values(), now=100.0)
    with again.opened() as crawl:
        assert crawl.wake() == 0.0
        assert [
            claim.kind for claim in crawl.next(100.0, 8)
        ] == []  # the host is still busy with it
        commit(crawl.store)
        assert known(again) == before + SITEMAP_PART
    again.limits = Limits(max_pages=3)
    again.run()
    assert again.fetches("/sitemap.xml") == 0
    assert known(again) == LARGE
    assert again.states()["/sitemap.xml"][0] is State.FETCHED


def test_sitemap_whose_bytes_are_lost_is_fetched_again(folder: Path) -> None:
    cut_off(folder)
    with Store(folder) as store:
        store.db.execute("UPDATE fetches SET warc = NULL")
    again = Drive(folder, large_site(), Values(), limits=Limits(max_pages=3), now=100.0).run()
    assert again.fetches("/sitemap.xml") == 1
    assert known(again) == LARGE
    assert again.states()["/sitemap.xml"][0] is State.FETCHED
    last = Drive(folder, large_site(), Values(), limits=Limits(max_pages=4), now=200.0).run()
    assert last.fetches("/sitemap.xml") == 0
    assert len(last.order) == 1


def test_pages_are_fetched_between_the_parts_of_a_sitemap(folder: Path) -> None:
    drive = Drive(folder, large_site(), Values(), politeness=EAGER, limits=Limits(max_pages=5))
    drive.run()
    assert len(drive.order) == 5
    assert drive.finished


# -- guides that are released ----------------------------------------------------------------------

HOSTS = ("http://one.org", "http://two.org", "http://three.org")


def three_sites() -> dict[Url, Script]:
    """Sites of one, four and nine pages."""
    answers: list[Script] = []
    for number, host in enumerate(HOSTS):
        paths = [f"{host}/{n}" for n in range((number + 1) ** 2 - 1)]
        answers += [page(f"{host}/", *paths), *map(page, paths)]
    return web(*answers)  # type: ignore[arg-type]


def all_sites(folder: Path, **more: Any) -> Drive:
    return Drive(folder, three_sites(), Values(), seeds=[f"{host}/" for host in HOSTS], **more)


def test_guide_is_released_when_its_site_ends(folder: Path) -> None:
    drive = all_sites(folder).run()
    counts = [count for count, _ in groupby(drive.guides)]
    assert counts[-5:] == [3, 2, 1, 0], "one after the other"
    assert drive.rows("SELECT found, left FROM sites") == [(1, 1)] * 3


def test_guides_of_sites_that_are_stopped_are_released(folder: Path) -> None:
    drive = all_sites(folder, limits=Limits(max_pages=2)).run()
    assert drive.guides[-1] == 0


def test_guides_of_sites_whose_time_is_over_are_released_while_others_go_on(folder: Path) -> None:
    drive = all_sites(folder, limits=Limits(max_seconds=50.0))
    with drive.opened() as crawl:
        for claim in crawl.next(1000.0, 8):
            drive.report(crawl, claim)
        one, two, _ = crawl.next(1010.0, 8)
        for claim in (one, two):
            drive.report(crawl, claim)
        crawl.checkpoint(ByHand(crawl.store))
        assert len(crawl.guides) == 3
        crawl.next(1100.0, 8)
        crawl.checkpoint(ByHand(crawl.store))
        assert len(crawl.guides) == 1, "of the site that still waits for an answer"
        assert {site.end for site in crawl.hosts.sites.values()} == {SiteEnd.TIME_LIMIT}


def test_run_whose_sites_have_ended_opens_without_their_guides(folder: Path) -> None:
    drive = all_sites(folder, limits=Limits(max_pages=2)).run()
    again = all_sites(folder, limits=Limits(max_pages=2), now=2000.0)
    with again.opened() as crawl:
        assert len(crawl.guides) == 0
        assert crawl.outlook() == Outlook(3, 3)
        again.steer(crawl)
        assert again.order == []
        assert again.policy.made == [], "nor does it need them to find out that nothing is left"
    more = all_sites(folder, limits=Limits(max_pages=4), now=3000.0).run()
    assert max(more.guides) == 2, "those of the sites that come to life again"
    assert more.guides[-1] == 0
    assert len(drive.order) + len(more.order) == 1 + 4 + 4


# -- questions -------------------------------------------------------------------------------------


def test_questions_are_told_by_site_and_answered_to_its_guide(folder: Path) -> None:
    policy = Values(asks={1: [PAIR, None]})
    drive = Drive(folder, star("/a"), policy)
    asked: list[PairQuestion] = []
    answer_of = drive.answer_to

    def answering(question: PairQuestion) -> CrawlEvent:
        asked.append(question)
        return answer_of(question)

    drive.answer_to = answering
    drive.run()
    assert [question.pair for question in asked] == [PAIR, None]
    assert [type(event) for event in policy.observed] == [VerifiedPair, PairingResult]

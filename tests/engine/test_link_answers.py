from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import get_ident

import pytest
from support.searching import FakeWeb, Plain, page_of
from support.waiting import until

from diptych.engine.link_answers import MAX_BACK_LINKS, LinkQueryThread, query_links
from diptych.frontier.politeness import Politeness
from diptych.frontier.search import Discovery, LinkQuery, SearchSettings
from diptych.run.store import Store
from diptych.stages.discover.backforth import Obfc
from diptych.types import Failure, Lead, Link, Role, Url

A = Url("http://a.es/")


def machine(store: Store) -> Discovery:
    setting = SearchSettings(Politeness("TestBot/1.0", delay=0.0))
    return Discovery(store, [], Obfc(), Plain(), ("en", "es"), setting, now=0.0)


@dataclass
class Watched(FakeWeb):
    """A source that records the threads in which it is queried."""

    threads: set[int] = field(default_factory=set)

    def back_links(self, url: Url, limit: int) -> Sequence[Link] | Failure:
        self.threads.add(get_ident())
        return super().back_links(url, limit)


def take_until(lookups: LinkQueryThread, is_over: Callable[[], bool]) -> None:
    def taken() -> bool:
        if lookups.ready:
            lookups.collect()
        return is_over()

    until(taken)


def test_pages_are_queried_for_out_links_and_sites_for_back_links() -> None:
    web = FakeWeb({"http://hub.org/": page_of("en")}, backs={A: ["http://hub.org/"] * 500},
                  outs={"http://hub.org/": [A]})  # fmt: skip
    back = query_links(web, LinkQuery(A))
    assert isinstance(back, list)
    assert len(back) == MAX_BACK_LINKS
    lead = Lead(1, Url("http://hub.org/"), "hub.org", Role.BACK)
    assert query_links(web, LinkQuery(lead.url, lead)) == [Link(A)]
    assert query_links(web, LinkQuery(Url("http://other.org/"), lead)) is None


def test_answers_come_in_order_one_after_the_other(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        discovery = machine(store)
        sites = [Url(f"http://s{number}.es/") for number in range(10)]
        discovery._link_queries.extend(
            LinkQuery(url, site=number) for number, url in enumerate(sites)
        )
        web = Watched({}, backs={url: [f"http://hub{n}.org/"] for n, url in enumerate(sites)})
        with LinkQueryThread(discovery, web) as lookups:
            lookups.submit(0.0)
            assert lookups.waiting
            take_until(lookups, lambda: not lookups.waiting)
            assert not lookups.ready
        assert web.looked == sites
        assert len(web.threads) == 1
        assert get_ident() not in web.threads
        waiting = [lead.url for lead in discovery.leads.waiting(20)]
        assert waiting == [f"http://hub{number}.org/" for number in range(10)]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_error_of_ours_is_not_swallowed(tmp_path: Path) -> None:
    class Broken(FakeWeb):
        def back_links(self, url: Url, limit: int) -> Sequence[Link] | Failure:
            raise ZeroDivisionError

    with Store(tmp_path) as store:
        discovery = machine(store)
        discovery._link_queries.append(LinkQuery(A))
        with LinkQueryThread(discovery, Broken({})) as lookups:
            lookups.submit(0.0)
            with pytest.raises(RuntimeError, match="ended with an error"):
                take_until(lookups, lambda: False)

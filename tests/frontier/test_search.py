"""Algorithm 1 of Barbosa et al. 2011, step by step on simulated webs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from support.searching import FakeWeb, discovery, drive, page_of, search_of

from diptych.frontier.leads import Leads
from diptych.frontier.search import Budget
from diptych.protocols import DiscoverPolicy
from diptych.run.store import Store
from diptych.stages.discover.backforth import Cobfc, Obfc
from diptych.stages.discover.forward import Forward
from diptych.types import Failure, Link, Url

HUB = "http://hub.org/links.html"


def bilingual(host: str, *links: str) -> dict[str, str | int]:
    """A bilingual site of two pages."""
    return {
        f"http://{host}/": page_of("en", f"other -> http://{host}/es", *links),
        f"http://{host}/es": page_of("es"),
    }


def test_who_links_to_a_bilingual_site_leads_to_others(tmp_path: Path) -> None:
    web = FakeWeb(
        {
            **bilingual("a.es", "-> http://never.org/"),
            HUB: page_of("en", "http://a.es/", "http://b.es/", "http://mono.org/", "/inner.html"),
            **bilingual("b.es"),
            "http://mono.org/": page_of("en", "http://far.org/"),
        },
        backs={"http://a.es/": [HUB]},
    )
    found = discovery(tmp_path, web, Obfc(follow_seeds=False), "http://a.es/")
    assert found == ["a.es", "b.es"]
    assert web.asked == [
        "http://a.es/", "http://a.es/es", HUB, "http://b.es/", "http://b.es/es", "http://mono.org/",
    ]  # fmt: skip
    assert web.looked == ["http://a.es/", "http://b.es/"]


def web_of_all() -> FakeWeb:
    """A web with one case of everything: hubs, moved pages, refusals, dead ends."""
    return FakeWeb(
        {
            **bilingual("a.es"),
            HUB: page_of(
                "en", "http://b.es/", "http://gone.org/", "http://moved.org/", "http://shut.org/",
                "http://c.es/deep/page.html", "http://b.es/again.html", "http://x.org/a.pdf",
            ),
            **bilingual("b.es"),
            "http://moved.org/": "-> http://new.es/",
            **bilingual("new.es"),
            "http://shut.org/robots.txt": "User-agent: *\nDisallow: /",
            "http://shut.org/": page_of("en", "other -> /es"),
            "http://c.es/deep/page.html": "-> /deep/home.html",
            "http://c.es/deep/home.html": page_of("en", "other -> /deep/old-es.html"),
            "http://c.es/deep/old-es.html": "-> /deep/es.html",
            "http://c.es/deep/es.html": page_of("es"),
            "http://other.org/list": page_of("es", "http://b.es/", "http://d.es/"),
            **bilingual("d.es"),
        },
        backs={
            "http://a.es/": [HUB, "http://lost.org/links"],
            "http://b.es/": ["http://other.org/list", HUB],
        },
    )  # fmt: skip


def test_search_survives_all_kinds_of_responses(tmp_path: Path) -> None:
    web = web_of_all()
    found = discovery(tmp_path, web, Obfc(), "http://a.es/")
    assert set(found) == {"a.es", "b.es", "new.es", "c.es", "d.es"}
    assert "http://shut.org/" not in web.asked, "robots.txt forbids it"
    assert "http://x.org/a.pdf" not in web.asked, "that is no page"
    assert "http://b.es/again.html" not in web.asked, "one page of a site is enough"
    assert len(web.asked) == len(set(web.asked)), "nothing is fetched twice"
    with Store(tmp_path, write=False) as store:
        reasons = dict(store.db.execute("SELECT site, reason FROM leads WHERE reason != ''"))
        verdicts = {each.site: each for each in Leads(store, once=True).verdicts()}
    assert reasons == {
        "gone.org": "http_404", "moved.org": "moved", "shut.org": "robots", "lost.org": "http_404",
    }  # fmt: skip
    assert verdicts["c.es"].pages == (
        ("en", "http://c.es/deep/home.html"), ("es", "http://c.es/deep/es.html"),
    )  # fmt: skip
    assert verdicts["a.es"].downloads == 2
    assert not verdicts["hub.org"].decision.accept


@pytest.mark.parametrize("steps", range(1, 24, 2))
@pytest.mark.parametrize("width", [1, 3])
def test_an_interrupted_search_resumes(tmp_path: Path, steps: int, width: int) -> None:
    whole, cut = web_of_all(), web_of_all()
    expected = discovery(tmp_path / "whole", whole, Obfc(), "http://a.es/", width=width)
    for _ in range(60):
        found = discovery(tmp_path / "cut", cut, Obfc(), "http://a.es/", width=width, steps=steps)
        if set(found) == set(expected):
            break
    discovery(tmp_path / "cut", cut, Obfc(), "http://a.es/", width=width)
    assert sorted(cut.asked) == sorted(whole.asked)
    assert sorted(cut.looked) == sorted(whole.looked)
    assert sorted(found) == sorted(expected)


def test_links_that_a_source_knows_are_not_fetched(tmp_path: Path) -> None:
    web = FakeWeb(
        {**bilingual("a.es"), **bilingual("b.es"), **bilingual("hub.org")},
        backs={"http://a.es/": ["http://hub.org/"]},
        outs={"http://hub.org/": ["http://a.es/", "http://b.es/"]},
    )
    found = discovery(tmp_path, web, Obfc(), "http://a.es/")
    assert found == ["a.es", "b.es", "hub.org"], "the page that links is a lead as well"
    assert "http://hub.org/" in web.asked


@pytest.mark.parametrize(
    ("budget", "downloads", "sites"),
    [(Budget(downloads=4), 4, 1), (Budget(sites=2), 20, 2), (Budget(), 20, 5)],
)
def test_a_search_ends_with_its_budget(
    tmp_path: Path, budget: Budget, downloads: int, sites: int
) -> None:
    web = web_of_all()
    found = discovery(tmp_path, web, Obfc(), "http://a.es/", budget=budget)
    assert len(web.asked) <= downloads
    assert len(found) == sites


def test_a_larger_budget_resumes_the_search(tmp_path: Path) -> None:
    web = web_of_all()
    discovery(tmp_path, web, Obfc(), "http://a.es/", budget=Budget(sites=1))
    found = discovery(tmp_path, web, Obfc(), "http://a.es/")
    assert len(found) == 5
    assert len(web.asked) == len(set(web.asked))


def test_a_source_that_fails_is_noted_and_ends_nothing(tmp_path: Path) -> None:
    class Broken(FakeWeb):
        def back_links(self, url: Url, limit: int) -> Failure:
            return Failure(url, "no_json", "the service answers HTML")

        def out_links(self, url: Url, limit: int) -> Failure:
            return Failure(url, "no_json", "the service answers HTML")

    web = Broken({HUB: page_of("en", "http://a.es/"), **bilingual("a.es")})
    assert discovery(tmp_path, web, Obfc(), HUB) == ["a.es"]


def test_a_site_that_is_not_served_over_https_is_asked_over_http(tmp_path: Path) -> None:
    web = FakeWeb({**bilingual("a.es"), "https://a.es/robots.txt": 0, "https://a.es/": 0})
    assert discovery(tmp_path, web, Obfc(), "https://a.es/") == ["a.es"]


def test_a_site_without_https_is_asked_over_http_on_its_next_visit_too(tmp_path: Path) -> None:
    pages = {**bilingual("a.es"), "http://a.es/more": page_of("en")}
    web = FakeWeb({**pages, "https://a.es/robots.txt": 0})
    discovery(tmp_path, web, Forward(), "https://a.es/", "https://a.es/more")
    assert sorted(web.asked) == sorted(pages)


def test_a_host_that_forbids_all_by_an_error_is_not_asked_over_http(tmp_path: Path) -> None:
    web = FakeWeb({**bilingual("a.es"), "https://a.es/robots.txt": 503})
    assert discovery(tmp_path, web, Obfc(), "https://a.es/") == []
    assert web.asked == []


def test_learning_determines_the_next_leads(tmp_path: Path) -> None:
    """Sites called `hotel` are bilingual, sites called `shop` are not."""
    pages: dict[str, str | int] = {}
    links = []
    for number in range(60):
        pages |= bilingual(f"hotel-{number}.es")
        pages[f"http://shop-{number}.com/"] = page_of("en")
        links += [f"http://hotel-{number}.es/", f"http://shop-{number}.com/"]
    pages["http://hub.org/"] = page_of("en", *links)

    def found(policy: DiscoverPolicy, name: str) -> int:
        web = FakeWeb(pages)
        budget = Budget(downloads=140)
        return len(discovery(tmp_path / name, web, policy, "http://hub.org/", budget=budget))

    plain, learned = found(Obfc(), "obfc"), found(Cobfc(learns_every=20), "cobfc")
    assert plain <= 48
    assert learned >= 55


@pytest.mark.parametrize("width", [1, 64])
@pytest.mark.parametrize("most", [1, 2, 3, 7])
def test_the_download_budget_is_not_exceeded(tmp_path: Path, most: int, width: int) -> None:
    web = web_of_all()
    budget = Budget(downloads=most)
    discovery(tmp_path, web, Obfc(), HUB, "http://a.es/", budget=budget, width=width)
    assert len(web.asked) == most
    discovery(tmp_path, web, Obfc(), HUB, "http://a.es/", width=width)
    assert sorted(web.asked) == sorted(set(web.asked)), "and what was under way is taken up again"
    with Store(tmp_path, write=False) as store:
        assert store.count("SELECT count(*) FROM leads WHERE state != 2") == 0


def test_a_site_that_redirects_to_an_unreachable_host_is_given_up(tmp_path: Path) -> None:
    """The certificate is invalid over https, and http redirects to https."""
    web = FakeWeb(
        {"https://a.es/robots.txt": 0, "http://a.es/": "-> https://a.es/", **bilingual("b.es")}
    )
    assert discovery(tmp_path, web, Obfc(), "https://a.es/", "http://b.es/") == ["b.es"]
    with Store(tmp_path, write=False) as store:
        assert store.count("SELECT count(*) FROM leads WHERE state != 2") == 0
        (reason,) = [why for url, why in Leads(store, once=True).failed() if "a.es" in url]
    assert reason == "connection failed"


@pytest.mark.parametrize("policy", [Obfc(), Forward()])
def test_robots_txt_is_not_a_page(tmp_path: Path, policy: DiscoverPolicy) -> None:
    web = FakeWeb({HUB: page_of("en", "http://a.es/robots.txt", "http://a.es/robots.txt?x")})
    discovery(tmp_path, web, policy, HUB, "http://b.es/robots.txt")
    with Store(tmp_path, write=False) as store:
        assert store.count("SELECT count(*) FROM leads WHERE state != 2") == 0


def test_a_failed_lookup_is_repeated_later(tmp_path: Path) -> None:
    class Mended(FakeWeb):
        is_broken = True

        def back_links(self, url: Url, limit: int) -> Sequence[Link] | Failure:
            found = super().back_links(url, limit)
            return Failure(url, "http_500") if self.is_broken else found

    web = Mended(
        {**bilingual("a.es"), HUB: page_of("en", "http://b.es/"), **bilingual("b.es")},
        backs={"http://a.es/": [HUB]},
    )
    assert discovery(tmp_path, web, Obfc(), "http://a.es/") == ["a.es"]
    assert discovery(tmp_path, web, Obfc(), "http://a.es/") == ["a.es"]
    web.is_broken = False
    assert discovery(tmp_path, web, Obfc(), "http://a.es/") == ["a.es", "b.es"]
    assert web.looked == ["http://a.es/"] * 3 + ["http://b.es/"]


@pytest.mark.parametrize("page", ["http://a.es/", "http://a.es/es"])
def test_a_page_that_could_not_be_read_is_read_later(tmp_path: Path, page: str) -> None:
    web = FakeWeb({HUB: page_of("en", "http://a.es/", "http://b.es/"), **bilingual("a.es")})
    web.unreadable.add(page)
    for _ in range(2):
        assert discovery(tmp_path, web, Forward(), HUB) == []
    web.unreadable.clear()
    assert discovery(tmp_path, web, Forward(), HUB) == ["a.es"]
    asked = list(web.asked)
    assert discovery(tmp_path, web, Forward(), HUB) == ["a.es"]
    assert web.asked == asked
    assert [asked.count(url) for url in (HUB, page, "http://b.es/")] == [1, 3, 1]


def test_a_bilingual_site_needs_no_other_page(tmp_path: Path) -> None:
    """A page that could not be read does not undo the verdict."""
    dead = page_of("en", "other -> http://a.es/es", "other -> http://a.es/es2")
    web = FakeWeb({"http://a.es/": dead, "http://a.es/es": page_of("es")})
    web.unreadable.add("http://a.es/es2")
    for _ in range(2):
        assert discovery(tmp_path, web, Forward(), "http://a.es/") == ["a.es"]
    assert web.asked.count("http://a.es/es2") == 1


def test_a_dead_link_is_a_link_to_its_site(tmp_path: Path) -> None:
    web = FakeWeb({HUB: page_of("en", "http://a.es/dead"), **bilingual("a.es")})
    assert discovery(tmp_path, web, Obfc(), HUB) == ["a.es"]
    assert web.asked == [HUB, "http://a.es/dead", "http://a.es/", "http://a.es/es"]


def test_of_several_links_the_one_nearest_to_the_home_page_is_followed(tmp_path: Path) -> None:
    first = page_of("en", "http://a.es/deep/page.html", "http://z.org/")
    second = page_of("en", "http://a.es/")
    web = FakeWeb({HUB: first, "http://hub.com/": second, **bilingual("a.es")})
    assert discovery(tmp_path, web, Obfc(), HUB, "http://hub.com/") == ["a.es"]
    assert "http://a.es/deep/page.html" not in web.asked


def test_a_site_whose_pages_are_missing_is_given_up(tmp_path: Path) -> None:
    links = [f"http://gone.org/{number}" for number in range(9)]
    web = FakeWeb({HUB: page_of("en", *links)})
    discovery(tmp_path, web, Forward(), HUB)
    assert len([url for url in web.asked if "gone.org" in url]) <= 4


def test_a_site_that_has_moved_is_known_by_its_old_name_too(tmp_path: Path) -> None:
    web = FakeWeb({"http://old.org/": "-> http://new.es/", **bilingual("new.es")})
    assert discovery(tmp_path, web, Obfc(), "http://old.org/") == ["new.es"]
    with Store(tmp_path, write=False) as store:
        (verdict,) = Leads(store, once=True).verdicts()
        assert Leads(store, once=True).failed() == []
    assert (verdict.named, verdict.url) == ("http://old.org/", "http://new.es/")


def test_a_site_does_not_move_without_end(tmp_path: Path) -> None:
    web = FakeWeb({f"http://s{n}.org/": f"-> http://s{n + 1}.org/" for n in range(300)})
    assert discovery(tmp_path, web, Obfc(), "http://s0.org/") == []
    assert len(web.asked) < 10


def test_a_site_is_visited_by_one_lead_at_a_time(tmp_path: Path) -> None:
    """Two pages of one site link to the same site, and their lookups take a while."""
    pages = [f"http://hub.org/{number}" for number in range(3)]
    web = FakeWeb(
        {**bilingual("a.es"), **{page: page_of("en") for page in pages}},
        backs={"http://a.es/": pages},
    )
    with Store(tmp_path) as store:
        machine = search_of(store, web, Obfc(), ["http://a.es/"], width=8)
        drive(machine, web, 4)
        back = machine.link_queries(9.0)
        assert [look.url for look in back] == ["http://a.es/"]
        machine.answered(back[0], web.back_links(back[0].url, 9), 9.0)
        assert machine.next(9.0, 8) == []
        waiting = machine.link_queries(9.0)
        assert [look.url for look in waiting] == pages[:1]
        assert machine.next(9.0, 8) == [], "the others wait for it"
        assert not machine.has_link_queries
        machine.answered(waiting[0], None, 9.0)
        assert [claim.url for claim in machine.next(9.0, 8)] == ["http://hub.org/robots.txt"]
        assert not machine.has_link_queries


def test_a_host_that_was_given_up_is_not_asked_again(tmp_path: Path) -> None:
    """It is only tried again by another invocation."""
    pages = ["http://shut.org/1", "http://shut.org/2"]
    web = FakeWeb(
        {**bilingual("a.es"), "http://shut.org/robots.txt": 0}, backs={"http://a.es/": pages}
    )
    discovery(tmp_path, web, Obfc(), "http://a.es/")
    with Store(tmp_path, write=False) as store:
        asked = (
            "SELECT count(*) FROM fetches JOIN urls ON urls.key = fetches.url WHERE urls.url = ?"
        )
        assert store.count(asked, "http://shut.org/robots.txt") <= 3

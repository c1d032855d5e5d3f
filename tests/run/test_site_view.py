from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.stores import begin

from diptych.frontier.queue import Entry, Frontier
from diptych.protocols import SiteView
from diptych.run.site_view import StoreView
from diptych.run.store import Store
from diptych.run.warc import Pointer
from diptych.text.urls import url_key
from diptych.types import Link, Page, PageRecord, Site, Sketch, Url

SITE = Site("example.org", (Url("http://example.org/"),))


def url(path: str) -> Url:
    return Url(f"http://example.org{path}")


class Builder:
    """Puts pages and redirects into a store as a crawl would."""

    def __init__(self, store: Store) -> None:
        self.store = store
        begin(store)
        self.id = store.site_id("example.org")
        store.db.execute("INSERT INTO hosts (id, origin, site) VALUES (1, 'http://example.org', 1)")
        store.archive.add("/archive.warc.gz", 1)
        self.frontier = Frontier(store.db)

    def page(
        self, path: str, digest: str = "", lang: str = "en", canonical: str = "", *links: Link,
        text: str = "",
    ) -> Builder:  # fmt: skip
        self.frontier.add([Entry(url(path), 1, 0.0)])
        record = PageRecord(
            url(path), lang, (), path, 1, 1, 1, digest or path,
            canonical=url(canonical) if canonical else None,
        )  # fmt: skip
        sketch = Sketch("", 0, {}, blocks=((crc32((text or digest or path).encode()), 90.0),))
        self.store.save_page(self.id, Page(record, links, (), None, sketch), Pointer(1, 0, 1))
        return self

    def redirect(self, source: str, target: str) -> Builder:
        self.frontier.add([Entry(url(source), 1, 0.0), Entry(url(target), 1, 0.0)])
        self.store.db.execute(
            "UPDATE urls SET redirect = ? WHERE key = ?",
            (url_key(url(target)), url_key(url(source))),
        )
        return self

    def view(self) -> StoreView:
        return StoreView(self.store, SITE, self.id, ("en", "fr"))


@pytest.fixture
def build(tmp_path: Path) -> Iterator[Builder]:
    with Store(tmp_path) as store:
        yield Builder(store)


def paths(view: StoreView) -> list[str]:
    return sorted(page.removeprefix("http://example.org") for page in view.pages)


def test_pages_that_differ_are_all_there(build: Builder) -> None:
    view = build.page("/a").page("/b", lang="fr").page("/c", lang="").view()
    assert paths(view) == ["/a", "/b", "/c"]
    assert view.pages[url("/b")].lang == "fr"
    assert [view.resolve(url(path)) for path in ("/a", "/unknown")] == [url("/a"), None]


def test_view_is_a_site_view(build: Builder) -> None:
    view: SiteView = build.page("/a").view()
    assert view.site == SITE
    assert view.langs == ("en", "fr")


def test_redirects_lead_to_their_page(build: Builder) -> None:
    view = build.page("/new").redirect("/old", "/new").redirect("/older", "/old").view()
    assert paths(view) == ["/new"]
    assert view.resolve(url("/old")) == view.resolve(url("/older")) == url("/new")


def test_redirects_that_lead_nowhere_are_no_page(build: Builder) -> None:
    build.redirect("/a", "/gone").redirect("/b", "/c").redirect("/c", "/b").redirect("/d", "/d")
    view = build.page("/page").view()
    assert [view.resolve(url(path)) for path in ("/a", "/b", "/c", "/d")] == [None] * 4


def test_page_that_was_fetched_counts_more_than_a_redirect(build: Builder) -> None:
    view = build.page("/a").page("/b").redirect("/a", "/b").view()
    assert view.resolve(url("/a")) == url("/a")


def test_shortest_url_stands_for_its_copies(build: Builder) -> None:
    view = build.page("/a/index.html", "D").page("/a/", "D").page("/b/", "D").page("/c", "E").view()
    assert paths(view) == ["/a/", "/c"]
    assert view.resolve(url("/a/index.html")) == view.resolve(url("/b/")) == url("/a/")


def test_canonical_page_stands_for_its_variants(build: Builder) -> None:
    build.page("/a", text="T").page("/a?print=1", canonical="/a", text="T")
    view = build.page("/b", canonical="/a", text="T").view()
    assert paths(view) == ["/a"]
    assert view.resolve(url("/a?print=1")) == view.resolve(url("/b")) == url("/a")
    assert view.canonical_holds == {url("/a?print=1"): True, url("/b"): True}


def test_canonical_page_with_other_text_represents_nothing(build: Builder) -> None:
    view = build.page("/").page("/a", canonical="/").page("/b", canonical="/").view()
    assert paths(view) == ["/", "/a", "/b"]
    assert view.canonical_holds == {url("/a"): False, url("/b"): False}


def test_canonical_page_is_not_believed_where_no_text_is_known(build: Builder) -> None:
    view = build.page("/", text="T").page("/a", canonical="/", text="T").view()
    build.store.db.execute("DELETE FROM sketches WHERE url = ?", (url_key(url("/")),))
    assert paths(view) == ["/", "/a"]
    assert view.canonical_holds == {}


def test_canonical_page_in_another_language_represents_nothing(build: Builder) -> None:
    build.page("/en", lang="en", text="T")
    view = build.page("/fr", lang="fr", canonical="/en", text="T").view()
    assert paths(view) == ["/en", "/fr"]
    assert view.resolve(url("/fr")) == url("/fr")


@pytest.mark.parametrize(("lang", "kept"), [("en-GB", 1), ("eng", 1), ("fr", 2), ("de", 2)])
def test_canonical_page_may_be_in_a_variety_of_the_language(
    build: Builder, lang: str, kept: int
) -> None:
    build.page("/a", lang="en", text="T")
    view = build.page("/b", lang=lang, canonical="/a", text="T").view()
    assert len(view.pages) == kept


def test_canonical_page_that_was_not_fetched_represents_nothing(build: Builder) -> None:
    assert paths(build.page("/a", canonical="/unknown").view()) == ["/a"]


def test_canonical_page_may_be_behind_a_redirect(build: Builder) -> None:
    build.page("/a", text="T").redirect("/moved", "/a")
    view = build.page("/b", canonical="/moved", text="T").view()
    assert view.resolve(url("/b")) == url("/a")


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_canonical_pages_in_a_circle_or_a_chain_lose_nothing(
    build: Builder, order: tuple[int, ...]
) -> None:
    names = ["/x", "/y", "/z"]
    for number in order:
        build.page(names[number], canonical=names[(number + 1) % 3], text="T")
    view = build.view()
    assert len(view.pages) >= 1
    assert all(view.resolve(url(name)) in view.pages for name in names)


@pytest.mark.parametrize(
    ("short", "long"), [("/", "/index.html"), ("/a/", "/a/index.php?lang=en"), ("/b", "/a")]
)
def test_canonical_copy_with_the_longer_url_is_not_lost(
    build: Builder, short: str, long: str
) -> None:
    # The same bytes at both addresses, and both say that the second is the right one.
    view = build.page(short, "D", canonical=long).page(long, "D").view()
    assert paths(view) == [long]
    assert view.resolve(url(short)) == view.resolve(url(long)) == url(long)


def test_canonical_page_may_itself_be_a_copy(build: Builder) -> None:
    build.page("/a", "D").page("/aa", "D")
    view = build.page("/b", canonical="/aa", text="D").view()
    assert paths(view) == ["/a"]
    assert view.resolve(url("/b")) == url("/a")


def test_links_of_copies_belong_to_the_page_that_represents_them(build: Builder) -> None:
    first, second = Link(url("/x"), "a", "", "one"), Link(url("/y"), "alternate", "fr")
    build.page("/a", "D", "en", "", first).page("/a/index.html", "D", "en", "", second)
    view = build.view()
    assert list(view.links()) == [(url("/a"), first), (url("/a"), second)]
    assert list(view.links(rel="alternate")) == [(url("/a"), second)]
    assert list(view.links(rel="canonical")) == []


def test_links_come_in_the_order_of_pages_and_as_they_stand_on_them(build: Builder) -> None:
    links = [Link(url(f"/{number}")) for number in range(5)]
    build.page("/b", "", "en", "", *links).page("/a", "", "en", "", *reversed(links))
    found = list(build.view().links())
    assert [page for page, _ in found] == [url("/a")] * 5 + [url("/b")] * 5
    assert [link for _, link in found] == [*reversed(links), *links]


def test_announced_translations_are_links_of_pages_that_were_fetched(build: Builder) -> None:
    link = Link(url("/fr"), "alternate", "fr")
    build.page("/en").redirect("/old", "/en")
    build.store.announce(build.id, [(url("/en"), link), (url("/gone"), link), (url("/old"), link)])
    assert list(build.view().links(rel="alternate")) == [(url("/en"), link)] * 2


def test_sites_of_one_run_are_kept_apart(build: Builder) -> None:
    build.page("/a")
    other = StoreView(build.store, Site("b.net", ()), build.store.site_id("b.net"), ())
    assert dict(other.pages) == {}
    assert list(other.links()) == []
    assert other.resolve(url("/a")) is None


def test_redirects_of_other_sites_are_left_alone(build: Builder) -> None:
    build.page("/a").redirect("/here", "/a").redirect("/there", "/a")
    other = build.store.site_id("b.net")
    row = (2, "http://b.net", other)
    build.store.db.execute("INSERT INTO hosts (id, origin, site) VALUES (?, ?, ?)", row)
    query = "UPDATE urls SET host = 2 WHERE key = ?"
    build.store.db.execute(query, (url_key(url("/there")),))
    view = build.view()
    assert [view.resolve(url(path)) for path in ("/here", "/there")] == [url("/a"), None]


names = st.sampled_from(["/a", "/bb", "/ccc", "/dddd", "/e"])
pages = st.dictionaries(
    names,
    st.tuples(
        st.sampled_from("DEF"), st.sampled_from(["en", "fr", ""]), st.one_of(st.just(""), names)
    ),
    max_size=5,
)
redirects = st.dictionaries(
    st.sampled_from(["/r", "/s", "/t"]), names | st.sampled_from(["/r", "/s"])
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Builder]:
    with Store(tmp_path_factory.mktemp("shared")) as store:
        yield Builder(store)


@given(pages=pages, redirects=redirects)
@example(pages={"/a": ("D", "en", "/bb"), "/bb": ("D", "en", "")}, redirects={})
@example(pages={"/a": ("D", "en", ""), "/bb": ("E", "en", "/a")}, redirects={"/r": "/bb"})
def test_every_page_is_represented_by_a_page_of_the_view(
    shared: Builder, pages: dict[str, tuple[str, str, str]], redirects: dict[str, str]
) -> None:
    shared.store.db.execute("DELETE FROM pages")
    shared.store.db.execute("DELETE FROM urls")
    for path, (digest, lang, canonical) in pages.items():
        shared.page(path, digest, lang, "" if canonical == path else canonical, text="T")
    for source, target in redirects.items():
        shared.redirect(source, target)
    view = shared.view()
    for path in pages:
        stand_in = view.resolve(url(path))
        assert stand_in is not None
        assert stand_in in view.pages
        assert view.resolve(stand_in) == stand_in
    for source in redirects:
        stand_in = view.resolve(url(source))
        assert stand_in is None or stand_in in view.pages

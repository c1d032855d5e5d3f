"""Pages that are visited again: what is asked, and what becomes of the stored page."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from support.driving import EAGER, Drive, failure, page, redirect, robots, sitemap, status, url, web
from support.stores import begin

from diptych.frontier.crawl import Crawl
from diptych.frontier.politeness import Limits
from diptych.frontier.queue import Claim
from diptych.frontier.retries import RETRIED
from diptych.frontier.revisits import CHECKED, validators_of
from diptych.page.answer import ReadAnswer
from diptych.reason import Reason
from diptych.run.store import Store
from diptych.run.updates import Updates, Visited
from diptych.run.warc import compose_revisit
from diptych.text.urls import url_key
from diptych.types import Response

ROBOTS = robots("User-agent: *\nAllow: /")
LONG = "A text that is long enough to be recognised by its hash, as most pages are. " * 3


@dataclass
class Visit(Drive):
    """A crawl whose server knows entity tags; `unchanged` are the paths answered with 304."""

    unchanged: list[str] = field(default_factory=list)

    def report(self, crawl: Crawl, claim: Claim) -> None:
        known, answer = crawl.validators(claim), self.answer(claim)
        is_same = known is not None and isinstance(answer, Response)
        if is_same and known and known.etag and known.etag == answer.header("ETag"):  # type: ignore[union-attr]
            self.unchanged.append(claim.url.removeprefix("http://example.org"))
            begin(crawl.store)
            record = compose_revisit(answer, known.fetched_at)  # type: ignore[arg-type]
            pointer = crawl.store.archive.append(record, self.now)
            reading = ReadAnswer(claim.url, 304, 0, self.now)
            crawl.fetched(claim, reading, self.now, pointer)
            return
        super().report(crawl, claim)


def tagged(answer: Response, tag: str = "1", at: float = 0.0) -> Response:
    return replace(answer, headers=(*answer.headers, ("ETag", f'"{tag}"')), fetched_at=at)


def begin_update(folder: Path, now: float = 5000.0) -> None:
    with Store(folder) as store:
        Updates(store).begin(now, forbidden=Reason.ROBOTS, retried=RETRIED)


def visit(folder: Path, answers: dict, **more: object) -> Visit:
    begin_update(folder)
    drive = Visit(folder, answers, politeness=EAGER, now=6000.0, **more)  # type: ignore[arg-type]
    return drive.run()


def outcomes(folder: Path) -> dict[str, str]:
    with Store(folder, write=False) as store:
        rows = store.db.execute(
            "SELECT urls.url, outcome FROM visits JOIN urls ON urls.key = visits.url"
        )
        return {where.removeprefix("http://example.org"): outcome for where, outcome in rows}


def asked(drive: Drive) -> list[str]:
    return [where.removeprefix("http://example.org") for where, _ in drive.log]


SITE = (
    tagged(page("/", "/a", "/b", text=LONG)),
    tagged(page("/a", text=LONG + "a")),
    tagged(page("/b", text=LONG + "b")),
)


@pytest.fixture
def mined(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    Visit(folder, web(ROBOTS, *SITE), politeness=EAGER).run()
    return folder


def test_pages_that_have_not_changed_are_kept(mined: Path) -> None:
    with Store(mined, write=False) as store:
        before = store.db.execute("SELECT * FROM pages ORDER BY url").fetchall()
    drive = visit(mined, web(ROBOTS, *SITE))
    assert sorted(drive.unchanged) == ["/", "/a", "/b"]
    assert asked(drive).count("/robots.txt") == 1
    assert outcomes(mined) == dict.fromkeys(("/", "/a", "/b"), Visited.UNCHANGED)
    with Store(mined, write=False) as store:
        assert store.db.execute("SELECT * FROM pages ORDER BY url").fetchall() == before
        response = store.answer(url("/a"))
        assert response is not None
        assert response.body, "304 has no body, so it is no answer"
        seen = "SELECT seen_at FROM visits WHERE url = ?"
        assert store.db.execute(seen, (url_key(url("/a")),)).fetchone()[0] > 5000


def test_changed_and_new_and_vanished_pages(mined: Path) -> None:
    new = (
        tagged(page("/", "/a", "/b", "/c", text=LONG + "!"), "2"),
        status("/a", 404),
        tagged(page("/b", text=LONG + "b")),
        tagged(page("/c", text=LONG + "c")),
    )
    visit(mined, web(ROBOTS, *new))
    assert outcomes(mined) == {
        "/": Visited.CHANGED, "/a": Visited.VANISHED, "/b": Visited.UNCHANGED, "/c": Visited.NEW,
    }  # fmt: skip
    with Store(mined, write=False) as store:
        assert store.page(url("/a")) is None
        assert store.page(url("/c")) is not None
        response = store.response(url("/"))
        assert response is not None
        assert b"!" in response.body


@pytest.mark.parametrize(
    ("answer", "stays"),
    [
        (failure("/a", "timeout"), True),
        (status("/a", 503), True),
        (status("/a", 403), True),
        (status("/a", 410), False),
        (status("/a", 200, ("Content-Type", "application/pdf")), False),
        (redirect("/a", "/c"), False),
    ],
)
def test_only_pages_that_are_gone_vanish(mined: Path, answer: Response, *, stays: bool) -> None:
    visit(mined, web(ROBOTS, SITE[0], answer, SITE[2], page("/c", text=LONG + "c")))
    with Store(mined, write=False) as store:
        assert (store.page(url("/a")) is not None) is stays
    assert (outcomes(mined).get("/a") == Visited.VANISHED) is not stays


@pytest.mark.parametrize(
    ("change", "is_same", "links"),
    [
        ((b"<p>", b'<p class="x">'), True, {"/b"}),
        ((b"<p>", b'<link rel="alternate" hreflang="fr" href="/c"><p>'), True, {"/b", "/c"}),
        ((b"/b", b"/c"), False, {"/c"}),
        ((b"<p>", b"<h1>A head</h1><p>"), False, {"/b"}),
        ((b"<p>", b"<p><b>"), False, {"/b"}),
    ],
)
def test_page_with_the_same_tree_keeps_its_record_and_gets_its_new_links(
    tmp_path: Path, change: tuple[bytes, bytes], links: set[str], *, is_same: bool
) -> None:
    site = (*SITE[:1], tagged(page("/a", "/b", text=LONG + "a")), SITE[2])
    Visit(tmp_path, web(ROBOTS, *site), politeness=EAGER, with_sketches=True).run()
    with Store(tmp_path) as store:
        before = dict(store.db.execute("SELECT url, digest FROM pages"))
        store.begin_learning()
        store.save_lexicons({})
        assert not store.begin_learning()
    other = replace(
        site[1],
        body=site[1].body.replace(*change, 1),
        headers=(site[1].headers[0], ("ETag", '"2"')),
    )
    new = page("/c", text=LONG + "c")
    visit(tmp_path, web(ROBOTS, site[0], other, site[2], new), with_sketches=True)
    assert outcomes(tmp_path)["/a"] == (Visited.SAME_TEXT if is_same else Visited.CHANGED)
    key = url_key(url("/a"))
    with Store(tmp_path) as store:
        after = dict(store.db.execute("SELECT url, digest FROM pages"))
        assert (after[key] == before[key]) is is_same
        known = store.page(url("/a"))
        assert known is not None
        assert {link.url for link in known.links} == set(map(url, links))
        assert store.begin_learning() is (not is_same or links != {"/b"})


def test_page_whose_tree_is_not_stored_is_replaced(mined: Path) -> None:
    other = replace(
        SITE[1],
        body=SITE[1].body.replace(b"<p>", b'<p class="x">'),
        headers=(*SITE[1].headers[:1], ("ETag", '"2"')),
    )
    visit(mined, web(ROBOTS, SITE[0], other, SITE[2]))
    assert outcomes(mined)["/a"] == Visited.CHANGED


def test_without_validators_the_same_bytes_are_the_same_page(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    plain = (page("/", "/a", text=LONG), page("/a", text=LONG + "a"))
    Drive(folder, web(ROBOTS, *plain), politeness=EAGER).run()
    drive = visit(folder, web(ROBOTS, *plain))
    assert drive.unchanged == []
    assert outcomes(folder) == dict.fromkeys(("/", "/a"), Visited.UNCHANGED)


def test_pages_of_pairs_come_first(mined: Path) -> None:
    with Store(mined) as store:
        store.db.execute("UPDATE pages SET lang = ''")
        row = url_key(url("/b")), url_key(url("/nowhere"))
        store.db.execute(
            "INSERT INTO pairs (id, site, left, right, left_lang, right_lang, score, evidence)"
            " VALUES (1, 1, ?, ?, 'en', 'fr', 1, '')",
            row,
        )
        store.db.execute("INSERT INTO decisions VALUES (1, 1, 1.0, '', '')")
    order = asked(visit(mined, web(ROBOTS, *SITE), room=1))
    assert order.index("/b") < order.index("/a")


def test_limit_of_pages_counts_those_of_this_update(mined: Path) -> None:
    drive = visit(mined, web(ROBOTS, *SITE), limits=Limits(max_pages=2))
    assert len(drive.unchanged) == 2
    with Store(mined) as store:
        updates = Updates(store)
        updates.settle(is_whole=True)
        updates.close(7000.0)
        assert updates.last().pages == {"unchanged": 2, "unvisited": 1}  # type: ignore[union-attr]
    later = Drive(mined, web(ROBOTS, *SITE), politeness=EAGER, now=7001.0).run()
    assert asked(later) == [], "mining goes on as before: every page is there"


@pytest.mark.parametrize("kill_after", range(1, 6))
def test_killed_update_goes_on(mined: Path, kill_after: int) -> None:
    new = (tagged(page("/", "/a", "/b", "/c", text=LONG + "!"), "2"), status("/a", 404), SITE[2],
           page("/c", text=LONG + "c"))  # fmt: skip
    begin_update(mined)
    Visit(mined, web(ROBOTS, *new), politeness=EAGER, now=6000.0, room=1).run(kill_after=kill_after)
    begin_update(mined, 6500.0)
    with Store(mined, write=False) as store:
        assert store.count("SELECT count(*) FROM updates") == 1
    Visit(mined, web(ROBOTS, *new), politeness=EAGER, now=7000.0).run()
    assert outcomes(mined) == {
        "/": Visited.CHANGED, "/a": Visited.VANISHED, "/b": Visited.UNCHANGED, "/c": Visited.NEW,
    }  # fmt: skip
    with Store(mined, write=False) as store:
        twice = "SELECT count(*) FROM fetches JOIN updates ON fetches.id > first_fetch GROUP BY url"
        assert {count for (count,) in store.db.execute(twice)} == {1}


def test_what_robots_txt_now_forbids_is_not_asked_and_stays(mined: Path) -> None:
    drive = visit(mined, web(robots("User-agent: *\nDisallow: /a"), *SITE))
    assert "/a" not in asked(drive)
    with Store(mined, write=False) as store:
        assert store.page(url("/a")) is not None


def test_missing_page_is_asked_once_when_it_is_linked_again(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    old = (tagged(page("/", "/a", "/b", "/gone", text=LONG)), *SITE[1:], status("/gone", 404))
    Visit(folder, web(ROBOTS, *old), politeness=EAGER).run()
    assert "/gone" not in asked(visit(folder, web(ROBOTS, *old)))
    with Store(folder) as store:
        Updates(store).close(6900.0)
    home = tagged(page("/", "/a", "/b", "/gone", text=LONG + "!"), "2")
    other = tagged(page("/a", "/gone", text=LONG + "?"), "2")
    new = (home, other, SITE[2], status("/gone", 404))
    assert asked(visit(folder, web(ROBOTS, *new))).count("/gone") == 1
    assert outcomes(folder)["/gone"] == Visited.MISSING


def dated(paths: list[str], day: str) -> Response:
    items = "".join(f"<url><loc>{url(p)}</loc><lastmod>{day}</lastmod></url>" for p in paths)
    return status("/sitemap.xml", 200, body=f"<urlset>{items}</urlset>".encode())


MANY = [f"/p{number}" for number in range(40)]
AT = 1_700_000_000.0


def many(text: str = "") -> list[Response]:
    home = replace(page("/", *MANY, text=LONG), fetched_at=AT)
    return [
        home,
        *(replace(page(path, text=f"{LONG}{path}{text}"), fetched_at=AT) for path in MANY),
    ]


@pytest.mark.parametrize("is_lie", [False, True])
def test_pages_that_a_sitemap_calls_unchanged_are_not_asked(
    tmp_path: Path, *, is_lie: bool
) -> None:
    folder = tmp_path / "run"
    listed = dated(MANY, "2023-10-01")
    Drive(folder, web(ROBOTS, listed, *many()), politeness=EAGER, now=AT).run()
    begin_update(folder, AT + 100)
    answers = web(ROBOTS, listed, *many(" changed" if is_lie else ""))
    drive = Drive(folder, answers, politeness=EAGER, now=AT + 101).run()
    again = {path for path in asked(drive) if path in MANY}
    if is_lie:
        assert again == {*MANY}, "one page that has changed shows that the sitemap is wrong"
        return
    checked = {path for path in MANY if (url_key(url(path)) + 1) % CHECKED == 0}
    assert again == checked
    assert 0 < len(checked) < len(MANY) / 2
    found = outcomes(folder)
    assert {path for path in MANY if found[path] == Visited.NOT_ASKED} == {*MANY} - checked


@pytest.mark.parametrize("day", ["2023-11-14", "2023-11-14T22:00:00Z", "2024-01-01", "soon"])
def test_pages_that_may_have_changed_since_are_asked(tmp_path: Path, day: str) -> None:
    folder = tmp_path / "run"
    Drive(folder, web(ROBOTS, dated(MANY, day), *many()), politeness=EAGER, now=AT).run()
    begin_update(folder, AT + 100)
    answers = web(ROBOTS, dated(MANY, day), *many())
    drive = Drive(folder, answers, politeness=EAGER, now=AT + 101).run()
    assert {path for path in asked(drive) if path in MANY} == {*MANY}


@pytest.mark.parametrize(
    "headers",
    [
        (("ETag", '"a\x01"'),),
        (("ETag", 'a"'),),
        (("ETag", '"' + "a" * 600 + '"'),),
        (("ETag", '"a"\r\nCookie: b'),),
        (("Last-Modified", "Tue, 14 Nov 2023 22:13:20 GMT\nCookie: b"),),
        (("Last-Modified", "2023-11-14"),),
        (),
    ],
)
def test_hostile_validators_are_not_sent_back(headers: tuple[tuple[str, str], ...]) -> None:
    assert validators_of(Response(url("/"), 200, headers, b"", 0.0)) is None


def test_validators_are_sent_as_they_came() -> None:
    headers = (("etag", 'W/"a-b"'), ("last-modified", "Tue, 14 Nov 2023 22:13:20 GMT"))
    known = validators_of(Response(url("/"), 200, headers, b"", 0.0))
    assert known is not None
    assert known.headers() == {
        "If-None-Match": 'W/"a-b"', "If-Modified-Since": "Tue, 14 Nov 2023 22:13:20 GMT",
    }  # fmt: skip


# -- translations that sitemaps announce -----------------------------------------------------------

ANNOUNCING = sitemap("/sitemap.xml", url("/a"), alternates={"en": url("/a"), "fr": url("/b")})
ANNOUNCED = {("/a", "/a", "en"), ("/a", "/b", "fr")}


def announced(folder: Path) -> set[tuple[str, str, str]]:
    with Store(folder, write=False) as store:
        rows = store.db.execute("SELECT source, target, hreflang FROM announced").fetchall()
        short = [str(each).removeprefix("http://example.org") for row in rows for each in row]
        return set(zip(short[::3], short[1::3], short[2::3], strict=True))


def visit_to_the_end(folder: Path, answers: dict) -> None:
    with visit(folder, answers).opened() as crawl:
        crawl.finish(interrupted=False)


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        (ANNOUNCING, ANNOUNCED),
        (status("/sitemap.xml", 503), ANNOUNCED),
        (failure("/sitemap.xml", "timeout"), ANNOUNCED),
        (status("/sitemap.xml", 404), set()),
        (sitemap("/sitemap.xml", url("/a")), set()),
    ],
    ids=["same", "busy", "silent", "gone", "other"],
)
def test_translations_of_a_sitemap_that_cannot_be_read_are_kept(
    tmp_path: Path, answer: object, left: set[tuple[str, str, str]]
) -> None:
    folder = tmp_path / "run"
    Visit(folder, web(ROBOTS, *SITE, ANNOUNCING), politeness=EAGER).run()
    assert announced(folder) == ANNOUNCED
    visit_to_the_end(folder, web(ROBOTS, *SITE, answer))  # type: ignore[arg-type]
    assert announced(folder) == left


def test_translations_are_kept_if_the_sitemap_is_not_asked_for(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    Visit(folder, web(ROBOTS, *SITE, ANNOUNCING), politeness=EAGER).run()
    visit_to_the_end(folder, web(status("/robots.txt", 503), *SITE, ANNOUNCING))
    assert announced(folder) == ANNOUNCED

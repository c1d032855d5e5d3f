"""A zoo of small sites that misbehave, one animal each; `serving.serve` opens the cage."""

from __future__ import annotations

import gzip
import mimetypes
import re
import time
import zlib
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import brotli
import zstandard

from diptych.demo import SITE
from diptych.engine.file_server import TEMPLATED
from support.serving import MISSING, Answer, Fault, Reply, Request, Site, serve

__all__ = ["serve"]

PARAGRAPHS = {
    "en": "The keeper climbs the stairs every evening and lights the lamp before the ships come in."
    " When the fog is thick the bell is rung, so that nobody runs onto the rocks below the tower.",
    "fr": "Le gardien monte l'escalier tous les soirs et allume la lampe avant l'arrivée des"
    " bateaux. Quand la brume est épaisse, on sonne la cloche, et personne ne touche les rochers.",
}
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8
LARGE = 50_000_000


def page(title: str, links: Iterable[str] = (), *, lang: str = "en", head: str = "") -> str:
    """A page with some text in a language, and links."""
    anchors = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
    return (
        f'<!DOCTYPE html><html lang="{lang}"><head><title>{title}</title>{head}</head><body>'
        f"<h1>{title}</h1><p>{PARAGRAPHS[lang]}</p><ul>{anchors}</ul></body></html>"
    )


def site(links: Iterable[str], answers: dict[str, Answer], *, robots: Answer = MISSING) -> Site:
    """A home page with links, and what they are answered with."""
    return {"/": Reply(page("Home", links)), "/robots.txt": robots, **answers}


def redirect(status: int, location: str) -> Reply:
    """An answer that leads elsewhere."""
    return Reply("", status, (("Location", location),))


def robots_txt(*lines: str) -> Reply:
    """A robots.txt."""
    return Reply("\n".join([*lines, ""]), type="text/plain")


# -- redirects -------------------------------------------------------------------------------------


def redirects() -> Site:
    """All kinds of redirects, to relative and absolute addresses."""
    moved = {
        "/301": redirect(301, "/new/301.html"),
        "/302": redirect(302, "new/302.html"),
        "/303": redirect(303, "./new/../new/303.html#top"),
        "/307": redirect(307, "{origin}/old/../new/307.html"),
        "/308": redirect(308, "{origin}/new/308.html"),
    }
    new = {f"/new{path}.html": Reply(page(f"New {path}")) for path in moved}
    return site(moved, {**moved, **new})


def redirect_loops() -> Site:
    """A page that leads to itself, and two that lead to each other."""
    return site(
        ["/self", "/tick"],
        {
            "/self": redirect(302, "/self"),
            "/tick": redirect(302, "/tock"),
            "/tock": redirect(302, "/tick"),
        },
    )


def redirect_chain(request: Request) -> Answer:
    """A redirect without end, each to an address never seen before."""
    if request.path == "/":
        return Reply(page("Home", ["/hop/0"]))
    number = re.fullmatch(r"/hop/(\d+)", request.path)
    return redirect(301, f"/hop/{int(number[1]) + 1}") if number else MISSING


def bad_redirects() -> Site:
    """Redirects to nowhere."""
    return site(
        ["/without", "/mail", "/empty"],
        {
            "/without": Reply("", 301),
            "/mail": redirect(302, "mailto:keeper@example.org"),
            "/empty": redirect(302, ""),
        },
    )


def redirect_away(target: str) -> Site:
    """A page that leads to another host."""
    return site(["/away", "/stay"], {"/away": redirect(302, target), "/stay": Reply(page("Stay"))})


# -- servers that are busy, slow or broken ---------------------------------------------------------


def busy_once(status: int, retry_after: Callable[[], str] = lambda: "") -> Site:
    """A page that is refused the first time; the wait asked for may be a number or a date."""

    def busy(request: Request) -> Answer:
        if request.nth:
            return Reply(page("At last"))
        asked = retry_after()
        headers = (("Retry-After", asked),) if asked else ()
        return Reply("wait", status, headers, type="text/plain")

    return site(["/busy", "/later"], {"/busy": busy, "/later": Reply(page("Later"))})


def in_seconds(seconds: float) -> str:
    """A time from now as an HTTP date, which has whole seconds."""
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


def refusing(status: int) -> Site:
    """A sitemap full of pages, none of which is ever given out."""
    pages = [f"/page/{number}.html" for number in range(12)]
    refused = Reply("no", status, type="text/plain")
    return {
        "/robots.txt": MISSING,
        "/sitemap.xml": sitemap(pages),
        "/": refused,
        **dict.fromkeys(pages, refused),
    }


def slow(seconds: float) -> Site:
    """A page that takes its time."""
    return site(["/slow"], {"/slow": Reply(page("Slow"), wait=seconds)})


def stalling() -> Site:
    """Answers that begin and do not go on, or do not begin."""
    head = Reply(page("Stalled") * 10).raw()
    return site(
        ["/silent", "/headers", "/half", "/after"],
        {
            "/silent": Fault(then="stall"),
            "/headers": Fault(head[: head.index(b"\r\n\r\n") + 4], then="stall"),
            "/half": Fault(head[: len(head) // 2], then="stall"),
            "/after": Reply(page("After")),
        },
    )


def dripping() -> Site:
    """An answer that always goes on a little."""
    head = Reply("", framing="close").raw()
    return site(["/drip"], {"/drip": Fault(head, then="drip")})


def breaking() -> Site:
    """Connections that are reset or closed in the middle of a body."""
    whole = page("Broken") * 10
    by_length, chunked = Reply(whole).raw(), Reply(whole, framing="chunked").raw()
    return site(
        ["/reset/length", "/reset/chunked", "/closed/length", "/closed/chunked",
         "/closed/at-once", "/reset/at-once", "/after"],
        {
            "/reset/length": Fault(by_length[:1000], then="reset"),
            "/reset/chunked": Fault(chunked[:1000], then="reset"),
            "/closed/length": Fault(by_length[:1000]),
            "/closed/chunked": Fault(chunked[:1000]),
            "/closed/at-once": Fault(),
            "/reset/at-once": Fault(then="reset"),
            "/after": Reply(page("After")),
        },
    )  # fmt: skip


def babbling() -> Site:
    """Answers that are no HTTP."""
    return site(
        ["/garbage", "/headers", "/status", "/after"],
        {
            "/garbage": Fault(b"\x16\x03\x01 hello, this is no web server\r\n\r\n"),
            "/headers": Fault(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000 + b"\r\n\r\n"),
            "/status": Fault(b"HTTP/1.1 abc OK\r\n\r\n"),
            "/after": Reply(page("After")),
        },
    )


# -- bodies that are not what they are said to be --------------------------------------------------


def charsets() -> Site:
    """French pages whose header, declaration and bytes do not agree."""

    def french(charset: str, header: str, declared: str) -> Reply:
        meta = f'<meta charset="{declared}">' if declared else ""
        body = page("Été à Nîmes", lang="fr", head=meta).encode(charset)
        return Reply(body, type=f"text/html; charset={header}" if header else "text/html")

    answers: dict[str, Answer] = {
        "/header-lies": french("cp1252", "utf-8", "windows-1252"),
        "/meta-lies": french("cp1252", "", "utf-8"),
        "/both-lie": french("utf-8", "iso-8859-1", "iso-8859-1"),
        "/says-nothing": french("utf-8", "", ""),
        "/says-nonsense": french("utf-8", "klingon", "unicode_escape"),
    }
    return site(answers, answers)


def content_types() -> Site:
    """Things that are not pages, named and declared as what they are or are not."""
    head = f"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: {LARGE}\r\n\r\n"
    answers: dict[str, Answer] = {
        "/picture.html": Reply(PNG, type="text/html"),
        "/photo": Fault(head.encode(), then="flood"),
        "/feed": Reply("<rss></rss>", type="application/rss+xml"),
        "/undeclared": Reply(page("Undeclared"), type=""),
        "/undeclared-zip": Reply(gzip.compress(page("Zipped").encode()), type="",
                                 headers=(("Content-Encoding", "gzip"),)),
        "/undeclared-png": Reply(PNG, type=""),
        "/empty": Reply(""),
        "/nothing": Reply("", 204),
        "/paper.pdf": Reply(b"%PDF-1.4", type="application/pdf"),
        "/Film.MP4": Reply(b"", type="video/mp4"),
    }  # fmt: skip
    return site(answers, answers)


def encodings() -> Site:
    """Bodies in every content encoding, honest and not."""

    def encoded(name: str, body: bytes) -> Reply:
        return Reply(body, headers=(("Content-Encoding", name),))

    def text(name: str) -> bytes:
        return page(f"As {name}").encode()

    raw = zlib.compressobj(wbits=-15)
    answers: dict[str, Answer] = {
        "/gzip": encoded("gzip", gzip.compress(text("gzip"))),
        "/br": encoded("br", brotli.compress(text("br"))),
        "/zstd": encoded("zstd", zstandard.compress(text("zstd"))),
        "/deflate": encoded("deflate", zlib.compress(text("deflate"))),
        "/raw-deflate": encoded("deflate", raw.compress(text("raw-deflate")) + raw.flush()),
        "/twice": encoded("gzip, br", brotli.compress(gzip.compress(text("twice")))),
        "/lie": encoded("gzip", text("lie")),
        "/cut": encoded("gzip", gzip.compress(text("cut"))[:-20]),
    }
    return site(answers, answers)


def bomb() -> Site:
    """A small body that unfolds beyond any limit."""
    body = gzip.compress(b"<title>Bomb</title><p>" + b"0" * LARGE)
    answers: dict[str, Answer] = {
        "/bomb": Reply(body, headers=(("Content-Encoding", "gzip"),)),
        "/after": Reply(page("After")),
    }
    return site(answers, answers)


def large() -> Site:
    """Pages beyond any limit, with a length and without."""
    head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
    sized = f"{head}Content-Length: {LARGE}\r\n\r\n".encode()
    answers: dict[str, Answer] = {
        "/sized": Fault(sized, then="flood"),
        "/open": Fault(f"{head}Connection: close\r\n\r\n".encode(), then="flood"),
        "/chunked": Fault(Reply("<p>" * 100_000, framing="chunked").raw(), then="close"),
    }
    return site(answers, answers)


def hostile_markup() -> Site:
    """Pages made to break a parser."""
    answers: dict[str, Answer] = {
        "/deep": Reply("<!DOCTYPE html><title>Deep</title>" + "<div>" * 100_000 + "bottom"),
        "/nul": Reply(page("N\0ul").replace("keeper", "kee\0per").encode()),
        "/attributes": Reply(f"<title>Many</title><p {'a=1 ' * 50_000}>text</p>"),
        "/links": Reply(page("Links", [*"?#/\0", "//", "http://[::1", "http://a b/", "x" * 9000])),
    }  # fmt: skip
    return site(answers, answers)


# -- sites without end -----------------------------------------------------------------------------


def calendar(request: Request) -> Answer:
    """A calendar in which there is always a next month, and one before."""
    if request.path == "/":
        return Reply(page("Home", ["/calendar/2024/05/"]))
    found = re.fullmatch(r"/calendar/(\d+)/(\d+)/", request.path)
    if not found:
        return MISSING
    months = int(found[1]) * 12 + int(found[2]) - 1
    links = [f"/calendar/{n // 12}/{n % 12 + 1:02d}/" for n in (months - 1, months + 1)]
    return Reply(page(f"Month {months}", links))


def sort_orders(request: Request) -> Answer:
    """A list in every order of every column."""
    path = request.path.partition("?")[0]
    orders = [
        f"/list?sort={column}&dir={way}" for column in ("name", "date") for way in ("asc", "desc")
    ]
    if path == "/list":
        return Reply(page(f"List {request.path}", orders))
    return Reply(page("Home", ["/list", *orders])) if path == "/" else MISSING


def session_ids(request: Request) -> Answer:
    """A site that writes a new session into each link of each page it gives out."""
    number = f"{time.monotonic_ns():032x}"
    names = ["one", "two", "three"]
    links = [
        f"/{name}.html?PHPSESSID={number}&page=1"
        if name == "one"
        else f"/{name};jsessionid={number}"
        for name in names
    ]
    path = re.split(r"[?;]", request.path)[0]
    if path == "/" or path.removesuffix(".html").strip("/") in names:
        return Reply(page(f"Session {path}", links))
    return MISSING


def repeating_path(request: Request) -> Answer:
    """A relative link that should have been absolute, on a server that answers everything."""
    if request.path in ("/robots.txt", "/sitemap.xml"):
        return MISSING
    return Reply(page(f"At {request.path}", ["about/us/"]))


# -- robots.txt and sitemaps -----------------------------------------------------------------------


def with_robots(robots: Answer) -> Site:
    """Three pages behind a robots.txt."""
    answers = {path: Reply(page(path)) for path in ("/open.html", "/closed/page.html")}
    return site(answers, answers, robots=robots)


def moved_robots(hops: int) -> Site:
    """A robots.txt that forbids a folder and is found after some redirects."""
    steps: dict[str, Answer] = {
        f"/hop/{number}": redirect(302, f"/hop/{number + 1}") for number in range(1, hops)
    }
    steps[f"/hop/{hops}"] = robots_txt("User-agent: *", "Disallow: /closed/")
    behind = with_robots(redirect(301, "/hop/1"))
    assert not callable(behind)
    return {**behind, **steps}


def sitemap(paths: Iterable[str], extra: str = "") -> Reply:
    """A sitemap of some pages, each with its language."""
    urls = "".join(
        f"<url><loc>{{origin}}{path}</loc><xhtml:link rel='alternate' hreflang='en'"
        f" href='{{origin}}{path}'/></url>"
        for path in paths
    )
    return Reply(f"<urlset>{urls}{extra}</urlset>", type="application/xml")


def sitemaps() -> Site:
    """An index of sitemaps, one compressed, one with translations; no page links to another."""
    translated = (
        "<url><loc>{origin}/en.html</loc>"
        '<xhtml:link rel="alternate" hreflang="en" href="{origin}/en.html"/>'
        '<xhtml:link rel="alternate" hreflang="fr" href="{origin}/fr.html"/></url>'
    )
    index = "".join(
        f"<sitemap><loc>{{origin}}/maps/{name}</loc></sitemap>" for name in ("a.xml.gz", "b.xml")
    )

    def compressed(request: Request) -> Answer:
        plain = sitemap(["/deep/one.html"]).raw(f"http://{request.headers['host']}")
        return Reply(gzip.compress(plain.partition(b"\r\n\r\n")[2]), type="application/gzip")

    return {
        "/robots.txt": robots_txt("Sitemap: {origin}/maps/index.xml", "User-agent: *", "Disallow:"),
        "/maps/index.xml": Reply(f"<sitemapindex>{index}</sitemapindex>", type="text/xml"),
        "/maps/a.xml.gz": compressed,
        "/maps/b.xml": sitemap(["/deep/two.html"], translated),
        "/": Reply(page("Home")),
        "/deep/one.html": Reply(page("One")),
        "/deep/two.html": Reply(page("Two")),
        "/en.html": Reply(page("English")),
        "/fr.html": Reply(page("Français", lang="fr")),
    }


# -- pages that are one ----------------------------------------------------------------------------


def header_hreflang() -> Site:
    """Two languages that only an HTTP header connects."""
    links = '<{origin}/fr>; rel="alternate"; hreflang="fr", <{origin}/>; rel=alternate; hreflang=en'
    return {
        "/": Reply(page("Home"), headers=(("Link", links),)),
        "/fr": Reply(page("Accueil", lang="fr"), headers=(("Link", links),)),
    }


def copies() -> Site:
    """One page under five addresses: by its canonical link, by its bytes, and by a redirect."""
    canonical = '<link rel="canonical" href="/page">'
    same = Reply(page("Copy"))
    answers: dict[str, Answer] = {
        "/page": Reply(page("Page", head=canonical)),
        "/page?print=1": Reply(page("Page", head=f"{canonical}<meta name=print>")),
        "/old": redirect(301, "/page"),
        "/copy": same,
        "/copy/again": same,
    }
    return site(answers, answers)


def demo_site(request: Request) -> Answer:
    """The bundled bilingual site, as `diptych demo` serves it."""
    path = request.path.partition("?")[0].lstrip("/")
    file = SITE / path
    if not path or path.endswith("/"):
        file /= "index.html"
    if ".." in path or not file.is_file():
        return MISSING
    kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    if path in TEMPLATED:
        return Reply(file.read_text("utf-8").replace("{{ORIGIN}}", "{origin}"), type=kind)
    return Reply(file.read_bytes(), type=kind)

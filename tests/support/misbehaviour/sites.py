"""Sites that refuse, never end, or whose robots.txt and sitemaps misbehave."""

from __future__ import annotations

from collections.abc import Iterator

from support.misbehaviour.row import HTML, OK, Misbehaviour, raw
from support.serving import MISSING, Answer, Fault, Reply, Request
from support.zoo import (
    calendar,
    page,
    redirect,
    repeating_path,
    robots_txt,
    session_ids,
    sort_orders,
)

PAGES = tuple(f"/page/{number}" for number in range(12))


def _refusing(status: int, *headers: tuple[str, str]) -> dict[str, Answer]:
    """A site that answers its robots.txt and its home page, and refuses all other pages."""
    return dict.fromkeys(PAGES, Reply("no", status, headers, type="text/plain"))


def _after(status: int, *headers: tuple[str, str]) -> dict[str, Answer]:
    """A site that refuses one page the first time."""
    refusal = Reply("wait", status, headers, type="text/plain")
    return {"/bad": lambda request: Reply(page("At last")) if request.nth else refusal}


REFUSALS = (
    Misbehaviour(
        "429 storm", "answers 429 to each page", _refusing(429), {"/page/11": "queued"},
        stopped="8 refusals in a row (HTTP 429)", requests=11,
    ),
    Misbehaviour(
        "503 storm", "answers 503 to each page", _refusing(503), {"/page/11": "queued"},
        stopped="8 refusals in a row (HTTP 503)", requests=11,
    ),
    Misbehaviour(
        "Forbidden", "answers 403 to each page", _refusing(403), {"/page/0": "http_403"},
        stopped="8 refusals in a row (HTTP 403)", requests=11,
    ),
    Misbehaviour(
        "Wait for a year", "answers 429 and asks to wait for a year",
        _refusing(429, ("Retry-After", "31536000")), {"/page/11": "queued"}, requests=4,
        stopped="it asks clients to wait 3.1536e+07 s",
    ),
    Misbehaviour(
        "Absurd wait", "answers 503 and asks to wait for 1e400 seconds",
        _after(503, ("Retry-After", "1e400")), {"/bad": "page"},
    ),
    Misbehaviour(
        "Wait until the past", "answers 503 and asks to wait until 1970",
        _after(503, ("Retry-After", "Thu, 01 Jan 1970 00:00:00 GMT")), {"/bad": "page"},
    ),
    Misbehaviour(
        "Busy once", "answers 503 the first time", _after(503), {"/bad": "page"},
    ),
)  # fmt: skip


def _soft_404(request: Request) -> Answer:
    """A site that answers all URLs, most of them with a page that says that there is none."""
    if request.path in ("/robots.txt", "/sitemap.xml"):
        return MISSING
    if request.path == "/":
        return Reply(page("Home", [f"/gone/{number}" for number in range(8)]))
    return Reply(page("Not found"))


def _deeper(request: Request) -> Answer:
    """A page with a link to the same page, one folder deeper."""
    if request.path in ("/robots.txt", "/sitemap.xml"):
        return MISSING
    number = request.path.count("/")
    return Reply(page(f"Level {number}", [f"{request.path.rstrip('/')}/d{number}/"]))


ENDLESS = (
    Misbehaviour(
        "Calendar", "links to the next month and the month before, without end",
        calendar, {"/calendar/2024/05/": "page"}, requests=70,
    ),
    Misbehaviour(
        "Session ids", "writes a new session into the links of each page",
        session_ids, {"/two": "page"}, requests=7,
    ),
    Misbehaviour(
        "Sort orders", "shows a list in each order of each column",
        sort_orders, {"/list": "page"}, requests=6,
    ),
    Misbehaviour(
        "Repeating path", "answers relative links that repeat the path",
        repeating_path, {"/about/us/about/us/about/us/": "trap_repeating_path"}, requests=6,
    ),
    Misbehaviour(
        "Deeper and deeper", "links to a deeper folder on each page",
        _deeper, {"/d1/": "page"}, requests=30,
    ),
    Misbehaviour(
        "Soft 404", "answers 200 and the same page to each missing page",
        _soft_404, {"/gone/0": "page"}, requests=11,
    ),
)  # fmt: skip


def _urls(paths: Iterator[str]) -> str:
    return "".join(f"<url><loc>{{origin}}{path}</loc></url>" for path in paths)


def _xml(text: str) -> Reply:
    return Reply(text, type="application/xml")


_LAUGHS = "".join(f'<!ENTITY l{level} "{f"&l{level - 1};" * 10}">' for level in range(1, 10))
_ENTITIES = (
    f'<!DOCTYPE urlset [<!ENTITY l0 "lol">{_LAUGHS}]>'
    "<urlset><url><loc>{origin}/&l9;</loc></url><url><loc>{origin}/after</loc></url></urlset>"
)
_EXTERNAL = (
    '<!DOCTYPE urlset [<!ENTITY x SYSTEM "file:///etc/hostname">]>'
    "<urlset><url><loc>{origin}/x?&x;</loc></url><url><loc>{origin}/after</loc></url></urlset>"
)
_ALTERNATES = "".join(
    f'<xhtml:link rel="alternate" hreflang="fr" href="{{origin}}/fr/{number}"/>'
    for number in range(100_000)
)


def _nested_index(request: Request) -> Answer:
    """A sitemap that lists two other sitemaps, as each of them does."""
    if request.path == "/":
        return Reply(page("Home", ["/after"]))
    if request.path == "/after":
        return Reply(page("After"))
    if not request.path.startswith("/sitemap"):
        return MISSING
    stem = request.path.removesuffix(".xml")
    inner = "".join(f"<sitemap><loc>{{origin}}{stem}{a}.xml</loc></sitemap>" for a in "ab")
    return _xml(f"<sitemapindex>{inner}</sitemapindex>")


_LONG_ROBOTS = "User-agent: *\nDisallow: /bad\n" + "# a comment that says nothing\n" * 170_000
_RULES = "User-agent: *\n" + "".join(f"Disallow: /{n}/*a*b*c*d$\n" for n in range(18_000))

ROBOTS = (
    Misbehaviour(
        "Robots.txt of 5 MB", "sends a robots.txt of 5 MB, with a rule at its beginning",
        {"/robots.txt": Reply(_LONG_ROBOTS, type="text/plain"), "/bad": Reply(page("Forbidden"))},
        {"/bad": "robots"},
    ),
    Misbehaviour(
        "Endless robots.txt", "sends a robots.txt without end",
        {"/robots.txt": Fault(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"
                              b"User-agent: *\nDisallow: /bad\n", "flood", b"# more\n" * 1000),
         "/bad": Reply(page("Forbidden"))},
        {"/bad": "robots"},
    ),
    Misbehaviour(
        "18,000 rules", "sends a robots.txt with 18,000 rules that are slow to match",
        {"/robots.txt": Reply(_RULES, type="text/plain")}, {},
    ),
    Misbehaviour(
        "Page as robots.txt", "answers its robots.txt with a page",
        {"/robots.txt": Reply(page("Not found"))}, {},
    ),
    Misbehaviour(
        "Robots.txt fails", "answers 500 to its robots.txt",
        {"/robots.txt": Reply("", 500)}, {"/robots.txt": "http_500", "/": "queued"},
        stopped="its robots.txt returned HTTP 500, so nothing may be fetched",
    ),
    Misbehaviour(
        "Robots.txt in a loop", "redirects its robots.txt to itself",
        {"/robots.txt": redirect(301, "/robots.txt")}, {}, requests=12,
    ),
    Misbehaviour(
        "Absurd crawl delay", "asks to wait a billion seconds between requests",
        {"/robots.txt": robots_txt("User-agent: *", "Crawl-delay: 1000000000")}, {"/": "queued"},
        stopped="it requests a Crawl-delay of 1e+09 s; Diptych waits at most 600 s",
    ),
    Misbehaviour(
        "10,000 sitemaps", "names 10,000 sitemaps in its robots.txt",
        {"/robots.txt": robots_txt(*(f"Sitemap: {{origin}}/s{n}.xml" for n in range(10_000)))}, {},
        requests=60,
    ),
)  # fmt: skip

SITEMAPS = (
    Misbehaviour(
        "Entity expansion", "sends a sitemap with entities that unfold to 3 GB",
        {"/sitemap.xml": _xml(_ENTITIES)}, {"/sitemap.xml": "fetched", "/&l9;": "http_404"},
    ),
    Misbehaviour(
        "External entity", "sends a sitemap with an entity that is a file",
        {"/sitemap.xml": _xml(_EXTERNAL)}, {"/sitemap.xml": "fetched", "/x?&x;": "http_404"},
    ),
    Misbehaviour(
        "100,000 alternates", "lists 100,000 translations of one page in its sitemap",
        {"/sitemap.xml": _xml("<urlset><url><loc>{origin}/after</loc>" + _ALTERNATES)},
        {"/sitemap.xml": "fetched"}, requests=510,
    ),
    Misbehaviour(
        "180 header links", "names 180 translations in a `Link` header of 8 kB",
        {"/bad": Reply(page("Linked"), headers=(("Link", ", ".join(
            f'</l{n}>; rel="alternate"; hreflang="fr"' for n in range(180))),))},
        {"/bad": "page"}, requests=200,
    ),
    Misbehaviour(
        "Endless sitemap index", "lists two sitemaps in each sitemap",
        _nested_index, {"/after": "page"}, requests=60,
    ),
    Misbehaviour(
        "Sitemap of itself", "lists a sitemap in itself",
        {"/sitemap.xml": _xml("<sitemapindex><sitemap><loc>{origin}/sitemap.xml</loc></sitemap>"
                              "</sitemapindex>")},
        {"/sitemap.xml": "fetched"}, requests=4,
    ),
    Misbehaviour(
        "Sitemap of others", "lists pages of another site in its sitemap",
        {"/sitemap.xml": _xml("<urlset><url><loc>http://elsewhere.example/</loc></url></urlset>")},
        {"/sitemap.xml": "fetched", "http://elsewhere.example/": "outside"}, requests=4,
    ),
    Misbehaviour(
        "Page as a sitemap", "answers its sitemap with a page",
        {"/sitemap.xml": Reply(page("Not found", ["/never"]))}, {"/sitemap.xml": "fetched"},
    ),
    Misbehaviour(
        "Sitemap cut off", "closes the connection in the middle of the sitemap",
        {"/sitemap.xml": raw(OK, HTML, "Content-Length: 9000", body="<urlset><url>")},
        {"/sitemap.xml": "disconnected"},
    ),
)  # fmt: skip

ROWS = (*REFUSALS, *ENDLESS, *ROBOTS, *SITEMAPS)

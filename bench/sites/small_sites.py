"""Many small bilingual sites, made of the bundled demo site and served from memory on loopback.

    python -m bench.sites.small_sites --sites 1000 --log FILE   serve until stopped; prints the port

A site has 8 to 30 pages in English and French under one of five URL schemes.  A page is a heading,
five to eight paragraphs of the demo site in some order and a line with numbers; its translation is
the same in French.  Of ten English pages one has no translation.  Home pages link to a third of
their language, pages to the next ones; the other language is linked on every page (of 60% of the
sites) or on home pages only; 30% declare alternates, 20% have a sitemap.  A page under /private/
is linked and forbidden by robots.txt.  All is drawn from a seed: the same number of a site always
gives the same site.  Its address is one of 127.0.0.0/8, which Linux has without being told.

The log has a line for every request: seconds, number of the site, requests that its host has to
answer then, target.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import NamedTuple, TextIO

from selectolax.lexbor import LexborHTMLParser

from bench.sites.fast_server import NOT_FOUND, answer
from bench.support.processes import running
from diptych.demo import GOLD, SITE

LANGS = ("en", "fr")
SCHEMES = ("dir", "suffix", "query", "bare", "slug")
NAMES = {"en": "English", "fr": "Français"}
READY = "port "
PAGES_PER_TEXT = 1.9  # of ten texts in English, one has no translation
LEAST_TEXT = 60  # characters of a paragraph that is worth the name
ROBOTS = answer("200 OK", b"User-agent: *\nDisallow: /private/\n", "Content-Type: text/plain")

Answers = Callable[[str], bytes]
"""from the target of a request to the whole answer"""


@cache
def paragraphs() -> tuple[tuple[str, str], ...]:
    """Paragraphs of the demo site with their translations."""
    found: list[tuple[str, str]] = []
    with GOLD.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream, dialect="excel-tab"):
            left, right = (_texts(row[f"{side}_path"]) for side in ("left", "right"))
            if len(left) == len(right):
                both = zip(left, right, strict=True)
                found += [each for each in both if len(each[0]) > LEAST_TEXT]
    return tuple(dict.fromkeys(found))  # without what is at the foot of every page


def _texts(path: str) -> list[str]:
    file = SITE / path.lstrip("/")
    file = file / "index.html" if file.is_dir() else file
    tree = LexborHTMLParser(file.read_bytes().decode("utf-8", "replace"))
    return [" ".join(node.text().split()) for node in tree.css("p")]


class Text(NamedTuple):
    """What a page says, in both languages."""

    number: int
    parts: tuple[tuple[str, str], ...]
    line: str

    def heading(self, side: int) -> str:
        """The first words of the first paragraph."""
        return " ".join(self.parts[0][side].split()[:5]).rstrip(",.;: ") + f" {self.number}"

    def slug(self, side: int) -> str:
        """The heading as the last part of a URL."""
        return "-".join(re.findall("[a-z0-9]+", self.heading(side).lower()))


@dataclass(frozen=True)
class SmallSite:
    """One site; pages by their path and query."""

    address: str
    pages: Mapping[str, bytes]
    pairs: tuple[tuple[str, str], ...]
    """targets of the pages that are translations of each other"""


def address_of(number: int) -> str:
    """The address of a site.

    >>> address_of(0), address_of(999)
    ('127.1.0.1', '127.1.3.250')
    """
    return f"127.1.{number // 250}.{number % 250 + 1}"


def small_site(number: int, seed: int = 0, about: int = 0) -> SmallSite:
    """The site with that number; it has `about` so many pages, or 8 to 30 if that is 0."""
    random = Random(f"{seed}:{number}")
    scheme = random.choice(SCHEMES)
    drawn = random.randint(4, 15)
    count = round(about / PAGES_PER_TEXT) if about else drawn
    texts = [_text(random, page) for page in range(count)]
    lonely = {text.number for text in texts[1:] if random.random() < 0.1}
    has = {
        "en": texts,
        "fr": [text for text in texts if text.number not in lonely],
    }
    draw = _Drawing(scheme, random.random() < 0.6, random.random() < 0.3)
    pages = {
        draw.target(text, lang): draw.page(text, lang, has[lang], is_alone=text.number in lonely)
        for lang in LANGS
        for text in has[lang]
    }
    if random.random() < 0.2:
        pages["/sitemap.xml"] = sitemap(address_of(number), pages)
    pairs = tuple((draw.target(text, "en"), draw.target(text, "fr")) for text in has["fr"])
    return SmallSite(address_of(number), pages, pairs)


def _text(random: Random, number: int) -> Text:
    parts = random.sample(paragraphs(), random.randint(5, 8))
    line = " / ".join(str(random.randint(100, 99_999)) for _ in range(4))
    return Text(number, tuple(parts), line)


@dataclass(frozen=True)
class _Drawing:
    """How the pages of a site are written and linked."""

    scheme: str
    links_languages: bool
    has_alternates: bool

    def target(self, text: Text, lang: str) -> str:
        """The path of a page, and its query."""
        side, name = LANGS.index(lang), text.slug(0)
        if not text.number:
            return "/" if lang == "en" else "/fr/"
        return {
            "dir": f"/{lang}/{name}.html",
            "suffix": f"/{name}_{lang}.html",
            "query": f"/{name}.html?lang={lang}",
            "bare": f"/{name}.html" if lang == "en" else f"/{lang}/{name}.html",
            "slug": f"/{lang}/{text.slug(side)}.html",
        }[self.scheme]

    def page(self, text: Text, lang: str, others: list[Text], *, is_alone: bool) -> bytes:
        """The answer with a page."""
        side = LANGS.index(lang)
        linked = self._linked(text, others)
        links = [(self.target(each, lang), each.heading(side)) for each in linked]
        if not text.number:
            links.append(("/private/notes.html", "Notes"))
        elif text.number % 3 == 0:
            links.append(("http://www.example.org/", "example.org"))
        if not is_alone and (self.links_languages or not text.number):
            other = LANGS[1 - side]
            links.insert(0, (self.target(text, other), NAMES[other]))
        head = ""
        if self.has_alternates and not is_alone:
            head = "".join(
                f'<link rel="alternate" hreflang="{each}" href="{self.target(text, each)}">'
                for each in LANGS
            )
        return page(text, lang, links, head)

    def _linked(self, text: Text, others: list[Text]) -> list[Text]:
        if not text.number:
            return others[1::3]
        place = others.index(text)
        return [others[0], *others[place + 1 : place + 4]]


def page(text: Text, lang: str, links: list[tuple[str, str]], head: str = "") -> bytes:
    """An answer with an HTML page."""
    side = LANGS.index(lang)
    items = "".join(f'<li><a href="{url}">{words}</a></li>' for url, words in links)
    body = "".join(f"<p>{part[side]}</p>\n" for part in text.parts)
    whole = (
        f'<!DOCTYPE html><html lang="{lang}"><head><meta charset="utf-8">'
        f"<title>{text.heading(side)}</title>{head}</head><body><ul>{items}</ul>"
        f"<h1>{text.heading(side)}</h1>\n{body}<p>{text.line}</p></body></html>"
    )
    return answer("200 OK", whole.encode(), "Content-Type: text/html")


def sitemap(host: str, targets: Mapping[str, object]) -> bytes:
    """An answer with a sitemap; `PORT` stands for what is known only when it is served."""
    urls = "".join(f"<url><loc>http://{host}:PORT{target}</loc></url>" for target in targets)
    head = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    return f"{head}{urls}</urlset>".encode()


def answers_of(site: SmallSite, port: int) -> Answers:
    """The site as a server answers for it."""
    known = {"/robots.txt": ROBOTS, **site.pages}
    if "/sitemap.xml" in known:
        body = known["/sitemap.xml"].replace(b":PORT", b":%d" % port)
        known["/sitemap.xml"] = answer("200 OK", body, "Content-Type: application/xml")
    return lambda target: known.get(target, NOT_FOUND)


# -- one large site --------------------------------------------------------------------------------


def large_answers(urls: int, port: int) -> Answers:
    """A site whose sitemap has so many URLs, each with the translation it announces."""
    origin = f"http://{address_of(0)}:{port}"
    known: dict[str, bytes] = {"/robots.txt": ROBOTS}

    def entry(number: int, lang: str) -> str:
        others = "".join(
            f'<xhtml:link rel="alternate" hreflang="{each}" href="{origin}/{each}/{number}.html"/>'
            for each in LANGS
        )
        return f"<url><loc>{origin}/{lang}/{number}.html</loc>{others}</url>"

    head = (
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
        ' xmlns:xhtml="http://www.w3.org/1999/xhtml">'
    )
    body = "".join(entry(number, lang) for number in range(urls // 2) for lang in LANGS)
    whole = f"{head}{body}</urlset>".encode()
    known["/sitemap.xml"] = answer("200 OK", whole, "Content-Type: application/xml")

    return lambda target: known.get(target) or large_page(target, urls // 2)


def large_page(target: str, count: int) -> bytes:
    """A page of the large site, made when it is asked for: `/` or `/en/17.html`."""
    lang, _, name = target.strip("/").partition("/")
    lang, number = lang if lang in LANGS else "en", name.removesuffix(".html")
    place = int(number) if number.isdigit() else 0
    links = [(f"/{each}/{place}.html", NAMES[each]) for each in LANGS if each != lang]
    near = ((place + step) % count for step in range(1, 20))
    links += [(f"/{lang}/{each}.html", f"{each}") for each in near]
    return page(_text(Random(place), place), lang, links)


# -- serving ---------------------------------------------------------------------------------------


class Server:
    """Answers for all sites, each at an address of its own, and notes who was asked when."""

    def __init__(self, log: TextIO, latency: float) -> None:
        self.log = log
        self.latency = latency
        self.answers: dict[str, tuple[int, Answers]] = {}
        self.busy: Counter[str] = Counter()


class Connection(asyncio.Protocol):
    """One kept-alive connection."""

    def __init__(self, server: Server) -> None:
        """Answer for this server."""
        self.server = server
        self.received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See which site is spoken to."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.address = str(transport.get_extra_info("sockname")[0])

    def data_received(self, data: bytes) -> None:
        """Answer each complete request, at once or after a while."""
        self.received += data
        while b"\r\n\r\n" in self.received:
            head, _, self.received = self.received.partition(b"\r\n\r\n")
            target = head.split(b" ", 2)[1].decode("latin-1")
            number, answers = self.server.answers[self.address]
            self.server.busy[self.address] += 1
            at_once = self.server.busy[self.address]
            self.server.log.write(f"{time.monotonic():.6f}\t{number}\t{at_once}\t{target}\n")
            if self.server.latency:
                asyncio.get_running_loop().call_later(
                    self.server.latency, self._send, answers(target)
                )
            else:
                self._send(answers(target))

    def _send(self, whole: bytes) -> None:
        self.server.busy[self.address] -= 1
        if not self.transport.is_closing():
            self.transport.write(whole)


async def listen(options: argparse.Namespace) -> None:
    """Serve until the process is told to stop."""
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stop.set)
    with options.log.open("w", encoding="utf-8", buffering=1 << 16) as log:
        server = Server(log, options.latency)
        new = partial(Connection, server)
        first = await loop.create_server(new, address_of(0), 0, backlog=256)
        port = first.sockets[0].getsockname()[1]
        if options.large:
            server.answers[address_of(0)] = 0, large_answers(options.large, port)
        for number in range(0 if options.large else options.sites):
            site = small_site(number, options.seed, options.pages)
            server.answers[site.address] = number, answers_of(site, port)
            if number:
                await loop.create_server(new, site.address, port, backlog=16)
        print(f"{READY}{port}", flush=True)
        await stop.wait()


@contextmanager
def served(
    log: Path, *, sites: int = 1, seed: int = 0, latency: float = 0.0, large: int = 0,
    pages: int = 0,
) -> Iterator[int]:  # fmt: skip
    """Serve sites in a process of its own while the block runs; yields the port."""
    options = {"sites": sites, "seed": seed, "latency": latency, "large": large, "pages": pages}
    command = [sys.executable, "-m", "bench.sites.small_sites", "--log", str(log)]
    for name, value in options.items():
        command += [f"--{name}", str(value)]
    with running(command, ready=READY) as line:
        yield int(line.removeprefix(READY))


def main() -> None:
    """Serve."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sites", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--large", type=int, default=0, help="one site with so many URLs instead")
    parser.add_argument("--pages", type=int, default=0, help="of a site; default: 8 to 30")
    parser.add_argument("--log", type=Path, required=True)
    asyncio.run(listen(parser.parse_args()))


if __name__ == "__main__":
    main()

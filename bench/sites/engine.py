"""A built site that answers a crawl as its server would, without a network.

Every request that a server would answer counts as a download: robots.txt, sitemaps, redirects and
pages that are not there too.  Time is the number of downloads so far.
"""

from __future__ import annotations

import json
import mimetypes
import os
import pickle
import re
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qsl, quote, unquote, urlsplit

import diptych
from bench.sites.archive import HOST, site_url
from diptych.engine.engine import Answerer
from diptych.engine.workers import Workers
from diptych.frontier.crawl import Crawl
from diptych.frontier.queue import Claim
from diptych.page.answer import ReadAnswer, read_answer
from diptych.protocols import Watcher
from diptych.run.warc import compose
from diptych.types import Failure, Kind, Response, Url

INDEXES = ("index.html", "index.htm", "index.en.html", "Overview.en.html")
READING_CODE = (
    "types.py", "kernels/langid*", "kernels/pieces*", "kernels/word_links*", "language/codes.py",
    "language/identify.py", "text/cognates.py", "text/lengths.py", "text/tokens.py", "text/urls.py",
    "text/words.py", "page/answer.py", "page/blocks.py", "page/body.py", "page/charset.py",
    "page/elements.py", "page/links.py", "page/nesting.py", "page/read.py", "page/scripts.py",
    "page/sketch.py",
)  # fmt: skip
"""what decides how a page is read; what other code has read is read again"""

_HOST_MARK = re.compile(rb"__HOST:([\w-]*)__")
_ON_HOST = re.compile(r"//([\w-]+)(/.*)")
_HTML = re.compile(r"\.(x?html?|shtml|php)(\.[A-Za-z_@-]{2,10}(\.[A-Za-z0-9-]+)?)?$", re.I)
_SAFE = "/%@:=+,;!$'()*~"  # characters that the server leaves alone when it redirects to a folder

Query = frozenset[tuple[str, str]]


class Answer(NamedTuple):
    """What a server says to a request."""

    status: int
    file: Path | None = None
    location: str = ""


class BuiltSite:
    """A built site as a server knows it: which file belongs to a URL."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._docs = folder / "htdocs"
        meta = json.loads((folder / "meta.json").read_text("utf-8"))
        self.hosts: list[str] = meta["hosts"] or []
        """languages that have a host of their own; none in a site of one host"""
        self.authorities: dict[str, str] = {}
        """language -> name of its host, where it is not that of `site_url`"""
        self.pivot: str = meta["pivot"]
        self.home = site_url(meta["home"])
        self._routes: dict[tuple[str, Query], str] = {}
        self._redirects: dict[str, str] = {}
        file = folder / "routes.json"
        if file.exists():
            known = json.loads(file.read_text("utf-8"))
            self._redirects = known["redirects"]
            for url, page in known["routes"].items():
                path, _, query = url.partition("?")
                self._routes[path, frozenset(parse_qsl(query))] = page
        self._routed = {path for path, _ in self._routes}
        self._names = {name for _, query in self._routes for name, _ in query}

    def find(self, url: Url) -> Answer | None:
        """The answer to a URL; None when there is no such host."""
        parts = urlsplit(url)
        label = (parts.hostname or "").removesuffix(f".{HOST}")
        if label not in (self.hosts or ("www",)):
            return None
        if not self.hosts:
            label = ""
        routed = self._route(parts.path, parts.query) if parts.path in self._routed else None
        if routed:
            return routed
        moved = self._redirects.get(f"//{label}{parts.path}" if label else parts.path)
        if moved:
            return Answer(302, location=self._absolute(moved))
        return self._find_file(self._docs / label, parts.path)

    def _route(self, path: str, query: str) -> Answer | None:
        """A page that is chosen by the query; None when the query says nothing."""
        asked = [(name, value) for name, value in parse_qsl(query) if name in self._names]
        if not asked:
            home = self._redirects.get("/")
            return Answer(302, location=self._absolute(home)) if home else None
        file = self._routes.get((path, frozenset(asked)))
        if not file and "lang" in self._names and all(name != "lang" for name, _ in asked):
            file = self._routes.get((path, frozenset([*asked, ("lang", self.pivot)])))
        return Answer(200, self._docs / file) if file else Answer(404)

    def _find_file(self, root: Path, path: str) -> Answer:
        """A page that is a file, or the index of a folder."""
        plain = unquote(path, errors="surrogateescape")
        file = Path(os.path.normpath(f"{root}/{plain.lstrip('/')}"))
        if "\0" in plain or not file.is_relative_to(root) or "_q" in file.parts:
            return Answer(404)
        html = file.with_name(file.name + ".html")
        if file.is_dir() and not path.endswith("/") and not html.is_file():
            return Answer(301, location=quote(plain, safe=_SAFE) + "/")
        if path.endswith("/"):
            tried = [*(file / name for name in INDEXES), file]
        else:
            tried = [file, html, file.with_name(file.name + ".en.html")]
        found = next((each for each in tried if each.is_file()), None)
        return Answer(200, found) if found else Answer(404)

    def _absolute(self, location: str) -> str:
        on_host = _ON_HOST.fullmatch(location)
        if on_host is None or not self.hosts:
            return location
        return f"http://{self._authority(on_host[1])}{on_host[2]}"

    def _authority(self, label: str) -> str:
        return self.authorities.get(label, f"{label}.{HOST}")

    def respond(self, url: Url, now: float) -> tuple[Response, Path | None] | None:
        """What the server sends, and the file it is of; None when there is no such host."""
        answer = self.find(url)
        if answer is None:
            return None
        if answer.file is None:
            headers = (("Content-Type", "text/html"), ("Location", answer.location))
            page = f"<html><body><h1>{answer.status}</h1></body></html>".encode()
            sent = headers if answer.location else headers[:1]
            return Response(url, answer.status, sent, page, now), None
        body = answer.file.read_bytes()
        if self.hosts:
            body = _HOST_MARK.sub(lambda mark: self._authority(mark[1].decode()).encode(), body)
        is_html = _HTML.search(answer.file.name) is not None
        kind = "text/html" if is_html else mimetypes.guess_type(answer.file)[0] or ""
        return Response(url, 200, (("Content-Type", kind),), body, now), answer.file

    def true_pairs(self, langs: tuple[str, ...]) -> list[tuple[Path, Path]]:
        """The files of all pairs in two languages whose pages are both as they should be."""
        groups: dict[str, dict[str, Path]] = {}
        for line in (self.folder / "groups.tsv").read_text("utf-8").splitlines():
            key, lang, path, is_fine, _ = line.split("\t")
            answer = self.find(site_url(path))
            assert answer is not None, path
            assert answer.file is not None, path
            if is_fine == "1" and lang in langs:
                groups.setdefault(key, {})[lang] = answer.file
        left, right = langs
        return [(group[left], group[right]) for group in groups.values() if len(group) == 2]


def reading_version() -> str:
    """All that decides how a page is read, as a digest."""
    digest = blake2b(digest_size=6)
    root = Path(diptych.__file__).parent
    for pattern in READING_CODE:
        for file in sorted(root.glob(pattern)):
            digest.update(file.read_bytes())
    return digest.hexdigest()


class Readings:
    """What pages of a site say, read once for all policies and kept on disk."""

    def __init__(self, site: Path, langs: tuple[str, ...], cache: Path | None) -> None:
        self._langs = langs
        self._known: dict[Url, ReadAnswer] = {}
        self._file: Path | None = None
        self._kept = 0
        if cache is not None:
            built = (site / "meta.json").stat().st_mtime_ns
            name = f"{site.name}.{'-'.join(langs)}.{built:x}.{reading_version()}.pickle"
            self._file = cache / name
        if self._file is not None and self._file.exists():
            self._known = pickle.loads(self._file.read_bytes())  # nobody but `keep` writes it
            self._kept = len(self._known)

    def read(self, response: Response, depth: int) -> ReadAnswer:
        """A page, as if it had been read now and at this depth."""
        known = self._known.get(response.url)
        if known is None:
            known = read_answer(Kind.PAGE, response, langs=self._langs, with_sketch=True)
            self._known[response.url] = known
        reading = known._replace(fetched_at=response.fetched_at)
        if known.page is None:
            return reading
        record = replace(known.page.record, depth=depth, fetched_at=response.fetched_at)
        return reading._replace(page=replace(known.page, record=record))

    def keep(self) -> None:
        """Write what was read to disk, if that is more than before."""
        if self._file is not None and len(self._known) > self._kept:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            part = self._file.with_name(f"{self._file.name}.{os.getpid()}")
            part.write_bytes(pickle.dumps(self._known, pickle.HIGHEST_PROTOCOL))
            part.replace(self._file)
            self._kept = len(self._known)


@dataclass(slots=True)
class SiteEngine:
    """Answers a crawl out of a built site, one request after the other."""

    site: BuiltSite
    readings: Readings
    served: list[Path | None] = field(default_factory=list)
    """for each download the file that was sent; None for all that is no page"""
    answers: list[tuple[Kind, int]] = field(default_factory=list)
    """for each download what was asked for, and the status of the answer; 302 for a refresh"""

    def run(self, crawl: Crawl, answers: Answerer, workers: Workers, watcher: Watcher) -> None:
        """Crawl until nothing is left or the watcher stops it."""
        now = 0.0
        with crawl.store.transaction() as transaction:
            while not watcher.stopped():
                answers.answer_all(now, transaction.checkpoint, watcher)
                claims = crawl.next(now, 1)
                if not claims:
                    wake = crawl.wake()
                    if wake is None:
                        break
                    now = max(now + 1e-3, wake)
                    continue
                now = max(now, float(len(self.served) + 1))
                self._answer(crawl, claims[0], now)
                if len(self.served) % 64 == 0:
                    transaction.checkpoint()
                watcher.tick()

    def _answer(self, crawl: Crawl, claim: Claim, now: float) -> None:
        answered = self.site.respond(claim.url, now)
        if answered is None:
            crawl.fetched(claim, Failure(claim.url, "dns", "no such host"), now)
            return
        response, file = answered
        self.served.append(file)
        if claim.kind is Kind.PAGE:
            reading = self.readings.read(response, claim.depth)
        else:
            reading = read_answer(claim.kind, response)
        is_refreshed = reading.redirect is None and reading.target is not None
        self.answers.append((claim.kind, 302 if is_refreshed else response.status))
        pointer = crawl.store.archive.append(compose(response), now)
        crawl.fetched(claim, reading, now, pointer)


def completed(served: list[Path | None], pairs: list[tuple[Path, Path]]) -> list[int]:
    """The numbers of the downloads that were the second half of a pair, in order.

    >>> a, b, c, d = (Path(name) for name in "abcd")
    >>> completed([None, a, c, b, b], [(a, b), (c, d)])
    [4]
    """
    first: dict[Path, int] = {}
    for number, file in enumerate(served, 1):
        if file is not None:
            first.setdefault(file, number)
    halves = ((first.get(left), first.get(right)) for left, right in pairs)
    return sorted(max(left, right) for left, right in halves if left and right)

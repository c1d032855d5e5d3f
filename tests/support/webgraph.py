"""Sites as graphs of links, crawled without network or store: what a policy downloads, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from diptych.protocols import GuidedPolicy
from diptych.types import Decision, Link, Missing, Page, PagePair, Ranked, Url, VerifiedPair
from support.fakes import FakeSite, at, make_page

Verify = Callable[[str, str], Sequence[tuple[str, str]] | None]
"""left path, right path -> the links that are aligned, or None if they are no pair"""


class Web:
    """Path -> links; a path without links of its own is a page too.  A link may be `text -> path`.

    langs: the language of all pages whose path starts so; English if nothing is said.
    """

    def __init__(
        self,
        links: Mapping[str, Sequence[str]],
        *,
        langs: Mapping[str, str] | None = None,
        missing: Iterable[str] = (),
    ) -> None:
        self.links = links
        self._langs = langs or {}
        self._missing = set(missing)

    def pages(self) -> list[str]:
        """All paths, in order."""
        targets = (_link(text).url for links in self.links.values() for text in links)
        found = {*self.links, *(path_of(url) for url in targets)}
        return sorted(found - self._missing)

    def page(self, path: str, depth: int) -> Page | None:
        """A page as it would be read, or nothing if there is none."""
        if path in self._missing:
            return None
        fitting = [start for start in self._langs if path.startswith(start)]
        lang = self._langs[max(fitting, key=len)] if fitting else "en"
        links = [_link(text) for text in self.links.get(path, ())]
        return make_page(path, lang, depth=depth, links=links)


def _link(text: str) -> Link:
    anchor, _, path = text.rpartition(" -> ")
    return Link(at(path), anchor=anchor)


def path_of(url: Url) -> str:
    """The path of a URL of the fake site."""
    return url.removeprefix(at("/")[:-1])


class _Crawl:
    """The frontier: highest priority first, then the order of discovery; raised, never lowered."""

    def __init__(self) -> None:
        self.queued: dict[Url, tuple[float, int]] = {}
        """in order of discovery; with depth"""
        self.known: set[Url] = set()

    def add(self, ranked: Iterable[Ranked], depth: int) -> None:
        for link, priority, _ in ranked:
            if link.url not in self.known:
                old = self.queued.get(link.url, (priority, depth))
                self.queued[link.url] = (max(old[0], priority), min(old[1], depth))

    def next(self) -> tuple[Url, int]:
        url = max(self.queued, key=lambda url: self.queued[url][0])
        self.known.add(url)
        return url, self.queued.pop(url)[1]


def downloaded(web: Web, policy: Any, *langs: str, verify: Verify | None = None) -> list[str]:
    """The paths that are downloaded, in order; questions are answered by `verify`, at once."""
    guide: Any = policy.guide(langs) if isinstance(policy, GuidedPolicy) else policy
    crawl, site, level = _Crawl(), FakeSite(*langs), 1
    order: list[str] = []
    crawl.add([Ranked(Link(at("/")), 1000.0)], 0)
    while True:
        if not crawl.queued:
            crawl.add(guide.refill(site), level)  # what it finds was linked by the deepest pages
        if not crawl.queued:
            return order
        url, depth = crawl.next()
        order.append(path_of(url))
        level = max(level, depth + 1)
        page = web.page(path_of(url), depth)
        if page is not None:
            site.page(page.url, page.lang, depth=depth, links=page.links)
            crawl.add(guide.rank(page, site), depth + 1)
        elif hasattr(guide, "learn"):
            crawl.add(guide.learn(Missing(url, "http_404"), site), depth + 1)
        if verify is not None:
            for pair in guide.questions():
                crawl.add(guide.learn(_answer(pair, verify), site), 1)


def _answer(pair: PagePair, verify: Verify) -> VerifiedPair:
    links = verify(path_of(pair.left), path_of(pair.right))
    decision = Decision(links is not None, 0.9 if links is not None else 0.1)
    return VerifiedPair(pair, decision, tuple((at(left), at(right)) for left, right in links or ()))

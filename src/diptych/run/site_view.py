"""A view of one site in the store: distinct pages, canonical URLs, redirects, links, sketches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from diptych.page.distinct import canonical_pages, check_canonical, stand_ins
from diptych.run.queries import SQL
from diptych.run.site_memory import kept_results
from diptych.run.store import Store
from diptych.text.urls import url_key
from diptych.types import LangPair, Link, PageRecord, Site, Sketch, Url

if TYPE_CHECKING:
    from diptych.learn.lexicon.lexicon import Lexicon

MAX_REDIRECTS = 20


@dataclass(eq=False)
class StoreView:
    """A read-only view of a site.

    It caches everything it loads, so a new view must be created when the store has grown.
    """

    store: Store
    site: Site
    site_id: int
    langs: Sequence[str]
    lexicons: Mapping[LangPair, Lexicon] = field(default_factory=dict)

    @cached_property
    def _records(self) -> dict[Url, PageRecord]:
        return {record.url: record for record in self.store.records(self.site_id)}

    @cached_property
    def canonical(self) -> Mapping[Url, Url]:
        """Map each page to the other page that it declares canonical, if both were fetched."""
        return canonical_pages(self._records, self._after_redirects)

    @cached_property
    def canonical_holds(self) -> Mapping[Url, bool]:
        """For each page that declares a canonical page, True if both have the same text."""
        if "canonical" not in self.memory:  # comparing takes a sketch of each page
            self.memory["canonical"] = check_canonical(
                self.canonical, self._records, lambda: self.store.blocks(self.site_id)
            )
        found: Mapping[Url, bool] = self.memory["canonical"]
        return found

    @cached_property
    def _stands_for(self) -> dict[Url, Url]:
        holds = {url for url, same in self.canonical_holds.items() if same}
        return stand_ins(self._records, {url: self.canonical[url] for url in holds})

    @cached_property
    def pages(self) -> Mapping[Url, PageRecord]:
        """The records of the distinct pages, by URL."""
        return {url: record for url, record in self._records.items() if url not in self._stands_for}

    def links(self, *, rel: str | None = None) -> Iterator[tuple[Url, Link]]:
        """Yield all links as (page, link).

        Links on duplicates are attributed to the page that is kept.
        """
        for source, links in self.store.links(self.site_id):
            page = self.resolve(source)
            if page is None:
                continue
            for link in links:
                if rel is None or link.rel == rel:
                    yield page, link

    def resolve(self, url: Url) -> Url | None:
        """The page in `pages` that a URL leads to; None if that page was not fetched."""
        url = self._after_redirects(url)
        url = self._stands_for.get(url, url)
        return url if url in self.pages else None

    def sketches(self) -> Iterator[tuple[Url, Sketch]]:
        """Yield the URL and sketch of each distinct page that has a sketch, sorted by URL."""
        for url, sketch in self.store.sketches(self.site_id):
            if url in self.pages:
                yield url, sketch

    @cached_property
    def memory(self) -> dict[object, Any]:
        """Results that depend only on the pages; later views of the same pages share them."""
        results: dict[object, Any] = kept_results(self.store, self.site_id).setdefault(
            (self.site, tuple(self.langs)), {}
        )
        return results

    def lexicon(self, left: str, right: str) -> Lexicon:
        """The lexicon for two languages; empty if none is available."""
        from diptych.learn.lexicon.lexicon import Lexicon

        return self.lexicons.get(LangPair(left, right)) or Lexicon.empty(left, right)

    @cached_property
    def _redirects(self) -> dict[int, Url]:
        return dict(self.store.db.execute(SQL["redirects"], (self.site_id,)).fetchall())

    def _after_redirects(self, url: Url) -> Url:
        if url in self._records or not self._redirects:
            return url
        for _ in range(MAX_REDIRECTS):
            target = self._redirects.get(url_key(url))
            if target is None:
                break
            url = target
        return url

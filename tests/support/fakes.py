"""Fakes that tests build sites of."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from diptych.learn.lexicon.lexicon import Lexicon
from diptych.page.blocks import TITLE_PATH
from diptych.text.lengths import text_length
from diptych.text.stems import stem_counts
from diptych.text.urls import normalise
from diptych.types import (
    Block,
    LangScore,
    Link,
    Page,
    PagePair,
    PageRecord,
    Site,
    Sketch,
    Url,
)

HOME = "http://example.org/"


def at(path: str) -> Url:
    """A path of the fake site, or a whole address, as a URL."""
    url = normalise(path if "://" in path else HOME.rstrip("/") + path)
    assert url is not None, path
    return url


def make_page(
    url: str = "/", lang: str = "", *texts: str | Block, depth: int = 1, links: Sequence[Link] = ()
) -> Page:
    """A page of blocks of text; those that are no `Block` are paragraphs."""
    blocks = tuple(
        text if isinstance(text, Block) else Block(text, f"/html/body/p[{number}]")
        for number, text in enumerate(texts, 1)
    )
    content = "\n".join(block.text for block in blocks)
    record = PageRecord(
        url=at(url),
        lang=lang,
        langs=(LangScore(lang, 1.0),) if lang else (),
        title="",
        depth=depth,
        size=len(content.encode()),
        text_length=len(content),
        digest=hashlib.sha1(f"{content or url}".encode()).hexdigest(),
    )
    return Page(record, tuple(links), blocks)


def titled(page: Page) -> Page:
    """The page with its first block as its title."""
    title = Block(page.blocks[0].text, TITLE_PATH)
    record = replace(page.record, title=title.text)
    return replace(page, record=record, blocks=(title, *page.blocks[1:]))


def sketch_of(page: Page) -> Sketch:
    """The sketch of a page of paragraphs."""
    bag, block_words = stem_counts([block.text for block in page.blocks], page.lang)
    return Sketch(
        tags="ab" * len(page.blocks),
        words=sum(bag.values()),
        bag=bag,
        blocks=tuple(
            (int(hashlib.sha1(block.text.encode()).hexdigest()[:8], 16), text_length(block.text))
            for block in page.blocks
        ),
        block_words=block_words,
    )


class FakeSite:
    """A site in memory: `page`, `link` and `redirect` build it, and it is a `SiteView`.

    Of the content of its pages nothing is known until `sketch` is called, of words nothing until
    `know` is.
    """

    def __init__(self, *langs: str, seeds: Sequence[str] = ("/",)) -> None:
        self._site = Site("example.org", tuple(at(seed) for seed in seeds))
        self._langs = langs
        self._read: dict[Url, Page] = {}
        self._moved: dict[Url, Url] = {}
        self._lexicons: dict[tuple[str, str], Lexicon] = {}

    def page(
        self,
        url: str,
        lang: str = "",
        *texts: str | Block,
        depth: int = 1,
        links: Sequence[Link] = (),
    ) -> FakeSite:
        """Add a page that was fetched."""
        self._read[at(url)] = make_page(url, lang, *texts, depth=depth, links=links)
        return self

    def link(
        self,
        source: str,
        target: str,
        anchor: str = "",
        *,
        rel: str = "a",
        hreflang: str = "",
        alt: str = "",
    ) -> FakeSite:
        """Add a link to a page that is there; its target may not be."""
        link = Link(at(target), rel, hreflang, anchor, alt=alt)
        page = self._read[at(source)]
        self._read[at(source)] = replace(page, links=(*page.links, link))
        return self

    def alternates(self, *urls: str) -> FakeSite:
        """Let each of some pages list all of them by hreflang, as Google asks for."""
        for source in urls:
            for target in urls:
                lang = self._read[at(target)].lang
                self.link(source, target, rel="alternate", hreflang=lang)
        return self

    def sketch(self, url: str, sketch: Sketch | None = None) -> FakeSite:
        """Let the content of a page be known: as told, or what its blocks say."""
        page = self._read[at(url)]
        self._read[at(url)] = replace(page, sketch=sketch or sketch_of(page))
        return self

    def know(self, lexicon: Lexicon) -> FakeSite:
        """Let the words of two languages be known."""
        self._lexicons[lexicon.left_lang, lexicon.right_lang] = lexicon
        return self

    def redirect(self, old: str, new: str) -> FakeSite:
        """Let an address lead to a page."""
        self._moved[at(old)] = at(new)
        return self

    def read(self, url: str) -> Page:
        """The page as it was read."""
        return self._read[at(url)]

    def reordered(self, order: Sequence[int]) -> FakeSite:
        """The same site with its pages in another order."""
        other = FakeSite(*self._langs)
        other._site = self._site
        urls = list(self._read)
        other._read = {urls[number]: self._read[urls[number]] for number in order}
        other._moved = dict(reversed(self._moved.items()))
        other._lexicons = self._lexicons
        return other

    @property
    def site(self) -> Site:
        """What was asked to be crawled."""
        return self._site

    @property
    def langs(self) -> Sequence[str]:
        """The languages asked for."""
        return self._langs

    @property
    def pages(self) -> Mapping[Url, PageRecord]:
        """The pages fetched."""
        return {url: page.record for url, page in self._read.items()}

    def links(self, *, rel: str | None = None) -> Iterator[tuple[Url, Link]]:
        """All links, with the page they are on."""
        for url, page in self._read.items():
            for link in page.links:
                if rel is None or link.rel == rel:
                    yield url, link

    def resolve(self, url: Url) -> Url | None:
        """The page an address leads to."""
        url = self._moved.get(url, url)
        return url if url in self._read else None

    def sketches(self) -> Iterator[tuple[Url, Sketch]]:
        """What is known of the content of pages."""
        for url, page in sorted(self._read.items()):
            if page.sketch is not None:
                yield url, page.sketch

    def lexicon(self, left: str, right: str) -> Lexicon:
        """What is known of the words of two languages."""
        return self._lexicons.get((left, right)) or Lexicon.empty(left, right)


def paths(pairs: Sequence[PagePair]) -> list[tuple[str, str]]:
    """Pairs by what comes after the host, in their order."""
    return [
        (pair.left.removeprefix(HOME[:-1]), pair.right.removeprefix(HOME[:-1])) for pair in pairs
    ]

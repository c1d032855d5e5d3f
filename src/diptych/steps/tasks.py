"""Tasks for worker processes: sketch a page, align and verify a pair, pair a site.

Each task reads the store and returns its result; only the main process writes to the store.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from diptych.page.sketch import block_languages
from diptych.protocols import LinkAligner, TreeAligner
from diptych.reason import Reason
from diptych.registry import Strategies
from diptych.run.site_memory import forget_results
from diptych.run.site_view import StoreView
from diptych.run.store import Store
from diptych.steps.align_pages import (
    UNCUT,
    AlignedSentences,
    TitleCuts,
    align_sentences,
    segment_of,
)
from diptych.steps.judge_pairs import AlignResult, VerifiedPair, judge_pairs, verify_pair
from diptych.steps.sure_segments import SURE_SEGMENTS, PairContent
from diptych.text.titles import SiteNames, learn_names
from diptych.types import (
    UNDECIDED,
    Block,
    Decision,
    LangPair,
    NodePair,
    Page,
    PagePair,
    SegmentPair,
    Site,
    Sketch,
    Url,
)

if TYPE_CHECKING:
    from diptych.engine.workers import Shared
    from diptych.learn.lexicon.lexicon import Lexicon

_CACHED_PAGES = 16  # pages
_PLAUSIBLE_PAIR = 0.2  # minimum score of two pages whose links may be aligned
_SURE_SEGMENT = 0.7  # minimum score of a segment to learn from
_UNREADABLE = Decision(False, 0.0, Reason.UNREADABLE)


@dataclass(slots=True)
class TaskContext:
    """The context of tasks; a worker process gets a copy and opens its own store."""

    folder: Path
    strategies: Strategies
    langs: Sequence[str]
    lexicons: Mapping[LangPair, Lexicon] = field(default_factory=dict)
    _store: Store | None = None
    _read: dict[Url, Page | None] = field(default_factory=dict)
    """cache of the last pages read: with n languages, each page is in n - 1 pairs"""

    _names: tuple[int, SiteNames] | None = None
    """id of the site whose pair was aligned last, and its name"""

    def shared(self, store: Store) -> Shared[TaskContext]:
        """Share the context among many tasks; tasks in this process use the given store."""
        from diptych.engine.workers import Shared

        return Shared(self, self.of(store))

    def of(self, store: Store) -> TaskContext:
        """Return a copy of the context that uses a store that is already open."""
        return TaskContext(self.folder, self.strategies, self.langs, self.lexicons, store)

    @property
    def store(self) -> Store:
        """The store of the run; it is opened for reading on first use."""
        if self._store is None:
            self._store = Store(self.folder, write=False)
        return self._store

    def lexicon(self, langs: LangPair) -> Lexicon:
        """The lexicon for two languages, or an empty one if there is none."""
        from diptych.learn.lexicon.lexicon import Lexicon

        return self.lexicons.get(langs) or Lexicon.empty(*langs)

    def pages(self, pair: PagePair) -> tuple[Page, Page] | None:
        """Read both pages of a pair, splitting a bilingual page; None if a page is unreadable."""
        left = self._page(pair.left)
        right = left if pair.left == pair.right else self._page(pair.right)
        if left is None or right is None:
            return None
        if pair.left != pair.right:
            return left, right
        return split_page(left, pair.langs)

    def _page(self, url: Url) -> Page | None:
        if url not in self._read:
            while len(self._read) >= _CACHED_PAGES:
                del self._read[next(iter(self._read))]
            self._read[url] = self._open(url)
        return self._read[url]

    def _open(self, url: Url) -> Page | None:
        record = self.store.record(url)
        if record is None:
            return None
        content = self.store.content(url)
        if content is None:
            response = self.store.response(url)
            if response is None:
                return None
            from diptych.page.read import read_content

            content = read_content(response)
        return Page(record, (), *content, self.store.sketch(url))

    def title_cuts(self, site: int, left: Page, right: Page) -> TitleCuts:
        """The places where the name of a site is cut off from the titles of two of its pages."""
        if self._names is None or self._names[0] != site:
            langs = self.store.page_languages(site)
            titles = partial(self.store.titles, site)
            own = {lang: learn_names(partial(titles, lang)) for lang in langs}
            self._names = site, SiteNames(own, learn_names(titles))
        names = self._names[1]
        return TitleCuts(*(names.cut(page.lang, page.record.title) for page in (left, right)))

    def aligned(
        self,
        pair: PagePair,
        left: Page,
        right: Page,
        trees: TreeAligner | None = None,
        cuts: TitleCuts = UNCUT,
    ) -> list[AlignedSentences]:
        """Align all sentences of two pages; `trees` overrides the tree aligner."""
        trees, sentences = trees or self.strategies.align_dom, self.strategies.align_sentences
        words = self.lexicon(pair.langs)
        return list(align_sentences(left, right, pair.langs, trees, sentences, words, cuts=cuts))


def split_page(page: Page, langs: LangPair) -> tuple[Page, Page]:
    """Split a bilingual page into two pages, by the languages of its blocks.

    If a block is too short to identify its language, it gets the language of the previous block.
    Blocks in a third language are dropped.
    """
    parts: dict[str, list[Block]] = {langs.left: [], langs.right: []}
    identified = block_languages(page.blocks, langs, closed=False)
    lang = next((each for each in identified if each), langs.left)
    for block, own in zip(page.blocks, identified, strict=True):
        lang = own or lang
        if lang in parts:
            parts[lang].append(block)
    left, right = (
        Page(page.record, page.links, tuple(parts[each]), None, page.sketch) for each in langs
    )
    return left, right


class SketchTask(NamedTuple):
    """A task that computes the missing sketch of a page, and its content."""

    url: Url

    def run(self, context: TaskContext) -> tuple[Sketch, bytes] | None:
        """Return the sketch and the content, or None if the page cannot be read."""
        response = context.store.response(self.url)
        if response is None:
            return None
        from diptych.page.read import read_page

        page = read_page(response, langs=context.langs, with_sketch=True)
        return page.sketch or Sketch("", 0, {}), page.content


class LexiconTask(NamedTuple):
    """A task that collects segments of two pages for training a lexicon."""

    pair: PagePair

    def run(self, context: TaskContext) -> list[tuple[str, str]]:
        """Return the texts of segments that are almost certainly translations."""
        content = _content_of(self.pair, context)
        sure = SURE_SEGMENTS.get(content) if content else None
        if sure is None:
            pages = context.pages(self.pair)
            if pages is None:
                return []
            # Without a lexicon, pages are aligned as by VerifyTask: links change alignments.
            trees = _LinkRecorder(context.strategies.align_dom) if content else None
            sure = _sure_segments(self.pair, context.aligned(self.pair, *pages, trees))
        # Scores may be low only because the lexicon lacks words, so only rules count.
        rejections = context.strategies.filter.rejections(sure)
        return [
            (segment.left, segment.right)
            for segment, reason in zip(sure, rejections, strict=True)
            if not reason
        ]


def _sure_segments(pair: PagePair, found: Iterable[AlignedSentences]) -> list[SegmentPair]:
    """The segments of an aligned pair that are almost certainly translations."""
    return [
        segment_of(pair, each)
        for each in found
        if each.left and each.right and each.score >= _SURE_SEGMENT
    ]


def _content_of(pair: PagePair, context: TaskContext) -> PairContent | None:
    """The content of a pair that is aligned without a lexicon; None if there is a lexicon."""
    if context.lexicons.get(pair.langs):
        return None
    left, right = context.store.record(pair.left), context.store.record(pair.right)
    if left is None or right is None:
        return None
    own = context.strategies
    run = f"{context.folder} {own.align_dom} {own.align_sentences}"
    urls = (pair.left, pair.right, pair.left_lang, pair.right_lang)
    return PairContent(run, urls, (left.digest, right.digest))


class AlignTask(NamedTuple):
    """A task that aligns two pages, and decides whether they are translations of each other."""

    pair: PagePair
    site: int = 0
    """id of the site, whose name is cut off from titles; 0: titles are not cut"""

    def run(self, context: TaskContext) -> AlignResult:
        """Return the decision on the pair and, if it is accepted, on each of its segments."""
        return align_together([self], context)[0]

    def verified(self, context: TaskContext) -> VerifiedPair:
        """Align and verify the pair."""
        forget_results()
        pages = context.pages(self.pair)
        if pages is None:
            return VerifiedPair(self.pair, _UNREADABLE)
        cuts = context.title_cuts(self.site, *pages) if self.site else UNCUT
        found = context.aligned(self.pair, *pages, cuts=cuts)
        verifier, lexicon = context.strategies.verify, context.lexicon(self.pair.langs)
        return verify_pair(self.pair, pages, found, verifier, lexicon)


def align_together(tasks: Sequence[AlignTask], context: TaskContext) -> list[AlignResult]:
    """Run several tasks; the segments of all pairs in the same languages are judged together."""
    places: dict[LangPair, list[int]] = {}
    for place, task in enumerate(tasks):
        places.setdefault(task.pair.langs, []).append(place)
    verified = [task.verified(context) for task in tasks]
    results: dict[int, AlignResult] = {}
    for langs, own in places.items():
        some = [verified[place] for place in own]
        judged = judge_pairs(some, context.strategies.filter, context.lexicon(langs))
        results.update(zip(own, judged, strict=True))
    return [results[place] for place in range(len(tasks))]


class VerifyResult(NamedTuple):
    """The result for a pair that is verified during the crawl."""

    aligned: AlignResult
    links: tuple[tuple[Url, Url], ...]
    """URLs of aligned hyperlinks, left and right"""


class VerifyTask(NamedTuple):
    """A task that aligns and verifies two pages during the crawl, and aligns their links."""

    pair: PagePair

    def run(self, context: TaskContext) -> VerifyResult:
        """Return the result of `AlignTask`, and aligned links if the pages may be translations.

        Links are also returned if a page has too little text to be verified, because it may consist
        only of links.
        """
        pages = context.pages(self.pair)
        if pages is None:
            return VerifyResult(AlignResult(_UNREADABLE, []), ())
        trees = _LinkRecorder(context.strategies.align_dom)
        found = context.aligned(self.pair, *pages, trees)
        strategies, lexicon = context.strategies, context.lexicon(self.pair.langs)
        verified = verify_pair(self.pair, pages, found, strategies.verify, lexicon)
        [aligned] = judge_pairs([verified], strategies.filter, lexicon, mended=False)
        decision = aligned.decision
        if decision.accept and (content := _content_of(self.pair, context)):
            SURE_SEGMENTS.keep(self.pair, content, _sure_segments(self.pair, found))
        is_open = decision.reason in UNDECIDED or decision.score >= _PLAUSIBLE_PAIR
        return VerifyResult(aligned, tuple(dict.fromkeys(trees.noted)) if is_open else ())


@dataclass(slots=True)
class _LinkRecorder:
    """Wraps a tree aligner, and records the aligned links if the aligner supports links."""

    trees: TreeAligner
    noted: list[tuple[Url, Url]] = field(default_factory=list)
    uses_lexicon: ClassVar[bool] = True

    def align(self, left: Page, right: Page, lexicon: Lexicon) -> list[NodePair]:
        if not isinstance(self.trees, LinkAligner):
            return self.trees.align(left, right, lexicon)
        nodes, links = self.trees.align_with_links(left, right, lexicon)
        self.noted.extend((Url(one), Url(other)) for one, other, _ in links)
        return nodes


class PairTask(NamedTuple):
    """A task that pairs all pages of a site that have been fetched so far."""

    site: Site
    id: int

    def run(self, context: TaskContext) -> tuple[PagePair, ...]:
        """Return the pairs that the recipe's pairer finds."""
        view = StoreView(context.store, self.site, self.id, context.langs, context.lexicons)
        return tuple(context.strategies.pair.pair(view))

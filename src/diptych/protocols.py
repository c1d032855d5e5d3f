"""The verbs of Diptych: one Protocol per stage.

A strategy is a frozen dataclass of its parameters that fulfils one of these.  Strategies are pure:
network, disk, clock and randomness are arguments or belong to `engine/` and `store.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO, ClassVar, Protocol, runtime_checkable

from diptych.types import (
    Bead,
    Candidate,
    CrawlEvent,
    Decision,
    Example,
    Failure,
    Lead,
    Link,
    NodePair,
    Outlook,
    Page,
    PagePair,
    PageRecord,
    Ranked,
    Role,
    SegmentPair,
    Site,
    Sketch,
    Url,
)
from diptych.units import DocumentPair, Repeats, Unit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from diptych.frontier.crawl import Crawl
    from diptych.learn.lexicon.lexicon import Lexicon

__all__ = [
    "CandidatePairer", "Corpus", "CrawlPolicy", "Detector", "DiscoverPolicy", "Exporter",
    "Files", "Filter", "Guide", "GuidedPolicy", "LinkAligner", "LinkSource", "Pairer", "Ranking",
    "SentenceAligner", "SentenceEncoder", "SiteTest", "SiteView", "TreeAligner",
    "UrlLanguageModel", "UrlPairModel", "Verifier", "Watcher",
]  # fmt: skip


class SiteView(Protocol):
    """The pages, links, sketches and lexicons of a site so far; read-only.

    `pages` holds one record per distinct page: redirects, copies and non-canonical URLs are not in
    it, `resolve` leads from them to the page that stands for them.
    """

    @property
    def site(self) -> Site:
        """The site itself."""
        ...

    @property
    def langs(self) -> Sequence[str]:
        """The languages the user asked for, in order."""
        ...

    @property
    def pages(self) -> Mapping[Url, PageRecord]:
        """The record of each page, by its URL."""
        ...

    def links(self, *, rel: str | None = None) -> Iterator[tuple[Url, Link]]:
        """The links of all pages as (page, link), in order of pages; of one kind if asked."""
        ...

    def resolve(self, url: Url) -> Url | None:
        """The page in `pages` that a URL leads to, or None when it was not fetched."""
        ...

    def sketches(self) -> Iterator[tuple[Url, Sketch]]:
        """The sketches of pages in the languages asked for, by URL; read anew each time."""
        ...

    def lexicon(self, left: str, right: str) -> Lexicon:
        """The lexicon of two languages so far; it may be empty."""
        ...


class CrawlPolicy(Protocol):
    """Ranks the links of a page: which to follow, and with which priority."""

    def rank(self, page: Page, site: SiteView) -> Iterable[Ranked]:
        """Called once after each page; may also rank again what is pending."""
        ...

    def refill(self, site: SiteView) -> Iterable[Ranked]:
        """Called when nothing is left: a batch decision, or nothing to end the crawl."""
        ...


class Guide(CrawlPolicy, Protocol):
    """A crawl policy with a memory of one site.

    It knows only what it observed: of `site` it may read only the languages.  A crawl that was
    killed goes on with a guide made from a snapshot, which observes again what came after that.
    """

    def learn(self, event: CrawlEvent, site: SiteView) -> Iterable[Ranked]:
        """Called once after each event, such as a redirect or a verified pair."""
        ...

    def questions(self) -> Sequence[PagePair | None]:
        """The new questions since the last call; `learn` gets the answers some time later.

        A pair is to be verified and aligned (`VerifiedPair`); None: pair all (`PairingResult`).
        """
        ...

    def outlook(self) -> Outlook | None:
        """The pairs found and still expected; None if it makes no estimate."""
        ...

    def snapshot(self) -> object:
        """All it knows but questions not taken yet: plain data for JSON, with a version."""
        ...


@runtime_checkable
class GuidedPolicy(Protocol):
    """A crawl policy with a memory: it gives a new guide for each site.

    Its `repr`, the same in every process, is the key of the snapshots of its guides.
    """

    def guide(self, langs: Sequence[str]) -> Guide:
        """A guide that knows nothing yet."""
        ...

    def restored(self, langs: Sequence[str], snapshot: object) -> Guide:
        """A guide that knows what a snapshot says; ValueError or the like if it is damaged."""
        ...


class LinkSource(Protocol):
    """Knows which pages link to which, without fetching them."""

    def back_links(self, url: Url, limit: int) -> Sequence[Link] | Failure:
        """Pages, or hosts, of other sites that link to a page or to its host; at most `limit`."""
        ...

    def out_links(self, url: Url, limit: int) -> Sequence[Link] | Failure | None:
        """Links of a page to other sites; None if the page must be fetched to know them."""
        ...


class Detector(Protocol):
    """Decides from very few pages of a site if it is bilingual."""

    def new_test(self, langs: Sequence[str]) -> SiteTest:
        """A new test of one site."""
        ...


class SiteTest(Protocol):
    """The test of one site: it reads pages and asks for more, until it can decide."""

    def read(self, page: Page) -> None:
        """A page of the site, in the order they were fetched; the first is the start page."""
        ...

    def miss(self, url: Url) -> None:
        """A page that it asked for cannot be fetched."""
        ...

    def wanted_links(self) -> Sequence[Link]:
        """The links to fetch now, each once; none if it can decide, or waits for pages."""
        ...

    def decision(self) -> Decision:
        """The decision by the pages so far: accepted if the site is bilingual."""
        ...

    def pages(self) -> Sequence[tuple[str, Url]]:
        """Each language that was found, and the page that shows it."""
        ...


Ranking = Callable[[Sequence[Lead]], Sequence[float]]
"""the probability that each lead leads to a bilingual site; the highest is followed first"""


class DiscoverPolicy(Protocol):
    """Chooses where to look for bilingual sites."""

    looks_back: ClassVar[bool]
    """True if the back links of bilingual sites are looked up"""

    @property
    def per_site(self) -> int:
        """Pages of a site to follow, 0 without limit; with 1 links within a site are left out."""
        ...

    @property
    def learns_every(self) -> int:
        """Pages between the first learning steps, later ones are rarer; 0 if nothing is learned."""
        ...

    def follow(self, page: Page, role: Role) -> Sequence[Link]:
        """The links of a page that are leads."""
        ...

    def outcome(self, page: Page, *, is_bilingual: bool) -> float:
        """The value of having followed a link, from 0 to 1: of its page, and of its site."""
        ...

    def rank(self, examples: Sequence[Example]) -> Ranking:
        """A ranking of leads, learned from all links that were followed so far."""
        ...


class Pairer(Protocol):
    """Finds pages of a site that may be translations of each other."""

    def pair(self, site: SiteView) -> list[PagePair]:
        """Pairs, strongest first; within one pair of languages a page is in at most one."""
        ...


@runtime_checkable
class CandidatePairer(Protocol):
    """A pairer that can also show the candidates it did not choose."""

    def all_candidates(self, site: SiteView) -> list[PagePair]:
        """All candidates, each with its evidence and a probability."""
        ...


class Verifier(Protocol):
    """Decides by their content if two pages are translations of each other."""

    def verify(self, candidate: Candidate) -> Decision:
        """The score, from 0 (certainly not) to 1 (certainly), and the threshold's answer to it."""
        ...


class TreeAligner(Protocol):
    """Aligns the blocks of two pages."""

    uses_lexicon: ClassVar[bool]
    """True if it aligns better with a lexicon"""

    def align(self, left: Page, right: Page, lexicon: Lexicon) -> list[NodePair]:
        """All blocks of both pages, each in exactly one pair, the left ones in order."""
        ...


@runtime_checkable
class LinkAligner(Protocol):
    """A tree aligner that also aligns links."""

    def align_with_links(
        self, left: Page, right: Page, lexicon: Lexicon
    ) -> tuple[list[NodePair], list[tuple[str, str, float]]]:
        """The result of `align`, and the URLs of aligned links with their scores."""
        ...


class SentenceAligner(Protocol):
    """Aligns the sentences of two texts."""

    uses_lexicon: ClassVar[bool]
    """True if it aligns better with a lexicon"""

    def align(self, left: Sequence[str], right: Sequence[str], lexicon: Lexicon) -> list[Bead]:
        """Monotone and complete: every index is in exactly one bead; the lexicon may be empty."""
        ...

    def align_pieces(
        self, pieces: Sequence[tuple[Sequence[str], Sequence[str]]], lexicon: Lexicon
    ) -> list[list[Bead]]:
        """Align many short texts at once, such as those of two pages, each as `align` does."""
        ...


class SentenceEncoder(Protocol):
    """Texts as vectors that are close where the meanings are, in whatever languages."""

    @property
    def langs(self) -> frozenset[str]:
        """The languages it knows, as `text.langs.primary` gives them; none means any."""
        ...

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row of unit length per text, of zeros for a blank one; long texts are cut."""
        ...


class Filter(Protocol):
    """Scores segment pairs, and decides which are kept."""

    @property
    def threshold(self) -> float:
        """The score from which a segment is kept, unless a rule rejects it."""
        ...

    def judge(self, segs: Sequence[SegmentPair], lexicon: Lexicon) -> list[Decision]:
        """Segments of two pages, in order and none with an empty side, each by itself.

        The score is from 0 (worthless) to 1 (certainly a translation).  A reject has a reason:
        `low_score` below the threshold, else the name of the rule it breaks.
        """
        ...

    def rescore(self, scores: NDArray[np.float64], repeats: Repeats) -> NDArray[np.float64]:
        """The scores of `judge`, adjusted at the end of a run to all its segments."""
        ...


class UrlLanguageModel(Protocol):
    """Predicts the language of a page by its URL alone."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Language codes as `text.langs.primary` gives them, and `und` for unknown."""
        ...

    def probabilities(self, urls: Sequence[str]) -> NDArray[np.float32]:
        """One row per URL, one column per label; rows add up to one."""
        ...


class UrlPairModel(Protocol):
    """Predicts by the URLs alone if two pages are translations of each other."""

    def probabilities(self, lefts: Sequence[str], rights: Sequence[str]) -> NDArray[np.float32]:
        """One probability for each left URL with the right URL at the same place."""
        ...


class Corpus(Protocol):
    """The data of an export: read again, in the same order, with each call."""

    @property
    def langs(self) -> Sequence[str]:
        """The languages, in the user's order."""
        ...

    def units(self) -> Iterator[Unit]:
        """The lines of the corpus."""
        ...

    def documents(self) -> Iterator[DocumentPair]:
        """The page pairs of the corpus, with all their text."""
        ...


Files = Callable[[str], BinaryIO]
"""opens a file of a corpus by the ending of its name, such as `tsv` or `en-fr.fr`, each once; it is
compressed if the user wants that, and closed, whole or not at all, when the exporter is done"""


class Exporter(Protocol):
    """A file format for the corpus."""

    suffix: ClassVar[str]
    """the ending of its files; of several files, what stands for all"""

    def write(self, corpus: Corpus, files: Files) -> int:
        """All of the corpus, in the order given, streamed; how many lines it has."""
        ...


@dataclass(slots=True)
class Watcher:
    """Receives the progress of a run, and can stop it; this one does neither."""

    stage: str = ""
    done: int = 0
    total: int | None = None
    unit: str = ""
    crawl: Crawl | None = None
    pairs: int = 0
    segments: int = 0
    notes: list[str] = field(default_factory=list)

    def begin(self, stage: str, total: int | None = None, unit: str = "") -> None:
        """Begin a stage; `total` is its number of parts, such as 12 "page pairs"."""
        self.stage, self.done, self.total, self.unit = stage, 0, total, unit

    def advance(self, count: int = 1) -> None:
        """Count parts of the stage that are done."""
        self.done += count

    def tick(self) -> None:
        """Called many times a second; raises `StoppedError` to end a stage other than the crawl."""

    def stopped(self) -> bool:
        """True to stop crawling, and to finish with the pages so far."""
        return False

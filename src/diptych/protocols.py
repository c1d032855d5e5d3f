"""The verbs of Diptych: one Protocol per stage.

A strategy is a frozen dataclass of its parameters that implements one of these.  Strategies are
pure: network, disk, clock and randomness are arguments or belong to `engine/` and `run/`.
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

    `pages` holds one record per distinct page, without redirects, copies and non-canonical URLs;
    `resolve` maps these to the page that represents them.
    """

    @property
    def site(self) -> Site:
        """The site itself."""
        ...

    @property
    def langs(self) -> Sequence[str]:
        """The requested languages, in the user's order."""
        ...

    @property
    def pages(self) -> Mapping[Url, PageRecord]:
        """The record of each page, by its URL."""
        ...

    def links(self, *, rel: str | None = None) -> Iterator[tuple[Url, Link]]:
        """The links of all pages as (page, link), in order of pages; with `rel`, of that kind."""
        ...

    def resolve(self, url: Url) -> Url | None:
        """The page in `pages` that a URL leads to, or None if it was not fetched."""
        ...

    def sketches(self) -> Iterator[tuple[Url, Sketch]]:
        """The sketches of pages in the requested languages, by URL; read anew each time."""
        ...

    def lexicon(self, left: str, right: str) -> Lexicon:
        """The lexicon of two languages so far; it may be empty."""
        ...


class CrawlPolicy(Protocol):
    """Ranks the links of a page: which to follow, with what priority."""

    def rank(self, page: Page, site: SiteView) -> Iterable[Ranked]:
        """Rank links; called once after each page.  May also change the rank of queued links."""
        ...

    def refill(self, site: SiteView) -> Iterable[Ranked]:
        """Rank more links when the queue is empty; returning none ends the crawl."""
        ...


class Guide(CrawlPolicy, Protocol):
    """A stateful crawl policy for one site.

    It knows only what it observed; from `site` it may read only the languages.  A killed crawl
    resumes with a guide restored from a snapshot, which then observes all later events again.
    """

    def learn(self, event: CrawlEvent, site: SiteView) -> Iterable[Ranked]:
        """Rank links after an event, such as a redirect or a verified pair."""
        ...

    def questions(self) -> Sequence[PagePair | None]:
        """The new questions since the last call; `learn` receives the answers later.

        A pair: verify and align it (`VerifiedPair`); None: pair all pages (`PairingResult`).
        """
        ...

    def outlook(self) -> Outlook | None:
        """The numbers of pairs found and still expected; None without an estimate."""
        ...

    def snapshot(self) -> object:
        """The state, except for pending questions, as versioned data for JSON."""
        ...


@runtime_checkable
class GuidedPolicy(Protocol):
    """A stateful crawl policy: it creates a guide for each site.

    Its `repr`, the same in every process, is the key of the snapshots of its guides.
    """

    def guide(self, langs: Sequence[str]) -> Guide:
        """A new guide without observations."""
        ...

    def restored(self, langs: Sequence[str], snapshot: object) -> Guide:
        """The guide of a snapshot; raises ValueError or a similar error if that is damaged."""
        ...


class LinkSource(Protocol):
    """A source of links between pages that need not be fetched."""

    def back_links(self, url: Url, limit: int) -> Sequence[Link] | Failure:
        """Pages, or hosts, of other sites that link to a page or to its host; at most `limit`."""
        ...

    def out_links(self, url: Url, limit: int) -> Sequence[Link] | Failure | None:
        """Links of a page to other sites; None if the page must be fetched to get them."""
        ...


class Detector(Protocol):
    """Decides from a few pages whether a site is bilingual."""

    def new_test(self, langs: Sequence[str]) -> SiteTest:
        """A new test of one site."""
        ...


class SiteTest(Protocol):
    """The test of one site: it reads pages and requests more until it can decide."""

    def read(self, page: Page) -> None:
        """Read a page of the site; pages come in the order of fetching, the start page first."""
        ...

    def miss(self, url: Url) -> None:
        """Note that a requested page cannot be fetched."""
        ...

    def wanted_links(self) -> Sequence[Link]:
        """The links to fetch next, each once; empty if it can decide or is waiting for pages."""
        ...

    def decision(self) -> Decision:
        """The decision based on the pages so far: accepted if the site is bilingual."""
        ...

    def pages(self) -> Sequence[tuple[str, Url]]:
        """Each language found, and a page in it."""
        ...


Ranking = Callable[[Sequence[Lead]], Sequence[float]]
"""maps leads to probabilities of leading to a bilingual site; the highest is followed first"""


class DiscoverPolicy(Protocol):
    """Chooses where to look for bilingual sites."""

    looks_back: ClassVar[bool]
    """True if the policy needs the back links of bilingual sites"""

    @property
    def per_site(self) -> int:
        """Maximum pages per site, 0 for no limit; with 1, links within a site are not followed."""
        ...

    @property
    def learns_every(self) -> int:
        """Pages between the first learning steps, which become rarer; 0 if it does not learn."""
        ...

    def follow(self, page: Page, role: Role) -> Sequence[Link]:
        """The links of a page that are leads."""
        ...

    def outcome(self, page: Page, *, is_bilingual: bool) -> float:
        """The value of a followed link, from 0 to 1, by its page and its site."""
        ...

    def rank(self, examples: Sequence[Example]) -> Ranking:
        """A ranking of leads, learned from all links followed so far."""
        ...


class Pairer(Protocol):
    """Finds pages of a site that may be translations of each other."""

    def pair(self, site: SiteView) -> list[PagePair]:
        """The pairs, best first; per pair of languages, each page is in at most one."""
        ...


@runtime_checkable
class CandidatePairer(Protocol):
    """A pairer that can also list the candidates it rejected."""

    def all_candidates(self, site: SiteView) -> list[PagePair]:
        """All candidates, each with its evidence and probability."""
        ...


class Verifier(Protocol):
    """Decides by content whether two pages are translations of each other."""

    def verify(self, candidate: Candidate) -> Decision:
        """The score, from 0 (certainly not) to 1 (certainly), and the decision by a threshold."""
        ...


class TreeAligner(Protocol):
    """Aligns the blocks of two pages."""

    uses_lexicon: ClassVar[bool]
    """True if it aligns better with a lexicon"""

    def align(self, left: Page, right: Page, lexicon: Lexicon) -> list[NodePair]:
        """All blocks of both pages, each in exactly one pair, in the order of the left page."""
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
        """The beads in order, each sentence in exactly one of them; the lexicon may be empty."""
        ...

    def align_pieces(
        self, pieces: Sequence[tuple[Sequence[str], Sequence[str]]], lexicon: Lexicon
    ) -> list[list[Bead]]:
        """Align many short texts, such as the blocks of two pages, each like `align`."""
        ...


class SentenceEncoder(Protocol):
    """Encodes texts of any language as vectors; similar meanings have similar vectors."""

    @property
    def langs(self) -> frozenset[str]:
        """The supported languages, as returned by `codes.primary`; empty if all are."""
        ...

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector per text, zeros for a blank text; long texts are truncated."""
        ...


class Filter(Protocol):
    """Scores segment pairs and decides which to keep."""

    @property
    def threshold(self) -> float:
        """The minimum score of a segment to be kept, unless a rule rejects it."""
        ...

    def judge(self, segs: Sequence[SegmentPair], lexicon: Lexicon) -> list[Decision]:
        """The decision on each segment of two pages; segments are in order, without empty sides.

        The score is from 0 (worthless) to 1 (certainly a translation).  A rejection has a reason:
        `low_score` below the threshold, else the name of the violated rule.
        """
        ...

    def rescore(self, scores: NDArray[np.float64], repeats: Repeats) -> NDArray[np.float64]:
        """The scores of `judge`, adjusted at the end of a run for repeated segments."""
        ...


class UrlLanguageModel(Protocol):
    """Predicts the language of a page from its URL alone."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Language codes as returned by `codes.primary`, and `und` for unknown."""
        ...

    def probabilities(self, urls: Sequence[str]) -> NDArray[np.float32]:
        """One row per URL, one column per label; each row sums to one."""
        ...


class UrlPairModel(Protocol):
    """Predicts from their URLs alone whether two pages are translations of each other."""

    def probabilities(self, lefts: Sequence[str], rights: Sequence[str]) -> NDArray[np.float32]:
        """The probability of each left URL with the right URL of the same index."""
        ...


class Corpus(Protocol):
    """The data of an export; each call reads it again, in the same order."""

    @property
    def langs(self) -> Sequence[str]:
        """The languages, in the user's order."""
        ...

    def units(self) -> Iterator[Unit]:
        """The lines of the corpus."""
        ...

    def documents(self) -> Iterator[DocumentPair]:
        """The page pairs of the corpus, with their whole text."""
        ...


Files = Callable[[str], BinaryIO]
"""opens a file of a corpus by the suffix of its name, such as `tsv` or `en-fr.fr`, each once; the
caller of the exporter compresses the file if requested, and closes it atomically at the end"""


class Exporter(Protocol):
    """A file format for the corpus."""

    suffix: ClassVar[str]
    """the suffix of its file; for several files, one that represents all"""

    def write(self, corpus: Corpus, files: Files) -> int:
        """Write the corpus as a stream, in the given order, and return its number of lines."""
        ...


@dataclass(slots=True)
class Watcher:
    """Receives the progress of a run and can stop it; this base class does neither."""

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
        """Called many times a second; may raise `StoppedError` to end any stage but the crawl."""

    def stopped(self) -> bool:
        """True to stop the crawl and continue with the pages so far."""
        return False

"""The interfaces of Diptych: a Protocol for each stage.

A strategy is a frozen dataclass of parameters that implements one of these protocols.  Strategies
are pure: network, disk, clock and randomness are arguments or belong to `engine/` and `run/`.
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
    """A read-only view of what is known about a site: its pages, links, sketches and lexicons.

    `pages` has one record per distinct page; `resolve` maps redirects, copies and other URLs to it.
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
        """All links as (page, link), in page order; with `rel`, only links of that kind."""
        ...

    def resolve(self, url: Url) -> Url | None:
        """Map a URL to the URL in `pages` that represents it; None if it was not fetched."""
        ...

    def sketches(self) -> Iterator[tuple[Url, Sketch]]:
        """The URLs and sketches of pages in the requested languages, read again on each call."""
        ...

    def lexicon(self, left: str, right: str) -> Lexicon:
        """The lexicon that is available for two languages; it may be empty."""
        ...


class CrawlPolicy(Protocol):
    """Ranks the links of a page: decides which to follow, and with what priority."""

    def rank(self, page: Page, site: SiteView) -> Iterable[Ranked]:
        """Rank the links of a page that was just fetched; queued links may be reranked too."""
        ...

    def refill(self, site: SiteView) -> Iterable[Ranked]:
        """Rank more links when the queue is empty; the crawl ends if there are none."""
        ...


class Guide(CrawlPolicy, Protocol):
    """A stateful crawl policy for one site.

    A guide knows only what it has observed; from `site` it may read only the languages.  A killed
    crawl resumes with a guide restored from a snapshot, which then observes all later events again.
    """

    def learn(self, event: CrawlEvent, site: SiteView) -> Iterable[Ranked]:
        """Rank links after an event, such as a redirect or a verified pair."""
        ...

    def questions(self) -> Sequence[PagePair | None]:
        """The guide's new questions since the last call; `learn` later receives the answers.

        A page pair asks for its `VerifiedPair`; None asks for a new `PairingResult`.
        """
        ...

    def outlook(self) -> Outlook | None:
        """The numbers of pairs found and still expected; None if there is no estimate."""
        ...

    def snapshot(self) -> object:
        """The guide's state, except pending questions, as versioned data that JSON can encode."""
        ...


@runtime_checkable
class GuidedPolicy(Protocol):
    """Creates a stateful guide for each site; its `repr`, the key of snapshots, must never vary."""

    def guide(self, langs: Sequence[str]) -> Guide:
        """A new guide without observations."""
        ...

    def restored(self, langs: Sequence[str], snapshot: object) -> Guide:
        """Restore a guide from a snapshot; raise an error such as ValueError if it is damaged."""
        ...


class LinkSource(Protocol):
    """A source that knows links between pages without fetching the pages."""

    def back_links(self, url: Url, limit: int) -> Sequence[Link] | Failure:
        """At most `limit` pages or hosts of other sites that link to a page or to its host."""
        ...

    def out_links(self, url: Url, limit: int) -> Sequence[Link] | Failure | None:
        """At most `limit` links from a page to other sites; None if the page is not known."""
        ...


class Detector(Protocol):
    """Decides from a few pages whether a site is bilingual."""

    def new_test(self, langs: Sequence[str]) -> SiteTest:
        """A new test of one site."""
        ...


class SiteTest(Protocol):
    """The test of one site: it reads pages and requests more until it can decide."""

    def read(self, page: Page) -> None:
        """Read the next fetched page of the site; the start page comes first."""
        ...

    def miss(self, url: Url) -> None:
        """Record that a requested page could not be fetched."""
        ...

    def wanted_links(self) -> Sequence[Link]:
        """The links to fetch next; empty if the test can decide or is waiting for pages."""
        ...

    def decision(self) -> Decision:
        """The decision based on the pages so far: accepted if the site is bilingual."""
        ...

    def pages(self) -> Sequence[tuple[str, Url]]:
        """The languages found, each with the URL of a page in that language."""
        ...


Ranking = Callable[[Sequence[Lead]], Sequence[float]]
"""maps leads to probabilities of reaching a bilingual site; the highest is followed first"""


class DiscoverPolicy(Protocol):
    """Chooses where to look for bilingual sites."""

    looks_back: ClassVar[bool]
    """True if the policy requires the backlinks of bilingual sites"""

    @property
    def per_site(self) -> int:
        """The maximum number of pages per site (0: no limit); if 1, internal links are ignored."""
        ...

    @property
    def learns_every(self) -> int:
        """The initial number of pages between two learning steps; 0 disables learning."""
        ...

    def follow(self, page: Page, role: Role) -> Sequence[Link]:
        """The links of a page to follow as leads; `role` is the page's role in the discovery."""
        ...

    def outcome(self, page: Page, *, is_bilingual: bool) -> float:
        """Rate a followed link to a page from 0 to 1, knowing whether its site is bilingual."""
        ...

    def rank(self, examples: Sequence[Example]) -> Ranking:
        """Learn a ranking of leads from all links followed so far."""
        ...


class Pairer(Protocol):
    """Finds pages of a site that may be translations of each other."""

    def pair(self, site: SiteView) -> list[PagePair]:
        """The page pairs, best first; a page has at most one counterpart in each language."""
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
        """The decision, with a score from 0 (not a translation) to 1 (a translation)."""
        ...


class TreeAligner(Protocol):
    """Aligns the blocks of two pages."""

    uses_lexicon: ClassVar[bool]
    """True if the strategy aligns better with a lexicon"""

    def align(self, left: Page, right: Page, lexicon: Lexicon) -> list[NodePair]:
        """Align the blocks of two pages, in the left page's order; each is in exactly one pair."""
        ...


@runtime_checkable
class LinkAligner(Protocol):
    """A tree aligner that also aligns links."""

    def align_with_links(
        self, left: Page, right: Page, lexicon: Lexicon
    ) -> tuple[list[NodePair], list[tuple[str, str, float]]]:
        """Align two pages as `align` does; also return the URLs of aligned links with scores."""
        ...


class SentenceAligner(Protocol):
    """Aligns the sentences of two texts."""

    uses_lexicon: ClassVar[bool]
    """True if the strategy aligns better with a lexicon"""

    def align(self, left: Sequence[str], right: Sequence[str], lexicon: Lexicon) -> list[Bead]:
        """Align all sentences: each is in exactly one bead, in order.  The lexicon may be empty."""
        ...

    def align_pieces(
        self, pieces: Sequence[tuple[Sequence[str], Sequence[str]]], lexicon: Lexicon
    ) -> list[list[Bead]]:
        """Align each of many short texts, such as the blocks of two pages, as `align` does."""
        ...


class SentenceEncoder(Protocol):
    """Encodes texts of any language as vectors; similar meanings have similar vectors."""

    @property
    def langs(self) -> frozenset[str]:
        """The supported languages, as returned by `codes.primary`; empty if all are supported."""
        ...

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Encode each text as a unit vector, or zeros if it is blank; long texts are truncated."""
        ...


class Filter(Protocol):
    """Scores segment pairs and decides which to keep."""

    @property
    def threshold(self) -> float:
        """The minimum score at which a segment is kept, unless a rule rejects it."""
        ...

    def judge(self, segs: Sequence[SegmentPair], lexicon: Lexicon) -> list[Decision]:
        """Decide on each segment of two pages; segments are in order and have no empty sides.

        Scores are from 0 (worthless) to 1 (certainly a translation).  A rejection has a reason:
        `low_score` or `partial` below the threshold, else the name of the broken rule.
        """
        ...

    def rejections(self, segs: Sequence[SegmentPair]) -> list[str]:
        """For each segment, the rule for which `judge` rejects it whatever its score, or ""."""
        ...

    def rescore(self, scores: NDArray[np.float64], repeats: Repeats) -> NDArray[np.float64]:
        """At the end of a run, adjust the scores of `judge` by how often each segment occurs."""
        ...


class UrlLanguageModel(Protocol):
    """Predicts the language of a page from its URL alone."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Language codes as returned by `codes.primary`, and `und` for unknown."""
        ...

    def probabilities(self, urls: Sequence[str]) -> NDArray[np.float32]:
        """The probability of each label: one row per URL, one column per label; rows sum to one."""
        ...


class UrlPairModel(Protocol):
    """Predicts from their URLs alone whether two pages are translations of each other."""

    def probabilities(self, lefts: Sequence[str], rights: Sequence[str]) -> NDArray[np.float32]:
        """The probability that each left URL and the right URL at the same index form a pair."""
        ...


class Corpus(Protocol):
    """The data of an export; each call reads the data again, in the same order."""

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
"""opens a file of a corpus by the suffix of its name, such as `tsv` or `en-fr.fr`; each file is
opened once; the caller of the exporter compresses it if requested, and completes it atomically"""


class Exporter(Protocol):
    """A file format for the corpus."""

    suffix: ClassVar[str]
    """the suffix of the format's file; for a format with several files, one that represents all"""

    def write(self, corpus: Corpus, files: Files) -> int:
        """Write the lines of the corpus one by one, and return their number."""
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
        """Begin a stage with `total` items, such as 12; `unit` is their name, such as "pages"."""
        self.stage, self.done, self.total, self.unit = stage, 0, total, unit

    def advance(self, count: int = 1) -> None:
        """Record that `count` more items of the stage are finished."""
        self.done += count

    def tick(self) -> None:
        """Called at short intervals for periodic work; may raise `StoppedError` after the crawl."""

    def stopped(self) -> bool:
        """True if the crawl should stop; the run then continues with the pages fetched so far."""
        return False

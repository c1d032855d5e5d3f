"""The nouns of Diptych: every value that passes from one stage to another.

All are immutable.  The ones made by the hundred per page (`Link`, `Block`) are named tuples, which
are built and passed between processes several times faster than dataclasses.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple, NewType

from diptych.reason import Reason

if TYPE_CHECKING:
    from diptych.learn.lexicon.lexicon import Lexicon

Url = NewType("Url", str)
"""A normalised absolute URL; only `text.urls` makes one."""


class LangPair(NamedTuple):
    """Two languages, as the user ordered them."""

    left: str
    right: str


def lang_pairs(langs: Sequence[str]) -> list[LangPair]:
    """All pairs of a list of languages, in the user's order.

    >>> lang_pairs(["en", "fr", "de"])[1]
    LangPair(left='en', right='de')
    """
    return [LangPair(left, right) for left, right in combinations(langs, 2)]


@dataclass(frozen=True, slots=True)
class Site:
    """The unit of work: one or several hosts that are crawled and paired together."""

    name: str
    seeds: tuple[Url, ...]


class Link(NamedTuple):
    """A link with its five contexts (Barbosa et al. 2011): URL, anchor, around, image alt and src.

    rel says what kind of link it is: `a`, `area`, `frame`, `alternate` (link element or HTTP
    header), `canonical`, `sitemap`, `refresh`.
    """

    url: Url
    rel: str = "a"
    hreflang: str = ""
    anchor: str = ""
    around: str = ""
    alt: str = ""
    src: str = ""


FOLLOWED = frozenset({"a", "area", "frame", "alternate", "refresh", "sitemap"})
"""kinds of links (`Link.rel`) that may lead to a page"""


class Kind(IntEnum):
    """The kind of file at a URL, which decides how it is parsed."""

    PAGE = 0
    ROBOTS = 1
    SITEMAP = 2


class Ranked(NamedTuple):
    """A link a crawl policy wants fetched; the frontier takes the highest priority first."""

    link: Link
    priority: float
    lowers: bool = False
    """True if it also lowers the priority of a URL that is queued with a higher one"""


class Block(NamedTuple):
    """A block of running text and the DOM path of the element that holds it."""

    text: str
    path: str


class LangScore(NamedTuple):
    """A language and its probability for a text."""

    lang: str
    score: float


@dataclass(frozen=True, slots=True)
class Node:
    """An element or a text (tag `#text`) of a page's tree; `alt` counts as text (Shi 2006)."""

    tag: str
    text: str
    path: str
    children: tuple[Node, ...] = ()
    href: str = ""


@dataclass(frozen=True, slots=True)
class Response:
    """The answer of a server or an archive, with its body as transferred, not yet decoded."""

    url: Url
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    fetched_at: float
    ip: str = ""
    truncated: str = ""
    """why the body is not whole: `length`, `time`, `disconnect`, `content_type`, or nothing"""

    def header(self, name: str) -> str:
        """The first header of that name, or an empty string."""
        name = name.lower()
        return next((value for key, value in self.headers if key.lower() == name), "")


@dataclass(frozen=True, slots=True)
class Failure:
    """A fault of the web: a value with a reason, never an exception."""

    url: Url
    reason: str
    detail: str = ""
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class PageRecord:
    """The facts of a page that a run keeps, so that its body need not be parsed again."""

    url: Url
    lang: str
    langs: tuple[LangScore, ...]
    title: str
    depth: int
    size: int
    text_length: int
    digest: str
    html_lang: str = ""
    content_language: str = ""
    canonical: Url | None = None
    fetched_at: float = 0.0
    flags: tuple[str, ...] = ()
    """its licence, its rules for robots, machine translators on it, text that scripts make"""
    text_key: int = 0
    """hash of its visible text; 0 if it has next to none, or was read by an earlier version"""


@dataclass(frozen=True, slots=True)
class Sketch:
    """Features of a page's content by which its counterpart is found, in whatever language."""

    tags: str
    """its HTML tags in order, opened and closed, one character for each"""
    words: int
    """words of its text"""
    bag: Mapping[str, int]
    """stems of its words, and its numbers: how often each occurs"""
    files: tuple[str, ...] = ()
    """names of its images, and what it links to outside of the site; sorted"""
    blocks: tuple[tuple[int, float], ...] = ()
    """for each block a hash of its text, and its length in letters"""
    block_words: tuple[tuple[int, ...], ...] = ()
    """the words of each block, as places in the bag"""
    shares: tuple[LangScore, ...] = ()
    """share of each language on a page in several; empty if it is in one"""

    @property
    def letters(self) -> float:
        """The length of its text."""
        return sum(length for _, length in self.blocks)


@dataclass(frozen=True, slots=True)
class Page:
    """A page as read: its record and its links, and where it is asked for its text and tree.

    A crawl asks for neither: it is as fast as pages are read.
    """

    record: PageRecord
    links: tuple[Link, ...]
    blocks: tuple[Block, ...] = ()
    tree: Node | None = None
    sketch: Sketch | None = None

    @property
    def url(self) -> Url:
        """The page's own URL."""
        return self.record.url

    @property
    def lang(self) -> str:
        """The language of its text, as identified; empty when too little text."""
        return self.record.lang


class Evidence(NamedTuple):
    """A kind of evidence that two pages are translations of each other, and its score."""

    name: str
    score: float


@dataclass(frozen=True, slots=True)
class PagePair:
    """Two pages that may be translations of each other, and the evidence for it.

    A page in both languages is both halves of its pair.
    """

    left: Url
    right: Url
    left_lang: str
    right_lang: str
    score: float
    evidence: str
    """names of what proposed the pair, with + between them"""
    scores: tuple[Evidence, ...] = ()
    """all scores that were measured on it"""

    @property
    def langs(self) -> LangPair:
        """Its languages, left and right."""
        return LangPair(self.left_lang, self.right_lang)


class NodePair(NamedTuple):
    """Two aligned pieces of two pages; one side is empty where nothing corresponds."""

    left: tuple[Block, ...]
    right: tuple[Block, ...]
    score: float


class Bead(NamedTuple):
    """Indices of sentences that translate each other; an empty side has no counterpart."""

    left: tuple[int, ...]
    right: tuple[int, ...]
    score: float


@dataclass(frozen=True, slots=True)
class SegmentPair:
    """A piece of text and its translation, with where both were found."""

    left: str
    right: str
    left_lang: str
    right_lang: str
    left_url: Url
    right_url: Url
    left_path: str
    """DOM paths of the blocks it was taken from, with blanks between them"""
    right_path: str
    score: float
    """confidence of the alignment"""
    left_at: str = ""
    """which characters of each of these blocks, as `0-54 0-12`"""
    right_at: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """Accepted or not, with the score it was decided on; a reject has a reason."""

    accept: bool
    score: float
    reason: str = ""
    marks: tuple[str, ...] = ()
    """notes on it for the user, also if it is accepted"""


UNDECIDED = frozenset({Reason.TOO_LITTLE_TEXT, Reason.PARTIAL})
"""reasons of decisions against pages that may correspond all the same"""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Two pages to be verified, with their content, evidence and alignment."""

    pair: PagePair
    left: Page
    right: Page
    """both with their blocks and sketches"""
    segments: Sequence[SegmentPair] = ()
    """in order; with one side empty where nothing corresponds"""
    lexicon: Lexicon | None = None
    """of both languages"""


@dataclass(frozen=True, slots=True)
class Missing:
    """A URL that was asked for and is no page, for good."""

    url: Url
    reason: str


@dataclass(frozen=True, slots=True)
class Moved:
    """A URL that was asked for and leads to another."""

    url: Url
    target: Url


@dataclass(frozen=True, slots=True)
class VerifiedPair:
    """A decision on a pair during the crawl, and the links that were aligned in it."""

    pair: PagePair
    decision: Decision
    links: tuple[tuple[Url, Url], ...] = ()
    """URLs of aligned hyperlinks, left and right"""


@dataclass(frozen=True, slots=True)
class PairingResult:
    """The pairs that the recipe's pairer found among all pages so far; None if it failed."""

    pairs: tuple[PagePair, ...] | None


CrawlEvent = Missing | Moved | VerifiedPair | PairingResult
"""events of a crawl apart from pages"""


@dataclass(frozen=True, slots=True)
class Outlook:
    """The pairs that a crawl has found, and an estimate of those still to be found."""

    found: float
    """pairs so far"""
    left: float
    """pairs that are probably not found yet, behind URLs that are known"""
    budget: float = math.inf
    """downloads after which a site without any pair is given up"""

    @property
    def most_missing(self) -> float:
        """The share of all pairs that is not found yet if more are left than expected.

        As many more as counts usually differ from what is expected of them.

        >>> round(Outlook(90, 4).missing, 3), round(Outlook(90, 4).most_missing, 3)
        (0.043, 0.062)
        """
        return Outlook(self.found, self.left + math.sqrt(self.left)).missing

    @property
    def missing(self) -> float:
        """The share of all pairs that is probably not found yet."""
        return self.left / (self.found + self.left) if self.found + self.left else 0.0


class Role(IntEnum):
    """The role of a page in the discovery of bilingual sites (Barbosa et al. 2011)."""

    SEED = 0
    BACK = 1
    """it links to a bilingual site"""
    FORWARD = 2
    """such a page links to it"""


class Lead(NamedTuple):
    """A page that may be of a bilingual site, or lead to some."""

    id: int
    url: Url
    site: str
    role: Role
    words: tuple[int, ...] = ()
    """the neighbourhood of the link that leads there, as `discover.neighbourhood` numbers it"""
    source: int = 0
    """the lead whose page has that link"""


class Example(NamedTuple):
    """A link that was followed, and its outcome."""

    role: Role
    words: tuple[int, ...]
    share: float
    """of the sites it led to, those that are bilingual"""

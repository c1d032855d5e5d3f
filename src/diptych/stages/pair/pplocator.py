"""Pairs URLs as PPLocator does: by language tokens, then by similarity.

This is section 3.1 of Vieira & Moreira 2012: normalisation, three lists of URLs, and Algorithm 2.
Algorithm 1, the crawl, is implemented as a crawl policy.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from urllib.parse import unquote

from rapidfuzz.distance import Levenshtein

from diptych.language.codes import same_language
from diptych.language.marks import KINDS, mark_table, url_marks
from diptych.language.scripts import marked_language
from diptych.protocols import SiteView
from diptych.stages.pair.shared.blocking import candidates
from diptych.stages.pair.shared.one_partner import one_partner_each
from diptych.text.caches import TextCache
from diptych.types import PagePair, PageRecord, Url

_UNNECESSARY = re.compile(r"\A[a-z]+://|\Awww\.|(?<=/)(?:index|default)(?:\.[a-z]{2,5})?\Z|/\Z")
_SURE_KINDS = ("code", "code3", "endonym", "name")
OTHER = "*"
"""stands for any third language"""


@dataclass(frozen=True, slots=True)
class PPLocator:
    """Pairs each URL with the most similar URL that has a token of the other language."""

    similarity: float = 0.85
    """minimum similarity of the two URLs, by Levenshtein distance"""

    def pair(self, site: SiteView) -> list[PagePair]:
        """Return the page pairs found on a site, strongest first, with `pplocator` as evidence."""
        return one_partner_each(
            pair
            for left, right in combinations(site.langs, 2)
            for pair in self._pairs(site, left, right)
        )

    def _pairs(self, site: SiteView, left: str, right: str) -> list[PagePair]:
        guesses = [(url, guess_language(url, left, right)) for url in sorted(site.pages)]
        # DEVIATION(pplocator): pages are proposed by the tokens of their URLs alone, as in the
        # paper, but pages identified as another language are dropped: `lang=EN` on a French page.
        return [
            PagePair(Url(one), Url(other), left, right, score, "pplocator")
            for one, other, score in find_pairs(*populate(guesses, left, right), self.similarity)
            if _may_be(site.pages[Url(one)], left) and _may_be(site.pages[Url(other)], right)
        ]


def _may_be(page: PageRecord, lang: str) -> bool:
    """True if a page is in the given language, or its language is unknown."""
    return not page.lang or same_language(page.lang, lang)


def normal_form(url: str) -> str:
    """Convert a URL to lower case, without scheme, `www`, index file and trailing slash.

    These parts would only lower the similarity of two URLs.

    >>> normal_form("http://www.travelingtolisbon.com/pt/promocoes.php")
    'travelingtolisbon.com/pt/promocoes.php'
    >>> normal_form("http://x.org/a/index.html")
    'x.org/a'
    """
    return _normal_forms[url]


def _shorten(url: str) -> str:
    text, before = url.lower(), ""
    while text != before:
        before, text = text, _UNNECESSARY.sub("", text, count=1)
    return text


_normal_forms = TextCache(_shorten, 24_000_000, per_character=2)


def guess_language(url: str, left: str, right: str) -> str:
    """The language whose token a URL contains; `*` for a third language, "" if none.

    >>> guess_language("http://x.com/ccmq_eng.htm", "en", "pt")
    'en'
    >>> [guess_language(f"http://x.com/{rest}", "en", "pt") for rest in ("ccmq.htm", "fr/")]
    ['', '*']
    """
    # A code is stronger than a habit: `fc_nu.html?lang=en` is English whatever `f` may mean.
    # Countries are not tokens: Figure 1 of the paper is in a folder `cc-cg`, which is not Congo.
    marks = [
        (KINDS.index(mark.marks[0].kind), mark.start, mark.marks[0].lang, mark.text)
        for mark in url_marks(url, mark_table((left, right)))
        if mark.marks[0].kind != "country" and (mark.field != "host" or mark.start == 0)
    ]
    if marks:
        *_, lang, text = min(marks)
        return marked_language(text, lang, (left, right))
    # DEVIATION(pplocator): a third language's token must fill its segment; otherwise `/it-is-so`
    # would be Italian and `/no-news` Norwegian; the paper gives no list of them.
    others = url_marks(url, mark_table())
    return OTHER if any(_is_third(url, mark.text, mark.marks[0].kind) for mark in others) else ""


def _is_third(url: str, mark: str, kind: str) -> bool:
    if kind not in _SURE_KINDS:
        return False
    segment, label = rf"[/=]{re.escape(mark)}(?:[/&?]|\Z)", rf"://{re.escape(mark)}\.[^/.]+\.[^/]"
    return re.search(f"{segment}|{label}", unquote(url).casefold()) is not None


def populate(
    guessed: Sequence[tuple[Url, str]], left: str, right: str
) -> tuple[list[Url], list[Url]]:
    """Divide URLs by guessed language into the two lists to be compared.

    If one list is empty, it is filled with the URLs without a language token.

    >>> populate([("a", "en"), ("b", "")], "en", "fr")
    (['a'], ['b'])
    >>> populate([("a", ""), ("b", "*")], "en", "fr")
    ([], [])
    """
    lists = {lang: [url for url, guess in guessed if guess == lang] for lang in (left, right, "")}
    if not lists[left] and not lists[right]:
        return [], []
    return lists[left] or lists[""], lists[right] or lists[""]


def find_pairs(
    lefts: Sequence[str], rights: Sequence[str], least: float
) -> list[tuple[str, str, float]]:
    """Pair each left URL with the most similar right URL (Algorithm 2).

    `least` is the minimum similarity of a pair.
    """
    best: dict[str, tuple[float, str]] = {}
    for left, right in candidates(lefts, rights, _pieces.__getitem__):
        # The cutoff is rounded, so it is set slightly lower: 0.85 must not miss 0.85.
        score = Levenshtein.normalized_similarity(
            normal_form(left), normal_form(right), score_cutoff=max(0.0, least - 1e-6)
        )
        # Candidates are sorted, so the first of equally similar ones wins.
        if score >= least and score > best.get(left, (0.0, ""))[0]:
            best[left] = (score, right)
    return [(left, right, score) for left, (score, right) in sorted(best.items())]


def _read_pieces(url: str) -> frozenset[object]:
    """The words of a URL and its pairs of adjacent words, which similar URLs share."""
    words = re.findall(r"[^\W_]+", normal_form(url))
    return frozenset([*words, *pairwise(words)])


_pieces = TextCache(_read_pieces, 200_000_000, per_character=40)

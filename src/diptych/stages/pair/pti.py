"""PTI: pairs pages by generated file names, then by content with a bilingual word list.

Chen, Chau & Yeh 2004, as described and used by Vieira & Moreira 2012 (sections 2 and 4).  First,
page languages are identified.  From a name with a language-indicating substring, all possible names
of the counterpart are generated and looked up.  The remaining pages are paired by their words.

Vieira & Moreira do not specify the substrings, the allowed difference in page size, or the
similarity formula (except the word list and the threshold 0.9), so these are chosen here.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from heapq import nsmallest
from itertools import combinations
from math import ceil
from typing import NamedTuple

from diptych.kernels.tables import Table
from diptych.language.marks import marks_of
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.protocols import SiteView
from diptych.stages.pair.shared.one_partner import one_partner_each
from diptych.stages.pair.shared.page_languages import urls_by_language
from diptych.stages.pair.url_rules import language_words, with_case_of
from diptych.text.cognates import stem
from diptych.types import PagePair, Url

_NAME_SCORE = 0.9  # score of a pair by names; that of a pair by content is its similarity
_MIN_TRANSLATION = 0.1  # minimum probability of a learned translation on the word list
_MAX_HITS = 20_000  # maximum index entries read for one page
_MAX_CANDIDATES = 50  # maximum pages that one page is compared with
_MIN_NAME = 4  # letters; a shorter word is a code
_TOKEN = re.compile(r"[^\W_]+")
_AFTER_HOST = re.compile(r"\A[a-z]+://[^/?#]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Pti:
    """Pairs pages by language-indicating substrings of names, then by a bilingual word list."""

    similarity: float = 0.9
    """similarity of words above which two pages are a pair"""
    size_ratio: float = 2.0
    """maximum ratio of the word counts of two pages"""
    least_words: int = 10
    """minimum number of words from the word list that a page must have to be compared"""

    def pair(self, site: SiteView) -> list[PagePair]:
        """Return the page pairs found on a site, strongest first, with `pti` as evidence."""
        by_lang = urls_by_language(site)
        found: list[PagePair] = []
        for left, right in combinations(site.langs, 2):
            named = one_partner_each(_pairs_by_name(by_lang[left], by_lang[right], left, right))
            taken = {url for pair in named for url in (pair.left, pair.right)}
            rest = [[url for url in by_lang[lang] if url not in taken] for lang in (left, right)]
            found += [*named, *self._by_content(site, rest[0], rest[1], left, right)]
        return one_partner_each(found)

    def _by_content(
        self, site: SiteView, lefts: Sequence[Url], rights: Sequence[Url], left: str, right: str
    ) -> Iterator[PagePair]:
        """Use the word list to pair pages for which no counterpart was found by name."""
        if not lefts or not rights:
            return
        words = word_list(site.lexicon(left, right))
        if not words.translations:
            return
        ours, theirs = _documents(site, lefts, rights, words, self.least_words)
        index = _Index(theirs, words)
        for document in ours:
            translated = _translated(document.words, words)
            for other in index.candidates(document, self.similarity, self.size_ratio):
                # An upper bound, at half the cost, rules most candidates out.
                most = len(document.words) + len(other.words & translated)
                if most <= self.similarity * (len(document.words) + len(other.words)):
                    continue
                score = similarity(document.words, other.words, words)
                if score > self.similarity:
                    yield PagePair(document.url, other.url, left, right, score, "pti")


def _pairs_by_name(
    lefts: Sequence[Url], rights: Collection[Url], left: str, right: str
) -> Iterator[PagePair]:
    there = set(rights)
    for url in lefts:
        for name in generated_names(url, left, right):
            if name in there:
                yield PagePair(url, Url(name), left, right, _NAME_SCORE, "pti")


@lru_cache(maxsize=256)
def _substrings(lang: str) -> tuple[tuple[str, ...], ...]:
    """The substrings that indicate a language, grouped by length: letters, codes and names."""
    habits = (word for word, kind in marks_of(lang).items() if kind == "habit")
    words = sorted({*habits, *(word for like in language_words(lang) for word in like)})
    lengths = [min(len(word), _MIN_NAME) for word in words]
    return tuple(
        tuple(word for word, own in zip(words, lengths, strict=True) if own == length)
        for length in range(1, _MIN_NAME + 1)
    )


def generated_names(url: str, left: str, right: str) -> list[str]:
    """The possible URLs of the counterpart, in language `right`, of a page in language `left`.

    A language-indicating substring is a token of the name, or a prefix or suffix of a token.  It is
    replaced either in one place or everywhere.

    >>> generated_names("http://x.hk/2004/0107e.htm", "en", "zh")
    ['http://x.hk/2004/0107c.htm']
    >>> "http://x.hk/ch-news.htm" in generated_names("http://x.hk/en-news.htm", "en", "zh")
    True
    """
    # DEVIATION(pti): the substrings are codes, names and habits of any two languages, of which only
    # `en-` and `ch-` are known to be the paper's; each is replaced by those of similar length.
    host = _AFTER_HOST.match(url)
    start = host.end() if host else 0
    tokens = list(_TOKEN.finditer(url, start))
    found: dict[str, None] = {}
    for ours, theirs in zip(_substrings(left), _substrings(right), strict=True):
        for word in ours:
            places = [place for token in tokens for place in _places(token, word)]
            for choice in [[place] for place in places] + [places] * (len(places) > 1):
                for other in theirs:
                    found[_with_word(url, choice, len(word), other)] = None
    return list(found)


def _places(token: re.Match[str], word: str) -> list[int]:
    """The positions of a word at the beginning and end of a token."""
    text = token[0].lower()
    begins = [token.start()] if text.startswith(word) else []
    ends = [token.end() - len(word)] if text.endswith(word) and text != word else []
    return begins + ends


def _with_word(url: str, places: Sequence[int], length: int, word: str) -> str:
    for place in sorted(places, reverse=True):
        end = place + length
        url = url[:place] + with_case_of(url[place:end], word) + url[end:]
    return url


class WordList(NamedTuple):
    """A bilingual list of word stems, numbered separately for each language."""

    left_ids: Mapping[str, int]
    right_ids: Mapping[str, int]
    translations: Sequence[AbstractSet[int]]
    """translations of each left stem"""


def word_list(lexicon: Lexicon) -> WordList:
    """Convert a lexicon to a word list of stems, because page sketches contain only stems."""
    pairs = _entries(lexicon.forward, lexicon.left_words, lexicon.right_words)
    pairs |= {
        (left, right)
        for right, left in _entries(lexicon.backward, lexicon.right_words, lexicon.left_words)
    }
    left_ids = {word: number for number, word in enumerate(sorted({left for left, _ in pairs}))}
    right_ids = {word: number for number, word in enumerate(sorted({right for _, right in pairs}))}
    there: list[set[int]] = [set() for _ in left_ids]
    for left, right in pairs:
        there[left_ids[left]].add(right_ids[right])
    return WordList(left_ids, right_ids, there)


def _entries(table: Table, rows: Sequence[str], columns: Sequence[str]) -> set[tuple[str, str]]:
    offsets, targets, values = (part.tolist() for part in table)
    return {
        (stem(word), stem(columns[targets[entry]]))
        for row, word in enumerate(rows)
        for entry in range(offsets[row], offsets[row + 1])
        if values[entry] >= _MIN_TRANSLATION
    }


def similarity(left: AbstractSet[int], right: AbstractSet[int], words: WordList) -> float:
    """The share of the words of two pages that have a translation on the other page.

    >>> words = WordList({"house": 0, "sea": 1}, {"maison": 0, "mer": 1}, [{0}, {1}])
    >>> similarity({0, 1}, {0}, words)
    0.6666666666666666
    """
    # DEVIATION(pti): this formula is ours.  Words of both pages count, each once; words that are
    # not on the list, such as names and numbers, are not compared.
    if not left and not right:
        return 0.0
    found = sum(not words.translations[word].isdisjoint(right) for word in left)
    return (found + len(right & _translated(left, words))) / (len(left) + len(right))


def _translated(left: AbstractSet[int], words: WordList) -> set[int]:
    return set().union(*(words.translations[word] for word in left))


class _Document(NamedTuple):
    """The words of a page that are on the word list, and its total number of words."""

    url: Url
    words: frozenset[int]
    size: int


def _documents(
    site: SiteView, lefts: Sequence[Url], rights: Sequence[Url], words: WordList, least: int
) -> tuple[list[_Document], list[_Document]]:
    """The left and right pages with at least `least` words from the word list, sorted by URL."""
    # DEVIATION(pti): otherwise two pages with one known word each could be a perfect match.
    sides = {url: (words.left_ids, 0) for url in lefts}
    sides |= {url: (words.right_ids, 1) for url in rights}
    found: tuple[list[_Document], list[_Document]] = ([], [])
    for url, sketch in site.sketches():
        if url in sides:
            ids, side = sides[url]
            known = frozenset(ids[word] for word in sketch.bag if word in ids)
            if len(known) >= max(1, least):
                found[side].append(_Document(url, known, sketch.words))
    return sorted(found[0]), sorted(found[1])


class _Index:
    """An inverted index that maps words to pages, so that few pages need to be compared."""

    def __init__(self, documents: Sequence[_Document], words: WordList) -> None:
        self._documents, self._translations = documents, words.translations
        self._pages_with: defaultdict[int, list[int]] = defaultdict(list)
        for number, document in enumerate(documents):
            for word in document.words:
                self._pages_with[word].append(number)

    def candidates(self, document: _Document, least: float, ratio: float) -> list[_Document]:
        """The pages of similar size with the most translations of the document's rarest words.

        Sizes differ by at most the factor `ratio`.  Only the rarest few words are looked up.
        Unless one of them has a translation on the other page, the similarity cannot exceed
        `least`.
        """
        needed = ceil(len(document.words) * (least - (1 - least) * ratio))
        rarest = nsmallest(
            len(document.words) - max(1, needed) + 1,
            ((sum(len(self._pages_with[other]) for other in self._translations[word]), word)
             for word in document.words),
        )  # fmt: skip
        hits: Counter[int] = Counter()
        read = 0
        for often, word in rarest:
            for other in self._translations[word]:
                hits.update(self._pages_with[other])
            read += often
            if read > _MAX_HITS:
                break
        alike = (
            (-shared, number)
            for number, shared in hits.items()
            if _are_of_like_size(document, self._documents[number], ratio)
        )
        return [self._documents[number] for _, number in nsmallest(_MAX_CANDIDATES, alike)]


def _are_of_like_size(one: _Document, other: _Document, ratio: float) -> bool:
    """True if two pages differ in size by at most the factor `ratio`.

    The size is measured both in all words and in words on the word list.
    """
    return all(
        max(sizes) <= ratio * min(sizes)
        for sizes in ((one.size, other.size), (len(one.words), len(other.words)))
    )

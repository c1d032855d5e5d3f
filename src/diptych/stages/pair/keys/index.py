"""Finds candidates for pairing keys in nearly linear time, by removing tokens from URLs.

A URL is a sequence of tokens.  Its hash is a polynomial over the hashes of its tokens.  The hash of
a URL without some tokens can therefore be computed from prefix sums.  With base 1, the hash is a
plain sum and the URL is a set, as in the paper.

A *removal* consists of a URL, the tokens removed from it (the *value*), and the hash of the
remaining tokens (the *rest*).  Two URLs differ only in a key if and only if they have removals with
the same rest.  Sorting by rest brings these removals together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from diptych.text.url_fields import tagged_tokens

Ints: TypeAlias = npt.NDArray[np.int64]
Hashes: TypeAlias = npt.NDArray[np.uint64]

NULL = 0  # value of a URL from which nothing was removed
UNKNOWN = -1  # stands for an unknown page language
_BASE = 0x9E3779B97F4A7C15  # any large odd number
_MAX_GROUP = 128  # maximum removals with the same rest; larger groups are lists, not languages
_MAX_PAIRS = 20_000_000  # this many fit in memory together with a million URLs


@dataclass(frozen=True, slots=True)
class Index:
    """URLs as one flat sequence of tokens, in which the tokens of each URL are adjacent."""

    urls: list[str]
    langs: Ints
    """language number of each URL's page, or `UNKNOWN`"""
    vocabulary: list[str]
    """tagged tokens by number; the first is null"""
    hashes: Hashes
    """hash of each token of the vocabulary"""
    token: Ints
    owner: Ints
    """URL to which the token at each position belongs"""
    start: Ints
    """position where each URL begins, followed by the end of the last URL"""
    sums: Hashes
    """prefix sums of token hashes, weighted by their position in the URL"""
    base: np.uint64
    frequency: Ints
    """number of occurrences of each token of the vocabulary"""

    def between(self, begin: Ints, end: Ints) -> Hashes:
        """The weighted sum of the token hashes from position `begin` up to position `end`."""
        return self.sums[end] - self.sums[begin]

    def whole(self) -> Hashes:
        """The hash of each URL."""
        return self.between(self.start[:-1], self.start[1:])

    def without(self, begin: Ints, length: int) -> Hashes:
        """For each position in `begin`, the hash of its URL without the `length` tokens there."""
        owner = self.owner[begin]
        before = self.between(self.start[owner], begin)
        behind = self.between(begin + length, self.start[owner + 1])
        # The tokens behind move up: the inverse of the base corrects their weights.
        return before + behind * np.uint64(pow(int(self.base), -length, 1 << 64))

    def weights(self, offset: Ints) -> Hashes:
        """The hash weights of tokens, given their offsets from the beginning of the URL."""
        powers = np.full(int(offset.max(initial=0)) + 1, self.base, np.uint64)
        powers[0] = 1
        return np.cumprod(powers, dtype=np.uint64)[offset]


class Removals(NamedTuple):
    """URLs with one value removed, as parallel arrays.

    `rest` is the hash of the remaining tokens, `url` is the number of the URL, and `value` is the
    number of the removed value.
    """

    rest: Hashes
    url: Ints
    value: Ints


class Candidates(NamedTuple):
    """Pairs of URLs that are equal after one value is removed from each, as parallel arrays.

    `url` is the URL with the lower value number, and `other` is the other URL.
    """

    url: Ints
    value: Ints
    other: Ints
    other_value: Ints
    rivals: Ints
    """number of URLs with the same rest and value as `url` or `other`, whichever is greater"""


@dataclass(frozen=True, slots=True)
class Values:
    """All values removed from URLs: single tokens first, then other strings, such as suffixes."""

    texts: list[str]
    """strings tagged by field; null is the empty string"""
    frequency: Ints


def hashes_of(texts: Iterable[str]) -> Hashes:
    """Hash each token; the hashes are the same in every process."""
    joined = b"".join(
        blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest() for text in texts
    )
    return np.frombuffer(joined, dtype=np.uint64)


def build_index(pages: Sequence[tuple[str, int]], *, paper: bool = False) -> Index:
    """Build the index of pages, each given as (URL, language number).

    Pages must be sorted; strings that are not URLs are skipped.  With `paper`, each URL is a set of
    tokens, as in Kit & Ng 2007.

    >>> index = build_index([("http://x.org/en/a", 0), ("http://x.org/fr/a", 1), ("?", 0)])
    >>> index.vocabulary, index.frequency.tolist()
    (['', 'hx', 'horg', 'pen', 'fa', 'pfr'], [0, 2, 2, 1, 2, 1])
    """
    numbers: dict[str, int] = {"": NULL}
    urls: list[str] = []
    langs: list[int] = []
    flat: list[int] = []
    sizes: list[int] = []
    for url, lang in pages:
        found = tagged_tokens(url, paper=paper)
        if found is None:
            continue
        if paper:
            found = list(dict.fromkeys(found))  # as a set
        urls.append(url)
        langs.append(lang)
        flat += [numbers.setdefault(token, len(numbers)) for token in found]
        sizes.append(len(found))
    vocabulary = list(numbers)
    hashes = hashes_of(vocabulary)
    token = np.array(flat, dtype=np.int64)
    owner = np.repeat(np.arange(len(urls), dtype=np.int64), sizes)
    start = np.concatenate(([0], np.cumsum(np.array(sizes, dtype=np.int64)))).astype(np.int64)
    index = Index(
        urls, np.array(langs, np.int64), vocabulary, hashes, token, owner, start,
        np.zeros(1, np.uint64), np.uint64(1 if paper else _BASE),
        np.bincount(token, minlength=len(vocabulary)).astype(np.int64),
    )  # fmt: skip
    weighted = hashes[token] * index.weights(np.arange(len(token)) - start[owner])
    sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(weighted, dtype=np.uint64)))
    return replace(index, sums=sums)


def match_removals(removals: Removals, langs: Ints, *, all_groups: bool = False) -> Candidates:
    """Pair URLs with the same rest and different values, unless both are in the same language.

    `langs` contains the language number of each URL's page.  Removals with the same rest form a
    group.  Unless `all_groups` is set, groups too large to be versions of one page in several
    languages are skipped.
    """
    order = np.argsort(removals.rest, kind="stable")
    rest, url, value = removals.rest[order], removals.url[order], removals.value[order]
    starts = np.flatnonzero(np.concatenate(([True], rest[1:] != rest[:-1])))
    sizes = np.diff(np.append(starts, len(rest))) if len(rest) else np.zeros(0, np.int64)
    kept = (
        (sizes > 1)
        & _has_several_values(value, starts)
        & _may_have_several_langs(langs[url], starts)
    )
    if not all_groups:
        kept &= sizes <= _max_group_size(sizes[kept])
    inside = np.repeat(kept, sizes)
    ends = np.repeat(np.cumsum(sizes[kept]), sizes[kept])
    url, value = url[inside], value[inside]
    rivals = _rivals(rest[inside], value)
    first, second = _pairs_within(ends)
    same = langs[url[first]] == langs[url[second]]
    fine = (value[first] != value[second]) & (url[first] != url[second])
    fine &= ~same | (langs[url[first]] == UNKNOWN)
    first, second = first[fine], second[fine]
    swapped = value[first] > value[second]
    low, high = np.where(swapped, second, first), np.where(swapped, first, second)
    return Candidates(
        url[low], value[low], url[high], value[high], np.maximum(rivals[low], rivals[high])
    )


def _has_several_values(value: Ints, starts: Ints) -> Any:
    """A mask of the groups with more than one value; groups begin at `starts`."""
    if not len(starts):
        return np.zeros(0, bool)
    return np.minimum.reduceat(value, starts) != np.maximum.reduceat(value, starts)


def _may_have_several_langs(lang: Ints, starts: Ints) -> Any:
    """A mask of the groups with several languages or an unknown one; groups begin at `starts`."""
    if not len(starts):
        return np.zeros(0, bool)
    least = np.minimum.reduceat(lang, starts)
    return (least != np.maximum.reduceat(lang, starts)) | (least == UNKNOWN)


def _max_group_size(sizes: Ints) -> int:
    """The maximum size of a group, chosen so that the pairs within all groups fit in memory."""
    limit = _MAX_GROUP
    while limit > 2 and _pairs_of(sizes[sizes <= limit]) > _MAX_PAIRS:
        limit //= 2
    return limit


def _pairs_of(sizes: Ints) -> int:
    return int((sizes * (sizes - 1) // 2).sum())


def _rivals(rest: Hashes, value: Ints) -> Ints:
    """For each removal, the number of removals with the same value and rest."""
    both = rest * np.uint64(_BASE) + value.astype(np.uint64)
    _, which, counts = np.unique(both, return_inverse=True, return_counts=True)
    rivals: Ints = counts[which]
    return rivals


def _pairs_within(ends: Ints) -> tuple[Ints, Ints]:
    """All pairs of positions in the same group; `ends` holds the end of each position's group."""
    firsts: list[Ints] = []
    seconds: list[Ints] = []
    places = np.arange(len(ends), dtype=np.int64)
    step = 1
    while len(places):
        places = places[places + step < ends[places]]
        firsts.append(places)
        seconds.append(places + step)
        step += 1
    empty = np.zeros(0, np.int64)
    return np.concatenate((empty, *firsts)), np.concatenate((empty, *seconds))

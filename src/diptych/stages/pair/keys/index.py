"""URLs with a hole: candidates for pairing keys in near linear time.

A URL is a sequence of tokens.  Its hash is a polynomial over theirs, so that the hash of a URL
without some of its tokens follows from sums over parts of it; with the base 1 it is a plain sum
and the URL is a set, as in the paper.  A *reading* is a URL, what was taken out of it (a *value*)
and the hash of what is left.  Two URLs match by a key exactly if readings of theirs leave the same:
sorting the readings brings them together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from diptych.text.url_fields import tagged_tokens

__all__ = [
    "NULL",
    "UNKNOWN",
    "Candidates",
    "Index",
    "Readings",
    "Values",
    "build_index",
    "hash_of",
    "hashes_of",
    "join",
]

Ints: TypeAlias = npt.NDArray[np.int64]
Hashes: TypeAlias = npt.NDArray[np.uint64]

NULL = 0  # the value of a URL nothing was taken out of
UNKNOWN = -1  # the language of a page whose language is not known
_BASE = 0x9E3779B97F4A7C15  # any large odd number
_MAX_GROUP = 128  # readings that leave the same; more are pages of a list, not languages
_MAX_PAIRS = 20_000_000  # what fits in memory beside a million URLs


@dataclass(frozen=True, slots=True)
class Index:
    """URLs as sequences of tokens, flat: those of a URL stand together, in their order."""

    urls: list[str]
    langs: Ints
    """the number of each page's language, or `UNKNOWN`"""
    vocabulary: list[str]
    """tagged tokens by number; the first is null"""
    hashes: Hashes
    """of each token of the vocabulary"""
    token: Ints
    owner: Ints
    """the token at each place, and the URL it is of"""
    start: Ints
    """the place where each URL begins, and behind the last where it ends"""
    sums: Hashes
    """the hashes of all tokens before a place, weighted by where they stand in their URL"""
    base: np.uint64
    frequency: Ints
    """at how many places each token of the vocabulary is"""

    def between(self, begin: Ints, end: Ints) -> Hashes:
        """The weighted sum of the tokens from one place to another."""
        return self.sums[end] - self.sums[begin]

    def whole(self) -> Hashes:
        """The hash of each URL."""
        return self.between(self.start[:-1], self.start[1:])

    def without(self, begin: Ints, length: int) -> Hashes:
        """The hash of the URL of a place without some tokens from there."""
        owner = self.owner[begin]
        before = self.between(self.start[owner], begin)
        behind = self.between(begin + length, self.start[owner + 1])
        # The tokens behind move up: the inverse of the base takes their weights back.
        return before + behind * np.uint64(pow(int(self.base), -length, 1 << 64))

    def weights(self, offset: Ints) -> Hashes:
        """What the tokens so far from the beginning of their URL are weighted by."""
        powers = np.full(int(offset.max(initial=0)) + 1, self.base, np.uint64)
        powers[0] = 1
        return np.cumprod(powers, dtype=np.uint64)[offset]


class Readings(NamedTuple):
    """Parallel arrays: what is left, of which URL, and the value that was taken out."""

    left: Hashes
    url: Ints
    value: Ints


class Candidates(NamedTuple):
    """Pairs of URLs that leave the same, by what was taken out of each; the lower value first."""

    url: Ints
    value: Ints
    other: Ints
    other_value: Ints
    rivals: Ints
    """how many URLs leave the same for the same value, on the side where there are more"""


@dataclass(frozen=True, slots=True)
class Values:
    """All that was taken out: tokens of the vocabulary, then what was put together from them."""

    texts: list[str]
    """tagged by the field; null is empty"""
    frequency: Ints


def hash_of(text: str) -> int:
    """A number that stands for a token, the same in every process."""
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def hashes_of(texts: Iterable[str]) -> Hashes:
    """`hash_of` for many."""
    joined = b"".join(
        blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest() for text in texts
    )
    return np.frombuffer(joined, dtype=np.uint64)


def build_index(pages: Sequence[tuple[str, int]], *, paper: bool = False) -> Index:
    """The index of some pages, given as (url, number of its language).

    Pages must be sorted; what is no URL is left out.

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
            found = list(dict.fromkeys(found))  # a set
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


def join(readings: Readings, langs: Ints, *, all_groups: bool = False) -> Candidates:
    """All pairs of URLs that leave the same, with different values, and not of one language.

    Unless asked for all, groups that are larger than languages can be are left out.
    """
    order = np.argsort(readings.left, kind="stable")
    left, url, value = readings.left[order], readings.url[order], readings.value[order]
    starts = np.flatnonzero(np.concatenate(([True], left[1:] != left[:-1])))
    sizes = np.diff(np.append(starts, len(left))) if len(left) else np.zeros(0, np.int64)
    kept = (sizes > 1) & _is_mixed(value, starts) & _may_differ(langs[url], starts)
    if not all_groups:
        kept &= sizes <= _largest(sizes[kept])
    inside = np.repeat(kept, sizes)
    ends = np.repeat(np.cumsum(sizes[kept]), sizes[kept])
    url, value = url[inside], value[inside]
    rivals = _rivals(left[inside], value)
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


def _is_mixed(value: Ints, starts: Ints) -> Any:
    """Which groups have more than one value."""
    if not len(starts):
        return np.zeros(0, bool)
    return np.minimum.reduceat(value, starts) != np.maximum.reduceat(value, starts)


def _may_differ(lang: Ints, starts: Ints) -> Any:
    """Which groups have more than one language, or one that is not known."""
    if not len(starts):
        return np.zeros(0, bool)
    least = np.minimum.reduceat(lang, starts)
    return (least != np.maximum.reduceat(lang, starts)) | (least == UNKNOWN)


def _largest(sizes: Ints) -> int:
    """The largest size of a group at which the pairs of all groups can be held."""
    limit = _MAX_GROUP
    while limit > 2 and _pairs_of(sizes[sizes <= limit]) > _MAX_PAIRS:
        limit //= 2
    return limit


def _pairs_of(sizes: Ints) -> int:
    return int((sizes * (sizes - 1) // 2).sum())


def _rivals(left: Hashes, value: Ints) -> Ints:
    """For each reading, how many have both its value and what it leaves."""
    both = left * np.uint64(_BASE) + value.astype(np.uint64)
    _, which, counts = np.unique(both, return_inverse=True, return_counts=True)
    rivals: Ints = counts[which]
    return rivals


def _pairs_within(ends: Ints) -> tuple[Ints, Ints]:
    """All pairs of places within the same group; a place knows where its group ends."""
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

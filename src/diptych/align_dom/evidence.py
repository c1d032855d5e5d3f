"""What the texts of two nodes say of whether they correspond: words, lengths and links.

IBM Model 1 as in Shi et al. 2006, summed over the postings of words instead of over all pairs of
nodes.  A word that no lexicon knows says nothing; one that stands on both pages, a name or a
number, is taken for its own translation.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from diptych.align_dom.document import Document
from diptych.kernels.tree_align import Postings, Translations, add_words
from diptych.text.lengths import length_cost, text_length
from diptych.text.tokens import tokens

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from diptych.learn.lexicon import Lexicon, Table

__all__ = ["Evidence", "PairEvidence", "Texts", "length_gains", "read_evidence", "read_texts"]

_MAX_WORDS = 400  # of a node: more make it no surer, and a megabyte of text is no paragraph
_MAX_CHARACTERS = 4_000
_LEVELS = (1.0, 0.5, 0.2, 0.0)  # of how likely a word is copied: each is one pass over the words
_FREQUENT = 4  # occurrences from which a word is less likely a name
_FINE, _STEP, _BINS = 20, 1.07, 128  # up to 29,000 characters
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Evidence:
    """How much each kind of evidence counts; all zero but `words` is the paper."""

    words: float = 1.0
    null: float = 0.3
    backward: float = 0.5
    rare: float = 1.0
    identical: float = 0.8
    length: float = 1.0
    one_sided: float = 3.0
    same_link: float = 3.0


class Texts(NamedTuple):
    """A document as the evidence sees it."""

    vocabulary: dict[str, int]
    postings: Postings
    """for each word the nodes it stands in, and how often"""
    sizes: NDArray[np.float32]
    """words of each node"""
    lengths: NDArray[np.float64]
    hrefs: tuple[str, ...]

    counts: NDArray[np.float64]
    """of each word"""

    @property
    def chance(self) -> NDArray[np.float64]:
        """How likely each word is by itself."""
        counts = self.counts
        chance: NDArray[np.float64] = (counts + 0.5) / (counts.sum() + 0.5 * len(counts) + 1)
        return chance


def read_texts(tree: Document, lang: str) -> Texts:
    """Words, lengths and links of all nodes."""
    vocabulary: dict[str, int] = {}
    entries: dict[tuple[int, int], int] = {}
    sizes = np.zeros(len(tree), np.float32)
    for node, text in enumerate(tree.texts):
        if not text:
            continue
        found = tokens(text[:_MAX_CHARACTERS], lang)[:_MAX_WORDS]
        sizes[node] = len(found)
        for word in found:
            key = vocabulary.setdefault(word, len(vocabulary)), node
            entries[key] = entries.get(key, 0) + 1
    lengths = np.array([text_length(text) if text else 0.0 for text in tree.texts])
    postings = _postings(entries, len(vocabulary))
    rows = np.repeat(np.arange(len(vocabulary)), np.diff(postings.offsets))
    counts = np.bincount(rows, postings.values, len(vocabulary)).astype(np.float64)
    return Texts(vocabulary, postings, sizes, lengths, tree.hrefs, counts)


def _postings(entries: dict[tuple[int, int], int], words_: int) -> Postings:
    pairs = np.array(list(entries), np.int64).reshape(-1, 2)
    values = np.array(list(entries.values()), np.float32)
    order = np.argsort(pairs[:, 0], kind="stable")
    return Postings(_offsets(pairs[:, 0], words_), pairs[order, 1].astype(np.int32), values[order])


def _offsets(rows: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    found: NDArray[np.int64] = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=count), out=found[1:])
    return found


class PairEvidence(NamedTuple):
    """What is known of the texts of two documents, ready for any part of both."""

    left: Texts
    right: Texts
    evidence: Evidence
    forward: tuple[_Kind, ...]
    """of left words given right ones"""
    backward: tuple[_Kind, ...]

    def gains(self, ours: slice, theirs: slice) -> NDArray[np.float32]:
        """For each pair of nodes, log of Pr(text | text) over Pr(text | NULL)."""
        evidence = self.evidence
        left, right = self.left.sizes[ours] > 0, self.right.sizes[theirs] > 0
        gains = np.zeros((len(left), len(right)), np.float32)
        for kind in self.forward:
            kind.add_to(gains, ours, theirs)
        if self.backward:
            other = np.zeros(gains.shape[::-1], np.float32)
            for kind in self.backward:
                kind.add_to(other, theirs, ours)
            gains *= 1 - evidence.backward
            gains += evidence.backward * other.T
        gains *= evidence.words
        if evidence.length:
            lengths = length_gains(self.left.lengths[ours], self.right.lengths[theirs])
            gains += np.where(np.outer(left, right), evidence.length * lengths, 0)
        if evidence.one_sided:
            gains -= evidence.one_sided * np.logical_xor.outer(left, right)
        if evidence.same_link:
            _add_links(gains, self.left.hrefs[ours], self.right.hrefs[theirs], evidence.same_link)
        return gains


def read_evidence(left: Texts, right: Texts, lexicon: Lexicon, evidence: Evidence) -> PairEvidence:
    """Look up the words of two documents, once for all their nodes."""
    ids, other_ids = lexicon.left_ids, lexicon.right_ids
    given = _Given(other_ids, lexicon.backward, lexicon.right_counts)
    forward = _kinds(left, right, ids, given, evidence)
    backward: tuple[_Kind, ...] = ()
    if evidence.backward:
        given = _Given(ids, lexicon.forward, lexicon.left_counts)
        backward = _kinds(right, left, other_ids, given, evidence)
    return PairEvidence(left, right, evidence, forward, backward)


class _Kind(NamedTuple):
    """Words of one kind, how they may be translated, and how likely they come from nothing."""

    words: Postings
    translations: Translations
    shares: Postings
    base: NDArray[np.float32]

    def add_to(self, gains: NDArray[np.float32], ours: slice, theirs: slice) -> None:
        words, base = _part(self.words, ours), self.base[theirs]
        counts = np.bincount(words.nodes, words.values, len(gains))
        gains += np.outer(counts, np.log(base)).astype(np.float32)
        add_words(gains, words, self.translations, _part(self.shares, theirs), base, 1.0)


def _part(postings: Postings, part: slice) -> Postings:
    """The postings of some nodes in a row, counted from the first of them."""
    if part.start == 0 and part.stop > postings.nodes.max(initial=-1):
        return postings
    inside = (postings.nodes >= part.start) & (postings.nodes < part.stop)
    offsets = np.concatenate([[0], np.cumsum(inside)])[postings.offsets]
    return Postings(offsets, postings.nodes[inside] - np.int32(part.start), postings.values[inside])


class _Given(NamedTuple):
    """A lexicon in one direction: the words that are given, and what they become."""

    ids: dict[str, int]
    table: Table
    counts: NDArray[np.float32]

    def rows(self, words: Iterable[str]) -> NDArray[np.int64]:
        """The row of each word, or -1 where there is nothing in it."""
        rows = np.array([self.ids.get(word, -1) for word in words], np.int64)
        rows[rows >= 0] = np.where(
            np.diff(self.table.offsets)[rows[rows >= 0]] > 0, rows[rows >= 0], -1
        )
        return rows

    def trust(self, rows: NDArray[np.int64], rare: float) -> NDArray[np.float64]:
        """How far to believe each row, 0 where there is none.

        DEVIATION(shi): Model 1 is certain of what it saw once; a row of few observations is mixed
        with chance.
        """
        trust = np.where(rows >= 0, 1.0, 0.0)
        if len(self.counts) and rare:
            seen = self.counts[rows[rows >= 0]]
            trust[rows >= 0] = seen / (seen + rare)
        return trust


def _kinds(
    ours: Texts, theirs: Texts, our_ids: dict[str, int], given: _Given, evidence: Evidence
) -> tuple[_Kind, ...]:
    """Model 1 of our words given theirs, over our words by chance.

    A word of theirs that the table does not know may become any word: its row is chance itself.
    """
    if not evidence.words:
        return ()
    ids = np.array([our_ids.get(word, -1) for word in ours.vocabulary], np.int64)
    rows = given.rows(theirs.vocabulary)
    trust = given.trust(rows, evidence.rare)
    shared = _shared(ours, theirs, rows >= 0, evidence.identical)
    is_shared, loose = np.zeros(len(ids), bool), 1 - trust
    is_shared[shared.ours] = True
    loose[shared.theirs] = 1 - shared.copied
    sizes = np.maximum(theirs.sizes, 1)
    open_share = np.where(theirs.sizes > 0, _node_sums(theirs, loose) / sizes, 1.0)
    null = _null(theirs.sizes, evidence)
    weights = ((1 - null) / sizes)[theirs.postings.nodes]
    shares = theirs.postings._replace(values=(theirs.postings.values * weights).astype(np.float32))
    known = _known(given.table, rows, ids, trust, ours.chance)
    base = (null + (1 - null) * open_share).astype(np.float32)
    kinds = [_Kind(_only(ours, (ids >= 0) & ~is_shared), known, shares, base)]
    for level in np.unique(shared.copied):
        # A word that could have been copied and was not speaks against.
        missed = null * (1 - level / 2) + (1 - null) * open_share * (1 - level)
        missed = missed.astype(np.float32)
        missed[theirs.sizes == 0] = 1.0
        alike = shared.of(level)
        kind = np.zeros(len(ids), bool)
        kind[alike.ours] = True
        kinds.append(_Kind(_only(ours, kind), _same(ours, alike), shares, missed))
    return tuple(kinds)


class _Shared(NamedTuple):
    """Words of both pages, by their numbers on both, and how likely one is copied."""

    ours: NDArray[np.int64]
    theirs: NDArray[np.int64]
    copied: NDArray[np.float64]

    def of(self, level: float) -> _Shared:
        return _Shared(*(column[self.copied == level] for column in self))


def _shared(ours: Texts, theirs: Texts, has_row: NDArray[np.bool_], identical: float) -> _Shared:
    """Words of both pages, unless the table knows how to translate them.

    A word that stands more often on one page cannot have been copied each time, and one that is
    frequent is rather a word of both languages, such as `in` of English and German.
    """
    pairs = [
        (number, other, bool(_DIGIT.search(word)))
        for word, number in ours.vocabulary.items()
        if (other := theirs.vocabulary.get(word)) is not None
        and (not has_row[other] or _DIGIT.search(word))
    ]
    columns = np.array(pairs, np.int64).reshape(-1, 3)
    counts = ours.counts[columns[:, 0]], theirs.counts[columns[:, 1]]
    most, least = np.maximum(*counts), np.minimum(*counts)
    often = np.where(columns[:, 2] > 0, 1.0, np.minimum(1.0, _FREQUENT / np.maximum(most, 1)))
    share = least / np.maximum(most, 1) * often
    levels = np.array(_LEVELS)
    level = levels[np.abs(share[:, None] - levels[None, :]).argmin(1)]
    keep = level > 0
    copied = np.where(columns[:, 2] > 0, 1 - (1 - identical) ** 2, identical) * level
    return _Shared(columns[keep, 0], columns[keep, 1], copied[keep])


def _only(texts: Texts, kind: NDArray[np.bool_]) -> Postings:
    """The postings of words of a kind."""
    keep = np.repeat(kind, np.diff(texts.postings.offsets))
    offsets = np.concatenate([[0], np.cumsum(keep)])[texts.postings.offsets]
    return Postings(offsets, texts.postings.nodes[keep], texts.postings.values[keep])


def _same(ours: Texts, shared: _Shared) -> Translations:
    """Words of both pages as their own translations; they come in the order of ours."""
    odds = (shared.copied / ours.chance[shared.ours]).astype(np.float32)
    count = len(ours.vocabulary)
    return Translations(_offsets(shared.ours, count), shared.theirs.astype(np.int32), odds)


def _null(sizes: NDArray[np.float32], evidence: Evidence) -> NDArray[np.float32]:
    """The share of words that translate none.

    DEVIATION(shi): a constant instead of 1 / (l + 1), in which a long text explains every word.
    """
    if evidence.null:
        return np.full(len(sizes), evidence.null, np.float32)
    return (1 / (sizes + 1)).astype(np.float32)


def _known(
    table: Table,
    rows: NDArray[np.int64],
    ids: NDArray[np.int64],
    trust: NDArray[np.float64],
    chance: NDArray[np.float64],
) -> Translations:
    """The part of the table that both pages have words for, by our words."""
    wanted = np.flatnonzero(rows >= 0)
    starts, stops = table.offsets[rows[wanted]], table.offsets[rows[wanted] + 1]
    lengths = stops - starts
    at = np.repeat(starts - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
    place = np.full(max(int(ids.max(initial=-1)), int(table.columns[at].max(initial=-1))) + 1, -1)
    place[ids[ids >= 0]] = np.flatnonzero(ids >= 0)
    ours = place[table.columns[at]]
    keep = ours >= 0
    ours, theirs, values = ours[keep], np.repeat(wanted, lengths)[keep], table.values[at][keep]
    order = np.argsort(ours, kind="stable")
    odds = (values * trust[theirs] / chance[ours])[order].astype(np.float32)
    return Translations(_offsets(ours, len(ids)), theirs[order].astype(np.int32), odds)


def _node_sums(texts: Texts, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    per_posting = np.repeat(weights, np.diff(texts.postings.offsets)) * texts.postings.values
    sums = np.bincount(texts.postings.nodes, per_posting, len(texts.sizes))
    return sums.astype(np.float64)


def length_gains(left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float32]:
    """What two lengths gain: like lengths of long texts are less often chance."""
    bins, other = _bins(left), _bins(right)
    return _length_table()[bins[:, None], other[None, :]]


def _bins(lengths: NDArray[np.float64]) -> NDArray[np.int64]:
    """Lengths in steps of one, then of a part: the table of their costs is made once."""
    fine = np.minimum(lengths, _FINE)
    coarse = np.log(np.maximum(lengths, _FINE) / _FINE) / np.log(_STEP)
    bins: NDArray[np.int64] = np.minimum(np.rint(fine + coarse), _BINS - 1).astype(np.int64)
    return bins


@cache
def _length_table() -> NDArray[np.float32]:
    at = [float(k) if k <= _FINE else _FINE * _STEP ** (k - _FINE) for k in range(_BINS)]
    table = np.zeros((_BINS, _BINS), np.float32)
    for row, left in enumerate(at):
        for column, right in enumerate(at[: row + 1]):
            gain = 0.5 * math.log1p((left + right) / 20) - length_cost(left, right)
            table[row, column] = table[column, row] = gain
    return table


def _add_links(
    gains: NDArray[np.float32], left: Sequence[str], right: Sequence[str], weight: float
) -> None:
    """Links to the same address, or to one of the same name, lead the same way."""
    for part, name in ((weight / 2, _whole), (weight / 2, _name)):
        places: dict[str, list[int]] = {}
        for node, href in enumerate(right):
            if href:
                places.setdefault(name(href), []).append(node)
        for node, href in enumerate(left):
            if href:
                gains[node, places.get(name(href), [])] += part


def _whole(href: str) -> str:
    return href


def _name(href: str) -> str:
    """The last part of an address.

    >>> _name("http://a.test/en/help.html#top")
    'help.html#top'
    """
    return href.rstrip("/").rpartition("/")[2]

"""Word evidence for segments: lexicon, cognates, numbers and word order.

The segments of two pages form a group: the words of each side of a group form one vocabulary, and
the word links between the two vocabularies are found once (`learn.lexicon.word_links`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diptych.kernels import native
from diptych.kernels.beads import Windows, word_gains
from diptych.kernels.ibm1 import Bags, postings
from diptych.kernels.tables import Table
from diptych.kernels.word_evidence import (
    COLUMNS,
    EvidenceSettings,
    SideArrays,
    find_evidence,
)
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.learn.lexicon.stems import known_stems
from diptych.learn.lexicon.word_links import (
    BASE,
    FREQUENT,
    LOOKS,
    MIN_LIFT,
    NAME,
    NUMBER,
    RARE,
    lifts,
    trust,
    vocabulary_links,
)
from diptych.stages.filter.quality.side_words import SideWords
from diptych.stages.filter.quality.unlinked import UnlinkedWords, unlinked_words

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_NULL_SHARE = 0.3  # share of known words without a counterpart in a good translation
_SETTINGS = EvidenceSettings(RARE, BASE, MIN_LIFT, NAME, NUMBER, FREQUENT, _NULL_SHARE)


class WordEvidence(NamedTuple):
    """Evidence, for each segment, of how well the words of its sides correspond."""

    gains: tuple[Floats, Floats]
    """for each side, the log-likelihood ratio per known word: given the other side vs. by chance"""
    margins: tuple[Floats, Floats]
    """for each side, its gain minus its highest gain with a neighbour of the other side"""
    known: tuple[Floats, Floats]
    """for each side, the number of known words"""
    covered: tuple[Floats, Floats]
    """for each side, the share of known words with a counterpart, weighted by rarity"""
    links: Floats
    """number of word pairs that are each other's best counterpart"""
    in_order: Floats
    """share of `links` that are in the same order on both sides"""
    displaced: Floats
    """mean distance between the positions of two linked words"""
    jumps: Floats
    """mean difference between the two sides in the distance to the next linked word"""
    numbers: tuple[Floats, Floats, Floats]
    """counts of numbers: on both sides, on the left only, and on the right only"""
    names: tuple[Floats, Floats, Floats]
    """counts as in `numbers`, for words that occur on both pages"""
    copied: Floats
    """share of the words of the shorter side that also occur on the other side"""
    unlinked: tuple[UnlinkedWords, UnlinkedWords]


def word_evidence(left: SideWords, right: SideWords, lexicon: Lexicon) -> WordEvidence:
    """Compute the word evidence of segments from the words on both sides, group by group."""
    if native() is None:
        return evidence_reference(left, right, lexicon)
    known = known_stems(left.stems, lexicon)
    ours, theirs = (
        SideArrays(side.text_bags, side.token_offsets, side.rarity(), *of_side)
        for side, of_side in zip((left, right), known, strict=True)
    )
    return _of_rows(find_evidence(ours, theirs, left.groups, left.stems.arrays(), LOOKS, _SETTINGS))


def _of_rows(rows: Floats) -> WordEvidence:
    """Evidence from its columns, in the order of `find_evidence`."""
    return WordEvidence(
        (rows[0], rows[1]), (rows[2], rows[3]), (rows[4], rows[5]), (rows[6], rows[7]),
        rows[8], rows[9], rows[10], rows[11],
        (rows[12], rows[13], rows[14]), (rows[15], rows[16], rows[17]), rows[18],
        (UnlinkedWords(*rows[19:27]), UnlinkedWords(*rows[27:35])),
    )  # fmt: skip


def evidence_reference(left: SideWords, right: SideWords, lexicon: Lexicon) -> WordEvidence:
    """Compute `word_evidence` in NumPy, as the reference implementation and the fallback."""
    groups = [
        _group_rows(left.group(place), right.group(place), lexicon)
        for place in range(len(left.groups) - 1)
    ]
    return _of_rows(np.concatenate([np.empty((COLUMNS, 0)), *groups], axis=1))


def _group_rows(left: SideWords, right: SideWords, lexicon: Lexicon) -> Floats:
    """The columns of the evidence of one group."""
    links = vocabulary_links(left.words, right.words, lexicon)
    tables = lifts(links, left.bags, right.bags)
    trusted = trust((left.words, left.bags), (right.words, right.bags), lexicon)
    gains, margins, known = [], [], []
    for ours, theirs, table, own, other in (
        (left, right, tables[0], trusted[0], trusted[1]),
        (right, left, tables[1], trusted[1], trusted[0]),
    ):
        total, best = _gains(ours, theirs, table, own, other)
        weight = _sums(ours, own[ours.bags.word] * ours.bags.count)
        gains.append(total / (weight + 1.0))
        margins.append((total - best) / (weight + 1.0))
        known.append(weight)
    here, there, lift = _entries(left, right, tables[0])
    order = _order(left, right, here, there, lift)
    same = _same(left, right)
    return np.array([
        *gains, *margins, *known, _covered(left, here, trusted[0]),
        _covered(right, there, trusted[1]), *order,
        *_agreement(left, right, same, is_number=True),
        *_agreement(left, right, same, is_number=False),
        _copied(left, right, same),
        *_unlinked(left, here, trusted[0]), *_unlinked(right, there, trusted[1]),
    ])  # fmt: skip


def _sums(words: SideWords, values: NDArray[np.floating[Any]] | NDArray[np.bool_]) -> Floats:
    """For each segment, the sum of the values of its words."""
    return np.bincount(words.segment, values, len(words.lengths)).astype(np.float64)


def _gains(
    ours: SideWords, theirs: SideWords, links: Table, own: Floats, other: Floats
) -> tuple[Floats, Floats]:
    """The gain of each text given its counterpart, and given a neighbour of the counterpart.

    Of the two neighbours, the one with the higher gain counts.  `own` and `other` contain, for
    each word of `ours` and `theirs`, the probability that the word is known.
    """
    count = len(ours.lengths)
    weighted = Bags(
        ours.bags.word, (ours.bags.count * own[ours.bags.word]).astype(np.float32),
        ours.bags.offsets, ours.bags.size,
    )  # fmt: skip
    loose = _sums(theirs, (1 - other[theirs.bags.word]) * theirs.bags.count)
    each = np.arange(count, dtype=np.int32)
    low, high = np.maximum(each - 1, 0), np.minimum(each + 2, max(count, 1)).astype(np.int32)
    high = np.minimum(high, count).astype(np.int32)
    found = word_gains(
        weighted, links, postings(theirs.bags),
        np.concatenate(([0.0], np.cumsum(np.maximum(theirs.tokens, 1.0)))),
        Windows(low, high), sizes=1, null_share=_NULL_SHARE,
        loose_before=np.concatenate(([0.0], np.cumsum(loose))),
    )[0].astype(np.float64)  # fmt: skip
    start = np.concatenate(([0], np.cumsum(high - low)))[:-1]
    middle = start + (each - low)
    best = np.full(count, -np.inf)
    has_before, has_after = each > 0, each < count - 1
    best[has_before] = found[middle[has_before] - 1]
    best[has_after] = np.maximum(best[has_after], found[middle[has_after] + 1])
    own_gain = found[middle]
    return own_gain, np.where(np.isfinite(best), best, own_gain)


def _entries(left: SideWords, right: SideWords, links: Table) -> tuple[Ints, Ints, Floats]:
    """The indices of linked words in the bags of both sides, and the strengths of the links."""
    offsets = links.offsets
    sizes = np.diff(offsets)[left.bags.word]
    here = np.repeat(np.arange(len(left.bags.word)), sizes)
    within = np.arange(len(here)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    at = offsets[left.bags.word[here]] + within
    width = max(right.bags.size, 1)
    place = _find(right, left.segment[here] * width + links.columns[at])
    there = place >= 0
    return here[there], place[there], links.values[at][there].astype(np.float64)


def _find(words: SideWords, keys: Ints) -> Ints:
    """The index of each key in the bags, or -1 if absent; a key encodes a segment and a word."""
    own = words.segment * max(words.bags.size, 1) + words.bags.word
    if not len(own):
        return np.full(len(keys), -1, np.int64)
    place = np.minimum(np.searchsorted(own, keys), len(own) - 1)
    return np.where(own[place] == keys, place, -1)


def _covered(words: SideWords, linked: Ints, trusted: Floats) -> Floats:
    """For each segment, the smoothed share of known words that are linked, weighted by rarity.

    `linked` contains the indices of linked words in the bags; `trusted` contains the probability
    that each word of the vocabulary is known.
    """
    weight = trusted[words.bags.word] * words.rarity()[words.bags.word]
    is_linked = _is_linked(words, linked)
    return (_sums(words, weight * is_linked) + 2.0) / (_sums(words, weight) + 4.0)


def _is_linked(words: SideWords, linked: Ints) -> NDArray[np.bool_]:
    """A mask of the words in the bags that are linked, given their indices."""
    mask = np.zeros(len(words.bags.word), bool)
    mask[linked] = True
    return mask


def _unlinked(words: SideWords, linked: Ints, trusted: Floats) -> UnlinkedWords:
    order = words.order
    return unlinked_words(
        words.segment[order],
        ~_is_linked(words, linked)[order],
        trusted[words.bags.word[order]],
        len(words.lengths),
    )


def _order(
    left: SideWords, right: SideWords, here: Ints, there: Ints, lift: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """Compute `links`, `in_order`, `displaced` and `jumps`, as described in `WordEvidence`.

    `here` and `there` are the indices of linked words in the bags of the two sides, and `lift`
    contains the strengths of the links.
    """
    count = len(left.lengths)
    best = np.zeros(len(left.bags.word))
    np.maximum.at(best, here, lift)
    best_there = np.zeros(len(right.bags.word))
    np.maximum.at(best_there, there, lift)
    mutual = (lift >= best[here]) & (lift >= best_there[there])
    here, there = here[mutual], there[mutual]
    segment = left.segment[here]
    ours, theirs = left.position[here], right.position[there]
    order = np.lexsort((theirs, ours, segment))
    segment, ours, theirs = segment[order], ours[order], theirs[order]
    links = np.bincount(segment, minlength=count).astype(np.float64)
    distance = np.bincount(segment, np.abs(ours - theirs), count)
    follows = segment[1:] == segment[:-1]
    rises = follows & (theirs[1:] > theirs[:-1])
    steps = np.bincount(segment[1:][follows], minlength=count)
    risen = np.bincount(segment[1:][rises], minlength=count)
    uneven = np.abs(np.diff(ours) - np.diff(theirs))[follows]
    jumps = np.bincount(segment[1:][follows], uneven, count)
    return (
        links,
        (risen + 1.5) / (steps + 2.0),
        (distance + 0.3) / (links + 2.0),
        (jumps + 0.3) / (steps + 2.0),
    )


def _same(left: SideWords, right: SideWords) -> tuple[Ints, NDArray[np.bool_], NDArray[np.bool_]]:
    """Find the words that are in both vocabularies, and those on both sides of a segment.

    For each left word, return the index of the same word in the right vocabulary, or -1.  For each
    side, also return a mask of the words in its bags that are on both sides of their segment.
    """
    at = {word: place for place, word in enumerate(right.words)}
    other = np.fromiter((at.get(word, -1) for word in left.words), np.int64, len(left.words))
    partner = other[left.bags.word]
    place = _find(right, np.where(
        partner >= 0, left.segment * max(right.bags.size, 1) + partner, -1
    ))  # fmt: skip
    on_right = np.zeros(len(right.bags.word), bool)
    on_right[place[place >= 0]] = True
    return other, place >= 0, on_right


def _agreement(
    left: SideWords, right: SideWords, same: tuple[Ints, NDArray[np.bool_], NDArray[np.bool_]], *,
    is_number: bool,
) -> tuple[Floats, Floats, Floats]:  # fmt: skip
    """For each segment, count the items on both sides, on the left only and on the right only.

    The items are numbers if `is_number` is set; otherwise, words that occur on both pages.
    """
    other, on_left, on_right = same
    if is_number:
        ours, theirs = left.is_number, right.is_number
    else:
        ours = (other >= 0) & ~left.is_number
        theirs = np.zeros(len(right.words), bool)
        theirs[other[ours]] = True
    expected, expected_there = ours[left.bags.word], theirs[right.bags.word]
    return (
        _sums(left, expected & on_left),
        _sums(left, expected & ~on_left),
        _sums(right, expected_there & ~on_right),
    )


def _copied(
    left: SideWords, right: SideWords, same: tuple[Ints, NDArray[np.bool_], NDArray[np.bool_]]
) -> Floats:
    """The share of the shorter side's words, except numbers, that are also on the other side."""
    ours = _sums(left, ~left.is_number[left.bags.word])
    theirs = _sums(right, ~right.is_number[right.bags.word])
    shared = _sums(left, same[1] & ~left.is_number[left.bags.word])
    return shared / np.maximum(np.minimum(ours, theirs), 1.0)

"""Features used to decide whether two pages are translations of each other.

The first four are from Vieira & Moreira 2012, three are from Shi et al. 2006, and the
others are our own.  No feature depends on the languages or on which page is the left one.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from diptych.stages.verify.shared.places import same_places
from diptych.stages.verify.shared.translated import translated_shares
from diptych.text.caches import TextCache
from diptych.text.cognates import stem
from diptych.text.lengths import text_length, text_lengths
from diptych.text.tokens import tokens
from diptych.types import Candidate, Page, Sketch

_MIN_LONG_SEGMENT = 20.0  # minimum letters; the lengths of shorter segments mean nothing
_PRIOR_SEGMENTS = 3  # weight, in segments, of a prior correlation of 0
_PRIOR_AGREEMENT = 0.5  # used if nothing is known


def _lengths(texts: Sequence[str]) -> list[float]:
    found: list[float] = text_lengths(texts).tolist()
    return found


length_of = TextCache(text_length, 4_000_000, together=_lengths)
"""the length of each text in letters"""


class Features(NamedTuple):
    """The features of a page pair; shares and ratios are between 0 and 1."""

    words_ratio: float
    """ratio of the word counts, smaller to larger"""
    bytes_ratio: float
    """ratio of the file sizes, smaller to larger"""
    tag_distance: float
    """edit distance of the HTML tag sequences, divided by the length of the longer one"""
    word_overlap: float
    """share of all distinct words that occur on both pages"""
    tag_similarity: float
    """share of matches among the operations that turn one tag sequence into the other"""
    aligned_sentences: float
    """share of the sentences of both pages that have a counterpart"""
    letters_ratio: float
    """ratio of the letter counts, smaller to larger"""
    covered_less: float
    """share of letters with a counterpart, on the page where this share is lower"""
    covered_more: float
    """share of letters with a counterpart, on the page where this share is higher"""
    segment_score: float
    """mean score of the aligned segments, weighted by letters"""
    segment_lengths: float
    """mean length ratio of the aligned segments, weighted by letters"""
    length_correlation: float
    """correlation of the log lengths of aligned segments, from -1 to 1; shrunk towards 0 if there
    are few segments"""
    same_places: float
    """share of numbers and common words that are at corresponding places on both pages"""
    same_words: float
    """logarithm of the number of words and numbers at corresponding places"""
    copied: float
    """share of the shorter text that is identical in both pages"""
    numbers: float
    """agreement between the numbers on the two pages"""
    files: float
    """agreement between the two pages in their images and in their links to other sites"""
    translated_less: float
    """share of a page's words whose translation is on the other page, on the page where this share
    is lower; words that are not in the lexicon do not count"""
    translated_more: float
    """the same share, on the page where it is higher"""
    lexicon: float
    """1 if the lexicon knows enough words of both pages to compute the translated shares, else 0"""
    text: float
    """amount of text: logarithm of the number of letters of the shorter text"""


NAMES = Features._fields
PPLOCATOR = ("words_ratio", "bytes_ratio", "tag_distance", "word_overlap")
"""Vieira & Moreira 2012, section 3.2"""
MAXENT = ("bytes_ratio", "tag_similarity", "aligned_sentences")
"""Shi et al. 2006, section 6"""


class Coverage(NamedTuple):
    """The share of each page that is aligned, and measures of alignment quality."""

    left: float
    right: float
    sentences: float
    score: float
    lengths: float
    correlation: float


def features(candidate: Candidate) -> Features:
    """Compute the features of a candidate."""
    left, right = (sketch_of(candidate, page) for page in (candidate.left, candidate.right))
    lengths = letters(candidate.left), letters(candidate.right)
    changes, matches = tag_changes(left.tags, right.tags)
    covered, places = coverage(candidate), same_places(candidate.segments)
    words = translated_shares(left.bag, right.bag, candidate.lexicon)
    return Features(
        words_ratio=ratio(left.words, right.words),
        bytes_ratio=_size_ratio(candidate, lengths),
        tag_distance=changes / max(len(left.tags), len(right.tags), 1),
        word_overlap=shared(left.bag.keys(), right.bag.keys()),
        tag_similarity=matches / (matches + changes) if matches + changes else 1.0,
        aligned_sentences=covered.sentences,
        letters_ratio=ratio(*lengths),
        covered_less=min(covered.left, covered.right),
        covered_more=max(covered.left, covered.right),
        segment_score=covered.score,
        segment_lengths=covered.lengths,
        length_correlation=covered.correlation,
        same_places=places.share,
        same_words=math.log1p(places.words),
        copied=copied(candidate.left, candidate.right),
        numbers=_numbers(left.bag, right.bag),
        files=_agreement(len({*left.files} & {*right.files}), len({*left.files, *right.files})),
        translated_less=min(words.forward, words.backward),
        translated_more=max(words.forward, words.backward),
        lexicon=float(words.is_known),
        text=math.log1p(min(lengths)),
    )


def read_lengths(candidate: Candidate) -> None:
    """Find the lengths of all texts of a candidate at once, for `length_of`."""
    texts = [block.text for page in (candidate.left, candidate.right) for block in page.blocks]
    for segment in candidate.segments:
        texts += (segment.left, segment.right)
    length_of.read(texts)


def ratio(one: float, other: float) -> float:
    """The ratio of the smaller to the larger of two amounts; 1 if both are 0.

    >>> ratio(50, 100), ratio(100, 50), ratio(0, 0)
    (0.5, 0.5, 1.0)
    """
    # DEVIATION(pplocator, shi): the papers divide one language by the other.  Here the feature does
    # not depend on the languages.
    greater = max(one, other)
    return min(one, other) / greater if greater > 0 else 1.0


def tag_changes(left: str, right: str) -> tuple[int, int]:
    """Return the edit distance between two tag sequences and the number of matching tags.

    Each character of a sequence represents one tag.

    >>> tag_changes("abcCdDBA", "abdDdDBA")
    (2, 6)
    """
    from rapidfuzz.distance import Levenshtein

    if left == right:
        return 0, len(left)
    changes = matches = 0
    for step in Levenshtein.opcodes(left, right):
        length = max(step.src_end - step.src_start, step.dest_end - step.dest_start)
        if step.tag == "equal":
            matches += length
        else:
            changes += length
    return changes, matches


def shared(left: Iterable[str], right: Iterable[str]) -> float:
    """The share of the distinct words of two texts that occur in both texts.

    >>> shared(["mont", "blanc", "1786"], ["mont", "blanc", "en"])
    0.5
    """
    ours, theirs = {*left}, {*right}
    both = len(ours & theirs)
    return both / max(len(ours) + len(theirs) - both, 1)


def _agreement(both: float, either: float) -> float:
    """The ratio `both / either`, smoothed towards 0.5 if the amounts are small."""
    return (both + 2 * _PRIOR_AGREEMENT) / (either + 2)


def _numbers(left: Mapping[str, int], right: Mapping[str, int]) -> float:
    """The smoothed, weighted Jaccard index of the numbers on two pages, ignoring single digits."""
    ours, theirs = (
        {word: n for word, n in bag.items() if word[:1].isdigit() and len(word) > 1}
        for bag in (left, right)
    )
    both = sum(min(count, theirs[word]) for word, count in ours.items() if word in theirs)
    return _agreement(both, sum(ours.values()) + sum(theirs.values()) - both)


def letters(page: Page) -> float:
    """The length of a page's text, in letters."""
    return float(sum([length_of[block.text] for block in page.blocks]))


def copied(left: Page, right: Page) -> float:
    """The share of the shorter text that is in blocks found on both pages, ignoring code.

    Code is ignored because it stays the same in a translation; otherwise, the translation of a
    page that is mostly code would look like a copy.  If a page contains only code, its code counts.
    """
    prose = _prose(left), _prose(right)
    ours, theirs = map(Counter, prose)
    same = sum(len(text) * min(ours[text], theirs[text]) for text in ours.keys() & theirs.keys())
    shorter = min(sum(map(len, texts)) for texts in prose)
    return same / shorter if shorter else 0.0


def _prose(page: Page) -> list[str]:
    """The texts of all blocks except code, or of all blocks if the page contains only code."""
    prose = [block.text for block in page.blocks if "/pre[" not in block.path]
    return prose or [block.text for block in page.blocks]


def coverage(candidate: Candidate) -> Coverage:
    """Compute the share of each page that is aligned, and the quality of the alignment."""
    # DEVIATION(shi): sentences that were joined into a segment count as one, on either side.
    aligned, alone, scores, lengths = [0.0, 0.0], [0.0, 0.0], 0.0, 0.0
    pairs: list[tuple[float, float]] = []
    for segment in candidate.segments:
        left, right = length_of[segment.left], length_of[segment.right]
        is_pair = left > 0 and right > 0
        sums = aligned if is_pair else alone
        sums[0] += left
        sums[1] += right
        if is_pair:
            pairs.append((left, right))
            scores += segment.score * (left + right)
            is_long = max(left, right) >= _MIN_LONG_SEGMENT
            lengths += (left + right) * (ratio(left, right) if is_long else 1.0)
    total = sum(aligned) or 1.0
    return Coverage(
        left=aligned[0] / ((aligned[0] + alone[0]) or 1.0),
        right=aligned[1] / ((aligned[1] + alone[1]) or 1.0),
        sentences=2 * len(pairs) / max(len(candidate.segments) + len(pairs), 1),
        score=scores / total,
        lengths=lengths / total,
        correlation=_correlation(pairs),
    )


def _correlation(pairs: Sequence[tuple[float, float]]) -> float:
    """The correlation of the log lengths of paired texts, shrunk towards 0 if there are few.

    >>> round(_correlation([(10, 12), (100, 90), (1000, 1100)] * 10), 2), _correlation([(5, 5)])
    (0.91, 0.0)
    """
    if len(pairs) < 2:
        return 0.0
    left, right = [math.log(pair[0]) for pair in pairs], [math.log(pair[1]) for pair in pairs]
    try:
        found = statistics.correlation(left, right)
    except statistics.StatisticsError:  # all have the same length
        return 0.0
    return found * len(pairs) / (len(pairs) + _PRIOR_SEGMENTS)


def sketch_of(candidate: Candidate, page: Page) -> Sketch:
    """The sketch of a page, or of the text in one language of a bilingual page."""
    if page.sketch is not None and candidate.pair.left != candidate.pair.right:
        return page.sketch
    lang = candidate.pair.left_lang if page is candidate.left else candidate.pair.right_lang
    words = tokens("\n".join(block.text for block in page.blocks), lang)
    files = page.sketch.files if page.sketch is not None else ()
    return Sketch(tags="", words=len(words), bag=Counter(map(stem, words)), files=files)


def _size_ratio(candidate: Candidate, lengths: tuple[float, float]) -> float:
    """The ratio of the file sizes; for a bilingual page, the ratio of its two text lengths."""
    if candidate.pair.left == candidate.pair.right:
        return ratio(*lengths)
    return ratio(candidate.left.record.size, candidate.right.record.size)

"""Numerical features of a pair of URLs: what they have in common and how they differ.

`pair_features` is the reference implementation for one pair; `Features` computes the features of
many pairs in C (`kernels/url_pair.c`).  Features do not depend on the order of the URLs: of two
values, the smaller comes first.
"""

from __future__ import annotations

import ctypes
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diptych.kernels import native, pointer
from diptych.kernels.tables import ends_of
from diptych.language.marks import LANGUAGE_PARAMETERS
from diptych.learn.url.concepts import Concepts, fingerprint
from diptych.learn.url.pair_url import (
    EDGE,
    EXTENSIONS,
    FILE,
    INDEXES,
    WHOLE,
    FoundMark,
    ParsedUrl,
    Token,
    mark_words,
    parse_url,
    plain,
)

MAX_WORDS = 12
MIN_MATCH = 0.37
"""minimum similarity of a match between words"""
_COGNATE = 0.8  # factor of spelling similarity, which counts a little less than equal meaning

NAMES = tuple(
    "host host_core tld longest_label"
    " mark_strength< mark_strength> mark_kind< mark_kind> strong_marks main_marks mark_slot"
    " strong< strong>"
    " tokens< tokens> common_words common_numbers words< words> words_off numbers< numbers>"
    " edge_marks< edge_marks> edge_mark_langs common_letters letters< letters> common_share"
    " letters_ratio rest_same tokens_same longest_common_number longest_number late_common_number"
    " number_distance"
    " segments_off segments prefix_segments same_segments other_segments"
    " last_same extension extension< extension> slash separators last_words< last_words>"
    " last_words_off last_length last_alike path_alike"
    " query_names params< params> query_values odd< odd> odd_off end< end>"
    " cognates< cognates> meaning< meaning> lone< lone> known< known>"
    " last_meaning< last_meaning> last_lone< last_lone>".split()
)


def pair_features(left: str, right: str, concepts: Concepts) -> dict[str, float]:
    """Compute the features of a URL pair, keyed by name."""
    a, b = parse_url(plain(left)), parse_url(plain(right))
    difference = _difference(a, b)
    values = [
        *_host(a, b),
        *_marks(a, b),
        *_tokens(difference, a, b),
        *_structure(a, b),
        *_meaning(difference.words[0], difference.words[1], concepts),
        *_senses(difference.last[0], difference.last[1], concepts),
    ]
    return dict(zip(NAMES, values, strict=True))


def _two(one: float, other: float) -> tuple[float, float]:
    return min(one, other), max(one, other)


def _agree(asked: object, same: bool) -> float:
    """Return 0 if `asked` is false or empty, otherwise 1 if `same` is true and -1 if not."""
    return (1 if same else -1) if asked else 0


def _host(a: ParsedUrl, b: ParsedUrl) -> Iterator[float]:
    marks = mark_words()
    core = [[label for label in url.labels[:-1] if label not in marks] for url in (a, b)]
    yield a.labels == b.labels
    yield core[0] == core[1]
    yield a.labels[-1] == b.labels[-1]
    yield max(a.labels, key=len) == max(b.labels, key=len)


def _main(url: ParsedUrl) -> FoundMark | None:
    return min(url.marks, key=lambda mark: (-mark.strength, mark.kind), default=None)


def _marks(a: ParsedUrl, b: ParsedUrl) -> Iterator[float]:
    one, other = _main(a), _main(b)
    strong = [[mark.lang for mark in url.marks if mark.strength >= WHOLE] for url in (a, b)]
    yield from _two(one.strength if one else 0, other.strength if other else 0)
    yield from _two(one.kind if one else -1, other.kind if other else -1)
    yield _agree(strong[0] and strong[1], not set(strong[0]) & set(strong[1]))
    yield _agree(one and other, bool(one and other and one.lang != other.lang))
    yield _agree(one and other, bool(one and other and one[2:4] == other[2:4]))
    yield from _two(len(strong[0]), len(strong[1]))


@dataclass(slots=True)
class _Difference:
    """The tokens that two URLs have in common, and those that only one of them has.

    If a common token is in different fields of the two URLs, the earlier field is stored.
    """

    common: list[Token] = field(default_factory=list)
    words: tuple[list[Token], list[Token]] = field(default_factory=lambda: ([], []))
    last: tuple[list[Token], list[Token]] = field(default_factory=lambda: ([], []))
    numbers: tuple[list[Token], list[Token]] = field(default_factory=lambda: ([], []))
    marks: tuple[list[Token], list[Token]] = field(default_factory=lambda: ([], []))


def _difference(a: ParsedUrl, b: ParsedUrl) -> _Difference:
    found = _Difference()
    left = list(a.tokens)
    for token in b.tokens:
        match = next((other for other in left if other.word == token.word), None)
        if match is None:
            _sort(found, token, 1, len(b.segments) - 1)
        else:
            left.remove(match)
            found.common.append(min(token, match, key=lambda token: token.field))
    for token in left:
        _sort(found, token, 0, len(a.segments) - 1)
    return found


def _sort(found: _Difference, token: Token, side: int, last: int) -> None:
    if token.is_number:
        found.numbers[side].append(token)
    elif token.mark and token.strength >= EDGE:
        found.marks[side].append(token)
    else:
        found.words[side].append(token)
        if token.segment == last:
            found.last[side].append(token)


def _letters(tokens: Sequence[Token]) -> int:
    return sum(len(token.word) for token in tokens)


def _longest(tokens: Sequence[Token]) -> int:
    return max((len(token.word) for token in tokens), default=0)


def _tokens(d: _Difference, a: ParsedUrl, b: ParsedUrl) -> Iterator[float]:
    words = [token for token in d.common if not token.is_number]
    numbers = [token for token in d.common if token.is_number]
    common = _letters(words)
    least, most = _two(_letters(d.words[0]), _letters(d.words[1]))
    yield from _two(len(a.tokens), len(b.tokens))
    yield from (len(words), len(numbers))
    yield from _two(len(d.words[0]), len(d.words[1]))
    yield abs(len(d.words[0]) - len(d.words[1]))
    yield from _two(len(d.numbers[0]), len(d.numbers[1]))
    yield from _two(len(d.marks[0]), len(d.marks[1]))
    langs = [tokens[0].mark.lang for tokens in d.marks if tokens and tokens[0].mark]
    yield _agree(len(langs) == 2, len(set(langs)) == 2)
    yield from (common, least, most)
    yield common / (common + most) if common + most else 1
    yield least / most if most else 1
    yield a.segments == b.segments and _asked(a) == _asked(b)
    yield not any((*d.words, *d.numbers))
    yield _longest(numbers)
    yield _longest([*d.numbers[0], *d.numbers[1]])
    yield _longest([token for token in numbers if token.field >= FILE])
    yield _distance(d.numbers[0], d.numbers[1])


def _asked(url: ParsedUrl) -> list[tuple[bytes, bytes]]:
    return [(param.name, param.value) for param in url.params if not param.is_language]


def _distance(one: Sequence[Token], other: Sequence[Token]) -> float:
    """The log of the difference between the last numbers of two lists, or -1.

    The result is -1 if a list is empty or a number has more than 15 digits.
    """
    if not one or not other or max(len(one[-1].word), len(other[-1].word)) > 15:
        return -1
    return math.log1p(abs(int(one[-1].word) - int(other[-1].word)))


def _structure(a: ParsedUrl, b: ParsedUrl) -> Iterator[float]:
    least, most = _two(len(a.segments), len(b.segments))
    same = [one == other for one, other in zip(a.segments, b.segments, strict=False)]
    yield from (most - least, most)
    yield same.index(False) if False in same else len(same)
    yield from (sum(same), most - sum(same))
    yield from _last(a, b)
    yield dice(a.path, b.path)
    names = [[param.name for param in url.params] for url in (a, b)]
    values = [[value for _, value in _asked(url)] for url in (a, b)]
    yield _agree(any(names), names[0] == names[1])
    yield from _two(len(names[0]), len(names[1]))
    yield _agree(any(values), values[0] == values[1])
    yield from _two(a.odd, b.odd)
    yield abs(a.odd - b.odd)
    yield from _two(a.end, b.end)


def _last(a: ParsedUrl, b: ParsedUrl) -> Iterator[float]:
    one, other = (url.segments[-1] if url.segments else b"" for url in (a, b))
    words = [
        sum(token.segment == len(url.segments) - 1 and not token.is_number for token in url.tokens)
        for url in (a, b)
    ]
    yield one == other
    yield _agree(a.extension or b.extension, a.extension == b.extension)
    yield from _two(bool(a.extension), bool(b.extension))
    yield a.slash == b.slash
    yield (b"-" in one) == (b"-" in other) and (b"_" in one) == (b"_" in other)
    yield from _two(words[0], words[1])
    yield abs(words[0] - words[1])
    yield min(len(one), len(other)) / max(len(one), len(other), 1)
    yield dice(one, other)


def dice(one: bytes, other: bytes) -> float:
    """The Dice coefficient of the byte bigrams of two words.

    >>> dice(b"night", b"nacht"), dice(b"a", b"a"), dice(b"a", b"ab")
    (0.25, 1.0, 0.0)
    """
    if one == other:
        return 1.0
    if len(one) < 2 or len(other) < 2:
        return 0.0
    pairs = [Counter(itertools.pairwise(word)) for word in (one, other)]
    return 2 * (pairs[0] & pairs[1]).total() / (len(one) + len(other) - 2)


_Similarity = Callable[[bytes, bytes], float]


def _best(
    one: Sequence[Token], other: Sequence[Token], similarity: _Similarity
) -> tuple[list[float], list[float]]:
    """For each word in either list, the similarity of its best match in the other list."""

    def best(words: Sequence[Token], others: Sequence[Token]) -> list[float]:
        return [
            max((similarity(word.word, o.word) for o in others[:MAX_WORDS]), default=0.0)
            for word in words[:MAX_WORDS]
        ]

    return best(one, other), best(other, one)


def _mean(best: Sequence[float], words: Sequence[Token]) -> float:
    """The mean of each word's best similarity, weighted by word length; -1 if there is no word."""
    lengths = [len(word.word) for word in words[:MAX_WORDS]]
    return sum(b * n for b, n in zip(best, lengths, strict=True)) / sum(lengths) if lengths else -1


def _senses(one: Sequence[Token], other: Sequence[Token], concepts: Concepts) -> Iterator[float]:
    """Compare two lists of words by meaning and spelling, and yield four numbers.

    The first two are, for each list, the mean similarity of its words to their best matches in the
    other list.  The last two are the numbers of words in each list that have no good match.  In
    both cases, the smaller number comes first.
    """

    def similarity(word: bytes, match: bytes) -> float:
        return max(concepts.similarity(word, match), _COGNATE * dice(word, match))

    best = _best(one, other, similarity)
    yield from _two(_mean(best[0], one), _mean(best[1], other))
    yield from _two(*(sum(match < MIN_MATCH for match in side) for side in best))


def _meaning(one: Sequence[Token], other: Sequence[Token], concepts: Concepts) -> Iterator[float]:
    best = _best(one, other, dice)
    yield from _two(_mean(best[0], one), _mean(best[1], other))
    yield from _senses(one, other, concepts)
    shares = [
        sum(bool(concepts.senses(token.word)) for token in words[:MAX_WORDS])
        / len(words[:MAX_WORDS])
        if words
        else -1
        for words in (one, other)
    ]
    yield from _two(shares[0], shares[1])


@dataclass(frozen=True, eq=False)
class Features:
    """Computes the features of many pairs, in C if the kernels are compiled."""

    concepts: Concepts

    def of(self, lefts: Sequence[str], rights: Sequence[str]) -> NDArray[np.float32]:
        """Compute the features: one row per pair of URLs, with the columns of `NAMES`."""
        library = native()
        if library is None:
            return self.reference(lefts, rights)
        if len(lefts) != len(rights):
            raise ValueError("the numbers of left and right URLs differ")
        place: dict[str, int] = {}
        left = np.fromiter((place.setdefault(url, len(place)) for url in lefts), np.int32)
        right = np.fromiter((place.setdefault(url, len(place)) for url in rights), np.int32)
        texts = [plain(url) for url in place]
        offsets = ends_of(np.array([len(text) for text in texts], np.int64))
        text = np.frombuffer(b"".join(texts) or b"\0", np.uint8)
        out = np.zeros((len(left), len(NAMES)), np.float32)
        library.url_pair_features(
            pointer(text), pointer(offsets), pointer(left), pointer(right),
            ctypes.c_int64(len(left)), *self._tables, pointer(out), ctypes.c_int32(len(NAMES)),
        )  # fmt: skip
        return out

    def reference(self, lefts: Sequence[str], rights: Sequence[str]) -> NDArray[np.float32]:
        """Compute `of` in Python, pair by pair: the reference implementation and fallback."""
        rows = [
            list(pair_features(left, right, self.concepts).values())
            for left, right in zip(lefts, rights, strict=True)
        ]
        return np.array(rows, np.float32).reshape(len(rows), len(NAMES))

    @cached_property
    def _tables(self) -> list[object]:
        """The tables as arguments for the C kernel, in the order that it expects."""
        marks = sorted((fingerprint(word), *mark) for word, mark in mark_words().items())
        numbers, langs, kinds = zip(*marks, strict=True)
        tables: list[tuple[NDArray[Any], ...]] = [
            (np.array(numbers, np.uint32), np.array(langs, np.int16), np.array(kinds, np.uint8)),
            (_sorted(word.encode() for word in LANGUAGE_PARAMETERS),),
            (_sorted(EXTENSIONS),),
            (_sorted(INDEXES),),
        ]
        arguments = [
            argument
            for table in tables
            for argument in (*map(pointer, table), ctypes.c_int32(len(table[0])))
        ]
        keys, ids, scores = self.concepts.keys, self.concepts.ids, self.concepts.scores
        return [*arguments, *map(pointer, (keys, ids, scores, _starts(keys)))]


def _sorted(words: Any) -> NDArray[np.uint32]:
    return np.array(sorted(fingerprint(word) for word in words), np.uint32)


def _starts(keys: NDArray[np.uint32]) -> NDArray[np.int32]:
    """Index sorted 32-bit keys by their upper 16 bits.

    The result holds, for each value of these bits, the index of the first key with this value or a
    higher one, followed by the number of keys.

    >>> _starts(np.array([1, 2, 1 << 16], np.uint32))[[0, 1, 2, -1]].tolist()
    [0, 2, 3, 3]
    """
    firsts = np.arange(1 << 16, dtype=np.uint32) << np.uint32(16)
    return np.append(np.searchsorted(keys, firsts), len(keys)).astype(np.int32)

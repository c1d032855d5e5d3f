"""Word evidence in C: how well the words on both sides of segments correspond.

The reference implementation is `stages/filter/quality/vocabulary.py`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diptych.kernels import fields_of, native, pointer
from diptych.kernels.tables import Table, are_offsets, are_within
from diptych.kernels.word_links import CLooks, Looks

COLUMNS = 35
"""number of columns that `find_evidence` returns"""


class TextBags(NamedTuple):
    """Texts as bags of words, with the positions of the words.

    The bags of several groups of texts follow each other.  Each group has a vocabulary of its own,
    and `segment`, `word`, `offsets` and `order` count from the beginning of their group.
    """

    vocabulary: NDArray[np.int32]
    """the stem of each distinct word, in order of occurrence"""
    segment: NDArray[np.int64]
    """for each entry of the bags, the index of its text"""
    word: NDArray[np.int32]
    times: NDArray[np.float32]
    """count of the word in its text"""
    position: NDArray[np.float64]
    offsets: NDArray[np.int64]
    order: NDArray[np.int64]
    """for each token, the index of its entry in the bags"""
    words_from: NDArray[np.int64]
    """index of the first word of each group in `vocabulary`, and the number of words"""
    entries_from: NDArray[np.int64]
    """index of the first entry of each group, and the number of entries"""


class StemArrays(NamedTuple):
    """Properties of stems by number."""

    is_number: NDArray[np.bool_]
    text: NDArray[np.uint8]
    """the spellings of all stems, transliterated to ASCII and concatenated"""
    at: NDArray[np.int64]
    """the offset of each spelling, and the end of the last"""


class SideArrays(NamedTuple):
    """One side of all groups of segments, and what a lexicon knows of the stems."""

    bags: TextBags
    token_offsets: NDArray[np.int64]
    rarity: NDArray[np.float64]
    """weight of each word of the vocabulary"""
    rows: NDArray[np.int64]
    """row of each stem in `table`, or -1"""
    trust: NDArray[np.float64]
    """probability, for each stem, that the lexicon knows it"""
    table: Table


class EvidenceSettings(NamedTuple):
    """Parameters of the evidence; `learn.lexicon.word_links` explains them."""

    rare: float
    base: float
    min_lift: float
    name: float
    number: float
    frequent: float
    null_share: float


class _CSide(ctypes.Structure):
    _fields_ = (
        *fields_of(ctypes.c_int64, "segments words entries"),
        *fields_of(
            ctypes.c_void_p,
            "word_from entry_from token_from order stem word count position from_ rarity",
        ),
        *fields_of(ctypes.c_void_p, "row trust table_from table_column table_value"),
        ("rows", ctypes.c_int64),
    )


class _CBags(ctypes.Structure):
    _fields_ = fields_of(ctypes.c_void_p, "vocabulary segment word count position from_ order")


class _CStems(ctypes.Structure):
    _fields_ = fields_of(ctypes.c_void_p, "is_number text at")


class _CSettings(ctypes.Structure):
    _fields_ = fields_of(ctypes.c_double, "rare base min_lift name number frequent null_share")


def find_bags(
    ids: NDArray[np.int32],
    offsets: NDArray[np.int64],
    stems: int,
    groups: NDArray[np.int64] | None = None,
) -> TextBags:
    """Convert texts to bags of words, given the stem of each token and the offsets of the texts.

    `stems` is the number of stems.  The entries of a bag are in the order of the vocabulary.
    `groups` contains the first text of each group, and the number of texts; by default, all texts
    are one group.
    """
    library = native()
    if library is None:
        raise RuntimeError("bags with positions require the compiled kernels")
    size, texts = len(ids), len(offsets) - 1
    groups = np.array([0, texts], np.int64) if groups is None else groups
    if not are_offsets(offsets, len(ids)) or not are_within(ids, stems):
        raise ValueError("stems and offsets must be within range")
    if not are_offsets(groups, texts):
        raise ValueError("groups must be within range")
    vocabulary, word = np.empty((2, size), np.int32)
    segment, order = np.empty((2, size), np.int64)
    count, position = np.empty(size, np.float32), np.empty(size)
    starts = np.empty(texts + len(groups) - 1, np.int64)
    words, entries = np.empty((2, len(groups)), np.int64)
    made = (vocabulary, segment, word, count, position, starts, order)
    if not library.evidence_bags(
        ctypes.c_int64(len(groups) - 1), *map(pointer, (groups, offsets, ids)),
        ctypes.c_int64(stems), ctypes.byref(_CBags(*map(pointer, made))),
        pointer(words), pointer(entries),
    ):  # fmt: skip
        raise MemoryError
    end = int(entries[-1])
    kept = (segment[:end], word[:end], count[:end], position[:end])
    return TextBags(vocabulary[: int(words[-1])], *kept, starts, order, words, entries)


def find_evidence(
    left: SideArrays,
    right: SideArrays,
    groups: NDArray[np.int64],
    stems: StemArrays,
    looks: Looks,
    settings: EvidenceSettings,
) -> NDArray[np.float64]:
    """Compute the evidence of segments: a row per measure, in the order of `WordEvidence`.

    `groups` contains the first segment of each group, and the number of segments.
    """
    library = native()
    if library is None:
        raise RuntimeError("word evidence in one call requires the compiled kernels")
    count = len(stems.at) - 1
    _check(left, right, groups, stems)
    out = np.zeros((COLUMNS, len(left.token_offsets) - 1))
    sides = _c_side(left), _c_side(right)
    texts = _CStems(*map(pointer, stems))
    if not library.evidence_measures(
        ctypes.c_int64(len(groups) - 1), pointer(groups), *map(ctypes.byref, sides),
        ctypes.byref(texts), ctypes.c_int64(count), ctypes.byref(CLooks(*looks)),
        ctypes.byref(_CSettings(*settings)), pointer(out),
    ):  # fmt: skip
        raise MemoryError
    return out


def find_text_gains(
    left: SideArrays,
    right: SideArrays,
    stems: StemArrays,
    looks: Looks,
    settings: EvidenceSettings,
    backward: float,
) -> NDArray[np.float32]:
    """Compute the word gain of each left text with each right text; a row per left text.

    It is the mean of both translation directions, with the weight `backward` for the second one.
    The reference implementation is `stages/align_dom/domtree/word_gains.py`.
    """
    library = native()
    if library is None:
        raise RuntimeError("word gains in one call require the compiled kernels")
    if any(problem for side in (left, right) for problem in _problems(side, stems)):
        raise ValueError("the words of texts refer to something that does not exist")
    out = np.zeros((len(left.token_offsets) - 1, len(right.token_offsets) - 1), np.float32)
    sides = _c_side(left), _c_side(right)
    texts = _CStems(*map(pointer, stems))
    if not library.evidence_texts(
        *map(ctypes.byref, sides), ctypes.byref(texts), ctypes.c_int64(len(stems.at) - 1),
        ctypes.byref(CLooks(*looks)), ctypes.byref(_CSettings(*settings)),
        ctypes.c_double(backward), pointer(out),
    ):  # fmt: skip
        raise MemoryError
    return out


def _c_side(side: SideArrays) -> _CSide:
    bags, table = side.bags, side.table
    return _CSide(
        len(side.token_offsets) - 1, len(bags.vocabulary), len(bags.word),
        *map(pointer, (
            bags.words_from, bags.entries_from, side.token_offsets, bags.order, bags.vocabulary,
            bags.word, bags.times, bags.position, bags.offsets, side.rarity, side.rows,
            side.trust, *table,
        )),
        len(table.offsets) - 1,
    )  # fmt: skip


def _check(
    left: SideArrays, right: SideArrays, groups: NDArray[np.int64], stems: StemArrays
) -> None:
    """Raise ValueError for any index that would be out of bounds in the kernel."""
    segments = len(left.token_offsets) - 1
    if len(right.token_offsets) - 1 != segments or not are_offsets(groups, segments):
        raise ValueError("both sides must have the same number of segments, in groups")
    if any(problem for side in (left, right) for problem in _problems(side, stems, groups)):
        raise ValueError("the words of segments refer to something that does not exist")


def _problems(
    side: SideArrays, stems: StemArrays, groups: NDArray[np.int64] | None = None
) -> Iterator[bool]:
    """Yield True for each kind of index that is out of range."""
    bags, offsets, count = side.bags, side.table.offsets, len(stems.at) - 1
    yield not are_within(bags.vocabulary, count)
    yield not are_offsets(side.token_offsets, len(bags.order))
    yield not len(bags.word) == len(bags.times) == len(bags.position)
    yield min(len(side.rows), len(side.trust), len(stems.is_number)) < count
    yield len(side.rarity) != len(bags.vocabulary) or len(stems.text) < stems.at[-1]
    all_texts = np.array([0, len(side.token_offsets) - 1])
    yield from _wrong_groups(bags, side.token_offsets, all_texts if groups is None else groups)
    yield bool(offsets[0] != 0 or not offsets[-1] == len(side.table[1]) == len(side.table[2]))
    rows = side.rows[bags.vocabulary]
    rows = rows[rows >= 0]
    yield not are_within(rows, len(offsets) - 1)
    known = offsets[rows]
    yield not are_within(known, len(side.table.columns) + 1)
    yield bool((offsets[rows + 1] < known).any() or (offsets[rows + 1] > offsets[-1]).any())


def _wrong_groups(
    bags: TextBags, token_offsets: NDArray[np.int64], groups: NDArray[np.int64]
) -> Iterator[bool]:
    """Yield True for each kind of index that leaves its group; `groups` has been checked."""
    yield not are_offsets(bags.words_from, len(bags.vocabulary))
    yield not are_offsets(bags.entries_from, len(bags.word))
    yield not len(bags.words_from) == len(bags.entries_from) == len(groups)
    words, entries = np.diff(bags.words_from), np.diff(bags.entries_from)
    yield not _are_below(bags.word, np.repeat(words, entries))
    yield not _are_below(bags.order, np.repeat(entries, np.diff(token_offsets[groups])))
    yield len(bags.offsets) != groups[-1] + len(words)
    # The offsets of a group begin at 0, ascend, and end with its number of entries.
    begin = groups[:-1] + np.arange(len(words))
    end = begin + np.diff(groups)
    inside = np.ones(len(bags.offsets), bool)
    inside[begin] = False
    yield bool((bags.offsets[begin] != 0).any() or (bags.offsets[end] != entries).any())
    yield bool((np.diff(bags.offsets, prepend=0)[inside] < 0).any())


def _are_below(numbers: NDArray[Any], ends: NDArray[np.int64]) -> bool:
    """True if each number is at least 0 and below its own end."""
    return not len(numbers) or bool(numbers.min() >= 0 and (numbers < ends).all())

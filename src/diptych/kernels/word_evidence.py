"""Word evidence in C: how well the words on both sides of segments correspond.

The reference implementation is `stages/filter/quality/vocabulary.py`.
"""

from __future__ import annotations

import ctypes
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diptych.kernels import fields_of, native, pointer
from diptych.kernels.tables import Table, are_offsets
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
    if not are_offsets(offsets, len(ids)):
        raise ValueError("offsets must be within range")
    if not are_offsets(groups, texts):
        raise ValueError("groups must be within range")
    vocabulary, word = np.empty((2, size), np.int32)
    segment, order = np.empty((2, size), np.int64)
    count, position = np.empty(size, np.float32), np.empty(size)
    starts = np.empty(texts + len(groups) - 1, np.int64)
    words, entries = np.empty((2, len(groups)), np.int64)
    made = (vocabulary, segment, word, count, position, starts, order)
    is_done = library.evidence_bags(
        ctypes.c_int64(len(groups) - 1), *map(pointer, (groups, offsets, ids)),
        ctypes.c_int64(stems), ctypes.byref(_CBags(*map(pointer, made))),
        pointer(words), pointer(entries),
    )  # fmt: skip
    if is_done < 0:
        raise ValueError("stems must be within range")
    if not is_done:
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
    count, segments = len(stems.at) - 1, len(left.token_offsets) - 1
    if len(right.token_offsets) - 1 != segments or not are_offsets(groups, segments):
        raise ValueError("both sides must have the same number of segments, in groups")
    sides = tuple(_checked(library, side, stems, groups) for side in (left, right))
    out = np.zeros((COLUMNS, segments))
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
    sizes = [len(side.token_offsets) - 1 for side in (left, right)]
    sides = tuple(
        _checked(library, side, stems, np.array([0, size], np.int64))
        for side, size in zip((left, right), sizes, strict=True)
    )
    out = np.zeros(sizes, np.float32)
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


def _checked(
    library: ctypes.CDLL, side: SideArrays, stems: StemArrays, groups: NDArray[np.int64]
) -> _CSide:
    """A side for the kernel; raise ValueError for any index that would be out of bounds there."""
    found = _c_side(side)
    if not _are_whole(side, stems, groups) or not library.evidence_is_sound(
        ctypes.c_int64(len(groups) - 1), pointer(groups), ctypes.byref(found),
        ctypes.c_int64(len(side.bags.order)), ctypes.c_int64(len(stems.at) - 1),
        ctypes.c_int64(len(side.table.columns)),
    ):  # fmt: skip
        raise ValueError("the words of segments refer to something that does not exist")
    return found


def _are_whole(side: SideArrays, stems: StemArrays, groups: NDArray[np.int64]) -> bool:
    """True if arrays that belong together have the same lengths."""
    bags, table, count = side.bags, side.table, len(stems.at) - 1
    return bool(
        len(bags.word) == len(bags.times) == len(bags.position)
        and min(len(side.rows), len(side.trust), len(stems.is_number)) >= count
        and len(side.rarity) == len(bags.vocabulary)
        and len(stems.text) >= stems.at[-1]
        and len(bags.words_from) == len(bags.entries_from) == len(groups)
        and len(bags.offsets) == len(side.token_offsets) + len(groups) - 2
        and table.offsets[0] == 0
        and table.offsets[-1] == len(table.columns) == len(table.values)
    )

"""Word evidence in C: how well the words on both sides of segments correspond.

The reference implementation is `stages/filter/quality/vocabulary.py`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diptych.kernels import fields_of, native, pointer
from diptych.kernels.tables import Table, are_offsets, are_within
from diptych.kernels.word_links import CLooks, Looks

COLUMNS = 35
"""number of columns that `find_evidence` returns"""


class TextBags(NamedTuple):
    """Texts as bags of words, with the positions of the words."""

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


class StemArrays(NamedTuple):
    """Properties of stems by number."""

    is_number: NDArray[np.bool_]
    text: NDArray[np.uint8]
    """the spellings of all stems, transliterated to ASCII and concatenated"""
    at: NDArray[np.int64]
    """the offset of each spelling, and the end of the last"""


class SideArrays(NamedTuple):
    """One side of all segments, and what a lexicon knows of the stems."""

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
        *fields_of(ctypes.c_void_p, "token_from order stem word count position from_ rarity"),
        *fields_of(ctypes.c_void_p, "row trust table_from table_column table_value"),
        ("rows", ctypes.c_int64),
    )


class _CStems(ctypes.Structure):
    _fields_ = fields_of(ctypes.c_void_p, "is_number text at")


class _CSettings(ctypes.Structure):
    _fields_ = fields_of(ctypes.c_double, "rare base min_lift name number frequent null_share")


def find_bags(ids: NDArray[np.int32], offsets: NDArray[np.int64], stems: int) -> TextBags:
    """Convert texts to bags of words, given the stem of each token and the offsets of the texts.

    `stems` is the number of stems.  The entries of a bag are in the order of the vocabulary.
    """
    library = native()
    if library is None:
        raise RuntimeError("bags with positions require the compiled kernels")
    if not are_offsets(offsets, len(ids)) or not are_within(ids, stems):
        raise ValueError("stems and offsets must be within range")
    size, texts = len(ids), len(offsets) - 1
    vocabulary, word = np.empty((2, size), np.int32)
    segment, order = np.empty((2, size), np.int64)
    count, position = np.empty(size, np.float32), np.empty(size)
    starts = np.zeros(texts + 1, np.int64)
    library.evidence_bags.restype = ctypes.c_int64
    words = library.evidence_bags(
        ctypes.c_int64(texts), pointer(offsets), pointer(ids), ctypes.c_int64(stems),
        *map(pointer, (vocabulary, segment, word, count, position, starts, order)),
    )  # fmt: skip
    if words < 0:
        raise MemoryError
    end = int(starts[-1])
    kept = (segment[:end], word[:end], count[:end], position[:end])
    return TextBags(vocabulary[:words], *kept, starts, order)


def find_evidence(
    left: SideArrays,
    right: SideArrays,
    stems: StemArrays,
    looks: Looks,
    settings: EvidenceSettings,
) -> NDArray[np.float64]:
    """Compute the evidence of segments: a row per measure, in the order of `WordEvidence`."""
    library = native()
    if library is None:
        raise RuntimeError("word evidence in one call requires the compiled kernels")
    count = len(stems.at) - 1
    _check(left, right, stems)
    out = np.zeros((COLUMNS, len(left.token_offsets) - 1))
    sides = _c_side(left), _c_side(right)
    texts = _CStems(*map(pointer, stems))
    if not library.evidence_measures(
        *map(ctypes.byref, sides), ctypes.byref(texts), ctypes.c_int64(count),
        ctypes.byref(CLooks(*looks)), ctypes.byref(_CSettings(*settings)), pointer(out),
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
            side.token_offsets, bags.order, bags.vocabulary, bags.word, bags.times, bags.position,
            bags.offsets, side.rarity, side.rows, side.trust, *table,
        )),
        len(table.offsets) - 1,
    )  # fmt: skip


def _check(left: SideArrays, right: SideArrays, stems: StemArrays) -> None:
    """Raise ValueError for any index that would be out of bounds in the kernel."""
    if len(left.token_offsets) != len(right.token_offsets):
        raise ValueError("both sides must have the same number of segments")
    if any(problem for side in (left, right) for problem in _problems(side, stems)):
        raise ValueError("the words of segments refer to something that does not exist")


def _problems(side: SideArrays, stems: StemArrays) -> Iterator[bool]:
    """Yield True for each kind of index that is out of range."""
    bags, offsets, count = side.bags, side.table.offsets, len(stems.at) - 1
    yield not are_within(bags.vocabulary, count)
    yield not are_within(bags.word, len(bags.vocabulary))
    yield not are_within(bags.order, len(bags.word))
    yield not are_offsets(bags.offsets, len(bags.word))
    yield not are_offsets(side.token_offsets, len(bags.order))
    yield len(bags.offsets) != len(side.token_offsets)
    yield not len(bags.word) == len(bags.times) == len(bags.position)
    yield min(len(side.rows), len(side.trust), len(stems.is_number)) < count
    yield len(side.rarity) != len(bags.vocabulary) or len(stems.text) < stems.at[-1]
    yield bool(offsets[0] != 0 or not offsets[-1] == len(side.table[1]) == len(side.table[2]))
    rows = side.rows[bags.vocabulary]
    rows = rows[rows >= 0]
    yield not are_within(rows, len(offsets) - 1)
    known = offsets[rows]
    yield not are_within(known, len(side.table.columns) + 1)
    yield bool((offsets[rows + 1] < known).any() or (offsets[rows + 1] > offsets[-1]).any())

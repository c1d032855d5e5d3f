"""Language identification in C: naive Bayes over byte n-grams found by an automaton."""

from __future__ import annotations

import ctypes
import struct
from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, count

import numpy as np
from numpy.typing import ArrayLike, NDArray

from diptych.kernels import fields_of, langid_reference, native, pointer
from diptych.kernels.tables import are_within

_PARTS = 64  # a table is checked in this many parts, to save memory
_BLOCK = 16  # moves per block: those of bytes with the same upper four bits


def shared_blocks(
    pieces: Iterable[NDArray[np.integer]],
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Divide the list of an automaton's moves into blocks of 16 moves, and deduplicate the blocks.

    The list is given in pieces, each of which must consist of whole blocks.  The result is the
    distinct blocks and, for each block of the list, the index of the equal distinct block.

    >>> moves, order = shared_blocks([np.repeat([7, 8, 7], 16)])
    >>> len(moves), order.tolist()
    (32, [0, 1, 0])
    """
    places: defaultdict[bytes, int] = defaultdict(count().__next__)
    order = array("I")
    for piece in pieces:
        blocks = struct.iter_unpack(f"{4 * _BLOCK}s", piece.astype(np.uint32).data)
        order.extend(places[block] for (block,) in blocks)
    return np.frombuffer(b"".join(places), np.uint32), np.array(order, np.uint32)


@dataclass(frozen=True, eq=False)
class Automaton:
    """An automaton that finds features in a text; use `of` to create and check it."""

    moves: NDArray[np.int32]
    """for each move, the row of the next state and the feature found there (negative if none); a
    block has 16 moves, one for each value of the lower four bits of a byte"""
    blocks: NDArray[np.uint32]
    """rows of 16 blocks, one for each value of the upper four bits of a byte"""
    start: int
    """row of the initial state"""
    features: int
    """number of features"""

    @classmethod
    def of(
        cls, shared: tuple[NDArray[np.uint32], NDArray[np.uint32]], rows: ArrayLike,
        output: ArrayLike,
    ) -> Automaton:  # fmt: skip
        """Create an automaton, or raise ValueError if an index is out of range.

        `shared` is the result of `shared_blocks`.  For each state, `rows` has the index of its row
        of 16 blocks, and `output` the feature found on reaching it (negative if none).
        """
        moves, blocks = shared
        own, seen = np.asarray(rows, np.int32), np.asarray(output, np.int32)
        states = len(own)
        if not states or len(seen) != states or not are_within(own, len(blocks) // _BLOCK):
            raise ValueError(
                "each state of an automaton must have a row of transitions and an output"
            )
        if not are_within(moves, states) or not are_within(blocks, len(moves) // _BLOCK):
            raise ValueError("an automaton moves to a state that does not exist")
        reached = np.column_stack((own[moves], seen[moves]))
        return cls(reached, blocks, int(own[0]), int(seen.max()) + 1)

    @classmethod
    def again(
        cls, moves: NDArray[np.int32], blocks: NDArray[np.uint32], start: int, features: int
    ) -> Automaton:
        """Create an automaton from stored fields, or raise ValueError if they are invalid."""
        if moves.shape != (len(moves), 2) or len(moves) % _BLOCK or blocks.ndim != 1:
            raise ValueError("the transitions of an automaton must be blocks of pairs")
        rows = len(blocks) // _BLOCK
        is_whole = are_within(moves[:, 0], rows) and are_within(blocks, len(moves) // _BLOCK)
        if not is_whole or not 0 <= start < rows or moves[:, 1].max() >= features:
            raise ValueError("an automaton moves to a state that does not exist")
        return cls(moves, blocks, start, features)


@dataclass(frozen=True, eq=False)
class Model:
    """An automaton and the probabilities of its features; use `of` to create and check it."""

    automaton: Automaton
    table: NDArray[np.float16]
    """log probability of each feature (row) under each label (column)"""
    priors: NDArray[np.float32]

    @classmethod
    def of(
        cls, automaton: Automaton, table: ArrayLike, priors: ArrayLike, *, is_checked: bool = False
    ) -> Model:
        """Create a model from its parts, or raise ValueError if they are inconsistent.

        `is_checked` is True if all probabilities are known to be finite.
        """
        halves = np.ascontiguousarray(table, np.float16)
        logs = np.ascontiguousarray(priors, np.float32)
        if halves.shape != (len(halves), len(logs)) or not len(logs):
            raise ValueError("each feature must have a probability for each label")
        if automaton.features > len(halves):
            raise ValueError("an automaton has a feature without probabilities")
        if not is_checked and not _are_finite(halves):
            raise ValueError("the log probability of a feature is not finite")
        return cls(automaton, halves, logs)

    def restricted(self, labels: Sequence[int]) -> Model:
        """A copy of the model restricted to some labels, given as column indices."""
        return Model.of(self.automaton, self.table[:, list(labels)], self.priors[list(labels)])

    def widened(self, columns: Sequence[NDArray[np.float16]], priors: Sequence[float]) -> Model:
        """Return a copy of the model with additional columns, each for one new label."""
        table = np.column_stack([self.table, *columns])
        return Model.of(self.automaton, table, [*self.priors, *priors])

    @cached_property
    def in_c(self) -> _CModel:
        """The model as a C structure, which is created once and reused for all texts."""
        arrays = self.automaton.moves, self.automaton.blocks, self.table, self.priors
        return _CModel(*map(pointer, arrays), len(self.priors), self.automaton.start)


def _are_finite(table: NDArray[np.float16]) -> bool:
    return all(bool(np.isfinite(part).all()) for part in np.array_split(table, _PARTS))


class _CModel(ctypes.Structure):
    _fields_ = (
        *fields_of(ctypes.c_void_p, "moves blocks table priors"),
        ("labels", ctypes.c_int64),
        ("start", ctypes.c_int32),
    )


def label_shares(model: Model, text: bytes) -> NDArray[np.float64]:
    """The probability of each label for a text.

    >>> moves = shared_blocks([np.repeat([1, 0], 256)])
    >>> model = Model.of(Automaton.of(moves, [0, 1], [0, 1]), [[0, -1], [0, -1]], [0, 0])
    >>> label_shares(model, b"abc").round(2).tolist()
    [0.74, 0.26]
    """
    shares: NDArray[np.float64] = label_shares_of_texts(model, [text])[0]
    return shares


def label_shares_of_texts(model: Model, texts: Sequence[bytes]) -> NDArray[np.float64]:
    """The probability of each label for each text, one row per text.

    >>> moves = shared_blocks([np.repeat([1, 0], 256)])
    >>> model = Model.of(Automaton.of(moves, [0, 1], [0, 1]), [[0, -1], [0, -1]], [0, 0])
    >>> label_shares_of_texts(model, [b"abc", b""]).round(2).tolist()
    [[0.74, 0.26], [0.5, 0.5]]
    """
    shares, library = np.empty((len(texts), len(model.priors))), native()
    if library is None:
        for row, text in enumerate(texts):
            shares[row] = langid_reference.label_shares(model, text)
        return shares
    offsets = np.array([0, *accumulate(map(len, texts))], np.int64)
    if not library.langid_shares(
        ctypes.byref(model.in_c), ctypes.c_char_p(b"".join(texts)), ctypes.c_int64(len(texts)),
        pointer(offsets), pointer(shares),
    ):  # fmt: skip
        raise MemoryError
    return shares

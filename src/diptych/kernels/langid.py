"""Language identification in C: naive Bayes over byte n-grams that an automaton finds."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from diptych.kernels import langid_reference, native, pointer

_BYTES = 256


@dataclass(frozen=True, eq=False)
class Model:
    """The automaton, and the probabilities of its features; made by `of`, which checks them."""

    moves: NDArray[np.uint32]
    """the next state of the automaton for each byte, in rows of 256"""
    rows: NDArray[np.uint32]
    """the row of each state"""
    output: NDArray[np.int32]
    """the feature that is seen where a state is reached, below zero for none"""
    table: NDArray[np.float32]
    """log probability of each feature, a row each, under each label"""
    priors: NDArray[np.float32]

    @classmethod
    def of(
        cls, moves: ArrayLike, rows: ArrayLike, output: ArrayLike, table: ArrayLike,
        priors: ArrayLike,
    ) -> Model:  # fmt: skip
        """A model from any arrays of numbers; ValueError if an index is out of range."""
        made = cls(
            np.ascontiguousarray(moves, np.uint32),
            np.ascontiguousarray(rows, np.uint32),
            np.ascontiguousarray(output, np.int32),
            np.ascontiguousarray(table, np.float32),
            np.ascontiguousarray(priors, np.float32),
        )
        states = len(made.rows)
        is_whole = states > 0 and len(made.output) == states and len(made.moves) % _BYTES == 0
        if not is_whole or made.rows.max() >= len(made.moves) // _BYTES:
            raise ValueError("each state of an automaton needs a row of moves and an output")
        if made.moves.max() >= states:
            raise ValueError("an automaton moves to a state it has not")
        if made.table.shape != (len(made.table), len(made.priors)) or not len(made.priors):
            raise ValueError("each feature needs a probability for each label")
        if made.output.max() >= len(made.table):
            raise ValueError("an automaton shows a feature that has no probabilities")
        return made

    def restricted(self, columns: list[int]) -> Model:
        """The model for some of the labels."""
        table = np.ascontiguousarray(self.table[:, columns])
        return Model(self.moves, self.rows, self.output, table, self.priors[columns])

    def widened(self, columns: Sequence[NDArray[np.float32]], priors: Sequence[float]) -> Model:
        """The model with more labels; ValueError for columns of another length."""
        table = np.column_stack([self.table, *columns])
        return Model.of(self.moves, self.rows, self.output, table, [*self.priors, *priors])

    @cached_property
    def addresses(self) -> tuple[ctypes.c_void_p, ...]:
        """The addresses of its arrays, computed once for many texts."""
        arrays = self.moves, self.rows, self.output, self.table, self.priors
        return tuple(map(pointer, arrays))


def label_shares(model: Model, text: bytes) -> NDArray[np.float64]:
    """The probability of each label.

    >>> sees_0_and_1 = Model.of([1] * 256 + [0] * 256, [0, 1], [0, 1], [[0, -1], [0, -1]], [0, 0])
    >>> label_shares(sees_0_and_1, b"abc").round(2).tolist()
    [0.74, 0.26]
    """
    shares: NDArray[np.float64] = label_shares_of_texts(model, [text])[0]
    return shares


def label_shares_of_texts(model: Model, texts: Sequence[bytes]) -> NDArray[np.float64]:
    """The probability of each label for each text, one row per text.

    >>> sees_0_and_1 = Model.of([1] * 256 + [0] * 256, [0, 1], [0, 1], [[0, -1], [0, -1]], [0, 0])
    >>> label_shares_of_texts(sees_0_and_1, [b"abc", b""]).round(2).tolist()
    [[0.74, 0.26], [0.5, 0.5]]
    """
    labels = len(model.priors)
    shares = np.empty((len(texts), labels))
    library = native()
    first, step = shares.ctypes.data, shares.strides[0]
    for row, text in enumerate(texts):
        if library is None:
            shares[row] = langid_reference.label_shares(model, text)
        elif not library.langid_shares(
            ctypes.c_char_p(text), ctypes.c_int64(len(text)), *model.addresses,
            ctypes.c_int64(labels), ctypes.c_void_p(first + row * step),
        ):  # fmt: skip
            raise MemoryError
    return shares

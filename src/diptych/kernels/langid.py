"""The language of a text: naive Bayes over features that an automaton finds in its bytes."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from diptych.kernels import langid_reference, native, pointer

__all__ = ["Model", "label_shares"]

_BYTES = 256


@dataclass(frozen=True, eq=False)
class Model:
    """Which features there are and what each says; made by `of`, which checks that it is whole."""

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
        """From any arrays of numbers; `ValueError` for a model that would lead out of itself."""
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
        """The same for some of the labels."""
        table = np.ascontiguousarray(self.table[:, columns])
        return Model(self.moves, self.rows, self.output, table, self.priors[columns])

    def widened(self, columns: Sequence[NDArray[np.float32]], priors: Sequence[float]) -> Model:
        """The same with more labels; `ValueError` for columns that are not whole."""
        table = np.column_stack([self.table, *columns])
        return Model.of(self.moves, self.rows, self.output, table, [*self.priors, *priors])

    @cached_property
    def addresses(self) -> tuple[ctypes.c_void_p, ...]:
        """Where its arrays are; found once, since it is asked of a hundred thousand texts."""
        arrays = self.moves, self.rows, self.output, self.table, self.priors
        return tuple(map(pointer, arrays))


def label_shares(model: Model, text: bytes) -> NDArray[np.float64]:
    """The probability of each label.

    >>> sees_0_and_1 = Model.of([1] * 256 + [0] * 256, [0, 1], [0, 1], [[0, -1], [0, -1]], [0, 0])
    >>> label_shares(sees_0_and_1, b"abc").round(2).tolist()
    [0.74, 0.26]
    """
    library = native()
    if library is None:
        return langid_reference.label_shares(model, text)
    shares = np.empty(len(model.priors))
    is_done = library.langid_shares(
        ctypes.c_char_p(text), ctypes.c_int64(len(text)), *model.addresses,
        ctypes.c_int64(len(shares)), pointer(shares),
    )  # fmt: skip
    if not is_done:
        raise MemoryError
    return shares

"""The probability that two pages of a site are translations of each other, before they are read.

Boosted trees over what is known of them: what the site declares, their URLs, what their contents
have in common, and their lead over rivals (`candidate_table`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from diptych.files import model_file, reading
from diptych.learn.arrays import TRAIN_ANEW, read_arrays, save_arrays
from diptych.learn.trees import Forest

FORMAT = 1
_FILE = "model.npz"


@dataclass(frozen=True, slots=True, eq=False)
class PagePairModel:
    """Trees over named features."""

    names: tuple[str, ...]
    forest: Forest

    def probabilities(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        """One probability for each row; columns as in `names`."""
        found: NDArray[np.float64] = 1 / (1 + np.exp(-self.forest.scores(rows).astype(np.float64)))
        return found

    def save(self, folder: str) -> None:
        """Write the model as arrays, nothing but data."""
        about = {"format": np.array(FORMAT), "names": np.array(self.names)}
        save_arrays(f"{folder}/{_FILE}", about | self.forest.arrays())


def load(names: Sequence[str], folder: str = "") -> PagePairModel:
    """A saved model over such features; without a folder the one that comes with the package."""
    return (_read if folder else _shipped)(folder, tuple(names))


def _read(folder: str, names: tuple[str, ...]) -> PagePairModel:
    with (
        model_file(folder, _FILE, "diptych.stages.pair.union") as path,
        reading(path, "page pair model", TRAIN_ANEW),
    ):
        found = read_arrays(path, FORMAT)
        if tuple(np.atleast_1d(found.pop("names")).tolist()) != names:
            raise ValueError("it was trained with other features")
        del found["format"]
        return PagePairModel(names, Forest.of_arrays(found, len(names)))


_shipped = cache(_read)

"""The probability that two pages of a site are translations of each other, before verification.

The model consists of boosted trees over the available evidence: declarations of the site, URLs,
common content, and the lead over rivals (`candidate_table`).
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
    """Boosted trees over named features."""

    names: tuple[str, ...]
    forest: Forest

    def probabilities(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        """The probability that each row is a pair; the columns are the features in `names`."""
        found: NDArray[np.float64] = 1 / (1 + np.exp(-self.forest.scores(rows).astype(np.float64)))
        return found

    def save(self, folder: str) -> None:
        """Save the model to a folder as plain arrays."""
        about = {"format": np.array(FORMAT), "names": np.array(self.names)}
        save_arrays(f"{folder}/{_FILE}", about | self.forest.arrays())


def load(names: Sequence[str], folder: str = "") -> PagePairModel:
    """Load a model with these features from a folder; by default, the shipped model."""
    return (_read if folder else _shipped)(folder, tuple(names))


def _read(folder: str, names: tuple[str, ...]) -> PagePairModel:
    with (
        model_file(folder, _FILE, "diptych.stages.pair.union") as path,
        reading(path, "page pair model", TRAIN_ANEW),
    ):
        found = read_arrays(path, FORMAT)
        if tuple(np.atleast_1d(found.pop("names")).tolist()) != names:
            raise ValueError("it was trained with different features")
        del found["format"]
        return PagePairModel(names, Forest.of_arrays(found, len(names)))


_shipped = cache(_read)

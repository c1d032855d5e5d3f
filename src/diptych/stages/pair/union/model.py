"""The probability that two pages of a site are translations of each other, before they are read.

Boosted trees over what is known of them: what the site declares, their URLs, what their contents
have in common, and their lead over rivals (`candidate_table`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from diptych.errors import ConfigError
from diptych.learn.arrays import read_arrays
from diptych.learn.trees import Forest

__all__ = ["FORMAT", "PagePairModel", "load"]

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
        Path(folder).mkdir(parents=True, exist_ok=True)
        forest = {field.name: getattr(self.forest, field.name) for field in fields(Forest)}
        np.savez_compressed(
            Path(folder) / _FILE, format=np.array(FORMAT), names=np.array(self.names), **forest
        )


def load(names: Sequence[str], folder: str = "") -> PagePairModel:
    """A saved model over such features; without a folder the one that comes with the package."""
    return _read(Path(folder) / _FILE, tuple(names)) if folder else _shipped(tuple(names))


@cache
def _shipped(names: tuple[str, ...]) -> PagePairModel:
    with as_file(files("diptych.stages.pair.union") / "weights" / _FILE) as path:
        return _read(path, names)


def _read(path: Path, names: tuple[str, ...]) -> PagePairModel:
    found = read_arrays(path, "page pair model", FORMAT)
    if "names" not in found or tuple(np.atleast_1d(found.pop("names")).tolist()) != names:
        raise ConfigError(f"{path} was trained with other features; train the model anew")
    del found["format"]
    try:
        base = float(found.pop("base").item())
        forest = Forest(**found, base=base)
    except (TypeError, ValueError, KeyError) as error:
        raise ConfigError(f"{path} is damaged: {error}; train the model anew") from error
    if not forest.is_sound(len(names)):
        raise ConfigError(f"{path} is damaged; train the model anew")
    return PagePairModel(names, forest)

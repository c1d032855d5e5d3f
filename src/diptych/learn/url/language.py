"""The URL language model (Garcia-Romero et al., section 2): predicting, loading and saving.

Instead of the authors' transformer, the model is a small table of words and character n-grams, with
additional facts about marks, countries and scripts (`kernels.url_lang`).  It predicts a calibrated
probability for each of about 190 languages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diptych.files import model_file, reading
from diptych.kernels import return_memory
from diptych.kernels.url_lang import MAX_KINDS, MAX_LABELS, MAX_WIDTH, Tables, probabilities
from diptych.learn.arrays import TRAIN_ANEW, arrays_of, read_arrays, save_arrays
from diptych.learn.url.data import UNKNOWN, LabelledUrl
from diptych.learn.url.language_text import pack
from diptych.learn.url.language_train import fit
from diptych.types import LangScore

FORMAT = 4
FLOOR = 0.25  # probability below which no language is predicted; see docs/models/url_lang.md
_FILE = "model.npz"
_BATCH = 4096  # rows of probabilities that fit into the cache


@dataclass(frozen=True, slots=True)
class UrlLang:
    """A trained URL language model; the first label is `und`."""

    labels: tuple[str, ...]
    tables: Tables

    def probabilities(self, urls: Sequence[str]) -> NDArray[np.float32]:
        """The probability of each label for each URL.

        For an invalid URL, the probability of `und` is 1.
        """
        rows = np.empty((len(urls), len(self.labels)), np.float32)
        for start in range(0, len(urls), _BATCH):
            batch = pack(urls[start : start + _BATCH])
            rows[start : start + _BATCH] = probabilities(self.tables, batch)
        return rows

    def predict(self, urls: Sequence[str]) -> list[LangScore]:
        """The most probable language of each URL, or `und` if its probability is below `FLOOR`."""
        rows = self.probabilities(urls)
        best = rows.argmax(axis=1)
        scores = rows[np.arange(len(rows)), best].tolist()
        return [
            LangScore(self.labels[label], score)
            if score >= FLOOR
            else LangScore(UNKNOWN, 1 - score)
            for label, score in zip(best.tolist(), scores, strict=True)
        ]

    def save(self, folder: str) -> None:
        """Write the model to a folder."""
        about = {"labels": np.array(self.labels), "format": np.array(FORMAT)}
        save_arrays(f"{folder}/{_FILE}", arrays_of(self.tables) | about)


def train(rows: Iterable[LabelledUrl], *, seed: int = 0) -> UrlLang:
    """Train a model on labelled URLs; the same rows and seed give the same model."""
    return UrlLang(*fit(list(rows), seed=seed))


def load(folder: str = "") -> UrlLang:
    """Load a model from a folder, or the shipped model if no folder is given."""
    return (_read if folder else _shipped)(folder)


def _read(folder: str) -> UrlLang:
    name = _FILE if folder else f"url_lang/{_FILE}"
    with (
        model_file(folder, name, "diptych.learn.url") as path,
        reading(path, "URL language model", TRAIN_ANEW),
    ):
        found = read_arrays(path, FORMAT)
        if wrong := _wrong_shape(found) or _wrong_number(found):
            raise ValueError(wrong)
        tables = Tables(**{field.name: found[field.name] for field in fields(Tables)})
    return_memory()
    return UrlLang(tuple(found["labels"].tolist()), tables)


_shipped = cache(_read)

_SHAPES = {
    "labels": ("U", "labels"), "out": ("f4", "labels", "width"), "bias": ("f4", "labels"),
    "table": ("i1", "rows", "width"), "scale": ("f4", "rows"), "slot_key": ("u4", "slots"),
    "slot_entry": ("i4", "slots"), "entry_from": ("i4", "starts"), "fact_label": ("u2", "facts"),
    "fact_kind": ("u2", "facts"), "fact_value": ("f4", "facts"), "kinds": ("f4", "kinds"),
    "gates": ("f4", "kinds"),
}  # fmt: skip
_LIMITS = {"labels": MAX_LABELS, "width": MAX_WIDTH, "kinds": MAX_KINDS}


def _wrong_shape(found: Mapping[str, NDArray[Any]]) -> str:
    """Describe the first missing or inconsistent array, or return '' if all arrays are valid."""
    sizes: dict[str, int] = {}
    for name, (kind, *axes) in _SHAPES.items():
        if name not in found:
            return f"no array {name!r}"
        array = found[name]
        if (array.dtype.kind if kind == "U" else array.dtype.str.lstrip("<|")) != kind:
            return f"{name} is of type {array.dtype}"
        if array.ndim != len(axes):
            return f"{name} has {array.ndim} axes"
        for axis, size in zip(axes, array.shape, strict=True):
            if sizes.setdefault(axis, size) != size or not 0 < size <= _LIMITS.get(axis, size):
                return f"{name} has the shape {array.shape}"
    return (
        f"the width is {sizes['width']}, which is not a multiple of 8" if sizes["width"] % 8 else ""
    )


def _wrong_number(found: Mapping[str, NDArray[Any]]) -> str:
    """The name of the first kind of index with invalid values, such as `entries`, or ''."""
    starts, slots = found["entry_from"], len(found["slot_key"])
    facts, entries = len(found["fact_label"]), len(starts) - 1
    checks = {
        "slots": not slots & (slots - 1) and not found["slot_key"].all(),
        "entries": found["slot_entry"].min() >= 0 and found["slot_entry"].max() < entries,
        "rows": len(found["scale"]) <= entries,
        "facts": starts[0] == 0 and starts[-1] == facts and bool((np.diff(starts) >= 0).all()),
        "labels of facts": found["fact_label"].max() < len(found["labels"]),
        "kinds of facts": found["fact_kind"].max() < len(found["kinds"]),
    }
    return next((name for name, is_right in checks.items() if not is_right), "")

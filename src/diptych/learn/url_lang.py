"""The language of a page from its URL alone (Garcia-Romero et al., section 2).

In place of their transformer: a small table of words and character n-grams with facts on marks,
countries and scripts beside it (`kernels.url_lang`).  The answer is a calibrated probability for
each of some 190 languages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from diptych.errors import ConfigError
from diptych.kernels.url_lang import MAX_LABELS, MAX_WIDTH, Tables, probabilities
from diptych.learn.data import UNKNOWN, LabelledUrl
from diptych.learn.url_lang_text import pack
from diptych.learn.url_lang_train import fit
from diptych.types import LangScore

__all__ = ["UrlLang", "load", "train"]

FORMAT = 3
FLOOR = 0.2  # below it no language is named: chosen as the least that costs no macro F1
_FILE = "model.npz"
_BATCH = 4096  # rows of probabilities that fit the cache


@dataclass(frozen=True, slots=True)
class UrlLang:
    """A trained model; the first label is `und`."""

    labels: tuple[str, ...]
    tables: Tables

    def probabilities(self, urls: Sequence[str]) -> NDArray[np.float32]:
        """For each URL the probability of each label; `und` is certain for what is no URL."""
        rows = np.empty((len(urls), len(self.labels)), np.float32)
        for start in range(0, len(urls), _BATCH):
            batch = pack(urls[start : start + _BATCH])
            rows[start : start + _BATCH] = probabilities(self.tables, batch)
        return rows

    def predict(self, urls: Sequence[str]) -> list[LangScore]:
        """The likeliest language of each URL; `und` where none is likely enough."""
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
        """Write the model into a folder."""
        Path(folder).mkdir(parents=True, exist_ok=True)
        arrays: dict[str, Any] = {
            field.name: getattr(self.tables, field.name) for field in fields(Tables)
        }
        arrays |= {"labels": np.array(self.labels), "format": np.array(FORMAT)}
        np.savez_compressed(Path(folder) / _FILE, **arrays)


def train(rows: Iterable[LabelledUrl], *, seed: int = 0) -> UrlLang:
    """A model trained on labelled URLs; the same rows and seed give the same model."""
    fitted = fit(list(rows), seed=seed)
    return UrlLang(fitted.labels, fitted.tables)


def load(folder: str = "") -> UrlLang:
    """A saved model; without a folder the one that comes with the package."""
    return _read(Path(folder) / _FILE) if folder else _shipped()


@cache
def _shipped() -> UrlLang:
    with as_file(files("diptych.learn") / "weights" / "url_lang" / _FILE) as path:
        return _read(path)


def _read(path: Path) -> UrlLang:
    try:
        with np.load(path, allow_pickle=False) as stored:
            found = dict(stored)
    except FileNotFoundError as error:
        raise ConfigError(f"no URL language model at {path}; train one first") from error
    except (OSError, ValueError, EOFError, BadZipFile) as error:
        raise ConfigError(f"{path} is no URL language model: {error}") from error
    if "format" not in found or found["format"].tolist() != FORMAT:
        raise ConfigError(f"{path} is not of format {FORMAT}; train the model anew")
    if wrong := _wrong(found):
        raise ConfigError(f"{path} is damaged: {wrong}; train the model anew")
    tables = Tables(**{field.name: found[field.name] for field in fields(Tables)})
    return UrlLang(tuple(found["labels"].tolist()), tables)


_TYPES = {
    "out": "f4", "bias": "f4", "table": "i1", "scale": "f4", "slot_key": "u4", "slot_entry": "i4",
    "entry_from": "i4", "fact_label": "u2", "fact_kind": "u2", "fact_value": "f4", "kinds": "f4",
    "gates": "f4", "labels": "U",
}  # fmt: skip


def _wrong(found: Mapping[str, NDArray[Any]]) -> str:
    """What the kernel would read beyond its arrays for; nothing when all is well."""
    for name, kind in _TYPES.items():
        if name not in found:
            return f"no array {name!r}"
        has = found[name].dtype
        if (has.kind if kind == "U" else has.str.lstrip("<|")) != kind:
            return f"{name} is of type {has}"
    labels, width = found["labels"].size, found["out"].shape[-1]
    rows, slots, facts = len(found["scale"]), len(found["slot_key"]), len(found["fact_label"])
    entries = len(found["entry_from"]) - 1
    shapes = {
        "labels": (labels,), "out": (labels, width), "bias": (labels,), "table": (rows, width),
        "slot_entry": (slots,), "fact_kind": (facts,), "fact_value": (facts,),
    }  # fmt: skip
    for name, shape in shapes.items():
        if found[name].shape != shape:
            return f"{name} has the shape {found[name].shape}, not {shape}"
    if not 0 < labels <= MAX_LABELS or width % 8 or not 0 < width <= MAX_WIDTH:
        return f"{labels} labels of width {width}"
    return _wrong_numbers(found, labels, rows, slots, entries, facts)


def _wrong_numbers(
    found: Mapping[str, NDArray[Any]], labels: int, rows: int, slots: int, entries: int, facts: int
) -> str:
    """Numbers that lead beyond an array."""
    starts = found["entry_from"]
    if slots & (slots - 1) or not slots or found["slot_key"].all():
        return "slots"
    if found["slot_entry"].min() < 0 or found["slot_entry"].max() >= max(entries, 1):
        return "entries of slots"
    if rows > entries or starts[0] != 0 or starts[-1] != facts or (np.diff(starts) < 0).any():
        return "entries of facts"
    if facts and found["fact_label"].max() >= labels:
        return "labels of facts"
    return "kinds of facts" if facts and found["fact_kind"].max() >= len(found["kinds"]) else ""

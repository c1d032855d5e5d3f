"""The URL pair model (Garcia-Romero et al., section 3): predicting, loading and saving.

Instead of the authors' transformer, the model uses boosted trees.  Their input is the features of
the pair (`pair_features`), which include translated slugs (`concepts`), and the languages of the
URLs (`language`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from diptych.files import model_file, reading
from diptych.kernels import return_memory
from diptych.learn.arrays import TRAIN_ANEW, arrays_of, part_of, read_arrays, save_arrays
from diptych.learn.trees import Forest
from diptych.learn.url import language as url_lang
from diptych.learn.url.concepts import SENSES, Concepts
from diptych.learn.url.data import UNKNOWN
from diptych.learn.url.pair_features import NAMES, Features
from diptych.protocols import UrlLanguageModel

FORMAT = 1
_FILE = "model.npz"
LANGUAGES = "url_lang"
_BATCH = 4096  # pairs whose language probabilities fit into the cache
# A name and a colon are a scheme other than http(s), unless a port number follows.
_WEB = re.compile(
    r"\s*(?:(?:https?:)?//|(?![a-z][a-z0-9+.-]*:(?!\d)))(?:\[[0-9a-f:.]+\]|[^\s/?#:@]+)"
    r"(?::\d*)?(?:[/?#]|\Z)",
    re.IGNORECASE,
)
_HEAD = re.compile(r"\A\s*(?:(?:https?:)?//)?(?:www\.)?", re.IGNORECASE)

LANGUAGE_NAMES = ("same_language", "language<", "language>", "unknown<", "unknown>")
ALL_NAMES = (*NAMES, *LANGUAGE_NAMES)


def all_features(
    features: Features, languages: UrlLanguageModel, lefts: Sequence[str], rights: Sequence[str]
) -> NDArray[np.float32]:
    """Compute all features of URL pairs: one row per pair, with the columns of `ALL_NAMES`.

    `features` compares the URLs themselves; `languages` is the model that predicts their languages.
    """
    place: dict[str, int] = {}
    left = np.fromiter((place.setdefault(url, len(place)) for url in lefts), np.int64)
    right = np.fromiter((place.setdefault(url, len(place)) for url in rights), np.int64)
    spoken = languages.probabilities(list(place))
    unknown = languages.labels.index(UNKNOWN)
    known = spoken.copy()
    known[:, unknown] = 0  # two unknown languages do not count as equal
    top = known.max(axis=1, initial=0.0)
    out = np.empty((len(left), len(ALL_NAMES)), np.float32)
    out[:, : len(NAMES)] = features.of(lefts, rights)
    extra = out[:, len(NAMES) :]
    extra[:, 0] = np.einsum("ij,ij->i", known[left], known[right])
    for column, values in ((1, top), (3, spoken[:, unknown])):
        extra[:, column] = np.minimum(values[left], values[right])
        extra[:, column + 1] = np.maximum(values[left], values[right])
    return out


@dataclass(frozen=True, slots=True, eq=False)
class UrlPair:
    """A trained URL pair model."""

    features: Features
    forest: Forest
    languages: UrlLanguageModel

    def probabilities(self, lefts: Sequence[str], rights: Sequence[str]) -> NDArray[np.float32]:
        """The probability that each left URL is parallel to the right URL with the same index.

        The probability is 0 if a URL is invalid or if both URLs lead to the same page.
        """
        if len(lefts) != len(rights):
            raise ValueError("the numbers of left and right URLs differ")
        out = np.zeros(len(lefts), np.float32)
        for start in range(0, len(lefts), _BATCH):
            one, other = lefts[start : start + _BATCH], rights[start : start + _BATCH]
            rows = all_features(self.features, self.languages, one, other)
            odds = np.clip(self.forest.scores(rows), -30, 30)
            out[start : start + _BATCH] = np.where(
                _possible(one, other), 1 / (1 + np.exp(-odds)), 0
            )
        return out

    def save(self, folder: str) -> None:
        """Write the model to a folder; the language model must be saved separately."""
        arrays = arrays_of(self.features.concepts, "concepts_")
        about = {"names": np.array(ALL_NAMES), "format": np.array(FORMAT)}
        save_arrays(f"{folder}/{_FILE}", arrays | self.forest.arrays("forest_") | about)


def _possible(lefts: Sequence[str], rights: Sequence[str]) -> NDArray[np.bool_]:
    """For each pair, True if both URLs are web pages and they are not the same page."""
    pages: dict[str, int] = {}
    numbers = {
        # -1 for anything other than the URL of a web page.
        url: pages.setdefault(_bare(url), len(pages)) if _WEB.match(url) else -1
        for url in {*lefts, *rights}
    }
    left = np.fromiter((numbers[url] for url in lefts), np.int64, len(lefts))
    right = np.fromiter((numbers[url] for url in rights), np.int64, len(rights))
    possible: NDArray[np.bool_] = (left >= 0) & (right >= 0) & (left != right)
    return possible


def _bare(url: str) -> str:
    """Remove the scheme, `www.`, default port, fragment and trailing slash from a URL."""
    host, slash, rest = _HEAD.sub("", url.partition("#")[0], count=1).partition("/")
    host = host.lower().removesuffix(":80").removesuffix(":443")
    return f"{host}{slash}{rest}".rstrip("/")


def load(folder: str = "") -> UrlPair:
    """Load a model from a folder, or the shipped model if no folder is given."""
    return (_read if folder else _shipped)(folder)


def _read(folder: str) -> UrlPair:
    name = _FILE if folder else f"url_pair/{_FILE}"
    with (
        model_file(folder, name, "diptych.learn.url") as path,
        reading(path, "URL pair model", TRAIN_ANEW),
    ):
        found = read_arrays(path, FORMAT)
        if found["names"].tolist() != list(ALL_NAMES):
            raise ValueError("it was trained with different features")
        concepts = Concepts(**part_of(found, "concepts_"))
        forest = Forest.of_arrays(found, len(ALL_NAMES), "forest_")
        if not _sound_concepts(concepts):
            raise ValueError("its arrays are damaged")
    return_memory()
    own = path.parent / LANGUAGES
    return UrlPair(Features(concepts), forest, url_lang.load(str(own) if own.is_dir() else ""))


_shipped = cache(_read)


def _sound_concepts(concepts: Concepts) -> bool:
    """True if the arrays have the types, shapes and order that the kernel needs."""
    size = concepts.keys.size
    return (
        concepts.keys.dtype == np.uint32
        and concepts.keys.shape == (size,)
        and bool((concepts.keys[1:] > concepts.keys[:-1]).all())
        and concepts.ids.dtype == np.uint16
        and concepts.scores.dtype == np.uint8
        and concepts.ids.shape == concepts.scores.shape == (size, SENSES)
        and concepts.ids.flags.c_contiguous
        and concepts.scores.flags.c_contiguous
    )

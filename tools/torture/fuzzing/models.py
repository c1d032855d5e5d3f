"""Targets: models, which are not only read but also used: what is accepted must do no harm."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from conformance.test_damaged_files import FOREST, lexicon
from kernels.test_url_lang import tables_of

from diptych.language.learned import LearnedLanguage
from diptych.learn.arrays import arrays_of, save_arrays
from diptych.learn.lexicon.lexicon import read_lexicon
from diptych.learn.lexicon.word_links import vocabulary_links
from diptych.learn.url import language, pair
from diptych.learn.url.concepts import SENSES, fingerprint
from diptych.stages.filter.quality import model as quality
from diptych.stages.pair.union import model as page_pair
from tools.torture.fuzzing.target import Made, Maker, Target, of_file

_URLS = (
    "http://example.org/fr/haus-garten.html?lang=de", "https://de.example.org/a/", "no URL",
    "http://example.org/en/house-garden.html?lang=en",
)  # fmt: skip


def _url_language_arrays() -> dict[str, np.ndarray]:
    about = {
        "labels": np.array(["und", "en", "de", "fr", "es"]),
        "format": np.array(language.FORMAT),
    }
    return arrays_of(tables_of(list(_URLS))) | about


def url_language(folder: Path) -> Made:
    """The URL language model."""
    path = folder / "model.npz"
    save_arrays(path, _url_language_arrays())

    def read() -> None:
        rows = language.load(str(folder)).probabilities(_URLS)
        assert rows.shape[0] == len(_URLS)

    return path, read


def url_pair(folder: Path) -> Made:
    """The URL pair model, with the language model that is shipped."""
    words = sorted({fingerprint(word) for word in (b"haus", b"house", b"garden", b"garten")})
    size = (len(words), SENSES)
    concepts = {
        "concepts_keys": np.array(words, np.uint32),
        "concepts_ids": np.arange(len(words) * SENSES, dtype=np.uint16).reshape(size),
        "concepts_scores": np.full(size, 200, np.uint8),
    }
    forest = {f"forest_{name}": FOREST[name] for name in FOREST if name not in ("format", "names")}
    about = {"names": np.array(pair.ALL_NAMES), "format": np.array(pair.FORMAT)}
    path = folder / "model.npz"
    save_arrays(path, concepts | forest | about)
    return path, lambda: pair.load(str(folder)).probabilities(_URLS, _URLS[::-1])


_ROWS = np.array([[0.0, np.nan], [np.inf, 1.0], [0.5, -np.inf]], np.float32)


def page_pairs(folder: Path) -> Made:
    """The page pair model."""
    path = folder / "model.npz"
    save_arrays(path, FOREST)
    return path, lambda: page_pair.load(("a", "b"), str(folder)).probabilities(_ROWS)


def segment_quality(folder: Path) -> Made:
    """The model of the filter."""
    names = {"format", "names"}
    arrays = {name if name in names else f"forest_{name}": FOREST[name] for name in FOREST}
    path = folder / "a.npz"
    save_arrays(path, arrays | {"curve": np.array([1.0, 0.0]), "format": np.array(2)})
    return path, lambda: quality.load(path, ("a", "b")).probabilities(_ROWS)


def word_lexicon(folder: Path) -> Made:
    """A lexicon, with which the words of two texts are linked."""
    path, _ = lexicon(folder)

    def read() -> None:
        found = read_lexicon(path)
        vocabulary_links(("haus", "heim", "x"), ("maison", "arbre", "haus"), found)
        found.merged(found).best("haus")

    return path, read


def learned_file(folder: Path) -> Target:
    """The file of a language."""
    column = np.linspace(-9, -1, 50).astype("<f2").tobytes()
    seed = LearnedLanguage("tet", column, 5.0, ("Latn",), "x").to_bytes()
    return Target(LearnedLanguage.from_bytes, [seed], (ValueError,))


TARGETS: dict[str, Maker] = {
    "URL language model": of_file(url_language, "zip"),
    "URL pair model": of_file(url_pair, "zip"),
    "page pair model": of_file(page_pairs, "zip"),
    "quality model": of_file(segment_quality, "zip"),
    "lexicon": of_file(word_lexicon, "zip"),
    "file of a language": learned_file,
}

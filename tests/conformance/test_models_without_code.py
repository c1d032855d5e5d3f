"""No model, lexicon or stored array can run code: a pickle in one is refused, and never loaded."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest
from support.damage import fault

from diptych.api.languages import use_language_files
from diptych.corpus.from_file import read_units
from diptych.engine.link_service import read_description
from diptych.files import parser_errors
from diptych.language.model_file import map_model
from diptych.learn.lexicon.lexicon import Lexicon, read_lexicon
from diptych.learn.url import language, pair
from diptych.recipes import load as load_recipe
from diptych.run.terms import read_terms
from diptych.stages.detect.predictor import model as link_predictor
from diptych.stages.filter.quality import model as quality
from diptych.stages.pair.union import model as page_pair
from diptych.stages.verify.shared import model as verifier

READERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "URL language model": ("model.npz", lambda path: language.load(str(path.parent))),
    "URL pair model": ("model.npz", lambda path: pair.load(str(path.parent))),
    "page pair model": ("model.npz", lambda path: page_pair.load(("a",), str(path.parent))),
    "quality model": ("a.npz", lambda path: quality.load(path, ("a",))),
    "lexicon": ("a.npz", read_lexicon),
    "link predictor": ("model.json", lambda path: link_predictor.load(str(path.parent))),
    "verifier": ("classify.json", lambda path: verifier.load(str(path.parent), "classify", ("a",))),
    "language": ("a.json", lambda path: use_language_files([path])),
    "recipe": ("a.toml", lambda path: load_recipe(str(path), {})),
    "run.toml": ("run.toml", lambda path: read_terms(path.parent)),
    "link service": ("a.toml", read_description),
    "corpus": ("a.parquet", lambda path: list(read_units(path))),
}
"""the name of a file of each format, and its reader"""
ARRAYS = [name for name, (file, _) in READERS.items() if file.endswith(".npz")]


class Evil:
    """Runs code when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return pytest.fail, ("a pickle was loaded",)


def with_pickled_array(name: str) -> bytes:
    """A lexicon, one of whose arrays is a pickle, with `format` as other models have it."""
    stream = io.BytesIO(Lexicon.empty("de", "fr").to_bytes())
    arrays = dict(np.load(stream, allow_pickle=False))
    evil = io.BytesIO()
    np.save(evil, np.array([Evil()], object), allow_pickle=True)
    out = io.BytesIO()
    with ZipFile(out, "w") as archive:
        for each in {*arrays, name}:
            plain = io.BytesIO()
            np.save(plain, arrays.get(each, np.array(1)))
            archive.writestr(f"{each}.npy", (evil if each == name else plain).getvalue())
    return out.getvalue()


def test_the_pickle_of_these_tests_would_run() -> None:
    with pytest.raises(pytest.fail.Exception, match="a pickle was loaded"):
        pickle.loads(pickle.dumps(Evil()))
    stored = np.load(io.BytesIO(with_pickled_array("left_words")), allow_pickle=True)
    with pytest.raises(pytest.fail.Exception):
        dict(stored)


@pytest.mark.parametrize("format", READERS)
@pytest.mark.parametrize("protocol", [0, pickle.HIGHEST_PROTOCOL])
def test_a_pickle_in_place_of_a_file_is_refused(format: str, protocol: int, tmp_path: Path) -> None:
    name, read = READERS[format]
    (tmp_path / name).write_bytes(pickle.dumps(Evil(), protocol))
    assert name in fault(lambda: read(tmp_path / name))


@pytest.mark.parametrize("format", ARRAYS)
@pytest.mark.parametrize("array", ["format", "left_words", "names"])
def test_a_pickled_array_in_a_model_is_refused(format: str, array: str, tmp_path: Path) -> None:
    name, read = READERS[format]
    (tmp_path / name).write_bytes(with_pickled_array(array))
    said = fault(lambda: read(tmp_path / name))
    assert name in said
    assert "Object arrays cannot be loaded" in said


def test_a_pickled_array_in_the_cache_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text('[["en"], 0, 1, "x"]', "utf-8")
    for name in ("moves", "blocks", "table", "priors"):
        np.save(tmp_path / f"{name}.npy", np.array([Evil()], object), allow_pickle=True)
    with pytest.raises(parser_errors()):
        map_model(tmp_path)

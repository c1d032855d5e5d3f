"""The model of py3langid, read from its file and mapped from the user's cache."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from diptych.files import parser_errors
from diptych.kernels.langid import label_shares
from diptych.language.model_file import ShippedModel, map_model, open_model, read_model

TEXTS = [text.encode() for text in ("Le chat dort sur le canapé.", "Мачка спава.", "", "\x00 ÿ")]


@pytest.fixture(scope="module")
def read() -> ShippedModel:
    return read_model()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DIPTYCH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with the model."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DIPTYCH_CACHE", str(folder))
        open_model()
    return folder


def is_mapped(array: np.ndarray | None) -> bool:
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap):
            return True
        array = array.base
    return False


def assert_same(one: ShippedModel, other: ShippedModel) -> None:
    assert (one.labels, one.fingerprint) == (other.labels, other.fingerprint)
    for text in TEXTS:
        assert label_shares(one.model, text).tolist() == label_shares(other.model, text).tolist()


def test_the_cached_model_is_mapped_and_equals_the_one_in_the_package(
    cache: Path, read: ShippedModel
) -> None:
    for _ in range(2):  # it is written, then found
        found = open_model()
        assert is_mapped(found.model.table)
        assert is_mapped(found.model.automaton.moves)
        assert_same(found, read)
    assert len(list(cache.iterdir())) == 1


def test_without_a_writable_cache_the_model_is_read(cache: Path, read: ShippedModel) -> None:
    cache.write_text("a file where the folder should be")
    found = open_model()
    assert not is_mapped(found.model.table)
    assert_same(found, read)


def _save(name: str, change: Callable[[np.ndarray], np.ndarray]) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        np.save(folder / f"{name}.npy", change(np.load(folder / f"{name}.npy")))

    return damage


def _put(array: np.ndarray, place: int | tuple[int, int], value: int) -> np.ndarray:
    array[place] = value
    return array


def _about(place: int, value: object) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        about = json.loads((folder / "model.json").read_text())
        about[place] = value
        (folder / "model.json").write_text(json.dumps(about))

    return damage


@pytest.mark.parametrize(
    "damage",
    [
        _save("moves", lambda moves: _put(moves, (5, 0), 10**6)),
        _save("moves", lambda moves: _put(moves, (5, 0), -1)),
        _save("moves", lambda moves: _put(moves, (5, 1), 10**6)),
        _save("moves", lambda moves: moves[:-1]),
        _save("moves", lambda moves: moves[:, :1]),
        _save("blocks", lambda blocks: _put(blocks, 7, 10**6)),
        _save("table", lambda table: table[:-1]),
        _save("table", lambda table: table[:, :-1]),
        _save("table", lambda table: table.astype(np.float64)),
        _save("priors", lambda priors: priors[:-1]),
        _about(0, ["en"]),
        _about(1, 10**6),
        _about(1, -1),
        _about(2, 10**6),
        lambda folder: (folder / "model.json").write_text("[]"),
        lambda folder: (folder / "table.npy").unlink(),
        lambda folder: (folder / "blocks.npy").write_bytes(b"\x93NUMPY"),
    ],
)
def test_a_damaged_model_is_refused(
    tmp_path: Path, filled: Path, damage: Callable[[Path], None]
) -> None:
    [folder] = shutil.copytree(filled, tmp_path / "cache").iterdir()
    map_model(folder)
    damage(folder)
    with pytest.raises(parser_errors()):
        map_model(folder)


def test_a_damaged_cache_is_not_used(cache: Path, filled: Path, read: ShippedModel) -> None:
    [folder] = shutil.copytree(filled, cache).iterdir()
    (folder / "table.npy").unlink()
    assert_same(open_model(), read)

"""The model of page pairs: kept as arrays, and nothing else is taken for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples

from diptych.errors import ConfigError
from diptych.learn.trees import Forest
from diptych.stages.pair.union.candidate_table import FEATURES
from diptych.stages.pair.union.model import FORMAT, PagePairModel, load

NAMES = ("shared", "tags")


def model() -> PagePairModel:
    """Two trees: a split of the second feature at 0.5, and a leaf alone."""
    return PagePairModel(NAMES, Forest(
        np.array([0, 3], np.int32), np.array([1, -1, -1, -1], np.int16),
        np.array([0.5, 0, 0, 0], np.float32), np.array([1, 0, 0, 0], np.int32),
        np.array([2, 0, 0, 0], np.int32), np.array([0, -1, 2, 0.25], np.float32), 0.5,
    ))  # fmt: skip


ROWS = np.array([[9, 0.5], [9, 0.75]], np.float32)


def arrays(folder: Path) -> dict[str, Any]:
    """What a model is kept as."""
    model().save(str(folder))
    with np.load(folder / "model.npz", allow_pickle=False) as stored:
        return dict(stored)


def rewrite(folder: Path, **changes: Any) -> str:
    """A model with some of its arrays changed, or left out where they are None."""
    changed = arrays(folder) | changes
    np.savez(folder / "model.npz", **{n: a for n, a in changed.items() if a is not None})
    return str(folder)


def test_probabilities_are_those_of_the_sum_of_leaves() -> None:
    found = model().probabilities(ROWS)
    assert found.tolist() == pytest.approx([1 / (1 + np.exp(0.25)), 1 / (1 + np.exp(-2.75))])
    assert model().probabilities(ROWS[:0]).tolist() == []


def test_a_model_is_the_same_after_it_was_saved(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    model().save(str(folder))
    again = load(NAMES, str(folder))
    assert again.names == NAMES
    assert again.probabilities(ROWS).tolist() == model().probabilities(ROWS).tolist()
    assert again.forest.base == 0.5


def test_saving_replaces_an_existing_model(tmp_path: Path) -> None:
    rewrite(tmp_path, base=np.array(9.0))
    assert load(NAMES, str(tmp_path)).forest.base == 9.0
    model().save(str(tmp_path))
    assert load(NAMES, str(tmp_path)).forest.base == 0.5


def test_the_model_of_the_package_fits_its_features() -> None:
    shipped = load(FEATURES)
    assert shipped.names == FEATURES
    assert shipped.forest.is_sound(len(FEATURES))
    assert load(FEATURES) is shipped


@pytest.mark.parametrize("names", [("tags", "shared"), ("shared",), (*NAMES, "sizes"), ()])
def test_a_model_of_other_features_is_refused(tmp_path: Path, names: tuple[str, ...]) -> None:
    model().save(str(tmp_path))
    with pytest.raises(ConfigError, match="different features"):
        load(names, str(tmp_path))


def test_missing_model_is_an_error_with_its_path(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot read .*nowhere/model\.npz: No such file"):
        load(NAMES, str(tmp_path / "nowhere"))
    (tmp_path / "model.npz").mkdir()
    with pytest.raises(ConfigError, match="Is a directory; train the model again"):
        load(NAMES, str(tmp_path))


@pytest.mark.parametrize(
    "changes",
    [
        {"format": np.array(FORMAT + 1)}, {"format": None}, {"format": np.array("1")},
        {"names": None}, {"names": np.array(7)}, {"names": np.array("shared")},
        {"names": np.array([1, 2])}, {"names": np.array([["shared", "tags"]])},
        {"names": np.array([b"shared", b"tags"])},
        {"base": None}, {"base": np.array([1.0, 2.0])}, {"base": np.array(np.nan)},
        {"base": np.array("x")}, {"base": np.array(1j)}, {"base": np.array([])},
        {"roots": None}, {"more": np.array(1)}, {"values": np.zeros(3, np.float32)},
        {"values": np.full(4, np.nan, np.float32)}, {"values": np.array(1, np.float32)},
        {"thresholds": np.zeros(4)}, {"thresholds": np.array(["x"] * 4)},
        {"roots": np.zeros((2, 1), np.int32)}, {"features": np.zeros(0, np.int16)},
    ],
    ids=lambda changes: "-".join(f"{name}:{value!r}"[:40] for name, value in changes.items()),
)  # fmt: skip
def test_damaged_model_is_a_one_line_error(tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"model\.npz") as caught:
        load(NAMES, rewrite(tmp_path, **changes))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("roots", [0, 4]), ("roots", [-1, 3]),  # no such tree
        ("lefts", [0, 0, 0, 0]),  # to itself
        ("lefts", [4, 0, 0, 0]), ("rights", [2**31 - 1, 0, 0, 0]), ("rights", [-1, 0, 0, 0]),
        ("features", [2, -1, -1, -1]), ("features", [-2, -1, -1, -1]),
        ("features", [1, -1, -1, 0]),  # leads back
    ],
)  # fmt: skip
def test_trees_with_invalid_children_are_refused(
    tmp_path: Path, name: str, values: list[int]
) -> None:
    kind = arrays(tmp_path)[name].dtype
    with pytest.raises(ConfigError, match="damaged"):
        load(NAMES, rewrite(tmp_path, **{name: np.array(values, kind)}))


def test_code_in_a_model_is_never_run(tmp_path: Path) -> None:
    whole = arrays(tmp_path)
    np.savez(tmp_path / "model.npz", **whole | {"values": np.array([print], object)})
    with pytest.raises(ConfigError, match="not a page pair model"):
        load(NAMES, str(tmp_path))


@given(st.data())
@settings(max_examples=examples(60))
def test_any_file_gives_a_model_or_an_error(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("model")
    model().save(str(folder))
    path = folder / "model.npz"
    whole = path.read_bytes()
    if data.draw(st.booleans()):
        path.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
    else:
        place = data.draw(st.integers(0, len(whole) - 1))
        byte = data.draw(st.integers(0, 255))
        path.write_bytes(whole[:place] + bytes([byte]) + whole[place + 1 :])
    try:
        found = load(NAMES, str(folder))
    except ConfigError:
        return
    assert np.isfinite(found.probabilities(ROWS)).all()


def test_the_model_of_the_package_is_read_once() -> None:
    assert load(FEATURES) is load(FEATURES)


@pytest.mark.parametrize(
    "name",
    ["declared", "url", "url_model", "shared", "translated", "tags", "sizes", "copied", "lead",
     "neighbours", "siblings", "title"],
)  # fmt: skip
def test_shipped_model_uses_all_kinds_of_evidence(name: str) -> None:
    assert FEATURES.index(name) in set(load(FEATURES).forest.features.tolist())


@pytest.mark.parametrize("name", ["declared", "url", "url_model", "shared", "neighbours"])
def test_more_evidence_never_makes_a_pair_less_likely(name: str) -> None:
    rows = np.random.default_rng(0).random((500, len(FEATURES))).astype(np.float32)
    more = rows.copy()
    more[:, FEATURES.index(name)] = 1.0
    model = load(FEATURES)
    assert (model.probabilities(more) >= model.probabilities(rows) - 1e-9).all()

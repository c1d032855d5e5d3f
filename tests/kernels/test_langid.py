"""Language identification in C, compared with its reference, and both with py3langid."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from py3langid.langid import MODEL_FILE, LanguageIdentifier, visit_counts
from support.examples import examples

from diptych.kernels import langid, langid_reference, native
from diptych.kernels.langid import (
    Automaton,
    Model,
    label_shares,
    label_shares_of_texts,
    shared_blocks,
)
from diptych.language.identify import whole_model
from diptych.language.model_file import read_model

STATES, ROWS, FEATURES, LABELS = 5, 3, 4, 3


@pytest.fixture(autouse=True)
def _compiled() -> None:
    assert native() is not None


@cache
def library() -> LanguageIdentifier:
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def automaton(moves: ArrayLike, rows: ArrayLike, output: ArrayLike) -> Automaton:
    return Automaton.of(shared_blocks([np.array(moves, np.uint32)]), rows, output)


def random_model(seed: int) -> Model:
    chance = np.random.default_rng(seed)
    parts = automaton(
        # Blocks that occur in several rows, as those of the real model do.
        chance.integers(0, STATES, (3, 16))[chance.integers(0, 3, ROWS * 16)].ravel(),
        chance.integers(0, ROWS, STATES),
        chance.integers(-1, FEATURES, STATES),
    )
    table = chance.normal(-3, 2, (FEATURES, LABELS)) * chance.choice([1, 1e-6], (FEATURES, LABELS))
    return Model.of(parts, table, chance.normal(0, 1, LABELS))


@given(st.integers(0, 50), st.binary(max_size=60))
def test_shares_match_the_reference(seed: int, text: bytes) -> None:
    model = random_model(seed)
    ours = label_shares(model, text)
    np.testing.assert_allclose(ours, langid_reference.label_shares(model, text), 1e-9)
    assert ours.sum() == pytest.approx(1)


@given(st.integers(0, 50), st.lists(st.binary(max_size=60), max_size=20))
def test_texts_that_are_read_together_get_the_shares_of_texts_alone(
    seed: int, texts: list[bytes]
) -> None:
    model = random_model(seed)
    together = label_shares_of_texts(model, texts)
    assert together.shape == (len(texts), LABELS)
    for ours, text in zip(together, texts, strict=True):
        np.testing.assert_array_equal(ours, label_shares(model, text))


@pytest.mark.parametrize(
    "text",
    ["", "x", "Le chat dort.", "Der Hund bellt laut. " * 90, "市长昨天为新图书馆揭幕",
     "\x00\x01\x02", "ΑΒΓ αβγ", "1 2 3", "é" * 4_000],
)  # fmt: skip
def test_shares_match_py3langid(text: str) -> None:
    shares = label_shares(whole_model().model, text.encode())
    theirs = dict(library().rank(text.encode()))
    ours: dict[str, float] = {}
    for label, share in zip(whole_model().labels, shares.tolist(), strict=True):
        ours[label] = ours.get(label, 0.0) + share
    assert set(ours) == set(theirs)
    # The library keeps its table in half precision, and sums in single.
    assert max(abs(ours[label] - theirs[label]) for label in ours) < 1e-4


@settings(max_examples=examples(60))
@given(st.text(max_size=40))
def test_features_match_py3langid(text: str) -> None:
    data = text.encode("utf-8", "replace")
    model = library()
    theirs = visit_counts(model.tk_nextmove, model._rowbase, model.tk_output, data)
    assert langid_reference.feature_counts(whole_model().model, data) == (theirs or {})


def test_results_are_the_same_without_compiled_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "Le maire a inauguré hier la nouvelle bibliothèque.".encode()
    ours = label_shares(whole_model().model, text)
    monkeypatch.setattr(langid, "native", lambda: None)
    np.testing.assert_allclose(label_shares(whole_model().model, text), ours, 1e-9)


def test_model_restricted_to_some_labels() -> None:
    whole = random_model(3)
    some = whole.restricted([2, 0])
    shares, own = label_shares(whole, b"abcabd"), label_shares(some, b"abcabd")
    np.testing.assert_allclose(own, shares[[2, 0]] / shares[[2, 0]].sum(), 1e-6)


def test_shared_blocks_reproduce_the_list_of_moves() -> None:
    chance = np.random.default_rng(1)
    listed = chance.integers(0, 3, (20, 16))[chance.integers(0, 20, 96)].ravel().astype(np.uint16)
    moves, order = shared_blocks(np.split(listed, 6))
    assert len(moves) <= 20 * 16
    assert (moves.reshape(-1, 16)[order].ravel() == listed).all()


def test_model_equals_py3langid_and_is_small() -> None:
    labels, model, _ = read_model()
    arrays = model.table, model.automaton.moves, model.automaton.blocks
    assert sum(array.nbytes for array in arrays) < 40_000_000
    theirs = library()
    assert labels == tuple(theirs.nb_classes)
    assert (model.table == theirs.nb_ptc).all()
    assert (model.priors == theirs.nb_pc).all()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("moves", [0] * 240), ("moves", []), ("moves", [0] * 255 + [2]), ("rows", []),
        ("rows", [0, 1]), ("rows", [0, -1]), ("output", [0]), ("output", [0, 2]),
        ("table", [[0.0], [0.0]]), ("table", [[0.0, 0.0], [0.0, -np.inf]]),
        ("table", [[0.0, 0.0], [0.0, np.nan]]), ("priors", []),
    ],
)  # fmt: skip
def test_model_with_indices_out_of_bounds_is_refused(name: str, value: list[int]) -> None:
    def make(moves: ArrayLike, rows: ArrayLike, output: ArrayLike, **rest: ArrayLike) -> Model:
        return Model.of(automaton(moves, rows, output), rest["table"], rest["priors"])

    whole: dict[str, ArrayLike] = {
        "moves": [0] * 256, "rows": [0, 0], "output": [-1, 1],
        "table": [[0.0, 0.0], [0.0, 0.0]], "priors": [0.0, 0.0],
    }  # fmt: skip
    make(**whole)
    with pytest.raises(ValueError, match=r"automaton|feature|state"):
        make(**{**whole, name: value})

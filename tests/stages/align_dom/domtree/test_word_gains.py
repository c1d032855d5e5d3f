"""Word gains of all texts in C, compared with their reference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.learn.lexicon.lexicon import Lexicon
from diptych.stages.align_dom.domtree import word_gains
from diptych.stages.align_dom.domtree.strategy import DomTree
from diptych.stages.align_dom.domtree.word_gains import WordMatrix, WordTables, read_words

POOL = ["berg", "bergs", "bergé", "1956", "1957", "haus", "house", "der", "山", "x", "2", "!"]
texts = st.lists(st.lists(st.sampled_from(POOL), max_size=12).map(" ".join), max_size=7)
lexicons = st.lists(
    st.tuples(st.sampled_from(POOL), st.sampled_from(POOL), st.floats(0.01, 1)), max_size=12
)


@given(texts, texts, lexicons, st.sampled_from([0.0, 0.3, 0.5]))
def test_gains_of_all_texts_equal_the_reference(
    left: list[str], right: list[str], known: list, backward: float
) -> None:
    lexicon = Lexicon.of_links("de", "fr", known)
    weights = DomTree(backward=backward)
    found = read_words((left, right), lexicon, weights)
    expected = word_gains.read_tables((left, right), lexicon, weights)
    assert isinstance(found, WordMatrix)
    for ours, theirs in zip(found.texts, expected.texts, strict=True):
        assert ours.lengths.tolist() == theirs.lengths.tolist()
        assert ours.sizes.tolist() == theirs.sizes.tolist()
    rows, columns = (np.flatnonzero(each.lengths > 0) for each in found.texts)
    if len(rows) and len(columns):
        gains = expected.between(rows, columns)
        assert found.between(rows, columns) == pytest.approx(gains, rel=1e-5, abs=1e-5)


def test_texts_without_letters_have_no_row() -> None:
    found = read_words((["", "one", "…"], ["un"]), Lexicon.empty("en", "fr"), DomTree())
    assert isinstance(found, WordMatrix)
    lengths = found.texts[0].lengths
    assert (found.rows[0] >= 0).tolist() == (lengths > 0).tolist()


@pytest.mark.parametrize("weights", [DomTree(null=0.0), DomTree(cognates=False)])
def test_other_models_are_computed_by_the_reference(weights: DomTree) -> None:
    assert isinstance(read_words((["a"], ["b"]), Lexicon.empty("en", "fr"), weights), WordTables)


def test_very_large_pages_are_read_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_gains, "_MAX_PAIRS", 3)
    many = ["one", "two", ""], ["un", "deux"]
    assert isinstance(read_words(many, Lexicon.empty("en", "fr"), DomTree()), WordTables)

"""Alignment of many pieces in one C call, compared with aligning each separately."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from diptych.kernels import native
from diptych.kernels.beads import Moves
from diptych.kernels.pieces import LinkRows, Setting, Side, best_ways
from diptych.learn.lexicon.bags import read_text
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.learn.lexicon.word_links import vocabulary_links
from diptych.stages.align_sentences.shared import passes
from diptych.stages.align_sentences.shared.passes import align_pieces

WORDS = "der hund 1956 berge montagnes paris la mer ist groß. ok chien le".split()
# One word has so many translations that each says next to nothing.
MANY = [("paris", word, 1) for word in ("chien", "mer", *(f"mot{n}" for n in range(150)))]
LEXICON = Lexicon.of_links(
    "de", "fr", [("hund", "chien", 1), ("der", "le", 1), ("ist", "la", 1), *MANY]
)
MOVES = Moves.of([(1, 1), (1, 2), (2, 1), (1, 0), (0, 1)], [0.8, 0.1, 0.1, 0.01, 0.01])
sentences = st.lists(st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join), max_size=5)
pieces = st.lists(st.tuples(sentences, sentences), max_size=6)


@pytest.fixture(autouse=True)
def _compiled() -> None:
    assert native() is not None


def read(found):
    left, right = (
        read_text([sentence for piece in found for sentence in piece[side]], lang)
        for side, lang in enumerate(("de", "fr"))
    )
    starts = tuple(
        np.cumsum([0, *(len(piece[side]) for piece in found)], dtype=np.int64) for side in (0, 1)
    )
    links = vocabulary_links(left.words, right.words, LEXICON)
    return left, right, starts, MOVES, links


@example([(["paris ok", "der", "hund"], ["mer mer", "chien", "le chien"])])
@given(pieces)
def test_each_piece_is_aligned_independently(found) -> None:
    arguments = read(found)
    ours = align_pieces(*arguments)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passes, "native", lambda: None)
        theirs = align_pieces(*arguments)
    np.testing.assert_array_equal(ours.counts, theirs.counts)
    np.testing.assert_array_equal(ours.steps, theirs.steps)
    np.testing.assert_allclose(ours.confidence, theirs.confidence, 1e-4, 1e-5)


@given(pieces, st.randoms(use_true_random=False))
def test_order_of_pieces_does_not_matter(found, chance) -> None:
    def by_piece(some):
        ways = align_pieces(*read(some))
        ends = np.cumsum(ways.counts)[:-1] if len(ways.counts) else []
        return [part.tolist() for part in np.split(ways.steps, ends)][: len(some)]

    order = list(range(len(found)))
    chance.shuffle(order)
    whole = by_piece(found)
    assert by_piece([found[place] for place in order]) == [whole[place] for place in order]


def sides():
    left, right, starts, moves, links = read([(["der hund"], ["le chien"]), (["ok"], ["ok", "la"])])
    rows = np.searchsorted(links.left, np.arange(left.bags.size + 1)).astype(np.int64)
    return (
        Side(left.bags, left.lengths, starts[0]),
        Side(right.bags, right.lengths, starts[1]),
        LinkRows(rows, links.right, links.forward, links.backward),
        moves,
        Setting(0.95, 0.999, 5.0, 0.1, 500.0, 2_000.0, 1.6),
    )


def test_indices_out_of_bounds_are_refused() -> None:
    left, right, links, moves, setting = sides()
    assert best_ways(left, right, links, moves, setting).counts.tolist() == [1, 1]
    whole = dict(left=left, right=right, links=links, moves=moves, setting=setting)
    wrong = [
        ("left", left._replace(starts=np.array([0, 1, 3], np.int64))),
        ("left", left._replace(starts=np.array([1, 1, 2], np.int64))),
        ("left", left._replace(starts=np.array([0, 5, 2], np.int64))),
        ("left", left._replace(starts=np.array([0, 2], np.int64))),
        ("left", left._replace(lengths=left.lengths[:1])),
        ("right", right._replace(starts=np.array([0, -1, 3], np.int64))),
        ("links", links._replace(offsets=links.offsets[:-1])),
        ("links", links._replace(columns=links.columns + right.bags.size)),
        ("links", links._replace(columns=links.columns - right.bags.size)),
        ("links", links._replace(forward=links.forward[:0])),
        ("moves", Moves.of([(1, 1), (1, 0)], [0.9, 0.1])),
        ("moves", Moves.of([(1, 0), (0, 1), *((1, n) for n in range(1, 40))], [0.1] * 41)),
    ]
    for name, value in wrong:
        with pytest.raises(ValueError, match=r"piece|links|moves"):
            best_ways(**{**whole, name: value})

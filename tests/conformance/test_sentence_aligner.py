from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples

from diptych.learn.lexicon.lexicon import Lexicon
from diptych.protocols import SentenceAligner
from diptych.registry import strategies

ALIGNERS = [pytest.param(cls(), id=name) for name, cls in strategies("align_sentences").items()]
LEXICON = Lexicon.empty("en", "fr")
SENTENCES = st.lists(st.text(max_size=120), max_size=9)


@pytest.mark.parametrize("aligner", ALIGNERS)
@settings(max_examples=examples(40))
@given(left=SENTENCES, right=SENTENCES)
def test_beads_are_monotone_and_complete(
    aligner: SentenceAligner, left: list[str], right: list[str]
) -> None:
    beads = aligner.align(left, right, LEXICON)
    assert [index for bead in beads for index in bead.left] == list(range(len(left)))
    assert [index for bead in beads for index in bead.right] == list(range(len(right)))
    for bead in beads:
        assert bead.left or bead.right
        assert 0 < bead.score <= 1
    assert aligner.align(left, right, LEXICON) == beads


@pytest.mark.parametrize("aligner", ALIGNERS)
def test_text_is_aligned_with_itself_sentence_by_sentence(aligner: SentenceAligner) -> None:
    text = [
        "The harbour is old.",
        "In 1956 the first ships came here from the far north, with wood and iron.",
        "Today it has a museum that is open in summer.",
    ]
    beads = aligner.align(text, text, LEXICON)
    assert [(bead.left, bead.right) for bead in beads] == [((n,), (n,)) for n in range(3)]


@pytest.mark.parametrize("aligner", ALIGNERS)
def test_one_side_may_be_empty(aligner: SentenceAligner) -> None:
    assert aligner.align([], [], LEXICON) == []
    assert [bead[:2] for bead in aligner.align(["One."], [], LEXICON)] == [((0,), ())]
    assert [bead[:2] for bead in aligner.align([], ["One."], LEXICON)] == [((), (0,))]


@pytest.mark.parametrize("aligner", ALIGNERS)
@settings(max_examples=examples(15))
@given(pieces=st.lists(st.tuples(SENTENCES, SENTENCES), max_size=4))
def test_pieces_are_aligned_each_by_itself(
    aligner: SentenceAligner, pieces: list[tuple[list[str], list[str]]]
) -> None:
    found = aligner.align_pieces(pieces, LEXICON)
    alone = [aligner.align(left, right, LEXICON) for left, right in pieces]
    assert [[bead[:2] for bead in beads] for beads in found] == [
        [bead[:2] for bead in beads] for beads in alone
    ]
    ours = [bead.score for beads in found for bead in beads]
    assert ours == pytest.approx([bead.score for beads in alone for bead in beads], abs=1e-4)

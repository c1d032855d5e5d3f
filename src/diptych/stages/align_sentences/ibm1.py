"""Sentence alignment by lengths and IBM Model 1, as used within chunks by Shi et al. 2006."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from diptych.kernels.beads import Moves
from diptych.learn.lexicon.bags import read_text
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.learn.lexicon.word_links import lexicon_links
from diptych.stages.align_sentences.gale_church import PRIORS
from diptych.stages.align_sentences.length_lexicon import beads_of
from diptych.stages.align_sentences.shared.passes import align_passes
from diptych.types import Bead


@dataclass(frozen=True, slots=True)
class Ibm1:
    """Aligns sentences by lengths and IBM Model 1 (Zhao & Vogel 2002), with six kinds of beads.

    Both models are combined into one likelihood.  Word probabilities come only from the lexicon,
    and nothing is learned from the texts.  With an empty lexicon, only lengths count.
    """

    # DEVIATION(zhao-vogel): words are stems, and both directions of the model count the same; the
    # gain of a word is relative to its frequency, so that a bead without counterpart costs nothing.
    uses_lexicon: ClassVar[bool] = True

    def align(self, left: Sequence[str], right: Sequence[str], lexicon: Lexicon) -> list[Bead]:
        """Align all sentences in order; the score of a bead is its probability."""
        ours, theirs = read_text(left, lexicon.left_lang), read_text(right, lexicon.right_lang)
        links = lexicon_links(ours.words, theirs.words, lexicon)
        moves = Moves.of(list(PRIORS), list(PRIORS.values()))
        return beads_of(*align_passes(ours, theirs, moves, links, 1)[0])

    def align_pieces(
        self, pieces: Sequence[tuple[Sequence[str], Sequence[str]]], lexicon: Lexicon
    ) -> list[list[Bead]]:
        """Align each piece, given as (left sentences, right sentences), separately."""
        return [self.align(left, right, lexicon) for left, right in pieces]

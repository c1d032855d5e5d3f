"""Sentence alignment by lengths and words; no dictionary is needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, islice
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from diptych.kernels.beads import Moves, Path
from diptych.learn.lexicon.bags import Text, read_both, read_text
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.learn.lexicon.word_links import vocabulary_links
from diptych.stages.align_sentences.shared.passes import (
    MAX_CELLS,
    Model,
    align_passes,
    align_pieces,
)
from diptych.types import Bead

_MIN_CONFIDENCE = 1e-6
"""lowest confidence of a bead"""
# Approximate share of beads by the number of sentences on both sides, in texts of several
# languages; `gap` is a separate parameter, because more sentences are missing on the web than in
# books.
_BEAD_SHARES = {
    (1, 1): 0.8,
    (1, 2): 0.06,
    (2, 1): 0.06,
    (2, 2): 0.015,
    (1, 3): 0.01,
    (3, 1): 0.01,
    (2, 3): 0.004,
    (3, 2): 0.004,
    (1, 4): 0.003,
    (4, 1): 0.003,
    (3, 3): 0.002,
}


@dataclass(frozen=True, slots=True)
class LengthLexicon:
    """Aligns sentences by lengths (Gale & Church), words (IBM Model 1) and cognates.

    The first pass uses the lexicon and cognates; each later pass also uses words learned from the
    sure beads of the previous pass.  The score of a bead is its posterior probability over all
    paths through both texts.
    """

    uses_lexicon: ClassVar[bool] = True
    passes: int = 3
    """number of passes over texts that are long enough to learn from"""
    least: int = 12
    """minimum number of sentences on each side for learning from a text"""
    gap: float = 0.002
    """for each side, the share of beads that have sentences only on that side"""

    def align(self, left: Sequence[str], right: Sequence[str], lexicon: Lexicon) -> list[Bead]:
        """Align all sentences in order.

        >>> from diptych.learn.lexicon.lexicon import Lexicon
        >>> beads = LengthLexicon().align(
        ...     ["Der K2 ist 8611 m hoch.", "Er ist schwer."],
        ...     ["Le K2 a une hauteur de 8611 m, et il est difficile."], Lexicon.empty("de", "fr"))
        >>> [(bead.left, bead.right) for bead in beads]
        [((0, 1), (0,))]
        """
        ours, theirs = read_text(left, lexicon.left_lang), read_text(right, lexicon.right_lang)
        return beads_of(*self.aligned(ours, theirs, lexicon)[0])

    def align_pieces(
        self, pieces: Sequence[tuple[Sequence[str], Sequence[str]]], lexicon: Lexicon
    ) -> list[list[Bead]]:
        """Align each piece, given as (left sentences, right sentences), separately.

        Pieces that are too short for learning words are all aligned in one call.
        """
        found: list[list[Bead]] = [
            [] if self._is_short(left, right) else self.align(left, right, lexicon)
            for left, right in pieces
        ]
        short = [place for place, piece in enumerate(pieces) if self._is_short(*piece)]
        beads = self._align_short([pieces[place] for place in short], lexicon)
        for place, own in zip(short, beads, strict=True):
            found[place] = own
        return found

    def _is_short(self, left: Sequence[str], right: Sequence[str]) -> bool:
        learns = self.passes > 1 and min(len(left), len(right)) >= self.least
        return not learns and (len(left) + 1) * (len(right) + 1) <= MAX_CELLS

    def _align_short(
        self, pieces: Sequence[tuple[Sequence[str], Sequence[str]]], lexicon: Lexicon
    ) -> list[list[Bead]]:
        if not pieces:
            return []
        lefts, rights = zip(*pieces, strict=True)
        left, right, links = read_both(
            list(chain.from_iterable(lefts)), list(chain.from_iterable(rights)), lexicon
        )
        starts = tuple(
            np.array([0, *accumulate(map(len, sides))], np.int64) for sides in (lefts, rights)
        )
        ways = align_pieces(left, right, (starts[0], starts[1]), self._moves(), links)
        beads = iter(beads_of(ways.steps, ways.confidence))
        return [list(islice(beads, count)) for count in ways.counts.tolist()]

    def aligned(self, left: Text, right: Text, lexicon: Lexicon) -> tuple[Path, Model]:
        """Return the best path through two texts, and the model used to find it."""
        passes = self.passes if min(len(left), len(right)) >= self.least else 1
        links = vocabulary_links(left.words, right.words, lexicon)
        return align_passes(left, right, self._moves(), links, passes)

    def _moves(self) -> Moves:
        kinds = {**_BEAD_SHARES, (1, 0): self.gap, (0, 1): self.gap}
        return Moves.of(list(kinds), list(kinds.values()))


def beads_of(steps: NDArray[np.int32], confidence: NDArray[np.float64]) -> list[Bead]:
    """Convert the steps of a path and their confidences to beads."""
    return [
        Bead(
            tuple(range(left, left + left_count)),
            tuple(range(right, right + right_count)),
            min(1.0, max(_MIN_CONFIDENCE, sure)),
        )
        for (left, right, left_count, right_count), sure in zip(
            steps.tolist(), confidence.tolist(), strict=True
        )
    ]

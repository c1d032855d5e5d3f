"""Sentence alignment by lengths, words and the vectors of a multilingual encoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diptych.kernels.beads import Band, Moves, Path
from diptych.language.codes import primary
from diptych.learn.lexicon.bags import read_text
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.protocols import SentenceEncoder
from diptych.stages.align_sentences.length_lexicon import LengthLexicon, beads_of
from diptych.stages.align_sentences.shared.passes import align_near, sure_steps
from diptych.types import Bead

_BATCH = 4_096  # pairs of vectors multiplied at a time
_SAMPLED_RUNS = 200  # sample of sentence runs for mean cosines
_SEED = 7
_PRIOR_BEADS = 30  # weight of the prior, in beads


class CosineModel(NamedTuple):
    """Two normal distributions of cosines: one for beads, and one for unrelated sentences.

    `beads` and `unrelated` are the means, and `deviation` is the standard deviation of both.
    """

    beads: float
    unrelated: float
    deviation: float

    def gain(self, cosines: NDArray[np.float32]) -> NDArray[np.float32]:
        """For each cosine, the log-likelihood ratio of a bead versus unrelated sentences."""
        middle = (self.beads + self.unrelated) / 2
        slope = (self.beads - self.unrelated) / self.deviation**2
        return (cosines - middle) * slope


_PRIOR = CosineModel(0.55, 0.0, 0.16)
"""default distributions, which are similar for all encoders; each cosine is relative to the mean
cosine with other sentences"""


@dataclass(frozen=True, slots=True)
class Embedding:
    """Aligns sentences by lengths, words and the vectors of a sentence encoder.

    First, `length_lexicon` finds beads.  Of these, the beads with high confidence are examined:
    sentences in the same bead show how similar the vectors of translations are, and sentences in
    different beads show how similar the vectors of unrelated sentences are.  Cosines are scored by
    the log-likelihood ratio of these two distributions.
    """

    uses_lexicon: ClassVar[bool] = True
    encoder: str = ""
    """folder in the format of sentence-transformers; if empty, the encoder of the extra
    `encoder`"""
    weight: float = 1.0
    """weight of the vectors relative to lengths and words"""

    @property
    def libraries(self) -> tuple[str, ...]:
        """The optional libraries that this strategy needs."""
        from diptych.learn.encoder.load import encoder_libraries

        return encoder_libraries(self.encoder)

    def align(self, left: Sequence[str], right: Sequence[str], lexicon: Lexicon) -> list[Bead]:
        """Align all sentences; vectors are used only if the encoder supports both languages."""
        from diptych.learn.encoder.load import load_encoder

        encoder = load_encoder(self.encoder)
        ours, theirs = read_text(left, lexicon.left_lang), read_text(right, lexicon.right_lang)
        path, model = LengthLexicon().aligned(ours, theirs, lexicon)
        langs = {primary(lexicon.left_lang), primary(lexicon.right_lang)}
        if left and right and (not encoder.langs or langs <= encoder.langs):
            vectors = _Vectors.of(left, right, model.moves.most, encoder)
            cosine_model = vectors.cosine_model(path)

            def scorer(band: Band, moves: Moves) -> NDArray[np.float32]:
                return self.weight * vectors.gains(band, moves, cosine_model)

            path = align_near(ours, theirs, path, model, scorer)
        return beads_of(*path)

    def align_pieces(
        self, pieces: Sequence[tuple[Sequence[str], Sequence[str]]], lexicon: Lexicon
    ) -> list[list[Bead]]:
        """Align each piece, given as (left sentences, right sentences), separately."""
        return [self.align(left, right, lexicon) for left, right in pieces]


class _Vectors(NamedTuple):
    """The vectors and mean cosines of all runs of adjacent sentences in both texts.

    A run has one or more sentences.  Its mean cosine is that with a sample of the runs in the other
    text.
    """

    left: list[NDArray[np.float16]]
    right: list[NDArray[np.float16]]
    left_mean: list[NDArray[np.float32]]
    right_mean: list[NDArray[np.float32]]

    @classmethod
    def of(
        cls, left: Sequence[str], right: Sequence[str], sizes: int, encoder: SentenceEncoder
    ) -> _Vectors:
        from diptych.learn.encoder.load import encode_overlaps

        ours, theirs = (encode_overlaps(text, sizes, encoder) for text in (left, right))
        return cls(ours, theirs, _means(ours, theirs), _means(theirs, ours))

    def cosines(
        self, at: NDArray[np.int64], other: NDArray[np.int64], size: int, others: int
    ) -> NDArray[np.float32]:
        """The cosine of each pair of sentence runs, minus the average of their mean cosines.

        Left runs begin at `at` and have `size` sentences; right runs begin at `other` and have
        `others` sentences.  The mean cosines with the other text are subtracted because short
        sentences are similar to most sentences.
        """
        found = np.empty(len(at), np.float32)
        for start in range(0, len(at), _BATCH):
            part = slice(start, start + _BATCH)
            ours = self.left[size - 1][at[part]].astype(np.float32)
            theirs = self.right[others - 1][other[part]].astype(np.float32)
            found[part] = np.einsum("ij,ij->i", ours, theirs)
        usual = self.left_mean[size - 1][at] + self.right_mean[others - 1][other]
        return (found - usual / 2).astype(np.float32)

    def cosine_model(self, path: Path) -> CosineModel:
        """Estimate the cosine distributions from the sure beads of a path, smoothed by a prior."""
        sure = path.steps[sure_steps(path)].astype(np.int64)
        sure = sure[(sure[:, 2:] == 1).all(1)]
        if len(sure) < 2:
            return _PRIOR
        same = self.cosines(sure[:, 0], sure[:, 1], 1, 1)
        other = self.cosines(sure[:, 0], np.roll(sure[:, 1], len(sure) // 2), 1, 1)
        share = len(sure) / (len(sure) + _PRIOR_BEADS)
        deviation = np.sqrt((same.var() + other.var()) / 2)
        seen = (float(same.mean()), float(other.mean()), float(deviation))
        return CosineModel(
            *(share * a + (1 - share) * b for a, b in zip(seen, _PRIOR, strict=True))
        )

    def gains(self, band: Band, moves: Moves, cosine_model: CosineModel) -> NDArray[np.float32]:
        """For each move from each point in the band, its gain according to `cosine_model`.

        The gain is 0 if the move leaves sentences without a counterpart.
        """
        start = band.start
        rows = np.repeat(np.arange(len(band.low)), np.diff(start))
        columns = np.arange(start[-1]) - start[rows] + band.low[rows]
        found = np.zeros((len(rows), len(moves.priors)), np.float32)
        for move, (size, others, _) in enumerate(zip(*moves, strict=True)):
            if size and others:
                fits = (rows + size < len(band.low)) & (columns + others <= band.right)
                cosines = self.cosines(rows[fits], columns[fits], size, others)
                found[fits, move] = cosine_model.gain(cosines)
        return found


def _means(
    ours: Sequence[NDArray[np.float16]], theirs: Sequence[NDArray[np.float16]]
) -> list[NDArray[np.float32]]:
    """For each vector in `ours`, its mean cosine with a sample of the vectors in `theirs`.

    The vectors represent runs of sentences, and are grouped by the number of sentences in the run.
    """
    generator = np.random.default_rng(_SEED)
    some = [rows[generator.integers(len(rows), size=_SAMPLED_RUNS)] for rows in theirs if len(rows)]
    centre = np.concatenate(some).astype(np.float32).mean(0)
    return [rows.astype(np.float32) @ centre for rows in ours]

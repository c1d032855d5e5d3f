"""The measures of `quality`, and three more from a sentence encoder."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from diptych.learn.encoder.rows import clean
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.protocols import SentenceEncoder
from diptych.stages.filter.quality import measures as plain
from diptych.stages.filter.shared.segments import Segments

NAMES = (*plain.NAMES, "cosine", "cosine_over_page", "cosine_over_neighbours")
"""names of the measures, in column order"""


def measures(segments: Segments, lexicon: Lexicon, encoder: SentenceEncoder) -> NDArray[np.float32]:
    """Compute all measures: one row per segment, and one column per measure in `NAMES`."""
    return with_cosines(segments, plain.measure_columns(segments, lexicon), encoder)


def with_cosines(
    segments: Segments, columns: Mapping[str, NDArray[np.float64]], encoder: SentenceEncoder
) -> NDArray[np.float32]:
    """Add the measures of an encoder to the measures of `quality`, one row per segment."""
    left = encoder.encode([clean(seg.left) for seg in segments.segs])
    right = encoder.encode([clean(seg.right) for seg in segments.segs])
    rows = [plain.rows_of(columns), *cosine_measures(left, right)]
    return np.column_stack(rows).astype(np.float32)


def cosine_measures(
    left: NDArray[np.float32], right: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """The cosine of each segment's two sides, and its margins over two reference values.

    The first reference value is the mean cosine of the segment's sides with the opposite sides of
    all segments.  The second is the highest cosine between a side of the segment and the opposite
    side of a neighbouring segment, or the first reference value if that is higher.
    """
    cosine: NDArray[np.float32] = np.einsum("ij,ij->i", left, right)
    usual = (left @ right.mean(axis=0) + right @ left.mean(axis=0)) / 2
    crossed = np.full(len(cosine), -1.0, np.float32)
    if len(cosine) > 1:
        before = np.einsum("ij,ij->i", left[1:], right[:-1])
        after = np.einsum("ij,ij->i", left[:-1], right[1:])
        for values in (before, after):
            crossed[1:] = np.maximum(crossed[1:], values)
            crossed[:-1] = np.maximum(crossed[:-1], values)
    return cosine, cosine - usual, cosine - np.maximum(crossed, usual)

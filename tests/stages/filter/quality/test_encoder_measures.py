"""Segments measured with a sentence encoder: a fake one, whose vectors are counts of letters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from diptych.learn.lexicon.lexicon import Lexicon
from diptych.stages.filter.quality import measures as plain
from diptych.stages.filter.quality.encoder_measures import NAMES, cosine_measures, measures
from diptych.stages.filter.shared.segments import read_segments
from diptych.types import SegmentPair, Url

URL = Url("http://example.org/")
TEXTS = [("aab", "aac"), ("bcd", "bce"), ("eef", "def"), ("abf", "fff")]
SEGMENTS = [SegmentPair(*pair, "en", "fr", URL, URL, "", "", 0.5) for pair in TEXTS]


class Letters:
    """An encoder by letters; it must be given clean texts."""

    langs: frozenset[str] = frozenset()

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.array([[text.count(letter) for letter in "abcdef"] for text in texts], np.float32)
        unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit


def test_encoder_measures_extend_the_plain_ones() -> None:
    found = read_segments(SEGMENTS)
    lexicon = Lexicon.empty("en", "fr")
    rows = measures(found, lexicon, Letters())
    assert rows.dtype == np.float32
    assert rows.shape == (len(TEXTS), len(NAMES))
    assert (rows[:, : len(plain.NAMES)] == plain.measures(found, lexicon)).all()
    assert NAMES[len(plain.NAMES) :] == ("cosine", "cosine_over_page", "cosine_over_neighbours")


def test_similarity_margins_over_page_and_neighbours() -> None:
    left, right = (Letters().encode(texts) for texts in zip(*TEXTS, strict=True))
    cosine, over_page, over_neighbours = cosine_measures(left, right)
    last = len(TEXTS) - 1
    for place in range(len(TEXTS)):
        own = float(left[place] @ right[place])
        usual = float(
            np.mean([left[place] @ other for other in right])
            + np.mean([right[place] @ other for other in left])
        )
        # What crosses to the segment before or behind, from either side.
        near = [
            float(left[one] @ right[other])
            for here in (place - 1, place)
            if 0 <= here < last
            for one, other in ((here, here + 1), (here + 1, here))
        ]
        assert cosine[place] == pytest.approx(own, abs=1e-6)
        assert over_page[place] == pytest.approx(own - usual / 2, abs=1e-6)
        expected = own - max(*near, usual / 2)
        assert over_neighbours[place] == pytest.approx(expected, abs=1e-6)


def test_single_segment_has_only_the_page_margin() -> None:
    one = Letters().encode(["aab"])
    cosine, over_page, over_neighbours = cosine_measures(one, one)
    assert cosine.tolist() == pytest.approx([1.0])
    assert over_page.tolist() == over_neighbours.tolist() == pytest.approx([0.0], abs=1e-6)

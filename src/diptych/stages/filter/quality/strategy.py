"""The probability that two texts are translations, without language-specific resources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diptych.language.codes import primary
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.protocols import SentenceEncoder
from diptych.reason import Reason
from diptych.stages.filter.quality import encoder_measures, measures
from diptych.stages.filter.quality.model import shipped
from diptych.stages.filter.rules import Rules
from diptych.stages.filter.shared.segments import read_segments
from diptych.types import Decision, SegmentPair
from diptych.units import Repeats

_THRESHOLD = 0.95  # see weights/quality.md: a precision of 0.98 with some margin
_RULES = Rules()


@dataclass(frozen=True, slots=True)
class Quality:
    """Applies hard rules, then a small language-independent model; the default.

    The score of a segment is the probability that both sides mean the same.  At first, scores
    assume that half of all segments are correct; at the end of a run, they are adjusted to the
    estimated share of correct segments.
    """

    threshold: float = _THRESHOLD
    """minimum score for keeping a segment; the default was chosen for a precision of 98%"""
    rules: Rules = _RULES
    """rules that reject a segment regardless of its score"""

    def judge(self, segs: Sequence[SegmentPair], lexicon: Lexicon) -> list[Decision]:
        """Score each segment with its probability, or with 0 and a reason if it breaks a rule."""
        segments = read_segments(segs)
        rows = measures.measures(segments, lexicon)
        scores = shipped("quality", measures.NAMES).probabilities(rows)
        return decisions(scores, self.rules.broken_rules(segments), self.threshold)

    def rescore(self, scores: NDArray[np.float64], repeats: Repeats) -> NDArray[np.float64]:
        """Adjust scores to the share of correct segments, and raise those of repeated pairs."""
        return shipped("quality", measures.NAMES).rescored(scores, repeats)


@dataclass(frozen=True, slots=True)
class QualityEncoder(Quality):
    """`quality` plus cosine similarities from a sentence encoder that supports both languages.

    If the encoder does not support both, this is the same as `quality`.  Needs the extra `encoder`,
    or a folder with another encoder.
    """

    encoder: str = ""
    """folder in the format of sentence-transformers; if empty, the encoder of the extra
    `encoder`"""

    @property
    def libraries(self) -> tuple[str, ...]:
        """The optional libraries that this strategy needs."""
        from diptych.learn.encoder.load import encoder_libraries

        return encoder_libraries(self.encoder)

    def judge(self, segs: Sequence[SegmentPair], lexicon: Lexicon) -> list[Decision]:
        """Score each segment with its probability, or with 0 and a reason if it breaks a rule."""
        from diptych.learn.encoder.load import load_encoder

        encoder = load_encoder(self.encoder)
        if not segs or not _knows(encoder, segs[0]):
            return Quality.judge(self, segs, lexicon)
        segments = read_segments(segs)
        rows = encoder_measures.measures(segments, lexicon, encoder)
        scores = shipped("quality_encoder", encoder_measures.NAMES).probabilities(rows)
        return decisions(scores, self.rules.broken_rules(segments), self.threshold)


def decisions(
    scores: NDArray[np.float64], broken: Sequence[str], threshold: float
) -> list[Decision]:
    """Decide on segments by their scores and the rules they break."""
    return [
        Decision(False, 0.0, reason)
        if reason
        else Decision(score >= threshold, score, "" if score >= threshold else Reason.LOW_SCORE)
        for score, reason in zip(scores.tolist(), broken, strict=True)
    ]


def _knows(encoder: SentenceEncoder, seg: SegmentPair) -> bool:
    """True if an encoder knows both languages of a segment."""
    langs = {primary(seg.left_lang), primary(seg.right_lang)}
    return not encoder.langs or langs <= encoder.langs

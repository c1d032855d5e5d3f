"""Filters that estimate the probability that a segment is correct, for any language pair."""

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
    """The default filter, which applies hard rules and a small language-independent model.

    The score of a segment is the probability that both sides have the same meaning.  At first,
    scores assume that half of all segments are correct; at the end of a run, they are adjusted to
    the estimated share of correct segments.
    """

    threshold: float = _THRESHOLD
    """minimum score for keeping a segment; the default was chosen for a precision of 98%"""
    rules: Rules = _RULES
    """rules that reject a segment regardless of its score"""

    def judge(self, segs: Sequence[SegmentPair], lexicon: Lexicon) -> list[Decision]:
        """Score each segment by its probability of being correct, or by 0 if it breaks a rule."""
        segments = read_segments(segs)
        rows = measures.measures(segments, lexicon)
        scores = shipped("quality", measures.NAMES).probabilities(rows)
        return decisions(scores, self.rules.broken_rules(segments), self.threshold)

    def rescore(self, scores: NDArray[np.float64], repeats: Repeats) -> NDArray[np.float64]:
        """Adjust scores to the run's share of correct segments and to the number of repeats."""
        return shipped("quality", measures.NAMES).rescored(scores, repeats)


@dataclass(frozen=True, slots=True)
class QualityEncoder(Quality):
    """`quality` plus cosine similarities from a sentence encoder that supports both languages.

    If the encoder does not support both, this is the same as `quality`.  Requires the extra
    `encoder`, or a folder with another encoder.
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
        """Score each segment by its probability of being correct, or by 0 if it breaks a rule."""
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
    """Return a decision for each segment, based on its score and on any rule that it breaks."""
    return [
        Decision(False, 0.0, reason)
        if reason
        else Decision(score >= threshold, score, "" if score >= threshold else Reason.LOW_SCORE)
        for score, reason in zip(scores.tolist(), broken, strict=True)
    ]


def _knows(encoder: SentenceEncoder, seg: SegmentPair) -> bool:
    """True if an encoder supports both languages of a segment."""
    langs = {primary(seg.left_lang), primary(seg.right_lang)}
    return not encoder.langs or langs <= encoder.langs

"""Filters that estimate the probability that a segment is correct, for any language pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from diptych.language.codes import primary
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.learn.logistic import sigmoid
from diptych.protocols import SentenceEncoder
from diptych.reason import Reason
from diptych.stages.filter.quality import encoder_measures, measures
from diptych.stages.filter.quality.correction import shipped_correction
from diptych.stages.filter.quality.model import QualityModel, rescored, shipped
from diptych.stages.filter.rules import Rules
from diptych.stages.filter.shared.segments import Segments, read_segments
from diptych.types import Decision, SegmentPair
from diptych.units import Repeats

_THRESHOLD = 0.6  # see weights/correction.md
_RULES = Rules()


@dataclass(frozen=True, slots=True)
class Quality:
    """The default filter, which applies hard rules and small language-independent models.

    The score of a segment is the probability that a reader finds that both sides say the same, no
    more and no less.  At first, scores assume that half of all segments are good; at the end of a
    run, they are adjusted to the estimated share of good segments.
    """

    threshold: float = _THRESHOLD
    """minimum score for keeping a segment; the default was chosen on judged segments of real
    sites"""
    rules: Rules = _RULES
    """rules that reject a segment regardless of its score"""

    def judge(self, segs: Sequence[SegmentPair], lexicon: Lexicon) -> list[Decision]:
        """Score each segment by its probability of being correct, or by 0 if it breaks a rule."""
        return self._judge(segs, None, lexicon)

    def judge_groups(
        self, groups: Sequence[Sequence[SegmentPair]], lexicon: Lexicon
    ) -> list[list[Decision]]:
        """Judge each group of segments as `judge` does, but all in one call."""
        sizes = [len(group) for group in groups]
        found = iter(self._judge([seg for group in groups for seg in group], sizes, lexicon))
        return [[*islice(found, size)] for size in sizes]

    def _judge(
        self, segs: Sequence[SegmentPair], sizes: Sequence[int] | None, lexicon: Lexicon
    ) -> list[Decision]:
        segments = read_segments(segs, sizes)
        columns = measures.measure_columns(segments, lexicon)
        model, rows = shipped("quality", measures.NAMES), measures.rows_of(columns)
        return self._decisions(segments, columns, model, rows)

    def rejections(self, segs: Sequence[SegmentPair]) -> list[str]:
        """For each segment, the first rule that it breaks, or "" if it breaks none."""
        return self.rules.rejections(segs)

    def _decisions(
        self,
        segments: Segments,
        columns: Mapping[str, NDArray[np.float64]],
        model: QualityModel,
        rows: NDArray[np.float32],
    ) -> list[Decision]:
        """Decide on segments, given their measures by name and as rows for the model.

        The model is not asked about segments that break a rule.
        """
        broken = self.rules.broken_rules(segments)
        is_sound, odds = np.array([not rule for rule in broken], bool), np.zeros(len(broken))
        odds[is_sound] = model.odds(rows[is_sound])
        correction, every = shipped_correction(), {**columns, "odds": odds}
        scores = sigmoid(correction.corrected(every))
        return decisions(scores, correction.are_partial(every), broken, self.threshold)

    def rescore(self, scores: NDArray[np.float64], repeats: Repeats) -> NDArray[np.float64]:
        """Adjust scores to the run's share of correct segments and to the number of repeats."""
        correction = shipped_correction()
        return rescored(scores, repeats, again=correction.again, apart=correction.apart)


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
        columns = measures.measure_columns(segments, lexicon)
        rows = encoder_measures.with_cosines(segments, columns, encoder)
        model = shipped("quality_encoder", encoder_measures.NAMES)
        return self._decisions(segments, columns, model, rows)

    def judge_groups(
        self, groups: Sequence[Sequence[SegmentPair]], lexicon: Lexicon
    ) -> list[list[Decision]]:
        """Judge one group after the other: encoding takes most of the time."""
        return [self.judge(group, lexicon) for group in groups]


def decisions(
    scores: NDArray[np.float64],
    are_partial: NDArray[np.bool_],
    broken: Sequence[str],
    threshold: float,
) -> list[Decision]:
    """Return a decision for each segment, based on its score and on any rule that it breaks.

    A segment that is partial if it is not good has the mark `partial`, whatever its score.
    """
    found = []
    for score, is_partial, reason in zip(
        scores.tolist(), are_partial.tolist(), broken, strict=True
    ):
        if reason:
            found.append(Decision(False, 0.0, reason))
            continue
        low = Reason.PARTIAL if is_partial else Reason.LOW_SCORE
        marks = (Reason.PARTIAL,) if is_partial else ()
        found.append(Decision(score >= threshold, score, "" if score >= threshold else low, marks))
    return found


def _knows(encoder: SentenceEncoder, seg: SegmentPair) -> bool:
    """True if an encoder supports both languages of a segment."""
    langs = {primary(seg.left_lang), primary(seg.right_lang)}
    return not encoder.langs or langs <= encoder.langs

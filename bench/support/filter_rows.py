"""Measures of the segments of `filter_pairs`, cached in a file if a folder is given."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.support.filter_pairs import GOOD, Case, cases
from diptych.corpus.best_copies import repeats
from diptych.language.codes import primary
from diptych.protocols import SentenceEncoder
from diptych.stages.filter.quality import encoder_measures as likeness
from diptych.stages.filter.quality.measures import NAMES, measures
from diptych.stages.filter.quality.strategy import Quality, QualityEncoder
from diptych.stages.filter.rules import Rules
from diptych.stages.filter.shared.segments import read_segments
from diptych.text.near_duplicates import segment_keys
from diptych.units import Repeats


class Rows(NamedTuple):
    """Judged segments, one per row."""

    values: NDArray[np.float32]
    """measures, in the order of `measures.NAMES`, or with an encoder of `likeness.NAMES`"""
    label: NDArray[np.str_]
    family: NDArray[np.str_]
    langs: NDArray[np.str_]
    known: NDArray[np.str_]
    """what the lexicon was learned from"""
    broken_rules: NDArray[np.str_]
    """rule that the segment breaks"""
    repeats: NDArray[np.int64]
    """numbers of occurrences of the pair and of its sides among all segments of the site"""
    scores: NDArray[np.float64]
    """score of the filter, with the encoder if there is one; 0 if the segment breaks a rule"""

    @property
    def right(self) -> NDArray[np.bool_]:
        """The mask of rows that are translations."""
        right: NDArray[np.bool_] = self.label == GOOD
        return right

    @property
    def counts(self) -> Repeats:
        """The number of rows of each kind."""
        return Repeats(*self.repeats.T)

    def part(self, chosen: NDArray[np.bool_]) -> Rows:
        """The rows selected by a mask."""
        return Rows._make(values[chosen] for values in self)


def rows(
    families: Iterable[str], *, most: int, lang_pairs: int, seed: int, cache: Path | None = None,
    encoder: SentenceEncoder | None = None,
) -> Rows:  # fmt: skip
    """The judged segments of some families."""
    names = list(families)
    kind = "encoder" if encoder else "plain"
    file = cache / f"{names[0]}-{kind}-{most}-{lang_pairs}-{seed}.npz" if cache else None
    if file is not None and file.is_file():
        with np.load(file, allow_pickle=False) as stored:
            return Rows._make(stored[name] for name in Rows._fields)
    found = rows_of(list(cases(names, most=most, lang_pairs=lang_pairs, seed=seed)), encoder)
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(file, **found._asdict())
    return found


def rows_of(found: Sequence[Case], encoder: SentenceEncoder | None = None) -> Rows:
    """The measures of cases; each site and language pair is a separate run.

    With an encoder, only segments in languages that it supports are measured.
    """
    if encoder is not None:
        found = [case for case in found if {*map(primary, case.langs)} <= encoder.langs]
    columns = []
    runs: dict[tuple[str, tuple[str, str]], list[Case]] = {}
    for case in found:
        runs.setdefault((case.family, case.langs), []).append(case)
    for (family, langs), some in runs.items():
        keys = np.array([
            segment_keys(seg.left, seg.right, seg.left_lang, seg.right_lang)
            for case in some for seg in case.segs
        ], np.int64).reshape(-1, 3)  # fmt: skip
        values, broken, scores = [], [], []
        strategy = QualityEncoder() if encoder else Quality()
        for case in some:
            segments = read_segments(case.segs)
            values.append(
                likeness.measures(segments, case.lexicon, encoder)
                if encoder
                else measures(segments, case.lexicon)
            )
            broken += Rules().broken_rules(segments)
            scores += [each.score for each in strategy.judge(case.segs, case.lexicon)]
        labels = np.array([label for case in some for label in case.labels])
        known = np.array([case.known for case in some for _ in case.labels])
        one = Rows(
            np.concatenate(values), labels, np.full(len(labels), family),
            np.full(len(labels), "-".join(langs)), known, np.array(broken),
            np.stack(repeats([*keys.T]), axis=1), np.array(scores),
        )  # fmt: skip
        columns.append(one.part(labels != ""))
    return Rows._make(np.concatenate(some) for some in zip(*columns, strict=True))


def column(found: Rows, name: str) -> NDArray[np.float64]:
    """The column of a measure."""
    return found.values[:, NAMES.index(name)].astype(np.float64)


def microseconds(found: Sequence[Case]) -> float:
    """The CPU time to measure a segment, in microseconds."""
    started, count = time.process_time(), 0
    for case in found:
        segments = read_segments(case.segs)
        Rules().broken_rules(segments)
        measures(segments, case.lexicon)
        count += len(case.segs)
    return (time.process_time() - started) / max(count, 1) * 1e6

"""Step: compute the final scores of segments, remove near-duplicates, and apply the threshold.

The filter's original score of each segment stays in the store, so that this step can be repeated
after the run is resumed.  Only a few numbers per segment are held in memory, and no texts.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from diptych._version import VERSION
from diptych.corpus.best_copies import best_of, repeats
from diptych.corpus.templates import surplus_examples
from diptych.reason import Reason
from diptych.run.segments import Segments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from diptych.protocols import Filter, Watcher
    from diptych.run.store import Store

_BATCH = 10_000
_TEXTS = 1000  # segments whose texts are read by one query
_STEP = "scores"
_REASONS = ("", Reason.LOW_SCORE, Reason.PARTIAL, Reason.DUPLICATE, Reason.TEMPLATE)
"""names of the numbers in which reasons are held: texts would take most of the memory"""
_KEPT = 0


class _Sound(NamedTuple):
    """All segments that break no rule, ordered by the URLs of their page pairs."""

    ids: NDArray[np.int64]
    judged: NDArray[np.float64]
    """original scores"""
    keys: list[NDArray[np.int64]]
    is_partial: NDArray[np.bool_]
    """True for segments that the filter found partial"""


def score_segments(
    store: Store, strategy: Filter, watcher: Watcher, *, keep_templates: bool = False
) -> None:
    """Compute the final scores, and keep the best copy of each segment above the threshold.

    Segments that break a rule are ignored.
    """
    key = f"{strategy!r} {VERSION}{' keep_templates' * keep_templates}"
    if store.is_finished(_STEP, key):
        return
    sound = _read(store, watcher)
    ids, judged, keys, is_partial = sound
    if not len(ids):
        return
    # Four decimals, as in all formats, so that a threshold means the same in each.
    scores: NDArray[np.float64] = np.round(strategy.rescore(judged, repeats(keys)), 4)
    best = best_of(keys[0], scores)
    copies = np.ones(len(ids), np.int64)
    copies[best.rows] = best.copies
    is_first = np.zeros(len(ids), bool)
    is_first[best.rows] = True
    low = np.where(is_partial, _REASONS.index(Reason.PARTIAL), _REASONS.index(Reason.LOW_SCORE))
    reasons = np.where(scores >= strategy.threshold, _KEPT, low).astype(np.int8)
    reasons[~is_first] = _REASONS.index(Reason.DUPLICATE)
    if not keep_templates:
        texts = _Texts(store, sound, watcher)
        surplus = surplus_examples(texts, is_first, scores)
        reasons[surplus] = _REASONS.index(Reason.TEMPLATE)
    is_kept = reasons == _KEPT
    watcher.segments = int(is_kept.sum())
    watcher.begin("scoring", len(ids), "segments")
    with store.transaction():
        store.begin_again()
        for start in range(0, len(ids), _BATCH):
            watcher.tick()
            part = slice(start, start + _BATCH)
            Segments(store).save_scores(
                zip(
                    scores[part].tolist(), is_kept[part].tolist(),
                    [_REASONS[number] for number in reasons[part].tolist()],
                    copies[part].tolist(), ids[part].tolist(), strict=True,
                )
            )  # fmt: skip
            watcher.advance(len(ids[part]))
        Segments(store).delete_unused_texts()
        store.finish(_STEP, key)


def _read(store: Store, watcher: Watcher) -> _Sound:
    columns = [array(kind) for kind in "qdqqqb"]
    order = store.pair_order()
    watcher.begin("scoring", len(order), "page pairs")
    for pair in order:
        watcher.tick()
        watcher.advance()
        rows = [*Segments(store).to_score(pair)]
        for column, values in zip(columns, zip(*rows, strict=True), strict=bool(rows)):
            column.extend(values)
    ids, judged, *keys, is_partial = (np.frombuffer(each, each.typecode) for each in columns)
    return _Sound(ids, judged, keys, is_partial.astype(bool))


@dataclass(frozen=True, slots=True)
class _Texts:
    """The texts of segments, which are read again whenever they are needed."""

    store: Store
    sound: _Sound
    watcher: Watcher

    def __call__(self, marked: NDArray[np.bool_]) -> Iterator[tuple[int, int, str, str]]:
        """The index, site and texts of each marked segment; other segments are not read."""
        for rows in _parts(np.flatnonzero(marked)):
            self.watcher.tick()
            texts = Segments(self.store).texts(self.sound.ids[rows].tolist())
            for row, found in zip(rows.tolist(), texts, strict=True):
                yield row, *found


def _parts(rows: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    for start in range(0, len(rows), _TEXTS):
        yield rows[start : start + _TEXTS]

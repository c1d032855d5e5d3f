"""Step: compute the final scores of segments, remove near-duplicates, and apply the threshold.

The filter's original score of each segment stays in the store, so that this step can be repeated
after the run is resumed.  Only a few numbers per segment are held in memory, and no texts.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import numpy as np

from diptych._version import VERSION
from diptych.corpus.best_copies import best_of, repeats
from diptych.reason import Reason
from diptych.run.segments import Segments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from diptych.protocols import Filter, Watcher
    from diptych.run.store import Store

_BATCH = 10_000
_STEP = "scores"


def score_segments(store: Store, strategy: Filter, watcher: Watcher) -> None:
    """Compute the final scores, and keep the best copy of each segment above the threshold.

    Segments that break a rule are ignored.
    """
    key = f"{strategy!r} {VERSION}"
    if store.is_finished(_STEP, key):
        return
    ids, judged, keys = _read(store, watcher)
    if not len(ids):
        return
    # Four decimals, as in all formats, so that a threshold means the same in each.
    scores: NDArray[np.float64] = np.round(strategy.rescore(judged, repeats(keys)), 4)
    best = best_of(keys[0], scores)
    copies = np.ones(len(ids), np.int64)
    copies[best.rows] = best.copies
    is_first = np.zeros(len(ids), bool)
    is_first[best.rows] = True
    is_kept = is_first & (scores >= strategy.threshold)
    reasons = np.where(is_kept, "", np.where(is_first, Reason.LOW_SCORE, Reason.DUPLICATE))
    watcher.segments = int(is_kept.sum())
    watcher.begin("scoring", len(ids), "segments")
    columns = (scores, is_kept, reasons, copies, ids)
    with store.transaction():
        store.begin_again()
        for start in range(0, len(ids), _BATCH):
            watcher.tick()
            part = slice(start, start + _BATCH)
            Segments(store).save_scores(
                zip(*(column[part].tolist() for column in columns), strict=True)
            )
            watcher.advance(len(ids[part]))
        store.finish(_STEP, key)


def _read(
    store: Store, watcher: Watcher
) -> tuple[NDArray[np.int64], NDArray[np.float64], list[NDArray[np.int64]]]:
    """Return the ids, scores and keys of all segments that break no rule, ordered by URL."""
    columns = [array(kind) for kind in "qdqqq"]
    order = store.pair_order()
    watcher.begin("scoring", len(order), "page pairs")
    for pair in order:
        watcher.tick()
        watcher.advance()
        for row in Segments(store).to_score(pair):
            for column, value in zip(columns, row, strict=True):
                column.append(value)
    ids, judged, *keys = (np.array(column) for column in columns)
    return ids, judged, keys

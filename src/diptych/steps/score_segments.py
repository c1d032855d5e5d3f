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
from diptych.text.templates import template_key

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from diptych.protocols import Filter, Watcher
    from diptych.run.store import Store

_BATCH = 10_000
_STEP = "scores"
# On judged segments of real sites, these bounds left out 93 useless segments and five good ones.
_MIN_EXAMPLES = 6  # segments that differ only in names, numbers or addresses: a template
_EXAMPLES = 3  # examples kept of each template


def score_segments(
    store: Store, strategy: Filter, watcher: Watcher, *, keep_templates: bool = False
) -> None:
    """Compute the final scores, and keep the best copy of each segment above the threshold.

    Segments that break a rule are ignored.
    """
    key = f"{strategy!r} {VERSION}{' keep_templates' * keep_templates}"
    if store.is_finished(_STEP, key):
        return
    ids, judged, keys, is_partial = _read(store, watcher)
    if not len(ids):
        return
    # Four decimals, as in all formats, so that a threshold means the same in each.
    scores: NDArray[np.float64] = np.round(strategy.rescore(judged, repeats(keys)), 4)
    best = best_of(keys[0], scores)
    copies = np.ones(len(ids), np.int64)
    copies[best.rows] = best.copies
    is_first = np.zeros(len(ids), bool)
    is_first[best.rows] = True
    low = np.where(is_partial, Reason.PARTIAL, Reason.LOW_SCORE)
    reasons = np.where(is_first, np.where(scores >= strategy.threshold, "", low), Reason.DUPLICATE)
    if not keep_templates:
        reasons[_surplus(_template_keys(store, is_first, watcher), scores)] = Reason.TEMPLATE
    is_kept = reasons == ""
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


def _template_keys(
    store: Store, is_first: NDArray[np.bool_], watcher: Watcher
) -> NDArray[np.int64]:
    """The template of each segment, in the order of `_read`; 0 for duplicates and other texts."""
    keys = array("q")
    for pair in store.pair_order():
        watcher.tick()
        for site, left, right in Segments(store).texts(pair):
            key = template_key(left, right) if is_first[len(keys)] else 0
            keys.append(hash((site, key)) if key else 0)
    return np.array(keys)


def _surplus(keys: NDArray[np.int64], scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """The segments of templates with many examples, without the best examples of each.

    >>> _surplus(np.array([7] * 7 + [0] * 8 + [3]), np.linspace(0.1, 1.6, 16)).tolist()
    [0, 1, 2, 3]
    """
    order = np.lexsort((-scores, keys))
    ordered = keys[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]][: len(keys)])
    sizes = np.diff(np.r_[starts, len(keys)])
    rank = np.arange(len(keys)) - np.repeat(starts, sizes)
    is_template = (ordered != 0) & (np.repeat(sizes, sizes) >= _MIN_EXAMPLES)
    return np.sort(order[is_template & (rank >= _EXAMPLES)])


def _read(
    store: Store, watcher: Watcher
) -> tuple[NDArray[np.int64], NDArray[np.float64], list[NDArray[np.int64]], NDArray[np.bool_]]:
    """Read all segments that break no rule, ordered by URL.

    Return their ids, their scores, their keys, and a mask of those that the filter found partial.
    """
    columns = [array(kind) for kind in "qdqqqb"]
    order = store.pair_order()
    watcher.begin("scoring", len(order), "page pairs")
    for pair in order:
        watcher.tick()
        watcher.advance()
        for row in Segments(store).to_score(pair):
            for column, value in zip(columns, row, strict=True):
                column.append(value)
    ids, judged, *keys, is_partial = (np.array(column) for column in columns)
    return ids, judged, keys, is_partial.astype(bool)

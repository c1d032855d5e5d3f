"""The table of keys: near-duplicates are found on disk as they are in memory."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from diptych.corpus.best_copies import best_of
from diptych.corpus.key_table import BUFFERED, Kept, KeyTable

KEYS = st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3)
ROWS = st.lists(st.tuples(KEYS, st.sampled_from([0.1, 0.5, 0.9]), st.integers(1, 4)), max_size=40)


def kept_of(rows, buffered: int) -> Kept:
    with KeyTable(buffered) as table:
        for row in rows:
            table.add(*row)
        assert len(table) == len(rows)
        return table.kept()


@given(ROWS, st.integers(1, 10))
def test_rows_on_disk_give_what_rows_in_memory_give(rows, buffered: int) -> None:
    found = list(kept_of(rows, buffered).rows())
    assert [key for key, _ in found] == [key for key, _, _ in rows]
    columns = [np.array([row[place] for row in rows]) for place in range(3)]
    best = best_of(columns[0].astype(np.int64), columns[1], columns[2].astype(np.int64))
    copies = {place: count for place, (_, count) in enumerate(found) if count}
    assert copies == dict(zip(best.rows.tolist(), best.copies.tolist(), strict=True))


def test_long_columns_are_exact() -> None:
    rng = random.Random(1)
    keys = [rng.randrange(1000) for _ in range(BUFFERED + 1000)]
    kept = kept_of([(key, 0.5, 2) for key in keys], BUFFERED)
    assert isinstance(kept.copies, np.memmap)
    assert kept.copies.sum() == 2 * len(keys)
    assert sorted(kept.keys[kept.copies > 0].tolist()) == sorted(set(keys))
    assert list(kept.rows(999)) == list(kept.rows())

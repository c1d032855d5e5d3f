"""Segments that were in the corpus and are no longer found, with the places of their texts.

A segment is set aside before its pages or its pair are changed, while the archive records that hold
its texts are still known.  At the end of the update, the segments that were found again are
removed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from diptych.run.database import Database
from diptych.run.queries import SQL


def set_aside(store: Database, query: str, values: tuple[Any, ...]) -> None:
    """Copy the kept segments of some pairs, unless no update is open.

    `query` selects the ids of the pairs; `values` are its parameters.
    """
    row = store.db.execute(
        "SELECT id, started_at FROM updates WHERE finished_at IS NULL"
    ).fetchone()
    if row is None:
        return
    store.db.execute(SQL["make_set_aside_ids"])
    store.db.execute("DELETE FROM set_aside_ids")
    store.db.execute(f"INSERT INTO set_aside_ids {query}", values)
    store.db.execute(SQL["set_aside_pairs"])
    store.db.execute(SQL["set_aside_segments"], row)


def forget_found(store: Database) -> None:
    """Remove the segments that are in the corpus again; they keep the dates they had."""
    store.db.execute(SQL["found_again"])
    store.db.execute(SQL["forget_found"])
    store.db.execute("DELETE FROM vanished_pairs WHERE id NOT IN (SELECT pair FROM vanished)")


def vanished_pairs(store: Database) -> list[tuple[Any, ...]]:
    """The pairs with vanished segments: their ids, and the columns of the query `verified_pair`."""
    query = "SELECT * FROM vanished_pairs ORDER BY left_url, right_url, left_lang, right_lang, id"
    return store.db.execute(query).fetchall()


def vanished_segments(store: Database, pair: int) -> Iterator[tuple[Any, ...]]:
    """The vanished segments of a pair, with the columns of the query `chosen_segments`.

    Those that an unfinished update may still find again are left out.
    """
    return store.db.execute(SQL["vanished_segments"], (pair,))

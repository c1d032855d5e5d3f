"""Link source: the pages of an earlier run, indexed in `backlinks.sqlite`."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from tempfile import TemporaryDirectory

from diptych.errors import SourceError, StoreError
from diptych.files import replacing
from diptych.run.encoding import read_links
from diptych.run.store import Store
from diptych.sources.link_index import LinkIndex, LinkWriter

NAME = "backlinks.sqlite"
_STATE = (
    "SELECT (SELECT count(*) || ' ' || coalesce(max(fetched_at), 0) FROM pages) || ' ' ||"
    " (SELECT coalesce(max(id), 0) FROM fetches)"
)
_PAGES = "SELECT urls.url, links FROM pages JOIN urls ON urls.key = pages.url"


def open_earlier_run(folder: Path) -> LinkIndex:
    """Open an index of the links from a run's pages to other sites.

    The index is a file in the run folder, and is rebuilt if the run has changed.  The run itself is
    not modified.  If nothing may be written to its folder, the index is a temporary file.
    """
    path = folder / NAME
    try:
        with Store(folder, write=False) as store:
            state = str(store.db.execute(_STATE).fetchone()[0])
            if _state_of(path) == state:
                return LinkIndex.open(path)
            if not os.access(folder, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
                return _temporary(store, state)
            _write(store, path, state)
    except StoreError as error:
        raise SourceError(f"cannot read the links of {folder}: {error}") from error
    return LinkIndex.open(path)


def _temporary(store: Store, state: str) -> LinkIndex:
    """Write an index to a file without a name, which is removed when it is closed."""
    with TemporaryDirectory(prefix="diptych-", ignore_cleanup_errors=True) as folder:
        path = Path(folder) / NAME
        _write(store, path, state)
        index = LinkIndex.open(path)
        index.db.execute("SELECT count(*) FROM sqlite_master")  # opens the file
        return index


def _state_of(path: Path) -> str:
    """The state of the run when the index at `path` was built; empty if there is no valid index."""
    if not path.exists():
        return ""
    try:
        index = LinkIndex.open(path)
    except SourceError:
        return ""
    try:
        row = index.db.execute("SELECT value FROM about WHERE key = 'state'").fetchone()
        return str(row[0]) if row else ""
    except sqlite3.Error:
        return ""  # damaged: it is rebuilt
    finally:
        index.close()


def _write(store: Store, path: Path, state: str) -> None:
    """Index all pages of a run; the new index replaces the old one only when it is complete.

    `state` is the current state of the run, which is saved in the index.
    """
    with replacing(path, error=SourceError) as part:
        for name in (part, part.with_name(part.name + "-wal"), part.with_name(part.name + "-shm")):
            name.unlink(missing_ok=True)
        with LinkWriter(part) as writer:
            for url, links in store.db.execute(_PAGES):
                writer.add(url, read_links(links))
            writer.save_about("state", state)
            writer.commit()

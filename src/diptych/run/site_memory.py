"""Results about a site that are kept in this process while the pages of the site stay the same.

Pages are paired in several rounds, with better lexicons each time.  Results that do not depend on a
lexicon are computed in the first round only.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any, NamedTuple

from diptych.kernels import return_memory
from diptych.run.queries import SQL
from diptych.run.store import Store

MAX_PAGES = 4_000  # pages of all sites whose results are kept, to bound the memory
_STATE_QUERIES = ("site_pages", "redirects", "site_announced")


class _Kept(NamedTuple):
    """The results about a site, and the state of its pages when they were computed."""

    state: bytes
    pages: int
    results: dict[object, Any]


_kept: dict[tuple[str, int], _Kept] = {}
"""(folder of the run, id of the site) -> what is kept"""


def kept_results(store: Store, site: int) -> dict[object, Any]:
    """Return the dict of results about a site; it is empty if the pages of the site have changed.

    The caller adds its results.  They are forgotten at once if too many pages are kept already, or
    when another run is opened.
    """
    folder = str(store.folder)
    for other in [key for key in _kept if key[0] != folder]:
        del _kept[other]
    state, pages = _state(store, site)
    known = _kept.pop((folder, site), None)
    kept = known if known and known.state == state else _Kept(state, pages, {})
    if pages + sum(each.pages for each in _kept.values()) <= MAX_PAGES:
        _kept[folder, site] = kept
    return kept.results


def forget_results() -> None:
    """Forget the results about all sites, when pairing is over."""
    if _kept:
        _kept.clear()
        return_memory()


def _state(store: Store, site: int) -> tuple[bytes, int]:
    """A digest of what is stored about the pages of a site, and the number of pages."""
    digest = blake2b(digest_size=16)
    counts = []
    for name in _STATE_QUERIES:
        rows = store.db.execute(SQL[name], (site,)).fetchall()
        digest.update(repr(sorted(rows)).encode("utf-8", "backslashreplace"))
        counts.append(len(rows))
    return digest.digest(), counts[0]

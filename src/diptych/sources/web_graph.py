"""Link source: the index of a web graph of hosts or domains, such as Common Crawl's.

The graph contains neither pages nor anchors, so each link is to the home page of a host.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diptych.errors import SourceError
from diptych.files import reading
from diptych.sources.edge_runs import Offsets
from diptych.sources.graph_index import GraphFacts, read_facts
from diptych.sources.graph_vertices import name_key
from diptych.text.urls import host_of, normalise, site_name
from diptych.types import Link, Url

POOL = 4  # factor by which more hosts are considered than requested, to leave out hubs


@dataclass(frozen=True, slots=True)
class AdjacencyLists:
    """For each vertex, the ids of its neighbours in ascending order, without duplicates."""

    ids: NDArray[np.uint32]
    offsets: Offsets

    def span(self, vertex: int) -> tuple[int, int]:
        """The start and end offsets of a vertex's list."""
        start, end = self.offsets.bounds(vertex)
        if not 0 <= start <= end <= len(self.ids):
            raise SourceError("the web graph is damaged; index its files again")
        return start, end


@dataclass(frozen=True, slots=True)
class WebGraph:
    """The index of a web graph, opened as a `LinkSource`."""

    folder: Path
    facts: GraphFacts
    names: NDArray[np.uint8]
    name_offsets: Offsets
    back: AdjacencyLists
    out: AdjacencyLists
    keys: NDArray[np.uint64] | None
    key_ids: NDArray[np.uint32] | None
    """if names are unsorted, `keys` are their hashes in ascending order, and `key_ids` the
    corresponding vertex ids; otherwise both are None"""

    @classmethod
    def open(cls, folder: Path) -> WebGraph:
        """Map an index into memory; raise a `SourceError` if it is damaged."""
        facts = read_facts(folder)
        name_offsets, back, out = (
            Offsets(_mapped(folder / f"{name}.offsets", "<u4"), facts.turns.get(name, []))
            for name in ("names", "back", "out")
        )
        keys = None if facts.is_sorted else _mapped(folder / "keys", "<u8")
        key_ids = None if facts.is_sorted else _mapped(folder / "keys.ids", "<u4")
        names = _mapped(folder / "names", "u1")
        if name_offsets.bounds(facts.vertices - 1)[1] != len(names):
            raise SourceError(f"{folder} is damaged: names are truncated; index the files again")
        lists = (
            AdjacencyLists(_mapped(folder / "back", "<u4"), back),
            AdjacencyLists(_mapped(folder / "out", "<u4"), out),
        )
        return cls(folder, facts, names, name_offsets, *lists, keys, key_ids)

    def back_links(self, url: Url, limit: int) -> Sequence[Link]:
        """Links to the home pages of hosts that link to the URL's host.

        The hosts with the fewest out links come first.
        """
        found = self._neighbours(url, limit, self.back, self.out)
        return [Link(other, "back") for other in found or ()]

    def out_links(self, url: Url, limit: int) -> Sequence[Link] | None:
        """Links to the home pages of hosts that the URL's host links to.

        The hosts with the fewest back links come first.  The result is None if the URL's host is
        not in the graph.
        """
        found = self._neighbours(url, limit, self.out, self.back)
        return None if found is None else [Link(other) for other in found]

    def hosts(self, url: Url) -> list[int]:
        """The vertices for a URL's host, or for its domain in a domain graph.

        Names with and without `www` are looked up.
        """
        host = _site_of(url) if self.facts.level == "domain" else host_of(url)
        bare = host.removeprefix("www.")
        # Graphs up to spring 2026 contain hosts only without www, later ones unchanged.
        wanted = dict.fromkeys((bare, f"www.{bare}"))
        return [vertex for name in wanted for vertex in self._find(_reversed(name.encode()))]

    def name(self, vertex: int) -> str:
        """The host name of a vertex; empty if the vertex has no name."""
        return _reversed(self._raw(vertex)).decode("ascii", "replace")

    def _neighbours(
        self, url: Url, limit: int, lists: AdjacencyLists, others: AdjacencyLists
    ) -> list[Url] | None:
        """The home pages of neighbouring hosts on other sites; None if the URL's host is unknown.

        `lists` contains the neighbours in one direction, and `others` those in the opposite
        direction.  Hosts with few neighbours in `others` come first.
        """
        vertices = self.hosts(url)
        if not vertices:
            return None
        own = _site_of(url)
        parts = [self._sample(lists, vertex, own, POOL * limit) for vertex in vertices]
        pool = np.unique(np.concatenate(parts)).astype(np.int64)
        if len(pool) and int(pool[-1]) >= self.facts.vertices:
            raise SourceError(f"{self.folder} is damaged; index the files again")
        # Hosts with links to everything, or from everywhere, say nothing about this host.
        order = pool[np.argsort(others.offsets.lengths(pool), kind="stable")]
        return list(islice(self._urls(order.tolist(), own), max(limit, 0)))

    def _sample(
        self, lists: AdjacencyLists, vertex: int, own: str, most: int
    ) -> NDArray[np.uint32]:
        """Select at most `most` evenly spaced ids from a vertex's list.

        Hosts of the site `own` are left out if they are contiguous in the list.  Only the selected
        ids are read, however long the list is.
        """
        start, end = lists.span(vertex)
        low, high = self._site_rows(own, lists.ids[start:end])
        count = end - start - (high - low)
        places = np.arange(min(count, most)) * count // max(min(count, most), 1)
        places = np.where(places >= low, places + (high - low), places)
        return lists.ids[start + places]

    def _site_rows(self, own: str, ids: NDArray[np.uint32]) -> tuple[int, int]:
        """The range of a site's hosts in a list of ids; (0, 0) if they might not be contiguous."""
        if self.keys is not None or self.facts.level == "domain":
            return 0, 0
        prefix = _reversed(own.encode()) + b"."
        first, last = self._rank(prefix), self._rank(prefix[:-1] + b"/")  # / directly follows .
        # The dtype must be that of the list, which would otherwise be copied.
        low, high = ids.searchsorted(np.array([first, last], ids.dtype)).tolist()
        return low, high

    def _urls(self, vertices: Sequence[int], own: str) -> Iterator[Url]:
        """Yield the home pages of the hosts that are not on the site `own`, without duplicates."""
        seen = set()
        for vertex in vertices:
            name = self.name(vertex)
            # Most hosts do not end in the site's name, so their site need not be determined.
            if name.endswith(own) and _site_of(f"https://{name}/") == own:
                continue
            url = normalise(f"https://{name}/")
            if url is not None and url not in seen:
                seen.add(url)
                yield url

    def _find(self, name: bytes) -> list[int]:
        """The vertices with this name; there is at most one if names are sorted."""
        if self.keys is None:
            place = self._rank(name)
            found = [place] if place < self.facts.vertices else []
        else:
            found = self._with_key(name)
        return [vertex for vertex in found if name and self._raw(vertex) == name]

    def _with_key(self, name: bytes) -> list[int]:
        assert self.keys is not None
        assert self.key_ids is not None
        key = np.uint64(name_key(name))
        start, end = (int(self.keys.searchsorted(key, side)) for side in ("left", "right"))
        ids: list[int] = self.key_ids[start:end].tolist()
        return sorted(id for id in ids if id < self.facts.vertices)

    def _rank(self, name: bytes) -> int:
        """The number of names that sort before `name`; if `name` exists, this is its vertex id."""
        low, high = 0, self.facts.vertices
        while low < high:
            middle = (low + high) // 2
            if self._raw(middle) < name:
                low = middle + 1
            else:
                high = middle
        return low

    def _raw(self, vertex: int) -> bytes:
        start, end = self.name_offsets.bounds(vertex)
        return self.names[start:end].tobytes()


def _mapped(path: Path, kind: str) -> NDArray[Any]:
    """Map a file into memory as an array of the data type `kind`."""
    with reading(path, advice="index the files again", error=SourceError):
        # An empty file cannot be mapped; and a plain array is faster to access.
        found = np.memmap(path, kind, "r") if path.stat().st_size else np.empty(0, kind)
        return found.view(np.ndarray)


def _site_of(url: str) -> str:
    """The site of a URL's host, regardless of the port.

    >>> _site_of("http://fr.example.org:8080/")
    'example.org'
    """
    return site_name(f"https://{host_of(url)}/")


def _reversed(name: bytes) -> bytes:
    """A host name with its labels reversed, as in web graphs.

    >>> _reversed(b"www.example.co.uk")
    b'uk.co.example.www'
    """
    return b".".join(reversed(name.split(b".")))

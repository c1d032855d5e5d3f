"""Assigns counterparts to all pages jointly instead of one after another.

Taking the strongest pair first may cost two good pairs, because the other candidates of its two
pages may be left without a partner.  `best_matching` maximises the sum of weights.
`consistent_groups` joins the pairs of several languages into documents.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import inf
from typing import Any, Protocol, TypeVar

_WEIGHT_UNIT = 1 << 52  # weights become integers: sums of floats depend on their order
# Edges that a search may visit before it accepts the best path so far: many, until all searches of
# a component have visited this many in total, or each edge this many times; then few.
_WIDE_SEARCH, _NARROW_SEARCH = 20_000, 200
_FREE_LOOKS, _LOOKS_PER_EDGE = 200_000, 10


class _Sortable(Hashable, Protocol):
    def __lt__(self, other: Any, /) -> bool: ...


_Left = TypeVar("_Left", bound=_Sortable)
_Right = TypeVar("_Right", bound=_Sortable)
_Rows = dict[int, list[tuple[int, int]]]
"""left node -> its right nodes in order, each with a weight"""


def best_matching(edges: Iterable[tuple[_Left, _Right, float]]) -> list[tuple[_Left, _Right]]:
    """Find a maximum-weight matching, in which each node is in at most one pair.

    Of two edges between the same nodes, only the heavier counts; edges whose weight is not positive
    and finite are ignored.  Among matchings of equal weight, nodes that sort first are matched
    first, so the order of the edges does not matter.

    The result is exact for each connected component in which the number of left nodes times the
    number of edges is at most 200,000.  In a larger component, it is exact if all searches together
    make at most 10 visits per edge, and no search visits more than 20,000 edges.  Beyond that, each
    search ends after 200 edges with the best path so far, so the time is bounded by the numbers of
    edges and nodes.

    >>> best_matching([("a", "x", 0.9), ("a", "y", 0.8), ("b", "x", 0.8)])
    [('a', 'y'), ('b', 'x')]
    """
    heaviest: dict[tuple[_Left, _Right], float] = {}
    for left, right, weight in edges:
        if 0 < weight < inf and weight > heaviest.get((left, right), 0.0):
            heaviest[left, right] = weight
    lefts = sorted({left for left, _ in heaviest})
    rights = sorted({right for _, right in heaviest})
    left_at = {left: place for place, left in enumerate(lefts)}
    right_at = {right: place for place, right in enumerate(rights)}
    rows: _Rows = {place: [] for place in range(len(lefts))}
    for (left, right), weight in heaviest.items():
        rows[left_at[left]].append((right_at[right], max(1, int(weight * _WEIGHT_UNIT))))
    for row in rows.values():
        row.sort()
    chosen = sorted(pair for part in _components(rows) for pair in _matched(part))
    return [(lefts[left], rights[right]) for left, right in chosen]


def _components(rows: _Rows) -> Iterator[_Rows]:
    """Yield the connected components of a graph."""
    columns: defaultdict[int, list[int]] = defaultdict(list)
    for left, row in rows.items():
        for right, _ in row:
            columns[right].append(left)
    seen: set[int] = set()
    for start in rows:
        if start in seen:
            continue
        seen.add(start)
        part, waiting = [], [start]
        while waiting:
            left = waiting.pop()
            part.append(left)
            for right, _ in rows[left]:
                # Each right node is expanded once: `pop` leaves nothing for later visits.
                waiting += (found := set(columns.pop(right, ())) - seen)
                seen |= found
        yield {left: rows[left] for left in sorted(part)}


def _matched(rows: _Rows) -> list[tuple[int, int]]:
    """Find the maximum-weight matching of a component by shortest augmenting paths.

    The left nodes bid one after another.  Gains and prices are the dual variables: no edge weighs
    more than the gain of its left node plus the price of its right node, and the edges of the
    matching weigh exactly that (Kuhn 1955; as shortest paths, Edmonds and Karp 1972).
    """
    state = _State(rows)
    limit = max(_FREE_LOOKS, _LOOKS_PER_EDGE * sum(map(len, rows.values())))
    looked = 0
    for left in rows:
        looked += _bid(state, left, _WIDE_SEARCH if looked <= limit else _NARROW_SEARCH)
    return [(left, right) for right, left in state.holder.items()]


@dataclass(slots=True)
class _State:
    """A partial matching, with the dual variables of its nodes."""

    rows: _Rows
    gain: dict[int, int] = field(default_factory=dict)
    price: defaultdict[int, int] = field(default_factory=lambda: defaultdict(int))
    holder: dict[int, int] = field(default_factory=dict)
    """right node -> its left node"""


@dataclass(slots=True)
class _Paths:
    """The state of the search for the cheapest augmenting path from one source."""

    bound: int
    """cost of the cheapest path so far, to a free node or to a node that becomes unmatched"""
    goal: int | None = None
    """right node where that path ends; None if the source itself stays unmatched"""
    reached: dict[int, int] = field(default_factory=dict)
    """right node -> its cost so far"""
    came: dict[int, int] = field(default_factory=dict)
    """right node -> the left node that would take it"""
    via: dict[int, int] = field(default_factory=dict)
    """left node -> the right node it would lose"""
    waiting: list[tuple[int, int]] = field(default_factory=list)


def _bid(state: _State, source: int, most: int) -> int:
    """Add the left node `source` to the matching if this increases the total weight.

    The search ends when more than `most` edges have been visited.  Return the number of edges
    visited.
    """
    price = state.price
    gain = max(0, *(weight - price[right] for right, weight in state.rows[source]))
    state.gain[source] = gain
    paths = _Paths(gain)
    left, cost, looked = source, 0, 0
    costs = {source: 0}
    while True:
        looked += len(state.rows[left])
        _look(state, paths, left, cost)
        cost, right = _next(paths)
        if right is None or looked > most:
            break
        left = state.holder[right]
        costs[left], paths.via[left] = cost, right
        if cost + state.gain[left] < paths.bound:
            paths.bound, paths.goal = cost + state.gain[left], right
    # Nodes that were not expanded cost at least this much.  It is the cost of the cheapest path,
    # unless the search was cut short: then gains and prices still cover all edges, but not tightly.
    for left, before in costs.items():
        state.gain[left] -= cost - before
        if left != source:
            price[paths.via[left]] += cost - before
    _displace(state, paths, source)
    return looked


def _look(state: _State, paths: _Paths, left: int, cost: int) -> None:
    """Relax all edges of a left node that cost less than the cheapest path so far."""
    cost += state.gain[left]
    price, holder, reached = state.price, state.holder, paths.reached
    for right, weight in state.rows[left]:
        total = cost + price[right] - weight
        if total < paths.bound and total < reached.get(right, paths.bound):
            reached[right], paths.came[right] = total, left
            if right in holder:
                heappush(paths.waiting, (total, right))
            else:
                paths.bound, paths.goal = total, right


def _next(paths: _Paths) -> tuple[int, int | None]:
    """The cost of the cheapest right node that has not been expanded yet, and the node itself.

    The node is None if no such node costs less than the cheapest complete path.
    """
    while paths.waiting and paths.waiting[0][0] < paths.bound:
        cost, right = heappop(paths.waiting)
        if cost == paths.reached[right]:
            return cost, right
    return paths.bound, None


def _displace(state: _State, paths: _Paths, source: int) -> None:
    """Update the matching along the augmenting path that was found."""
    right = paths.goal
    while right is not None:
        left = paths.came[right]
        state.holder[right] = left
        right = None if left == source else paths.via[left]


_Page = TypeVar("_Page", bound=_Sortable)


def consistent_groups(
    pairs: Iterable[tuple[_Page, _Page, float]], lang_of: Mapping[_Page, str]
) -> list[tuple[_Page, ...]]:
    """Group pages into documents with at most one page per language, strongest pairs first.

    A pair that would put two pages in the same language into one group is rejected.  Pairs without
    a positive weight are ignored.  Pages are sorted by language, and groups by their pages.

    >>> lang_of = {"e": "en", "e2": "en", "f": "fr", "g": "de"}
    >>> consistent_groups([("e", "f", 0.9), ("f", "g", 0.8), ("g", "e2", 0.7)], lang_of)
    [('g', 'e', 'f')]
    """
    group_of: dict[_Page, dict[str, _Page]] = {}
    for left, right in _strongest_first(pairs):
        ours = group_of.setdefault(left, {lang_of[left]: left})
        theirs = group_of.setdefault(right, {lang_of[right]: right})
        if ours.keys().isdisjoint(theirs):
            ours.update(theirs)
            group_of.update((page, ours) for page in theirs.values())
    groups = {id(group): group for group in group_of.values() if len(group) > 1}
    return sorted(tuple(group[lang] for lang in sorted(group)) for group in groups.values())


def _strongest_first(
    pairs: Iterable[tuple[_Page, _Page, float]],
) -> Iterator[tuple[_Page, _Page]]:
    ordered = [
        (-weight, min(left, right), max(left, right)) for left, right, weight in pairs if weight > 0
    ]
    for _, left, right in sorted(ordered):
        yield left, right

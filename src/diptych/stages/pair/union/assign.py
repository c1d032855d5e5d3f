"""Assignment of counterparts for all pages at once, not one after the other.

Taking the strongest pair first may cost two good pairs: it leaves both of its rivals with nothing.
`best_matching` is the choice with the greatest sum of weights.  `consistent_groups` joins the
pairs of several languages into documents.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import inf
from typing import Any, Protocol, TypeVar

_WEIGHT_UNIT = 1 << 52  # weights become whole numbers: sums of floats depend on their order
# Edges a search may look at before it takes the best way out so far: many, until all searches of a
# component have looked at this many in all, or this many times at each edge; then few.
_WIDE_SEARCH, _NARROW_SEARCH = 20_000, 200
_FREE_LOOKS, _LOOKS_PER_EDGE = 200_000, 10


class _Sortable(Hashable, Protocol):
    def __lt__(self, other: Any, /) -> bool: ...


_Left = TypeVar("_Left", bound=_Sortable)
_Right = TypeVar("_Right", bound=_Sortable)
_Rows = dict[int, list[tuple[int, int]]]
"""left node -> its right nodes in order, each with a weight"""


def best_matching(edges: Iterable[tuple[_Left, _Right, float]]) -> list[tuple[_Left, _Right]]:
    """The pairs of greatest weight in sum, each node in at most one; nobody must be in any.

    Of two edges between the same nodes the heavier counts; weights that are not positive and
    finite count for nothing.  Among choices of equal weight the nodes that sort first are served
    first, so the order of the edges does not matter.

    The result is exact for each connected component whose left nodes times its edges are no more
    than 200,000, and for a larger one where nodes have few serious rivals: as long as its searches
    look at each edge 10 times or less, and each of them at 20,000 edges or less.  Beyond that each
    search ends after 200 edges with the best it has seen, so time is bounded by edges and nodes.

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
    """The parts of a graph that have no edge between them."""
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
                # A right node is left only once: whoever comes later finds nobody behind it.
                waiting += (found := set(columns.pop(right, ())) - seen)
                seen |= found
        yield {left: rows[left] for left in sorted(part)}


def _matched(rows: _Rows) -> list[tuple[int, int]]:
    """The heaviest matching of a component, by shortest augmenting paths.

    The left nodes bid one after another.  Gains and prices are the dual variables: no edge weighs
    more than the gain of its left and the price of its right node, and the edges of the matching
    weigh just that (Kuhn 1955; as shortest paths, Edmonds and Karp 1972).
    """
    state = _State(rows)
    limit = max(_FREE_LOOKS, _LOOKS_PER_EDGE * sum(map(len, rows.values())))
    looked = 0
    for left in rows:
        looked += _bid(state, left, _WIDE_SEARCH if looked <= limit else _NARROW_SEARCH)
    return [(left, right) for right, left in state.holder.items()]


@dataclass(slots=True)
class _State:
    """A matching under way."""

    rows: _Rows
    gain: dict[int, int] = field(default_factory=dict)
    price: defaultdict[int, int] = field(default_factory=lambda: defaultdict(int))
    holder: dict[int, int] = field(default_factory=dict)
    """right node -> its left node"""


@dataclass(slots=True)
class _Paths:
    """The state of one search: the cost of each node that the source would displace."""

    bound: int
    """cost of the cheapest way out: to a free node, or to a node that goes without"""
    goal: int | None = None
    """the right node where that way ends; None if the source itself goes without"""
    reached: dict[int, int] = field(default_factory=dict)
    """right node -> its cost so far"""
    came: dict[int, int] = field(default_factory=dict)
    """right node -> the left node that would take it"""
    via: dict[int, int] = field(default_factory=dict)
    """left node -> the right node it would lose"""
    waiting: list[tuple[int, int]] = field(default_factory=list)


def _bid(state: _State, source: int, most: int) -> int:
    """Add a left node to the matching where that pays; returns the number of edges looked at."""
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
    # What was not looked behind costs this much or more.  It is the cost of the way out, unless the
    # search was ended: then gains and prices still cover all edges, if no longer tightly.
    for left, before in costs.items():
        state.gain[left] -= cost - before
        if left != source:
            price[paths.via[left]] += cost - before
    _displace(state, paths, source)
    return looked


def _look(state: _State, paths: _Paths, left: int, cost: int) -> None:
    """Go along all edges of a left node that cost less than the cheapest way out."""
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
    """The cheapest right node that somebody holds and that was not yet looked behind, and its cost.

    None where the cheapest way out costs no more.
    """
    while paths.waiting and paths.waiting[0][0] < paths.bound:
        cost, right = heappop(paths.waiting)
        if cost == paths.reached[right]:
            return cost, right
    return paths.bound, None


def _displace(state: _State, paths: _Paths, source: int) -> None:
    """Hand each right node on the way over to who would take it."""
    right = paths.goal
    while right is not None:
        left = paths.came[right]
        state.holder[right] = left
        right = None if left == source else paths.via[left]


_Page = TypeVar("_Page", bound=_Sortable)


def consistent_groups(
    pairs: Iterable[tuple[_Page, _Page, float]], lang_of: Mapping[_Page, str]
) -> list[tuple[_Page, ...]]:
    """Documents: pages joined by pairs, strongest first, with one page of a language at most.

    A pair that would bring two pages of one language together is refused; one without a positive
    weight counts for nothing.  Pages are in the order of their languages, groups in that of their
    pages.

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

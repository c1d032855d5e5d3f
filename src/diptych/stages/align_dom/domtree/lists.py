"""Alignment of lists by their content: items, cards and quotations that differ between two pages.

The alignment of trees pairs the items of two lists in order, even if the lists contain different
items, because the items look the same.  Here, two items are separated if their contents contradict
each other, and the items that are left over are paired again, by their content alone.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diptych.kernels import native
from diptych.kernels.tree_match import sum_best
from diptych.stages.align_dom.domtree.document import Document
from diptych.stages.align_dom.domtree.evidence import Contents
from diptych.text.urls import host_of

Pairs = list[tuple[int, int]]
Numbers = NDArray[np.int64]
Nodes = Sequence[int]
Gains = NDArray[np.float32]
_CONTRADICTION = -0.2  # two texts contradict each other if their content gain is lower
NO_EVIDENCE = 0.1
"""content gain below which nothing shows that two texts correspond"""
_COPIED = 2 / 3  # minimum share of items with the same text in lists of names
_MAX_WORDS = 15  # of items to separate: long translations that are free have few known words
_MIN_ITEMS = 3  # siblings with the same tag are a list if there are at least so many
_MAX_CELLS = 4_000_000  # pairs of blocks in two lists; larger lists are not compared
_PROSE = frozenset(
    {"p", "#text", "br", "pre", "dd", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6"}
)
"""tags of siblings that are no list: their order is that of an argument or of a table's columns"""
_QUOTATIONS = frozenset({"blockquote", "q"})
_OTHER_LINKS = 6.0  # cost of two quotations that link to other sites, but not to the same address


class Items(NamedTuple):
    """The items of a document's lists, and what they contain."""

    leftmost: NDArray[np.int32]
    """for each node, the first node of its subtree"""
    lists: dict[int, list[int]]
    """the items of each list, by number of the list"""
    blocks: Numbers
    """the nodes that represent blocks with text"""
    texts: Sequence[str]
    links: dict[int, str]
    """the nodes with links to other sites; empty if there are no quotations"""

    @classmethod
    def around(
        cls,
        nodes: NDArray[np.int32],
        tree: Document,
        part: slice,
        leftmost: NDArray[np.int32],
        blocks: Numbers,
    ) -> Items:
        """Find the lists that contain any of the given nodes, in a part of a document.

        `leftmost` is that of the part, and `blocks` are its blocks with text.  All nodes are
        counted from the beginning of the part.
        """
        lists = lists_of(tree.tags[part], leftmost, nodes.tolist())
        hrefs = tree.hrefs[part] if min(lists, default=0) < 0 else ()
        links = {
            node: href
            for node, href in enumerate(hrefs)
            if href and host_of(href) not in ("", tree.host)
        }
        return cls(leftmost, lists, blocks, tree.texts[part], links)

    def lists_by_item(self) -> dict[int, list[int]]:
        """The lists that each item belongs to."""
        found: dict[int, list[int]] = defaultdict(list)
        for number, items in self.lists.items():
            for item in items:
                found[item].append(number)
        return found

    def blocks_in(self, item: int) -> Numbers:
        """The nodes of an item that represent blocks."""
        ends = np.searchsorted(self.blocks, (self.leftmost[item], item + 1))
        return self.blocks[ends[0] : ends[1]]

    def ranges(self, items: Nodes) -> NDArray[np.int32]:
        """The first block of each item, as an index in `blocks`, and the end of its blocks."""
        nodes = np.array(items, np.int64)
        ends = self.leftmost[nodes], nodes + 1
        return np.searchsorted(self.blocks, ends).astype(np.int32)

    def subtree(self, item: int) -> slice:
        """The nodes of an item."""
        return slice(int(self.leftmost[item]), item + 1)

    def texts_in(self, item: int) -> list[str]:
        """The texts of an item's blocks."""
        return [self.texts[node] for node in self.blocks_in(item)]

    def links_in(self, item: int) -> frozenset[str]:
        """The links of an item to other sites."""
        first = self.leftmost[item]
        return frozenset(href for node, href in self.links.items() if first <= node <= item)


def lists_of(
    tags: Sequence[str], leftmost: NDArray[np.int32], nodes: Iterable[int]
) -> dict[int, list[int]]:
    """The items of each list that contains any of the given nodes, in a forest in postorder.

    The items of a list are siblings with the same tag; the list has the number of their parent.  A
    quotation is a list of its own, with a negative number.

    >>> leftmost = np.array([0, 1, 2, 3, 0], np.int32)
    >>> lists_of(("li", "li", "li", "p", "ul"), leftmost, [1])
    {4: [0, 1, 2]}
    """
    first = leftmost.tolist()
    parents = _parents(first)
    around: set[int] = set()
    for node in nodes:
        while node >= 0 and node not in around:
            around.add(node)
            node = parents[node]
    found: dict[int, list[int]] = {}
    for parent in sorted(around):
        if tags[parent] in _QUOTATIONS:
            found[-1 - parent] = [parent]
        items = _items(tags, first, parent)
        if len(items) >= _MIN_ITEMS:
            found[parent] = items
    return found


def _parents(leftmost: Sequence[int]) -> list[int]:
    """The parent of each node, or -1.

    >>> _parents([0, 1, 0])
    [2, 2, -1]
    """
    parents = [-1] * len(leftmost)
    for node, first in enumerate(leftmost):
        child = node - 1
        while child >= first:
            parents[child] = node
            child = leftmost[child] - 1
    return parents


def _items(tags: Sequence[str], leftmost: Sequence[int], parent: int) -> list[int]:
    """The children of a node that have the most common tag of its children, unless it is prose."""
    children: list[int] = []
    node, first = parent - 1, leftmost[parent]
    while node >= first:
        children.append(node)
        node = leftmost[node] - 1
    if len(children) < _MIN_ITEMS:
        return []
    tag = Counter(tags[child] for child in reversed(children)).most_common(1)[0][0]
    return [child for child in reversed(children) if tags[child] == tag and tag not in _PROSE]


class ListTools(NamedTuple):
    """What the alignment of lists needs from the alignment of trees."""

    contents: Contents
    align: Callable[[slice, slice], Pairs]
    """aligns two subtrees"""
    words: tuple[NDArray[np.float64], NDArray[np.float64]]
    """number of words of each node, for both sides"""
    per_word: float
    """minimum gain per word of the shorter item for pairing two items"""
    best: Callable[[Gains], Pairs]
    """chooses the pairs of rows and columns that clearly match"""


def doubtful(pairs: Pairs, texts: tuple[Numbers, Numbers], contents: Contents) -> Numbers:
    """The left nodes of pairs in whose contents nothing shows that they correspond.

    `texts` are the nodes that represent blocks with text.
    """
    partner = np.full(len(contents.left), -1, np.int64)
    partner[[one for one, _ in pairs]] = [other for _, other in pairs]
    rows = texts[0][np.isin(partner[texts[0]], texts[1])]
    return rows[contents.of_pairs(rows, partner[rows]) < NO_EVIDENCE]


def pair_items_by_content(
    partners: NDArray[np.int32], sides: tuple[Items, Items], tools: ListTools
) -> NDArray[np.int32]:
    """Separate items that contradict each other, and pair the items left over by their content.

    `partners` contains the right node of each left node, or -1, as the result does.
    """
    left, right = sides
    pairing = _Pairing(partners)
    for here, there in _list_pairs(pairing.partner, sides):
        items = left.lists[here], right.lists[there]
        paired = pairing.places(*items)
        if not paired:
            continue
        if here < 0 and _have_other_links(sides, items):
            gains = item_gains(_without_copies(sides, items), items, tools.contents) - _OTHER_LINKS
        else:
            gains = item_gains(sides, items, tools.contents)
        doubts = [(row, column) for row, column in paired if gains[row, column] < NO_EVIDENCE]
        if not doubts:
            continue
        sizes = _sizes(sides, items, tools)
        least = NO_EVIDENCE if _are_copied(sides, items, paired) else _CONTRADICTION
        wrong = [
            (row, column)
            for row, column in doubts
            if gains[row, column] < least and sizes[row, column] <= _MAX_WORDS
        ]
        for row, column in wrong:
            pairing.separate(left.subtree(items[0][row]), right.subtree(items[1][column]))
        if not wrong:
            continue
        rows, columns = pairing.free(*items)
        surplus = np.nan_to_num(gains, nan=-np.inf) - tools.per_word * sizes
        for row, column in tools.best(surplus[np.ix_(rows, columns)].astype(np.float32)):
            one, other = items[0][rows[row]], items[1][columns[column]]
            pairing.add(tools.align(left.subtree(one), right.subtree(other)))
    return np.array(pairing.partner, np.int32)


def _are_copied(sides: tuple[Items, Items], items: tuple[Nodes, Nodes], paired: Pairs) -> bool:
    """True if most items have the same text in both lists, as names have.

    Then two items with different texts are not translations of each other, unless there is evidence
    for it.
    """
    same = 0
    for row, column in paired:
        left, right = sides[0].texts_in(items[0][row]), sides[1].texts_in(items[1][column])
        if len(left) > 1 or len(right) > 1:
            return False  # cards and rows of tables, which have labels
        same += left == right and any(map(str.isalpha, "".join(left)))
    return same >= _COPIED * max(len(paired), _MIN_ITEMS)


def _sizes(sides: tuple[Items, Items], items: tuple[Nodes, Nodes], tools: ListTools) -> Gains:
    """For each pair of items, the number of words in the blocks of the shorter item."""
    counts = [
        [words[side.blocks_in(item)].sum() for item in some]
        for side, some, words in zip(sides, items, tools.words, strict=True)
    ]
    found: Gains = np.minimum.outer(*counts)
    return found


class _Pairing:
    """Pairs of nodes that are separated and paired again; -1 stands for no partner."""

    def __init__(self, partners: NDArray[np.int32]) -> None:
        self.partner: list[int] = partners.tolist()
        self.taken = {other for other in self.partner if other >= 0}

    def places(self, ours: Nodes, theirs: Nodes) -> Pairs:
        """The places, in two sequences of nodes, of the nodes that are paired."""
        at = {node: place for place, node in enumerate(theirs)}
        partners = (at.get(self.partner[node]) for node in ours)
        return [(row, column) for row, column in enumerate(partners) if column is not None]

    def free(self, ours: Nodes, theirs: Nodes) -> tuple[list[int], list[int]]:
        """The places, in two sequences of nodes, of the nodes without a partner."""
        return (
            [row for row, node in enumerate(ours) if self.partner[node] < 0],
            [column for column, node in enumerate(theirs) if node not in self.taken],
        )

    def separate(self, ours: slice, theirs: slice) -> None:
        """Remove all pairs of two subtrees."""
        for one in range(ours.start, ours.stop):
            other = self.partner[one]
            if theirs.start <= other < theirs.stop:
                self.partner[one] = -1
                self.taken.remove(other)

    def add(self, pairs: Pairs) -> None:
        """Add the pairs whose nodes are both without a partner."""
        for one, other in pairs:
            if self.partner[one] < 0 and other not in self.taken:
                self.partner[one] = other
                self.taken.add(other)


def _list_pairs(partner: Nodes, sides: tuple[Items, Items]) -> Pairs:
    """The lists that correspond to each other, outer lists first.

    The counterpart of a list is the one with most of the items that are paired with its items.
    """
    lists = sides[1].lists_by_item()
    found: Pairs = []
    for here, items in sides[0].lists.items():
        votes = Counter(
            there
            for item in items
            for there in lists.get(partner[item], ())
            if (here < 0) == (there < 0)
        )
        if votes:
            found.append((here, _most(votes)))
    return sorted(found, reverse=True)


def _most(votes: Counter[int]) -> int:
    """The number with most votes; of equal ones, the lowest."""
    return min(votes, key=lambda number: (-votes[number], number))


def item_gains(sides: tuple[Items, Items], items: tuple[Nodes, Nodes], contents: Contents) -> Gains:
    """The content gain of each pair of items: the sum of the gains of their blocks.

    Each block counts with its best match in the other item, and both directions are averaged.  The
    gain is not a number if an item has no blocks, or if the lists are too long to be compared.
    """
    left, right = (side.ranges(some) for side, some in zip(sides, items, strict=True))
    rows, columns = _within(left), _within(right)
    gains = np.full((len(items[0]), len(items[1])), np.nan, np.float32)
    if (rows.stop - rows.start) * (columns.stop - columns.start) > _MAX_CELLS:
        return gains
    cells = contents.between(sides[0].blocks[rows], sides[1].blocks[columns])
    if native() is None:
        return _sums_of_best(cells, left - rows.start, right - columns.start)
    ours, theirs = left - np.int32(rows.start), right - np.int32(columns.start)
    return sum_best(np.ascontiguousarray(cells), (ours[0], ours[1]), (theirs[0], theirs[1]))


def _within(ranges: NDArray[np.int32]) -> slice:
    """The range from the beginning of the first to the end of the last range."""
    return slice(int(ranges[0].min(initial=0x7FFFFFFF)), int(ranges[1].max(initial=0)))


def _sums_of_best(cells: Gains, left: NDArray[np.int32], right: NDArray[np.int32]) -> Gains:
    """Compute `sum_best` in NumPy, as the reference implementation and the fallback."""
    gains = np.full((left.shape[1], right.shape[1]), np.nan, np.float32)
    for row, (first, end) in enumerate(left.T):
        for column, (other_first, other_end) in enumerate(right.T):
            part = cells[first:end, other_first:other_end]
            if part.size:
                gains[row, column] = (part.max(1).sum() + part.max(0).sum()) / 2
    return gains


def _have_other_links(sides: tuple[Items, Items], items: tuple[Nodes, Nodes]) -> bool:
    """True if two quotations link to other sites, but not to the same address."""
    left, right = (side.links_in(some[0]) for side, some in zip(sides, items, strict=True))
    return bool(left and right) and left.isdisjoint(right)


def _without_copies(sides: tuple[Items, Items], items: tuple[Nodes, Nodes]) -> tuple[Items, Items]:
    """Leave out the blocks that have the same text in two quotations, such as names and dates."""
    left, right = (side.texts_in(some[0]) for side, some in zip(sides, items, strict=True))
    copied = {*left} & {*right}
    ours, theirs = (
        side._replace(
            blocks=np.array([node for node in side.blocks if side.texts[node] not in copied], int)
        )
        for side in sides
    )
    return ours, theirs

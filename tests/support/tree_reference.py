"""Tree alignment as Shi et al. 2006 write it: eight cases, each a line or two.

An alignment is a set of pairs of nodes, one to one, that keeps hierarchy and the order of siblings.
Its gain is the logarithm of its probability beside that of the alignment in which every node is
deleted: deletions are free, and each pair (i, j) brings gain[i][j] (see `model`).

This is the definition, for small trees; `kernels/tree_align.c` is what runs, and tests hold one
against the other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

__all__ = ["Forest", "Tree", "best_gain", "forest_of", "log_total"]

_Gains = Sequence[Sequence[float]]


class Tree(NamedTuple):
    """A node, by its number in postorder, and the trees below it."""

    node: int
    children: tuple[Tree, ...] = ()


Forest = tuple[Tree, ...]


def forest_of(leftmost: Sequence[int]) -> Forest:
    """The forest that lists, for each node in postorder, the first node of its tree.

    >>> forest_of([0, 1, 0])
    (Tree(node=2, children=(Tree(node=0, children=()), Tree(node=1, children=()))),)
    """
    done: list[Tree] = []
    for node, start in enumerate(leftmost):
        first = next((at for at, tree in enumerate(done) if tree.node >= start), len(done))
        done[first:] = [Tree(node, tuple(done[first:]))]
    return tuple(done)


def best_gain(ours: Forest, theirs: Forest, gains: _Gains) -> float:
    """The gain of the best alignment of two forests.

    >>> best_gain((Tree(0),), (Tree(0),), [[2.0]])
    2.0
    """

    @cache
    def trees(f: Tree, e: Tree) -> float:
        return max(
            gains[f.node][e.node] + forests(f.children, e.children),  # (1) roots aligned
            forests(f.children, (e,)),  # (2) the root of f deleted
            forests((f,), e.children),  # (3) the root of e deleted
        )

    @cache
    def forests(fs: Forest, es: Forest) -> float:
        if not fs or not es:
            return 0.0
        (f, *f_rest), (e, *e_rest) = fs, es
        fs_after, es_after = tuple(f_rest), tuple(e_rest)
        cases = [
            forests(fs_after, es),  # (5) the first tree of f deleted
            forests(fs, es_after),  # (6) the first tree of e deleted
        ]
        if len(fs) > 1 or len(es) > 1:
            # (4) the first trees aligned.  The paper prints Pr(N|N) in its formula, but what it
            # describes, "if T is aligned with T", is Pr(T|T).
            cases.append(trees(f, e) + forests(fs_after, es_after))
            cases.append(forests((*f.children, *fs_after), es))  # (7) the first root of f deleted
            cases.append(forests(fs, (*e.children, *es_after)))  # (8) the first root of e deleted
        else:
            cases.append(trees(f, e))
        return max(cases)

    return forests(ours, theirs)


def log_total(ours: Forest, theirs: Forest, gains: _Gains) -> float:
    """The logarithm of the sum over all alignments of two forests.

    The eight cases overlap: a tree that is deleted whole (5) is one whose root is deleted (7) and
    whose children are.  A sum must count an alignment once, so the first root of f is either
    deleted (2, 5, 7), or kept; while it is kept, the first root of e is either deleted (3, 6, 8) or
    the one it is aligned with (1, 4).

    >>> round(math.exp(log_total((Tree(0),), (Tree(0),), [[0.0]])), 6)
    2.0
    """

    @cache
    def all_of(fs: Forest, es: Forest) -> float:
        if not fs or not es:
            return 1.0
        return all_of((*fs[0].children, *fs[1:]), es) + kept(fs, es)

    @cache
    def kept(fs: Forest, es: Forest) -> float:
        if not es:
            return 0.0
        f, e = fs[0], es[0]
        aligned = (
            math.exp(gains[f.node][e.node])
            * all_of(f.children, e.children)
            * all_of(fs[1:], es[1:])
        )
        return aligned + kept(fs, (*e.children, *es[1:]))

    return math.log(all_of(ours, theirs))

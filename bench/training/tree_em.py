"""EM of the tag table and the deletion probability over page pairs that nobody aligned (Shi 2006).

The expectation is over all alignments of two trees, by the inside-outside sums of the kernel.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from diptych.kernels.tree_align import expect
from diptych.stages.align_dom.domtree.cut import cells, mirrored
from diptych.stages.align_dom.domtree.document import document
from diptych.stages.align_dom.domtree.model import OTHER, Parameters
from diptych.stages.align_dom.domtree.strategy import DomTree
from diptych.types import Page

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from diptych.learn.lexicon.lexicon import Lexicon

__all__ = ["Counts", "Round", "expected_counts", "first_parameters", "maximised", "train"]

_MAX_CELLS = 30_000_000  # of a page pair, some 3 s a round; larger ones teach nothing more
_MIN_DELETION = 1e-3

_TAGS = tuple(
    "#text a address area article aside blockquote body button caption dd div dl dt em figcaption"
    " figure footer form h1 h2 h3 h4 h5 h6 head header html img input label li main meta nav ol p"
    " pre section span table tbody td tfoot th thead title tr ul".split()
)


class _Example(NamedTuple):
    """Two trees, and the gains of their texts."""

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    left_tags: NDArray[np.int32]
    right_tags: NDArray[np.int32]
    texts: NDArray[np.float64]


class Counts(NamedTuple):
    """Expected counts over all alignments, by the tags of the nodes."""

    aligned: NDArray[np.float64]
    """of tags of E with tags of F"""
    deleted: NDArray[np.float64]
    """of tags of F with nothing"""
    inserted: float
    """of nodes of E with nothing"""


class Round(NamedTuple):
    """One round of EM: the parameters it began with, and their log-likelihood."""

    parameters: Parameters
    log_likelihood: float


def first_parameters(tags: Sequence[str] = _TAGS) -> Parameters:
    """Parameters to start training: a tag is mostly itself, one node in five is deleted."""
    every = (*(tag for tag in tags if tag != OTHER), OTHER)
    same, rest = 0.9, 0.1 / (len(every) - 1)
    table = tuple(tuple(same if a == b else rest for b in every) for a in every)
    return Parameters(every, table, tuple(1 / len(every) for _ in every), 0.2)


def train(
    pairs: Iterable[tuple[Page, Page]],
    lexicon: Lexicon | None = None,
    *,
    rounds: int = 8,
    smoothing: float = 2.0,
    aligner: DomTree | None = None,
    start: Parameters | None = None,
) -> list[Round]:
    """Parameters after each round, the best last; the likelihood is that of the one before.

    smoothing: the weight of the prior, see `maximised`; with 0 the likelihood never decreases.
    """
    parameters = start or first_parameters()
    aligner = aligner or DomTree()
    examples = [_example(left, right, lexicon, aligner, parameters) for left, right in pairs]
    usable = [example for example in examples if example is not None]
    tag_shares = _tag_shares(usable, len(parameters.tags))
    history: list[Round] = []
    for _ in range(rounds + 1):
        counts, total = expected_counts(usable, parameters)
        history.append(Round(parameters, total))
        parameters = maximised(counts, parameters.tags, tag_shares, smoothing)
    return history


def _example(
    left: Page, right: Page, lexicon: Lexicon | None, aligner: DomTree, parameters: Parameters
) -> _Example | None:
    trees = document(left), document(right)
    ours, theirs = trees[0].leftmost, trees[1].leftmost
    if not len(ours) or not len(theirs):
        return None
    texts = aligner.evidence(trees, (left, right), lexicon).gains(
        slice(0, len(ours)), slice(0, len(theirs))
    )
    tags = parameters.numbers(trees[0].tags), parameters.numbers(trees[1].tags)
    if cells(ours, theirs) <= _MAX_CELLS:
        return _Example(ours, theirs, *tags, texts.astype(np.float64))
    (numbers, tree), (others, other_tree) = mirrored(ours), mirrored(theirs)
    if cells(tree, other_tree) > _MAX_CELLS:
        return None
    back, other_back = np.argsort(numbers), np.argsort(others)
    turned = texts[np.ix_(back, other_back)].astype(np.float64)
    return _Example(tree, other_tree, tags[0][back], tags[1][other_back], turned)


def expected_counts(examples: Sequence[_Example], parameters: Parameters) -> tuple[Counts, float]:
    """Counts under the parameters, and the logarithm of the probability of all pages.

    The part that does not depend on the parameters is left out: the texts by themselves.
    """
    size = len(parameters.tags)
    aligned, deleted, inserted, total = np.zeros((size, size)), np.zeros(size), 0.0, 0.0
    gains = parameters.gains().astype(np.float64)
    null = np.log(parameters.null)
    for example in examples:
        tags = gains[np.ix_(example.left_tags, example.right_tags)]
        sums, shares = expect(example.left, example.right, example.texts + tags)
        nodes = len(example.left) + len(example.right)
        total += sums + null[example.left_tags].sum() + nodes * math.log(parameters.deletion)
        np.add.at(aligned, np.ix_(example.right_tags, example.left_tags), shares.T)
        np.add.at(deleted, example.left_tags, np.maximum(0, 1 - shares.sum(1)))
        inserted += float(np.maximum(0, 1 - shares.sum(0)).sum())
    return Counts(aligned, deleted, inserted), total


def maximised(
    counts: Counts, tags: tuple[str, ...], tag_shares: NDArray[np.float64], smoothing: float
) -> Parameters:
    """The parameters that maximise the likelihood of the counts and a prior.

    tag_shares: the frequency of each tag.  In the prior a tag is itself or any common one, and any
    common one is deleted; `smoothing` is the number of observations it counts for.
    """
    belief = (np.eye(len(tags)) + tag_shares[None, :]) / 2
    aligned = counts.aligned + smoothing * belief
    deleted = counts.deleted + 10 * smoothing * tag_shares
    alone = float(counts.deleted.sum()) + counts.inserted
    together = float(counts.aligned.sum())
    return Parameters(
        tags,
        tuple(tuple(map(float, row)) for row in _shares(aligned)),
        tuple(map(float, _shares(deleted[None, :])[0])),
        min(0.5, max(_MIN_DELETION, alone / ((alone + together) or 1.0))),
    )


def _shares(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows that add up to one; where nothing was counted, all alike."""
    sums = counts.sum(1, keepdims=True)
    shares = np.where(sums > 0, counts / np.where(sums > 0, sums, 1), 1 / counts.shape[1])
    floored: NDArray[np.float64] = np.maximum(shares, 1e-12)
    return floored


def _tag_shares(examples: Sequence[_Example], size: int) -> NDArray[np.float64]:
    """The share of each tag, with a fifth for tags that these pages do not have."""
    found = np.zeros(size)
    for example in examples:
        found += np.bincount(example.left_tags, minlength=size)
        found += np.bincount(example.right_tags, minlength=size)
    tag_shares = 0.8 * found / max(1, found.sum()) + 0.2 / size
    normal: NDArray[np.float64] = tag_shares / tag_shares.sum()
    return normal

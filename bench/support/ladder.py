"""Ladders of beads, one per line such as `[0, 1]:[0]`, and their scores against a gold ladder."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from diptych.types import Bead

_LINE = re.compile(r"\s*\[([\d,\s]*)\]\s*:\s*\[([\d,\s]*)\]")
_NUMBER = re.compile(r"\d+")


class Score(NamedTuple):
    """The precision and recall of beads: strict (exactly equal) and lax (overlapping)."""

    precision: float
    recall: float
    lax_precision: float
    lax_recall: float

    @property
    def f1(self) -> float:
        """The strict F1."""
        return _harmonic(self.precision, self.recall)

    @property
    def lax_f1(self) -> float:
        """The lax F1."""
        return _harmonic(self.lax_precision, self.lax_recall)


def parse(text: str) -> list[Bead]:
    r"""The beads of a ladder; text after the second list of a line is ignored.

    >>> parse("[0, 1]:[0]\n[]:[1]:0.3\n")
    [Bead(left=(0, 1), right=(0,), score=1.0), Bead(left=(), right=(1,), score=1.0)]
    """
    beads = []
    for number, line in enumerate(text.splitlines(), start=1):
        found = _LINE.match(line)
        if found:
            beads.append(Bead(_indices(found[1]), _indices(found[2]), 1.0))
        elif line.strip():
            raise ValueError(f"line {number} is no bead such as [0, 1]:[0]: {line[:60]!r}")
    return beads


def spell(beads: Iterable[Bead]) -> str:
    r"""Beads as a ladder.

    >>> spell([Bead((0, 1), (0,), 0.5)])
    '[0, 1]:[0]\n'
    """
    return "".join(f"{list(bead.left)}:{list(bead.right)}\n" for bead in beads)


def read_ladder(path: Path) -> list[Bead]:
    """Read the beads of a file."""
    return parse(path.read_text("utf-8"))


def write_ladder(path: Path, beads: Iterable[Bead]) -> None:
    """Write beads to a file."""
    path.write_text(spell(beads), "utf-8")


def score(found: Iterable[Bead], gold: Iterable[Bead]) -> Score:
    r"""The strict and lax precision and recall, with the usual definitions.

    A bead is strictly correct if it is in the gold ladder, and laxly correct if it shares a pair of
    sentences with a gold bead.  Precision counts all beads found, including one-sided ones; recall
    counts the two-sided gold beads.

    >>> gold = parse("[0]:[0]\n[1]:[1, 2]\n[]:[3]")
    >>> score(parse("[0]:[0]\n[1]:[1]\n[]:[2]\n[]:[3]"), gold)
    Score(precision=0.5, recall=0.5, lax_precision=0.75, lax_recall=1.0)
    """
    ours, truth = _set(found), _set(gold)
    asked = {bead for bead in truth if bead[0] and bead[1]}
    strict = ours & truth
    return Score(
        _share(len(strict), len(ours)),
        _share(len(strict & asked), len(asked)),
        _share(len(strict | _overlapping(ours, truth)), len(ours)),
        _share(len(_overlapping(asked, ours)), len(asked)),
    )


_Sides = tuple[tuple[int, ...], tuple[int, ...]]


def _set(beads: Iterable[Bead]) -> set[_Sides]:
    return {(bead.left, bead.right) for bead in beads if bead.left or bead.right}


def _overlapping(beads: Iterable[_Sides], others: Iterable[_Sides]) -> set[_Sides]:
    """The beads that share a pair of sentences with one of the others."""
    links = {(left, right) for lefts, rights in others for left in lefts for right in rights}
    return {
        (lefts, rights)
        for lefts, rights in beads
        if any((left, right) in links for left in lefts for right in rights)
    }


def _indices(text: str) -> tuple[int, ...]:
    return tuple(map(int, _NUMBER.findall(text)))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _harmonic(one: float, other: float) -> float:
    return 2 * one * other / (one + other) if one + other else 0.0


def mean(scores: Sequence[Score]) -> Score:
    """The mean score over several texts with equal weights."""
    return Score(*(sum(values) / len(values) for values in zip(*scores, strict=True)))

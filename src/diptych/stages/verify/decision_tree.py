"""Verification by a decision tree over four features (Vieira & Moreira 2012, section 3.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from diptych.stages.verify.shared.base import TrainedVerifier
from diptych.stages.verify.shared.features import PPLOCATOR


@dataclass(frozen=True, slots=True)
class DecisionTree(TrainedVerifier):
    """The decision tree of PPLocator over word counts, file sizes, HTML tags and common words."""

    # DEVIATION(pplocator): pages in one language, copies and empty pages are rejected first; the
    # paper names them as the cause of most of its wrong pairs.
    method: ClassVar[str] = "decision_tree"
    names: ClassVar[tuple[str, ...]] = PPLOCATOR

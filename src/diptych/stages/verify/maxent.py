"""Verification by maximum entropy over three features (Shi et al. 2006, section 6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from diptych.stages.verify.shared.base import TrainedVerifier
from diptych.stages.verify.shared.features import MAXENT


@dataclass(frozen=True, slots=True)
class MaxEnt(TrainedVerifier):
    """The maximum entropy model of Shi et al. 2006 over file sizes, tags and aligned sentences."""

    # DEVIATION(shi): pages in one language, copies and empty pages are rejected first, as the three
    # features cannot recognise them.
    method: ClassVar[str] = "maxent"
    names: ClassVar[tuple[str, ...]] = MAXENT

"""Pages verified by maximum entropy over three features (Shi et al. 2006, section 6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from diptych.stages.verify.shared.base import TrainedVerifier
from diptych.stages.verify.shared.features import MAXENT


@dataclass(frozen=True, slots=True)
class MaxEnt(TrainedVerifier):
    """Maximum entropy of Shi et al. 2006: file sizes, HTML tags and sentences that align.

    The score is the model's probability.
    """

    # DEVIATION(shi): pages in one language, copies and empty pages are told apart first, as the
    # three features cannot.
    method: ClassVar[str] = "maxent"
    names: ClassVar[tuple[str, ...]] = MAXENT

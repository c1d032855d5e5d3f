"""The tree alignment model of Shi et al. 2006: probabilities of tags and of deletions.

    P(F, A | E) = prod over aligned nodes   (1 - p_d) Pr(l_F | l_E) Pr(t_F | t_E)
                x prod over deleted in F    p_d Pr(l_F | NULL) Pr(t_F | NULL)
                x prod over deleted in E    p_d

where l is a node's tag and t its text.  Dividing by the probability of the alignment that deletes
all nodes leaves a gain for each aligned pair of nodes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from diptych.files import model_file

OTHER = "*"
"""stands for all tags that are not in the table"""


@dataclass(frozen=True, slots=True)
class Parameters:
    """The trained probabilities; rows and columns of `table` are in the order of `tags`."""

    tags: tuple[str, ...]
    table: tuple[tuple[float, ...], ...]
    """Pr(tag of F | tag of E), one row per tag of E"""
    null: tuple[float, ...]
    """Pr(tag of F | NULL)"""
    deletion: float
    """p_d, the probability that a node is deleted"""

    def gains(self) -> NDArray[np.float32]:
        """The gain from aligning each pair of tags, as a matrix with one row per tag of F."""
        aligned = np.log(np.array(self.table).T) - np.log(np.array(self.null))[:, None]
        odds = math.log1p(-self.deletion) - 2 * math.log(self.deletion)
        gains: NDArray[np.float32] = (aligned + odds).astype(np.float32, order="C")
        return gains

    def numbers(self, tags: Sequence[str]) -> NDArray[np.int32]:
        """The table index of each tag; tags not in the table have the index of `OTHER`."""
        index = _index(self.tags)
        other = index[OTHER]
        return np.array([index.get(tag, other) for tag in tags], np.int32)

    def to_json(self) -> str:
        """Serialise the parameters as JSON that `from_json` can read."""
        rows = {
            tag: {other: value for other, value in zip(self.tags, row, strict=True)}
            for tag, row in zip(self.tags, self.table, strict=True)
        }
        null = dict(zip(self.tags, self.null, strict=True))
        return json.dumps({"deletion": self.deletion, "null": null, "table": rows}, indent=1)

    @classmethod
    def from_json(cls, text: str) -> Parameters:
        """Parse the output of `to_json`."""
        raw = json.loads(text)
        tags = tuple(raw["null"])
        table = tuple(tuple(raw["table"][tag][other] for other in tags) for tag in tags)
        return cls(tags, table, tuple(raw["null"].values()), raw["deletion"])


@lru_cache(maxsize=8)
def _index(tags: tuple[str, ...]) -> dict[str, int]:
    return {tag: number for number, tag in enumerate(tags)}


@cache
def shipped_parameters() -> Parameters:
    """Load the parameters shipped with the package; see `weights/tree.md`."""
    with model_file("", "tree.json", "diptych.stages.align_dom.domtree") as path:
        return Parameters.from_json(path.read_text("utf-8"))


@cache
def shipped_gains() -> NDArray[np.float32]:
    """The read-only matrix of gains computed from the shipped parameters."""
    gains = shipped_parameters().gains()
    gains.flags.writeable = False
    return gains

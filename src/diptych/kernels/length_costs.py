"""The cost of a difference in length between a text and its translation (Gale & Church 1993)."""

from __future__ import annotations

import math
from functools import lru_cache

MAX_COST = 25.0  # BIG_DISTANCE of the program in Gale & Church 1993, which counts in hundredths


@lru_cache(maxsize=1 << 16)
def length_cost(left: float, right: float, c: float = 1.0, s2: float = 6.8) -> float:
    """The negative log probability of the lengths of a text and its translation.

    As in Gale & Church 1993, `c` is the expected number of right characters per left character,
    and `s2` is its variance.  As in the authors' program, the variance is multiplied by the mean of
    both lengths, so that the cost is symmetric.

    >>> length_cost(100, 100), round(length_cost(100, 130), 2), length_cost(10, 9000)
    (0.0, 1.26, 25.0)
    """
    mean = (left + right / c) / 2
    if mean <= 0:
        return 0.0
    delta = abs(right - left * c) / math.sqrt(s2 * mean)
    tail = math.erfc(delta / math.sqrt(2))  # 2 (1 - Phi(delta))
    return min(MAX_COST, abs(math.log(tail))) if tail > 0 else MAX_COST

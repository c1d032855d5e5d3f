"""The cost of two lengths for a text and its translation (Gale & Church 1993)."""

from __future__ import annotations

import math
from functools import lru_cache

MAX_COST = 25.0  # BIG_DISTANCE of the program in Gale & Church 1993, which counts in hundredths


@lru_cache(maxsize=1 << 16)
def length_cost(left: float, right: float, c: float = 1.0, s2: float = 6.8) -> float:
    """Improbability, as -log, of two lengths for a translation (Gale & Church 1993).

    c is the expected number of characters on the right for one on the left, s2 its variance.  The
    variance is that of the mean of both lengths, as in the authors' program, so that neither side
    is the original.

    >>> length_cost(100, 100), round(length_cost(100, 130), 2), length_cost(10, 9000)
    (0.0, 1.26, 25.0)
    """
    mean = (left + right / c) / 2
    if mean <= 0:
        return 0.0
    delta = abs(right - left * c) / math.sqrt(s2 * mean)
    tail = math.erfc(delta / math.sqrt(2))  # 2 (1 - Phi(delta))
    return min(MAX_COST, abs(math.log(tail))) if tail > 0 else MAX_COST

"""How many examples Hypothesis tries."""

from __future__ import annotations

from hypothesis import settings

USUAL = 100  # of the profile `test`


def examples(count: int) -> int:
    """So many examples in `make test`, and as many times more as `make fuzz` has."""
    return max(1, count * settings().max_examples // USUAL)

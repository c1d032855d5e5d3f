"""How many examples Hypothesis tries."""

from __future__ import annotations

from hypothesis import settings

USUAL = 100  # of Hypothesis


def examples(count: int) -> int:
    """So many examples for a hundred of other tests: half in `make test`, more in `make fuzz`."""
    return max(1, count * settings().max_examples // USUAL)

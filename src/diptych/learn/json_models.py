"""Parse small models that are stored as JSON files."""

from __future__ import annotations

import json
import math
from typing import Any

MAX_BYTES = 20_000_000  # maximum size of a file


def parse_model(text: str | bytes, format: int) -> dict[str, Any]:
    """Parse a model from JSON, or raise ValueError if its format number is not `format`.

    Call this within `files.reading`.

    >>> parse_model('{"format": 1, "bias": 0.5}', 1)["bias"]
    0.5
    """
    raw: dict[str, Any] = json.loads(text)
    if raw["format"] != format:
        raise ValueError(f"it is not in format {format}")
    return raw


def number(value: Any) -> float:
    """Convert a finite number to a float, or raise ValueError for any other value.

    >>> number(2)
    2.0
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{str(value)[:20]!r} is not a number")
    return float(value)

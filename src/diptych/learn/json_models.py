"""Parsing of small models that are stored as JSON files."""

from __future__ import annotations

import json
import math
from typing import Any

MAX_BYTES = 20_000_000  # maximum size of a file


def parse_model(text: str | bytes, format: int) -> dict[str, Any]:
    """Parse the JSON of a model; raises ValueError if the format number differs.

    Call this within `files.reading`.

    >>> parse_model('{"format": 1, "bias": 0.5}', 1)["bias"]
    0.5
    """
    raw: dict[str, Any] = json.loads(text)
    if raw["format"] != format:
        raise ValueError(f"it is not in format {format}")
    return raw


def number(value: Any) -> float:
    """Convert a value to a float; raises ValueError unless it is a finite number.

    >>> number(2)
    2.0
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{str(value)[:20]!r} is not a number")
    return float(value)

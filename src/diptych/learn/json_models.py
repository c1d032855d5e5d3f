"""Small models as JSON: numbers, never code."""

from __future__ import annotations

import json
import math
from typing import Any

MAX_BYTES = 20_000_000  # of a file


def parse_model(text: str | bytes, format: int) -> dict[str, Any]:
    """The JSON of a model of a format, to be read within `files.reading`.

    >>> parse_model('{"format": 1, "bias": 0.5}', 1)["bias"]
    0.5
    """
    raw: dict[str, Any] = json.loads(text)
    if raw["format"] != format:
        raise ValueError(f"it is not of format {format}")
    return raw


def number(value: Any) -> float:
    """A finite number; `ValueError` for any other value.

    >>> number(2)
    2.0
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{str(value)[:20]!r} is no number")
    return float(value)

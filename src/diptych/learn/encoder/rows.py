"""Clean texts for sentence encoders, and scale vectors to unit length."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MAX_CHARACTERS = 2_000  # maximum length of a text: about ten sentences; limits time and memory


def clean(text: str) -> str:
    r"""Prepare a text for an encoder: truncate and strip it, and replace lone surrogates.

    >>> clean("  a \ud800 b  "), len(clean("word " * 1000))
    ('a ? b', 1999)
    """
    text = text[:MAX_CHARACTERS].strip()
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scale each row to unit length; rows of zeros stay unchanged."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)

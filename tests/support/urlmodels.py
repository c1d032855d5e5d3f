"""Fakes of the two URL models, which look for a directory named after a language."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class FakeLanguages:
    """`/fr/` is French with 0.8; without such a mark a URL's language is not known."""

    labels = ("de", "en", "fr", "und")

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def probabilities(self, urls: Sequence[str]) -> NDArray[np.float32]:
        """One row per URL."""
        self.asked.append(list(urls))
        rows = np.zeros((len(urls), len(self.labels)), np.float32)
        for row, url in zip(rows, urls, strict=True):
            named = [place for place, lang in enumerate(self.labels) if f"/{lang}/" in url]
            row[named[0] if named else 3] = 0.8
            row[0] += 0.2
        return rows


class FakePairs:
    """0.9 for two URLs that are the same but for `/en/` and `/fr/`, else 0.1."""

    def probabilities(self, lefts: Sequence[str], rights: Sequence[str]) -> NDArray[np.float32]:
        """One probability per pair."""
        return np.array(
            [
                0.9 if left != right and left.replace("/en/", "/fr/") == right else 0.1
                for left, right in zip(lefts, rights, strict=True)
            ],
            np.float32,
        )

"""Values as the database holds them: as text."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

import orjson

from diptych.types import LangScore, Link

__all__ = ["read_scores", "whole", "write_links", "write_scores"]


def whole(text: str) -> str:
    """The text without halves of characters, which neither SQLite nor JSON can hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def write_links(links: Iterable[Link]) -> str:
    """Links as JSON."""
    rows = [tuple(link) for link in links]
    try:
        return orjson.dumps(rows).decode()
    except TypeError:  # half characters in one of them
        return orjson.dumps([[whole(text) for text in row] for row in rows]).decode()


def write_scores(scores: Iterable[LangScore]) -> str:
    """Scores as `en:0.998 fr:0.002`."""
    return " ".join(f"{lang}:{score:.3f}" for lang, score in scores)


def read_scores(text: str) -> tuple[LangScore, ...]:
    """What `write_scores` wrote."""
    scores = []
    for item in text.split():
        lang, _, score = item.partition(":")
        with suppress(ValueError):
            scores.append(LangScore(lang, float(score)))
    return tuple(scores)

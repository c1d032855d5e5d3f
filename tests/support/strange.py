"""Text in a language that nobody speaks, and that no identifier knows: French, letters changed."""

from __future__ import annotations

from support.bilingual import documents

_ROTATED = str.maketrans("aeioubcdfglmnprstv", "uoaeidgtpkrnlmvzbs")


def strange(text: str) -> str:
    """The text in that language."""
    return text.lower().translate(_ROTATED)


def lines() -> list[str]:
    """Sentences in it, some five hundred."""
    return [
        strange(sentence)
        for document in documents()
        for paragraph in document.fr
        for sentence in paragraph.split(". ")
        if len(sentence) > 40
    ]

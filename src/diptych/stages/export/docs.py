"""Documents: a line for each page pair, with all blocks of both pages and which of them correspond.

Blocks without a counterpart are included, in their place: for training on whole pages, or to align
them again.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, ClassVar

import orjson

from diptych.protocols import Corpus, Files
from diptych.stages.export.shared.columns import (
    iso_time,
    rounded,
    with_surrogates_replaced,
    write_rows,
)
from diptych.units import DocumentPair, Piece, Text

ID_BYTES = 10  # as of a unit


@dataclass(frozen=True, slots=True)
class Docs:
    """A line of JSON for each page pair; all lines have the same fields."""

    suffix: ClassVar[str] = "docs.jsonl"

    def write(self, corpus: Corpus, files: Files) -> int:
        """All documents, in the order given."""
        return write_rows(map(_row, corpus.documents()), files(self.suffix))


def document_id(document: DocumentPair) -> str:
    """A name that the same pages with the same content have in every run.

    It is a hash of the languages, URLs and digests of both.
    """
    named = [(text.lang, text.url, text.digest) for text in (document.left, document.right)]
    return blake2b(orjson.dumps(with_surrogates_replaced(named)), digest_size=ID_BYTES).hexdigest()


def _row(document: DocumentPair) -> dict[str, Any]:
    return {
        "id": document_id(document),
        "left": _page(document.left),
        "right": _page(document.right),
        "verified": rounded(document.verified),
        "evidence": document.evidence,
        "flags": " ".join(document.flags),
        "segments": [_segment(piece) for piece in document.pieces],
        "run": document.run,
    }


def _page(text: Text) -> dict[str, Any]:
    return {
        "lang": text.lang,
        "url": text.url,
        "title": text.title,
        "fetched": iso_time(text.fetched_at),
        "digest": text.digest,
        "warc": text.warc,
        "offset": text.offset,
        "blocks": [{"path": block.path, "text": block.text} for block in text.blocks],
    }


def _segment(piece: Piece) -> dict[str, Any]:
    return {
        "left": piece.left,
        "right": piece.right,
        "score": rounded(piece.score),
        "accept": piece.accept,
        "reason": piece.reason,
    }

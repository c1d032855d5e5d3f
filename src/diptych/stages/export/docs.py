"""Documents: one line per page pair, with all blocks of both pages and their alignment.

Blocks are in reading order, with their kinds, and include those without a counterpart, so that the
output is suitable for training on whole pages and for aligning the pages again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from typing import Any, ClassVar

import orjson

from diptych.page.markdown import markdown
from diptych.page.outline import Place, places
from diptych.protocols import Corpus, Files
from diptych.stages.export.shared.columns import (
    iso_time,
    rounded,
    with_surrogates_replaced,
    write_rows,
)
from diptych.types import Block
from diptych.units import DocumentPair, Piece, Text

ID_BYTES = 10  # same as for a unit


@dataclass(frozen=True, slots=True)
class Docs:
    """Writes one line of JSON per page pair, with all blocks of both pages and their alignment."""

    suffix: ClassVar[str] = "docs.jsonl"
    markdown: bool = False
    """True to add the text of each page as Markdown"""

    def write(self, corpus: Corpus, files: Files) -> int:
        """Write all documents in corpus order, and return the number of documents."""
        row_of = partial(_row, with_text=self.markdown)
        return write_rows(map(row_of, corpus.documents()), files(self.suffix))


def document_id(document: DocumentPair) -> str:
    """The id of a page pair, which is the same in every run that finds the same pages and content.

    The id is a hash of the languages, URLs and digests of both pages.
    """
    named = [(text.lang, text.url, text.digest) for text in (document.left, document.right)]
    return blake2b(orjson.dumps(with_surrogates_replaced(named)), digest_size=ID_BYTES).hexdigest()


def _row(document: DocumentPair, *, with_text: bool) -> dict[str, Any]:
    return {
        "id": document_id(document),
        "left": _page(document.left, with_text=with_text),
        "right": _page(document.right, with_text=with_text),
        "verified": rounded(document.verified),
        "evidence": document.evidence,
        "flags": " ".join(document.flags),
        "segments": [_segment(piece) for piece in document.pieces],
        "run": document.run,
    }


def _page(text: Text, *, with_text: bool) -> dict[str, Any]:
    return {
        "lang": text.lang,
        "url": text.url,
        "title": text.title,
        "fetched": iso_time(text.fetched_at),
        "digest": text.digest,
        "warc": text.warc,
        "offset": text.offset,
        "blocks": [
            _block(block, place)
            for block, place in zip(text.blocks, places(text.blocks), strict=True)
        ],
        **({"text": markdown(text.blocks)} if with_text else {}),
    }


def _block(block: Block, place: Place) -> dict[str, Any]:
    return {
        "path": block.path,
        "text": block.text,
        "kind": place.kind,
        "level": place.level,
        "number": place.number,
        "row": place.row,
        "column": place.column,
        "region": place.region,
    }


def _segment(piece: Piece) -> dict[str, Any]:
    return {
        "left": piece.left,
        "right": piece.right,
        "score": rounded(piece.score),
        "accept": piece.accept,
        "reason": piece.reason,
    }

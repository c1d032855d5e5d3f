"""Encode and decode links, scores, evidence, sketches, snapshots and crawl events."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import AbstractContextManager, suppress
from itertools import starmap
from typing import Any

import orjson
from isal import isal_zlib

from diptych.files import reading
from diptych.page.template import Blocks, EncodedPage
from diptych.types import (
    CrawlEvent,
    Decision,
    Evidence,
    LangScore,
    Link,
    Missing,
    Moved,
    Page,
    PagePair,
    PairingResult,
    Sketch,
    VerifiedPair,
)

MAX_SNAPSHOT = 1 << 27  # bytes, uncompressed; a snapshot of 300,000 URLs has about 60 MB


def decoding(what: str) -> AbstractContextManager[None]:
    """Context manager that turns decoding errors into a database error that names `what`."""
    return reading(what, error=sqlite3.DatabaseError)


def valid_text(text: str) -> str:
    """Replace lone surrogates in a text, because neither SQLite nor JSON can store them."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _escaped(word: str) -> str:
    """Escape lone surrogates in a word, so that different words stay different."""
    return word if word.isascii() else word.encode("utf-8", "backslashreplace").decode()


def write_links(links: Iterable[Link]) -> str:
    """Encode links as JSON."""
    rows = [tuple(link) for link in links]
    try:
        return orjson.dumps(rows).decode()
    except TypeError:  # a lone surrogate in one of them
        return orjson.dumps([[valid_text(text) for text in row] for row in rows]).decode()


def read_links(text: str) -> list[Link]:
    """Decode links from the JSON that `write_links` returns."""
    with decoding("the links of a page"):
        return list(starmap(Link, orjson.loads(text)))


def write_scores(scores: Iterable[LangScore | Evidence]) -> str:
    """Encode language scores or evidence as `en:0.998 fr:0.002`."""
    return " ".join(f"{name}:{score:.3f}" for name, score in scores)


def read_scores(text: str) -> tuple[LangScore, ...]:
    """Decode language scores from a string that `write_scores` returns."""
    scores = []
    for item in text.split():
        lang, _, score = item.partition(":")
        with suppress(ValueError):
            scores.append(LangScore(lang, float(score)))
    return tuple(scores)


def read_evidence(text: str) -> tuple[Evidence, ...]:
    """Decode evidence from a string that `write_scores` returns."""
    with decoding("the evidence of a pair"):
        items = (item.rpartition(":") for item in text.split())
        return tuple(Evidence(name, float(score)) for name, _, score in items)


def encode_page(page: Page) -> EncodedPage:
    """Encode the links and the sketch of a page."""
    known: EncodedPage | None = page.encoded
    if known is not None:
        return known
    sketch = page.sketch
    data, blocks = (b"", ()) if sketch is None else (write_sketch(sketch), sketch.blocks)
    return EncodedPage(write_links(page.links), data, blocks)


def write_sketch(sketch: Sketch) -> bytes:
    """Encode a sketch as compressed JSON."""
    words, files = list(sketch.bag), list(sketch.files)
    try:
        text = _sketch_text(sketch, words, files)
    except TypeError:  # a lone surrogate in one of them
        words, files = list(map(_escaped, words)), list(map(valid_text, files))
        text = _sketch_text(sketch, words, files)
    data: bytes = isal_zlib.compress(text, 1)
    return data


def _sketch_text(sketch: Sketch, words: list[str], files: list[str]) -> bytes:
    shares = [tuple(share) for share in sketch.shares]
    return orjson.dumps([
        sketch.tags, sketch.words, words, [*sketch.bag.values()], files, sketch.blocks,
        sketch.block_words, shares,
    ])  # fmt: skip


def read_sketch(data: bytes) -> Sketch:
    """Decode a sketch from the bytes that `write_sketch` returns."""
    with decoding("the sketch of a page"):
        tags, words, stems, counts, files, blocks, block_words, shares = _unpacked(data)
        return Sketch(
            tags, words, dict(zip(stems, counts, strict=True)), tuple(files),
            tuple(map(tuple, blocks)), tuple(map(tuple, block_words)),
            tuple(LangScore(*share) for share in shares),
        )  # fmt: skip


def read_blocks(data: bytes) -> Blocks:
    """Decode only the blocks of a sketch from the bytes that `write_sketch` returns."""
    with decoding("the sketch of a page"):
        blocks = _unpacked(data)[5]
        return [(int(hash), float(length)) for hash, length in blocks]


def write_snapshot(data: object) -> bytes | None:
    """Encode plain data as compressed JSON; None if it exceeds `MAX_SNAPSHOT`."""
    try:
        text = orjson.dumps(data)
    except TypeError:  # a lone surrogate in one of the texts
        text = orjson.dumps(_without_half_characters(data))
    if len(text) > MAX_SNAPSHOT:
        return None
    packed: bytes = isal_zlib.compress(text, 1)
    return packed


def _without_half_characters(data: Any) -> Any:
    if isinstance(data, str):
        return _escaped(data)
    if isinstance(data, dict):
        return {_escaped(key): _without_half_characters(value) for key, value in data.items()}
    return [_without_half_characters(each) for each in data] if isinstance(data, list) else data


def read_snapshot(data: bytes) -> Any:
    """Decode plain data from the bytes that `write_snapshot` returns."""
    with decoding("a snapshot"):
        return _unpacked(data)


def _unpacked(data: bytes) -> Any:
    """Decode compressed JSON; longer data is truncated, and is then not valid JSON."""
    return orjson.loads(isal_zlib.decompressobj().decompress(data, MAX_SNAPSHOT))


_EVENT_NAMES = {Missing: "missing", Moved: "moved", VerifiedPair: "found", PairingResult: "settled"}
"""the name of each event type in the journal"""


def write_event(event: CrawlEvent) -> tuple[str, str]:
    """Encode a crawl event as (name in the journal, JSON data)."""
    row: list[object] | None
    match event:
        case Missing():
            row = [event.url, event.reason]
        case Moved():
            row = [event.url, event.target]
        case VerifiedPair():
            decision = event.decision
            row = [write_pair(event.pair), decision.accept, decision.score, decision.reason]
            row.append(event.links)
        case PairingResult():
            row = None if event.pairs is None else [write_pair(pair) for pair in event.pairs]
    return _EVENT_NAMES[type(event)], orjson.dumps(row).decode()


def read_event(name: str, data: str) -> CrawlEvent:
    """Decode a crawl event from the name and JSON data that `write_event` returns."""
    with decoding("a crawl event"):
        row = orjson.loads(data)
        if name == "missing":
            return Missing(*_texts(row))
        if name == "moved":
            return Moved(*_texts(row))
        if name == "found":
            pair, accept, score, reason, links = row
            decision = Decision(bool(accept), float(score), *_texts([reason]))
            return VerifiedPair(read_pair(pair), decision, tuple(tuple(_texts(e)) for e in links))
        if name != "settled":
            raise ValueError(f"unknown event {name!r}")
        return PairingResult(None if row is None else tuple(read_pair(pair) for pair in row))


def write_pair(pair: PagePair) -> list[object]:
    """Encode a page pair as plain data, without the scores of its features."""
    return [
        pair.left, pair.right, pair.left_lang, pair.right_lang, pair.score, pair.evidence
    ]  # fmt: skip


def read_pair(row: Any) -> PagePair:
    """Decode a page pair from the data that `write_pair` returns."""
    left, right, left_lang, right_lang, score, evidence = row
    _texts([left, right, left_lang, right_lang, evidence])
    return PagePair(left, right, left_lang, right_lang, float(score), evidence)


def _texts(values: list[Any]) -> list[Any]:
    if not all(isinstance(value, str) for value in values):
        raise ValueError("not a string")
    return values

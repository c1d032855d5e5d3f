"""Encode and decode links, scores, evidence, sketches and crawl events for the database."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import AbstractContextManager, suppress

import orjson
from isal import isal_zlib

from diptych.files import reading
from diptych.types import (
    CrawlEvent,
    Decision,
    Evidence,
    LangScore,
    Link,
    Missing,
    Moved,
    PagePair,
    PairingResult,
    Sketch,
    VerifiedPair,
)


def decoding(what: str) -> AbstractContextManager[None]:
    """Make values that the database cannot have been given an error of the database."""
    return reading(what, error=sqlite3.DatabaseError)


def valid_text(text: str) -> str:
    """Replace lone surrogates in a text, which neither SQLite nor JSON can store."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _escaped(word: str) -> str:
    """Escape lone surrogates in a word, so that different words stay different."""
    return word if word.isascii() else word.encode("utf-8", "backslashreplace").decode()


def write_links(links: Iterable[Link]) -> str:
    """Links as JSON."""
    rows = [tuple(link) for link in links]
    try:
        return orjson.dumps(rows).decode()
    except TypeError:  # half characters in one of them
        return orjson.dumps([[valid_text(text) for text in row] for row in rows]).decode()


def read_links(text: str) -> list[Link]:
    """Decode the JSON of `write_links`."""
    with decoding("the links of a page"):
        return [Link(*link) for link in orjson.loads(text)]


def write_scores(scores: Iterable[LangScore | Evidence]) -> str:
    """Scores of languages or evidence as `en:0.998 fr:0.002`."""
    return " ".join(f"{name}:{score:.3f}" for name, score in scores)


def read_scores(text: str) -> tuple[LangScore, ...]:
    """Parse the text of `write_scores`."""
    scores = []
    for item in text.split():
        lang, _, score = item.partition(":")
        with suppress(ValueError):
            scores.append(LangScore(lang, float(score)))
    return tuple(scores)


def read_evidence(text: str) -> tuple[Evidence, ...]:
    """Parse evidence in the text of `write_scores`."""
    with decoding("the evidence of a pair"):
        items = (item.rpartition(":") for item in text.split())
        return tuple(Evidence(name, float(score)) for name, _, score in items)


def write_sketch(sketch: Sketch) -> bytes:
    """A sketch as compressed JSON."""
    row = [
        sketch.tags, sketch.words, [_escaped(word) for word in sketch.bag], [*sketch.bag.values()],
        [valid_text(name) for name in sketch.files], sketch.blocks, sketch.block_words,
        [tuple(share) for share in sketch.shares],
    ]  # fmt: skip
    data: bytes = isal_zlib.compress(orjson.dumps(row), 1)
    return data


def read_sketch(data: bytes) -> Sketch:
    """Decode the bytes of `write_sketch`."""
    with decoding("the sketch of a page"):
        tags, words, stems, counts, files, blocks, block_words, shares = orjson.loads(
            isal_zlib.decompress(data)
        )
        return Sketch(
            tags, words, dict(zip(stems, counts, strict=True)), tuple(files),
            tuple(map(tuple, blocks)), tuple(map(tuple, block_words)),
            tuple(LangScore(*share) for share in shares),
        )  # fmt: skip


_EVENT_NAMES = {Missing: "missing", Moved: "moved", VerifiedPair: "found", PairingResult: "settled"}
"""names of events in the table `events`; run folders of earlier versions have them too"""


def write_event(event: CrawlEvent) -> tuple[str, str]:
    """Encode a crawl event as its name and JSON."""
    row: list[object]
    match event:
        case Missing():
            row = [event.url, event.reason]
        case Moved():
            row = [event.url, event.target]
        case VerifiedPair():
            decision = event.decision
            row = [_pair_row(event.pair), decision.accept, decision.score, decision.reason]
            row.append(event.links)
        case PairingResult():
            row = [_pair_row(pair) for pair in (event.pairs or ())]
    return _EVENT_NAMES[type(event)], orjson.dumps(row).decode()


def read_event(name: str, data: str) -> CrawlEvent:
    """Decode the name and JSON of `write_event`."""
    with decoding("an event of a crawl"):
        row = orjson.loads(data)
        if name == "missing":
            return Missing(*row)
        if name == "moved":
            return Moved(*row)
        if name == "found":
            pair, accept, score, reason, links = row
            return VerifiedPair(
                PagePair(*pair), Decision(accept, score, reason), tuple(map(tuple, links))
            )
        return PairingResult(tuple(PagePair(*pair) for pair in row))


def _pair_row(pair: PagePair) -> list[object]:
    return [
        pair.left, pair.right, pair.left_lang, pair.right_lang, pair.score, pair.evidence
    ]  # fmt: skip

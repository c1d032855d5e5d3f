"""Worker process that parses pages; started by `page_workers`, ended by the end of its input.

Frames on its standard input and output are a length and a pickle.  The parent is the only one that
writes to it, and both ends are this package: no data of a page is ever unpickled.
"""

from __future__ import annotations

import os
import pickle
import signal
import struct
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO

import orjson

from diptych.engine.garbage import collect_rarely
from diptych.language.identify import use_learned_languages
from diptych.page.answer import ReadAnswer, read_answer
from diptych.page.sitemaps import SitemapEntry
from diptych.run.warc import compose
from diptych.types import Kind, Link, Response, Url

FRAME = struct.Struct("<I")
READY = FRAME.pack(0)
_PART = 1000  # entries of a sitemap
_FIRST = Response(
    Url("http://example.org/"),
    200,
    (("Content-Type", "text/html"),),
    b"<p>A first page to warm up on, with a sentence that is long enough to tell its language.",
    0.0,
)


def digest(
    kind: Kind, response: Response, depth: int, langs: tuple[str, ...], with_sketch: bool = False
) -> tuple[ReadAnswer, bytes]:
    """Parse an answer, and compose its WARC record."""
    reading = read_answer(kind, response, depth=depth, langs=langs, with_sketch=with_sketch)
    return reading, compose(response)


def pack(reading: ReadAnswer, record: bytes) -> bytes:
    """A reading and its record for the way to the parent.

    Links go as JSON: unpickling a hundred named tuples takes longer than parsing the page.
    The entries of a sitemap go in parts, to be unpacked one by one: there may be 50,000.
    """
    links = b"[]"
    parts: tuple[bytes, ...] = ()
    if reading.page is not None:
        links = orjson.dumps(list(map(tuple, reading.page.links)))
        reading = reading._replace(page=replace(reading.page, links=()))
    if reading.sitemap is not None:
        entries = reading.sitemap.entries
        starts = range(0, len(entries), _PART)
        parts = tuple(pickle.dumps(entries[start : start + _PART]) for start in starts)
        reading = reading._replace(sitemap=replace(reading.sitemap, entries=()))
    return pickle.dumps((reading, links, parts, record), pickle.HIGHEST_PROTOCOL)


def unpack(frame: bytes) -> Iterator[tuple[ReadAnswer, bytes] | None]:
    """Undo `pack` in steps of a few milliseconds: None after each but the last."""
    reading: ReadAnswer
    reading, links, parts, record = pickle.loads(frame)
    if reading.page is not None:
        page = replace(reading.page, links=tuple(map(Link._make, orjson.loads(links))))
        reading = reading._replace(page=page)
    if reading.sitemap is not None:
        entries: list[SitemapEntry] = []
        for part in parts:
            entries.extend(pickle.loads(part))
            yield None
        reading = reading._replace(sitemap=replace(reading.sitemap, entries=tuple(entries)))
    yield reading, record


def main(source: BinaryIO, sink: BinaryIO) -> None:
    """Say when ready, then read frames and answer each in turn, until the input ends.

    The first frame has the languages that the parent was taught.
    """
    use_learned_languages(pickle.loads(_frame(source)))
    digest(Kind.PAGE, _FIRST, 0, (), True)  # loads what is loaded on first use
    sink.write(READY)
    sink.flush()
    while body := _frame(source):
        answer = pack(*digest(*pickle.loads(body)))
        sink.write(FRAME.pack(len(answer)) + answer)
        sink.flush()


def _frame(source: BinaryIO) -> bytes:
    """The next frame; nothing at the end of the input."""
    head = source.read(FRAME.size)
    return source.read(FRAME.unpack(head)[0]) if len(head) == FRAME.size else b""


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop
    collect_rarely()
    try:
        main(sys.stdin.buffer, sys.stdout.buffer)
    except BrokenPipeError:  # the parent was killed: there is nobody left to tell
        os._exit(0)

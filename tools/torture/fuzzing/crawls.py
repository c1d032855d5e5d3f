"""Targets: files of Common Crawl, and of web graphs as text."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import orjson
from conformance.test_damaged_files import answer, wat, written

from bench.support import columnar_files
from diptych.engine.ranges import Part
from diptych.errors import SourceError
from diptych.run.copied_records import Capture, CopiedRecord, copy_record
from diptych.run.warc import compose
from diptych.sources.cdx_index import (
    Filter,
    block_lines,
    capture_of,
    entries,
    index_line,
    key_ranges,
)
from diptych.sources.cdx_search import ClusterSearch
from diptych.sources.common_crawl import candidates
from diptych.sources.graph_index import index_graph
from diptych.sources.wat import page_links
from diptych.sources.web_graph import WebGraph
from diptych.text.digests import body_digest
from diptych.types import Url
from tools.torture.fuzzing.target import Made, Maker, Target, of_file

_FIELDS = {
    "url": "http://a.org/fr/", "mime": "text/html", "mime-detected": "text/html", "status": "200",
    "digest": "A" * 32, "length": "1000", "offset": "2000", "languages": "fra,eng",
    "filename": "crawl-data/CC-MAIN-2026-30/segments/1.1/warc/CC-MAIN-1-2-00000.warc.gz",
}  # fmt: skip
_LINE = b"org,a)/fr 20260920103059 " + orjson.dumps(_FIELDS)


def index_lines(folder: Path) -> Target:
    """The lines of a block of the URL index, whose captures are put into a database."""
    chosen = Filter({"fra": "fr", "eng": "en"}, lambda url: "a.org")
    ranges = key_ranges("http://a.org/", "site")

    def read(data: bytes) -> None:
        for fields in entries(block_lines(gzip.compress(data, 1)), ranges):
            _, capture = capture_of(fields, chosen)
            if isinstance(capture, Capture):
                assert ".." not in capture.file
                assert capture.offset in range(1 << 63)
                assert capture.length in range(1, 1 << 63)

    return Target(read, [_LINE, b"\n".join([_LINE, b"org,b)/ 2 {}", _LINE])])


def blocks(folder: Path) -> Target:
    """A block of the URL index as it is stored."""

    def read(data: bytes) -> None:
        list(block_lines(data))

    return Target(read, [gzip.compress(_LINE, mtime=0)], (ValueError,))


def clusters(folder: Path) -> Target:
    """The sorted list of blocks, in which a site is searched."""
    lines = (b"org,%c)/ 2026\tcdx-0000%d.gz\t%d\t200\t%d" % (97 + n, n, n, n) for n in range(9))
    seed = b"\n".join(lines) + b"\n"

    def read(data: bytes) -> None:
        def part(wanted: Part) -> bytes:
            assert 0 <= wanted.start < wanted.end <= len(data)
            return data[wanted.start : wanted.end]

        for line in data.split(b"\n"):
            index_line(line)
        for found in ClusterSearch("cluster.idx", len(data), part).blocks(
            key_ranges("http://e.org/", "site")
        ):
            assert "/" not in found.file

    return Target(read, [seed], (SourceError,))


def copied_records(folder: Path) -> Target:
    """A record of an archive, before its compression."""
    response = answer(1)
    digest = body_digest(response.body).removeprefix("sha1:")
    capture = Capture(response.url, "20260920103059", "fr", digest, "a.warc.gz", 0, 100)

    def read(data: bytes) -> None:
        found = copy_record(gzip.compress(data, 1), capture, "http://c.org/a.warc.gz")
        assert not isinstance(found, CopiedRecord) or found.response.body == response.body

    return Target(read, [gzip.decompress(compose(response))])


def wat_records(folder: Path) -> Target:
    """The JSON of a page in a WAT file."""
    text = gzip.decompress(wat(folder)).partition(b"\r\n\r\n")[2].partition(b"\r\n")[0]

    def read(data: bytes) -> None:
        with suppress(ValueError):
            page_links(orjson.loads(data))

    return Target(read, [text])


def columnar(folder: Path) -> Made:
    """A Parquet file of the columnar index."""
    rows = [
        columnar_files.row(f"https://a.org/{code}/{n}.html", code, {})
        for code in ("eng", "fra") for n in range(5)
    ]  # fmt: skip
    path = folder / "part-00000.gz.parquet"
    columnar_files.write(path, rows)
    return path, lambda: list(candidates([str(path)], ["en", "fr"], at_least=4))


def _graph(name: str) -> Callable[[Path], Made]:
    def make(folder: Path) -> Made:
        files = {
            "v": b"".join(b"%d\torg.s%d\n" % (n, n) for n in range(9)),
            "e": b"".join(b"%d\t%d\n" % (n, n * 2 % 9) for n in range(1, 9)),
        }
        vertices, edges = (written(folder, each, content) for each, content in files.items())

        def read() -> None:
            for stale in folder.glob("graph/*"):
                stale.unlink()
            index_graph([str(vertices)], [str(edges)], folder / "graph")
            WebGraph.open(folder / "graph").back_links(Url("http://s2.org/"), 5)

        return folder / name, read

    return make


TARGETS: dict[str, Maker] = {
    "lines of the URL index": index_lines,
    "blocks of the URL index": blocks,
    "cluster.idx": clusters,
    "copied records": copied_records,
    "JSON of WAT": wat_records,
    "columnar index": of_file(columnar),
    "vertices": of_file(_graph("v")),
    "edges": of_file(_graph("e")),
}

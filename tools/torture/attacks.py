"""Bombs: small bodies, archives and models that unpack to gigabytes, and the memory they take."""

from __future__ import annotations

import gzip
import io
import tempfile
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZIP_DEFLATED, ZipFile

import brotli
import zstandard

from diptych.errors import DiptychError
from diptych.files import reading
from diptych.learn.arrays import read_arrays
from diptych.page.answer import read_answer
from diptych.run.scan import scan
from diptych.types import Kind, Response, Url
from tools.torture.results import keep

UNPACKED = 1_000_000_000  # bytes
MOST = 400_000_000  # bytes of memory that an attack may take
_PIECE = bytes(1_000_000)
_URL = Url("http://example.org/")


class Bomb(NamedTuple):
    """An attack, its bytes, and the function that reads them."""

    name: str
    data: bytes
    read: Callable[[bytes], object]


def main() -> None:
    """Read each bomb, and fail if one takes too much memory."""
    rows = [_row(bomb) for bomb in _bombs()]
    keep("attacks", rows)
    failed = [row["attack"] for row in rows if row["peak memory, MB"] * 1e6 > MOST]
    raise SystemExit(f"too much memory: {', '.join(failed)}" if failed else 0)


def _row(bomb: Bomb) -> dict[str, Any]:
    tracemalloc.start()
    outcome = "cut at the limit"
    try:
        bomb.read(bomb.data)
    except DiptychError as error:
        outcome = f"refused: {str(error).rpartition(': ')[2]}"
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return {
        "attack": bomb.name,
        "size, kB": round(len(bomb.data) / 1e3, 1),
        "unpacked, MB": UNPACKED // 10**6,
        "peak memory, MB": round(peak / 1e6),
        "outcome": outcome,
    }


def _bombs() -> Iterator[Bomb]:
    encoded = {
        "gzip": _gzipped(),
        "deflate": _deflated(),
        "br": brotli.compress(bytes(UNPACKED)),
        "zstd": zstandard.compress(bytes(UNPACKED)),
    }
    encoded["gzip, br"] = brotli.compress(encoded["gzip"])
    encoded["br, zstd"] = zstandard.compress(encoded["br"])
    for name, data in encoded.items():
        yield Bomb(f"page in {name}", data, _answer(Kind.PAGE, name))
    yield Bomb("sitemap in gzip", encoded["gzip"], _answer(Kind.SITEMAP, ""))
    yield Bomb("robots.txt in br", encoded["br"], _answer(Kind.ROBOTS, "br"))
    yield Bomb("record of an archive", _record(), _scanned)
    yield Bomb("model (.npz)", _model(), _model_read)


def _gzipped() -> bytes:
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", mtime=0) as file:
        for _ in range(UNPACKED // len(_PIECE)):
            file.write(_PIECE)
    return out.getvalue()


def _deflated() -> bytes:
    stream = zlib.compressobj()
    parts = [stream.compress(_PIECE) for _ in range(UNPACKED // len(_PIECE))]
    return b"".join([*parts, stream.flush()])


def _answer(kind: Kind, encoding: str) -> Callable[[bytes], object]:
    headers = (("Content-Type", "text/html"), ("Content-Encoding", encoding))
    return lambda data: read_answer(kind, Response(_URL, 200, headers, data, 0.0))


def _record() -> bytes:
    """A record of an archive whose page has a gigabyte."""
    head = (
        f"WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: {_URL}\r\n"
        f"Content-Type: text/html\r\nContent-Length: {UNPACKED}\r\n\r\n"
    )
    stream = zlib.compressobj(wbits=31)
    parts = [stream.compress(head.encode())]
    parts += [stream.compress(_PIECE) for _ in range(UNPACKED // len(_PIECE))]
    return b"".join([*parts, stream.compress(b"\r\n\r\n"), stream.flush()])


def _model() -> bytes:
    out = io.BytesIO()
    with ZipFile(out, "w", ZIP_DEFLATED) as archive, archive.open("a.npy", "w") as file:
        for _ in range(UNPACKED // len(_PIECE)):
            file.write(_PIECE)
    return out.getvalue()


def _scanned(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.warc.gz"
        path.write_bytes(data)
        for _ in scan(path):
            pass


def _model_read(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.npz"
        path.write_bytes(data)
        with reading(path, "model"):
            read_arrays(path, 1)


if __name__ == "__main__":
    main()

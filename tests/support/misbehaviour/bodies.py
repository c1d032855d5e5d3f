"""Servers whose bodies are not what they are said to be, or unfold beyond any limit."""

from __future__ import annotations

import gzip
import zlib
from functools import cache

import brotli
import zstandard

from support.misbehaviour.row import Misbehaviour
from support.serving import Answer, Reply, Request
from support.zoo import PNG, page

_UNFOLDED = 200_000_000  # bytes of a bomb, ten times as many as are read of a page
_ZEROS = bytes(1_000_000)


def _encoded(names: str, body: bytes) -> Reply:
    return Reply(body, headers=(("Content-Encoding", names),))


@cache
def _gzip_bomb() -> bytes:
    return gzip.compress(b"<title>Bomb</title><p>", 1) + gzip.compress(_ZEROS) * 200


@cache
def _deflate_bomb() -> bytes:
    stream = zlib.compressobj()
    return b"".join(stream.compress(_ZEROS) for _ in range(200)) + stream.flush()


@cache
def _brotli_bomb() -> bytes:
    stream = brotli.Compressor(quality=1)
    return b"".join(stream.process(_ZEROS) for _ in range(200)) + stream.finish()


@cache
def _zstd_bomb() -> bytes:
    stream = zstandard.ZstdCompressor().compressobj()
    return b"".join(stream.compress(_ZEROS) for _ in range(200)) + stream.flush()


def _sitemap_bomb(_: Request) -> Answer:
    head = gzip.compress(b"<urlset><url><loc>{origin}/after</loc></url>")
    return Reply(head + _gzip_bomb(), type="application/gzip")


_TEXT = page("Encoded").encode()
_FRENCH = page("Été", lang="fr")
_MIXED = _FRENCH.replace("</p>", "</p>@").encode().replace(b"@", "<p>Déjà vu.</p>".encode("cp1252"))

BOMBS = (
    Misbehaviour(
        "Gzip bomb", "sends 200 kB of gzip that unfold to 200 MB",
        {"/bad": lambda _: _encoded("gzip", _gzip_bomb())}, {"/bad": "too_large"},
    ),
    Misbehaviour(
        "Deflate bomb", "sends 200 kB of deflate that unfold to 200 MB",
        {"/bad": lambda _: _encoded("deflate", _deflate_bomb())}, {"/bad": "too_large"},
    ),
    Misbehaviour(
        "Brotli bomb", "sends less than 1 kB of brotli that unfolds to 200 MB",
        {"/bad": lambda _: _encoded("br", _brotli_bomb())}, {"/bad": "too_large"},
    ),
    Misbehaviour(
        "Zstandard bomb", "sends 20 kB of Zstandard that unfold to 200 MB",
        {"/bad": lambda _: _encoded("zstd", _zstd_bomb())}, {"/bad": "too_large"},
    ),
    Misbehaviour(
        "Nested bomb", "sends a gzip bomb in gzip",
        {"/bad": lambda _: _encoded("gzip, gzip", gzip.compress(_gzip_bomb()))},
        {"/bad": "too_large"},
    ),
    Misbehaviour(
        "Bomb in brotli", "sends a gzip bomb in brotli",
        {"/bad": lambda _: _encoded("gzip, br", brotli.compress(_gzip_bomb(), quality=1))},
        {"/bad": "too_large"},
    ),
    Misbehaviour(
        "Five encodings", "compresses a page five times",
        {"/bad": lambda _: _encoded("gzip" + ", gzip" * 4, _five_times())},
        {"/bad": "content_type"},
    ),
    Misbehaviour(
        "Robots bomb", "sends a robots.txt that unfolds to 200 MB",
        {"/robots.txt": lambda _: _encoded("gzip", _gzip_bomb())}, {},
    ),
    Misbehaviour(
        "Sitemap bomb", "sends a sitemap that unfolds to 200 MB",
        {"/sitemap.xml": _sitemap_bomb}, {"/sitemap.xml": "fetched"},
    ),
)  # fmt: skip


def _five_times() -> bytes:
    body = _TEXT
    for _ in range(5):
        body = gzip.compress(body)
    return body


LIES = (
    Misbehaviour(
        "Not gzip", "says gzip and sends plain text",
        {"/bad": _encoded("gzip", _TEXT)}, {"/bad": "page"},
    ),
    Misbehaviour(
        "Broken gzip", "sends a page in gzip without its last bytes",
        {"/bad": _encoded("gzip", gzip.compress(_TEXT)[:-20])}, {"/bad": "page"},
    ),
    Misbehaviour(
        "Raw deflate", "says deflate and leaves out the head of zlib",
        {"/bad": _encoded("deflate", zlib.compress(_TEXT)[2:-4])}, {"/bad": "page"},
    ),
    Misbehaviour(
        "Hidden gzip", "sends gzip without saying so",
        {"/bad": Reply(gzip.compress(_TEXT))}, {"/bad": "content_type"},
    ),
    Misbehaviour(
        "Unknown encoding", "names an encoding that is none, and sends plain text",
        {"/bad": _encoded("sdch", _TEXT)}, {"/bad": "page"},
    ),
    Misbehaviour(
        "Wrong charset", "says UTF-8 and sends windows-1252",
        {"/bad": Reply(_FRENCH.encode("cp1252"))}, {"/bad": "page"},
    ),
    Misbehaviour(
        "Mixed charsets", "sends one page in UTF-8 and windows-1252",
        {"/bad": Reply(_MIXED)}, {"/bad": "page"},
    ),
    Misbehaviour(
        "Unknown charset", "names a charset that is none",
        {"/bad": Reply(_FRENCH.encode(), type="text/html; charset=klingon")}, {"/bad": "page"},
    ),
    Misbehaviour(
        "UTF-16 without a mark", "sends UTF-16 and says UTF-8",
        {"/bad": Reply(_FRENCH.encode("utf-16-le"))}, {"/bad": "page"},
    ),
    Misbehaviour(
        "Picture as a page", "says text/html and sends a picture",
        {"/bad": Reply(PNG)}, {"/bad": "content_type"},
    ),
    Misbehaviour(
        "Page as a picture", "says image/png and sends a page",
        {"/bad": Reply(_TEXT, type="image/png")}, {"/bad": "content_type"},
    ),
    Misbehaviour(
        "Program as a page", "says text/html and sends a program",
        {"/bad": Reply(b"\x7fELF" + bytes(range(256)) * 40)}, {"/bad": "content_type"},
    ),
    Misbehaviour(
        "Empty page", "answers 200 with an empty body", {"/bad": Reply("")}, {"/bad": "empty"},
    ),
    Misbehaviour(
        "No content", "answers 204", {"/bad": Reply("", 204)}, {"/bad": "http_204"},
    ),
)  # fmt: skip

ROWS = (*BOMBS, *LIES)

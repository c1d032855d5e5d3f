from __future__ import annotations

import gzip
import tracemalloc
import zlib

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from support.timing import processor_seconds

from diptych.page.body import decompress, is_html

TEXT = b"Le chat dort, la souris danse. " * 200


def raw_deflate(data: bytes) -> bytes:
    squeezer = zlib.compressobj(wbits=-15)
    return squeezer.compress(data) + squeezer.flush()


ENCODERS = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.ZstdCompressor().compress,
}


@pytest.mark.parametrize("name", ENCODERS)
def test_every_encoding_of_the_web_is_undone(name: str) -> None:
    assert decompress(ENCODERS[name](TEXT), name) == (TEXT, "")
    assert decompress(ENCODERS[name](TEXT), f" {name.upper()} ") == (TEXT, "")


def test_deflate_without_its_header_is_read_too() -> None:
    assert decompress(raw_deflate(TEXT), "deflate") == (TEXT, "")


def test_zstandard_frames_without_their_size_are_read() -> None:
    squeezer = zstandard.ZstdCompressor().compressobj()
    body = squeezer.compress(TEXT) + squeezer.flush()
    assert decompress(body, "zstd") == (TEXT, "")


def test_several_encodings_are_undone_last_one_first() -> None:
    assert decompress(brotli.compress(gzip.compress(TEXT)), "gzip, br") == (TEXT, "")


def test_several_gzip_members_are_one_body() -> None:
    assert decompress(gzip.compress(b"one ") + gzip.compress(b"two"), "gzip") == (b"one two", "")


def test_garbage_after_the_last_gzip_member_is_ignored() -> None:
    assert decompress(gzip.compress(TEXT) + b"\0\0\0", "gzip") == (TEXT, "")


@pytest.mark.parametrize("name", ENCODERS)
def test_a_body_without_the_declared_encoding_is_returned_unchanged(name: str) -> None:
    body = b"<html><body>Not compressed at all</body></html>"
    assert decompress(body, name) == (body, "encoding_lies")


@pytest.mark.parametrize("name", ENCODERS)
def test_a_truncated_body_gives_the_decoded_part(name: str) -> None:
    text = bytes(range(256)) * 800  # does not shrink to nothing, so that there is a middle
    noisy = b"".join(zlib.compress(text[i:]) for i in range(0, 3000, 7))
    whole = ENCODERS[name](noisy)
    data, fault = decompress(whole[: len(whole) // 2], name)
    assert fault == "truncated"
    assert data
    assert noisy.startswith(data)


def test_a_damaged_gzip_body_gives_the_part_before_the_damage() -> None:
    noisy = b"".join(zlib.compress(bytes([i % 256]) * i) for i in range(1, 4000))
    body = bytearray(gzip.compress(noisy))
    body[len(body) // 2 : len(body) // 2 + 40] = b"\xff" * 40
    data, fault = decompress(bytes(body), "gzip")
    assert fault == "truncated"
    assert len(data) > len(noisy) // 10
    assert noisy[:1000] == data[:1000]


@pytest.mark.parametrize("name", ENCODERS)
def test_a_bomb_is_cut_at_the_limit(name: str) -> None:
    data, fault = decompress(ENCODERS[name](b"\0" * 30_000_000), name, limit=100_000)
    assert (len(data), fault) == (100_000, "too_large")


def zstd_bomb(blocks: int) -> bytes:
    """A frame of blocks that repeat one byte: 4 bytes each, and 128 kB when they are decoded."""
    frame_head = b"\x28\xb5\x2f\xfd\x00\x38"  # window of 128 kB, size unknown
    block = (131_072 << 3 | 1 << 1).to_bytes(3, "little") + b"a"
    last = (131_072 << 3 | 1 << 1 | 1).to_bytes(3, "little") + b"a"
    return frame_head + block * (blocks - 1) + last


BOMBS = {
    "br": brotli.compress(bytes(400_000_000)),
    "zstd": zstd_bomb(3_200),
    "gzip": gzip.compress(bytes(200_000_000), 1),
    "deflate": zlib.compress(bytes(200_000_000), 1),
}


@pytest.mark.parametrize(
    "names", [*BOMBS, "br, gzip", "gzip, br", "zstd, br", "br, br", "gzip, zstd, br"]
)
def test_memory_that_a_bomb_takes_is_bounded(names: str) -> None:
    first, *others = names.split(", ")
    body = BOMBS[first]
    for name in others:
        body = ENCODERS[name](body)
    tracemalloc.start()
    try:
        data, fault = decompress(body, names)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (len(data), fault) == (20_000_000, "too_large")
    assert peak < 100_000_000


def test_time_for_many_empty_gzip_members_grows_with_their_number_only() -> None:
    body = gzip.compress(b"") * 500_000 + gzip.compress(b"end")
    with processor_seconds():  # not if each copies all that follows
        assert decompress(body, "gzip") == (b"end", "")


def test_a_body_of_exactly_the_limit_is_whole() -> None:
    assert decompress(gzip.compress(b"x" * 1000), "gzip", limit=1000) == (b"x" * 1000, "")
    assert decompress(b"x" * 1000, "", limit=1000) == (b"x" * 1000, "")
    assert decompress(b"x" * 1001, "", limit=1000) == (b"x" * 1000, "too_large")


def test_an_unknown_encoding_is_a_fault_and_the_body_is_unchanged() -> None:
    assert decompress(b"abc", "compress") == (b"abc", "unknown_encoding")
    assert decompress(b"abc", "gzip, " * 20) == (b"abc", "unknown_encoding")


@pytest.mark.parametrize("name", ["", "identity", "none", " , "])
def test_no_encoding_changes_nothing(name: str) -> None:
    assert decompress(b"abc", name) == (b"abc", "")


def test_an_empty_body_is_empty_whatever_the_header_says() -> None:
    assert decompress(b"", "gzip") == (b"", "")


@given(st.binary(max_size=300), st.sampled_from([*ENCODERS, "", "x", "gzip, br"]))
def test_decompress_never_raises_and_keeps_the_limit(body: bytes, name: str) -> None:
    for start in (b"", b"\x1f\x8b\x08\x00", b"\x28\xb5\x2f\xfd", b"\x78\x9c"):
        data, _ = decompress(start + body, name, limit=200)
        assert len(data) <= 200


@given(st.binary(max_size=2000), st.sampled_from(sorted(ENCODERS)))
def test_decompress_undoes_compression(data: bytes, name: str) -> None:
    assert decompress(ENCODERS[name](data), name) == (data, "")


@pytest.mark.parametrize(
    ("content_type", "start", "expected"),
    [
        ("text/html", b"", True),
        ("TEXT/HTML;charset=x", b"anything", True),
        ("application/xhtml+xml", b"<?xml", True),
        ("text/html", b"%PDF-1.4", False),
        ("application/pdf", b"<html>", False),
        ("image/png", b"\x89PNG", False),
        ("", b"\n <!-- c -->\n<!DOCTYPE HTML PUBLIC>", True),
        ("", b"\xef\xbb\xbf<html>", True),
        ("text/plain", b"<p>Hello", True),
        ("text/plain", b"Hello <p>", False),
        ("application/xml", b'<?xml version="1.0"?><html xmlns="x">', True),
        ("application/xml", b'<?xml version="1.0"?><rss>', False),
    ],
)
def test_html_is_detected_by_type_or_content(
    content_type: str, start: bytes, expected: bool
) -> None:
    assert is_html(content_type, start) is expected

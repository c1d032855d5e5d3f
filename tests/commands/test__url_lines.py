"""URLs as lines: reading in bounded memory, and recognising invalid URLs."""

from __future__ import annotations

import gzip
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.commands import _url_lines as urllines
from diptych.commands._url_lines import (
    Line,
    Skipped,
    as_url,
    askable,
    batches,
    read_lines,
    split_lines,
)
from diptych.errors import ConfigError
from diptych.text.urls import normalise


def lines(data: bytes) -> list[Line]:
    return list(split_lines(io.BytesIO(data)))


def test_lines_keep_their_numbers_and_columns():
    assert lines(b"\xef\xbb\xbfa\tb\r\n\n  \t \nc\n\td") == [
        Line(1, ("a", "b")),
        Line(4, ("c",)),
        Line(5, ("", "d")),
    ]
    assert lines(b"") == []
    assert Line(1, (" a ", "b")).column(0) == "a"
    assert Line(1, ("a",)).column(1) == ""


def test_invalid_utf8_is_written_unchanged():
    (line,) = lines(b"\xff\xfe\n")
    out = io.BytesIO()
    urllines.write(out, [line.column(0)])
    assert out.getvalue() == b"\xff\xfe\n"


def test_endless_line_is_cut_and_the_next_one_is_read(monkeypatch):
    monkeypatch.setattr(urllines, "MAX_LINE", 10)
    assert lines(b"x" * 35 + b"\nnext\n" + b"y" * 10 + b"\nlast") == [
        Line(1, ("x" * 10,)),
        Line(2, ("next",)),
        Line(3, ("y" * 10,)),
        Line(4, ("last",)),
    ]


def test_batches_are_bounded_in_number_and_in_size(monkeypatch):
    monkeypatch.setattr(urllines, "BATCH_LINES", 3)
    monkeypatch.setattr(urllines, "BATCH_BYTES", 100)
    small = [Line(number, ("x",)) for number in range(7)]
    assert [len(batch) for batch in batches(iter(small))] == [3, 3, 1]
    large = [Line(number, ("x" * 60,)) for number in range(5)]
    assert [len(batch) for batch in batches(iter(large))] == [2, 2, 1]
    assert list(batches(iter([]))) == []


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("http://a.org/", "http://a.org/"),
        ("a.org/fr", "http://a.org/fr"),
        ("a.org:8080/x", "http://a.org:8080/x"),
        ("http://a.org/%zz", "http://a.org/%zz"),
        ("http://bücher.example/", "http://bücher.example/"),
        ("http://a.org/#!/fr", "http://a.org/#!/fr"),
        ("http://a.ir/می\u200cخواهم", "http://a.ir/می\u200cخواهم"),
        ("https://user@a.org/", ""),
        ("mailto:a@a.org", ""),
        ("data:text/html,a.b", ""),
        ("javascript:a.b()", ""),
        ("ftp://a.org/", ""),
        ("http://a.org/\0", ""),
        ("http://a.org/\udcff", ""),
        ("http://a.org/" + "x" * 1_000_000, ""),
        ("http://[::1/", ""),
        ("http://", ""),
        ("nonsense", ""),
        ("/fr/a.html", ""),
        ("", ""),
    ],
)
def test_models_receive_only_valid_urls(text, url):
    assert askable(text) == url
    assert as_url(text) == (normalise(url) if url else None)


@given(st.text())
def test_any_text_is_a_url_or_none(text):
    assert as_url(askable(text)) == as_url(text)


def test_skipped_lines_are_counted_and_the_first_named():
    skipped = Skipped()
    skipped.add(Line(3, ()))
    assert skipped.in_words("of no use") == "skipped 1 line of no use: line 3"
    for number in range(4, 2000):
        skipped.add(Line(number, ()))
    assert skipped.in_words("x") == "skipped 1,997 lines x: lines 3, 4, 5, 6, 7, ..."


def test_files_are_unpacked_by_their_name(tmp_path):
    plain, packed = tmp_path / "a.txt", tmp_path / "a.gz"
    plain.write_bytes(b"x\n")
    packed.write_bytes(gzip.compress(b"x\n"))
    assert list(read_lines(plain)) == list(read_lines(packed)) == [Line(1, ("x",))]


def test_unreadable_files_are_reported(tmp_path):
    broken = tmp_path / "broken.gz"
    broken.write_bytes(gzip.compress(bytes(range(256)) * 100)[:-20])
    for path in (tmp_path, tmp_path / "missing", broken):
        with pytest.raises(ConfigError, match="cannot read") as caught:
            list(read_lines(path))
        assert str(path) in str(caught.value)

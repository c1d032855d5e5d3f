"""Keys and lines of the URL index; whatever a line holds, nothing else is believed."""

from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.support.columnar_files import surt
from bench.support.crawl_files import CrawledPage, Record
from diptych.run.copied_records import Capture
from diptych.sources import cdx_index
from diptych.sources.cdx_index import (
    INVALID,
    NO_PAGE,
    OTHER_LANGUAGE,
    OUTSIDE,
    Filter,
    block_lines,
    capture_of,
    entries,
    index_line,
    is_inside,
    key_ranges,
)

FILE = "crawl-data/CC-MAIN-2026-40/segments/1789900000000.42/warc/CC-MAIN-1-2-00000.warc.gz"
GOOD = {
    "url": "https://a.example/en/", "mime": "text/html", "mime-detected": "text/html",
    "status": "200", "digest": "ZA6MPPJEFGZ53KWFSLWMF7NDO7RKOWR4", "length": "78501",
    "offset": "243658810", "filename": FILE, "charset": "UTF-8", "languages": "eng",
    "timestamp": "20260920103059",
}  # fmt: skip
CHOSEN = Filter({"eng": "en", "mlt": "mt"}, lambda url: "a.example" if "//a.ex" in url else None)


@pytest.mark.parametrize(
    ("site", "scope", "inside", "outside"),
    [
        (
            "https://example.org/", "site",
            ["http://example.org/", "https://www.example.org/A?b", "https://fr.example.org/x"],
            ["https://example.org.mt/", "https://example-shop.org/", "https://exam.org/",
             "https://example.com/", "https://examplea.org/"],
        ),
        (
            "https://fr.example.co.uk/", "site",
            ["https://example.co.uk/", "https://www2.example.co.uk/", "https://x.y.example.co.uk/"],
            ["https://other.co.uk/", "https://co.uk/"],
        ),
        (
            "https://fr.example.org/", "host",
            ["https://fr.example.org/a"], ["https://example.org/", "https://x.fr.example.org/"],
        ),
        ("http://192.168.1.254/", "site", ["http://192.168.1.254/info"], ["http://192.168.1.25/"]),
        (
            "http://example.org:8080/", "site",
            ["http://example.org:8080/a", "http://fr.example.org:8080/"], ["http://example.org/a"],
        ),
    ],
)  # fmt: skip
def test_the_keys_of_a_site_are_all_of_its_pages(site, scope, inside, outside):
    ranges = key_ranges(site, scope)
    assert [url for url in inside if not is_inside(surt(url).encode(), ranges)] == []
    assert [url for url in outside if is_inside(surt(url).encode(), ranges)] == []


def test_a_line_of_the_index_is_a_capture():
    page = CrawledPage("https://a.example/en/", b"<p>", "mlt,eng")
    line = Record(page, FILE, 12, 34).line()
    (fields,) = entries([line], key_ranges("https://a.example/", "site"))
    digest = Record(page, FILE, 0, 0).digest
    expected = Capture(page.url, "20260920103059", "mlt", digest, FILE, 12, 34)
    assert capture_of(fields, CHOSEN) == ("a.example", expected)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"status": "301"}, NO_PAGE),
        ({"status": None}, NO_PAGE),
        ({"mime-detected": "application/pdf"}, NO_PAGE),
        ({"languages": "deu"}, OTHER_LANGUAGE),
        ({"languages": "deu,fra"}, OTHER_LANGUAGE),
        ({"url": "https://b.example/"}, OUTSIDE),
        ({"url": "file:///etc/passwd"}, INVALID),
        ({"url": 7}, INVALID),
        ({"url": "https://a.example/" + "a" * 5000}, INVALID),
        ({"length": "0"}, INVALID),
        ({"length": "-5"}, INVALID),
        ({"length": str(10**9)}, INVALID),
        ({"length": True}, INVALID),
        ({"offset": "9" * 30}, INVALID),
        ({"offset": "1e3"}, INVALID),
        ({"offset": [1]}, INVALID),
        ({"filename": "../../etc/passwd.warc.gz"}, INVALID),
        ({"filename": "crawl-data/../../x.warc.gz"}, INVALID),
        ({"filename": "/crawl-data/x/y.warc.gz"}, INVALID),
        ({"filename": "crawl-data/x/y.warc.gz\r\nX: 1"}, INVALID),
        ({"filename": "crawl-data/x/y.warc.gz?a"}, INVALID),
        ({"filename": "https://evil.example/y.warc.gz"}, INVALID),
        ({"timestamp": "2026"}, INVALID),
        ({"timestamp": "today"}, INVALID),
    ],
)
def test_what_cannot_be_is_skipped_with_a_reason(changed, reason):
    assert capture_of({**GOOD, **changed}, CHOSEN)[1] == reason


def test_pages_of_unknown_language_are_kept():
    for languages in (None, "", "??", 7, "x" * 100):
        _, found = capture_of({**GOOD, "languages": languages}, CHOSEN)
        assert isinstance(found, Capture)
        assert found.lang == ""


def test_any_language_is_kept_if_the_index_cannot_tell():
    _, found = capture_of({**GOOD, "languages": "deu"}, Filter({}, CHOSEN.site_of))
    assert isinstance(found, Capture)
    assert found.lang == "deu"


def test_a_digest_that_is_none_is_not_compared():
    _, found = capture_of({**GOOD, "digest": "sha256:abc"}, CHOSEN)
    assert isinstance(found, Capture)
    assert found.digest == ""


@given(st.dictionaries(st.sampled_from(sorted(GOOD)), st.text() | st.integers() | st.none()))
def test_no_entry_makes_a_dangerous_capture(changed):
    _, found = capture_of({**GOOD, **changed}, CHOSEN)
    if isinstance(found, Capture):
        assert found.file.startswith("crawl-data/")
        assert ".." not in found.file
        assert found.file.isprintable()
        assert found.url.startswith("http")
        assert found.offset >= 0
        assert 0 < found.length <= cdx_index.MAX_LENGTH
        assert json.dumps(found)


@pytest.mark.parametrize(
    "line",
    [
        b"", b"org,a)/ 2026", b"org,a)/ 2026\tcdx-00000.gz\t0", b"org,a)/ 2026\t../x.gz\t0\t5\t1",
        b"org,a)/ 2026\tcdx-00000.gz\t-1\t5\t1", b"org,a)/ 2026\tcdx-00000.gz\t0\t0\t1",
        b"org,a)/ 2026\tcdx-00000.gz\t0\t999999999999\t1", b"org,a)/ 2026\t/x.gz\t0\t5\t1",
        b"org,a)/ 2026\t\xff.gz\t0\t5\t1",
    ],
)  # fmt: skip
def test_a_place_that_cannot_be_is_not_used(line):
    assert index_line(line) is None


def test_blocks_are_bounded(monkeypatch):
    assert list(block_lines(gzip.compress(b"a\nb\n"))) == [b"a", b"b"]
    monkeypatch.setattr(cdx_index, "MAX_BLOCK", 1000)
    for data in (b"", b"no gzip", gzip.compress(b"a\n")[:-3], gzip.compress(bytes(100_000))):
        with pytest.raises(ValueError, match="it is"):
            block_lines(data)


def test_long_lines_are_not_parsed(monkeypatch):
    monkeypatch.setattr(cdx_index, "MAX_LINE", 50)
    line = b'org,a)/ 20260920103059 {"url": "http://a.org/", "x": "' + b"y" * 50 + b'"}'
    assert list(entries([line], key_ranges("http://a.org/", "site"))) == [{}]

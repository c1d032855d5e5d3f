from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.timing import processor_seconds

from diptych.page.sitemaps import MAX_ENTRIES, Sitemap, SitemapEntry, read_sitemap

URLSET = """<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
  xmlns:xhtml="http://www.w3.org/1999/xhtml" xmlns:image="http://www.google.com/schemas/image">
  <url>
    <loc> http://a.org/en?x=1&amp;y=2 </loc>
    <image:image><image:loc>http://a.org/picture.png</image:loc></image:image>
    <xhtml:link rel="alternate" hreflang="fr" href="http://a.org/fr?x=1&amp;y=2"/>
    <xhtml:link href='http://a.org/de' hreflang='de' rel='alternate' />
    <xhtml:link rel="canonical" href="http://a.org/no"/>
  </url>
  <!-- <url><loc>http://a.org/commented</loc></url> -->
  <url><lastmod>2020-01-01</lastmod><loc><![CDATA[http://a.org/b&c]]></loc></url>
</urlset>"""

EXPECTED = (
    SitemapEntry(
        "http://a.org/en?x=1&y=2",
        (("fr", "http://a.org/fr?x=1&y=2"), ("de", "http://a.org/de")),
    ),
    SitemapEntry("http://a.org/b&c", lastmod=1_577_966_400.0),  # its day ends, anywhere
)


def test_urls_come_with_their_translations() -> None:
    assert read_sitemap(URLSET.encode()) == Sitemap(entries=EXPECTED)


@pytest.mark.parametrize("codec", ["utf-16", "utf-8-sig"])
def test_other_encodings_are_read_by_their_mark(codec: str) -> None:
    assert read_sitemap(URLSET.encode(codec)).entries == EXPECTED


def test_compressed_files_are_detected_by_content() -> None:
    assert read_sitemap(gzip.compress(URLSET.encode())).entries == EXPECTED


def test_index_files_lead_to_sitemaps() -> None:
    index = b"""<sitemapindex><sitemap><loc>http://a.org/1.xml</loc></sitemap>
    <sitemap><loc>http://a.org/2.xml.gz</loc><lastmod>x</lastmod></sitemap></sitemapindex>"""
    assert read_sitemap(index) == Sitemap(("http://a.org/1.xml", "http://a.org/2.xml.gz"))


def test_prefixes_and_letter_case_do_not_matter() -> None:
    text = b"<sm:urlset><sm:URL><sm:loc>http://a.org/</sm:loc></sm:URL></sm:urlset>"
    assert read_sitemap(text).entries == (SitemapEntry("http://a.org/"),)


def test_plain_lists_have_one_url_per_line() -> None:
    text = "\ufeffhttp://a.org/é\r\n\r\n  https://a.org/y  \nnot a url\n".encode()
    assert [entry.url for entry in read_sitemap(text).entries] == [
        "http://a.org/é",
        "https://a.org/y",
    ]


def test_unescaped_ampersands_are_forgiven() -> None:
    text = (
        b"<urlset><url><loc>http://a.org/?a=1&b=2</loc></url><url><loc>http://a.org/z</loc></url>"
    )
    assert [entry.url for entry in read_sitemap(text).entries] == [
        "http://a.org/?a=1&b=2",
        "http://a.org/z",
    ]


def test_a_truncated_file_gives_its_entries() -> None:
    cut = URLSET.encode()[: URLSET.index("<xhtml:link href")]
    assert read_sitemap(cut).entries == (SitemapEntry(EXPECTED[0].url, EXPECTED[0].alternates[:1]),)
    many = "".join(f"<url><loc>http://a.org/{i * i}</loc></url>" for i in range(2000))
    squeezed = gzip.compress(f"<urlset>{many}</urlset>".encode())
    found = read_sitemap(squeezed[: len(squeezed) // 2]).entries
    assert 500 < len(found) < 1500
    assert found[100].url == "http://a.org/10000"


def test_entities_that_the_file_declares_are_not_expanded() -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>'
    text = f"{bomb}<urlset><url><loc>http://a.org/&b;</loc></url></urlset>".encode()
    assert read_sitemap(text).entries == (SitemapEntry("http://a.org/&b;"),)


def test_no_more_urls_are_read_than_a_file_may_have() -> None:
    many = b"<urlset>" + b"<url><loc>http://a.org/</loc></url>" * (MAX_ENTRIES + 5)
    assert len(read_sitemap(many).entries) == MAX_ENTRIES
    lines = b"http://a.org/\n" * (MAX_ENTRIES + 5)
    assert len(read_sitemap(lines).entries) == MAX_ENTRIES


def test_alternates_of_one_url_are_bounded() -> None:
    link = b'<xhtml:link rel="alternate" hreflang="fr" href="http://a.org/fr"/>'
    text = b"<urlset><url><loc>http://a.org/</loc>" + link * 10_000
    assert len(read_sitemap(text).entries[0].alternates) == 500


@pytest.mark.parametrize(
    "unit", [b"<!--", b"<loc>", b"<url><loc>", b"<xhtml:link ", b"<a:", b"<![CDATA[", b"&"]
)
def test_hostile_files_are_read_in_linear_time(unit: bytes) -> None:
    with processor_seconds():
        read_sitemap(b"<urlset>" + unit * 200_000)


def test_pages_of_errors_list_nothing() -> None:
    page = b"<!DOCTYPE html><html><link rel=alternate hreflang=fr href=/fr><p>Not found"
    assert read_sitemap(page) == Sitemap()
    assert read_sitemap(b"") == Sitemap()


@given(st.binary(max_size=200))
def test_no_bytes_raise(body: bytes) -> None:
    read_sitemap(body)
    read_sitemap(b"\x1f\x8b" + body)


@given(st.lists(st.sampled_from(["<url>", "</url>", "<loc>", "</loc>", "http://a/", "<sitemap>"])))
def test_any_order_of_tags_is_read(pieces: list[str]) -> None:
    found = read_sitemap("".join(["<urlset>", *pieces]).encode())
    assert all(entry.url for entry in found.entries)

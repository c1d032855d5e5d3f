"""Targets: answers of servers, and what is read from them."""

from __future__ import annotations

import gzip
import sqlite3
import zlib
from collections.abc import Callable
from pathlib import Path

import brotli
import zstandard
from support.odd_pages import ODD

from diptych.demo import SITE
from diptych.page.answer import read_answer
from diptych.page.body import decompress
from diptych.page.charset import decode
from diptych.page.content import unpack, unpack_outline
from diptych.page.markdown import markdown
from diptych.page.neighbourhood import neighbourhood
from diptych.page.read import read_content
from diptych.page.robots import Robots, retry_after
from diptych.run.encoding import encode_page, read_blocks, read_sketch
from diptych.text.url_fields import tagged_tokens
from diptych.text.urls import extension, host_of, normalise, resolve, site_name, url_key
from diptych.types import Kind, Response, Url
from tools.torture.fuzzing.target import Maker, Target

URL = Url("http://example.org/en/a.html")
LANGS = ("en", "fr")
_HTML = (("Content-Type", "text/html"),)
_SITEMAP = b"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE urlset [<!ENTITY a "b">]>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">
<url><loc>http://example.org/en/&a;</loc><lastmod>2026-01-02T03:04:05+01:00</lastmod>
<xhtml:link rel="alternate" hreflang="fr" href="http://example.org/fr/?a=1&amp;b=2"/></url>
<url><loc><![CDATA[http://example.org/en/c]]></loc></url></urlset>"""
_INDEX = b"""<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<sitemap><loc>http://example.org/a.xml.gz</loc><lastmod>2026</lastmod></sitemap></sitemapindex>"""
_ROBOTS = b"""\xef\xbb\xbfUser-agent: *
Disallow: /private/*.html$ # comment
Allow: /private/a
Crawl-delay: 2.5
Request-rate: 1/5m 1200-1300
Visit-time: 0600-0845
Host: example.org
Sitemap: http://example.org/sitemap.xml
User-agent: diptych
Disallow:
"""
_CHARSETS = (
    "utf-8", "windows-1252", "utf-16", "utf-16-be", "gb18030", "shift_jis", "iso-2022-jp", "big5",
    "euc-kr", "koi8-r", "windows-1256", "x-user-defined", "utf-7", "idna",
)  # fmt: skip
_ANSWER = (
    b"301 Location: /fr/caf\xc3\xa9",
    b"302 Location: //b.example:99999/\n\n",
    b"429 Retry-After: Thu, 01 Jan 2026 00:00:00 GMT",
    b"200 Content-Type: text/html; charset=utf-8\nContent-Language: fr, en\n"
    b'Link: <http://example.org/fr/>; rel="alternate"; hreflang=fr\n'
    b"X-Robots-Tag: otherbot: noindex, nofollow\ntdm-reservation: 1\nContent-Encoding: gzip\n\n"
    + gzip.compress(b"<p lang=fr>Bonjour"),
)
_URLS = (
    "http://example.org/a/../b/./%7Ec;jsessionid=12?utm_source=x&lang=fr#top",
    "HTTP://Ex%41mple.ORG.:80/%zz/\u00e9 \t?q=\u4e2d&&=", "http://[::ffff:1.2.3.4]:8080/",
    "https://xn--bcher-kva.example/", "http://0x7f.1/", "http://a:b@c/", "//host/path", "?lang=de",
    "https://web.archive.org/web/2026/http://example.org/", "http://\u2488\u3002org/",
)  # fmt: skip


def _site(ending: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted(SITE.rglob(f"*{ending}"))]


def _response(
    body: bytes, headers: tuple[tuple[str, str], ...] = _HTML, code: int = 200
) -> Response:
    return Response(URL, code, headers, body, 1.7e9)


def html(folder: Path) -> Target:
    """A page: its links, languages and sketch, and its stored content."""

    def read(data: bytes) -> None:
        response = _response(data)
        answer = read_answer(Kind.PAGE, response, langs=LANGS, with_sketch=True)
        if answer.page is None:
            return
        for link in answer.page.links:
            assert normalise(link.url) == link.url, link.url
            neighbourhood(link)
        encoded = encode_page(answer.page)
        assert encoded is not None
        content = answer.page.content
        assert not content or (unpack(content) and unpack_outline(content))
        markdown(read_content(response)[0])

    odd = [page.encode("utf-8", "surrogatepass") for page in ODD.values()]
    return Target(read, [*odd, *_site(".html")[:12]])


def charset(folder: Path) -> Target:
    """The character set of a body; the first line is the header."""

    def read(data: bytes) -> None:
        header, _, body = data.partition(b"\n")
        text, name = decode(body, header.decode("latin-1"))
        text.encode("utf-8")
        assert name == name.lower()

    def seed(name: str) -> bytes:
        tag = f"<meta charset={name}><p>caf\u00e9 \u0416\u6f22\ud55c \u0628".encode()
        return b"text/html; charset=%b\n%b" % (name.encode(), tag)

    return Target(read, [*map(seed, _CHARSETS), b"\n\xff\xfea\0", b"text/html\n\xef\xbb\xbfa"])


def robots(folder: Path) -> Target:
    """The rules of a host."""

    def read(data: bytes) -> None:
        found = Robots.of(_response(data, ()))
        rules = found.rules()
        assert isinstance(rules.can_fetch("/private/b.html", "diptych"), bool)
        rules.crawl_delay("diptych")
        list(rules.sitemaps)
        found.forbids_all()

    return Target(read, [_ROBOTS, *_site("robots.txt"), b"Disallow: /" + b"*a" * 40])


def sitemap(folder: Path) -> Target:
    """A sitemap: an index, a list of pages, or plain text."""

    def read(data: bytes) -> None:
        answer = read_answer(Kind.SITEMAP, _response(data, ()))
        assert answer.sitemap is not None
        for entry in answer.sitemap.entries:
            resolve(URL, entry.url)

    return Target(read, [_SITEMAP, _INDEX, *_site(".xml"), b"http://example.org/a\n"])


def answer(folder: Path) -> Target:
    """The status and the headers of an answer, before an empty line and the body."""

    def read(data: bytes) -> None:
        head, _, body = data.partition(b"\n\n")
        code, _, rest = head.decode("latin-1").partition(" ")
        lines = (line.partition(":") for line in rest.split("\n"))
        headers = tuple((name, value.strip()) for name, _, value in lines)
        status = int(code) if code.isascii() and code.isdigit() and len(code) == 3 else 200
        response = _response(body, headers, status)
        retry_after(response)
        for kind in (Kind.PAGE, Kind.ROBOTS, Kind.SITEMAP):
            found = read_answer(kind, response, langs=LANGS, with_sketch=True)
            assert found.redirect is None or normalise(found.redirect) == found.redirect

    return Target(read, _ANSWER)


def body(folder: Path) -> Target:
    """Compressed bodies; the first line is the `Content-Encoding`."""
    limit = 1 << 16

    def read(data: bytes) -> None:
        encoding, _, rest = data.partition(b"\n")
        found, _ = decompress(rest, encoding.decode("latin-1"), limit=limit)
        assert len(found) <= max(limit, len(rest))

    text = b"<p>a word and another word " * 9
    packed = {
        b"gzip": gzip.compress(text), b"br": brotli.compress(text), b"deflate": zlib.compress(text),
        b"zstd": zstandard.compress(text), b"gzip, br": brotli.compress(gzip.compress(text)),
    }  # fmt: skip
    return Target(read, [name + b"\n" + content for name, content in packed.items()])


def url(folder: Path) -> Target:
    """URLs, and links relative to a page."""

    def read(data: bytes) -> None:
        text = data.decode("utf-8", "surrogatepass" if data.isascii() else "replace")
        for found in (normalise(text), resolve(URL, text)):
            if found is not None:
                assert normalise(found) == found, (text, found)
                assert found.isascii(), found
                assert found.isprintable(), found
                host_of(found), extension(found), site_name(found), url_key(found)
                tagged_tokens(found)

    return Target(read, [each.encode() for each in _URLS])


def _stored(read: Callable[[bytes], object], place: int) -> Maker:
    """A target for what a run stores of a page; its bytes are those before the compression."""

    def make(folder: Path) -> Target:
        kept = (_kept(page)[place] for page in _site(".html"))
        seeds = [zlib.decompress(each) for each in kept if each][:6]
        return Target(lambda data: read(zlib.compress(data, 1)), seeds, (sqlite3.DatabaseError,))

    return make


def _kept(data: bytes) -> tuple[bytes, bytes]:
    """The content and the sketch of a page as a run stores them."""
    page = read_answer(Kind.PAGE, _response(data), langs=LANGS, with_sketch=True).page
    assert page is not None
    return page.content, encode_page(page).sketch


def _read_content(data: bytes) -> None:
    unpack(data)
    unpack_outline(data)


def _read_sketch(data: bytes) -> None:
    read_sketch(data)
    read_blocks(data)


TARGETS: dict[str, Maker] = {
    "HTML": html,
    "character sets": charset,
    "robots.txt": robots,
    "sitemaps": sitemap,
    "status and headers": answer,
    "compressed bodies": body,
    "URLs": url,
    "stored content": _stored(_read_content, 0),
    "stored sketches": _stored(_read_sketch, 1),
}

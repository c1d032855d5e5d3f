"""Which pages are distinct; tests/run/test_site_view.py has the rest, as views of a store."""

from __future__ import annotations

from diptych.page.distinct import content_of, stand_ins
from diptych.types import PageRecord, Url


def record(url: str, digest: str, canonical: str = "", lang: str = "en") -> PageRecord:
    target = Url(canonical) if canonical else None
    return PageRecord(Url(url), lang, (), "", 0, 0, 0, digest, canonical=target)


def stood_for(*records: PageRecord) -> dict[Url, Url]:
    return stand_ins({each.url: each for each in records}, lambda url: url)


def test_copies_have_one_content_and_pages_without_a_digest_each_their_own() -> None:
    one, other = record("http://a.org/", "x"), record("http://a.org/index.html", "x")
    assert content_of(one) == content_of(other)
    empty = record("http://a.org/", ""), record("http://a.org/b", "")
    assert content_of(empty[0]) != content_of(empty[1])
    assert stood_for(*empty) == {}


def test_shortest_url_stands_for_copies_unless_another_is_canonical() -> None:
    short, long = record("http://a.org/a", "x"), record("http://a.org/a?b", "x")
    assert stood_for(short, long) == {long.url: short.url}
    named = record("http://a.org/a", "x", "http://a.org/a?b")
    assert stood_for(named, long) == {short.url: long.url}


def test_canonical_page_stands_for_one_in_its_language_only() -> None:
    target = record("http://a.org/a", "x")
    assert stood_for(target, record("http://a.org/b", "y", target.url)) == {
        "http://a.org/b": target.url
    }
    assert stood_for(target, record("http://a.org/b", "y", target.url, lang="fr")) == {}

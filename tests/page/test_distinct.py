"""Distinct pages; more tests with a store are in tests/run/test_site_view.py."""

from __future__ import annotations

from collections.abc import Mapping

from diptych.page.distinct import canonical_pages, check_canonical, content_of, stand_ins
from diptych.types import PageRecord, Url

MENU = tuple((number, 20.0) for number in range(1, 31))
"""blocks of a template, longer than most texts"""


def record(url: str, digest: str, canonical: str = "", lang: str = "en") -> PageRecord:
    target = Url(canonical) if canonical else None
    return PageRecord(Url(url), lang, (), "", 0, 0, 0, digest, canonical=target)


def checked(*records: PageRecord, texts: Mapping[str, Mapping[int, float]] = {}) -> dict[Url, bool]:
    """The result of check_canonical for pages with these blocks and a menu."""
    by_url = {each.url: each for each in records}
    sketched = [(Url(url), (*MENU, *blocks.items())) for url, blocks in texts.items()]
    return check_canonical(canonical_pages(by_url, lambda url: url), by_url, lambda: sketched)


def stood_for(
    *records: PageRecord, texts: Mapping[str, Mapping[int, float]] = {}
) -> dict[Url, Url]:
    by_url = {each.url: each for each in records}
    holds = {url for url, same in checked(*records, texts=texts).items() if same}
    canonical = canonical_pages(by_url, lambda url: url)
    return stand_ins(by_url, {url: canonical[url] for url in holds})


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


def site(*texts: Mapping[int, float], lang: str = "en") -> tuple[PageRecord, ...]:
    """A page, and others with their texts that declare it canonical."""
    home = record("http://a.org/", "0")
    others = (
        record(f"http://a.org/{number}", f"{number}", home.url, lang)
        for number in range(1, len(texts))
    )
    return home, *others


def texts_of(*texts: Mapping[int, float]) -> dict[str, Mapping[int, float]]:
    return {f"http://a.org/{number or ''}": text for number, text in enumerate(texts)}


def test_canonical_page_stands_for_variants_with_its_text() -> None:
    texts = {100: 900.0}, {100: 900.0, 101: 50.0}
    assert stood_for(*site(*texts), texts=texts_of(*texts)) == {"http://a.org/1": "http://a.org/"}


def test_canonical_page_stands_for_no_page_in_another_language() -> None:
    texts = {100: 900.0}, {100: 900.0}
    fr = site(*texts, lang="fr")
    assert stood_for(*fr, texts=texts_of(*texts)) == {}
    assert checked(*fr, texts=texts_of(*texts)) == {"http://a.org/1": False}


def test_home_page_declared_canonical_by_all_represents_none() -> None:
    texts = [{100 + number: 30.0} for number in range(12)]
    records = site(*texts)
    assert set(checked(*records, texts=texts_of(*texts)).values()) == {False}
    assert stood_for(*records, texts=texts_of(*texts)) == {}


def test_template_is_that_of_the_language() -> None:
    texts = [{100 + number: 30.0} for number in range(12)]
    others = {f"http://a.org/fr/{number}": {500 + number: 30.0} for number in range(100)}
    french = [record(url, url, lang="fr") for url in others]
    records = (*site(*texts), *french)
    sketched = texts_of(*texts) | {url: {999: 5.0} | text for url, text in others.items()}
    by_url = {each.url: each for each in records}
    blocks = [
        (Url(url), (*(() if "/fr/" in url else MENU), *text.items()))
        for url, text in sketched.items()
    ]
    canonical = canonical_pages(by_url, lambda url: url)
    assert set(check_canonical(canonical, by_url, lambda: blocks).values()) == {False}


def test_many_variants_of_one_page_are_one_page() -> None:
    # Each has a line of its own; a hundred other pages have the same menu.
    variants = [{100: 900.0, 200 + number: 20.0} for number in range(20)]
    others = {f"http://a.org/other/{number}": {900 + number: 300.0} for number in range(100)}
    records = (*site(*variants), *(record(url, url) for url in others))
    found = stood_for(*records, texts=texts_of(*variants) | others)
    assert set(found.values()) == {"http://a.org/"}
    assert len(found) == 19


def test_page_of_only_template_is_compared_by_all_blocks() -> None:
    texts = [{}, {}, *({100 + number: 30.0} for number in range(8))]
    assert checked(*site(*texts), texts=texts_of(*texts))["http://a.org/1"]


def test_page_whose_text_is_not_known_is_not_checked() -> None:
    records = site({}, {})
    assert checked(*records) == {}
    assert stood_for(*records) == {}


def test_canonical_page_that_declares_a_third_or_itself_is_ignored() -> None:
    first = record("http://a.org/1", "1", "http://a.org/2")
    second = record("http://a.org/2", "2", "http://a.org/3")
    assert canonical_pages({first.url: first, second.url: second}, lambda url: url) == {}
    own = record("http://a.org/4", "4", "http://a.org/moved")
    assert canonical_pages({own.url: own}, lambda url: own.url) == {}

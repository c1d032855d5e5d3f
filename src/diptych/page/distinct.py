"""The rule which pages are distinct: copies have one content, and one of them stands for all."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from diptych.language.codes import same_language
from diptych.types import PageRecord, Url


def content_of(record: PageRecord) -> str:
    """The content of a page by its digest; pages with the same one are copies of each other."""
    return record.digest or record.url


def stand_ins(
    records: Mapping[Url, PageRecord], after_redirects: Callable[[Url], Url]
) -> dict[Url, Url]:
    """Page -> the page that stands for it, where that is another one.

    Of copies the one that is canonical stands for all, else the one with the shortest URL.
    """
    canonical = {
        url: _canonical(record, records, after_redirects) for url, record in records.items()
    }
    named = {
        target
        for url, target in canonical.items()
        if target and content_of(records[target]) == content_of(records[url])
    }
    first: dict[str, Url] = {}
    for url in sorted(records, key=lambda url: (url not in named, len(url), url)):
        first.setdefault(content_of(records[url]), url)
    step = {url: canonical[url] or first[content_of(record)] for url, record in records.items()}
    ends = {url: _end(url, step) for url in step}
    return {url: end for url, end in ends.items() if end != url}


def _canonical(
    record: PageRecord, records: Mapping[Url, PageRecord], after_redirects: Callable[[Url], Url]
) -> Url | None:
    """The canonical page, when it was fetched and is in the same language.

    Sites that declare the English page canonical for all its translations are common.
    """
    if record.canonical is None:
        return None
    target = records.get(after_redirects(record.canonical))
    if target is None or target.canonical not in (None, target.url):
        return None
    return target.url if same_language(target.lang, record.lang) else None


def _end(url: Url, step: Mapping[Url, Url]) -> Url:
    """Follow the steps from page to page to the end; of a cycle, take the shortest URL."""
    passed: list[Url] = []
    while url not in passed:
        passed.append(url)
        url = step[url]
    return min(passed[passed.index(url) :], key=lambda url: (len(url), url))

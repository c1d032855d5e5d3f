"""Duplicate pages: groups of pages with the same content, each represented by one page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from diptych.language.codes import same_language
from diptych.page.template import Blocks, is_same_text, own_texts
from diptych.types import PageRecord, Url


def content_of(record: PageRecord) -> str:
    """A key for the content of a page; duplicate pages have equal keys.

    The key is a hash of the text, or of the bytes if there is almost no text.
    """
    return f"text {record.text_key}" if record.text_key else record.digest or record.url


def canonical_pages(
    records: Mapping[Url, PageRecord], after_redirects: Callable[[Url], Url]
) -> dict[Url, Url]:
    """Map each page to the page that it declares canonical, after redirects.

    Canonical pages that were not fetched, or that themselves declare a third page, are omitted.
    """
    found = {}
    for url, record in records.items():
        target = records.get(after_redirects(record.canonical)) if record.canonical else None
        if target and target.canonical in (None, target.url):
            found[url] = target.url
    return found


def check_canonical(
    canonical: Mapping[Url, Url],
    records: Mapping[Url, PageRecord],
    blocks: Callable[[], Iterable[tuple[Url, Blocks]]],
) -> dict[Url, bool]:
    """For each page that declares a canonical page, True if both have the same text.

    `blocks` yields the blocks of all pages of the site that have a sketch.  Pages that cannot be
    compared are omitted.  Many sites declare the English page canonical for all its
    translations, or the home page canonical for all pages.
    """
    pairs = {url: (records[url], records[target]) for url, target in canonical.items()}
    checked = {url: _is_same_at_sight(*pair) for url, pair in pairs.items()}
    open_ones = {url for url, same in checked.items() if same is None}
    wanted = open_ones | {canonical[url] for url in open_ones}
    own = own_texts(blocks(), lambda url: records[url].lang, wanted) if wanted else {}
    for url in open_ones:
        target = canonical[url]
        if url in own and target in own:
            checked[url] = is_same_text(own[url], own[target])
    return {url: same for url, same in checked.items() if same is not None}


def _is_same_at_sight(page: PageRecord, target: PageRecord) -> bool | None:
    """True if two pages are duplicates, False if their languages differ, otherwise None."""
    if content_of(page) == content_of(target):
        return True
    is_known = page.lang and target.lang
    return False if is_known and not same_language(page.lang, target.lang) else None


def stand_ins(records: Mapping[Url, PageRecord], canonical: Mapping[Url, Url]) -> dict[Url, Url]:
    """Map each duplicate page to the page that represents it.

    `canonical` maps pages to canonical pages with the same text.  Other duplicates are represented
    by a canonical page among them, or else by the page with the shortest URL.
    """
    named = {
        target
        for url, target in canonical.items()
        if content_of(records[target]) == content_of(records[url])
    }
    first: dict[str, Url] = {}
    for url in sorted(records, key=lambda url: (url not in named, len(url), url)):
        first.setdefault(content_of(records[url]), url)
    step = {url: canonical.get(url) or first[content_of(each)] for url, each in records.items()}
    ends = {url: _end(url, step) for url in step}
    return {url: end for url, end in ends.items() if end != url}


def _end(url: Url, step: Mapping[Url, Url]) -> Url:
    """The last page of the chain that starts at `url`; `step` maps each page to the next.

    If the chain ends in a cycle, the result is the page of the cycle with the shortest URL.
    """
    passed: list[Url] = []
    while url not in passed:
        passed.append(url)
        url = step[url]
    return min(passed[passed.index(url) :], key=lambda url: (len(url), url))

"""Signs that a site has hardly any pages in a language that was found.

A site that only looks bilingual has a start page in the second language, but its further pages are
missing or untranslated.  Such a start page is partly in the first language, or it has hardly any
links to pages that the start page in the first language does not link to.
"""

from __future__ import annotations

from collections.abc import Sequence

from diptych.language.codes import MIN_PAGE_SHARE, asked_language, same_language
from diptych.language.identify import identify
from diptych.reason import Reason
from diptych.stages.detect.shared.naming import declared_by
from diptych.stages.detect.shared.site_pages import address, site_links
from diptych.text.lengths import text_length
from diptych.types import Link, Page, Url

_MIN_LINKS = 4  # five pages with the start page; a translated site has at least as many
_MANY_TIMES = 3  # the other language has at least this many times as many links
_MIN_TITLE = 30.0  # minimum letters of a link text that is a title and not a menu item
_MIN_TRANSLATED = 0.3  # minimum share of a page; menus around an untranslated text reach 0.26
_SAYS_MACHINE = frozenset({"machine:declared", "machine:notice"})


def own_links(page: Page, other: Page | None, start: Url) -> list[Link]:
    """The links of a page to further pages in its language, without duplicate targets.

    These links lead to pages of the site that `other`, a page in another language, does not link
    to.  Links that name a language are excluded, because they lead to other languages.  `start` is
    the URL of the site's start page.
    """
    known = {address(page.url)}
    if other is not None:
        known |= {address(other.url), *(address(link.url) for link in other.links)}
    found: dict[str, Link] = {}
    for link in site_links(page, start):
        place = address(link.url)
        if link.rel not in ("a", "area") or place in known or declared_by(link, ()):
            continue
        if place not in found or len(link.anchor) > len(found[place].anchor):
            found[place] = link
    return list(found.values())


def doubt(
    pages: Sequence[Page], other: Page, lang: str, langs: Sequence[str], *, is_sampled: bool
) -> Reason | None:
    """The reason to doubt that a site has enough pages in `lang`; None if there is no doubt.

    `pages` are the pages found in `lang`, and `other` is a page in another language.  `is_sampled`
    is True if another page was fetched as a sample and is in `lang`; otherwise, it is a reason for
    doubt if the first of `pages` is partly in another requested language.
    """
    start = other.url
    if has_titles(own_links(pages[0], other, start), lang, langs):
        return None
    if is_mixed(pages[0], lang, langs) and not is_sampled:
        return Reason.SINGLE_PAGE
    further = [own_links(page, None, start) for page in pages]
    if not any(further) and all(
        sum(link.rel == "a" for link in page.links) >= _MIN_LINKS for page in pages
    ):
        return Reason.SINGLE_PAGE  # the pages have links, but only to files and other sites
    own = {address(link.url) for page in pages for link in own_links(page, other, start)}
    is_stub = is_few(len(own), max(map(len, further)), len(own_links(other, pages[0], start)))
    return Reason.TOO_FEW_PAGES if is_stub else None


def has_titles(links: Sequence[Link], lang: str, langs: Sequence[str]) -> bool:
    """True if enough links have long texts in `lang`, which are probably titles."""
    found = 0
    for link in links:
        if found < _MIN_LINKS and text_length(link.anchor) >= _MIN_TITLE:
            scores = identify(link.anchor, langs, closed=False)
            found += bool(scores) and asked_language(scores[0].lang, langs) == lang
    return found >= _MIN_LINKS


def is_mixed(page: Page, lang: str, langs: Sequence[str]) -> bool:
    """True if parts of a page in `lang` are in another requested language."""
    return any(
        share >= MIN_PAGE_SHARE and asked_language(other, langs) not in ("", lang)
        for other, share in page.record.langs
    )


def is_few(own: int, all_links: int, others: int) -> bool:
    """True if a page has too few links to further pages in its language.

    `own` is the number of these links, and `others` is the number for a page in the other language.
    There are too few if `others` is much larger than `own`.  There are also too few if `own` is 0
    although the page has many links (`all_links`).

    >>> is_few(3, 4, 12), is_few(5, 9, 40), is_few(2, 9, 3), is_few(0, 6, 2), is_few(0, 0, 0)
    (True, False, False, True, False)
    """
    if not own:
        return all_links >= _MIN_LINKS
    return own < _MIN_LINKS and others >= _MANY_TIMES * own


def is_translated(page: Page, lang: str) -> bool:
    """True if more of a page is in `lang` than its menus alone could account for."""
    return any(
        share >= _MIN_TRANSLATED and same_language(other, lang)
        for other, share in page.record.langs
    )


def is_by_machine(page: Page, start: Page) -> bool:
    """True if a page declares itself machine-translated and the start page does not."""
    return bool(_SAYS_MACHINE & {*page.record.flags} - {*start.record.flags})

"""Words on sites: declarations that were ignored, text that scripts make, many URLs of one page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from diptych.page.declarations import Checked, Declares
from diptych.reason import alias_rules
from diptych.reports.reasons import MAX_NAMED, counted, rules_in_words
from diptych.reports.summary import Summary

_MIN_WRONG = 5  # pages with a wrong language: fewer may be mistakes of ours
_MIN_SHARE = 0.2  # of them among all that declare it
_MIN_SCRIPTED = 0.2  # of the pages of a site
_OF_MANY = {
    Declares.CANONICAL: "canonical links of {} sites name pages with other text",
    Declares.HTML_LANG: "html lang is wrong on {} sites",
    Declares.HREFLANG: "hreflang names wrong languages on {} sites",
    Declares.TRANSLATION: "hreflang links of {} sites name one page for many",
}


def site_notes(summary: Summary) -> list[str]:
    """Lines on what is wrong with sites, and on URLs that are one page."""
    return [
        *aliases_in_words(summary.aliases),
        *scripted_in_words(summary.scripted),
        *declarations_in_words(summary.declared),
    ]


def aliases_in_words(aliases: Sequence[tuple[str, int]]) -> list[str]:
    """Words for URLs that are the same page as another, with the rules, most frequent first.

    >>> aliases_in_words([("alias slash", 9), ("alias without ?share", 3)])
    ['12 URLs were not fetched: the same page as another (trailing slash 9, without ?share 3)']
    """
    total = sum(count for _, count in aliases)
    named = [f"{rules_in_words(alias_rules(why))} {count:,}" for why, count in aliases[:MAX_NAMED]]
    if len(aliases) > MAX_NAMED:
        named.append(f"other rules {sum(count for _, count in aliases[MAX_NAMED:]):,}")
    were = f"{counted(total, 'URL')} {'was' if total == 1 else 'were'} not fetched"
    return [f"{were}: the same page as another ({', '.join(named)})"] if total else []


def scripted_in_words(scripted: Iterable[tuple[str, int, int]]) -> list[str]:
    """Words for sites whose text is made by scripts: of each, or of many together.

    >>> scripted_in_words([("example.org", 45, 50), ("example.net", 1, 50)])
    ['example.org: 45 of 50 pages have no text, as it is made by scripts']
    """
    named = [each for each in scripted if each[1] >= _MIN_SCRIPTED * each[2]]
    if len(named) > MAX_NAMED:
        empty, pages = sum(each[1] for each in named), sum(each[2] for each in named)
        named = [(f"{len(named):,} sites", empty, pages)]
    return [
        f"{site}: {empty:,} of {counted(pages, 'page')} {'has' if pages == 1 else 'have'} no text,"
        " as it is made by scripts"
        for site, empty, pages in named
    ]


def declarations_in_words(declared: Iterable[tuple[str, Checked]]) -> list[str]:
    """Words for what is wrong: of each site, or of many where the same is wrong.

    >>> wrong = Checked(Declares.HTML_LANG, 200, 180, "en", "fr de")
    >>> declarations_in_words([("example.org", wrong)])
    ['example.org: html lang says en on 200 pages, but 180 of them are in fr or de: ignored']
    """
    wrong: dict[Declares, list[tuple[str, Checked]]] = {}
    for site, each in declared:
        if _is_wrong(each):
            wrong.setdefault(each.kind, []).append((site, each))
    lines = []
    for kind, sites in wrong.items():
        if len(sites) > MAX_NAMED:
            lines.append(f"{_OF_MANY[kind].format(f'{len(sites):,}')}: ignored")
        else:
            lines += [f"{site}: {_in_words(each)}: ignored" for site, each in sites]
    return lines


def _is_wrong(each: Checked) -> bool:
    if each.kind is Declares.CANONICAL:  # equal texts are no matter of opinion
        return each.wrong > 0
    return each.wrong >= max(_MIN_WRONG, _MIN_SHARE * each.checked)


def _in_words(each: Checked) -> str:
    many = f"{each.wrong:,} of {each.checked:,}"
    found = " or ".join(each.found.split())
    match each.kind:
        case Declares.HTML_LANG:
            here = f"{each.wrong:,} of them are in {found}"
            return f"html lang says {each.said} on {each.checked:,} pages, but {here}"
        case Declares.HREFLANG:
            here = f"{each.wrong:,} of them are in {found}"
            return f"hreflang says {each.said} of {each.checked:,} pages, but {here}"
        case Declares.TRANSLATION:
            return f"{many} hreflang links name {_page(each.said)} as the translation of many pages"
    if each.wrong == each.checked > 1 and each.said:
        return f"the canonical links of {each.wrong:,} pages all name {_page(each.said)}"
    return f"{many} canonical links name {_page(each.said)} with other text"


def _page(url: str) -> str:
    """A page that many declarations name."""
    if url and urlsplit(url).path == "/":
        return "the home page"
    return url or "a page"

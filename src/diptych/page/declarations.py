"""Check a site's declarations about its pages against the texts of the pages."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from diptych.language.codes import asked_language, hreflang_language, same_language
from diptych.types import PageRecord, Url

_MAX_SOURCES = 2  # pages of one language that may declare the same page as their translation
_MAX_FOUND = 3  # detected languages that are reported


class Declares(StrEnum):
    """A kind of declaration; its string value is stored in the run."""

    CANONICAL = "canonical"
    """the canonical URL of the page"""
    HTML_LANG = "html_lang"
    """the language of the page"""
    HREFLANG = "hreflang"
    """the language of a linked page"""
    TRANSLATION = "hreflang_translation"
    """a translation of the page"""


class Checked(NamedTuple):
    """The result of checking all declarations of one kind on a site."""

    kind: Declares
    checked: int
    wrong: int
    said: str = ""
    """the value that all wrong declarations share (a language or a URL); empty if they differ"""
    found: str = ""
    """the languages detected instead, most frequent first"""


def canonical_declared(canonical: Mapping[Url, Url], holds: Mapping[Url, bool]) -> Checked:
    """Count the declarations of canonical pages, and those among them that are wrong.

    `canonical` maps each page to the page that it declares canonical; `holds` is True for a page if
    both have the same text.
    """
    wrong = [canonical[url] for url, same in holds.items() if not same]
    said = wrong[0] if len(set(wrong)) == 1 else ""
    return Checked(Declares.CANONICAL, len(holds), len(wrong), said)


def html_lang_declared(records: Iterable[PageRecord], langs: Sequence[str]) -> Checked:
    """Check `html lang` attributes against the detected languages of the pages.

    The result describes the value that is wrong most often.  Only pages in the requested languages
    are checked.
    """
    counts = Counter(
        (hreflang_language(each.html_lang), each.lang)
        for each in records
        if asked_language(each.lang, langs)
    )
    return _most_wrong(Declares.HTML_LANG, counts)


Alternates = Collection[tuple[Url, Url, str]]
"""(page, page that it declares as its translation, hreflang value)"""


def hreflang_declared(records: Mapping[Url, PageRecord], alternates: Alternates) -> Checked:
    """Check hreflang values against the languages of the linked pages.

    The result describes the value that is wrong most often.
    """
    named = {(target, hreflang_language(value)) for _, target, value in alternates}
    counts = Counter((lang, records[target].lang) for target, lang in named)
    return _most_wrong(Declares.HREFLANG, counts)


def translations_declared(records: Mapping[Url, PageRecord], alternates: Alternates) -> Checked:
    """Check the declared translations of pages.

    A declaration is wrong if many pages in one language declare the same page as their translation,
    and that page does not declare them in return.  Such a page is usually a home page.
    """
    named = {
        (source, target)
        for source, target, _ in alternates
        if not same_language(records[source].lang, records[target].lang)
    }
    sources: defaultdict[tuple[Url, str], int] = defaultdict(int)
    for source, target in named:
        sources[target, records[source].lang] += 1
    wrong = [
        target
        for source, target in named
        if sources[target, records[source].lang] > _MAX_SOURCES and (target, source) not in named
    ]
    said = wrong[0] if len(set(wrong)) == 1 else ""
    return Checked(Declares.TRANSLATION, len(named), len(wrong), said)


def _most_wrong(kind: Declares, counts: Mapping[tuple[str, str], int]) -> Checked:
    """Return the check result for the declared language that is wrong most often.

    `counts` maps each (declared language, detected language) to the number of declarations.
    """
    best = Checked(kind, 0, 0)
    for said in sorted({said for said, _ in counts if said}):
        there = Counter({found: n for (each, found), n in counts.items() if each == said and found})
        wrong = Counter({lang: n for lang, n in there.items() if not same_language(said, lang)})
        if not best.checked or wrong.total() > best.wrong:
            found = " ".join(lang for lang, _ in wrong.most_common(_MAX_FOUND))
            best = Checked(kind, there.total(), wrong.total(), said, found)
    return best

"""Pairing pages: which pages of a site may be translations of each other.

Here is what the strategies share: the pages that can be in a pair at all, and the names a language
goes by.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache

from diptych.protocols import SiteView
from diptych.text.langs import PART, primary, same_language
from diptych.types import Url

__all__ = ["fold_case", "language_codes", "language_names", "page_languages"]

# Names that switchers use and CLDR does not list.
_OTHER_NAMES = {
    "zh": ("简体中文", "繁體中文", "繁体中文", "正體中文", "汉语", "漢語", "chinese"),
    "no": ("norsk", "norsk bokmål", "bokmål", "norwegian"),
    "sr": ("srpski", "српски"),
}


def fold_case(text: str) -> str:
    """Text for comparing names: composed, without case.

    >>> fold_case("FRANC\u0327AIS")
    'français'
    """
    return unicodedata.normalize("NFC", text).casefold()


def page_languages(site: SiteView) -> dict[Url, str]:
    """The pages in one of the site's languages, each with the site's own code for it.

    A page that was translated in part is in two of them.  It is a page of the one that the site has
    fewer whole pages in: what is not translated is left in the language that the site is complete
    in.  What it declares is not asked, since templates are translated less often than texts.
    """
    asked = _asked(tuple(site.langs))
    found: dict[Url, str] = {}
    mixed: dict[Url, list[str]] = {}
    for url, record in site.pages.items():
        likely = (asked(lang) for lang, score in record.langs if score >= PART)
        names = list(dict.fromkeys(name for name in likely if name))
        if len(names) > 1:
            mixed[url] = names
        elif names or (lang := asked(record.lang)):
            found[url] = names[0] if names else lang
    whole = Counter(found.values())
    for url, names in mixed.items():
        found[url] = min(names, key=lambda lang: (whole[lang], lang))
    return dict(sorted(found.items()))


def _asked(langs: tuple[str, ...]) -> Callable[[str], str]:
    """Which of some languages a language is, if any."""

    @lru_cache(maxsize=1024)
    def asked(lang: str) -> str:
        return next((each for each in langs if same_language(lang, each)), "") if lang else ""

    return asked


@lru_cache(maxsize=1024)
def language_codes(lang: str) -> frozenset[str]:
    """The codes of a language: ISO 639-1, both of 639-2, 639-3, lower case.

    >>> sorted(language_codes("fr-CA"))
    ['fr', 'fra', 'fre']
    """
    from langcodes import Language

    codes = {primary(lang)}
    for variant in ("T", "B"):
        try:
            codes.add(Language.get(lang).to_alpha3(variant=variant))
        except LookupError:
            continue
    return frozenset(codes - {""})


@lru_cache(maxsize=1024)
def language_names(lang: str, readers: Sequence[str] = ("en",)) -> frozenset[str]:
    """What a language is called by its own speakers, and in the languages of some readers.

    >>> sorted(language_names("fr")), sorted(language_names("de", ("fr",)))
    (['français', 'french'], ['allemand', 'deutsch'])
    """
    from langcodes import Language

    name = primary(lang)
    language = Language.make(name)
    names = [language.autonym(), *(language.display_name(reader) for reader in readers)]
    return frozenset(fold_case(each) for each in (*names, *_OTHER_NAMES.get(name, ())) if each)

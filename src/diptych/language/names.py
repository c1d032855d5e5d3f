"""The names of a language in several languages, and its ISO 639 codes.

Names come from CLDR through langcodes.  Because the CLDR tables take 15 MB, `names.tsv`
holds the names of the web's most common languages in each of these languages.  `tools/names.py`
regenerates the file.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from functools import cache, lru_cache

from diptych.files import shipped_table
from diptych.language.codes import primary

# Names used by language switchers that CLDR does not list.
_OTHER_NAMES = {
    "zh": ("简体中文", "繁體中文", "繁体中文", "正體中文", "汉语", "漢語", "chinese"),
    "no": ("norsk", "norsk bokmål", "bokmål", "norwegian"),
    "sr": ("srpski", "српски"),
}

# Codes of the languages in `names.tsv`, because the tables of langcodes take 50 ms to load.
_ALPHA3 = (
    "ar:ara bg:bul ca:cat cs:ces:cze da:dan de:deu:ger el:ell:gre en:eng es:spa et:est fa:fas:per"
    " fi:fin fr:fra:fre he:heb hi:hin hr:hrv hu:hun id:ind it:ita ja:jpn ko:kor lt:lit lv:lav"
    " ms:msa:may nl:nld:dut no:nor pl:pol pt:por ro:ron:rum ru:rus sk:slk:slo sl:slv sr:srp sv:swe"
    " th:tha tr:tur uk:ukr vi:vie zh:zho:chi"
)


def fold_case(text: str) -> str:
    """Normalise a text to NFC and fold its case, so that names can be compared.

    >>> fold_case("FRANC\u0327AIS")
    'français'
    """
    return unicodedata.normalize("NFC", text).casefold()


def language_codes(lang: str) -> frozenset[str]:
    """The lower-case codes of a language: ISO 639-1, both codes of 639-2, and 639-3.

    >>> sorted(language_codes("fr-CA"))
    ['fr', 'fra', 'fre']
    """
    return _language_codes(lang, primary(lang))


@lru_cache(maxsize=1024)
def _language_codes(lang: str, name: str) -> frozenset[str]:
    return frozenset({name, *alpha3_codes(lang)} - {""})


def alpha3_codes(lang: str) -> list[str]:
    """The three-letter codes of a language: terminological, then bibliographic.

    >>> alpha3_codes("fr"), alpha3_codes("xx")
    (['fra', 'fre'], [])
    """
    known = _shipped_codes().get(lang)
    return list(known) if known else derive_codes(lang)


@cache
def _shipped_codes() -> dict[str, tuple[str, str]]:
    rows = (row.split(":") for row in _ALPHA3.split())
    return {lang: (codes[0], codes[-1]) for lang, *codes in rows}


def derive_codes(lang: str) -> list[str]:
    """The three-letter codes of any language, from the tables of langcodes.

    >>> derive_codes("eu"), derive_codes("cy")
    (['eus', 'baq'], ['cym', 'wel'])
    """
    from langcodes import Language

    codes = []
    for variant in ("T", "B"):
        with suppress(LookupError):
            codes.append(Language.get(lang).to_alpha3(variant=variant))
    return codes


def language_names(lang: str, readers: Sequence[str] = ("en",)) -> frozenset[str]:
    """The folded names of a language, in the language itself and in each language of `readers`.

    >>> sorted(language_names("fr")), sorted(language_names("de", ("fr",)))
    (['français', 'french'], ['allemand', 'deutsch'])
    """
    return _language_names(primary(lang), tuple(readers))


@lru_cache(maxsize=1024)
def _language_names(name: str, readers: Sequence[str]) -> frozenset[str]:
    names = [_shipped().get((name, reader)) or derive_name(name, reader) for reader in readers]
    names.append(_shipped().get((name, name)) or derive_name(name, name))
    return frozenset(fold_case(each) for each in (*names, *_OTHER_NAMES.get(name, ())) if each)


def derive_name(lang: str, reader: str) -> str:
    """The name of a language in the language `reader`, from CLDR.

    >>> derive_name("de", "fr"), derive_name("de", "de")
    ('allemand', 'Deutsch')
    """
    from langcodes import Language

    language = Language.make(lang)
    return language.autonym() if lang == reader else language.display_name(reader)


@cache
def _shipped() -> dict[tuple[str, str], str]:
    """The language names in `names.tsv`, keyed by (language named, language of the name)."""
    (_, *readers), *rows = shipped_table("diptych.language", "names.tsv")
    return {
        (lang, reader): name
        for lang, *names in rows
        for reader, name in zip(readers, names, strict=True)
    }

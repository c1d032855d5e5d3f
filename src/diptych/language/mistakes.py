"""Suggestions for invalid language codes: names, country codes and wrong separators."""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import get_close_matches

from diptych.files import shipped_table

CODE_LIST = "https://iso639-3.sil.org/code_tables/639/data"
_MIN_NAME = 4  # letters; shorter names of languages look like codes
_SIMILAR = 0.8  # similarity of a misspelled name, such as "freanch"
_SEPARATORS = re.compile(r"[-_/;:|+&.\s]+(?:and\s+)?")
# Country codes (ISO 3166) and other codes that are often mistaken for language codes.
_TAKEN_FOR_LANGUAGES = {
    "al": "sq", "at": "de", "au": "en", "bd": "bn", "by": "be", "cn": "zh", "cz": "cs", "dk": "da",
    "eg": "ar", "gb": "en", "ge": "ka", "gr": "el", "hk": "zh-HK", "il": "he",
    "iq": "ar", "ir": "fa", "jp": "ja", "kz": "kk", "lk": "si", "ma": "ar", "md": "ro", "me": "sr",
    "mx": "es", "nz": "en", "pe": "es", "ph": "fil", "pk": "ur", "rs": "sr", "sp": "es", "tj": "tg",
    "ua": "uk", "us": "en", "vn": "vi", "xk": "sq",
}  # fmt: skip
# Codes of small languages that are also codes of countries where hardly anybody speaks them.
_CODES_OF_COUNTRIES = {"ch": "de", "ee": "et", "kr": "ko", "se": "sv", "tw": "zh-TW"}


def intended_language(text: str) -> str:
    """Guess the language code meant by a name or a country code, or return '' if it is unclear.

    >>> [intended_language(text) for text in ("gr", "Français", "freanch", "xx")]
    ['el', 'fr', 'fr', '']
    """
    import langcodes

    lowered = text.strip().casefold()
    if found := _TAKEN_FOR_LANGUAGES.get(lowered, ""):
        return found
    if len(lowered) < _MIN_NAME and lowered.isascii():
        return ""
    try:
        return langcodes.find(lowered).to_tag()
    except LookupError:
        names = _names()
        similar = get_close_matches(lowered, names, 1, _SIMILAR)
        return names[similar[0]] if similar else ""


def _names() -> dict[str, str]:
    """Map the English and native names of the most common languages on the web to their codes."""
    (_, *readers), *rows = shipped_table("diptych.language", "names.tsv")
    names = {lang: dict(zip(readers, names, strict=True)) for lang, *names in rows}
    return {own[reader].casefold(): lang for lang, own in names.items() for reader in ("en", lang)}


def separated(text: str, is_language: Callable[[str], bool]) -> list[str]:
    """Split a list of languages at separators other than commas, or return [] if it is not a list.

    >>> is_known = ["en", "fr", "pt", "br"].__contains__
    >>> [separated(text, is_known) for text in ("en/fr", "en and fr", "en-fr", "pt-br")]
    [['en', 'fr'], ['en', 'fr'], ['en', 'fr'], []]
    """
    parts = _SEPARATORS.split(text.strip())
    is_list = len(parts) > 1 and all(map(is_language, parts))
    return parts if is_list and not _is_usual_region(text) else []


def _is_usual_region(text: str) -> bool:
    """True if a string combines a language with a country that mainly uses it, such as pt-br.

    >>> _is_usual_region("pt-br"), _is_usual_region("en-fr")
    (True, False)
    """
    import langcodes

    lang, _, region = text.strip().replace("_", "-").partition("-")
    if not re.fullmatch("[A-Za-z]{2}", region):
        return False
    return langcodes.Language.make(territory=region.upper()).maximize().language == lang.lower()


def code_of_country(lang: str) -> str:
    """A note about a language code that is also the code of a country with another language.

    The note is empty for all other codes.

    >>> code_of_country("se"), code_of_country("fr")
    ('se is Northern Sami; Swedish is sv', '')
    """
    other = _CODES_OF_COUNTRIES.get(lang, "")
    return f"{lang} is {name_of(lang)}; {name_of(other)} is {other}" if other else ""


def name_of(lang: str) -> str:
    """The English name of a language.

    >>> name_of("pt-BR")
    'Portuguese (Brazil)'
    """
    import langcodes

    return langcodes.Language.get(lang).display_name("en")

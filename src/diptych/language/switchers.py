"""The language that a link declares for its target, by hreflang or by a language name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from diptych.language.codes import hreflang_language, primary, same_language
from diptych.language.marks import Mark, fold, mark_table
from diptych.language.names import fold_case, language_codes, language_names
from diptych.language.scripts import marked_language, script_words
from diptych.types import Link

MAX_NAME = 40  # characters of a language name; longer texts are sentences

_REGIONAL_CODE = re.compile(r"([a-z]{2,3})(?:[-_][a-z0-9]{2,8})+")
_IN_BRACKETS = re.compile(r"\s*[(（\[][^()（）\[\]]*[)）\]]\s*\Z")
_BETWEEN_NAMES = re.compile(r"\s*[/|·•–—]\s*|\s-\s")
_ORNAMENT = " \t\n\u00a0.,:;|/()[]{}<>«»‹›→←·•*–—-"


class Declared(NamedTuple):
    """The language that a link declares for its target, and the kind of declaration."""

    lang: str
    how: str
    """`alternate` (link element or HTTP header), `hreflang` (attribute) or `name` (text)"""


def declared_language(link: Link, langs: tuple[str, ...]) -> Declared:
    """The language that a link declares for its target; `lang` is empty if it declares none.

    A language name in the link text counts only if that language was requested.

    >>> declared_language(Link("http://x.org/fr/", anchor="Français"), ("en", "fr"))
    Declared(lang='fr', how='name')
    """
    if link.rel == "alternate":
        return Declared(hreflang_language(link.hreflang), "alternate")
    if link.rel not in ("a", "area"):
        return Declared("", "name")
    if link.hreflang and (lang := hreflang_language(link.hreflang)):
        return Declared(lang, "hreflang")
    for text in (link.anchor, link.alt):
        if 0 < len(text) <= MAX_NAME and (lang := _named(text, langs)):
            return Declared(lang, "name")
    return Declared("", "name")


def names_other_language(text: str, langs: tuple[str, ...]) -> bool:
    """True if the text of a link is the name or code of a language that was not requested.

    >>> [names_other_language(text, ("en", "fr")) for text in ("Ελληνικά", "RU", "French", "Next")]
    [True, True, False, False]
    """
    return 0 < len(text) <= MAX_NAME and _names_other(text, langs)


@lru_cache(maxsize=1 << 16)
def _names_other(text: str, langs: tuple[str, ...]) -> bool:
    said = [mark.lang for mark in _language_marks(text)]
    return bool(said) and not _have_common(said, langs)


def name_different_languages(left: str, right: str, langs: tuple[str, ...]) -> bool:
    """True if both texts are names or codes of languages, but not of the same language.

    Of two codes, one must be that of a language in `langs`, because many short words are codes:
    `no` and its Czech translation `ne` are those of Norwegian and Nepali.

    >>> texts = ("English", "Slovenščina"), ("EN", "DE"), ("French", "Français"), ("No", "Ne")
    >>> [name_different_languages(*each, ("en", "fr")) for each in texts]
    [True, True, False, False]
    """
    if len(left) > MAX_NAME or len(right) > MAX_NAME:
        return False
    ours = _language_marks(left)
    if not ours:
        return False
    theirs = _language_marks(right)
    named = [[mark.lang for mark in marks] for marks in (ours, theirs)]
    if not theirs or _have_common(*named):
        return False
    has_name = any(mark.kind != "code" for mark in (*ours, *theirs))
    return has_name or _have_common([*named[0], *named[1]], langs)


def _have_common(some: Sequence[str], others: Sequence[str]) -> bool:
    """True if a language is among both."""
    return any(same_language(one, other) for one in some for other in others)


@lru_cache(maxsize=1 << 14)
def _language_marks(text: str) -> tuple[Mark, ...]:
    """The marks of the languages whose name or code is the whole text."""
    marks = mark_table().get(fold(text.strip(_ORNAMENT)), ())
    return tuple(mark for mark in marks if mark.kind in ("code", "endonym", "name"))


@lru_cache(maxsize=1 << 16)
def _named(text: str, langs: tuple[str, ...]) -> str:
    """The requested language that the text of a link names, or '' if it names none.

    Results are cached, because most links recur on many pages.
    """
    lang = named_language(text, _names(langs))
    return marked_language(text, lang, langs) if lang else ""


def named_language(text: str, names: Mapping[str, str]) -> str:
    """The language whose name or code makes up the whole text of a link, or '' if there is none.

    `names` maps names and codes to languages.

    >>> names = {"français": "fr", "french": "fr", "fr": "fr", "日本語": "ja"}
    >>> [named_language(text, names) for text in ("[Français]", "FR-ca", "日本語 (Japanese)")]
    ['fr', 'fr', 'ja']
    >>> named_language("French / Français", names), named_language("French wine", names)
    ('fr', '')
    """
    if not text or len(text) > MAX_NAME:
        return ""
    folded = fold_case(text)
    name = _IN_BRACKETS.sub("", folded).strip(_ORNAMENT) or folded.strip(_ORNAMENT)
    if lang := _lookup(name, names):
        return lang
    found = {_lookup(part, names) for part in _BETWEEN_NAMES.split(name)}
    return found.pop() if len(found) == 1 else ""


def _lookup(name: str, names: Mapping[str, str]) -> str:
    if lang := names.get(name) or names.get(name.replace("_", "-")):
        return lang
    regional = _REGIONAL_CODE.fullmatch(name)
    return names.get(regional[1], "") if regional else ""


@lru_cache(maxsize=64)
def _names(langs: tuple[str, ...]) -> dict[str, str]:
    """Map the names and codes of the requested languages to those languages.

    Each language is named in itself, in English and in the other requested languages.
    """
    readers = ("en", *langs)
    names = {name: lang for lang in langs for name in language_names(lang, readers)}
    names |= {code: lang for lang in langs for code in language_codes(lang)}
    names = {name: marked_language(name, lang, langs) for name, lang in names.items()}
    for lang in langs:
        for word in script_words(lang, langs):
            names |= {word: lang, f"{primary(lang)}-{word}": lang}
    return names

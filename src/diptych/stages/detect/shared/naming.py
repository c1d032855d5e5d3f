"""Recognises languages by their names and codes in link texts, image names and URLs."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from urllib.parse import unquote

from diptych.files import shipped_table
from diptych.language.codes import primary
from diptych.language.marks import (
    Mark,
    UrlMark,
    fold,
    is_language_parameter,
    mark_table,
    marks_of,
    url_marks,
)
from diptych.language.switchers import declared_language
from diptych.text.caches import TextCache
from diptych.types import Link, Url

NAMES = frozenset({"endonym", "name"})
"""kinds of marks that are words rather than codes"""
NOWHERE = Url("")
MAX_SHORT = 4  # a text with more words is more than the name of a language
_WORD = re.compile(r"[^\W\d_]+")
_MIN_TRIGGER = 3  # minimum characters of a language name; shorter words are codes
_MAX_WORDS = 12  # only this many words of a text are examined
_ORNAMENT = " \t\n.,:;|/()[]{}<>«»‹›→←·•*–—-"
_IMAGE_NAME = re.compile(r"([^/\\?#\s]+?)(?:\.[A-Za-z0-9]{2,5})?(?:[?#]\S*)?(?=\s|\Z)")
_MIN_STEM = 4  # minimum letters that an inflected form shares with the name
_MAX_ENDING = 2  # maximum letters of the name that inflection may replace
_MAX_LONGER = 4  # maximum letters by which the form may be longer than the name
_LANGUAGE_PLACES = frozenset({"host", "folder", "ending", "parameter", "deep"})
"""places in a URL where a language code or name almost always denotes a language"""


def names_language(link: Link, lang: str) -> bool:
    """True if the attributes, text or URL of a link indicate that its target is in `lang`.

    >>> names_language(Link("http://x.org/fr/a"), "fr")
    True
    >>> names_language(Link("http://x.org/a", anchor="Lire"), "fr")
    False
    """
    name = primary(lang)
    if declared_by(link, (name,)) == name:
        return True
    return any(
        name in (mark.lang for mark in found.marks)
        and mark_place(link.url, found) in _LANGUAGE_PLACES
        for found in url_marks(link.url, mark_table((name,)))
    )


def declared_by(link: Link, wanted: tuple[str, ...]) -> str:
    """The language that a link declares for its target by hreflang or a name; "" if none.

    The names of the requested languages, `wanted`, are tried first.

    >>> declared_by(Link("http://x.org/12", anchor="Русский"), ("en", "fr"))
    'ru'
    """
    if said := declared_language(link, wanted).lang:
        return primary(said)
    return next(
        (
            marks[0].lang
            for text in (link.anchor, link.alt, *image_names(link.src))
            if text and (marks := whole_marks(text))
        ),
        "",
    )


def trigger_languages(text: str, langs: Sequence[str]) -> list[str]:
    """The requested languages whose names (trigger words) occur in a short text.

    >>> trigger_languages("English Version", ["en", "fr"]), trigger_languages("EN", ["en", "fr"])
    (['en'], [])
    """
    words = words_of(text)
    if not words or len(words) > MAX_SHORT:
        return []
    named = {primary(declared_language(Link(NOWHERE, anchor=text), tuple(langs)).lang)}
    if len(text.strip(_ORNAMENT)) < _MIN_TRIGGER:  # a code, not a word
        named = set()
    named |= {mark.lang for word in words for mark in mark_table().get(word, ())
              if mark.kind in NAMES}  # fmt: skip
    return [lang for lang in langs if primary(lang) in named]


def mark_place(url: str, mark: UrlMark) -> str:
    """The place of a mark in a URL, such as `host`, `folder`, `ending` or `parameter`."""
    if mark.field == "query":
        parameters = re.findall(rf"[?&;]([^=&;]+)={re.escape(mark.text)}(?:&|;|\Z)", url.casefold())
        if not parameters:
            return "query"
        return "parameter" if any(map(is_language_parameter, parameters)) else "value"
    text = unquote(url.partition("://")[2]).casefold()  # the text that the mark's offsets refer to
    before = text[mark.start - 1] if 0 < mark.start <= len(text) else ""
    after = text[mark.end] if mark.end < len(text) else ""
    if mark.field == "host":
        return "host" if not before else "domain"
    if before == "/" and after in ("/", ""):
        return "folder" if mark.start - len(text.partition("/")[0]) <= 1 else "deep"
    return "ending" if before in "._-" and after in (".", "") else f"in_{mark.field}"


@lru_cache(maxsize=8192)
def whole_marks(text: str) -> tuple[Mark, ...]:
    """If a text consists only of a language name or code, its language marks; otherwise, ()."""
    stripped = fold(text.strip(_ORNAMENT))[:40]
    return mark_table().get(stripped) or mark_table().get(re.split(r"[-_]", stripped)[0], ())


@lru_cache(maxsize=4096)
def image_names(source: str) -> tuple[str, ...]:
    """The file names in a list of image URLs, without folders and extensions.

    >>> image_names("/img/flags/fr.png?v=2 b.gif")
    ('fr', 'b')
    """
    return tuple(found for each in source.split() for found in _IMAGE_NAME.findall(each)[-1:])


def words_of(text: str) -> list[str]:
    """The first words of a text, case-folded and without accents."""
    return [folded(word) for word in _WORD.findall(text)[:_MAX_WORDS]] if text else []


# Cached, because the links of a site's pages share most of their words, texts and addresses.
folded = lru_cache(maxsize=1 << 15)(fold)


_marks_in = TextCache(lambda url: tuple(url_marks(url, mark_table())), 16_000_000, per_character=20)


def marks_in(url: str) -> tuple[UrlMark, ...]:
    """The language marks in a URL, for all known languages."""
    return _marks_in[url]


@lru_cache(maxsize=1)
def country_languages() -> Mapping[str, str]:
    """Map each country name to the language that the country's flag stands for.

    >>> country_languages()["spain"], country_languages()["deutschland"]
    ('es', 'de')
    """
    # Country names as they occur in file names of flags: in English, in the country's own language,
    # and in French.
    rows = shipped_table("diptych.stages.detect.shared", "countries.tsv")
    return {name: lang for lang, names in rows for name in names.split()}


def is_endonym(word: str, lang: str) -> bool:
    """True if a word is a language's own name, or looks like an inflected form of it.

    >>> [is_endonym(word, "fr") for word in ("francais", "francaise", "frankfurt")]
    [True, True, False]
    >>> is_endonym("русском", "ru")
    True
    """
    return _is_form(word, lang, "endonym")


def is_foreign_name(word: str, lang: str) -> bool:
    """True if a word is the name of `lang` in another language, or looks like an inflection of it.

    Country names do not count, unless they are also language names.

    >>> [is_foreign_name(word, "en") for word in ("anglais", "anglaise", "angle", "england")]
    [True, True, False, False]
    """
    is_country = word in country_languages()
    return _is_form(word, lang, "name") and (not is_country or marks_of(lang).get(word) == "name")


@lru_cache(maxsize=8192)
def _is_form(word: str, lang: str, kind: str) -> bool:
    """True if a word is a name of `lang` of this kind, or looks like an inflected form of one."""
    names = marks_of(lang)
    return names.get(word) == kind or any(
        len(name) > _MIN_STEM
        and word.startswith(name[: max(_MIN_STEM, len(name) - _MAX_ENDING)])
        and len(name) <= len(word) <= len(name) + _MAX_LONGER
        for name, own in names.items()
        if own == kind
    )


@lru_cache(maxsize=256)
def scripts_of(lang: str) -> frozenset[str]:
    """The scripts in which a language is written, inferred from the language's own name."""
    names = [name for name, kind in marks_of(lang).items() if kind == "endonym"]
    found = frozenset(script for name in names for script in scripts_in(name))
    return found | _EXTRA_SCRIPTS.get(lang, frozenset())


_EXTRA_SCRIPTS: Mapping[str, frozenset[str]] = {"ja": frozenset({"HIRAGANA", "KATAKANA", "CJK"})}


@lru_cache(maxsize=4096)
def scripts_in(text: str) -> frozenset[str]:
    """The scripts of the letters in a text; Latin is included only if there is no other script.

    >>> sorted(scripts_in("Καλημέρα!")), sorted(scripts_in("Hello"))
    (['GREEK'], ['LATIN'])
    """
    names = (unicodedata.name(char, "").partition(" ")[0] for char in text if char.isalpha())
    found = frozenset(names)
    return found - {"LATIN"} or found

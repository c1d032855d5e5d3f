"""Language marks in URLs (`/fr/`, `_e.html`, `?lang=de`): codes, names and webmasters' conventions.

A mark may be an ISO 639 code, or the name of a language in English, in the language itself or in a
neighbouring language.  It may also be a country code used for a language (`jp`), or another
convention of webmasters (`e` and `f` in Canada, `tc` and `sc` in Hong Kong).  `languages.tsv` lists
the languages and these conventions; codes and names come from CLDR through langcodes.  `marks.tsv`
holds all marks of the languages, because querying CLDR takes seconds.  `tools/marks.py` regenerates
it.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple
from urllib.parse import unquote

from diptych.files import shipped_table
from diptych.language.codes import primary
from diptych.language.names import alpha3_codes

KINDS = ("code", "code3", "endonym", "name", "habit", "country")
"""kinds of marks, from the most to the least reliable"""

_ROWS = shipped_table("diptych.language", "languages.tsv")
LANGUAGES = tuple(lang for lang, *_ in _ROWS)
"""the languages that CLD2 identifies (the 161 of Garcia-Romero et al. and some more), then other
languages that have a website, a newspaper or a broadcaster"""
_LISTED = frozenset(LANGUAGES)  # each is its own primary language
HABITS: Mapping[str, tuple[str, ...]] = {
    lang: tuple(words[0].split()) for lang, *words in _ROWS if words
}
"""marks by webmasters' convention: neither codes nor names, and not listed by CLDR"""

# Names of query parameters, and of path segments before a value, that mean "language".
LANGUAGE_PARAMETERS = frozenset(
    name for [name] in shipped_table("diptych.language", "parameters.tsv")
)

# The languages, besides English, whose names for other languages are used as marks.
_NAMING_LANGUAGES = tuple("fr de es it pt nl pl cs sv da fi hu ro hr".split())
_SCHEME = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
_TOKEN = re.compile(r"[^\W_]+")
_REGION = re.compile(r"[-_](?:[a-z]{2}|hans|hant|latn|cyrl|arab|419)(?![^\W_])")


class Mark(NamedTuple):
    """A language that a word may stand for, and the kind of mark."""

    lang: str
    kind: str


class UrlMark(NamedTuple):
    """A mark found in a URL: its position, and the languages it may stand for.

    The most probable language comes first.
    """

    field: str
    start: int
    end: int
    text: str
    marks: tuple[Mark, ...]


def fold(name: str) -> str:
    """Convert a name to lower case without accents, as written in URLs.

    >>> fold("Français"), fold("Čeština"), fold("Русский")
    ('francais', 'cestina', 'русскии')
    """
    decomposed = unicodedata.normalize("NFKD", name.casefold())
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def derive_marks(lang: str) -> dict[str, str]:
    """Derive the marks of a language from CLDR and `HABITS`, and map each folded mark to its kind.

    >>> derive_marks("cy")["cymraeg"], derive_marks("cy")["welsh"], derive_marks("cy")["wel"]
    ('endonym', 'name', 'code3')
    """
    from langcodes import Language

    language = Language.make(lang)
    found = [(lang, "code" if len(lang) == 2 else "code3")]
    found += [(code, "code3") for code in alpha3_codes(lang)]
    found.append((language.autonym(), "endonym"))
    found += [(language.display_name(reader), "name") for reader in ("en", *_NAMING_LANGUAGES)]
    found += [(word, "habit") for word in HABITS.get(lang, ())]
    marks: dict[str, str] = {}
    for name, kind in found:
        for word in (fold(name), name.casefold()):
            if name != lang and word == lang and kind != "habit":
                continue
            if _TOKEN.fullmatch(word) or kind == "habit":
                marks.setdefault(word, kind)
    return marks


@cache
def _shipped() -> Mapping[str, Mapping[str, str]]:
    """The shipped marks: for each language, a mapping from marks to their kinds."""
    found: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for mark, lang, kind in shipped_table("diptych.language", "marks.tsv"):
        found[lang][mark] = kind
    return found


@lru_cache(maxsize=1024)
def marks_of(lang: str) -> Mapping[str, str]:
    """Return a mapping from the folded marks of a language to their kinds.

    >>> marks_of("fr")["francais"], marks_of("fr-CA")["fra"], marks_of("ja")["jp"]
    ('endonym', 'code3', 'habit')
    """
    name = _primary(lang)
    return _shipped().get(name) or (derive_marks(name) if name else {})


def _primary(lang: str) -> str:
    """Return the primary language of a code, without the tables of langcodes if it is listed."""
    return lang if lang in _LISTED else primary(lang)


@lru_cache(maxsize=64)
def mark_table(langs: Sequence[str] = LANGUAGES) -> Mapping[str, tuple[Mark, ...]]:
    """Map each mark to the languages it may stand for, most probable first.

    If `langs` is given, only marks of those languages are included.

    >>> [mark.lang for mark in mark_table()["si"]]
    ['si', 'sl']
    >>> [mark.lang for mark in mark_table(("sl", "en"))["si"]]
    ['sl']
    """
    found: dict[str, list[Mark]] = {}
    for lang in dict.fromkeys(map(_primary, langs)):
        for word, kind in marks_of(lang).items():
            found.setdefault(word, []).append(Mark(lang, kind))
    rank = {lang: place for place, lang in enumerate(_shipped())}

    def likeliest(mark: Mark) -> tuple[int, int]:
        return KINDS.index(mark.kind), rank.get(mark.lang, len(rank))

    return {word: tuple(sorted(marks, key=likeliest)) for word, marks in found.items()}


def is_language_parameter(name: str) -> bool:
    """True if a query parameter with this name usually holds a language.

    >>> is_language_parameter("Lang"), is_language_parameter("idioma"), is_language_parameter("id")
    (True, True, False)
    """
    return fold(name) in LANGUAGE_PARAMETERS or name.casefold() in LANGUAGE_PARAMETERS


def url_marks(url: str, table: Mapping[str, tuple[Mark, ...]]) -> list[UrlMark]:
    """Find the marks of a table in a URL, in order of position.

    The field of a mark is `host`, `path`, `file` or `query`.

    A code followed by a region counts as one mark.

    >>> [mark[:4] for mark in url_marks("http://x.org/fr-ca/a_en.html", mark_table(("en", "fr")))]
    [('path', 6, 11, 'fr-ca'), ('file', 14, 16, 'en')]
    """
    scheme = _SCHEME.match(url)
    text = unquote(url[scheme.end() :] if scheme else url).casefold()
    bounds = _bounds(text)
    found: list[UrlMark] = []
    for token in _TOKEN.finditer(text):
        marks = table.get(token[0]) or table.get(fold(token[0])) or ()
        if not marks or (found and token.start() < found[-1].end):
            continue
        end = token.end()
        region = _REGION.match(text, end) if marks[0].kind in ("code", "code3") else None
        end = region.end() if region else end
        field = next(name for name, stop in bounds if token.start() < stop)
        found.append(UrlMark(field, token.start(), end, text[token.start() : end], marks))
    return found


def _bounds(text: str) -> Iterable[tuple[str, int]]:
    """The names and end offsets of the host, path, file and query in a URL without a scheme."""
    query = text.find("?") if "?" in text else len(text)
    host = text.find("/") if "/" in text[:query] else query
    file = text.rfind("/", 0, query) + 1 if host < query else host
    return (("host", host), ("path", file), ("file", query), ("query", len(text) + 1))

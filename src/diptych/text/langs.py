"""Language codes: what users, pages and models write, brought to one form.

Languages are compared by their primary language only: the ISO 639-1 code where there is one, else
639-3.  Script and region are kept in what a user wrote (`pt-BR`) but never tell two languages
apart, so `zh-Hans` and `zh-Hant` are the same language for now.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

__all__ = [
    "PART", "hreflang_language", "parse_lang", "parse_langs", "primary", "same_language",
    "wanted_language",
]  # fmt: skip

PART = 0.15
"""share of a page's text from which it counts as a page in that language, if in part"""

_TAG = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8})*")
_SHAPE = re.compile(r"([a-z]{2})(?:[-_](?:[a-z]{4}|[a-z]{2}|\d{3}))*")
# Two letters that mean themselves: no alias, no macrolanguage.  They are nearly all that occurs,
# and are answered without loading the tables of langcodes (83 ms).
_PLAIN = (
    " af am ar as az ba be bg bn bo br bs ca cs cy da de dz el en eo es et eu fa fi fo fr fy ga gd"
    " gl gu ha he hi hr ht hu hy id ig is it ja jv ka kk km kn ko ku ky la lb lo lt lv mg mi mk ml"
    " mn mr ms mt my ne nl nn no oc or pa pl ps pt ro ru rw sa sd se si sk sl sm sn so sq sr st su"
    " sv sw ta te tg th tk tr tt ug uk ur uz vi wa xh yi yo zh zu "
)
_FOLDED = {"nb": "no", "tl": "fil", "cmn": "zh"}  # written both ways, and one to our models
_UNKNOWN = frozenset({"", "und", "mul", "mis", "zxx"})


def parse_lang(code: str) -> str:
    """A user's language code in canonical form; `ValueError` for what is none.

    >>> parse_lang("EN-us"), parse_lang("fra"), parse_lang("pt_br"), parse_lang("tet")
    ('en-US', 'fr', 'pt-BR', 'tet')
    """
    stripped = code.strip()
    if f" {stripped} " in _PLAIN:
        return stripped
    import langcodes
    from langcodes.tag_parser import LanguageTagError

    message = f"unknown language code {code!r}; use an ISO 639 code such as en, fr, pt-BR"
    if not _TAG.fullmatch(stripped):
        raise ValueError(message)
    try:
        language = langcodes.Language.get(stripped)
    except LanguageTagError as error:
        raise ValueError(message) from error
    if (language.language or "") in _UNKNOWN or not language.is_valid():
        raise ValueError(message)
    return language.to_tag()


def parse_langs(text: str) -> tuple[str, ...]:
    """A user's list of two or more languages, each once; `ValueError` for what is none.

    >>> parse_langs("en, fra,eng")
    ('en', 'fr')
    """
    langs: tuple[str, ...] = ()
    for lang in [parse_lang(code) for code in text.split(",") if code.strip()]:
        if not any(same_language(lang, other) for other in langs):
            langs = (*langs, lang)
    if len(langs) < 2:
        raise ValueError(f"--langs needs two different languages, such as en,fr; got '{text}'")
    return langs


@lru_cache(maxsize=4096)
def primary(code: str) -> str:
    """The primary language of any code, or nothing for what is no language.

    >>> primary("fr-CA"), primary("eng"), primary("zh_TW"), primary("nb"), primary("x-default")
    ('fr', 'en', 'zh', 'no', '')
    """
    lowered = code.strip().lower()
    shape = _SHAPE.fullmatch(lowered)
    if shape and f" {shape[1]} " in _PLAIN:
        return shape[1]
    if not _TAG.fullmatch(lowered):
        return ""
    import langcodes
    from langcodes.tag_parser import LanguageTagError

    try:
        language = langcodes.Language.get(lowered)
    except LanguageTagError:
        return ""
    if not language.language or not langcodes.Language.make(language.language).is_valid():
        return ""
    name = language.prefer_macrolanguage().language or ""
    return "" if name in _UNKNOWN else _FOLDED.get(name, name)


def same_language(left: str, right: str) -> bool:
    """Whether two codes name one language.

    >>> same_language("zh-cn", "zh"), same_language("en", "eng"), same_language("en", "fr")
    (True, True, False)
    """
    name = primary(left)
    return name != "" and name == primary(right)


def hreflang_language(value: str) -> str:
    """The primary language a hreflang or lang attribute names; nothing for x-default or nonsense.

    >>> hreflang_language("fr_CA"), hreflang_language("x-default"), hreflang_language("english")
    ('fr', '', '')
    """
    return primary(value) if 1 < len(value) < 36 else ""


def wanted_language(scores: Iterable[tuple[str, float]], langs: Sequence[str]) -> str:
    """The likeliest language of a page that was asked for, if the page may be in one.

    >>> wanted_language([("lb", 0.4), ("fr", 0.3)], ["en", "fr"])
    'fr'
    """
    return next(
        (
            lang
            for lang, score in scores
            if score >= PART and (not langs or any(same_language(lang, each) for each in langs))
        ),
        "",
    )

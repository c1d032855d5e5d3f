"""Language codes: parsing, comparison, and the primary language and script of a code.

Codes are compared by their primary language (the ISO 639-1 code if there is one, else 639-3), and
by their script if both codes have one: `sr-Cyrl` and `sr-Latn` differ, `sr` matches either.  The
region of a user's code is kept (`pt-BR`) but does not distinguish languages, unless it implies the
script (`zh-TW`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from functools import lru_cache
from itertools import combinations

from diptych.errors import ConfigError, in_one_line, option_name

MIN_PAGE_SHARE = 0.15
"""minimum share of a page's text in a language for the page to count as being in that language"""

_TAG = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8})*")
_SIMPLE_TAG = re.compile(r"([a-z]{2})(?:[-_](?:[a-z]{4}|[a-z]{2}|\d{3}))*")
# Two-letter codes without alias or macrolanguage.  Nearly all codes in use are among them; checking
# them here avoids loading the tables of langcodes (83 ms).
_COMMON = (
    " af am ar as az ba be bg bn bo br bs ca cs cy da de dz el en eo es et eu fa fi fo fr fy ga gd"
    " gl gu ha he hi hr ht hu hy id ig is it ja jv ka kk km kn ko ku ky la lb lo lt lv mg mi mk ml"
    " mn mr ms mt my ne nl nn no oc or pa pl ps pt ro ru rw sa sd se si sk sl sm sn so sq sr st su"
    " sv sw ta te tg th tk tr tt ug uk ur uz vi wa xh yi yo zh zu "
)
# The other languages that can be identified, whose primary language is another one or themselves.
_RARE = {"bcl": "bik", "gug": "gn", "kik": "ki", "tl": "fil"} | {
    code: code
    for code in (
        "ace an ary arz crh ext fuv gcf gcr gom grc guw hbo kab lg lij ln ltg nso om pcm qu sdh uzs"
        " vec vo wuu yue"
    ).split()
}
_MERGED = {"nb": "no", "tl": "fil", "cmn": "zh"}  # two codes for one language of our models
_UNKNOWN = frozenset({"", "und", "mul", "mis", "zxx"})
_THREE_LETTERS = re.compile(r"[a-z]{3}")
# Regions that imply a script: the likely subtags of CLDR without diaspora regions, and China.
_REGION_SCRIPTS = {
    "zh-cn": "Hans", "zh-sg": "Hans", "zh-tw": "Hant", "zh-hk": "Hant", "zh-mo": "Hant",
    "yue-cn": "Hans", "sr-me": "Latn", "pa-pk": "Arab", "uz-af": "Arab", "az-ir": "Arab",
    "az-iq": "Arab", "kk-cn": "Arab", "ky-cn": "Arab", "ug-kz": "Cyrl", "tg-pk": "Arab",
    "mn-cn": "Mong",
}  # fmt: skip
_LATIN_CODES = frozenset({"sh", "hbs", "cnr"})  # codes for Serbian that imply Latin script
_accepted: ContextVar[frozenset[str]] = ContextVar("accepted_codes", default=frozenset())
"""additional three-letter codes accepted in this thread; each run has its own set"""

_CLOSE = (frozenset(("bs", "hr", "sh", "sr")), frozenset(("da", "nb", "nn", "no")),
          frozenset(("id", "ms")))  # fmt: skip
"""groups of languages whose texts are easily confused"""


def parse_lang(code: str) -> str:
    """Return the canonical form of a language code, or raise `ConfigError` if it is invalid.

    >>> parse_lang("EN-us"), parse_lang("fra"), parse_lang("pt_br"), parse_lang("tet")
    ('en-US', 'fr', 'pt-BR', 'tet')
    """
    stripped = code.strip()
    if f" {stripped} " in _COMMON or stripped.lower() in _accepted.get():
        return stripped.lower()
    if not (tag := _canonical_tag(stripped)):
        raise ConfigError(_unknown([stripped]))
    return tag


def _canonical_tag(code: str) -> str:
    """Return the canonical form of a language code, or an empty string if it is invalid."""
    import langcodes
    from langcodes.tag_parser import LanguageTagError

    if not _TAG.fullmatch(code):
        return ""
    try:
        language = langcodes.Language.get(code)
    except LanguageTagError:
        return ""
    is_known = (language.language or "") not in _UNKNOWN and language.is_valid()
    return language.to_tag() if is_known else ""


def parse_langs(text: str) -> tuple[str, ...]:
    """Parse a comma-separated list of two or more languages, or raise `ConfigError` if invalid.

    If a language is listed both with and without a script, the code without a script gets the
    usual one.

    >>> parse_langs("en, fra,eng"), parse_langs("ms-Arab,ms")
    (('en', 'fr'), ('ms-Arab', 'ms-Latn'))
    """
    codes = [code.strip() for code in text.split(",") if code.strip()]
    _check_codes(codes)
    asked = list(dict.fromkeys(parse_lang(code) for code in codes))
    langs = tuple(dict.fromkeys(_with_script(lang, asked) for lang in asked))
    for left, right in combinations(langs, 2):
        if same_language(left, right):
            message = f"{left} and {right} cannot be distinguished by their text; request only one"
            raise ConfigError(message)
    if len(langs) < 2:
        raise ConfigError(
            f"{option_name('langs')} requires two different languages, such as en,fr;"
            f" got '{in_one_line(text)}'"
        )
    return langs


def _check_codes(codes: Sequence[str]) -> None:
    """Raise `ConfigError` if a code is unknown or if commas are missing between codes."""
    unknown = [code for code in codes if not _is_code(code)]
    if not unknown and len(codes) != 1:
        return
    from diptych.language.mistakes import separated

    if any(separated(code, _is_code) for code in unknown or codes):
        listed = ",".join(",".join(separated(code, _is_code) or [code]) for code in codes)
        raise ConfigError(f"{option_name('langs')}: put a comma between languages: {listed}")
    if unknown:
        raise ConfigError(f"{option_name('langs')}: {_unknown(unknown)}")


def _is_code(code: str) -> bool:
    return f" {code} " in _COMMON or code.lower() in _accepted.get() or bool(_canonical_tag(code))


def _unknown(codes: Sequence[str]) -> str:
    """Return an error message for unknown codes, with suggestions or a link to a list of codes."""
    from diptych.language.mistakes import CODE_LIST, intended_language, name_of

    meant = [intended_language(code) for code in codes]
    quoted = ", ".join(f"'{in_one_line(code)}'" for code in codes)
    said = f"unknown language code{'s' if len(codes) > 1 else ''} {quoted}"
    if all(meant):
        return f"{said}; did you mean {', '.join(f'{lang} ({name_of(lang)})' for lang in meant)}?"
    return f"{said}; use an ISO 639 code such as en, fr, pt-BR (list: {CODE_LIST})"


def _with_script(lang: str, asked: Sequence[str]) -> str:
    """Add the usual script to a code without a script if `asked` also has the language with one."""
    name, script = primary(lang), script_of(lang)
    others = {script_of(each) for each in asked if primary(each) == name}
    usual = usual_script(name) if not script and others > {""} else ""
    if not usual:
        return lang
    own, *region = lang.split("-")
    return "-".join((own, usual, *region))


def may_be_code(code: str) -> bool:
    """True if a string has the form of an ISO 639-3 code, whether or not the code is assigned.

    >>> may_be_code("xyz"), may_be_code("mul"), may_be_code("en"), may_be_code("x-abc")
    (True, False, False, False)
    """
    return _THREE_LETTERS.fullmatch(code) is not None and code not in _UNKNOWN


def accept_codes(codes: Iterable[str]) -> None:
    """Accept additional three-letter codes as languages, replacing any accepted earlier.

    The codes are accepted in the current thread and in the tasks that it starts.
    """
    _accepted.set(frozenset(code for code in codes if may_be_code(code)))


def primary(code: str) -> str:
    """Return the primary language of a code, or an empty string if the code is invalid.

    >>> primary("fr-CA"), primary("eng"), primary("zh_TW"), primary("nb"), primary("x-default")
    ('fr', 'en', 'zh', 'no', '')
    """
    return _primary(code, _accepted.get())


@lru_cache(maxsize=4096)
def _primary(code: str, accepted: frozenset[str]) -> str:
    lowered = code.strip().lower()
    shape = _SIMPLE_TAG.fullmatch(lowered)
    if shape and f" {shape[1]} " in _COMMON:
        return shape[1]
    if lowered in _RARE and lowered not in accepted:
        return _RARE[lowered]
    if lowered in _UNKNOWN or not _TAG.fullmatch(lowered):
        return ""
    import langcodes
    from langcodes.tag_parser import LanguageTagError

    try:
        language = langcodes.Language.get(lowered)
    except LanguageTagError:
        return ""
    own = language.language or ""
    if own in accepted:
        return own
    if not own or not langcodes.Language.make(own).is_valid():
        return ""
    name = language.prefer_macrolanguage().language or ""
    return "" if name in _UNKNOWN else _MERGED.get(name, name)


@lru_cache(maxsize=4096)
def script_of(code: str) -> str:
    """The script that a code specifies or its region implies; empty if there is none.

    >>> [script_of(code) for code in ("sr-latn", "zh_TW", "zh-CN", "sr-ME", "sr-RS", "zh", "en-GB")]
    ['Latn', 'Hant', 'Hans', 'Latn', '', '', '']
    """
    own, *subtags = re.split("[-_]", code.strip().lower())
    for subtag in subtags:
        if len(subtag) == 1:  # extension or private use follows
            break
        if len(subtag) == 4 and subtag.isalpha():
            return subtag.title()
    if own in _LATIN_CODES:
        return "Latn"
    return _REGION_SCRIPTS.get(f"{primary(own)}-{subtags[0]}", "") if subtags else ""


def usual_script(code: str) -> str:
    """Return the usual script of a language, or an empty string if the code is invalid.

    >>> usual_script("sr"), usual_script("zh"), usual_script("fr-CA"), usual_script("x-default")
    ('Cyrl', 'Hans', 'Latn', '')
    """
    import langcodes

    name = primary(code)
    # For an unknown language, CLDR would return the script that is usual in America.
    return langcodes.Language.make(name).maximize().script or "" if name else ""


def same_language(left: str, right: str) -> bool:
    """True if two codes denote the same language, and the same script if both specify one.

    >>> same_language("zh-cn", "zh"), same_language("en", "eng"), same_language("en", "fr")
    (True, True, False)
    >>> same_language("sr-Latn", "sr-Cyrl"), same_language("zh-TW", "zh-Hant")
    (False, True)
    """
    name = primary(left)
    if name == "" or name != primary(right):
        return False
    one, other = script_of(left), script_of(right)
    return not one or not other or one == other


def are_close(left: str, right: str) -> bool:
    """True if texts in two languages are easily confused.

    >>> are_close("sr", "bs"), are_close("nb", "da"), are_close("sr", "sl")
    (True, True, False)
    """
    pair = {primary(left), primary(right)}
    return any(pair <= group for group in _CLOSE)


def hreflang_language(value: str) -> str:
    """The language of a hreflang or lang attribute; empty for x-default or an invalid value.

    The result includes the script if the value specifies or implies one.

    >>> hreflang_language("fr_CA"), hreflang_language("x-default"), hreflang_language("english")
    ('fr', '', '')
    >>> hreflang_language("zh-TW"), hreflang_language("sr_Latn_RS")
    ('zh-Hant', 'sr-Latn')
    """
    name = primary(value) if 1 < len(value) < 36 else ""
    script = script_of(value) if name else ""
    return f"{name}-{script}" if script else name


def asked_language(lang: str, langs: Sequence[str]) -> str:
    """Return the requested language that matches a code, or an empty string if none matches.

    If the language is requested in two scripts, a code without a script matches the usual one.

    >>> asked_language("fr-CA", ["en", "fr"]), asked_language("de", ["en", "fr"])
    ('fr', '')
    >>> asked_language("sr", ["sr-Latn", "sr-Cyrl"]), asked_language("sr-Latn", ["en", "sr"])
    ('sr-Cyrl', 'sr')
    """
    return _asked_language(lang, tuple(langs), _accepted.get())


@lru_cache(maxsize=4096)
def _asked_language(lang: str, langs: tuple[str, ...], accepted: frozenset[str]) -> str:
    """Cached version of `asked_language`; `accepted` serves only as part of the cache key."""
    found = [each for each in langs if same_language(lang, each)]
    if len(found) < 2 or lang in found:
        return lang if lang in found else "".join(found)
    usual = usual_script(lang)
    return next((each for each in found if script_of(each) == usual), found[0])


def wanted_language(scores: Iterable[tuple[str, float]], langs: Sequence[str]) -> str:
    """Return the most probable requested language of a page, or an empty string if none matches.

    `scores` are sorted, best first; languages below `MIN_PAGE_SHARE` are ignored.  If `langs` is
    empty, every language counts as requested.

    >>> wanted_language([("lb", 0.4), ("fr", 0.3)], ["en", "fr"])
    'fr'
    """
    for lang, score in scores:
        if score >= MIN_PAGE_SHARE and (not langs or asked_language(lang, langs)):
            return lang
    return ""

"""Detect machine-translated pages by widgets, plug-ins, declarations and notices."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise

from diptych.files import shipped_text

# Traces of translation services in a page's source.  Most contain `translat`, which is
# searched for once; each entry has the text before it, the texts after it, and the service.
_WORD = b"translat"
_AROUND_WORD = (
    (b".google.com/", (b"e_a/",), "google"),
    (b"google_", (b"e_element",), "google"),
    (b"", (b"e.googleapis.com",), "google"),
    (b"cdn.g", (b"e.net",), "gtranslate"),
    (b"g", (b"esettings", b"e_wrapper"), "gtranslate"),
    (b"microsoft", (b"or.com",), "microsoft"),
)
_BEHIND_WORD = tuple(behind for _, starts, _ in _AROUND_WORD for behind in starts)
_MAX_WORDS = 10_000  # occurrences that are examined
# Traces in scripts.
_SCRIPTS = {
    "weglot": (b"cdn.weglot", b"weglot.initialize"),
    "conveythis": (b"cdn.conveythis.com", b"conveythis.initializer"),
    "linguise": (b"static.linguise.com",),
    "transposh": (b"transposh_plugin", b"transposh_params"),
    "localize": (b"global.localizecdn.com", b"localize.initialize"),
    "bablic": (b"cdn.bablic.com",),
    "gtranslate": (b"gt_switcher",),
}  # fmt: skip
_MAX_SCRIPTS = 400
_SCRIPT = 600  # bytes of each script: its address, or the start of its code
_MACHINE_HOST = ".translate.goog"
_GOOGLE_CLASSES = ("translated-ltr", "translated-rtl")

# Elements whose names mark a notice, rather than an article about machine translation.
_MACHINE = (b"machine", b"machine-", b"machine_")
_ELEMENT = re.compile(
    rb"<[a-z][^<>]*?\s(?:"
    rb"""(?:class|data-[a-z-]{1,40})\s*=\s*(?:["'][^"'<>]*?(?<![\w-])|["']?)"""
    rb"(?:(?:is-)?machine[-_]?translated|machine[-_]?translation[-_](?:notice|warning|banner|"
    rb"disclaimer|alert))(?![\w-])"
    rb"""|data-machine-translated(?:[\s>]|\s*=\s*["']?(?:true|1|yes)))"""
)

_PLUGINS = (
    "google translate", "gtranslate", "weglot", "linguise", "translatepress", "transposh",
    "conveythis", "bablic", "microsoft translator", "deepl",
)  # fmt: skip
_BY_MACHINE = re.compile(r"\A(?:mt|auto|machine)\b|\bmachine[ -]transl|\bautomatic", re.IGNORECASE)
_TRANSLATION_NAMES = frozenset(
    "translation translation-type translationtype translation_type translated-by"
    " translation-method ms.translationtype translator machine-translated".split()
)
# BCP 47: `fr-x-mtfrom-en`, and t0, the field of extension T for machine translation.
_MACHINE_TAG = re.compile(r"-x-mtfrom-|-t-(?:[a-z0-9]{2,8}-){0,6}t0(?![a-z0-9])")

# By language: words for a machine, the stem of the word for translating, and patterns of notices.
_NOTICES = tomllib.loads(shipped_text("diptych.page", "notices.toml"))
_MAX_NOTICE = 400  # bytes between two tags; longer texts are not notices
_MAX_MATCHES = 1_000  # occurrences of such words that are examined


def machines(lowered: bytes, url: str, lang: str, classes: str) -> set[str]:
    """Detect translation services from a page's lower-case source, its URL and its root element.

    `lang` and `classes` are attributes of the root element.  `declared` and `notice` stand for
    services that are not named.

    >>> machines(b"<div id='google_translate_element'></div>", "", "en", "")
    {'google'}
    >>> machines(b"<p>to translate</p>", "http://a-org.translate.goog/", "fr-x-mtfrom-en", "") == {
    ...     "declared", "google"}
    True
    """
    found: set[str] = set()
    code = lang.strip()[:2].lower() or "en"
    pieces = lowered.split(_WORD, _MAX_WORDS)
    if len(pieces) > 1:
        found.update(_widgets(lowered, pieces))
        is_named = any(piece.endswith(_MACHINE) for piece in pieces)
        if is_named and _ELEMENT.search(lowered):
            found.add("declared")
    if (len(pieces) > 1 or code != "en") and _has_notice(lowered, code):
        found.add("notice")
    scripts = _scripts(lowered)
    if scripts:
        found.update(name for name, signs in _SCRIPTS.items() if any(s in scripts for s in signs))
    if _MACHINE_HOST in url or any(name in classes for name in _GOOGLE_CLASSES):
        found.add("google")
    if "-" in lang and _MACHINE_TAG.search(lang[:80].lower()):
        found.add("declared")
    return found


def _widgets(lowered: bytes, pieces: Sequence[bytes]) -> set[str]:
    """The services whose widgets occur on a page; `pieces` is its source split at `translat`."""
    found: set[str] = set()
    at = 0
    for before, after in pairwise(pieces):
        at += len(before)
        if after.startswith(_BEHIND_WORD):
            names = {
                name
                for end, starts, name in _AROUND_WORD
                if before.endswith(end) and after.startswith(starts)
            }
            if not names <= found and _is_code(lowered, at):
                found |= names
        at += len(_WORD)
    return found


def _is_code(source: bytes, at: int) -> bool:
    """True if an offset is in a tag, a script or a style rather than in text.

    >>> _is_code(b"<p id=x>y", 6), _is_code(b"<p>x", 3), _is_code(b"<script>if (a > b) x", 19)
    (True, False, True)
    """
    if source.rfind(b"<", 0, at) > source.rfind(b">", 0, at):
        return True
    return any(
        source.rfind(b"<" + name, 0, at) > source.rfind(b"</" + name, 0, at)
        for name in (b"script", b"style")
    )


def _scripts(lowered: bytes) -> bytes:
    """The first bytes of each script in a page's source, joined by line breaks."""
    pieces = lowered.split(b"<script", _MAX_SCRIPTS)
    return b"\n".join([piece[:_SCRIPT].partition(b"</script")[0] for piece in pieces[1:]])


def machine_declared(name: str, content: str) -> str:
    """The translation plug-in that a meta element names, or '' if there is none.

    The result is `declared` if the element only says that the page was machine-translated.

    Polylang and WPML serve human translations, so they do not count.

    >>> machine_declared("generator", "Weglot 3.1"), machine_declared("ms.translationtype", "MT")
    ('weglot', 'declared')
    >>> machine_declared("generator", "WPML ver:4.6 stt:1,4"), machine_declared("author", "Weglot")
    ('', '')
    """
    if name != "generator" and name not in _TRANSLATION_NAMES:
        return ""
    lowered = content[:200].lower()
    for plugin in _PLUGINS:
        if plugin in lowered:
            return plugin.partition(" ")[0]
    if name == "generator":
        return ""
    is_said = name == "machine-translated" and lowered in ("", "true", "1", "yes")
    return "declared" if is_said or _BY_MACHINE.search(lowered) else ""


def _has_notice(lowered: bytes, lang: str) -> bool:
    """True if a short line on a page states that the page was machine-translated.

    >>> _has_notice("<p>diese seite wurde automatisch übersetzt.</p>".encode(), "de")
    True
    >>> _has_notice(b"<h1>machine translation</h1><p>it was translated.</p>", "en")
    False
    """
    if lang not in _NOTICES:
        return False
    words = [word.encode() for word in _NOTICES[lang]["machine_words"]]
    stem: str = _NOTICES[lang]["stem"]
    sign = stem.encode()
    if sign not in lowered:
        return False
    if stem.isascii():
        pieces = (piece for piece in _short_pieces(lowered, sign) if any(w in piece for w in words))
    else:  # its letters may still be capitals
        pieces = (piece for word in words for piece in _short_pieces(lowered, word))
    lines = (" ".join(piece.decode("utf-8", "replace").lower().split()) for piece in pieces)
    return any(stem in line and _notice(lang).search(line) for line in lines)


@cache
def _notice(lang: str) -> re.Pattern[str]:
    return re.compile("|".join(_NOTICES[lang]["patterns"]))


def _short_pieces(lowered: bytes, word: bytes) -> Iterator[bytes]:
    """Yield each short text that contains `word` and lies between two tags."""
    at = lowered.find(word)
    for _ in range(_MAX_MATCHES):
        if at < 0:
            return
        start = lowered.rfind(b">", max(0, at - _MAX_NOTICE), at)
        end = lowered.find(b"<", at, at + _MAX_NOTICE)
        if 0 <= start < end <= start + _MAX_NOTICE:
            yield lowered[start + 1 : end]
        at = lowered.find(word, max(at + len(word), end))

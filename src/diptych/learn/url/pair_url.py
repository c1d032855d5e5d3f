"""URL parser for the URL pair model: labels, segments, tokens, marks and parameters."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple
from urllib.parse import unquote

from diptych.language.marks import KINDS, LANGUAGE_PARAMETERS, LANGUAGES, mark_table
from diptych.learn.url.concepts import fingerprint, slug_letters

MAX_CHARACTERS = 2048
MAX_LABELS, MAX_SEGMENTS, MAX_TOKENS, MAX_MARKS, MAX_PARAMS = 16, 24, 64, 24, 24
EXTENSIONS = frozenset(
    b"html htm php php3 php4 asp aspx jsp jspx shtml xhtml phtml cfm cgi do action pdf xml"
    b" txt".split()
)
INDEXES = frozenset(b"index default home main".split())
HOST, FOLDER, FILE, QUERY = range(4)
WHOLE, EDGE, INSIDE, NAMED = 3, 2, 1, 4
"""strength of a mark: a whole segment, at the edge of one, inside one, or a `lang` parameter"""
_ANYWHERE = 99
_NO_KIND = 9
_SCHEME = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
_TOKEN = re.compile(rb"[a-z\x80-\xff]+|[0-9]+")
_ODD = re.compile(rb"[^a-z0-9\x80-\xff](?=[^a-z0-9\x80-\xff])")
_SESSION_HINT = re.compile(r"s(?:ess(?:ion_?)?)?id|cfid|cftoken|utm_|clid|zenid|stoken")
_SESSION = re.compile(
    r"(?<=[?&;])(?:oscsid|jsessionid|phpsessid|(?:asp)?session_?id|sid|cfid|cftoken|zenid|stoken|utm_\w+"
    r"|[a-z]*clid)=[^&;?]*(?:[&;]|(?=\?)|\Z)"
)
_REGION = re.compile(rb"[a-z]{2}|hans|hant|latn|cyrl")


class MarkWord(NamedTuple):
    """The language that a word may mark, as an index into `LANGUAGES`, and the kind of mark."""

    lang: int
    kind: int


class Token(NamedTuple):
    """A run of letters or digits in a URL, its position, and the language mark it may be."""

    word: bytes
    field: int
    segment: int
    mark: MarkWord | None = None
    strength: int = 0

    @property
    def is_number(self) -> bool:
        """True if the token is a run of digits."""
        return self.word[0] < ord(":")


class FoundMark(NamedTuple):
    """A language mark in a URL."""

    lang: int
    strength: int
    field: int
    segment: int
    kind: int


class Param(NamedTuple):
    """A query parameter."""

    name: bytes
    value: bytes
    is_language: bool


@dataclass(slots=True)
class ParsedUrl:
    """The parts of a URL; a path segment that is only a mark is in `marks`, not in `segments`."""

    labels: list[bytes]
    segments: list[bytes] = field(default_factory=list)
    tokens: list[Token] = field(default_factory=list)
    marks: list[FoundMark] = field(default_factory=list)
    params: list[Param] = field(default_factory=list)
    extension: bytes = b""
    path: bytes = b""
    """the path from the first segment in `segments` to the last"""
    slash: bool = True
    odd: int = 0
    """number of delimiters that directly follow another delimiter"""
    end: int = 0
    """what the path ends with: a slash (0), a letter or digit (1), or another delimiter (2)"""


@cache
def mark_words() -> dict[bytes, MarkWord]:
    """A mapping from each word that may indicate a language to its most probable meaning.

    The meaning is a language and a kind of mark, such as a language code or a country.
    """
    place = {lang: number for number, lang in enumerate(LANGUAGES)}
    words = {
        word: MarkWord(place[marks[0].lang], KINDS.index(marks[0].kind))
        for word, marks in mark_table().items()
        if _TOKEN.fullmatch(word.encode()) and not word[0].isdigit()
    }
    spelled = {slug_letters(word): mark for word, mark in words.items()}
    return {word.encode(): mark for word, mark in (spelled | words).items()}


def plain(url: str) -> bytes:
    """Normalise a URL: decode and lower-case it, and remove accents, scheme and fragment.

    Session and campaign parameters are removed too, because two URLs with the same id would look
    parallel.

    >>> plain("HTTP://X.org/%C3%9Cber#a"), plain("http://x.org/a?osCsid=6f1e&id=2")
    (b'x.org/uber', b'x.org/a?id=2')
    """
    text = url[: 4 * MAX_CHARACTERS].partition("#")[0]
    text = text[scheme.end() :] if (scheme := _SCHEME.match(text)) else text
    if "%" in text:
        # Escapes that are not UTF-8 are mostly from old sites in Western languages.
        decoded = unquote(text, errors="replace")
        text = unquote(text, "latin-1") if "\ufffd" in decoded else decoded
    text = slug_letters(text)
    if _SESSION_HINT.search(text):
        text = _SESSION.sub("", text).replace(";?", "?").rstrip("?&;")
    return text[:MAX_CHARACTERS].encode("utf-8", "replace")


def parse_url(text: bytes) -> ParsedUrl:
    """Parse a URL that was normalised by `plain`.

    >>> url = parse_url(b"www.x.org/fr/a-1.html?lang=fr&id=2")
    >>> url.labels, url.segments, url.extension, [param.value for param in url.params]
    ([b'x', b'org'], [b'a-1'], b'html', [b'fr', b'2'])
    """
    before, asked, query = text.partition(b"?")
    host, _, path = before.partition(b"/")
    labels = host.partition(b":")[0].split(b".")
    url = ParsedUrl(labels[1:] if labels[0] == b"www" and len(labels) > 1 else labels)
    del url.labels[MAX_LABELS:]
    for place, label in enumerate(url.labels[:-2]):
        if mark := mark_words().get(label):
            _add(url, FoundMark(mark.lang, WHOLE, HOST, place, mark.kind))
    url.slash = not path or path.endswith(b"/")
    url.end = 0 if url.slash else 1 if _TOKEN.match(path[-1:]) else 2
    start = len(host) + 1 if len(before) > len(host) else len(host)
    url.odd = len(_ODD.findall(text[start:]))
    whole = path.rstrip(b"/")
    parts = [part for part in re.finditer(rb"[^/]+", whole)]
    spans = [
        span
        for part in parts
        if (span := _segment(url, part[0], part.end() == len(whole), part.start()))
    ]
    url.path = whole[spans[0][0] : spans[-1][1]] if spans else b""
    for param in query.split(b"&") if asked else ():
        _param(url, param)
    return url


def _add(url: ParsedUrl, mark: FoundMark) -> None:
    if len(url.marks) < MAX_MARKS:
        url.marks.append(mark)


def _segment(url: ParsedUrl, segment: bytes, last: bool, start: int) -> tuple[int, int] | None:
    """Parse a path segment, and add what it contains to `url`.

    `last` is True for the last segment of the path; `start` is the offset of the segment.  Return
    the start and end offsets of the segment if it was added to `url.segments`, otherwise None.
    """
    words = list(_TOKEN.finditer(segment))[:MAX_TOKENS]
    if (
        last
        and words
        and words[-1][0] in EXTENSIONS
        and segment[: words[-1].start()].endswith(b".")
    ):
        found = words.pop()
        url.extension, segment = found[0], segment[: found.start() - 1]
    if last and len(words) == 1 and words[0][0] == segment and segment in INDEXES:
        return None
    where = FILE if last else FOLDER
    if mark := _whole_mark(segment, words):
        _add(url, FoundMark(mark.lang, WHOLE, where, len(url.segments), mark.kind))
        return None
    if not segment or len(url.segments) >= MAX_SEGMENTS:
        return None
    for place, word in enumerate(words):
        mark = mark_words().get(word[0])
        at_edge = place in (0, len(words) - 1)
        strength = (WHOLE if len(words) == 1 else EDGE if at_edge else INSIDE) if mark else 0
        if len(url.tokens) >= MAX_TOKENS:
            break
        if mark:
            _add(url, FoundMark(mark.lang, strength, where, len(url.segments), mark.kind))
        url.tokens.append(Token(word[0], where, len(url.segments), mark, strength))
    url.segments.append(segment)
    return start, start + len(segment)


def _whole_mark(segment: bytes, words: list[re.Match[bytes]]) -> MarkWord | None:
    """The mark that makes up a whole segment (`fr`, `fr-ca` or `ca-fr`), or None."""
    if not 1 <= len(words) <= 2 or words[0].start() or words[-1].end() != len(segment):
        return None
    first = mark_words().get(words[0][0])
    if len(words) == 1:
        return first
    if words[1].start() != words[0].end() + 1:
        return None
    if first and _REGION.fullmatch(words[1][0]):
        return first
    second = mark_words().get(words[1][0])
    two_letters = len(words[0][0]) == len(words[1][0]) == 2
    return second if two_letters and second and second.kind == 0 else None


def _param(url: ParsedUrl, param: bytes) -> None:
    if len(url.params) >= MAX_PARAMS:
        return
    name, _, value = param.partition(b"=")
    words = _TOKEN.findall(value)[:MAX_TOKENS]
    alone = len(words) == 1 or (len(words) == 2 and _REGION.fullmatch(words[1]))
    mark = mark_words().get(words[0]) if alone else None
    named = name.decode("utf-8", "replace") in LANGUAGE_PARAMETERS
    is_language = named or (mark is not None and mark.kind <= 1)
    if is_language:
        # A value that does not name a language counts as a separate language: `Lang=1`.
        lang = mark.lang if mark else 1000 + (fingerprint(value) & 0x3FFF)
        kind = mark.kind if mark else _NO_KIND
        _add(url, FoundMark(lang, NAMED if named else WHOLE, QUERY, 0, kind))
    else:
        for word in words[: MAX_TOKENS - len(url.tokens)]:
            found = mark_words().get(word)
            url.tokens.append(Token(word, QUERY, _ANYWHERE, found, INSIDE if found else 0))
    url.params.append(Param(name, value, is_language))

"""Helpers for all export formats: column values, unit ids and text encoding."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from typing import Any, BinaryIO, NamedTuple, Protocol, TypeVar, runtime_checkable

import orjson

from diptych.protocols import Corpus, Exporter
from diptych.units import Side, Unit

PLACE_COLUMNS = ("url", "path", "at", "fetched", "digest", "warc", "offset")
"""columns of one side: the place where its text was found"""
COMMON_COLUMNS = (
    "alignment", "verified", "evidence", "flags", "copies", "run", "first_seen", "last_seen",
)  # fmt: skip
"""columns of the unit as a whole"""
PAIR_COLUMNS = (
    "left", "right", "score", "left_url", "right_url", "id", "left_lang", "right_lang",
    *(f"{side}_{name}" for name in PLACE_COLUMNS[1:] for side in ("left", "right")),
    *COMMON_COLUMNS,
)  # fmt: skip
"""columns for two languages; users' scripts depend on the first five"""
BATCH = 1_000  # units checked and written per call

Value = str | float | int
_Item = TypeVar("_Item")
_LANG = re.compile(r"[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8}){0,4}")
# All characters that a reader may take for the end of a line or column, that control a terminal, or
# that turn the direction of the text after them.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
# The same in UTF-8.  Single bytes are counted with `translate`; the others are two patterns, as one
# pattern that starts with an alternative is matched byte by byte.
_CONTROL_BYTES = bytes([*range(0x20), 0x7F])
_C1 = re.compile(rb"\xc2[\x80-\x9f]")
_SEPARATORS = re.compile(rb"\xe2\x80[\xa8-\xae]")
_ISOLATES = re.compile(rb"\xe2\x81[\xa6-\xa9]")
_DELETE = re.compile(rb"\x7f")


class Encoding(NamedTuple):
    """The bytes of a file before its units, the encoding of units, and the bytes after them."""

    head: bytes
    units: Callable[[Sequence[Unit]], bytes]
    """encodes some consecutive units"""
    foot: bytes = b""


@runtime_checkable
class BatchExporter(Exporter, Protocol):
    """A format with one file, in which the units follow each other.

    Several such files can be written while the corpus is read once.
    """

    def encoding(self, langs: Sequence[str]) -> Encoding:
        """The encoding of a corpus in these languages."""
        ...


@lru_cache(maxsize=2 * BATCH)  # several files are written together
def unit_id(unit: Unit) -> str:
    """The id of a unit, which is the same in every run that finds the same texts and pages.

    The id is a hash of the languages, texts and URLs of all sides, in an order that does not depend
    on which side is left.  Each field is preceded by its length, so that the hashed bytes of
    different units always differ.

    >>> en = Side("en", "A cat", "http://a.org/en", "", "", 0.0, "", "", 0)
    >>> fr = Side("fr", "Un chat", "http://a.org/fr", "", "", 0.0, "", "", 0)
    >>> unit_id(Unit((en, fr), 1.0, 1.0, 1.0, ""))
    'b6ef0213761fa4b4a965'
    """
    text = "".join(
        sorted(
            [
                f"{len(lang)} {len(text)} {len(url)} {lang}{text}{url}"
                for lang, text, url, *_ in unit.sides
            ]
        )
    )
    return blake2b(utf8(text), digest_size=10).hexdigest()


def pair_row(unit: Unit) -> tuple[Value, ...]:
    """The values of a unit with two sides, in the order of `PAIR_COLUMNS`."""
    sides, score, alignment, verified, evidence, flags, copies, run, first_seen, last_seen = unit
    left, right = sides
    # Unpacking all fields at once takes half the time of reading each attribute.
    lang, text, url, path, at, seconds, digest, warc, offset = left
    lang_2, text_2, url_2, path_2, at_2, seconds_2, digest_2, warc_2, offset_2 = right
    return (
        text, text_2, round(score, 4), url, url_2, unit_id(unit), lang, lang_2,
        path, path_2, at, at_2, iso_time(seconds), iso_time(seconds_2), digest, digest_2,
        warc, warc_2, offset, offset_2,
        round(alignment, 4), round(verified, 4), evidence, " ".join(flags), copies, run,
        seen_time(first_seen), seen_time(last_seen),
    )  # fmt: skip


def place_row(side: Side) -> tuple[Value, ...]:
    """The source location of a side's text, in the order of `PLACE_COLUMNS`."""
    _, _, url, path, at, seconds, digest, warc, offset = side
    return url, path, at, iso_time(seconds), digest, warc, offset


def common_row(unit: Unit) -> tuple[Value, ...]:
    """The values that apply to a whole unit, in the order of `COMMON_COLUMNS`."""
    _, _, alignment, verified, evidence, flags, copies, run, first_seen, last_seen = unit
    return (
        rounded(alignment), rounded(verified), evidence, " ".join(flags), copies, run,
        seen_time(first_seen), seen_time(last_seen),
    )  # fmt: skip


def side_fields(side: Side) -> dict[str, Value]:
    """Map column names to the language and the source location of a side's text."""
    return {"lang": side.lang, **dict(zip(PLACE_COLUMNS, place_row(side), strict=True))}


def common_fields(unit: Unit) -> dict[str, Value]:
    """Map column names to the values that apply to a whole unit."""
    return dict(zip(COMMON_COLUMNS, common_row(unit), strict=True))


def rounded(score: float) -> float:
    """Round a score to four decimal places; further digits differ between machines.

    >>> rounded(0.98765432)
    0.9877
    """
    return round(score, 4)


@lru_cache(maxsize=4096)  # many segments share a page
def iso_time(seconds: float) -> str:
    """Format a time as in WARC files, truncated to seconds.

    >>> iso_time(1700000000.9)
    '2023-11-14T22:13:20Z'
    """
    return datetime.fromtimestamp(int(seconds), UTC).isoformat()[:19] + "Z"


def seen_time(seconds: float) -> str:
    """Format a time as `iso_time` does; empty if it is unknown.

    >>> seen_time(1700000000.9), seen_time(0.0)
    ('2023-11-14T22:13:20Z', '')
    """
    return iso_time(seconds) if seconds else ""


@lru_cache(maxsize=1024)
def is_lang(code: str) -> bool:
    """True if a string has the form of a language code.

    >>> is_lang("zh-Hant"), is_lang("../en"), is_lang("en" + "-x" * 99)
    (True, False, False)
    """
    return _LANG.fullmatch(code) is not None


def one_line(text: str) -> str:
    r"""Replace tabs, line breaks and other control characters in a text with spaces.

    >>> one_line("a\tb\r\nc\ud800")
    'a b  c\ufffd'
    """
    return _surrogates_replaced(_CONTROL.sub(" ", text))


def xml_line(text: str) -> str:
    r"""Replace or remove characters that XML does not allow (XML 1.0, 2.2), and line breaks.

    >>> xml_line("a\x1f\ufffeb")
    'a b'
    """
    return one_line(text).replace("\ufffe", "").replace("\uffff", "")


def _surrogates_replaced(text: str) -> str:
    return _SURROGATE.sub("\ufffd", text)


def utf8(text: str) -> bytes:
    r"""Encode a text as UTF-8; a lone surrogate becomes the replacement character.

    >>> utf8("a\ud800")
    b'a\xef\xbf\xbd'
    """
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _surrogates_replaced(text).encode()


def with_surrogates_replaced(value: Any) -> Any:
    r"""Copy a string, list or dictionary, replacing lone surrogates at any depth.

    >>> with_surrogates_replaced({"a": ["\ud800", 1]})
    {'a': ['\ufffd', 1]}
    """
    if isinstance(value, str):
        return utf8(value).decode()
    if isinstance(value, dict):
        return {
            with_surrogates_replaced(key): with_surrogates_replaced(found)
            for key, found in value.items()
        }
    return (
        [with_surrogates_replaced(found) for found in value]
        if isinstance(value, list | tuple)
        else value
    )


def json_line(row: Mapping[str, Any]) -> bytes:
    r"""Encode a mapping as one line of JSON.

    >>> json_line({"text": "a\n\ud800"})
    b'{"text":"a\\n\xef\xbf\xbd"}\n'
    """
    try:
        data = orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # a lone surrogate, which UTF-8 cannot encode
        data = orjson.dumps(with_surrogates_replaced(row), option=orjson.OPT_APPEND_NEWLINE)
    return escaped_controls(data)


def escaped_controls(data: bytes) -> bytes:
    r"""Escape the control characters in JSON that its encoder leaves as they are.

    >>> escaped_controls('{"a":"\u009b2J \u202e \u2066"}'.encode())
    b'{"a":"\\u009b2J \\u202e \\u2066"}'
    """
    for pattern in (_C1, _SEPARATORS, _ISOLATES, _DELETE):
        if pattern.search(data):
            data = pattern.sub(lambda found: b"\\u%04x" % ord(found[0].decode()), data)
    return data


def write_rows(rows: Iterable[Mapping[str, Any]], out: BinaryIO) -> int:
    """Write one JSON object per line, and return the number of lines."""
    count = 0
    for row in rows:
        out.write(json_line(row))
        count += 1
    return count


def is_plain(data: bytes, breaks: int) -> bool:
    r"""True if `data` contains exactly `breaks` control characters: its field and line separators.

    >>> is_plain(b"a\tb\n", 2), is_plain(b"a\tb\tc\n", 2), is_plain("a\u202e\n".encode(), 1)
    (True, False, False)
    """
    controls = len(data) - len(data.translate(None, _CONTROL_BYTES))
    is_other = _C1.search(data) or _SEPARATORS.search(data) or _ISOLATES.search(data)
    return controls == breaks and not is_other


def as_lines(rows: Sequence[tuple[Value, ...]], form: str) -> bytes:
    r"""Format rows as lines by the `%` template `form`, replacing control characters with spaces.

    >>> as_lines([("a", 1), ("b\n", 2)], "%s\t%d")
    b'a\t1\nb \t2\n'
    """
    data = utf8("\n".join([form % row for row in rows]) + "\n")
    if is_plain(data, len(rows) * (form.count("\t") + 1)):
        return data
    clean = [tuple([one_line(v) if isinstance(v, str) else v for v in row]) for row in rows]
    return ("\n".join([form % row for row in clean]) + "\n").encode()


def batches(items: Iterable[_Item], size: int = BATCH) -> Iterator[list[_Item]]:
    """Split items into batches of a given size.

    >>> list(batches("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch


def write_encoded(corpus: Corpus, out: BinaryIO, encoding: Encoding) -> int:
    """Write a whole file, and return the number of units."""
    out.write(encoding.head)
    count = write_batches(corpus, out, encoding.units)
    out.write(encoding.foot)
    return count


def write_batches(corpus: Corpus, out: BinaryIO, encode: Callable[[Sequence[Unit]], bytes]) -> int:
    """Encode and write all units of a corpus in batches, and return the number of units."""
    count = 0
    for units in batches(corpus.units()):
        out.write(encode(units))
        count += len(units)
    return count

"""Exports TMX 1.4b, the exchange format for translation memories, as a stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from typing import ClassVar

from diptych._version import VERSION
from diptych.protocols import Corpus, Files
from diptych.stages.export.shared import columns
from diptych.units import Unit

_HEADER = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4">
  <header creationtool="diptych" creationtoolversion={version} segtype="sentence" o-tmf="diptych"
          adminlang="en" srclang={srclang} datatype="plaintext"/>
  <body>
"""
_FOOTER = b"""  </body>
</tmx>
"""
_ANY_SOURCE = "*all*"  # TMX 1.4b, srclang: any language may be the source
_SEPARATOR = "\x1f"  # separates fields until a whole batch is escaped at once
# XML 1.0, 2.2: characters that a document must not contain, even as references; and controls.
_FORBIDDEN_BYTES = ("\ufffe".encode(), "\uffff".encode())
# The fetch time is written as the creation date.
_PLACE_PROPERTIES = tuple(name for name in columns.PLACE_COLUMNS if name != "fetched")
_UNIT_FIELDS = 2 + len(columns.COMMON_COLUMNS)
_SIDE_FIELDS = 2 + len(_PLACE_PROPERTIES)


@dataclass(frozen=True, slots=True)
class Tmx:
    """Writes each unit as a TMX translation unit, with its metadata as properties."""

    suffix: ClassVar[str] = "tmx"
    n_way: bool = False
    """declare no language as the source of the others"""

    def write(self, corpus: Corpus, files: Files) -> int:
        """Write all units in corpus order, and return the number of units."""
        return columns.write_encoded(corpus, files(self.suffix), self.encoding(corpus.langs))

    def encoding(self, langs: Sequence[str]) -> columns.Encoding:
        """The XML before, of and after the units.

        The source language is the first language of the corpus, or `*all*` if `n_way` is set.
        """
        source = _ANY_SOURCE if self.n_way or not langs else langs[0]
        head = _HEADER.format(version=_attribute(VERSION), srclang=_attribute(source))
        return columns.Encoding(
            head.encode(), lambda units: _units(units, n_way=self.n_way), _FOOTER
        )


def _units(units: Sequence[Unit], *, n_way: bool) -> bytes:
    """Encode units as XML: all fields are escaped at once, then inserted into templates."""
    escaped = _escaped([field for unit in units for field in _fields(unit)])
    parts = []
    start = 0
    for unit in units:
        end = start + _UNIT_FIELDS + _SIDE_FIELDS * len(unit.sides)
        form = _form(tuple([side.lang for side in unit.sides]), n_way)
        parts.append(form % tuple(escaped[start:end]))
        start = end
    return b"".join(parts)


def _fields(unit: Unit) -> list[str]:
    """The fields of a unit, in the order of the placeholders in its template."""
    alignment, verified, *others = columns.common_row(unit)
    fields = [
        columns.unit_id(unit), f"{unit.score:.4f}", f"{alignment:.4f}", f"{verified:.4f}",
        *map(str, others),
    ]  # fmt: skip
    for _, text, url, path, at, seconds, digest, warc, offset in unit.sides:
        fields += (_date(seconds), url, path, at, digest, warc, str(offset), text)
    return fields


@lru_cache(maxsize=4096)
def _date(seconds: float) -> str:
    """Format a time as TMX requires.

    >>> _date(1700000000.9)
    '20231114T221320Z'
    """
    return columns.iso_time(seconds).replace("-", "").replace(":", "")


@lru_cache(maxsize=1024)
def _form(langs: tuple[str, ...], n_way: bool) -> bytes:
    """The XML template for a unit in these languages, with placeholders for the fields."""
    source = _attribute(_ANY_SOURCE if n_way else langs[0])
    lines = [f'    <tu tuid="%b" srclang={source}>', *_props(("score", *columns.COMMON_COLUMNS), 6)]
    for lang in langs:
        lines += [
            f'      <tuv xml:lang={_attribute(lang)} creationdate="%b">',
            *_props(_PLACE_PROPERTIES, 8),
            "        <seg>%b</seg>",
            "      </tuv>",
        ]
    return "\n".join([*lines, "    </tu>", ""]).encode()


def _props(names: Sequence[str], indent: int) -> list[str]:
    return [f'{" " * indent}<prop type="{name}">%b</prop>' for name in names]


def _attribute(text: str) -> str:
    """Encode an attribute value for a template: quoted, and with percent signs doubled."""
    return f'"{escape(columns.xml_line(text))}"'.replace("%", "%%")


def _escaped(fields: Sequence[str]) -> list[bytes]:
    r"""Escape texts for use between XML tags.

    >>> _escaped(["a<b", "c\x1f\ufffed"])
    [b'a&lt;b', b'c d']
    """
    data = columns.utf8(_SEPARATOR.join(fields))
    is_plain = columns.is_plain(data, len(fields) - 1)
    if not is_plain or any(found in data for found in _FORBIDDEN_BYTES):
        data = _SEPARATOR.join([columns.xml_line(field) for field in fields]).encode()
    escaped = data.replace(b"&", b"&amp;").replace(b"<", b"&lt;").replace(b">", b"&gt;")
    return escaped.split(_SEPARATOR.encode())

"""TMX 1.4b: the exchange format of translation memories, written as a stream."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import BinaryIO
from xml.sax.saxutils import escape, quoteattr

from diptych.types import SegmentPair

__all__ = ["Tmx", "legal"]

# XML 1.0, 2.2: what may not be in a document, not even as a reference.
_ILLEGAL = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_HEADER = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4">
  <header creationtool="diptych" creationtoolversion="1" segtype="sentence" o-tmf="diptych"
          adminlang="en" srclang={srclang} datatype="plaintext"/>
  <body>
"""
_UNIT = """    <tu srclang={left_lang}>
      <prop type="score">{score:.4f}</prop>
      <tuv xml:lang={left_lang}>
        <prop type="url">{left_url}</prop>
        <prop type="path">{left_path}</prop>
        <seg>{left}</seg>
      </tuv>
      <tuv xml:lang={right_lang}>
        <prop type="url">{right_url}</prop>
        <prop type="path">{right_path}</prop>
        <seg>{right}</seg>
      </tuv>
    </tu>
"""
_FOOTER = """  </body>
</tmx>
"""


@dataclass(frozen=True, slots=True)
class Tmx:
    """A translation unit for each pair, with its score, its URLs and its paths as properties."""

    suffix: str = "tmx"

    def write(self, segs: Iterable[SegmentPair], out: BinaryIO) -> None:
        """All segments, in the order given; the source language is that of the first."""
        rest = iter(segs)
        first = next(rest, None)
        srclang = first.left_lang if first else "*all*"
        out.write(_HEADER.format(srclang=_attribute(srclang)).encode())
        for seg in chain([first] if first else [], rest):
            out.write(_unit(seg).encode())
        out.write(_FOOTER.encode())


def _unit(seg: SegmentPair) -> str:
    return _UNIT.format(
        score=seg.score,
        left_lang=_attribute(seg.left_lang),
        right_lang=_attribute(seg.right_lang),
        left_url=_content(seg.left_url),
        right_url=_content(seg.right_url),
        left_path=_content(seg.left_path),
        right_path=_content(seg.right_path),
        left=_content(seg.left),
        right=_content(seg.right),
    )


def _content(text: str) -> str:
    return escape(legal(text))


def _attribute(text: str) -> str:
    return quoteattr(legal(text))


def legal(text: str) -> str:
    r"""A text without the characters that XML cannot hold.

    >>> legal("a\x00b\nc\ufffe")
    'ab\nc'
    """
    return _ILLEGAL.sub("", text)

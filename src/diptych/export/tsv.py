"""Tab-separated values: one segment pair a line, with where both sides were found."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import BinaryIO

from diptych.types import SegmentPair

__all__ = ["Tsv", "one_line"]

_COLUMNS = (
    "left",
    "right",
    "score",
    "left_url",
    "right_url",
    "left_lang",
    "right_lang",
    "left_path",
    "right_path",
)
# Everything that some reader takes for the end of a line or a column, and what terminals obey.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Tsv:
    """A header and a line for each pair; nothing is quoted, since no field can hold a tab."""

    suffix: str = "tsv"

    def write(self, segs: Iterable[SegmentPair], out: BinaryIO) -> None:
        """All segments, in the order given."""
        out.write(_line(_COLUMNS))
        for seg in segs:
            out.write(
                _line(
                    (
                        seg.left,
                        seg.right,
                        f"{seg.score:.4f}",
                        seg.left_url,
                        seg.right_url,
                        seg.left_lang,
                        seg.right_lang,
                        seg.left_path,
                        seg.right_path,
                    )
                )
            )


def _line(fields: Iterable[str]) -> bytes:
    return ("\t".join(map(one_line, fields)) + "\n").encode()


def one_line(text: str) -> str:
    r"""A text without tabs, line ends or other control characters.

    >>> one_line("a\tb\r\nc")
    'a b  c'
    """
    return _SURROGATE.sub("\ufffd", _CONTROL.sub(" ", text))

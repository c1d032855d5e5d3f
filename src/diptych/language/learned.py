"""Learned languages: the files that `diptych train langid` writes, their reader and writer.

The file is JSON, data and never code; the column of numbers in it is packed by zlib and base64.
"""

from __future__ import annotations

import re
import zlib
from base64 import b64decode, b64encode
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson

from diptych.language.codes import may_be_code, primary

MAX_BYTES = 4_000_000  # of a file; one has some 100,000
_FORMAT = 1
_MAX_COLUMN = 8_000_000  # bytes: forty times those of the model's columns
# A prior is the logarithm of a weight, of which the model's own go from 4.9 to 7.2; one that is
# far above them would make every text one in this language.
_LEAST, _MOST = -1e4, 10.0
_SCRIPT = re.compile(r"[A-Z][a-z]{3}")
_FIELDS = {"format", "lang", "model", "prior", "scripts", "column"}


@dataclass(frozen=True, slots=True)
class LearnedLanguage:
    """A language learned from text: a column for the model of `language.identify`."""

    lang: str
    column: bytes
    """log probability of each feature of the model, as 16-bit floating-point numbers"""
    prior: float
    scripts: tuple[str, ...]
    """the scripts it is written in"""
    model: str
    """fingerprint of the model that it is a column for"""

    def to_bytes(self) -> bytes:
        """The language as the bytes of a file."""
        return orjson.dumps(
            {
                "format": _FORMAT,
                "lang": self.lang,
                "model": self.model,
                "prior": self.prior,
                "scripts": self.scripts,
                "column": b64encode(zlib.compress(self.column, 9)).decode("ascii"),
            }
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> LearnedLanguage:
        """The language that a file holds; `ValueError` for any other file."""
        if len(data) > MAX_BYTES:
            raise ValueError("it is too large")
        try:
            stored = orjson.loads(data)
        except orjson.JSONDecodeError as error:
            raise ValueError("it is not JSON") from error
        if not isinstance(stored, dict) or set(stored) != _FIELDS or stored["format"] != _FORMAT:
            raise ValueError("it is of another kind, or of another version")
        return cls(
            _code(stored["lang"]),
            _unpacked(stored["column"]),
            _prior(stored["prior"]),
            _scripts(stored["scripts"]),
            _text(stored["model"]),
        )


def _code(value: Any) -> str:
    if not isinstance(value, str) or not (may_be_code(value) or primary(value)):
        raise ValueError("its language is no code")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("a text in it is none")
    return value


def _prior(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("a number in it is none")
    if not _LEAST < value <= _MOST:
        raise ValueError("its prior cannot be")
    return float(value)


def _scripts(value: Any) -> tuple[str, ...]:
    is_list = isinstance(value, list) and 0 < len(value) <= 8
    if not is_list or not all(isinstance(each, str) and _SCRIPT.fullmatch(each) for each in value):
        raise ValueError("its scripts are no codes of ISO 15924")
    return tuple(value)


def _unpacked(value: Any) -> bytes:
    """The column, unpacked up to a limit."""
    try:
        packed = b64decode(_text(value), validate=True)
        column = zlib.decompressobj().decompress(packed, _MAX_COLUMN)
    except (ValueError, zlib.error) as error:
        raise ValueError("its numbers are damaged") from error
    if not column or len(column) % 2:
        raise ValueError("its numbers are not whole")
    if not _is_learned(column):
        raise ValueError("its numbers are no log probabilities of features")
    return column


def _is_learned(column: bytes) -> bool:
    """True if the numbers of a column are log probabilities that are not all the same."""
    numbers = np.frombuffer(column, "<f2")
    least, most = numbers.min(), numbers.max()  # not a number, if any is none
    return bool(np.isfinite(least) and least < most <= 0)

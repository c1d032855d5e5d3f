"""Learned languages: read and write the files that `diptych train langid` creates.

The files are JSON; the column of log probabilities is compressed with zlib and encoded in base64.
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

MAX_BYTES = 4_000_000  # size limit of a file; a typical one has about 100,000 bytes
_FORMAT = 1
_MAX_COLUMN = 8_000_000  # bytes: forty times the size of a column of the model
# A prior is the logarithm of a weight.  Those of the model range from 4.9 to 7.2; with a far higher
# prior, every text would be identified as this language.
_LEAST, _MOST = -1e4, 10.0
_SCRIPT = re.compile(r"[A-Z][a-z]{3}")
_FIELDS = {"format", "lang", "model", "prior", "scripts", "column"}


@dataclass(frozen=True, slots=True)
class LearnedLanguage:
    """A language learned from text, stored as a column for the model of `language.identify`."""

    lang: str
    column: bytes
    """log probability of each feature of the model, as 16-bit floating-point numbers"""
    prior: float
    scripts: tuple[str, ...]
    """the scripts of the language"""
    model: str
    """fingerprint of the model that the column belongs to"""

    def to_bytes(self) -> bytes:
        """Serialise the language to JSON."""
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
        """Parse the output of `to_bytes`, or raise ValueError if it is invalid."""
        if len(data) > MAX_BYTES:
            raise ValueError("it is too large")
        try:
            stored = orjson.loads(data)
        except orjson.JSONDecodeError as error:
            raise ValueError("it is not JSON") from error
        if not isinstance(stored, dict) or set(stored) != _FIELDS or stored["format"] != _FORMAT:
            raise ValueError("it is a file of another kind or version")
        return cls(
            _code(stored["lang"]),
            _unpacked(stored["column"]),
            _prior(stored["prior"]),
            _scripts(stored["scripts"]),
            _text(stored["model"]),
        )


def _code(value: Any) -> str:
    if not isinstance(value, str) or not (may_be_code(value) or primary(value)):
        raise ValueError("its language is not a language code")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("a field is not a string")
    return value


def _prior(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("its prior is not a number")
    if not _LEAST < value <= _MOST:
        raise ValueError("its prior is out of range")
    return float(value)


def _scripts(value: Any) -> tuple[str, ...]:
    is_list = isinstance(value, list) and 0 < len(value) <= 8
    if not is_list or not all(isinstance(each, str) and _SCRIPT.fullmatch(each) for each in value):
        raise ValueError("its scripts are not ISO 15924 codes")
    return tuple(value)


def _unpacked(value: Any) -> bytes:
    """Decompress a column, up to a maximum size, or raise ValueError if it is damaged."""
    try:
        packed = b64decode(_text(value), validate=True)
        column = zlib.decompressobj().decompress(packed, _MAX_COLUMN)
    except (ValueError, zlib.error) as error:
        raise ValueError("its parameters cannot be decoded") from error
    if not column or len(column) % 2:
        raise ValueError("its list of parameters is incomplete")
    if not _is_learned(column):
        raise ValueError("its parameters are not valid log probabilities")
    return column


def _is_learned(column: bytes) -> bool:
    """True if the values of a column are log probabilities and are not all equal."""
    numbers = np.frombuffer(column, "<f2")
    least, most = numbers.min(), numbers.max()  # NaN if any number is NaN
    return bool(np.isfinite(least) and least < most <= 0)

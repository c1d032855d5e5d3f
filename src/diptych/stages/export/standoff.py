"""Exports stand-off annotations: the source location and hash of each text, but not the text.

The corpus can be rebuilt from the annotations and the archives (`diptych.corpus.rebuild`).  The
first line is a header, and each further line describes one translation unit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b
from typing import Any, ClassVar, NamedTuple

import orjson

from diptych.protocols import Corpus, Files
from diptych.stages.export.shared import columns
from diptych.text.spans import stretches
from diptych.text.urls import normalise
from diptych.types import Url
from diptych.units import Side, Unit

VERSION = 1
HASH_BYTES = 16  # two of 10^12 texts have the same hash in one of 10^14 corpora
MAX_OFFSET = 1 << 62

_HASH = re.compile(r"[0-9a-f]{32}")
_NUMBER = (float, int)  # checked with `type() in`, not `isinstance`: a bool is not a number
_SIDE: dict[str, tuple[type, ...]] = {
    "lang": (str,), "url": (str,), "fetched": (str,), "digest": (str,), "warc": (str,),
    "offset": (int,), "path": (str,), "at": (str,), "hash": (str,), "length": (int,),
}  # fmt: skip
_UNIT: dict[str, tuple[type, ...]] = {
    "id": (str,), "sides": (list,), "score": _NUMBER, "alignment": _NUMBER, "verified": _NUMBER,
    "evidence": (str,), "flags": (str,), "copies": (int,), "run": (str,),
}  # fmt: skip
_HEADER: dict[str, tuple[type, ...]] = {"diptych": (str,), "version": (int,), "langs": (list,)}


class BareUnit(NamedTuple):
    """A unit without its texts, but with the expected hashes and lengths of the texts."""

    id: str
    unit: Unit
    hashes: tuple[str, ...]
    lengths: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Standoff:
    """Writes one line per unit with the source location and hash of each text, but no texts."""

    suffix: ClassVar[str] = "standoff.jsonl"

    def write(self, corpus: Corpus, files: Files) -> int:
        """Write a header and all units in corpus order, and return the number of units."""
        out = files(self.suffix)
        header = {"diptych": "standoff", "version": VERSION, "langs": list(corpus.langs)}
        out.write(columns.json_line(header))
        return columns.write_rows(map(_row, corpus.units()), out)


def text_hash(text: str) -> str:
    """The hash that identifies a text.

    >>> text_hash("A cat")
    '148ed863e5b1ed9af2d9b795acef8142'
    """
    return blake2b(columns.utf8(text), digest_size=HASH_BYTES).hexdigest()


def _row(unit: Unit) -> dict[str, Any]:
    return {
        "id": columns.unit_id(unit),
        "score": columns.rounded(unit.score),
        "sides": [_place(side) for side in unit.sides],
        **columns.common_fields(unit),
    }


def _place(side: Side) -> dict[str, Any]:
    if side.warc.startswith("/"):  # a local path on the machine that mined the page
        side = side._replace(warc=side.warc.rpartition("/")[2])
    found = columns.side_fields(side)
    return {**found, "hash": text_hash(side.text), "length": len(side.text)}


def read_header(line: bytes) -> tuple[str, ...]:
    """Parse the header of a stand-off corpus and return its languages, or raise `ValueError`."""
    header = _object(line)
    if header.get("diptych") != "standoff":
        raise ValueError("it has no stand-off corpus header")
    _check(header, _HEADER)
    if header["version"] != VERSION:
        raise ValueError(
            f"it has version {header['version']}; this version of Diptych reads {VERSION}"
        )
    langs = header["langs"]
    if not all(isinstance(lang, str) and columns.is_lang(lang) for lang in langs):
        raise ValueError("its header has an invalid language code")
    return tuple(langs)


def read_line(line: bytes) -> BareUnit:
    """Parse a line of a stand-off corpus into a unit without texts, or raise `ValueError`."""
    row = _object(line)
    _check(row, _UNIT)
    sides = tuple(_side(place) for place in row["sides"])
    if not sides or len({side.lang for side in sides}) < len(sides):
        raise ValueError("sides: at least one is required, each in a different language")
    if row["copies"] < 1:
        raise ValueError("copies: must be at least 1")
    unit = Unit(
        sides, float(row["score"]), float(row["alignment"]), float(row["verified"]),
        row["evidence"], tuple(row["flags"].split()), row["copies"], row["run"],
        *(_seen(row.get(name, "")) for name in ("first_seen", "last_seen")),
    )  # fmt: skip
    hashes = tuple(place["hash"] for place in row["sides"])
    return BareUnit(row["id"], unit, hashes, tuple(place["length"] for place in row["sides"]))


def _seen(text: object) -> float:
    """The date of a unit in seconds; 0 if it has none, as in corpora of earlier versions."""
    if not isinstance(text, str):
        raise ValueError("first_seen and last_seen: must be text")
    return _seconds(text) if text else 0.0


def _side(place: object) -> Side:
    if not isinstance(place, dict):
        raise ValueError("sides: one is not a JSON object")
    _check(place, _SIDE)
    stretches(place["path"], place["at"])
    if not columns.is_lang(place["lang"]) or normalise(place["url"]) is None:
        raise ValueError("sides: invalid language code or URL")
    if not _HASH.fullmatch(place["hash"]) or not 0 <= place["offset"] < MAX_OFFSET:
        raise ValueError("sides: invalid hash or offset")
    return Side(
        place["lang"], "", Url(place["url"]), place["path"], place["at"],
        _seconds(place["fetched"]), place["digest"], place["warc"], place["offset"],
    )  # fmt: skip


@lru_cache(maxsize=4096)  # many segments share a page
def _seconds(time: str) -> float:
    """Convert a time in the format of `columns.iso_time` to seconds since 1970.

    >>> _seconds("2023-11-14T22:13:20Z")
    1700000000.0
    """
    return datetime.strptime(time, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).timestamp()


def _object(line: bytes) -> dict[str, Any]:
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise ValueError(f"it is not JSON: {error}") from error
    if not isinstance(row, dict):
        raise ValueError("it is not a JSON object")
    return row


def _check(row: Mapping[str, object], kinds: Mapping[str, Sequence[type]]) -> None:
    for name, allowed in kinds.items():
        if name not in row:
            raise ValueError(f"there is no {name!r}")
        if type(row[name]) not in allowed:
            raise ValueError(f"{name!r} is not of type {allowed[0].__name__}")

"""Training data for the URL models: labelled URLs and URL pairs, with weights and splits.

Both kinds of file are tab-separated tables, plain or gzipped, with these columns and an optional
header:

    domain, url, lang[, source]
    domain, url_a, lang_a, url_b, lang_b[, source]
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeVar

from diptych.errors import ConfigError
from diptych.files import reading
from diptych.language.codes import primary
from diptych.text.urls import site_name

UNKNOWN = "und"  # ISO 639-2 code for an undetermined language
_URL_COLUMNS = ("domain", "url", "lang")
_PAIR_COLUMNS = ("domain", "url_a", "lang_a", "url_b", "lang_b")
_WEAK = 0.5
# Sources of uncertain labels: a slug alone (about 80% correct), the country of a channel, a list of
# websites in a language.
_WEAK_MARKS = ("slug-only", "iptv-org", "web-languages")
_NO_PAIR = frozenset("AL")  # human judgements: misaligned, or in a wrong language


class LabelledUrl(NamedTuple):
    """A URL, the language of its page, and the weight of this label."""

    domain: str
    url: str
    lang: str
    weight: float = 1.0


class LabelledPair(NamedTuple):
    """Two URLs of pages that are translations of each other, and the weight of this label."""

    domain: str
    url_a: str
    lang_a: str
    url_b: str
    lang_b: str
    weight: float = 1.0


_Row = TypeVar("_Row", LabelledUrl, LabelledPair)


def weight_of(source: str) -> float:
    """The training weight of a label, based on its source; 0 for pairs judged to be wrong.

    >>> weight_of("paracrawl judged-V url-evidence"), weight_of("paracrawl judged-V slug-only")
    (1.0, 0.5)
    >>> weight_of("A"), weight_of("A+V")
    (0.0, 1.0)
    """
    if source and set(source.split("+")) <= _NO_PAIR:
        return 0.0
    return _WEAK if any(mark in source for mark in _WEAK_MARKS) else 1.0


def read_urls(path: str | Path) -> Iterator[LabelledUrl]:
    """Yield the labelled URLs in a file; an unknown language code becomes `und`."""
    for columns in _read(Path(path), _URL_COLUMNS):
        weight = weight_of(columns[3] if len(columns) > 3 else "")
        if weight:
            yield LabelledUrl(columns[0], columns[1], primary(columns[2]) or UNKNOWN, weight)


def read_pairs(path: str | Path) -> Iterator[LabelledPair]:
    """Yield the labelled pairs in a file, except those judged to be wrong."""
    for columns in _read(Path(path), _PAIR_COLUMNS):
        weight = weight_of(columns[5] if len(columns) > 5 else "")
        if weight:
            domain, url_a, lang_a, url_b, lang_b = columns[:5]
            langs = primary(lang_a) or UNKNOWN, primary(lang_b) or UNKNOWN
            yield LabelledPair(domain, url_a, langs[0], url_b, langs[1], weight)


def _read(path: Path, names: tuple[str, ...]) -> Iterator[list[str]]:
    """Yield the rows of a table, or raise ConfigError for a row without all the named columns."""
    with reading(path, advice="see docs/data-formats.md"), open_bytes(path) as stream:
        lines = io.TextIOWrapper(stream, "utf-8", newline="\n")
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            columns = line.rstrip("\r\n").split("\t")
            if number == 1 and columns[: len(names)] == list(names):
                continue  # a header
            if len(columns) < len(names) or not all(columns[: len(names)]):
                raise ConfigError(
                    f"line {number} of {path} does not have the tab-separated columns"
                    f" {', '.join(names)}; see docs/data-formats.md"
                )
            yield columns


def open_bytes(path: Path) -> BinaryIO:
    """Open a file for reading in binary mode; a `.gz` file is decompressed."""
    if path.suffix == ".gz":
        return gzip.open(path)  # type: ignore[return-value]  # reads like any binary file
    return path.open("rb")


def split_by_domain(
    rows: Iterable[_Row], share: float, seed: int = 0
) -> tuple[list[_Row], list[_Row]]:
    """Split rows into a training part and a held-out part of about the given share.

    All rows of a registrable domain go into the same part.  The choice depends only on the domain
    and the seed, not on other rows.

    >>> rows = [LabelledUrl(f"d{n}.org", f"http://d{n}.org/", "en") for n in range(1000)]
    >>> [len(part) for part in split_by_domain(rows, 0.1)]
    [910, 90]
    """
    kept: list[_Row] = []
    held_out: list[_Row] = []
    for row in rows:
        (held_out if fold_of(row.domain, seed) < share else kept).append(row)
    return kept, held_out


def fold_of(domain: str, seed: int = 0) -> float:
    """Hash a domain to a number from 0 to 1; all hosts of a registrable domain get the same number.

    >>> fold_of("en.example.org") == fold_of("fr.example.org")
    True
    """
    site = site_name(f"http://{domain.lower()}/")
    digest = blake2b(f"{seed} {site}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") / 2**64

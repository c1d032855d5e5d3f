"""Common Crawl's columnar index (Parquet): sites with pages in two wanted languages.

The index (Parquet) has a row for each page of a crawl, with its languages as CLD2 saw them.  The
files are read twice by one query of DuckDB: first only host and language of each page, which
leaves a small share of the sites; then the digests and URLs of those.  What does not fit in memory
goes to a folder for the time of the query.
"""

from __future__ import annotations

import glob
import logging
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from diptych.errors import ConfigError, SourceError, in_one_line
from diptych.files import shipped_text
from diptych.language.codes import primary
from diptych.learn.libraries import library
from diptych.text.urls import host_of, normalise
from diptych.types import Url

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

log = logging.getLogger(__name__)
# What CLD2 can answer, as Common Crawl writes it: ISO 639-3, macrolanguages where there are such.
_CLD2 = shipped_text("diptych.sources", "cld2.txt")
_ALIASES = {"blu": "hmn"}  # withdrawn from ISO 639-3; CLD2 means Hmong
# From so many hosts on a domain is a platform that the public suffix list does not know, such as
# wordpress.com, and each host a site.  Sites with a host for each language have some hundred.
_MANY_HOSTS = 1000
_ROWS = 1000  # fetched at a time
_LABELS = (
    "url_host_tld", "url_host_2nd_last_part", "url_host_3rd_last_part", "url_host_4th_last_part",
    "url_host_5th_last_part",
)  # fmt: skip
_COLUMNS = (
    "url", "url_host_name", "url_host_private_domain", "fetch_status", "content_digest",
    "content_mime_type", "content_mime_detected", "content_languages",
)  # fmt: skip
_SCAN = "read_parquet($paths, union_by_name = true)"  # older files have fewer columns


@dataclass(frozen=True, slots=True)
class SiteCandidate:
    """A site of which a crawl has pages in two wanted languages."""

    site: str
    """domain, or host on a platform where each host is a site of its own"""
    start: Url
    """its home page, or else the page with the shortest URL"""
    pages: tuple[tuple[str, int], ...]
    """wanted languages, and how many different pages are in each"""
    total: int
    """different pages in any language"""
    score: float
    """pages that may have a counterpart: the fewer of the two languages, less if out of balance"""

    @property
    def share(self) -> float:
        """The share of the site's pages that are in a wanted language.

        >>> SiteCandidate("a.org", Url("http://a.org/"), (("en", 6), ("fr", 3)), 12, 2.1).share
        0.75
        """
        return sum(count for _, count in self.pages) / self.total


def candidates(
    paths: Sequence[str],
    langs: Sequence[str],
    *,
    at_least: int = 5,
    limit: int | None = None,
    level: Literal["host", "site"] = "site",
    suffixes: Sequence[str] = (),
    memory: int = 2000,
    folder: str | None = None,
) -> Iterator[SiteCandidate]:
    """Sites with at least so many different pages in each of two of the languages, best first.

    paths are files, folders, patterns or URLs of Parquet files.  suffixes are ends of host names
    (`fr`, `co.uk`, `example.org`) to look at: only parts of files with such hosts are read.  memory
    is in MB, folder is where to put what does not fit in it.
    """
    codes = _wanted(langs)
    with _connected(memory, folder) as db:
        parameters: dict[str, Any] = {"paths": [_pattern(path) for path in paths]}
        condition, ends = _condition(suffixes, _columns(db, parameters, suffixes))
        domain = "coalesce(url_host_private_domain, url_host_name)"
        query = shipped_text("diptych.sources", "common_crawl.sql").format(
            scan=_SCAN,
            condition=condition,
            domain=domain if level == "site" else "url_host_name",
        )
        parameters |= ends | {
            "codes": list(codes),
            "numbers": list(codes.values()),
            "many": _MANY_HOSTS,
            "at_least": max(1, at_least),
            "limit": limit,
        }
        cursor = db.execute(query, parameters)
        is_empty = True
        while rows := cursor.fetchmany(_ROWS):
            is_empty = False
            yield from (found for each in rows if (found := _candidate(each, langs)))
        if is_empty:
            _require_languages(db, parameters["paths"])


def codes_of(lang: str) -> tuple[str, ...]:
    """The codes of a language in the index; none if its identifier, CLD2, does not know it.

    >>> codes_of("en"), codes_of("nb"), codes_of("zh-Hant"), codes_of("ak"), codes_of("tet")
    (('eng',), ('nor',), ('zho',), ('aka', 'twi'), ())
    """
    name = primary(lang)
    return tuple(code for code in _CLD2.split() if primary(_ALIASES.get(code, code)) == name != "")


def _wanted(langs: Sequence[str]) -> dict[str, int]:
    """The codes to look for, each with the number of its language."""
    codes = {code: number for number, lang in enumerate(langs) for code in codes_of(lang)}
    if len(set(codes.values())) >= 2:
        return codes
    unknown = ", ".join(lang for lang in langs if not codes_of(lang))
    if unknown:
        raise SourceError(
            f"the index cannot tell pages in {unknown}: CLD2, which named the languages in it, does"
            " not know that language; start from seeds and back links instead"
        )
    raise ConfigError(f"two different languages are needed, such as en,fr; got {','.join(langs)}")


def _pattern(path: str) -> str:
    """A folder stands for all Parquet files below it."""
    if "://" in path:
        return path
    pattern = str(Path(glob.escape(path)) / "**" / "*.parquet") if Path(path).is_dir() else path
    return os.fsencode(pattern).decode("utf-8", "replace")  # DuckDB knows no other names of files


def _columns(
    db: DuckDBPyConnection, parameters: dict[str, Any], suffixes: Sequence[str]
) -> set[str]:
    """The columns there are; an error that names those that are missing."""
    if not parameters["paths"]:
        raise SourceError("no Parquet file of the columnar index was named")
    head = db.execute(f"SELECT * FROM {_SCAN} LIMIT 0", parameters)
    found = {each[0] for each in head.description or ()}
    missing = [name for name in (*_COLUMNS, *(_LABELS if suffixes else ())) if name not in found]
    if "content_languages" in missing and "url_host_name" in found:
        raise SourceError(
            "the Parquet files have no column content_languages: Common Crawl tells languages since"
            " CC-MAIN-2018-39; take a later crawl"
        )
    if missing:
        raise SourceError(
            f"these Parquet files are no columnar index: they have no column {', '.join(missing)}"
        )
    return found


def _condition(suffixes: Sequence[str], columns: set[str]) -> tuple[str, dict[str, Any]]:
    """The SQL condition that selects rows of pages, and its parameters."""
    mimes = "('text/html', 'application/xhtml+xml')"
    parts = [
        "fetch_status = 200",
        "content_languages IS NOT NULL",
        f"(content_mime_detected IN {mimes}"
        f" OR content_mime_detected IS NULL AND content_mime_type IN {mimes})",
    ]
    if "subset" in columns:  # from the names of folders: others need not be opened
        parts.append("subset = 'warc'")
    parameters: dict[str, Any] = {}
    ends = sorted({_labels(suffix) for suffix in suffixes})
    if ends:
        # Rows are sorted by reversed host: a label that all ends have leaves few parts of a file.
        # DuckDB before 2.0 does not see that in the condition below.
        for place in range(min(len(labels) for labels in ends)):
            one = sorted(
                {f"{_LABELS[place]} = $end{number}_{place}" for number in range(len(ends))}
            )
            parts.append(f"({' OR '.join(one)})")
        parts.append(f"({' OR '.join(_is_below(*each, parameters) for each in enumerate(ends))})")
    return " AND ".join(parts), parameters


def _labels(suffix: str) -> tuple[str, ...]:
    """The labels of an end of host names, last first.

    >>> _labels(".co.uk"), _labels("Bücher.example")
    (('uk', 'co'), ('example', 'xn--bcher-kva'))
    """
    name = suffix.strip().removeprefix("*").removeprefix(".")
    url = normalise(f"http://{name}/") if not re.search(r"[/:?#@]", name) else None
    labels = tuple(reversed(host_of(url).split("."))) if url else ()
    if not 1 <= len(labels) <= len(_LABELS) or labels[0].isdigit():
        raise ConfigError(f"{suffix!r} is no end of host names; write fr, co.uk or example.org")
    return labels


def _is_below(number: int, labels: Sequence[str], parameters: dict[str, Any]) -> str:
    """An SQL condition: the host ends in these labels.  Adds its parameters."""
    for place, label in enumerate(labels):
        parameters[f"end{number}_{place}"] = label
    equal = [f"{_LABELS[place]} = $end{number}_{place}" for place in range(len(labels))]
    return f"({' AND '.join(equal)})"


def _candidate(row: tuple[Any, ...], langs: Sequence[str]) -> SiteCandidate | None:
    """A row of the answer; None for a host that no URL can name."""
    site, start, numbers, pages, total, score = row
    url = normalise(start) or normalise(f"https://{site}/")
    if url is None:
        log.debug("skip site=%s reason=no_url", site)
        return None
    found = dict(zip(numbers, pages, strict=True))
    counts = tuple((lang, found.get(number, 0)) for number, lang in enumerate(langs))
    return SiteCandidate(site, url, counts, total, score)


def _require_languages(db: DuckDBPyConnection, paths: list[str]) -> None:
    """An error if the files say nothing of languages at all, which is why nothing was found."""
    query = f"SELECT 1 FROM {_SCAN} WHERE content_languages IS NOT NULL LIMIT 1"
    if db.execute(query, {"paths": paths}).fetchone() is None:
        raise SourceError(
            "no page in the Parquet files has a language: Common Crawl tells languages since"
            " CC-MAIN-2018-39, for pages and not for redirects or robots.txt; take other files"
        )


@contextmanager
def _connected(memory: int, folder: str | None) -> Iterator[DuckDBPyConnection]:
    """A database in memory, with bounds; its errors are told in one line."""
    duckdb = library("duckdb", "the index of Common Crawl", error=SourceError)
    if folder is not None and not Path(folder).is_dir():
        raise ConfigError(f"there is no folder {folder} for what does not fit in memory")
    with tempfile.TemporaryDirectory(prefix="diptych-", dir=folder) as temporary:
        config: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": f"{memory}MB",
            "temp_directory": temporary,
            "threads": os.cpu_count() or 1,
            "preserve_insertion_order": False,
            "autoinstall_known_extensions": False,  # nothing is fetched unasked
        }
        db = duckdb.connect(config=config)
        try:
            yield db
        except duckdb.InterruptException as error:
            raise KeyboardInterrupt from error
        except duckdb.Error as error:
            raise SourceError(_explained(error, memory)) from error
        except RuntimeError as error:  # the class that DuckDB 1 raises for Ctrl-C, among others
            if "interrupted" in str(error).lower():
                raise KeyboardInterrupt from error
            raise SourceError(_explained(error, memory)) from error
        finally:
            db.close()


def _explained(error: Exception, memory: int) -> str:
    """An error of DuckDB in one line, with a remedy.

    DuckDB has one class for all errors of files; its messages say which it is.
    """
    text = str(error).strip()
    first = text.splitlines()[0] if text else type(error).__name__
    named = re.search(r"['\"](.*)['\"]", first)
    name = named[1] if named else "the index"
    if "No files found" in first:
        return f"no Parquet file at {name}"
    if "No magic bytes" in first or "too small to be a Parquet" in first:
        return f"{name} is no Parquet file, or is cut off; fetch it again"
    if "httpfs" in text:
        command = "python -c \"import duckdb; duckdb.sql('INSTALL httpfs')\""
        return f"reading from the network needs DuckDB's httpfs: {command}"
    if "Out of Memory" in first:
        return f"{memory} MB of memory are too few for this index; allow more, or name suffixes"
    return f"the index cannot be read: {in_one_line(first)}; fetch its files again"

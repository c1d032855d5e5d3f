"""Find sites with pages in two requested languages in Common Crawl's columnar index (Parquet).

The index has a row for each page of a crawl, with its languages as identified by CLD2.  One DuckDB
query reads the files twice.  The first pass reads only the host and language of each page, to
select a few sites.  The second pass reads the digests and URLs of the pages on these sites.  Data
that does not fit in memory is written to a temporary folder.
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
# CLD2's languages in Common Crawl's notation: ISO 639-3, using macrolanguages where they exist.
_CLD2 = shipped_text("diptych.sources", "cld2.txt")
_ALIASES = {"blu": "hmn"}  # withdrawn from ISO 639-3; CLD2 means Hmong
# A domain with this many hosts is a platform missing from the public suffix list, such as
# wordpress.com: each host is a site.  Sites with a host for each language have a few hundred hosts.
_MANY_HOSTS = 1000
ROWS = 1000
"""number of rows fetched at a time"""
_LABELS = (
    "url_host_tld", "url_host_2nd_last_part", "url_host_3rd_last_part", "url_host_4th_last_part",
    "url_host_5th_last_part",
)  # fmt: skip
_COLUMNS = (
    "url", "url_host_name", "url_host_private_domain", "fetch_status", "content_digest",
    "content_mime_type", "content_mime_detected", "content_languages",
)  # fmt: skip
_MIMES = "('text/html', 'application/xhtml+xml')"
IS_PAGE = (
    f"fetch_status = 200 AND (content_mime_detected IN {_MIMES}"
    f" OR content_mime_detected IS NULL AND content_mime_type IN {_MIMES})"
)
"""SQL condition for pages"""
SCAN = "read_parquet($paths, union_by_name = true)"  # older files have fewer columns


@dataclass(frozen=True, slots=True)
class SiteCandidate:
    """A site that has pages in at least two requested languages, according to the index."""

    site: str
    """the domain, or the host on a platform where each host is a separate site"""
    start: Url
    """the home page, or else the page with the shortest URL"""
    pages: tuple[tuple[str, int], ...]
    """each requested language, with the number of different pages in it"""
    total: int
    """number of different pages in any language"""
    score: float
    """estimated number of pages with a counterpart: the number of pages in the second most frequent
    language, reduced if there are many more pages in the most frequent one"""

    @property
    def share(self) -> float:
        """The share of the site's pages that are in a requested language.

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
    """Yield sites with at least `at_least` distinct pages in each of two languages, best first.

    `paths` are files, folders, glob patterns or URLs of Parquet files.  `suffixes` are host name
    suffixes (`fr`, `co.uk`, `example.org`); only the parts of files with such hosts are read.
    `memory` is the memory limit in MB; `folder` is for data that does not fit in memory.
    """
    codes = _wanted(langs)
    with connected(memory, folder) as db:
        parameters: dict[str, Any] = {"paths": [file_pattern(path) for path in paths]}
        columns = index_columns(db, parameters, _LABELS if suffixes else ())
        condition, ends = _condition(suffixes, columns)
        domain = "coalesce(url_host_private_domain, url_host_name)"
        query = shipped_text("diptych.sources", "common_crawl.sql").format(
            scan=SCAN,
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
        while rows := cursor.fetchmany(ROWS):
            is_empty = False
            yield from (found for each in rows if (found := _candidate(each, langs)))
        if is_empty:
            _require_languages(db, parameters["paths"])


def codes_of(lang: str) -> tuple[str, ...]:
    """The codes for a language in the index; empty if CLD2 cannot identify the language.

    >>> codes_of("en"), codes_of("nb"), codes_of("zh-Hant"), codes_of("ak"), codes_of("tet")
    (('eng',), ('nor',), ('zho',), ('aka', 'twi'), ())
    """
    name = primary(lang)
    return tuple(code for code in _CLD2.split() if primary(_ALIASES.get(code, code)) == name != "")


def _wanted(langs: Sequence[str]) -> dict[str, int]:
    """Map the index codes of the requested languages to the languages' positions in `langs`."""
    codes = {code: number for number, lang in enumerate(langs) for code in codes_of(lang)}
    if len(set(codes.values())) >= 2:
        return codes
    unknown = ", ".join(lang for lang in langs if not codes_of(lang))
    if unknown:
        raise SourceError(
            f"the index cannot identify pages in {unknown}: it was made with CLD2, which does not"
            " support that language; start from seeds and backlinks instead"
        )
    raise ConfigError(f"two different languages are required, such as en,fr; got {','.join(langs)}")


def file_pattern(path: str) -> str:
    """The glob pattern for a path; for a folder, it matches all Parquet files below the folder."""
    if "://" in path:
        return path
    pattern = str(Path(glob.escape(path)) / "**" / "*.parquet") if Path(path).is_dir() else path
    return os.fsencode(pattern).decode("utf-8", "replace")  # DuckDB accepts no other file names


def index_columns(
    db: DuckDBPyConnection, parameters: dict[str, Any], more: Sequence[str] = ()
) -> set[str]:
    """Return the columns of the files; raise a `SourceError` that names any missing columns.

    `more` are required columns besides those that every search requires.
    """
    if not parameters["paths"]:
        raise SourceError("no Parquet file of the columnar index was specified")
    head = db.execute(f"SELECT * FROM {SCAN} LIMIT 0", parameters)
    found = {each[0] for each in head.description or ()}
    missing = [name for name in (*_COLUMNS, *more) if name not in found]
    if "content_languages" in missing and "url_host_name" in found:
        raise SourceError(
            "the Parquet files have no column content_languages: Common Crawl has recorded"
            " languages since CC-MAIN-2018-39; use a later crawl"
        )
    if missing:
        raise SourceError(
            f"these Parquet files are not a columnar index: they lack {', '.join(missing)}"
        )
    return found


def _condition(suffixes: Sequence[str], columns: set[str]) -> tuple[str, dict[str, Any]]:
    """The SQL condition for HTML pages on hosts with these suffixes, and its parameters.

    Without suffixes, pages on all hosts are selected.  `columns` are the columns of the files.
    """
    parts = ["content_languages IS NOT NULL", IS_PAGE]
    if "subset" in columns:  # from folder names: other folders need not be opened
        parts.append("subset = 'warc'")
    parameters: dict[str, Any] = {}
    ends = sorted({_labels(suffix) for suffix in suffixes})
    if ends:
        # Rows are sorted by reversed host: a label that all suffixes share leaves few parts.
        # DuckDB before 2.0 does not infer that from the condition below.
        for place in range(min(len(labels) for labels in ends)):
            one = sorted(
                {f"{_LABELS[place]} = $end{number}_{place}" for number in range(len(ends))}
            )
            parts.append(f"({' OR '.join(one)})")
        parts.append(f"({' OR '.join(_is_below(*each, parameters) for each in enumerate(ends))})")
    return " AND ".join(parts), parameters


def _labels(suffix: str) -> tuple[str, ...]:
    """The labels of a host name suffix, in reverse order.

    >>> _labels(".co.uk"), _labels("Bücher.example")
    (('uk', 'co'), ('example', 'xn--bcher-kva'))
    """
    name = suffix.strip().removeprefix("*").removeprefix(".")
    url = normalise(f"http://{name}/") if not re.search(r"[/:?#@]", name) else None
    labels = tuple(reversed(host_of(url).split("."))) if url else ()
    if not 1 <= len(labels) <= len(_LABELS) or labels[0].isdigit():
        raise ConfigError(f"{suffix!r} is not a host name suffix such as fr, co.uk or example.org")
    return labels


def _is_below(number: int, labels: Sequence[str], parameters: dict[str, Any]) -> str:
    """Return the SQL condition for hosts that end in `labels`, given in reverse order.

    The labels are added to `parameters`; `number` makes their names unique.
    """
    for place, label in enumerate(labels):
        parameters[f"end{number}_{place}"] = label
    equal = [f"{_LABELS[place]} = $end{number}_{place}" for place in range(len(labels))]
    return f"({' AND '.join(equal)})"


def _candidate(row: tuple[Any, ...], langs: Sequence[str]) -> SiteCandidate | None:
    """Convert a row of the query result to a candidate; None if the site has no valid URL."""
    site, start, numbers, pages, total, score = row
    url = normalise(start) or normalise(f"https://{site}/")
    if url is None:
        log.debug("skip site=%s reason=no_url", site)
        return None
    found = dict(zip(numbers, pages, strict=True))
    counts = tuple((lang, found.get(number, 0)) for number, lang in enumerate(langs))
    return SiteCandidate(site, url, counts, total, score)


def _require_languages(db: DuckDBPyConnection, paths: list[str]) -> None:
    """Raise a `SourceError` if the files do not record the language of any page."""
    query = f"SELECT 1 FROM {SCAN} WHERE content_languages IS NOT NULL LIMIT 1"
    if db.execute(query, {"paths": paths}).fetchone() is None:
        raise SourceError(
            "no page in the Parquet files has a language; use other files: Common Crawl records"
            " languages only since CC-MAIN-2018-39, and only for pages, not for redirects or"
            " robots.txt"
        )


@contextmanager
def connected(memory: int, folder: str | None) -> Iterator[DuckDBPyConnection]:
    """Open an in-memory DuckDB database, and raise its errors as a `SourceError`.

    `memory` is the memory limit in MB; `folder` is for data that does not fit in memory.
    """
    duckdb = library("duckdb", "the Common Crawl index", error=SourceError)
    if folder is not None and not Path(folder).is_dir():
        raise ConfigError(f"no such folder for temporary files: {folder}")
    with tempfile.TemporaryDirectory(prefix="diptych-", dir=folder) as temporary:
        config: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": f"{memory}MB",
            "temp_directory": temporary,
            "threads": os.cpu_count() or 1,
            "preserve_insertion_order": False,
            "autoinstall_known_extensions": False,  # no download without request
        }
        db = duckdb.connect(config=config)
        try:
            yield db
        except duckdb.InterruptException as error:
            raise KeyboardInterrupt from error
        except duckdb.Error as error:
            raise SourceError(_explained(error, memory)) from error
        except RuntimeError as error:  # DuckDB 1 raises this class for Ctrl-C, among others
            if "interrupted" in str(error).lower():
                raise KeyboardInterrupt from error
            raise SourceError(_explained(error, memory)) from error
        finally:
            db.close()


def _explained(error: Exception, memory: int) -> str:
    """Describe a DuckDB error in one line, and suggest a remedy.

    DuckDB uses one exception class for all file errors; only their messages differ.
    """
    text = str(error).strip()
    first = text.splitlines()[0] if text else type(error).__name__
    named = re.search(r"['\"](.*)['\"]", first)
    name = named[1] if named else "the index"
    if "No files found" in first:
        return f"no Parquet file at {name}"
    if "No magic bytes" in first or "too small to be a Parquet" in first:
        return f"{name} is not a Parquet file, or is truncated; download it again"
    if "httpfs" in text:
        command = "python -c \"import duckdb; duckdb.sql('INSTALL httpfs')\""
        what = "reading from the network requires DuckDB's httpfs extension"
        return f"{what}; install it with: {command}"
    if "Out of Memory" in first:
        return (
            f"{memory} MB of memory is not enough for this index; allow more, or specify suffixes"
        )
    return f"the index cannot be read: {in_one_line(first)}; download its files again"

"""A generated columnar index of many hosts, of which the bilingual ones are known.

Assumptions: host sizes have a log-normal distribution; two thirds of the hosts are in one language;
one in fourteen is in English and French, on one host or on one host per language; the rest only
look bilingual: other language pairs, too few pages, copies of one page, French only as the second
language of English pages, missing pages, PDF, pages without a language, and monolingual blogs on
platforms, one of which is not in the public suffix list (some of its blogs are bilingual).  Rows
are sorted by SURT, in several gzip-compressed files with row groups of 100,000.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.support.columnar_files import CRAWL, host_columns, schema, surt

if TYPE_CHECKING:
    import pyarrow as pa

AT_LEAST = 5  # pages in each language of a bilingual site
ROW_GROUP = 100_000
FILE_ROWS = 750_000
_LEAST = 2 * AT_LEAST + 2  # pages of a host
_ENDS = ("com", "com", "com", "com", "org", "net", "fr", "fr", "ca", "co.uk", "de", "xn--p1ai")
_OTHERS = ("deu", "spa", "rus", "jpn", "zho", "ita", "por", "pol", "nld", "eng", "fra")
_SHARES = {
    "one": 0.668, "both": 0.05, "apart": 0.02, "other": 0.06, "few": 0.04, "copies": 0.03,
    "second": 0.04, "gone": 0.02, "pdf": 0.02, "unknown": 0.02, "known": 0.015, "crowd": 0.015,
    "blog": 0.002,
}  # fmt: skip


@dataclass(frozen=True)
class Host:
    """A host, its languages, and the number of its pages in the second language."""

    name: str
    kind: str
    langs: tuple[str, str]
    pages: int
    second: int


@dataclass(frozen=True)
class Made:
    """The generated truth: the bilingual sites, with their pages in English and French."""

    sites: dict[str, tuple[int, int]]
    rows: int
    hosts: int
    files: int


def generate(folder: Path, *, rows: int, hosts: int, seed: int) -> Made:
    """Write the files."""
    import pyarrow.parquet as pq

    rng = np.random.default_rng(seed)
    known = sorted(_hosts(rng, rows, hosts), key=lambda host: surt(f"http://{host.name}/"))
    target = folder / f"crawl={CRAWL}" / "subset=warc"
    target.mkdir(parents=True)
    ends = np.cumsum([host.pages for host in known])
    files = max(1, round(int(ends[-1]) / FILE_ROWS))
    cuts = np.searchsorted(ends, np.linspace(0, int(ends[-1]), files + 1))
    for number, (first, last) in enumerate(pairwise(cuts)):
        table = _table(known[first : last + (number == files - 1)], rng)
        path = target / f"part-{number:05}-c000.gz.parquet"
        pq.write_table(
            table, path, compression="gzip", compression_level=6, row_group_size=ROW_GROUP
        )
    return Made(_sites(known), int(ends[-1]), len(known), files)


def _hosts(rng: np.random.Generator, rows: int, hosts: int) -> Iterator[Host]:
    """Hosts of all kinds, with about a given number of pages in total."""
    kinds = rng.choice(list(_SHARES), size=hosts, p=np.array(list(_SHARES.values())))
    sizes = rng.lognormal(0, 1.2, hosts)
    sizes = _LEAST + (sizes * (rows / hosts - _LEAST) / sizes.mean()).astype(int)
    for number, (kind, pages) in enumerate(zip(kinds, sizes, strict=True)):
        end = _ENDS[int(rng.integers(len(_ENDS)))]
        yield from _of_kind(str(kind), number, end, int(pages), rng)


def _of_kind(
    kind: str, number: int, end: str, pages: int, rng: np.random.Generator
) -> Iterator[Host]:
    name = f"www.site{number}.{end}"
    half = int(rng.integers(AT_LEAST, pages // 2 + 1))
    other = _OTHERS[int(rng.integers(len(_OTHERS)))]
    if kind == "apart":
        yield Host(f"en.site{number}.{end}", kind, ("eng", "eng"), pages - half, 0)
        yield Host(f"fr.site{number}.{end}", kind, ("fra", "fra"), half, 0)
    elif kind == "blog":
        yield Host(f"blog{number}.wordpress.com", kind, ("eng", "fra"), pages, half)
    elif kind in ("known", "crowd"):
        platform = "blogspot.com" if kind == "known" else "wordpress.com"
        lang = ("eng", "fra")[number % 2]
        yield Host(f"blog{number}.{platform}", kind, (lang, lang), pages, 0)
    elif kind == "one":
        yield Host(name, kind, (other, other), pages, 0)
    elif kind == "other":
        yield Host(name, kind, ("eng", "deu"), pages, half)
    else:
        few = int(rng.integers(1, AT_LEAST)) if kind == "few" else half
        yield Host(name, kind, ("eng", "fra"), pages, few)


def _sites(hosts: Sequence[Host]) -> dict[str, tuple[int, int]]:
    """The bilingual sites among the hosts."""
    found: dict[str, tuple[int, int]] = {}
    for host in hosts:
        domain = host.name.partition(".")[2]
        english, french = found.get(domain, (0, 0))
        if host.kind in ("both", "blog"):
            found[domain if host.kind == "both" else host.name] = (
                host.pages - host.second,
                host.second,
            )
        elif host.kind == "apart":
            is_english = host.langs[0] == "eng"
            found[domain] = (
                english + host.pages * is_english,
                french + host.pages * (not is_english),
            )
    return found


def _table(hosts: Sequence[Host], rng: np.random.Generator) -> pa.Table:
    """The pages of some hosts."""
    import pyarrow as pa
    import pyarrow.compute as pc

    sizes = np.array([host.pages for host in hosts])
    of = np.repeat(np.arange(len(hosts)), sizes)
    rank = np.arange(len(of)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    is_second = rank >= (sizes - np.array([host.second for host in hosts]))[of]
    kind = np.array([host.kind for host in hosts])[of]
    columns = _of_hosts(hosts, of)
    columns["url_path"] = _paths(rank, is_second)
    columns["url_protocol"] = pa.array(["https"] * len(of))
    for name, start in (("url", "https://"), ("url_surtkey", "")):
        left = columns["url_host_name" if start else "surt"]
        columns[name] = pc.binary_join_element_wise(start, left, columns["url_path"], "")
    columns |= _of_pages(hosts, of, is_second, kind, rng)
    missing = (field for field in schema() if field.name not in columns)
    columns |= {field.name: pa.nulls(len(of), field.type) for field in missing}
    return pa.table([columns[field.name].cast(field.type) for field in schema()], schema=schema())


def _of_hosts(hosts: Sequence[Host], of: Any) -> dict[str, Any]:
    """The columns that describe the hosts."""
    import pyarrow as pa

    known = [host_columns(host.name) for host in hosts]
    names = {name for each in known for name in each}
    columns = {name: pa.array([each.get(name) for each in known], pa.string()) for name in names}
    columns["surt"] = pa.array([surt(f"http://{host.name}") for host in hosts])
    return {name: column.take(pa.array(of)) for name, column in columns.items()}


def _paths(rank: Any, is_second: Any) -> Any:
    """The paths in order, with the home page first."""
    import pyarrow as pa
    import pyarrow.compute as pc

    folders = pa.array(["/a/", "/b/"]).take(pa.array(is_second.astype(np.int8)))
    numbers = pc.utf8_lpad(pa.array(rank).cast(pa.string()), width=7, padding="0")
    deep = pc.binary_join_element_wise(folders, "some-article-number-", numbers, ".html", "")
    return pc.if_else(pa.array(rank == 0), "/", deep)


def _of_pages(
    hosts: Sequence[Host], of: Any, is_second: Any, kind: Any, rng: np.random.Generator
) -> dict[str, Any]:
    """The columns that describe the fetched pages."""
    import pyarrow as pa

    size = len(of)
    codes = np.array([host.langs for host in hosts])[of, is_second.astype(int)].astype(object)
    codes[kind == "second"] = "eng,fra"
    codes[kind == "unknown"] = None
    mime = np.where((kind == "pdf") & is_second, "application/pdf", "text/html")
    warcs = rng.integers(0, 1000, size)
    names = [
        f"crawl-data/{CRAWL}/segments/1784500000000.1/warc/{n:05}.warc.gz" for n in range(1000)
    ]
    return {
        "fetch_time": pa.array(1_784_500_000_000 + rng.integers(0, 10**9, size)).cast(
            pa.timestamp("ms", tz="UTC")
        ),
        "fetch_status": pa.array(np.where((kind == "gone") & is_second, 404, 200)),
        "content_digest": _digests(of, (kind == "copies") & is_second, rng),
        "content_mime_type": pa.array(mime),
        "content_mime_detected": pa.array(mime),
        "content_charset": pa.array(["UTF-8"] * size),
        "content_languages": pa.array(codes, pa.string()),
        "warc_record_id": _fixed(rng.integers(0, 256, (size, 16), np.uint8)).cast(pa.binary()),
        "warc_filename": pa.array(names).take(pa.array(warcs)),
        "warc_record_offset": pa.array(rng.integers(0, 10**9, size)),
        "warc_record_length": pa.array(rng.integers(500, 100_000, size)),
        "warc_segment": pa.array(["1784500000000.1"] * size),
    }


def _digests(of: Any, is_copy: Any, rng: np.random.Generator) -> Any:
    """SHA-1 digests in base 32; copies have the digest of their host."""
    import pyarrow as pa

    letters = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", np.uint8)
    drawn = letters[rng.integers(0, 32, (len(of), 32), np.uint8)]
    shared = letters[rng.integers(0, 32, (int(of.max()) + 1, 32), np.uint8)]
    drawn[is_copy] = shared[of[is_copy]]
    return _fixed(drawn).cast(pa.binary()).cast(pa.string())


def _fixed(rows: Any) -> Any:
    """Rows of bytes as a column of fixed size."""
    import pyarrow as pa

    kind = pa.binary(rows.shape[1])
    return pa.FixedSizeBinaryArray.from_buffers(kind, len(rows), [None, pa.py_buffer(rows)])

"""Parsed pages of one archive as Parquet files, in groups of rows by partition of sites.

Each file has the pages of one archive in some of the partitions.  All pages of a site are in the
same partition, and a group of rows has pages of one partition only, so that a partition is read
without reading the others.  A file lists all its groups: with those of thousands of partitions, it
would take longer to open than to read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from diptych.errors import StoreError
from diptych.files import reading
from diptych.frontier.scope import unit
from diptych.learn.libraries import library
from diptych.run.page_rows import PageRow

LAYOUT = 2
"""version of the files; files of an earlier version are written again"""
PARTITIONS_PER_FILE = 64
_PARTITION = "partition"
_ARCHIVE = b"archive"
_MAX_BUFFER = 48 << 20  # bytes of rows that are kept until they are written
_MAX_GROUP = 1 << 30  # bytes of a group of rows, which is read at once
_COMPRESSED = ("url", "links", "title", "langs", "blocks")
"""columns that are compressed; sketches and contents already are"""
_OVERHEAD = 600  # bytes of a row beside its long values


class ArchivePages(NamedTuple):
    """The archive that a file was made from, as the runs name it, and its size."""

    path: str
    size: int


def partition_of(url: str, kind: str, count: int) -> int:
    """The partition of a URL among `count`; a site of the given kind is in one of them.

    Folders of a host are in one partition, because they share a robots.txt.

    >>> partition_of("http://a.org/b", "site", 8) == partition_of("http://fr.a.org/c", "site", 8)
    True
    """
    name = unit(url, "host" if kind == "prefix" else kind)
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest()) % count


def paths_of_archive(folder: Path, name: str, count: int) -> list[Path]:
    """The files for the pages of an archive that are divided into `count` partitions.

    >>> [path.name for path in paths_of_archive(Path("pages"), "read-00007", 65)]
    ['read-00007-00.parquet', 'read-00007-01.parquet']
    """
    last = (count - 1) // PARTITIONS_PER_FILE
    return [folder / f"{name}-{number:02d}.parquet" for number in range(last + 1)]


def paths_of_partition(folder: Path, number: int) -> list[Path]:
    """The files of all archives that have the pages of a partition."""
    return sorted(folder.glob(f"*-{number // PARTITIONS_PER_FILE:02d}.parquet"))


def _schema(arrow: Any) -> Any:
    kinds = {
        int: arrow.int64(), float: arrow.float64(), bool: arrow.bool_(), str: arrow.string(),
        bytes: arrow.binary(),
    }  # fmt: skip
    sample = PageRow("", 0, False)._replace(canonical="")
    fields = [arrow.field(name, kinds[type(value)]) for name, value in sample._asdict().items()]
    return arrow.schema([arrow.field(_PARTITION, arrow.int32()), *fields])


def write_pages(
    paths: Sequence[Path], rows: Iterable[PageRow], archive: ArchivePages, kind: str, count: int
) -> None:
    """Write rows in `count` partitions to Parquet files; `kind` is the extent of a site."""
    arrow, parquet = library("pyarrow", "Parquet"), library("pyarrow.parquet", "Parquet")
    about = orjson.dumps(archive._asdict())
    schema = _schema(arrow).with_metadata({_ARCHIVE: about})
    kept: defaultdict[int, list[PageRow]] = defaultdict(list)
    size = 0
    compression = {name: "zstd" if name in _COMPRESSED else "none" for name in schema.names}
    with ExitStack() as at_end:
        writers = [
            at_end.enter_context(
                parquet.ParquetWriter(
                    path, schema, compression=compression, use_dictionary=False,
                    write_statistics=[_PARTITION],
                )
            )
            for path in paths
        ]  # fmt: skip
        for row in rows:
            kept[partition_of(row.url, kind, count)].append(row)
            size += _OVERHEAD + len(row.links) + len(row.sketch) + len(row.content)
            size += len(row.blocks)
            if size >= _MAX_BUFFER:
                _flush(writers, arrow, schema, kept)
                size = 0
        _flush(writers, arrow, schema, kept)


def _flush(writers: Sequence[Any], arrow: Any, schema: Any, kept: dict[int, list[PageRow]]) -> None:
    """Write the rows that are kept, a group for each partition."""
    for number, rows in sorted(kept.items()):
        columns = [[number] * len(rows), *map(list, zip(*rows, strict=True))]
        arrays = [arrow.array(*pair) for pair in zip(columns, schema.types, strict=True)]
        writer = writers[number // PARTITIONS_PER_FILE]
        writer.write_table(arrow.Table.from_arrays(arrays, schema=schema))
    kept.clear()


def _opened(path: Path) -> Any:
    parquet = library("pyarrow.parquet", "Parquet")
    return parquet.ParquetFile(path)


def archive_of(path: Path) -> ArchivePages:
    """The archive that a file was made from; raises `StoreError` if the file is damaged."""
    with reading(path, "file of parsed pages", error=StoreError), _opened(path) as file:
        found = orjson.loads(file.schema_arrow.metadata[_ARCHIVE])
        return ArchivePages(str(found["path"]), int(found["size"]))


def read_pages(path: Path, partition: int) -> Iterator[PageRow]:
    """Yield the rows of a partition; raises `StoreError` if the file is damaged."""
    arrow = library("pyarrow", "Parquet")
    with reading(path, "file of parsed pages", error=StoreError), _opened(path) as file:
        schema = _schema(arrow)
        if not file.schema_arrow.equals(schema, check_metadata=False):
            raise ValueError("it has other columns")
        for number in range(file.metadata.num_row_groups):
            group = file.metadata.row_group(number)
            bounds = group.column(0).statistics
            if bounds is None or not bounds.min <= partition <= bounds.max:
                continue
            if group.total_byte_size > _MAX_GROUP:
                raise ValueError("a group of its rows is too large")
            columns = [column.to_pylist() for column in file.read_row_group(number).columns]
            for own, *values in zip(*columns, strict=True):
                if own == partition:
                    yield PageRow(*values)

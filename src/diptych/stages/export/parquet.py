"""Exports Parquet: a columnar table with typed columns and one row per translation unit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from diptych.learn.libraries import library
from diptych.protocols import Corpus, Files
from diptych.stages.export.shared import columns
from diptych.units import Side, Unit

RUNS_KEY = "diptych.runs"
"""key in the file's metadata that holds the run signatures, separated by line breaks"""
_BATCHES_PER_GROUP = 50  # batches per row group, which is kept in memory and which readers can skip


@dataclass(frozen=True, slots=True)
class Parquet:
    """Writes one row per unit, with the columns of `tsv`.

    Flags are stored as lists, and times as timestamps.
    """

    suffix: ClassVar[str] = "parquet"
    libraries: ClassVar[tuple[str, ...]] = ("pyarrow",)
    n_way: bool = False
    """write texts by language and a list of sides, instead of left and right"""

    def write(self, corpus: Corpus, files: Files) -> int:
        """Write all units in corpus order, compressed, and return the number of units."""
        pa, pq = arrow()
        schema = _n_way_schema(pa, corpus.langs) if self.n_way else pair_schema(pa)
        values_of = _n_way_values if self.n_way else _pair_values
        runs: dict[str, None] = {}
        count = 0
        with pq.ParquetWriter(files(self.suffix), schema, compression="zstd") as writer:
            rows: list[Any] = []
            for batch in columns.batches(corpus.units()):
                rows.append(_record_batch(pa, values_of(batch), schema))
                runs.update(dict.fromkeys([unit.run for unit in batch]))
                count += len(batch)
                if len(rows) == _BATCHES_PER_GROUP:
                    writer.write_table(pa.Table.from_batches(rows))
                    rows = []
            writer.write_table(pa.Table.from_batches(rows, schema))
            writer.add_key_value_metadata({RUNS_KEY: columns.utf8("\n".join(runs))})
        return count


def arrow_table(units: Iterable[Unit]) -> Any:
    """Convert units with two languages to a pyarrow table."""
    pa, _ = arrow()
    schema = pair_schema(pa)
    rows = [_record_batch(pa, _pair_values(batch), schema) for batch in columns.batches(units)]
    return pa.Table.from_batches(rows, schema)


def arrow() -> tuple[Any, Any]:
    """Import `pyarrow` and `pyarrow.parquet`, and return both modules."""
    return library("pyarrow", "Parquet"), library("pyarrow.parquet", "Parquet")


def pair_schema(pa: Any) -> Any:
    """The schema of a table with two languages."""
    return pa.schema([(name, _type(pa, name.rpartition("_")[2])) for name in columns.PAIR_COLUMNS])


def _n_way_schema(pa: Any, langs: Sequence[str]) -> Any:
    side = pa.struct([(name, _type(pa, name)) for name in ("lang", *columns.PLACE_COLUMNS)])
    return pa.schema(
        [
            ("id", pa.string()),
            ("score", pa.float64()),
            ("texts", pa.struct([(lang, pa.string()) for lang in langs])),
            ("sides", pa.list_(side)),
            *((name, _type(pa, name)) for name in columns.COMMON_COLUMNS),
        ]
    )


def _type(pa: Any, name: str) -> Any:
    """The pyarrow type of a column, determined by the last word of the column name."""
    if name in ("score", "alignment", "verified"):
        return pa.float64()
    if name in ("offset", "copies"):
        return pa.int64()
    if name in ("fetched", "seen", "first_seen", "last_seen"):
        return pa.timestamp("ms", "UTC")  # Parquet has no unit of seconds
    return pa.list_(pa.string()) if name == "flags" else pa.string()


def _record_batch(pa: Any, values: dict[str, Sequence[Any]], schema: Any) -> Any:
    try:
        arrays = [pa.array(values[field.name], field.type) for field in schema]
    except UnicodeEncodeError:  # a lone surrogate, which UTF-8 cannot encode
        arrays = [
            pa.array(columns.with_surrogates_replaced(values[field.name]), field.type)
            for field in schema
        ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _pair_values(units: Sequence[Unit]) -> dict[str, Sequence[Any]]:
    rows = zip(*[columns.pair_row(unit) for unit in units], strict=True)
    return {
        **dict(zip(columns.PAIR_COLUMNS, rows, strict=True)),
        "left_fetched": [_milliseconds(unit.sides[0]) for unit in units],
        "right_fetched": [_milliseconds(unit.sides[1]) for unit in units],
        **_unit_values(units),
    }


def _n_way_values(units: Sequence[Unit]) -> dict[str, Sequence[Any]]:
    common = zip(*[columns.common_row(unit) for unit in units], strict=True)
    return {
        "id": [columns.unit_id(unit) for unit in units],
        "score": [columns.rounded(unit.score) for unit in units],
        "texts": [{side.lang: side.text for side in unit.sides} for unit in units],
        "sides": [[_side(side) for side in unit.sides] for unit in units],
        **dict(zip(columns.COMMON_COLUMNS, common, strict=True)),
        **_unit_values(units),
    }


def _unit_values(units: Sequence[Unit]) -> dict[str, Sequence[Any]]:
    """The values of columns that are typed in Parquet; an unknown time is null."""
    return {
        "flags": [unit.flags for unit in units],
        "first_seen": [int(unit.first_seen) * 1000 or None for unit in units],
        "last_seen": [int(unit.last_seen) * 1000 or None for unit in units],
    }


def _side(side: Side) -> dict[str, Any]:
    return {**columns.side_fields(side), "fetched": _milliseconds(side)}


def _milliseconds(side: Side) -> int:
    """When a side's page was fetched, in milliseconds since 1970, truncated to whole seconds."""
    return int(side.fetched_at) * 1000

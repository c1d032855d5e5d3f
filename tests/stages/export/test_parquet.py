from __future__ import annotations

import io
import re
import sys
from datetime import UTC, datetime

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from pyarrow import parquet
from support.examples import examples
from support.exported import DE, EN, FR, LANGS, UNIT, Given, corpora, dirty_texts, numbered, written

from diptych.errors import ConfigError
from diptych.stages.export.parquet import RUNS_KEY, Parquet
from diptych.stages.export.shared.columns import PAIR_COLUMNS, unit_id
from diptych.units import Side, Unit

HALF = re.compile("[\ud800-\udfff]")


def table(corpus: Given, *, n_way: bool = False) -> pa.Table:
    return parquet.read_table(io.BytesIO(written(Parquet(n_way=n_way), corpus)["parquet"]))


def seconds(time: datetime | None) -> float:
    return 0.0 if time is None else time.replace(tzinfo=UTC).timestamp()


def test_columns_have_types() -> None:
    schema = table(Given()).schema
    assert schema.names == list(PAIR_COLUMNS)
    types = {field.name: str(field.type) for field in schema}
    assert types.pop("flags").startswith("list<")
    times = ("left_fetched", "right_fetched", "first_seen", "last_seen")
    assert {types.pop(name) for name in times} == {"timestamp[ms, tz=UTC]"}
    assert {types.pop(name) for name in ("score", "alignment", "verified")} == {"double"}
    assert {types.pop(name) for name in ("left_offset", "right_offset", "copies")} == {"int64"}
    assert set(types.values()) == {"string"}


def test_row_has_all_values() -> None:
    (row,) = table(Given([UNIT])).to_pylist()
    assert row["id"] == unit_id(UNIT)
    assert row["left_fetched"] == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
    assert row["flags"] == ["noai", "licence:CC-BY-4.0"]
    assert [row["left_path"], row["right_offset"], row["run"]] == [EN.path, 1024, "v:1"]


def test_metadata_has_the_signatures_of_runs() -> None:
    units = [UNIT, UNIT._replace(run="v:2"), UNIT]
    data = written(Parquet(), Given(units))["parquet"]
    metadata = parquet.read_metadata(io.BytesIO(data)).metadata
    assert metadata[RUNS_KEY.encode()] == b"v:1\nv:2"


def test_lone_surrogate_is_replaced() -> None:
    broken = UNIT._replace(run="v:\ud800", evidence="\udfff", flags=("\ud800",))
    data = written(Parquet(), Given([broken]))["parquet"]
    assert (
        parquet.read_metadata(io.BytesIO(data)).metadata[RUNS_KEY.encode()].decode() == "v:\ufffd"
    )
    (row,) = table(Given([broken])).to_pylist()
    assert (row["run"], row["evidence"], row["flags"]) == ("v:\ufffd", "\ufffd", ["\ufffd"])


def test_rows_are_in_groups_and_compressed() -> None:
    data = written(Parquet(), Given(list(numbered(51_000))))["parquet"]
    metadata = parquet.read_metadata(io.BytesIO(data))
    assert [metadata.row_group(number).num_rows for number in range(2)] == [50_000, 1_000]
    assert metadata.row_group(0).column(0).compression == "ZSTD"


@settings(max_examples=examples(40))
@given(corpora(dirty_texts))
def test_a_round_trip_loses_nothing(corpus: Given) -> None:
    found = []
    for row in table(corpus).to_pylist():
        sides = [
            Side(
                row[f"{side}_lang"], row[side],
                *(row[f"{side}_{name}"] for name in ("url", "path", "at")),
                seconds(row[f"{side}_fetched"]),
                *(row[f"{side}_{name}"] for name in ("digest", "warc", "offset")),
            )
            for side in ("left", "right")
        ]  # fmt: skip
        names = ("score", "alignment", "verified", "evidence")
        found.append(
            Unit(
                tuple(sides), *(row[name] for name in names), tuple(row["flags"]), row["copies"],
                row["run"], seconds(row["first_seen"]), seconds(row["last_seen"]),
            )
        )  # fmt: skip
    assert found == [_whole(unit) for unit in corpus.given]


def _whole(unit: Unit) -> Unit:
    """A unit without halves of characters."""
    sides = tuple(
        Side._make(HALF.sub("\ufffd", each) if isinstance(each, str) else each for each in side)
        for side in unit.sides
    )
    return unit._replace(
        sides=sides,
        evidence=HALF.sub("\ufffd", unit.evidence),
        run=HALF.sub("\ufffd", unit.run),
    )


@settings(max_examples=examples(40))
@given(corpora(langs=LANGS))
def test_a_round_trip_of_many_languages_loses_nothing(corpus: Given) -> None:
    for row, unit in zip(table(corpus, n_way=True).to_pylist(), corpus.given, strict=True):
        texts = {side.lang: side.text for side in unit.sides}
        assert row["texts"] == {lang: texts.get(lang) for lang in LANGS}
        sides = [
            Side(
                found["lang"], texts[found["lang"]], found["url"], found["path"], found["at"],
                seconds(found["fetched"]), found["digest"], found["warc"], found["offset"],
            )
            for found in row["sides"]
        ]  # fmt: skip
        names = ("score", "alignment", "verified", "evidence")
        values = [row[name] for name in names]
        dates = seconds(row["first_seen"]), seconds(row["last_seen"])
        rest = tuple(row["flags"]), row["copies"], row["run"], *dates
        assert unit == Unit(tuple(sides), *values, *rest)


def test_duckdb_reads_it(tmp_path) -> None:
    path = tmp_path / "corpus.parquet"
    path.write_bytes(written(Parquet(), Given([UNIT._replace(flags=()), UNIT]))["parquet"])
    found = duckdb.sql(
        f"SELECT left_url, epoch(left_fetched) FROM '{path}' WHERE list_contains(flags, 'noai')"
    )
    assert found.fetchall() == [(EN.url, 1_700_000_000)]
    units = [UNIT, UNIT._replace(sides=(EN, FR, DE))]
    path.write_bytes(written(Parquet(n_way=True), Given(units, ("en", "fr", "de")))["parquet"])
    found = duckdb.sql(f"SELECT texts.de, sides[1].url FROM '{path}'")
    assert found.fetchall() == [(None, EN.url), ("Eine Katze", EN.url)]


def test_without_pyarrow_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ConfigError, match="Parquet requires pyarrow: pip install 'pyarrow>=16'"):
        Parquet().write(Given(), lambda ending: io.BytesIO())

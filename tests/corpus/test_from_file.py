from __future__ import annotations

import io
import json
import re
import tracemalloc
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from support.examples import examples
from support.exported import EN, FR, UNIT, Given, corpora, numbered, written

import diptych.corpus.from_file
from diptych.corpus.files import OutFiles
from diptych.corpus.from_file import read_units
from diptych.errors import CorpusError
from diptych.protocols import Exporter
from diptych.stages.export.jsonl import Jsonl
from diptych.stages.export.parquet import Parquet
from diptych.types import Url

EXPORTERS = {"jsonl": Jsonl(), "parquet": Parquet()}
NAMES = ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "a.parquet"]
ROW = json.loads(written(Jsonl(), Given([UNIT]))["jsonl"])
# Fetch times are exported in whole seconds.
WHOLE = UNIT._replace(sides=(EN._replace(fetched_at=1_700_000_000.0), FR))


def export(path: Path, corpus: Given, *, n_way: bool = False) -> Path:
    kind = type(EXPORTERS[path.name.split(".")[1]])
    exporter: Exporter = kind(n_way=n_way)
    with OutFiles(path, exporter.suffix) as files:
        exporter.write(corpus, files)
    return path


def fault(path: Path) -> str:
    """The one-line error of reading a file, which names the file."""
    with pytest.raises(CorpusError) as caught:
        list(read_units(path))
    message = str(caught.value)
    assert str(path) in message
    assert message.isprintable()
    return message


@pytest.mark.parametrize("name", NAMES)
def test_exported_corpus_is_read_back(tmp_path: Path, name: str) -> None:
    path = export(tmp_path / name, Given([UNIT] * 3_456))
    assert list(read_units(path)) == [WHOLE] * 3_456
    assert list(read_units(export(path, Given()))) == []


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=examples(30), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(corpus=corpora())
def test_a_round_trip_loses_nothing(tmp_path: Path, name: str, corpus: Given) -> None:
    found = [
        unit._replace(
            sides=tuple(
                [side._replace(url=Url(f"http://a.org/?{side.url}")) for side in unit.sides]
            )
        )
        for unit in corpus.given
    ]
    assert list(read_units(export(tmp_path / name, Given(found, corpus.langs)))) == found


def test_the_largest_numbers_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    row = ROW | {"score": 1.0, "alignment": 0.0, "copies": 2**53, "left_offset": 2**63 - 1}
    path.write_text(json.dumps(row), "utf-8")
    (unit,) = read_units(path)
    assert (unit.score, unit.alignment, unit.copies) == (1.0, 0.0, 2**53)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_it_is_read_unit_by_unit(tmp_path: Path, name: str) -> None:
    path = export(tmp_path / name, Given(list(numbered(20_000))))
    for _ in read_units(path):  # modules that are imported when they are needed do not count
        pass
    found = read_units(path)
    next(found)
    tracemalloc.start()
    for _ in found:
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8_000_000


@pytest.mark.parametrize(
    "name", ["a.tsv", "a.tmx", "a", "a.jsonl.bz2", "a.parquet.gz", "a.docs.jsonl"]
)
def test_files_that_are_not_exports_are_rejected(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"")
    assert "must be an export whose name ends in" in fault(tmp_path / name)


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_file_is_reported(tmp_path: Path, name: str) -> None:
    assert "No such file" in fault(tmp_path / name)


@pytest.mark.parametrize("name", NAMES)
def test_many_languages_are_told_from_pairs(tmp_path: Path, name: str) -> None:
    path = export(tmp_path / name, Given([UNIT]), n_way=True)
    assert (
        fault(path)
        == f"{path} has rows with more than two languages: export language pairs instead"
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_is_cut_off_is_told(tmp_path: Path, name: str) -> None:
    path = export(tmp_path / name, Given(list(numbered(3_000))))
    data = path.read_bytes()
    for length in (len(data) - 1, len(data) - 5, len(data) // 2, 100, 10, 1):
        if (name, length) != ("a.jsonl", len(data) - 1):  # only the last line end
            path.write_bytes(data[:length])
            assert fault(path)
    if name != "a.jsonl":
        path.write_bytes(b"")
        assert fault(path)


def test_the_line_where_it_is_cut_off_is_named(tmp_path: Path) -> None:
    path = export(tmp_path / "a.jsonl", Given(list(numbered(2_000))))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:1_500]) + lines[1_500][:100])
    assert fault(path) == f"{path}, line 1,501 is truncated: export it again"
    packed = export(tmp_path / "a.jsonl.gz", Given(list(numbered(2_000))))
    packed.write_bytes(packed.read_bytes()[:-20])
    assert "is truncated after line" in fault(packed)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "data", [b"\x00" * 100, b"GIF89a", b"{}\n", b"[1]\n", b"\xff\xfe\n", b"nul"]
)
def test_what_is_no_corpus_is_told(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    assert fault(tmp_path / name)


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(NAMES), st.data())
def test_damage_is_an_error_or_goes_unnoticed_but_never_a_bug(
    tmp_path: Path, name: str, data: st.DataObject
) -> None:
    good = export(tmp_path / name, Given(list(numbered(5)))).read_bytes()
    place = data.draw(st.integers(0, len(good) - 1))
    damaged = good[:place] + data.draw(st.binary(max_size=8)) + good[place + 1 :]
    (tmp_path / name).write_bytes(damaged)
    with suppress(CorpusError):
        assert len(list(read_units(tmp_path / name))) <= 6


@pytest.mark.parametrize("name", ["left", "score", "evidence", "run"])
def test_a_column_whose_name_is_no_utf_8_is_an_error_of_ours(tmp_path: Path, name: str) -> None:
    """PyArrow raises UnicodeDecodeError here, for 226 of 8,612 changes of one byte."""
    good = export(tmp_path / "a.parquet", Given([UNIT])).read_bytes()
    footer = int.from_bytes(good[-8:-4], "little") + 8  # of Parquet: size and mark at the end
    places = [found.start() for found in re.finditer(name.encode(), good)]
    refused = 0
    for place in (place for place in places if place >= len(good) - footer):
        damaged = bytearray(good)
        damaged[place + 1] = 0xE9
        (tmp_path / "a.parquet").write_bytes(damaged)
        with suppress(CorpusError):
            list(read_units(tmp_path / "a.parquet"))
            continue
        refused += 1
    assert refused


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"score": "0.5"}, "score is not a number"),
        ({"score": None}, "score is not a number"),
        ({"score": True}, "score is not a number"),
        ({"left": 5}, "left is not text"),
        ({"left": ["A"]}, "left is not text"),
        ({"flags": ["noai"]}, "flags is not text"),
        ({"copies": 1.5}, "copies is not a whole number"),
        ({"left_offset": None}, "left_offset is not a whole number"),
        ({"left_offset": -1}, "offset or copies is out of range"),
        ({"right_offset": 2**63}, "offset or copies is out of range"),
        ({"copies": 0}, "offset or copies is out of range"),
        ({"left_fetched": "yesterday"}, "a fetch time is invalid"),
        ({"right_fetched": "0001-01-01T00:00:00Z"}, "a fetch time is out of range"),
        ({"left": ""}, "a side has no text"),
        ({"left_lang": "../../x"}, "'../../x' and 'fr' are not two different languages"),
        ({"score": 1.01}, "line 2: a score is not a number from 0 to 1"),
        ({"alignment": -0.1}, "line 2: a score is not a number from 0 to 1"),
        ({"verified": 7}, "line 2: a score is not a number from 0 to 1"),
        ({"left_url": "javascript:alert(1)"}, "a URL is not an HTTP URL"),
        ({"right_url": "file:///etc/passwd"}, "a URL is not an HTTP URL"),
        ({"right_url": "/a"}, "a URL is not an HTTP URL"),
        ({"copies": 2**53 + 1}, "offset or copies is out of range"),
        ({"left_lang": "en" + "-x" * 99}, "are not two different languages"),
        ({"left_lang": "fr"}, "'fr' and 'fr' are not two different languages"),
        ({"right_lang": "\x1b[2J"}, "are not two different languages"),
    ],
)
def test_fields_of_the_wrong_kind_are_named_with_their_line(
    tmp_path: Path, change: dict[str, Any], expected: str
) -> None:
    path = tmp_path / "a.jsonl"
    lines = [json.dumps(row) for row in (ROW, ROW | change)]
    path.write_text("\n".join(lines), "utf-8")
    message = fault(path)
    assert expected in message
    assert "line 2" in message


@pytest.mark.parametrize("name", ["left", "right_digest", "run"])
def test_fields_that_are_missing_are_named(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({key: ROW[key] for key in ROW if key != name}), "utf-8")
    assert fault(path) == f"{path}, line 1 has no field '{name}': was it exported by Diptych?"


def test_a_whole_number_is_a_score_too_and_blank_lines_are_none(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    row = ROW | {"score": 1, "more": {"of": "something"}}
    path.write_text(f"\n{json.dumps(row)}\r\n \n", "utf-8")
    (unit,) = read_units(path)
    assert unit == WHOLE._replace(score=1.0)
    assert isinstance(unit.score, float)


@pytest.mark.parametrize("text", ["1e999", "NaN", "-Infinity", "[" * 5_000])
def test_numbers_that_are_none_are_no_scores(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(ROW).replace('"score": 0.5', f'"score": {text}'), "utf-8")
    assert fault(path)


@pytest.mark.parametrize("name", NAMES[:3])
def test_a_line_without_end_does_not_fill_the_memory(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diptych.corpus.from_file, "MAX_LINE", 1 << 20)
    path = tmp_path / name
    with OutFiles(path, "jsonl") as files:
        out = files("jsonl")
        for _ in range(200):
            out.write(b" " * (1 << 20))
    tracemalloc.start()
    assert "line 1 is longer than 1 MB" in fault(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100 << 20


def test_several_frames_of_zstd_are_one_file(tmp_path: Path) -> None:
    data = written(Jsonl(), Given([UNIT]))["jsonl"]
    path = tmp_path / "a.jsonl.zst"
    path.write_bytes(zstandard.compress(data) + zstandard.compress(data))
    assert list(read_units(path)) == [WHOLE, WHOLE]


BROKEN = pa.array([b"a", b"\xff", b"\xc3"]).cast(pa.string(), safe=False)
"""texts that are no UTF-8"""


def table(**changes: Any) -> pa.Table:
    """An export as a table, with some columns replaced."""
    found = parquet.read_table(io.BytesIO(written(Parquet(), Given([UNIT] * 3))["parquet"]))
    for name, column in changes.items():
        found = found.set_column(found.schema.get_field_index(name), name, column)
    return found


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"left": pa.array(["a", None, "b"])}, "left is missing from some rows"),
        ({"flags": pa.array([["a"], [None], []])}, "flags is missing from some rows"),
        ({"score": pa.array(["x", "y", "z"])}, "cannot read"),
        ({"score": pa.array([0.5, float("nan"), 0.5])}, "row 2: a score is not a number"),
        (
            {"left_lang": pa.array(["en", "en", "/etc"])},
            "row 3: '/etc' and 'fr' are not two different languages",
        ),
        (
            {"left_fetched": pa.array([0, -1, 2**62], pa.timestamp("ms", "UTC"))},
            "row 2: a fetch time",
        ),
        ({"run": BROKEN}, "cannot read"),
        ({"copies": pa.array([1, 1, 0])}, "row 3: offset or copies is out of range"),
    ],
)
def test_columns_of_a_table_are_checked(
    tmp_path: Path, changes: dict[str, Any], expected: str
) -> None:
    path = tmp_path / "a.parquet"
    parquet.write_table(table(**changes), path)
    assert expected in fault(path)


def test_columns_that_are_missing_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    parquet.write_table(table().drop_columns(["left_url"]), path)
    assert fault(path) == f"{path} has no column 'left_url': was it exported by Diptych?"


def test_a_table_that_another_program_wrote_again_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    times = pa.array([1_700_000_000_000_000] * 3, pa.timestamp("us", "UTC"))
    wide = table(left=pa.array(["A cat"] * 3, pa.large_string()), left_fetched=times)
    parquet.write_table(wide.select(wide.column_names[::-1]), path)
    assert list(read_units(path)) == [WHOLE] * 3

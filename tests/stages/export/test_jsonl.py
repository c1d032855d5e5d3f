from __future__ import annotations

import json
import re

import duckdb
import pytest
from hypothesis import given, settings
from support.examples import examples
from support.exported import DE, EN, FR, LANGS, UNIT, Given, corpora, dirty_texts, written

from diptych.stages.export.jsonl import Jsonl
from diptych.stages.export.shared.columns import unit_id

ROW = {
    "left": "A cat", "right": "Un chat", "score": 0.5, "left_url": EN.url, "right_url": FR.url,
    "id": unit_id(UNIT), "left_lang": "en", "right_lang": "fr",
    "left_path": EN.path, "right_path": FR.path, "left_at": EN.at, "right_at": FR.at,
    "left_fetched": "2023-11-14T22:13:20Z", "right_fetched": "2023-11-14T22:14:20Z",
    "left_digest": EN.digest, "right_digest": FR.digest, "left_warc": EN.warc,
    "right_warc": FR.warc, "left_offset": 512, "right_offset": 1024, "alignment": 0.25,
    "verified": 0.75, "evidence": "hreflang+keys", "flags": "noai licence:CC-BY-4.0", "copies": 3,
    "run": "v:1",
    "first_seen": "",
    "last_seen": "",
}  # fmt: skip


def rows(corpus: Given, *, n_way: bool = False) -> list[dict[str, object]]:
    data = written(Jsonl(n_way=n_way), corpus)["jsonl"]
    return [json.loads(line) for line in data.decode().split("\n")[:-1]]


def test_an_object_has_the_names_of_the_columns() -> None:
    (row,) = rows(Given([UNIT]))
    assert list(row.items()) == list(ROW.items())


def test_many_languages_are_texts_and_sides() -> None:
    whole = UNIT._replace(sides=(EN, FR, DE))
    first, second = rows(Given([UNIT, whole], ("en", "fr", "de")), n_way=True)
    # No null for what is missing: readers take the type of a field from what comes first.
    assert first["texts"] == {"en": "A cat", "fr": "Un chat", "de": ""}
    assert second["texts"] == {"en": "A cat", "fr": "Un chat", "de": "Eine Katze"}
    assert second["sides"] == [
        {
            "lang": side.lang, "url": side.url, "path": side.path, "at": side.at,
            "fetched": fetched, "digest": side.digest, "warc": side.warc, "offset": side.offset,
        }
        for side, fetched in zip(
            (EN, FR, DE),
            ("2023-11-14T22:13:20Z", "2023-11-14T22:14:20Z", "2023-11-14T22:14:20Z"),
            strict=True,
        )
    ]  # fmt: skip
    assert second["id"] == unit_id(whole)
    assert [first[name] for name in ("score", "flags", "copies")] == [0.5, ROW["flags"], 3]


@pytest.mark.parametrize("n_way", [False, True])
@pytest.mark.parametrize("text", ["},{", '},{"left":', '},{"id":', '"}\n{"', "}\\\\"])
def test_no_text_looks_like_the_end_of_an_object(text: str, n_way: bool) -> None:
    odd = UNIT._replace(sides=(EN._replace(text=text), FR._replace(url=text)))
    found = rows(Given([odd, UNIT, odd]), n_way=n_way)
    texts = [row["texts"]["en"] if n_way else row["left"] for row in found]  # type: ignore[index]
    assert texts == [text, "A cat", text]


@settings(max_examples=examples(40))
@given(corpora(dirty_texts))
def test_a_round_trip_keeps_even_control_characters(corpus: Given) -> None:
    found = rows(corpus)
    assert len(found) == len(corpus.given)
    for row, unit in zip(found, corpus.given, strict=True):
        for name, side in zip(("left", "right"), unit.sides, strict=True):
            assert row[name] == re.sub("[\ud800-\udfff]", "\ufffd", side.text)
            assert row[f"{name}_offset"] == side.offset
        assert row["id"] == unit_id(unit)
        assert row["copies"] == unit.copies


@settings(max_examples=examples(40))
@given(corpora(langs=LANGS))
def test_a_round_trip_of_many_languages_loses_nothing(corpus: Given) -> None:
    for row, unit in zip(rows(corpus, n_way=True), corpus.given, strict=True):
        assert row["texts"] == {lang: "" for lang in LANGS} | {s.lang: s.text for s in unit.sides}
        for found, side in zip(row["sides"], unit.sides, strict=True):  # type: ignore[arg-type]
            names = ("lang", "url", "path", "at", "digest", "warc", "offset")
            assert [found[name] for name in names] == [getattr(side, name) for name in names]
        assert str(row["flags"]).split(" ") == list(unit.flags or [""])
        assert [row["score"], row["alignment"], row["verified"]] == list(unit[1:4])


def test_duckdb_reads_it_with_the_right_types(tmp_path) -> None:
    # The first flag comes after what a reader looks at to learn the types.
    plain = UNIT._replace(flags=())
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(written(Jsonl(), Given([plain] * 30_000 + [UNIT]))["jsonl"])
    source = f"read_json_auto('{path}')"
    types = {name: kind for name, kind, *_ in duckdb.sql(f"DESCRIBE FROM {source}").fetchall()}
    assert list(types) == list(ROW)
    assert types["left_fetched"].startswith("TIMESTAMP")
    assert {types[name] for name in ("score", "alignment", "verified")} == {"DOUBLE"}
    assert {types[name] for name in ("left_offset", "right_offset", "copies")} == {"BIGINT"}
    texts = set(ROW) - {"score", "alignment", "verified", "copies"}
    texts -= {name for name in ROW if name.endswith(("_offset", "_fetched"))}
    assert {types[name] for name in texts} == {"VARCHAR"}
    # The module wants pytz to make a Python object of a time.
    chosen = (
        "* REPLACE (epoch(left_fetched) AS left_fetched, epoch(right_fetched) AS right_fetched)"
    )
    (row,) = duckdb.sql(f"SELECT {chosen} FROM {source} WHERE flags <> ''").fetchall()
    times = {"left_fetched": 1_700_000_000, "right_fetched": 1_700_000_060}
    assert dict(zip(ROW, row, strict=True)) == ROW | times


def test_duckdb_reads_many_languages_though_one_comes_late(tmp_path) -> None:
    units = [UNIT] * 25_000 + [UNIT._replace(sides=(EN, FR, DE))]
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(written(Jsonl(n_way=True), Given(units, ("en", "fr", "de")))["jsonl"])
    found = duckdb.sql(f"SELECT texts.de FROM read_json_auto('{path}') WHERE texts.de <> ''")
    assert found.fetchall() == [("Eine Katze",)]

from __future__ import annotations

import csv
import io
from datetime import datetime

import pytest
from hypothesis import given, settings
from support.examples import examples
from support.exported import DE, EN, FR, LANGS, UNIT, Given, corpora, dirty_texts, written

from diptych.stages.export.shared.columns import iso_time, one_line, unit_id
from diptych.stages.export.tsv import Tsv
from diptych.units import Side, Unit

PLACE_COLUMNS = ("url", "path", "at", "fetched", "digest", "warc", "offset")
COMMON_COLUMNS = ("alignment", "verified", "evidence", "flags", "copies", "run")
DATES = ("first_seen", "last_seen")


def rows(corpus: Given, *, n_way: bool = False) -> list[dict[str, str]]:
    """Read as any reader of lines and tabs does."""
    text = written(Tsv(n_way=n_way), corpus)["tsv"].decode()
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter="\t", quoting=csv.QUOTE_NONE, lineterminator="\n"
    )
    header, *lines = [line.split("\t") for line in text.removesuffix("\n").split("\n")]
    assert list(reader) == [header, *lines]
    assert len(set(header)) == len(header)
    return [dict(zip(header, line, strict=True)) for line in lines]


def side(lang: str, text: str, row: dict[str, str], prefix: str) -> Side:
    found = {name: row[f"{prefix}_{name}"] for name in PLACE_COLUMNS}
    fetched = datetime.fromisoformat(found.pop("fetched")).timestamp()
    return Side(lang, text, **found | {"offset": int(found["offset"])}, fetched_at=fetched)


def unit(row: dict[str, str], sides: tuple[Side, ...]) -> Unit:
    common = [row[name] for name in COMMON_COLUMNS]
    return Unit(
        sides, float(row["score"]), float(common[0]), float(common[1]), common[2],
        tuple(common[3].split(" ") if common[3] else ()), int(common[4]), common[5],
        *(datetime.fromisoformat(row[name]).timestamp() if row[name] else 0.0 for name in DATES),
    )  # fmt: skip


def test_columns_are_those_that_scripts_depend_on() -> None:
    (header,) = written(Tsv(), Given())["tsv"].decode().splitlines()
    assert header.split("\t") == (
        "left right score left_url right_url id left_lang right_lang left_path right_path left_at"
        " right_at left_fetched right_fetched left_digest right_digest left_warc right_warc"
        " left_offset right_offset alignment verified evidence flags copies run"
        " first_seen last_seen"
    ).split(" ")


def test_fields_are_under_their_columns() -> None:
    (row,) = rows(Given([UNIT]))
    assert row == {
        "left": "A cat", "right": "Un chat", "score": "0.5000",
        "left_url": EN.url, "right_url": FR.url, "id": unit_id(UNIT),
        "left_lang": "en", "right_lang": "fr", "left_path": EN.path, "right_path": FR.path,
        "left_at": "0-5 0-1", "right_at": "0-7",
        "left_fetched": "2023-11-14T22:13:20Z", "right_fetched": "2023-11-14T22:14:20Z",
        "left_digest": EN.digest, "right_digest": FR.digest,
        "left_warc": EN.warc, "right_warc": FR.warc, "left_offset": "512", "right_offset": "1024",
        "alignment": "0.2500", "verified": "0.7500", "evidence": "hreflang+keys",
        "flags": "noai licence:CC-BY-4.0", "copies": "3", "run": "v:1",
        "first_seen": "", "last_seen": "",
    }  # fmt: skip


def test_many_languages_have_a_column_each() -> None:
    units = [UNIT, UNIT._replace(sides=(EN, FR, DE)), UNIT._replace(sides=(FR, DE))]
    found = rows(Given(units, ("en", "fr", "de")), n_way=True)
    assert list(found[0])[:8] == "en fr de score unit_id en_url fr_url de_url".split(" ")
    assert [[row["en"], row["fr"], row["de"]] for row in found] == [
        ["A cat", "Un chat", ""],
        ["A cat", "Un chat", "Eine Katze"],
        ["", "Un chat", "Eine Katze"],
    ]
    assert [row["de_url"] for row in found] == ["", DE.url, DE.url]
    assert [row["en_fetched"] for row in found] == [iso_time(EN.fetched_at)] * 2 + [""]
    assert [row["unit_id"] for row in found] == [unit_id(unit) for unit in units]


@settings(max_examples=examples(40))
@given(corpora())
def test_a_round_trip_loses_nothing(corpus: Given) -> None:
    found = rows(corpus)
    assert [
        unit(row, tuple(side(row[f"{p}_lang"], row[p], row, p) for p in ("left", "right")))
        for row in found
    ] == corpus.given
    assert [row["id"] for row in found] == list(map(unit_id, corpus.given))


@settings(max_examples=examples(40))
@given(corpora(langs=LANGS))
def test_a_round_trip_of_many_languages_loses_nothing(corpus: Given) -> None:
    found = rows(corpus, n_way=True)
    assert [
        unit(row, tuple(side(lang, row[lang], row, lang) for lang in LANGS if row[lang]))
        for row in found
    ] == corpus.given


@settings(max_examples=examples(40))
@given(corpora(dirty_texts))
def test_any_text_is_one_line_of_all_columns(corpus: Given) -> None:
    lines = written(Tsv(), corpus)["tsv"].decode().splitlines()
    assert len(lines) == len(corpus.given) + 1
    assert {line.count("\t") for line in lines} == {27}


@pytest.mark.parametrize(
    "text",
    [
        "=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", '"=1"', '"open', "\uff1d1+1",
        "\uff0b1", "\uff0d1", "\uff201", "=HYPERLINK(1)", "-- a dash",
    ],
)  # fmt: skip
@pytest.mark.parametrize("n_way", [False, True])
def test_texts_are_no_formulas_on_request(text: str, n_way: bool) -> None:
    sides = tuple(each._replace(text=text) if i else each for i, each in enumerate(UNIT.sides))
    corpus = Given([UNIT._replace(sides=sides)], ("en", "fr"))
    lines = written(Tsv(n_way=n_way, safe_cells=True), corpus)["tsv"].decode().splitlines()
    cell = lines[1].split("\t")[1]
    assert cell == "'" + one_line(text)
    plain = written(Tsv(n_way=n_way), corpus)["tsv"].decode().splitlines()
    assert plain[1].split("\t")[1] == one_line(text)


def test_other_texts_are_the_same_in_safe_cells() -> None:
    corpus = Given([UNIT])
    assert written(Tsv(safe_cells=True), corpus) == written(Tsv(), corpus)

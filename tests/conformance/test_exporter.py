from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from pyarrow import parquet
from support.examples import examples
from support.exported import EN, FR, LANGS, Given, Memory, corpora, dirty_texts, numbered, written

from diptych.protocols import Exporter
from diptych.registry import STRATEGIES, exporter, strategies
from diptych.stages.export.shared.columns import unit_id
from diptych.types import Block
from diptych.units import DocumentPair, Text, Unit

NAMES = sorted(STRATEGIES["export"])
MANY = [name for name in NAMES if "n_way" in strategies("export")[name].__dataclass_fields__]
# Parquet is written in groups of rows, which are large.
STREAMED = {name: 51_000 if name == "parquet" else 2_000 for name in NAMES}


def of_units(units: list[Unit]) -> list[tuple[str, ...]]:
    return [(unit_id(unit), *(side.url for side in unit.sides)) for unit in units]


def of_documents(units: list[Unit]) -> list[tuple[str, ...]]:
    return [
        (*(side.text for side in unit.sides), *(side.url for side in unit.sides)) for unit in units
    ]


def read_tsv(files: dict[str, bytes]) -> list[tuple[str, ...]]:
    header, *lines = [line.split("\t") for line in files["tsv"].decode().splitlines()]
    places = [header.index(name) for name in ("id", "left_url", "right_url")]
    return [tuple(line[place] for place in places) for line in lines]


def read_jsonl(files: dict[str, bytes]) -> list[tuple[str, ...]]:
    rows = map(json.loads, files["jsonl"].splitlines())
    return [(row["id"], row["left_url"], row["right_url"]) for row in rows]


def read_parquet(files: dict[str, bytes]) -> list[tuple[str, ...]]:
    table = parquet.read_table(io.BytesIO(files["parquet"]))
    columns = [table[name].to_pylist() for name in ("id", "left_url", "right_url")]
    return list(zip(*columns, strict=True))


def read_tmx(files: dict[str, bytes]) -> list[tuple[str, ...]]:
    root = ElementTree.fromstring(files["tmx"])
    urls = './/prop[@type="url"]'
    return [
        (tu.attrib["tuid"], *(prop.text or "" for prop in tu.findall(urls)))
        for tu in root.iter("tu")
    ]


def read_standoff(files: dict[str, bytes]) -> list[tuple[str, ...]]:
    _, *rows = map(json.loads, files["standoff.jsonl"].splitlines())
    return [(row["id"], *(side["url"] for side in row["sides"])) for row in rows]


def read_docs(files: dict[str, bytes]) -> list[tuple[str, ...]]:
    rows = [json.loads(line) for line in files["docs.jsonl"].splitlines()]
    pages = [(row["left"], row["right"]) for row in rows]
    return [
        (*(page["blocks"][0]["text"] for page in pair), *(page["url"] for page in pair))
        for pair in pages
    ]


def read_moses(files: dict[str, bytes]) -> list[tuple[str, ...]]:
    """The ids, which lead to where the lines were found in any other format."""
    return [(line,) for line in files["en-fr.ids"].decode().splitlines()]


READERS: dict[str, Callable[[dict[str, bytes]], list[tuple[str, ...]]]] = {
    "docs": read_docs,
    "jsonl": read_jsonl,
    "moses": read_moses,
    "parquet": read_parquet,
    "standoff": read_standoff,
    "tmx": read_tmx,
    "tsv": read_tsv,
}


def document(unit: Unit) -> DocumentPair:
    left, right = (
        Text(side.lang, side.url, "", (Block(side.text, side.path),), *side[5:])
        for side in unit.sides
    )
    return DocumentPair(left, right, 1.0, "keys", (), ())


def corpus(count: int) -> Given:
    units = list(numbered(count))
    return Given(units, ("en", "fr"), [document(unit) for unit in units])


def made(name: str) -> Exporter:
    return exporter(name)


@pytest.mark.parametrize("name", NAMES)
def test_all_are_written_once_and_in_order_with_where_they_were_found(name: str) -> None:
    given = corpus(1_234)  # not a whole number of batches
    files = Memory()
    assert made(name).write(given, files) == 1_234
    found = READERS[name]({ending: file.getvalue() for ending, file in files.opened.items()})
    expected = (of_documents if name == "docs" else of_units)(list(given.units()))
    assert found == [row[: len(found[0])] for row in expected]


@pytest.mark.parametrize("name", NAMES)
def test_the_same_corpus_is_the_same_bytes(name: str) -> None:
    assert written(made(name), corpus(20)) == written(made(name), corpus(20))


@pytest.mark.parametrize("name", NAMES)
def test_units_are_written_while_they_come(name: str) -> None:
    count = STREAMED[name]
    files = Memory()
    empty = sum(map(len, written(made(name), Given()).values()))

    def watched(items: Iterator[Unit]) -> Iterator[Unit]:
        for number, item in enumerate(items):
            if number == count - 1:
                assert files.size() > empty
            yield item

    class Watched(Given):
        def units(self) -> Iterator[Unit]:
            return watched(numbered(count))

        def documents(self) -> Iterator[DocumentPair]:
            return map(document, watched(numbered(count)))

    assert made(name).write(Watched(), files) == count


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_corpus_makes_readable_files(name: str) -> None:
    files = written(made(name), Given())
    assert files
    assert READERS[name](files) == []


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=examples(30))
@given(corpus=corpora(dirty_texts))
def test_no_text_breaks_a_file(name: str, corpus: Given) -> None:
    corpus.found = [document(unit) for unit in corpus.given]
    files = written(made(name), corpus)
    if name == "moses":
        assert {data.count(b"\n") for data in files.values()} == {len(corpus.given)}
    else:
        assert len(READERS[name](files)) == len(corpus.given)
    if name != "parquet":
        assert all(data.decode() is not None for data in files.values())


@pytest.mark.parametrize("name", MANY)
@settings(max_examples=examples(30))
@given(corpus=corpora(dirty_texts, LANGS))
def test_rows_of_many_languages_are_written_too(name: str, corpus: Given) -> None:
    many = exporter(name, n_way=True)
    whole = [unit for unit in corpus.given if len(unit.sides) == len(LANGS)]
    count = len(whole) if name == "moses" else len(corpus.given)
    assert many.write(corpus, Memory()) == count
    assert written(many, corpus) == written(many, corpus)


@pytest.mark.parametrize("name", NAMES)
def test_languages_of_a_corpus_need_not_be_english_and_french(name: str) -> None:
    unit = next(numbered(1))
    turned = unit._replace(sides=(FR._replace(lang="he"), EN._replace(lang="id")))
    given = Given([turned], ("he", "id"), [document(turned)])
    assert made(name).write(given, Memory()) == 1

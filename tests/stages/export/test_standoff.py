from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.stages.export.shared.columns import unit_id
from diptych.stages.export.standoff import Standoff, read_header, read_line, text_hash
from diptych.types import Url
from diptych.units import DocumentPair, Side, Unit

EN = Side(
    "en", "Marmalade orchestra quietly", Url("http://a.org/en"), "/html/body/p[1] /html/body/p[2]",
    "3-20 0-9", 1_700_000_000.75, "sha1:" + "A" * 32, "warc/diptych-00001.warc.gz", 512,
)  # fmt: skip
FR = EN._replace(lang="fr", text="Confiture doucement", url=Url("http://a.org/fr"), offset=90)
UNIT = Unit(
    (EN, FR), 0.98765, 0.5, 0.25, "links+keys", ("noai", "machine:x"), 3, "crawl:hybrid()|v:1"
)


class Given:
    """A corpus out of a list."""

    langs: Sequence[str] = ("en", "fr")

    def __init__(self, units: Sequence[Unit]) -> None:
        self._units = units

    def units(self) -> Iterator[Unit]:
        return iter(self._units)

    def documents(self) -> Iterator[DocumentPair]:
        raise AssertionError


def written(*units: Unit) -> list[bytes]:
    files: dict[str, io.BytesIO] = {}

    def opened(suffix: str) -> BinaryIO:
        return files.setdefault(suffix, io.BytesIO())

    assert Standoff().write(Given(units), opened) == len(units)
    (data,) = (file.getvalue() for file in files.values())
    assert list(files) == [Standoff.suffix] == ["standoff.jsonl"]
    assert data.endswith(b"\n")
    return data[:-1].split(b"\n")


def changed(name: str, value: object) -> bytes:
    """The line of a unit with one field that is otherwise; `side.` means its first side."""
    row = json.loads(written(UNIT)[1])
    where, key = (row["sides"][0], name[5:]) if name.startswith("side.") else (row, name)
    where[key] = value
    return json.dumps(row).encode()


def test_a_header_then_a_line_for_each_unit() -> None:
    header, *lines = written(UNIT, UNIT)
    assert json.loads(header) == {"diptych": "standoff", "version": 1, "langs": ["en", "fr"]}
    assert read_header(header) == ("en", "fr")
    assert len(lines) == 2
    assert len(written()) == 1


def test_line_has_places_and_hashes_but_no_text() -> None:
    row = json.loads(written(UNIT)[1])
    left = row["sides"][0]
    assert left == {
        "lang": "en", "url": EN.url, "fetched": "2023-11-14T22:13:20Z", "digest": EN.digest,
        "warc": EN.warc, "offset": 512, "path": EN.path, "at": EN.at,
        "hash": text_hash(EN.text), "length": len(EN.text),
    }  # fmt: skip
    assert {name: row[name] for name in row if name != "sides"} == {
        "id": unit_id(UNIT), "score": 0.9877, "alignment": 0.5, "verified": 0.25,
        "evidence": "links+keys", "flags": "noai machine:x", "copies": 3, "run": UNIT.run,
        "first_seen": "", "last_seen": "",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("warc", "told"),
    [
        ("/home/me/archives/part.warc.gz", "part.warc.gz"),
        ("/part.warc.gz", "part.warc.gz"),
        ("warc/diptych-00001.warc.gz", "warc/diptych-00001.warc.gz"),
        ("", ""),
    ],
)
def test_local_paths_of_archives_are_not_written(warc: str, told: str) -> None:
    (line,) = written(UNIT._replace(sides=(EN._replace(warc=warc), FR)))[1:]
    assert json.loads(line)["sides"][0]["warc"] == told
    assert b"/home" not in line


@given(st.lists(st.text(st.characters(min_codepoint=0x3B1, max_codepoint=0x3C9), min_size=4)))
def test_no_word_of_a_text_is_in_the_file(words: list[str]) -> None:
    text = " ".join([EN.text, *words])
    lines = written(UNIT._replace(sides=(EN._replace(text=text), FR)))
    data = b"\n".join(lines).decode().lower()
    for word in re.findall(r"\w{4,}", f"{text} {FR.text}"):
        assert word.lower() not in data


def test_different_texts_have_different_hashes_even_with_a_lone_surrogate() -> None:
    assert text_hash("a") != text_hash("b")
    assert text_hash("a\ud800") == text_hash("a\ufffd")


def test_what_is_written_is_read_again_without_its_texts() -> None:
    bare = read_line(written(UNIT)[1])
    sides = [side._replace(text="", fetched_at=1_700_000_000.0) for side in (EN, FR)]
    assert bare.unit == UNIT._replace(sides=tuple(sides), score=0.9877)
    assert bare.id == unit_id(UNIT)
    assert bare.hashes == (text_hash(EN.text), text_hash(FR.text))
    assert bare.lengths == (len(EN.text), len(FR.text))


def test_first_record_of_an_archive_is_at_its_first_byte() -> None:
    assert read_line(changed("side.offset", 0)).unit.sides[0].offset == 0
    assert read_line(changed("side.offset", (1 << 62) - 1)).unit.sides[0].offset == (1 << 62) - 1


def test_unknown_fields_are_ignored() -> None:
    assert read_line(changed("colour", "green")) == read_line(written(UNIT)[1])
    assert read_line(changed("side.colour", 1)) == read_line(written(UNIT)[1])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("id", 5), ("sides", {}), ("sides", []), ("sides", [1]), ("score", "high"),
        ("score", True), ("evidence", None), ("flags", ["noai"]), ("flags", None), ("copies", 0),
        ("copies", 1.5), ("run", 1), ("side.lang", "../x"), ("side.lang", ""),
        ("side.lang", "fr"), ("side.url", "javascript:alert(1)"), ("side.url", "x"),
        ("side.fetched", 5), ("side.fetched", "yesterday"), ("side.offset", -1),
        ("side.offset", 1 << 62), ("side.offset", 1.0), ("side.offset", True), ("side.at", "0-3"),
        ("side.at", "9-3 0-9"), ("side.path", "/p"), ("side.hash", "ab"), ("side.hash", "G" * 32),
        ("side.length", "3"), ("side.digest", None), ("side.warc", 7),
    ],
)  # fmt: skip
def test_invalid_lines_are_refused(name: str, value: object) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_line(changed(name, value))


@pytest.mark.parametrize("name", ["id", "sides", "score", "run", "copies"])
def test_a_field_that_is_missing_is_named(name: str) -> None:
    row = json.loads(written(UNIT)[1])
    del row[name]
    with pytest.raises(ValueError, match=f"no '{name}'"):
        read_line(json.dumps(row).encode())


@pytest.mark.parametrize(
    "line", [b"", b"\n", b"{", b"[]", b"1", b"\xff\xfe", b'{"id": NaN}', b"[" * 5000, b"\0" * 9]
)
def test_lines_that_are_not_json_objects_are_refused(line: bytes) -> None:
    with pytest.raises(ValueError, match="JSON"):
        read_line(line)
    with pytest.raises(ValueError, match="JSON"):
        read_header(line)


@pytest.mark.parametrize(
    ("header", "says"),
    [
        ({}, "no stand-off corpus header"),
        ({"diptych": "corpus"}, "no stand-off corpus header"),
        ({"diptych": "standoff"}, "no 'version'"),
        ({"diptych": "standoff", "version": 1, "langs": "en"}, "'langs' is not of type list"),
        ({"diptych": "standoff", "version": 2, "langs": []}, "version 2"),
        ({"diptych": "standoff", "version": 1, "langs": [5]}, "language code"),
        ({"diptych": "standoff", "version": 1, "langs": ["a/b"]}, "language code"),
    ],
)
def test_invalid_headers_are_refused(header: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        read_header(json.dumps(header).encode())

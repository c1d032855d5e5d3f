from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from diptych.stages.export.docs import Docs, document_id
from diptych.types import Block, Url
from diptych.units import DocumentPair, Piece, Text, Unit

EN = Text(
    "en", Url("http://a.org/en"), "A title", (Block("Menu", "/nav"), Block("One. Two.", "/p")),
    1_700_000_000.5, "sha1:" + "A" * 32, "warc/diptych-00001.warc.gz", 512,
)  # fmt: skip
FR = EN._replace(lang="fr", url=Url("http://a.org/fr"), blocks=(Block("Un. Deux.", "/p"),))
PARAGRAPH = {
    "kind": "paragraph", "level": 0, "number": 0, "row": 0, "column": 0, "region": "body",
}  # fmt: skip
PIECES = (
    Piece(((0, 0, 4),), (), 0.0, False, "empty"),
    Piece(((1, 0, 4),), ((0, 0, 3),), 0.98765, True),
    Piece(((1, 5, 9),), ((0, 4, 9),), 0.5, True),
)
PAIR = DocumentPair(EN, FR, 0.87654, "links+keys", ("noai",), PIECES, "v:1")


class Given:
    """A corpus out of a list."""

    langs: Sequence[str] = ("en", "fr")

    def __init__(self, documents: Sequence[DocumentPair]) -> None:
        self._documents = documents

    def units(self) -> Iterator[Unit]:
        raise AssertionError

    def documents(self) -> Iterator[DocumentPair]:
        return iter(self._documents)


def rows(*documents: DocumentPair, markdown: bool = False) -> list[dict[str, Any]]:
    out = io.BytesIO()

    def opened(suffix: str) -> BinaryIO:
        assert suffix == Docs.suffix == "docs.jsonl"
        return out

    made = Docs(markdown=True) if markdown else Docs()
    assert made.write(Given(documents), opened) == len(documents)
    data = out.getvalue()
    assert data.count(b"\n") == len(documents)
    return [json.loads(line) for line in data.split(b"\n") if line]


def test_line_has_all_blocks_and_their_alignment() -> None:
    (row,) = rows(PAIR)
    assert row == {
        "id": document_id(PAIR),
        "left": {
            "lang": "en", "url": EN.url, "title": "A title", "fetched": "2023-11-14T22:13:20Z",
            "digest": EN.digest, "warc": EN.warc, "offset": 512,
            "blocks": [
                {"path": "/nav", "text": "Menu", **PARAGRAPH, "region": "nav"},
                {"path": "/p", "text": "One. Two.", **PARAGRAPH},
            ],
        },
        "right": {
            **{name: row["left"][name] for name in ("title", "fetched", "digest", "warc")},
            "lang": "fr", "url": FR.url, "offset": 512,
            "blocks": [{"path": "/p", "text": "Un. Deux.", **PARAGRAPH}],
        },
        "verified": 0.8765, "evidence": "links+keys", "flags": "noai",
        "segments": [
            {"left": [[0, 0, 4]], "right": [], "score": 0.0, "accept": False, "reason": "empty"},
            {"left": [[1, 0, 4]], "right": [[0, 0, 3]], "score": 0.9877, "accept": True,
             "reason": ""},
            {"left": [[1, 5, 9]], "right": [[0, 4, 9]], "score": 0.5, "accept": True, "reason": ""},
        ],
        "run": "v:1",
    }  # fmt: skip


def test_blocks_say_what_they_are() -> None:
    table = "/html/body/table[1]/thead[1]/tr[1]/th[2]"
    paths = ["/html/head/title", "/html/body/main[1]/h3[1]", "/html/body/ol[1]/li[4]/p[1]", table]
    (row,) = rows(PAIR._replace(left=EN._replace(blocks=tuple(Block("a", one) for one in paths))))
    found = [tuple(block.values())[2:] for block in row["left"]["blocks"]]
    assert found == [
        ("title", 0, 0, 0, 0, "head"), ("heading", 3, 0, 0, 0, "main"),
        ("list_item", 1, 4, 0, 0, "body"), ("table_cell", 0, 0, 1, 2, "body"),
    ]  # fmt: skip


def test_markdown_is_added_on_request() -> None:
    heading = EN._replace(blocks=(Block("One", "/html/body/h2[1]"), Block("Two", "/html/body")))
    (bare,) = rows(PAIR._replace(left=heading))
    (row,) = rows(PAIR._replace(left=heading), markdown=True)
    assert row["left"].pop("text") == "## One\n\nTwo"
    assert row["right"].pop("text") == "Un. Deux."
    assert row == bare


def test_segments_are_read_off_the_blocks() -> None:
    (row,) = rows(PAIR)

    def said(side: str, segment: dict[str, Any]) -> str:
        blocks = row[side]["blocks"]
        return " ".join(blocks[index]["text"][start:end] for index, start, end in segment[side])

    assert [said("left", segment) for segment in row["segments"]] == ["Menu", "One.", "Two."]
    assert [said("right", segment) for segment in row["segments"]] == ["", "Un.", "Deux."]


def kinds(value: object) -> object:
    """The schema of a value; an empty list fits any."""
    if isinstance(value, dict):
        return {name: kinds(inner) for name, inner in value.items()}
    return type(value)


def test_every_line_has_the_same_fields_of_the_same_kind() -> None:
    bare = EN._replace(blocks=(), title="")
    empty = DocumentPair(bare, bare, 1.0, "", (), ())
    whole, nothing = rows(PAIR, empty)
    assert kinds(whole) == kinds(nothing)
    assert list(whole) == list(nothing)


def test_id_depends_on_pages_and_content() -> None:
    assert document_id(PAIR) == "8076379af77aa207f4ee", "of every version"
    assert document_id(PAIR._replace(pieces=(), verified=0.1)) == document_id(PAIR)
    for other in (EN._replace(lang="de"), EN._replace(url=FR.url), EN._replace(digest="sha1:B")):
        assert document_id(PAIR._replace(left=other)) != document_id(PAIR)
    assert document_id(PAIR._replace(left=FR, right=EN)) != document_id(PAIR)


@given(st.text(st.characters(exclude_categories=["Cs"])))
@example("\u2028\x00\n\U0010ffff")
def test_any_text_comes_back(text: str) -> None:
    (row,) = rows(PAIR._replace(left=EN._replace(title=text, blocks=(Block(text, "/p"),))))
    assert (row["left"]["title"], row["left"]["blocks"][0]["text"]) == (text, text)


def test_lone_surrogate_is_replaced() -> None:
    (row,) = rows(PAIR._replace(left=EN._replace(title="a\ud800")))
    assert row["left"]["title"] == "a\ufffd"


def test_duckdb_reads_it(tmp_path: Any) -> None:
    duckdb = pytest.importorskip("duckdb")
    bare = EN._replace(blocks=(), title="")
    file = tmp_path / "corpus.docs.jsonl"
    with file.open("wb") as out:
        documents = [DocumentPair(bare, bare, 1.0, "", (), ()), PAIR]
        Docs().write(Given(documents), lambda _: out)
    found = duckdb.sql(
        f'SELECT "left".lang, len("left".blocks), segments[2]."left"[1] FROM read_json(\'{file}\')'
    ).fetchall()
    assert found == [("en", 0, None), ("en", 2, [1, 0, 4])]

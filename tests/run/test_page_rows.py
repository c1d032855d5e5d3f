"""Rows of parsed pages give back the pages that they were made from."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from diptych.page.answer import ReadAnswer, read_answer
from diptych.run.encoding import encode_page
from diptych.run.page_rows import PageRow, StagedPages, answer_of, row_of
from diptych.types import Kind, Response, Url

LANGS = ("en", "fr")
HTML = """<html lang="en"><head><title>The lamp &#xD800;</title>
<link rel="canonical" href="http://example.org/lamp"></head>
<body><p>The lamp is lit when the sea comes in.</p><p>It is put out in the morning.</p>
<a href="/fr" hreflang="fr">Fran\u00e7ais</a></body></html>"""


def read(body: str = HTML, url: str = "http://example.org/en", *, depth: int = 0) -> ReadAnswer:
    headers = (("Content-Type", "text/html; charset=utf-8"), ("Content-Language", "en"))
    response = Response(Url(url), 200, headers, body.encode(), 1_700_000_000.0)
    return read_answer(Kind.PAGE, response, depth=depth, langs=LANGS, with_sketch=True)


def test_row_gives_back_the_page_with_another_depth() -> None:
    page, found = read(depth=7).page, answer_of(row_of(read(), 99), 7)
    assert page is not None
    assert found.page is not None
    assert found.page.record == page.record
    assert found.page.links == page.links
    assert found.page.content == page.content
    one, other = encode_page(found.page), encode_page(page)
    assert (one.links, one.sketch, list(one.blocks)) == (
        other.links, other.sketch, list(other.blocks),
    )  # fmt: skip
    assert found[:4] == read()[:4]


def test_page_that_could_not_be_parsed_has_only_its_place() -> None:
    assert row_of(read(""), 5) == PageRow("http://example.org/en", 5, is_page=True)


@pytest.mark.parametrize(
    "change",
    [{"links": "{"}, {"langs": "[1]"}, {"blocks": b"[[1]]"}, {"flags": 7}, {"links": "[[]]"}],
    ids=str,
)
def test_damaged_row_is_a_database_error(change: dict[str, object]) -> None:
    with pytest.raises(sqlite3.DatabaseError):
        answer_of(row_of(read(), 0)._replace(**change), 0)


def test_last_page_of_a_url_counts_and_what_cannot_be_parsed_hides_it(tmp_path: Path) -> None:
    path = tmp_path / "pages.part"
    path.write_bytes(b"left by a process that was killed")
    url = Url("http://example.org/en")
    with StagedPages(path) as staged:
        staged.add([row_of(read(), 1), row_of(read(HTML.replace("lamp", "light")), 2)])
        staged.add([PageRow(url, 3, is_page=False)])
        found = staged.answer(url, 0)
        assert found is not None
        assert found.page is not None
        assert found.page.record.title.startswith("The light")
        assert staged.answer(Url("http://example.org/other"), 0) is None
        staged.add([PageRow(url, 4, is_page=True)])
        assert staged.answer(url, 0) is None
    assert not path.exists()

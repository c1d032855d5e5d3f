from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.commands import rows
from support.searching import FakeWeb, discovery, page_of

from diptych.reports.site_page import SearchSummary, write_sites
from diptych.run.store import Store
from diptych.run.terms import Terms
from diptych.stages.discover.backforth import Obfc

HUB = "http://hub.org/links.html"
HOSTILE = "<script>alert(1)</script>"
TERMS = Terms(("en", "es"), (HUB, HOSTILE), "site", {"discover": {"use": "obfc"}})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A search that found one of three sites."""
    web = FakeWeb(
        {
            HUB: page_of("en", "http://a.es/", "http://b.org/", "http://gone.org/"),
            "http://a.es/": page_of("en", "other -> http://a.es/es"),
            "http://a.es/es": page_of("es"),
            "http://b.org/": page_of("en"),
        }
    )
    discovery(tmp_path, web, Obfc(), HUB)
    return tmp_path


def test_search_summary_is_computed_from_the_store(folder: Path) -> None:
    with Store(folder, write=False) as store:
        standing = SearchSummary.of(store)
    assert (standing.tested, standing.bilingual, standing.failed) == (3, 1, 1)
    assert (standing.downloads, standing.robots) == (9, 4)
    assert standing.reasons == [("one_language", 2)]
    first, *others = standing.lines(follows_links=True)
    assert first.startswith("bilingual: 1 of 3 tested sites; 9 downloads, 4 of them robots.txt")
    assert others == [
        "  2 not bilingual: in only one of the languages", "  1 lead could not be followed",
    ]  # fmt: skip
    _, _, failed = standing.lines(follows_links=False)
    assert failed == "  1 site could not be tested"
    assert json.loads(standing.to_json())["reasons"] == {"one_language": 2}


def test_table_has_all_sites_and_report_has_bilingual_ones(folder: Path) -> None:
    with Store(folder) as store:
        write_sites(store, TERMS, ["a note", "a note", HOSTILE])
    table = {row["site"]: row for row in rows(folder / "sites.tsv")}
    assert table["a.es"]["bilingual"] == "1"
    assert table["a.es"]["pages"] == "en=http://a.es/ es=http://a.es/es"
    assert table["b.org"]["reason"] == "one_language"
    page = (folder / "report.html").read_text("utf-8")
    assert "http://a.es/es" in page
    assert page.count("a note") == 1
    assert "three downloads per site" in page
    assert HOSTILE not in page
    assert "&lt;script&gt;" in page


def test_a_search_that_found_nothing_has_a_page_too(tmp_path: Path) -> None:
    discovery(tmp_path, FakeWeb({HUB: page_of("en")}), Obfc(), HUB)
    with Store(tmp_path) as store:
        write_sites(store, TERMS, [])
    assert "Sites that are not bilingual" in (tmp_path / "report.html").read_text("utf-8")

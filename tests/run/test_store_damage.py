"""Runs with a damaged database or a full disk: one error that names the run."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from support.commands import mistake
from support.corpora import Said, made_run
from support.damage import fault
from support.stores import begin, commit

from diptych.errors import ArchiveError, DiptychError, StoreError
from diptych.frontier.leads import Leads
from diptych.reports.summary import summarise
from diptych.run.encoding import read_event, read_evidence, read_links, read_sketch
from diptych.run.guide_memory import GuideMemory, OpenSitemaps
from diptych.run.store import Store
from diptych.run.warc import compose
from diptych.types import Outlook, Response, Url

PAGE = 4096


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose database is a single file, to be copied."""
    folder = tmp_path_factory.mktemp("made") / "run"
    with made_run(folder, {(f"/en/{n}", f"/fr/{n}"): [Said("a", "b")] for n in range(9)}):
        pass
    with closing(sqlite3.connect(folder / "run.sqlite")) as db:
        db.execute("PRAGMA journal_mode = DELETE")
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / "run")


def change(folder: Path, statement: str) -> None:
    with closing(sqlite3.connect(folder / "run.sqlite")) as db:
        db.execute(statement)
        db.commit()


def spoil(folder: Path, place: int, content: bytes) -> None:
    data = bytearray((folder / "run.sqlite").read_bytes())
    data[place : place + len(content)] = content
    (folder / "run.sqlite").write_bytes(data)


def read_all(folder: Path) -> None:
    with Store(folder, write=False) as store:
        summarise(store, ("en", "fr"))
        for site, _ in store.sites():
            list(store.records(site))
            list(store.links(site))
            store.pairs(site)
            GuideMemory(store, "test").journal(site)


def test_a_damaged_page_of_the_database_is_an_error_that_names_the_run(folder: Path) -> None:
    pages = (folder / "run.sqlite").stat().st_size // PAGE
    good = (folder / "run.sqlite").read_bytes()
    refused = 0
    for page in range(1, pages, 2):
        spoil(folder, page * PAGE, b"\xa5" * PAGE)
        said = ""
        try:
            read_all(folder)
        except DiptychError as error:
            said = str(error)
        if said:
            refused += 1
            assert f"cannot use {folder}/run.sqlite: database disk image is malformed" in said
            assert f"to mine its archives again, use warc {folder}/warc" in said
        (folder / "run.sqlite").write_bytes(good)
    assert refused > 3


def test_a_schema_name_that_is_not_utf_8_is_an_error_of_ours(folder: Path) -> None:
    place = (folder / "run.sqlite").read_bytes().index(b"tablepages") + len("table")
    spoil(folder, place, b"\xe9")
    assert f"cannot use {folder}/run.sqlite" in fault(lambda: read_all(folder), StoreError)


@pytest.mark.parametrize("command", ["status", "export"])
def test_commands_report_it_in_one_line(folder: Path, command: str) -> None:
    size = (folder / "run.sqlite").stat().st_size
    spoil(folder, PAGE, b"\xa5" * (size - PAGE))
    more = ["--format", "tsv"] if command == "export" else []
    assert f"cannot use {folder}/run.sqlite" in mistake(command, folder, *more, code=3)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("links", "'[[1, 2'"),
        ("links", "'7'"),
        ("links", "'[[1, 2, 3, 4, 5, 6, 7, 8, 9]]'"),
        ("links", "x'ff'"),
        ("langs", "x'ff'"),
    ],
)
def test_values_that_the_store_never_wrote_are_an_error_of_ours(
    folder: Path, column: str, value: str
) -> None:
    change(folder, f"UPDATE pages SET {column} = {value}")
    assert f"{folder}/run.sqlite: cannot read the" in fault(lambda: read_all(folder), StoreError)


@pytest.mark.parametrize(
    "read",
    [
        lambda: read_sketch(b"no zlib"),
        lambda: read_sketch(b""),
        lambda: read_links("{}}"),
        lambda: read_event("found", "[1, 2]"),
        lambda: read_event("missing", "[[["),
        lambda: read_evidence("keys:much"),
    ],
)
def test_damaged_values_are_errors_of_the_database(read: Callable[[], object]) -> None:
    with pytest.raises(sqlite3.DatabaseError, match="cannot read"):
        read()


@pytest.mark.parametrize("start", ["'abc'", "x'ff'", "1e300", "-7"])
def test_damaged_place_in_a_sitemap_is_its_beginning(folder: Path, start: str) -> None:
    change(folder, f"INSERT INTO open_sitemaps (url, start) VALUES (5, {start})")
    with Store(folder) as store:
        assert OpenSitemaps(store).starts() == {5: 0}


@pytest.mark.parametrize(
    "values", ["found = 'abc'", "left = 9e999", "found = -9e999", "left = 'abc'", "found = x'00'"]
)
def test_damaged_outlook_of_a_site_is_ignored(folder: Path, values: str) -> None:
    with Store(folder) as store, store.transaction():
        other, good = store.site_id("other.example.org"), Outlook(2.0, 1.0)
        for site in (1, other):
            store.save_outlook(site, good)
    change(folder, f"UPDATE sites SET {values} WHERE id = 1")
    with Store(folder) as store:
        assert GuideMemory(store, "test").outlooks() == {other: good}
        assert store.outlook() == good


def test_damaged_leads_are_errors_of_ours(folder: Path) -> None:
    change(
        folder,
        "INSERT INTO verdicts (site, url, lead, accept, score, reason, pages, downloads, named, at)"
        " VALUES (1, 'http://a.org/', 0, 1, 1, '', '[[', 1, 0, 0)",
    )

    def read() -> None:
        with Store(folder) as store:
            Leads(store, once=True).verdicts()

    assert "cannot read a verdict" in fault(read, StoreError)


def test_a_lexicon_that_is_damaged_is_named(folder: Path) -> None:
    change(folder, "INSERT INTO lexicons VALUES ('en', 'fr', x'00')")

    def read() -> None:
        with Store(folder, write=False) as store:
            store.learned_lexicons()

    assert f"the learned lexicon of {folder} is not a Diptych lexicon" in fault(read)


def test_a_full_disk_says_what_to_do(folder: Path) -> None:
    def fill() -> None:
        with Store(folder) as store:
            pages = store.count("PRAGMA page_count")
            store.db.execute(f"PRAGMA max_page_count = {pages}")
            begin(store)
            for number in range(1_000):
                store.site_id(f"{number}.example.org" * 9)

    said = f"cannot use {folder}/run.sqlite: database or disk is full; free some disk space"
    assert fault(fill, StoreError).startswith(said)
    with Store(folder):  # and nobody holds the run any more
        pass


def test_an_archive_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "warc").write_bytes(b"a file where a folder should be")
    with Store(tmp_path) as store:
        begin(store)
        said = fault(lambda: store.archive.append(b"record", 0.0), StoreError)
    assert said.startswith(f"cannot write {tmp_path}/warc: ")


def test_a_damaged_record_is_named_with_its_file(tmp_path: Path) -> None:
    answer = Response(Url("http://example.org/"), 200, (), b"text " * 99, 0.0)
    with Store(tmp_path) as store:
        begin(store)
        pointer = store.archive.append(compose(answer), 0.0)
        commit(store)
        (path,) = (tmp_path / "warc").glob("*.gz")
        data = bytearray(path.read_bytes())
        data[pointer.offset + 100] ^= 0xFF
        path.write_bytes(data)
        said = fault(lambda: store.archive.read(pointer.warc, pointer.offset), ArchiveError)
    assert f"cannot read the record at byte {pointer.offset} of {path}: " in said


def test_an_error_of_our_own_leaves_the_store_as_it_is(folder: Path) -> None:
    with pytest.raises(ZeroDivisionError), Store(folder):
        raise ZeroDivisionError


ENDLESS = "AS WITH n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS id FROM n"


@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize(
    ("statements", "part"),
    [
        (f"DROP TABLE pages; CREATE VIEW pages {ENDLESS}", "view pages"),
        (f"DROP VIEW links; CREATE VIEW links {ENDLESS}", "view links"),
        (
            f"DROP VIEW frontier; CREATE VIEW frontier {ENDLESS};"
            "DROP VIEW segments; CREATE VIEW segments AS SELECT * FROM frontier",
            "view frontier",
        ),
        ("CREATE TRIGGER a AFTER INSERT ON urls BEGIN DELETE FROM pages; END", "trigger a"),
    ],
)
def test_views_and_triggers_that_no_run_has_are_refused(
    folder: Path, statements: str, part: str, *, write: bool
) -> None:
    with closing(sqlite3.connect(folder / "run.sqlite")) as db:
        db.executescript(statements)
    said = fault(lambda: Store(folder, write=write).close(), StoreError)
    assert said == f"cannot use {folder}/run.sqlite: it has the {part}, which no run has"

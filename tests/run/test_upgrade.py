"""A run of schema 6, without turns of URLs and ends of sites, read and written by this version."""

from __future__ import annotations

import shutil
import sqlite3
import tarfile
from pathlib import Path

import pytest
from support.corpora import Maker, Said
from support.earlier_run import make

from diptych.frontier.queue import Turn
from diptych.run.facts import Facts
from diptych.run.segments import Segments
from diptych.run.store import SCHEMA_VERSION, Store
from diptych.text.urls import url_key
from diptych.types import Url

PRIORITIES = {
    "robots.txt": (1, 1e9, Turn.ROBOTS),
    "sitemap.xml": (2, 1e6, Turn.SITEMAP),
    "": (0, 1000.0, Turn.SEED),
    "child.xml": (2, 999.0, Turn.CHILD_SITEMAP),
    "linked.xml": (2, 0.25, Turn.CHILD_SITEMAP),
    "page": (0, 999.0, Turn.PAGE),
    "far": (0, -3.0, Turn.PAGE),
}
"""name: kind and priority then, turn now; a link had demoted one sitemap"""


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("earlier")
    with tarfile.open(Path(make.__file__).parent / "runs.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder / "unfinished"


@pytest.fixture
def run(earlier: Path, tmp_path: Path) -> Path:
    folder = Path(shutil.copytree(earlier, tmp_path / "run"))
    with sqlite3.connect(folder / "run.sqlite") as db:
        db.execute("DELETE FROM urls")
        db.executemany(
            "INSERT INTO urls (key, url, host, kind, state, depth, priority)"
            " VALUES (?, ?, 1, ?, 0, 0, ?)",
            [(url_key(at(name)), at(name), *PRIORITIES[name][:2]) for name in reversed(PRIORITIES)],
        )
    db.close()
    return folder


def at(name: str) -> Url:
    return Url(f"http://example.org/{name}")


@pytest.mark.parametrize("write", [True, False])
def test_turns_of_urls_are_those_that_priorities_meant(run: Path, *, write: bool) -> None:
    with Store(run, write=write) as store:
        for name, (_, priority, turn) in PRIORITIES.items():
            known = Facts(store).url(at(name))
            assert known is not None
            assert (known.turn, known.priority) == (turn, priority)
        assert store.count("SELECT count(*) FROM sites WHERE ended = ''") == 1


def test_run_that_is_only_read_is_left_as_it_is(run: Path) -> None:
    before = (run / "run.sqlite").read_bytes()
    Store(run, write=False).close()
    assert (run / "run.sqlite").read_bytes() == before


def test_upgraded_run_has_the_tables_indexes_and_views_of_a_new_one(
    run: Path, tmp_path: Path
) -> None:
    (tmp_path / "new").mkdir()
    with Store(run) as upgraded, Store(tmp_path / "new") as new:
        assert upgraded.db.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
        for table in ("urls", "sites", "contents"):
            columns = [
                {row[1:4] for row in store.db.execute(f"PRAGMA table_info({table})")}
                for store in (upgraded, new)
            ]
            assert columns[0] == columns[1]
        names = "SELECT name FROM sqlite_master WHERE type = 'table'"
        assert set(upgraded.db.execute(names)) == set(new.db.execute(names))
        query = "SELECT sql FROM sqlite_master WHERE type IN ('index', 'view')"
        assert set(upgraded.db.execute(query)) == set(new.db.execute(query))
        turns = upgraded.db.execute("SELECT turn FROM frontier").fetchall()
        assert {turn for (turn,) in turns} == set(Turn)


def test_run_is_upgraded_once(run: Path) -> None:
    with Store(run) as store:
        store.db.execute("UPDATE urls SET turn = 3")
    with Store(run) as store:
        assert store.count("SELECT count(*) FROM urls WHERE turn != 3") == 0


@pytest.mark.parametrize("write", [True, False])
def test_pages_of_an_earlier_run_have_no_stored_content(run: Path, *, write: bool) -> None:
    with Store(run, write=write) as store:
        assert store.content(at("page")) is None


SEGMENTS_OF_SCHEMA_9 = """
CREATE TABLE segments (
    id INTEGER PRIMARY KEY, pair INTEGER NOT NULL REFERENCES pairs ON DELETE CASCADE,
    position INTEGER NOT NULL, accept INTEGER NOT NULL, reason TEXT NOT NULL, score REAL NOT NULL,
    judged REAL NOT NULL, alignment REAL NOT NULL, partial INTEGER NOT NULL DEFAULT 0,
    copies INTEGER NOT NULL DEFAULT 1, key INTEGER, left_key INTEGER, right_key INTEGER,
    flags TEXT NOT NULL, left TEXT NOT NULL, right TEXT NOT NULL, left_path TEXT NOT NULL,
    right_path TEXT NOT NULL, left_at TEXT NOT NULL, right_at TEXT NOT NULL,
    UNIQUE (pair, position)
);"""


@pytest.fixture
def with_repeated_texts(made: Maker) -> Path:
    """A finished run of schema 9, in which each occurrence of a segment has its own texts."""
    store = made({("/en/a", "/fr/a"): [Said("Lamp.", "Lampe.", 0.9)]})
    columns = "id, pair, position, accept, reason, score, judged, alignment, partial, copies, key,"
    columns += " left_key, right_key, flags, left, right, left_path, right_path, left_at, right_at"
    rows = store.db.execute(f"SELECT {columns} FROM segments").fetchall()
    store.db.executescript(
        "DROP VIEW segments; DROP TABLE occurrences; DROP TABLE segment_texts;"
        f"{SEGMENTS_OF_SCHEMA_9} PRAGMA user_version = 9;"
    )
    marks = ",".join("?" * len(rows[0]))
    store.db.executemany(f"INSERT INTO segments ({columns}) VALUES ({marks})", rows)
    store.close()
    return store.folder


def test_segments_of_schema_9_can_be_read(with_repeated_texts: Path) -> None:
    with Store(with_repeated_texts, write=False) as store:
        (pair,) = store.pair_order()
        chosen = Segments(store).chosen(pair, 0.5, each=False, keep_templates=False)
        assert [row[1:3] for row in chosen] == [("Lamp.", "Lampe.")]
        assert store.count("PRAGMA user_version") == 9


def test_pairs_of_schema_9_are_aligned_again(with_repeated_texts: Path) -> None:
    with Store(with_repeated_texts) as store:
        assert len([*store.pairs_to_align()]) == 1
        assert store.count("SELECT count(*) FROM segments") == 0
        kinds = "SELECT type FROM sqlite_master WHERE name = 'segments'"
        assert store.db.execute(kinds).fetchall() == [("view",)]
    with Store(with_repeated_texts) as store:
        assert store.count("PRAGMA user_version") == SCHEMA_VERSION

"""`diptych check`: an intact run has no fault, and each kind of damage is named."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from support.commands import query, run

PAGE = "SELECT warcs.path, offset FROM pages JOIN warcs ON warcs.id = warc ORDER BY offset LIMIT 1"


def change(folder: Path, statement: str) -> None:
    """Change the database of a run."""
    with closing(sqlite3.connect(folder / "run.sqlite")) as db, db:
        db.execute(statement)


def overwrite(folder: Path) -> None:
    """Overwrite the middle of the record of a page."""
    path, offset = query(folder, PAGE)[0]
    with (folder / path).open("r+b") as file:
        file.seek(offset + 300)
        file.write(b"\xff" * 20)


def remove_archive(folder: Path) -> None:
    (folder / "warc" / "diptych-00001.warc.gz").unlink()


def cut_archive(folder: Path) -> None:
    path = folder / "warc" / "diptych-00001.warc.gz"
    path.write_bytes(path.read_bytes()[:-100])


def damage_database(folder: Path) -> None:
    """Zero a page of the database in its middle."""
    path = folder / "run.sqlite"
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2 // 4096 * 4096)
        file.write(bytes(4096))


def forget_a_response(folder: Path) -> None:
    change(folder, "DELETE FROM fetches WHERE id = (SELECT max(id) FROM fetches WHERE warc)")


def repeat_a_download(folder: Path) -> None:
    columns = "url, site, at, status, size, reason, warc, offset, length"
    page = "SELECT url FROM pages LIMIT 1"
    change(
        folder,
        f"INSERT INTO fetches ({columns}) SELECT {columns} FROM fetches WHERE url = ({page})",
    )


def swap_places(folder: Path) -> None:
    """Let a page point to the record of another one."""
    change(folder, "UPDATE pages SET offset = (SELECT max(offset) FROM pages)")


def change_content(folder: Path) -> None:
    change(
        folder,
        "UPDATE pages SET digest = 'sha1:A' WHERE url = (SELECT pairs.left FROM pairs"
        " JOIN occurrences ON pair = pairs.id WHERE accept LIMIT 1)",
    )


def change_a_text(folder: Path) -> None:
    change(
        folder,
        "UPDATE segment_texts SET left = left || '!' WHERE id ="
        " (SELECT text FROM occurrences WHERE accept LIMIT 1)",
    )


def repeat_a_line(folder: Path) -> None:
    path = folder / "corpus.tsv"
    path.write_bytes(path.read_bytes() + path.read_bytes().splitlines(keepends=True)[-1])


def cut_the_corpus(folder: Path) -> None:
    path = folder / "corpus.tsv"
    path.write_bytes(path.read_bytes()[:-1])


def change_the_head(folder: Path) -> None:
    path = folder / "corpus.tsv"
    path.write_bytes(path.read_bytes().replace(b"right\t", b"rihgt\xff\t", 1))


@pytest.fixture
def folder(recorded: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(recorded, tmp_path / "run"))


def test_an_intact_run_has_no_fault_and_is_not_changed(folder):
    # Other tests may have read the run: SQLite then leaves files that the next reader removes.
    files = [path for path in folder.rglob("*") if path.is_file() and "sqlite-" not in path.name]
    before = {path: path.read_bytes() for path in files}
    done = run("check", folder)
    assert done.exit_code == 0
    pages, segments = query(folder, "SELECT count(*) FROM pages")[0][0], len(corpus(folder)) - 1
    assert done.stdout == f"{pages} pages and {segments} segments checked: no fault\n"
    after = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert {path: after[path] for path in before} == before


@pytest.mark.parametrize(
    ("damage", "parts", "said"),
    [
        (overwrite, {"archive", "page", "segment"}, "warc"),
        (remove_archive, {"archive", "page", "segment"}, "is missing"),
        (cut_archive, {"archive", "page"}, "bytes of"),
        (damage_database, {"database"}, "run.sqlite"),
        (forget_a_response, {"archive"}, "is unknown to the run"),
        (repeat_a_download, {"page"}, "was downloaded 2 times"),
        (swap_places, {"page", "segment"}, "is not at byte"),
        (change_content, {"page", "segment"}, "has another content"),
        (change_a_text, {"segment"}, "the text is not in its page"),
        (repeat_a_line, {"corpus"}, "that repeat the segment of another line: 1"),
        (cut_the_corpus, {"corpus"}, "is damaged"),
        (change_the_head, {"corpus"}, "has no column right"),
    ],
)
def test_damage_is_named(
    folder: Path, damage: Callable[[Path], None], parts: set[str], said: str
) -> None:
    damage(folder)
    done = run("check", folder, "--json")
    assert done.exit_code == 1
    found = json.loads(done.stdout)
    assert set(found["counts"]) == parts
    assert any(said in fault["said"] for fault in found["faults"])


def test_of_many_faults_some_are_shown_and_all_are_counted(folder):
    remove_archive(folder)
    done = run("check", folder)
    assert done.exit_code == 1
    lines = done.stdout.splitlines()
    pages = query(folder, "SELECT count(*) FROM pages")[0][0]
    assert f"page: and {pages - 20} more" in lines
    assert sum(line.startswith("page: http") for line in lines) == 20


def corpus(folder: Path) -> list[str]:
    return (folder / "corpus.tsv").read_text("utf-8").splitlines()

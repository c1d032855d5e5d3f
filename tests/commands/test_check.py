"""`diptych check`: an intact run has no fault, and each kind of damage is named."""

from __future__ import annotations

import json
import os
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
    """Zero the first page of a table of the database."""
    ((page,),) = query(folder, "SELECT rootpage FROM sqlite_master WHERE name = 'fetches'")
    with (folder / "run.sqlite").open("r+b") as file:
        file.seek((page - 1) * 4096)
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


def forget_a_place(folder: Path) -> None:
    change(folder, "UPDATE fetches SET offset = NULL WHERE id = (SELECT max(id) FROM fetches)")


def forget_a_url(folder: Path) -> None:
    change(folder, "DELETE FROM urls WHERE key = (SELECT url FROM pages LIMIT 1)")


def change_a_type(folder: Path) -> None:
    change(folder, "UPDATE fetches SET at = 'noon' WHERE id = (SELECT max(id) FROM fetches)")


def damage_links(folder: Path) -> None:
    change(folder, "UPDATE pages SET links = substr(links, 2) WHERE offset ="
                   " (SELECT max(offset) FROM pages)")  # fmt: skip


def damage_sketch(folder: Path) -> None:
    change(folder, "UPDATE sketches SET data = x'FF' WHERE url ="
                   " (SELECT url FROM sketches LIMIT 1)")  # fmt: skip


def damage_snapshot(folder: Path) -> None:
    change(folder, "UPDATE guides SET data = x'FF'")


def damage_lexicon(folder: Path) -> None:
    change(folder, "UPDATE lexicons SET data = x'FF'")


def reject_a_segment(folder: Path) -> None:
    change(folder, "UPDATE occurrences SET accept = 0, reason = 'duplicate' WHERE id ="
                   " (SELECT max(id) FROM occurrences WHERE accept)")  # fmt: skip


def reject_a_pair(folder: Path) -> None:
    change(folder, "UPDATE decisions SET accept = 0 WHERE pair ="
                   " (SELECT max(pair) FROM decisions WHERE accept)")  # fmt: skip


def lose_a_line(folder: Path) -> None:
    path = folder / "corpus.tsv"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], *lines[3:]]))


def lose_the_end(folder: Path) -> None:
    path = folder / "corpus.tmx"
    path.write_bytes(path.read_bytes()[:-1000])


def remove_the_corpus(folder: Path) -> None:
    (folder / "corpus.tsv").unlink()


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
        (forget_a_place, {"archive"}, "has no record of"),
        (swap_places, {"page", "segment", "corpus"}, "is not at byte"),
        (change_content, {"page", "segment", "corpus"}, "has another content"),
        (forget_a_url, {"database"}, "URLs of pages that are missing: 1"),
        (change_a_type, {"database"}, "fetches.at has a value of the type text"),
        (damage_links, {"page"}, "the links of a page"),
        (damage_sketch, {"page"}, "the sketch of a page"),
        (damage_snapshot, {"database"}, "a snapshot"),
        (damage_lexicon, {"database"}, "the learned lexicon of"),
        (change_a_text, {"segment", "corpus"}, "the text is not in its page"),
        (reject_a_segment, {"corpus"}, "of corpus.tsv is not that of the run"),
        (reject_a_pair, {"corpus"}, "of pairs.tsv is not that of the run"),
        (lose_a_line, {"corpus"}, "line 3 of corpus.tsv is not that of the run"),
        (lose_the_end, {"corpus"}, "of corpus.tmx is not that of the run"),
        (remove_the_corpus, {"corpus"}, "corpus.tsv is missing"),
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


def test_files_of_an_unfinished_run_or_with_other_dates_have_no_fault(folder: Path) -> None:
    change(folder, "UPDATE fetches SET at = at + 100")  # as after another download
    assert run("check", folder).exit_code == 0
    lose_a_line(folder)
    assert run("check", folder).exit_code == 1
    (folder / "pairs.tsv").unlink()
    change(folder, "DELETE FROM finished WHERE step = 'corpus.tsv'")
    assert run("check", folder).stdout.startswith("corpus: pairs.tsv is missing\n")
    change(folder, "DELETE FROM finished")  # as after another page
    assert run("check", folder).exit_code == 0


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


@pytest.mark.parametrize("name", ["pipe", "../outside/diptych-00001.warc.gz"])
def test_only_archives_of_the_run_are_opened(recorded, tmp_path, name):
    folder = tmp_path / "run"
    shutil.copytree(recorded, folder)
    shutil.copytree(recorded / "warc", tmp_path / "outside")
    os.mkfifo(tmp_path / "pipe")
    path = tmp_path / name if name == "pipe" else name
    change(folder, f"UPDATE warcs SET path = '{path}'")
    result = run("check", folder)
    assert result.exit_code
    assert "the text is not in its page" in result.output


@pytest.mark.parametrize("name", ["run.toml", "run.sqlite", "run.sqlite-wal"])
@pytest.mark.parametrize("command", ["status", "check", "explain"])
def test_pipe_in_the_place_of_a_file_is_not_read(folder, command, name):
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    more = ["http://example.org/"] if command == "explain" else []
    result = run(command, folder, *more)
    assert result.exit_code
    assert f"{name} is not a regular file" in result.output

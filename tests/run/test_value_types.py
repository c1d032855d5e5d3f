"""Values of wrong types in the database of a run, which a damaged or hostile file may have."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest
from support.corpora import Said, made_run
from support.damage import fault

import diptych
from diptych.errors import StoreError
from diptych.run.store import Store
from diptych.run.value_types import wrong_values


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "run"
    with made_run(folder, {("/en/1", "/fr/1"): [Said("A cat sleeps", "Un chat dort")]}):
        pass
    return folder


def changed(made: Path, folder: Path, statement: str) -> diptych.Run:
    """A copy of the run with another value; constraints of the schema do not protect a file."""
    shutil.copytree(made, folder)
    with closing(sqlite3.connect(folder / "run.sqlite")) as db:
        db.execute("PRAGMA ignore_check_constraints = ON")
        db.execute(statement)
        db.commit()
    return diptych.open(folder)


READS: dict[str, Callable[[diptych.Run], object]] = {
    "segments": lambda run: list(run.segments()),
    "export": lambda run: run.export(run.folder / "corpus.tmx"),
    "terms": lambda run: run.terms(),
    "pages": lambda run: list(run.pages()),
}


@pytest.mark.parametrize(
    ("statement", "reads", "said"),
    [
        ("UPDATE occurrences SET score = 'high'", "segments", "occurrences.score"),
        ("UPDATE segment_texts SET right = x'41'", "terms", "segment_texts.right"),
        ("UPDATE segment_texts SET left = x'41'", "export", "segment_texts.left"),
        ("UPDATE pages SET fetched_at = 'soon'", "pages", "pages.fetched_at"),
    ],
)
def test_a_value_of_another_type_is_an_error_that_names_it(
    made: Path, tmp_path: Path, statement: str, reads: str, said: str
) -> None:
    run = changed(made, tmp_path / "run", statement)
    message = fault(lambda: READS[reads](run), StoreError)
    assert f"cannot use {run.folder}/run.sqlite: {said} has a value of the type" in message
    assert any(said in found.said for found in run.check().faults)


@pytest.mark.parametrize(
    ("statement", "reads", "said"),
    [
        ("UPDATE pages SET fetched_at = 1e308", "pages", "pages.fetched_at"),
        ("UPDATE occurrences SET text = -5", "segments", "occurrences.text"),
        ("UPDATE occurrences SET copies = -5", "terms", "occurrences.copies"),
    ],
)
def test_an_impossible_value_ends_in_no_traceback_and_check_names_it(
    made: Path, tmp_path: Path, statement: str, reads: str, said: str
) -> None:
    run = changed(made, tmp_path / "run", statement)
    with suppress(StoreError):
        READS[reads](run)
    assert any(f"{said} has an impossible value" in found.said for found in run.check().faults)


def test_an_error_of_ours_is_not_taken_for_damage(made: Path) -> None:
    with pytest.raises(TypeError, match="ours"), Store(made, write=False):
        raise TypeError("ours")


def test_values_of_a_run_have_the_declared_types(made: Path) -> None:
    with Store(made, write=False) as store:
        assert list(wrong_values(store.db)) == []


def test_a_missing_value_is_wrong_where_one_is_required() -> None:
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE TABLE sites (id INTEGER, name TEXT, found REAL)")
        db.execute("INSERT INTO sites VALUES (1, NULL, NULL)")
        assert list(wrong_values(db)) == ["sites.name has a value of the type null"]

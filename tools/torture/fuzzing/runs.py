"""Targets: the folder of a run, with a small run of the demo site."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
from stages.crawl.hybrid.test_snapshot import LANGS, POLICY, plain, told

import diptych
from diptych.errors import DiptychError
from diptych.files import parser_errors
from diptych.reports.run_page import write_report
from diptych.reports.summary import summarise
from diptych.run.encoding import read_event, read_snapshot
from diptych.run.guide_memory import GuideMemory
from diptych.run.terms import open_to_read, read_terms
from diptych.stages.crawl.hybrid import snapshot_reading
from tools.torture.fuzzing.target import Maker, Target, parts_of

_PAGES = 6
_MINE = """
import sys, diptych
from diptych.demo import SITE
from diptych.engine.file_server import serve
with serve(SITE) as address:
    diptych.mine(
        address, langs=["en", "fr"], out=sys.argv[1], delay=0, allow_private=True, jobs=1,
        max_pages=int(sys.argv[2]),
    )
"""
_MAX_CHANGES = 4


def mined(folder: Path) -> Path:
    """A small run, whose database is one file; made by another process, which is faster."""
    run = folder / "run"
    if not run.exists():
        subprocess.run([sys.executable, "-c", _MINE, run, str(_PAGES)], check=True)
        with closing(sqlite3.connect(run / "run.sqlite")) as db:
            db.execute("PRAGMA journal_mode = DELETE")
            db.execute("VACUUM")
    return run


def read_all(folder: Path) -> None:
    """Read everything that people can ask of a run."""
    run = diptych.open(folder)
    list(run.pages())
    for pair in list(run.pairs())[:2]:
        run.explain(pair.left_url, pair.right_url)
    list(run.segments())
    list(run.documents())
    run.terms()
    run.check()
    assert run._repr_html_()
    terms = read_terms(folder)
    with open_to_read(folder) as store:
        write_report(store, terms, summarise(store, terms.langs), ())
        for site, _ in store.sites():
            list(store.links(site))
            GuideMemory(store, "hybrid").journal(site)


def _forget(folder: Path) -> None:
    for ending in ("-wal", "-shm", "-journal"):
        (folder / f"run.sqlite{ending}").unlink(missing_ok=True)


def database(folder: Path) -> Target:
    """The bytes of `run.sqlite`."""
    run = mined(folder)

    def read(data: bytes) -> None:
        _forget(run)
        (run / "run.sqlite").write_bytes(data)
        read_all(run)

    return Target(read, [(run / "run.sqlite").read_bytes()], (DiptychError,))


def columns_of(db: sqlite3.Connection) -> list[tuple[str, str]]:
    """The columns of all tables, as (table, column)."""
    tables = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name")
    named = [name for name, sql in tables if "WITHOUT ROWID" not in sql]
    return [
        (name, row[1])
        for name in named
        for row in db.execute("SELECT * FROM pragma_table_info(?)", (name,))
    ]


def _value(kind: int, data: bytes) -> Any:
    numbers: tuple[Callable[[], Any], ...] = (
        lambda: data,
        lambda: data.decode("utf-8", "replace"),
        lambda: int.from_bytes(data[:8], "little", signed=True),
        lambda: float(int.from_bytes(data[:8], "little", signed=True)) / 7,
        lambda: None,
        lambda: float("inf"),
    )
    return numbers[kind % len(numbers)]()


def values(folder: Path) -> Target:
    """Changed values in the tables of a run: columns, rows and new values."""
    run = mined(folder)
    good = (run / "run.sqlite").read_bytes()
    with closing(sqlite3.connect(run / "run.sqlite")) as db:
        known = columns_of(db)

    def change(part: bytes) -> None:
        head, data = part[:4].ljust(4, b"\0"), part[4:]
        table, column = known[(head[0] | head[1] << 8) % len(known)]
        with closing(sqlite3.connect(run / "run.sqlite")) as db, db:
            db.execute(
                f"UPDATE OR IGNORE {table} SET {column} = ? WHERE rowid IN"
                f" (SELECT rowid FROM {table} LIMIT 3 OFFSET ?)",
                (_value(head[3], data), head[2]),
            )

    def read(data: bytes) -> None:
        _forget(run)
        (run / "run.sqlite").write_bytes(good)
        for part in list(parts_of(data))[:_MAX_CHANGES]:
            try:
                change(part)
            except sqlite3.Error:  # a constraint of the schema
                return
        read_all(run)

    seeds = []
    for number in range(0, len(known), 7):
        part = number.to_bytes(2, "little") + bytes([0, number % 6]) + b"en:0.9 fr:x"
        seeds.append(len(part).to_bytes(4, "little") + part)
    return Target(read, seeds, (DiptychError,))


def terms(folder: Path) -> Target:
    """The bytes of `run.toml`, with everything that reads it."""
    source = mined(folder)
    run = shutil.copytree(source, folder / "copy", dirs_exist_ok=True)

    def read(data: bytes) -> None:
        (run / "run.toml").write_bytes(data)
        found = diptych.open(run)
        list(found.segments())
        found.check()

    return Target(read, [(source / "run.toml").read_bytes()], (DiptychError,))


def snapshots(folder: Path) -> Target:
    """The memory of a guide, as JSON before its compression."""
    guide = told(POLICY.guide(LANGS), range(3)).guide
    seed = orjson.dumps(plain(guide.snapshot()))

    def read(data: bytes) -> None:
        found = read_snapshot(zlib.compress(data, 1))
        try:
            snapshot_reading.read_snapshot(found, LANGS, 2.0)
        except parser_errors():  # the history of the site is read again
            return

    return Target(read, [seed], (sqlite3.DatabaseError,))


def events(folder: Path) -> Target:
    """An event in the journal of a crawl: its name, a tab and its data."""
    seeds = (
        b'missing\t["http://a.org/", "http_404"]', b'moved\t["http://a.org/", "http://b.org/"]',
        b"settled\tnull",
        b'found\t[["http://a.org/", "http://b.org/", "en", "fr", 0.5, "keys", "keys:0.5"], true, 1,'
        b'"", [["a", "b"]]]',
    )  # fmt: skip

    def read(data: bytes) -> None:
        name, _, text = data.decode("utf-8", "replace").partition("\t")
        read_event(name, text)

    return Target(read, seeds, (sqlite3.DatabaseError,))


TARGETS: dict[str, Maker] = {
    "run.sqlite": database,
    "values in run.sqlite": values,
    "run.toml": terms,
    "snapshots of guides": snapshots,
    "events of a crawl": events,
}

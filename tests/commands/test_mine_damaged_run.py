"""Runs whose own archive is damaged go on: a page is read from elsewhere, or counted as lost."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from support.bilingual import plain_site
from support.commands import pages, placeless, query, run
from support.serving import MISSING, Reply, Server, serve

WEB = ("--langs", "en,fr", "--allow-private", "--delay", "0", "--quiet")


def site() -> dict[str, Reply]:
    """A site with a page that has 60,000 bytes of headers."""
    texts = plain_site()
    links = "".join(f'<a href="{path}">{path}</a>' for path in texts)
    found = {path: Reply(text) for path, text in texts.items()}
    headers = tuple((f"X-{number}", "v" * 4_000) for number in range(15))
    path = "/fr/fresnel"
    found[path] = Reply(texts[path], headers=headers)
    return {**found, "/": Reply(f"<html><body>{links}</body></html>"), "/robots.txt": MISSING}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serve(site()) as opened:
        yield opened


@pytest.fixture(scope="module")
def begun(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that has not finished, to be copied."""
    folder = tmp_path_factory.mktemp("begun") / "run"
    assert run("mine", server.url, *WEB, "--max-pages", 16, "--out", folder).exit_code == 0
    return folder


@pytest.fixture(scope="module")
def whole(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "run"
    assert run("mine", server.url, *WEB, "--out", folder).exit_code == 0
    return folder


def zeros(data: bytearray) -> None:
    data[:] = bytes(len(data))


def flips(data: bytearray) -> None:
    chance = random.Random(7)
    for _ in range(60):
        data[chance.randrange(len(data))] ^= 0x55


def spoil(folder: Path, change: Callable[[bytearray], None]) -> None:
    (file,) = (folder / "warc").glob("*.gz")
    data = bytearray(file.read_bytes())
    change(data)
    file.write_bytes(data)


def forget_contents(folder: Path) -> None:
    """Leave the run as an earlier version leaves it: pages are read from the archive again."""
    with closing(sqlite3.connect(folder / "run.sqlite")) as db:
        for table in ("contents", "sketches", "finished"):
            db.execute(f"DELETE FROM {table}")
        db.commit()


def test_many_headers_are_mined_checked_and_mined_again(whole: Path, tmp_path: Path) -> None:
    assert run("check", whole).exit_code == 0
    assert run("export", whole, "--format", "docs", "--out", tmp_path / "docs").exit_code == 0
    again = run("mine", "--warc", whole / "warc", "--langs", "en,fr", "--out", tmp_path / "again")
    assert again.exit_code == 0
    assert pages(tmp_path / "again") == pages(whole)


def test_a_run_whose_archive_is_damaged_goes_on(
    begun: Path, whole: Path, server: Server, tmp_path: Path
) -> None:
    folder = shutil.copytree(begun, tmp_path / "run")
    spoil(folder, flips)
    result = run("mine", server.url, *WEB, "--out", folder)
    assert result.exit_code == 0, result.stderr
    assert placeless(folder, "fetched") == placeless(whole, "fetched")
    for command in (("export", folder, "--format", "docs"), ("update", folder, *WEB[2:])):
        result = run(*command)
        assert result.exit_code == 0, result.stderr
    assert run("check", folder).exit_code == 1


def test_pages_that_only_a_damaged_archive_has_are_counted_as_lost(
    begun: Path, server: Server, tmp_path: Path
) -> None:
    folder = shutil.copytree(begun, tmp_path / "run")
    forget_contents(folder)
    spoil(folder, zeros)
    before = query(folder, "SELECT count(*) FROM pages")
    result = run("mine", server.url, *WEB[:-1], "--out", folder)
    assert result.exit_code == 0, result.stderr
    assert "pages that could not be read again: " in result.output
    assert query(folder, "SELECT count(*) FROM pages") > before
    result = run("export", folder, "--format", "docs")
    assert result.exit_code == 0, result.stderr

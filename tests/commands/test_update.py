"""`diptych update` against a real server: a site changes, and its run follows."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import dataclass, field, replace
from hashlib import sha1
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator
from support import zoo
from support.commands import Signal, mistake, placeless, query, rows, run, start
from support.serving import MISSING, Answer, Reply, Request, Server, serve

import diptych

CHANGED, GONE = "/en/bell-rock/", "/fr/fog-signals.html"
NEW = "The harbour master opened a small museum of lamps last summer."


@dataclass
class Changing:
    """The demo site, which sends entity tags and can change."""

    is_changed: bool = False
    has_tags: bool = True
    answered: dict[str, int] = field(default_factory=dict)

    def __call__(self, request: Request) -> Answer:
        answer = zoo.demo_site(request)
        if not isinstance(answer, Reply) or answer.status != 200:
            return answer
        body = answer.body if isinstance(answer.body, bytes) else answer.body.encode()
        if self.is_changed and request.path == GONE:
            return MISSING
        if self.is_changed and request.path == CHANGED:
            body = body.replace(b"<p>", f"<p>{NEW}</p><p>".encode(), 1)
        if not self.has_tags or request.path.endswith((".txt", ".xml")):
            return replace(answer, body=answer.body if not self.is_changed else body)
        tag = f'"{sha1(body).hexdigest()}"'
        is_same = request.headers.get("if-none-match") == tag
        self.answered[request.path] = 304 if is_same else 200
        headers = (("ETag", tag),)
        if is_same:
            return Reply(b"", 304, headers, type="", framing="length")
        return replace(answer, body=body, headers=headers)


WEB = ("--delay", 0, "--allow-private", "--quiet")


def mine(server: Server, folder: Path) -> None:
    asked = ("mine", server.url, "--langs", "en,fr", "--out", folder, "--share", 100)
    assert run(*asked, *WEB).exit_code == 0


def update(folder: Path, *more: object) -> dict:
    result = run("update", folder, *WEB, "--json", *more)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)["update"]


def segments(folder: Path) -> set[tuple[str, str]]:
    return {(row["left"], row["right"]) for row in rows(folder / "corpus.tsv")}


@pytest.mark.slow
def test_update_follows_the_site(tmp_path: Path) -> None:
    site = Changing()
    old, anew = tmp_path / "old", tmp_path / "anew"
    with serve(site) as server:
        mine(server, old)
        before = segments(old)
        server.log.clear()
        found = update(old)
        assert found["pages"] == {"unchanged": 42}
        assert set(site.answered.values()) == {304}
        assert server.paths[0] == "/robots.txt"
        assert sorted(server.paths) == sorted(set(server.paths)), "nothing is asked for twice"
        assert found["segments"]["new"] == found["segments"]["gone"] == 0
        assert segments(old) == before

        site.is_changed = True
        site.answered.clear()
        found = update(old)
        assert found["pages"] == {"changed": 1, "unchanged": 40, "vanished": 1}
        assert [path for path, code in site.answered.items() if code == 200] == [CHANGED]
        assert found["segments"]["gone"] == len(before - segments(old)) > 0
        mine(server, anew)
    assert placeless(old, "fetched") == placeless(anew, "fetched")
    vanished = tmp_path / "vanished.jsonl"
    assert run("export", old, "--vanished", "--out", vanished).exit_code == 0
    lines = [json.loads(line) for line in vanished.read_text("utf-8").splitlines()]
    assert {(line["left"], line["right"]) for line in lines} == before - segments(old)
    assert all(GONE in line["right_url"] or CHANGED in line["left_url"] for line in lines)
    check_places(old)
    check_revisits(old)
    run_again = diptych.open(old)
    assert run_again.summary.update is not None
    assert "update of" in (old / "report.html").read_text("utf-8")


def check_places(folder: Path) -> None:
    """Every text is where its provenance says: a stand-off corpus can be rebuilt."""
    bare, full = folder / "bare.standoff.jsonl", folder / "full.tsv"
    assert run("export", folder, "--out", bare).exit_code == 0
    assert run("rebuild", bare, "--warc", folder / "warc", "--out", full).exit_code == 0
    assert {(row["left"], row["right"]) for row in rows(full)} == segments(folder)


def check_revisits(folder: Path) -> None:
    kinds: dict[str, int] = {}
    for file in sorted((folder / "warc").glob("*.warc.gz")):
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream):
                kind = record.headers["WARC-Type"]
                kinds[kind] = kinds.get(kind, 0) + 1
                if kind == "revisit":
                    assert record.headers["WARC-Profile"].endswith("/server-not-modified")
                    assert record.headers["WARC-Refers-To-Date"]
    assert kinds["revisit"] == 82


@pytest.mark.slow
def test_killed_update_goes_on_and_loses_nothing(tmp_path: Path) -> None:
    site = Changing()
    folder, whole = tmp_path / "run", tmp_path / "whole"
    with serve(site) as server:
        mine(server, folder)
        mine(server, whole)
        site.is_changed = True
        for requests in (3, 12, 11):
            killer = server.before = Signal(signal.SIGKILL, requests)
            process = start("update", folder, *WEB)
            killer.follow(process)
            process.communicate()
            assert process.returncode == -signal.SIGKILL
        server.before = lambda request: None
        found, other = update(folder), update(whole)
    assert query(folder, "SELECT count(*) FROM updates") == [(1,)]
    assert found["pages"] == other["pages"]
    assert found["segments"] == other["segments"]
    assert segments(folder) == segments(whole)
    same = "SELECT left, right FROM vanished ORDER BY left, right"
    assert query(folder, same) == query(whole, same) != []
    twice = "SELECT url FROM fetches, updates WHERE fetches.id > first_fetch GROUP BY url"
    assert query(folder, f"{twice} HAVING count(*) > 1 AND max(status) = 304") == []


STEPS = {
    "before pairing": "diptych.pipeline.pair_and_learn",
    "between pairing and learning": "diptych.pipeline.learn_lexicons",
    "while pairs are aligned": "diptych.steps.align_pairs._save",
    "before scoring": "diptych.pipeline.score_segments",
    "before dates": "diptych.run.updates.forget_found",
    "before the corpus": "diptych.pipeline.write_run_corpus",
    "before the end": "diptych.run.updates.Updates.close",
}
KILL = """
import os, signal, sys
from pkgutil import resolve_name
name = sys.argv.pop(1)
where, _, what = name.rpartition(".")
owner, calls = resolve_name(where), 0
plain = getattr(owner, what)
def killed(*given, **named):
    global calls
    calls += 1
    if calls == (5 if what == "_save" else 1):
        os.kill(os.getpid(), signal.SIGKILL)
    return plain(*given, **named)
setattr(owner, what, killed)
from diptych.commands import main
main()
"""


@pytest.mark.slow
def test_update_that_is_killed_in_any_step_goes_on(tmp_path: Path) -> None:
    site = Changing()
    folder, whole = tmp_path / "run", tmp_path / "whole"
    with serve(site) as server:
        mine(server, folder)
        mine(server, whole)
        site.is_changed = True
        for when, step in STEPS.items():
            command = [sys.executable, "-c", KILL, step, "update", str(folder), *map(str, WEB)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == -signal.SIGKILL, (when, done.stderr)
        asked = len(server.log)
        found = update(folder)
        assert len(server.log) == asked, "the crawl had ended"
        other = update(whole)
    assert query(folder, "SELECT count(*) FROM updates") == [(1,)]
    assert found["pages"] == other["pages"]
    assert found["segments"] == other["segments"]
    assert placeless(folder, "fetched") == placeless(whole, "fetched")
    same = "SELECT left, right FROM vanished ORDER BY left, right"
    assert query(folder, same) == query(whole, same) != []
    dates = "SELECT count(DISTINCT first_seen) FROM segments WHERE first_seen IS NOT NULL"
    assert query(folder, dates) == query(whole, dates) == [(1,)], "none is new"
    check_places(folder)


@pytest.mark.slow
def test_budget_and_dates(tmp_path: Path) -> None:
    site = Changing()
    folder = tmp_path / "run"
    with serve(site) as server:
        mine(server, folder)
        site.is_changed = True
        found = update(folder, "--max-pages", 5)
        assert sum(found["pages"].values()) - found["pages"]["unvisited"] <= 5
        assert mine_asks_nothing(server, folder)
        update(folder)
    out = tmp_path / "since.tsv"
    assert run("export", folder, "--since", "2999-01-01", "--out", out).exit_code == 1
    assert run("export", folder, "--since", "2001-01-01", "--out", out).exit_code == 0
    assert len(rows(out)) == len(segments(folder))
    dates = {(row["first_seen"], row["last_seen"]) for row in rows(out)}
    assert all(first <= last for first, last in dates)


def mine_asks_nothing(server: Server, folder: Path) -> bool:
    server.log.clear()
    mine(server, folder)
    return not [path for path in server.paths if path.endswith("/") or "html" in path]


def test_run_from_archives_cannot_be_updated(made, tmp_path: Path) -> None:
    store = made({})
    store.close()
    path = store.folder / "run.toml"
    path.write_text(path.read_text("utf-8").replace("archives = []", 'archives = ["a.warc"]'))
    assert "was mined from archives" in mistake("update", store.folder)


def test_models_of_the_run_must_be_given_again(made) -> None:
    store = made({})
    store.close()
    path = store.folder / "run.toml"
    path.write_text(path.read_text("utf-8").replace("lexicons = []", 'lexicons = ["en-fr:1"]'))
    assert "was mined with lexicon=en-fr:1" in mistake("update", store.folder)


def test_there_must_be_a_run(tmp_path: Path) -> None:
    assert "there is no folder" in mistake("update", tmp_path / "none")


@pytest.mark.parametrize("date", ["yesterday", "2026-13-01", ""])
def test_since_must_be_a_date(made, date: str) -> None:
    folder = made({}).folder
    assert "--since must be a date" in mistake("export", folder, "--since", date, "--format", "tsv")


def test_dates_choose_segments_and_not_pages(made) -> None:
    folder = made({}).folder
    assert "--since chooses segments" in mistake(
        "export", folder, "--since", "2026-01-01", "--format", "docs"
    )

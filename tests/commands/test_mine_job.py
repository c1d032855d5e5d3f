"""`diptych mine --cluster`: what is printed, and jobs of which a part is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from threading import Event

import pytest
import tomli_w
from support.commands import mistake, placeless, rows, run, start
from support.jobsites import served_sites
from support.serving import Request, Server, reserved
from support.waiting import until

import diptych

SITES = 4


def arguments(servers: list[Server], where: str, out: Path) -> list[object]:
    sites = [server.url for server in servers]
    return ["mine", *sites, "--langs", "en,fr", "--delay", "0", "--allow-private", "--cluster",
            where, "--out", out]  # fmt: skip


def test_a_job_is_mined_shown_exported_merged_and_explained(tmp_path: Path) -> None:
    job = tmp_path / "job"
    with served_sites(2) as servers:
        done = run(*arguments(servers, "here", job))
        assert done.exit_code == 0, done.output
        url = servers[0].url
        told = json.loads(run(*arguments(servers, "here", job), "--json").stdout)
    count = len(rows(job / "corpus.tsv"))
    assert f"2 of 2 sites, 14 pages, 6 page pairs, {count} segments -> {job}" in done.stderr
    assert (told["sites"], told["done"], told["failed"], told["segments"]) == (2, 2, {}, count)
    status = run("status", job).stdout.splitlines()
    assert status[0] == "sites: 2 of 2 finished, 0 running, 0 failed, 0 waiting"
    assert status[1].startswith("14 pages, ")
    assert json.loads(run("status", job, "--json").stdout)["pairs"] == 6
    assert run("export", job, "--out", tmp_path / "a.jsonl").stdout.startswith(f"{count} segments")
    merged = run("merge", job, tmp_path / "a.jsonl", "--out", tmp_path / "b.jsonl").stdout
    assert f"{count} of " in merged
    assert "fetched" in run("explain", job, url).stdout
    assert "--n-way with one of its runs" in mistake("export", job, "--n-way", "--format", "tsv")
    assert "has langs=en, fr" in mistake(*arguments(servers, "here", job), "--langs", "en,de")


def test_options_that_change_no_result_do_not_run_a_site_again(tmp_path: Path) -> None:
    job = tmp_path / "job"
    with served_sites(1) as (server,):
        asked = arguments([server], "here", job)
        assert run(*asked).exit_code == 0
        (entry,) = (job / "ledger").iterdir()
        before = entry.stat().st_mtime_ns
        (tmp_path / "sites.txt").write_text(f"{server.url}\n")
        listed = [each for each in asked if each != server.url]
        for more in (["--quiet"], ["--json"], ["--delay", "0.01"], ["--site-minutes", "9"],
                     ["--profile"], ["--connections", "2"]):  # fmt: skip
            assert run(*asked, *more).exit_code == 0
        assert run(*listed, "--sites", tmp_path / "sites.txt").exit_code == 0
        diptych.mine(server.url, langs="en, fr", delay=0, allow_private=True, out=job,
                     cluster="here")  # fmt: skip
        assert entry.stat().st_mtime_ns == before
        assert run(*asked, "--keep-templates").exit_code == 0
    assert entry.stat().st_mtime_ns != before


def test_jobs_are_refused_because_each_site_has_one_process(tmp_path: Path) -> None:
    line = mistake("mine", "http://a.example/", "--langs", "en,fr", "--cluster", "pool:2",
                   "--jobs", "3", "--out", tmp_path / "job")  # fmt: skip
    assert "--jobs cannot be used for a job" in line
    assert "choose their number with --cluster pool:N" in line
    assert not (tmp_path / "job").exists()


def test_site_without_pages_is_named(tmp_path: Path) -> None:
    with reserved() as place:
        port = place.getsockname()[1]
    with served_sites(1) as (server,):
        gone = f"http://127.0.0.1:{port}/"
        done = run(*arguments([server], "here", tmp_path / "job"), gone)
    assert done.exit_code == 0
    assert f"note: 127.0.0.1_{port} has no page: gave up on {gone[:-1]}: " in done.stderr
    assert done.stderr.count("has no page") == 1


@pytest.mark.parametrize("value", [None, 3, "", "x", [], [1], ["\0"], {}, {"a": 1}, 0, -1, True])
def test_damaged_description_of_a_job_is_one_line(value: object, tmp_path: Path) -> None:
    job = tmp_path / "job"
    with served_sites(1) as (server,):
        run(*arguments([server], "here", job))
    described = tomllib.loads((job / "job.toml").read_text("utf-8"))
    names = [(name,) for name in described] + [("settings", name) for name in described["settings"]]
    names += [("settings", "sites"), ("settings", "partitions")]
    for name in names:
        for kind in ("sites", "archives"):
            damaged = deepcopy(described) | {"kind": kind}
            inner = damaged if len(name) == 1 else damaged["settings"]
            if value is None:
                inner.pop(name[-1], None)
            else:
                inner[name[-1]] = value
            (job / "job.toml").write_text(tomli_w.dumps(damaged), "utf-8")
            for command in (
                ["status", job], ["explain", job, server.url], ["explain", job],
                ["export", job, "--out", tmp_path / "a.tsv"],
                ["merge", job, "--out", tmp_path / "b.tsv"], ["update", job],
                ["terms", job], ["mine", server.url, "--langs", "en,fr", "--cluster", "here",
                                 "--out", job, "--max-pages", "1", "--quiet"],
            ):  # fmt: skip
                done = run(*command)
                if done.exit_code == 2:
                    (line,) = (x for x in done.stderr.splitlines() if not x.startswith("note"))
                    assert line.startswith("error: ")
                else:
                    assert done.exit_code in (0, 1)


def test_unfinished_sites_are_left_out_of_an_export(tmp_path: Path) -> None:
    job = tmp_path / "job"
    with served_sites(2) as servers:
        run(*arguments(servers, "here", job))
    (entry,) = (job / "ledger").glob(f"*{servers[0].port}.json")
    entry.unlink()
    assert run("status", job).stdout.startswith("sites: 1 of 2 finished, 0 running, 0 failed, 1")
    done = run("export", job, "--out", tmp_path / "a.jsonl")
    assert f"note: not finished, and left out: 1 of 2 sites of {job}" in done.stderr
    lines = (tmp_path / "a.jsonl").read_text("utf-8").splitlines()
    hosts = {json.loads(line)["left_url"].split("/")[2] for line in lines}
    assert hosts == {f"127.0.0.1:{servers[1].port}"}


# -- kills ---------------------------------------------------------------------------------------


class Hold:
    """Holds the answers of a server from the nth request on, until it is released."""

    def __init__(self, nth: int) -> None:
        self.reached, self.released = Event(), Event()
        self._left = nth

    def __call__(self, request: Request) -> None:
        self._left -= 1
        if self._left <= 0:
            self.reached.set()
            self.released.wait(120)


def wait_for(event: Event, process: subprocess.Popen[str]) -> None:
    until(lambda: event.is_set() or process.poll() is not None)
    assert event.is_set(), process.communicate()


def child_of(parent: int, word: str) -> int:
    """A process below a parent whose command has a word."""
    found: list[int] = []

    def look() -> bool:
        parents = {}
        for path in Path("/proc").glob("[0-9]*"):
            try:
                fields = (path / "stat").read_text().rpartition(")")[2].split()
                command = (path / "cmdline").read_text().replace("\0", " ")
            except OSError:
                continue
            parents[int(path.name)] = int(fields[1]), command
        for pid, (above, command) in parents.items():
            while above not in (0, parent):
                above = parents.get(above, (0, ""))[0]
            if above == parent and word in command:
                found.append(pid)
        return bool(found)

    until(look)
    return found[0]


def check(job: Path, undisturbed: Path, servers: list[Server]) -> None:
    """Compare a job with one that nobody disturbed."""
    assert (job / "pairs.tsv").read_bytes() == (undisturbed / "pairs.tsv").read_bytes()
    assert placeless(job, "fetched") == placeless(undisturbed, "fetched")
    assert {server.busiest for server in servers} == {1}, "no host was asked by two"
    entries = [json.loads(path.read_bytes()) for path in (job / "ledger").glob("*.json")]
    assert [entry["error"] for entry in entries] == [""] * len(servers)
    assert list((job / "running").iterdir()) == []


@contextmanager
def undisturbed(tmp_path: Path) -> Iterator[tuple[list[Server], Path]]:
    with served_sites(SITES) as servers:
        done = run(*arguments(servers, "here", tmp_path / "undisturbed"))
        assert done.exit_code == 0, done.output
        for server in servers:
            server.log.clear()
        yield servers, tmp_path / "undisturbed"


@pytest.mark.slow
@pytest.mark.parametrize("where", ["pool:2", "local:2"])
def test_a_killed_worker_costs_an_attempt_and_nothing_else(where: str, tmp_path: Path) -> None:
    with undisturbed(tmp_path) as (servers, expected):
        hold = servers[2].before = Hold(3)
        process = start(*arguments(servers, where, tmp_path / "job"))
        wait_for(hold.reached, process)
        word = "diptych.engine.worker" if where == "pool:2" else "multiprocessing.spawn"
        os.kill(child_of(process.pid, word), signal.SIGKILL)
        hold.released.set()
        said = process.communicate(timeout=300)
        assert process.returncode == 0, said
        check(tmp_path / "job", expected, servers)


@pytest.mark.slow
@pytest.mark.parametrize("where", ["here", "pool:2", "local:2"])
def test_a_killed_driver_is_started_again_and_goes_on(where: str, tmp_path: Path) -> None:
    with undisturbed(tmp_path) as (servers, expected):
        hold = servers[2].before = Hold(3)
        process = start(*arguments(servers, where, tmp_path / "job"))
        wait_for(hold.reached, process)
        process.kill()
        process.communicate()
        hold.released.set()
        servers[2].before = lambda request: None
        finished = {path.name for path in (tmp_path / "job" / "ledger").iterdir()}
        asked = {server.port: Counter(server.paths) for server in servers}
        again = start(*arguments(servers, where, tmp_path / "job"))
        said = again.communicate(timeout=300)
        assert again.returncode == 0, said
        for server in servers:
            if f"127.0.0.1_{server.port}.json" in finished:
                assert Counter(server.paths) == asked[server.port], "it was mined once"
        check(tmp_path / "job", expected, servers)


@pytest.mark.slow
def test_a_lost_scheduler_is_waited_for(tmp_path: Path) -> None:
    with reserved() as place:
        port = place.getsockname()[1]
    with undisturbed(tmp_path) as (servers, expected), daemons(tmp_path, port) as begin:
        scheduler, worker = begin("scheduler"), begin("worker")
        hold = servers[1].before = Hold(3)
        process = start(*arguments(servers, f"tcp://127.0.0.1:{port}", tmp_path / "job"))
        wait_for(hold.reached, process)
        scheduler.kill()
        scheduler.wait()
        hold.released.set()  # at once: a request that waits too long is made again
        until(lambda: worker.poll() is not None)  # workers of Dask end without their scheduler
        begin("scheduler")
        begin("worker")
        said = process.communicate(timeout=300)
        assert process.returncode == 0, said
        check(tmp_path / "job", expected, servers)


@contextmanager
def daemons(folder: Path, port: int) -> Iterator[Callable[[str], subprocess.Popen[bytes]]]:
    """Start schedulers and workers of Dask by name; all end with the block."""
    processes: list[subprocess.Popen[bytes]] = []
    package = str(Path(diptych.__file__).parent.parent)
    given = {
        "scheduler": ["scheduler", "--host", "127.0.0.1", "--port", str(port)],
        "worker": ["worker", f"tcp://127.0.0.1:{port}", "--nthreads", "1", "--nworkers", "1",
                   "--local-directory", str(folder)],
    }  # fmt: skip

    def begin(name: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *given[name], "--no-dashboard"], start_new_session=True,
            env={**os.environ, "PYTHONPATH": package},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        processes.append(process)
        return process

    try:
        yield begin
    finally:
        for process in processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

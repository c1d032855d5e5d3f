"""Updates of a job: all its runs are visited again, and its corpus follows."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.commands import mistake, rows, run
from support.jobsites import pages
from support.serving import Reply, Server, serve

import diptych
from diptych.api import tasks
from diptych.errors import StoppedError
from diptych.job.folder import JobTerms, locked, opened_job
from diptych.job.ledger import Ledger

QUICK: dict[str, Any] = {"delay": 0, "allow_private": True}
WEB = ("--delay", "0", "--allow-private")


@contextmanager
def mined(tmp_path: Path) -> Iterator[tuple[list[dict[str, Reply]], list[Server], Path]]:
    """A job of two sites, which are still served."""
    sites = [pages(0), pages(1)]
    with serve(sites[0]) as first, serve(sites[1]) as second:
        servers = [first, second]
        job = tmp_path / "job"
        done = run("mine", first.url, second.url, "--langs", "en,fr", "--cluster", "here",
                   "--out", job, *WEB)  # fmt: skip
        assert done.exit_code == 0, done.output
        for server in servers:
            server.log.clear()
        yield sites, servers, job


def segments(folder: Path) -> set[tuple[str, str]]:
    return {(row["left"], row["right"]) for row in rows(folder / "corpus.tsv")}


def signatures(job: Path) -> list[str]:
    return [entry.signature for entry in Ledger(job / "ledger").entries()]


def remove(site: dict[str, Reply]) -> None:
    """Remove the French pages of a site but for the first."""
    for path in sorted(path for path in site if path.startswith("/fr/"))[1:]:
        del site[path]


def test_update_of_a_job_updates_all_runs_and_its_corpus(tmp_path: Path) -> None:
    with mined(tmp_path) as (sites, servers, job):
        before, pairs, known = segments(job), len(rows(job / "pairs.tsv")), signatures(job)
        remove(sites[1])
        done = run("update", job, *WEB)
        assert done.exit_code == 0, done.output
        assert all("/robots.txt" in server.paths for server in servers)
        assert "2 of 2 sites" in done.stderr
        assert "update: pages: 0 changed, 0 new, 2 vanished; segments: 0 new, " in done.stderr
        assert segments(job) < before
        assert len(rows(job / "pairs.tsv")) == pairs - 2
        assert f"{pairs - 2} pairs" in run("status", job).stdout
        assert not (job / "update").exists()
        assert "updated" not in run("status", job).stdout
        assert signatures(job) == known, "what was mined is still known to be mined"
        told = json.loads(run("update", job, *WEB, "--json").stdout)
        assert told["changes"].endswith("segments: 0 new, 0 gone")
        assert (told["sites"], told["done"], told["failed"]) == (2, 2, {})


def test_update_of_a_job_runs_only_where_the_user_says(tmp_path: Path) -> None:
    with mined(tmp_path) as (_, _, job):
        text = (job / "job.toml").read_text()
        (job / "job.toml").write_text('cluster = "tcp://127.0.0.1:1"\n' + text)
        done = run("update", job, *WEB)
        assert done.exit_code == 0, done.output
        assert "'bogus' is unknown" in mistake("update", job, *WEB, "--cluster", "bogus")
        own = next((job / "runs").iterdir())
        for option in (("--cluster", "here"), ("--site-minutes", "1")):
            assert f"{option[0]} is for jobs" in mistake("update", own, *WEB, *option)


def test_attempt_at_an_update_ends_after_the_minutes_of_the_user(tmp_path: Path) -> None:
    with mined(tmp_path) as (_, _, job):
        before = segments(job)
        done = run("update", job, *WEB, "--site-minutes", "0.00001")
        assert done.exit_code == 2
        assert done.stderr.count("failed 3 times: TimeoutError") == 2
        assert segments(job) == before


def test_corpus_is_written_again_if_that_of_a_run_was(tmp_path: Path) -> None:
    with mined(tmp_path) as (_, servers, job):
        asked = ("mine", *(server.url for server in servers), "--langs", "en,fr", "--cluster",
                 "here", "--out", job, *WEB)  # fmt: skip
        written = (job / "corpus.tsv").stat().st_mtime_ns
        assert run(*asked).exit_code == 0
        assert (job / "corpus.tsv").stat().st_mtime_ns == written
        os.utime(job / "runs" / f"127.0.0.1_{servers[0].port}" / "corpus.tsv", ns=(1, 1))
        assert run(*asked).exit_code == 0
    assert (job / "corpus.tsv").stat().st_mtime_ns != written


def test_update_of_one_run_is_seen_by_its_job(tmp_path: Path) -> None:
    with mined(tmp_path) as (sites, servers, job):
        before, pairs = segments(job), len(rows(job / "pairs.tsv"))
        remove(sites[1])
        own = job / "runs" / f"127.0.0.1_{servers[1].port}"
        done = run("update", own, *WEB)
        assert done.exit_code == 0, done.output
        assert "run the command that mined the job again" in " ".join(done.stderr.split())
        assert servers[0].paths == []
        assert f"{pairs - 2} pairs" in run("status", job).stdout
        run("export", job, "--out", tmp_path / "now.tsv")
        again = run("mine", *(server.url for server in servers), "--langs", "en,fr", "--cluster",
                    "here", "--out", job, *WEB)  # fmt: skip
        assert again.exit_code == 0, again.output
    assert segments(job) < before
    now = {(row["left"], row["right"]) for row in rows(tmp_path / "now.tsv")}
    assert now == segments(job)
    assert len(rows(job / "pairs.tsv")) == pairs - 2


def test_interrupted_update_of_a_job_goes_on_with_the_other_sites(tmp_path: Path) -> None:
    with mined(tmp_path) as (_, servers, job):
        # Runs are updated in the order of their names.
        first, second = sorted(servers, key=lambda server: f"{server.port}")
        stop = threading.Event()
        second.before = lambda request: stop.set()
        with pytest.raises(StoppedError):
            diptych.open(job).update(cancel=stop, **QUICK)
        second.before = lambda request: None
        assert first.paths
        assert "update: 1 of 2 updated so far" in run("status", job).stdout
        assert json.loads(run("status", job, "--json").stdout)["updated"] == 1
        first.log.clear()
        updated = diptych.open(job).update(**QUICK)
        assert isinstance(updated, diptych.Job)
        assert (first.paths, updated.notes) == ([], ())
        assert second.paths
        diptych.open(job).update(**QUICK)
        assert first.paths, "the next update visits all sites again"


def test_update_that_fails_is_named_and_its_run_keeps_its_corpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "_LOCK_SECONDS", 0.0)
    with mined(tmp_path) as (_, servers, job):
        before = segments(job)
        name = f"127.0.0.1_{servers[0].port}"
        with locked(job / "runs" / name / "run.lock", ""):
            done = run("update", job, *WEB)
        assert (servers[0].paths, len(servers[1].paths) > 1) == ([], True)
        assert done.exit_code == 2
        assert f"error: {name} failed 3 times: StoreError" in done.stderr
        assert f"failed: StoreError: {job / 'runs' / name}" in (job / "report.html").read_text()
        assert segments(job) == before
        servers[1].log.clear()
        assert run("update", job, *WEB).exit_code == 0
        assert (len(servers[0].paths) > 1, servers[1].paths) == (True, [])


def test_job_that_cannot_be_updated_says_why(tmp_path: Path) -> None:
    terms = JobTerms("archives", ("en", "fr"), ("a.warc",), {"scope": "site", "partitions": 8})
    with opened_job(tmp_path / "archives", terms):
        pass
    assert "mined from archives, which do not change" in mistake("update", tmp_path / "archives")
    terms = JobTerms("sites", ("en", "fr"), ("http://a.example/",), {"scope": "site"})
    with opened_job(tmp_path / "job", terms):
        pass
    assert "has no finished site; mine it first" in mistake("update", tmp_path / "job")
    assert "--jobs cannot be used for a job" in mistake("update", tmp_path / "job", "--jobs", 2)
    settings = {"scope": "site", "lexicons": ["en-fr 0123"]}
    with opened_job(tmp_path / "with", replace(terms, settings=settings)):
        pass
    assert "was mined with lexicon=en-fr 0123; specify the same with --lexicon" in mistake(
        "update", tmp_path / "with"
    )

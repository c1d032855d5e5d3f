"""`diptych.mine(..., cluster=...)`: a job of several sites, and what can be read from it."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from support.jobsites import served_sites

import diptych
from diptych.api.job import run_of_url
from diptych.errors import ConfigError, DiptychError, StoppedError, StoreError

QUICK: dict[str, Any] = {"langs": "en,fr", "delay": 0, "allow_private": True, "cluster": "here"}


def test_a_job_has_a_run_for_each_site_and_one_corpus(tmp_path: Path) -> None:
    seen: list[diptych.Progress] = []
    with served_sites(2) as servers:
        sites = [server.url for server in servers]
        job = diptych.mine(sites, out=tmp_path / "job", progress=seen.append, **QUICK)
        alone = diptych.mine(sites[0], langs="en,fr", delay=0, allow_private=True,
                             out=tmp_path / "alone", jobs=1)  # fmt: skip
        asked = [len(server.log) for server in servers]
        again = diptych.mine(sites, out=tmp_path / "job", **QUICK)
        assert [len(server.log) for server in servers] == asked, "nothing is asked again"
    assert isinstance(job, diptych.Job)
    assert (job.langs, job.notes, job.failed()) == (("en", "fr"), (), {})
    runs = list(job.runs())
    assert [run.folder.parent for run in runs] == [job.folder / "runs"] * 2
    assert [(last.done, last.total, last.unit) for last in seen if last.stage == "mining"][-1] == (
        2, 2, "sites",
    )  # fmt: skip
    # A run of the job is what mining the site alone gives.
    own = next(run for run in runs if str(servers[0].port) in run.folder.name)
    assert texts(own) == texts(alone)
    whole = texts(job)
    assert set(whole) == {text for run in runs for text in texts(run)}
    assert len(whole) == len(set(whole))
    assert job.summary.pairs == sum(run.summary.pairs for run in runs) == len(list(job.pairs()))
    assert job.summary.pages == len(list(job.pages()))
    lines = (job.folder / "corpus.tsv").read_text("utf-8").splitlines()
    assert len(lines) == len(whole) + 1
    assert len((job.folder / "pairs.tsv").read_text("utf-8").splitlines()) == (
        1 + len(list(job.pairs()))
    )
    for segment in job.segments():
        assert (job.folder / segment.left_warc).is_file()
    assert texts(diptych.open(again.folder)) == whole
    assert job.export(tmp_path / "x.jsonl").lines == len(whole)


def texts(run: diptych.Run) -> list[tuple[str, str]]:
    return sorted((segment.left, segment.right) for segment in run.segments())


def test_hosts_of_one_domain_are_one_task(tmp_path: Path) -> None:
    with served_sites(1) as (server,):
        sites = [server.url, server.url + "en/", server.url + "fr/"]
        job = diptych.mine(sites, out=tmp_path / "job", **QUICK)
        assert server.busiest == 1
    assert [run.folder.name for run in diptych.Job(job.folder).runs()] == [
        f"127.0.0.1_{server.port}"
    ]


def test_the_run_of_a_url_is_that_of_its_site(tmp_path: Path) -> None:
    with served_sites(2) as servers:
        job = diptych.mine([server.url for server in servers], out=tmp_path / "job", **QUICK)
        first, second = (server.url for server in servers)
    assert run_of_url(job.folder, [first]).name == f"127.0.0.1_{servers[0].port}"
    assert "fetched" in job.explain(first)
    assert job.explain().count("no pair was rejected") == 2
    for urls in ([first, second], ["http://elsewhere.example/"]):
        with pytest.raises(ConfigError, match="mines each site separately"):
            job.explain(*urls)
    with pytest.raises(ConfigError, match="is a job"):
        job.terms()


def test_a_changed_limit_continues_the_runs(tmp_path: Path) -> None:
    with served_sites(1) as (server,):
        first = diptych.mine(server.url, out=tmp_path / "job", max_pages=2, **QUICK)
        assert first.summary.pages == 2
        second = diptych.mine(server.url, out=tmp_path / "job", **QUICK)
    assert second.summary.pages > 2


def test_other_languages_are_refused(tmp_path: Path) -> None:
    with served_sites(1) as (server,):
        diptych.mine(server.url, out=tmp_path / "job", **QUICK)
        with pytest.raises(StoreError, match="has langs=en, fr; you requested langs=en, de"):
            diptych.mine(server.url, out=tmp_path / "job", **{**QUICK, "langs": "en,de"})


def test_a_job_that_is_stopped_goes_on(tmp_path: Path) -> None:
    stop = threading.Event()
    with served_sites(2) as servers:
        sites = [server.url for server in servers]
        servers[1].before = lambda request: stop.set()
        with pytest.raises(StoppedError):
            diptych.mine(sites, out=tmp_path / "job", cancel=stop, **QUICK)
        servers[1].before = lambda request: None
        asked = len(servers[0].log)
        job = diptych.mine(sites, out=tmp_path / "job", **QUICK)
        assert len(servers[0].log) == asked
    assert len(list(diptych.Job(job.folder).runs())) == 2


def test_a_site_that_fails_is_reported_and_the_others_are_mined(tmp_path: Path) -> None:
    with served_sites(2) as servers:
        folder = tmp_path / "job"
        sites = [server.url for server in servers]
        diptych.mine(sites, out=folder, max_pages=1, **QUICK)
        run = folder / "runs" / f"127.0.0.1_{servers[0].port}"
        (run / "run.sqlite").write_bytes(b"not a database" * 99)
        job = diptych.mine(sites, out=folder, **QUICK)
    assert isinstance(job, diptych.Job)
    assert list(job.failed()) == [run.name]
    (note,) = job.notes
    assert f"{run.name} failed 3 times: StoreError" in note
    assert len(list(job.runs())) == 1
    log = (folder / "logs" / f"{run.name}.log").read_text("utf-8")
    assert log.count("failed: StoreError") == 3
    assert "Traceback" in log
    assert run.name in (folder / "report.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"cluster": "cloud"}, "'cloud' is unknown"),
        ({"warc": "a.warc"}, "there is no file a.warc"),
        ({"site_minutes": 0}, "site_minutes must be greater than 0"),
        ({"also": "http://b.example/"}, "exactly one site"),
    ],
)
def test_mistakes_are_found_before_anything_runs(
    options: dict[str, Any], said: str, tmp_path: Path
) -> None:
    sites = ["http://a.example/", "http://c.example/"]
    with pytest.raises(DiptychError, match=said):
        diptych.mine(sites, out=tmp_path / "job", **{**QUICK, **options})

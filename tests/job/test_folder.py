"""The folder of a job is opened by one driver, with the same terms each time."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from diptych.errors import StoreError
from diptych.job.folder import JobTerms, is_job, is_locked, locked, opened_job, read_job, task_names

TERMS = JobTerms("sites", ("en", "fr"), ("http://a.org/", "http://b.org/"), {"scope": "site"})


def test_the_same_terms_continue_a_job(tmp_path: Path) -> None:
    folder = tmp_path / "job"
    for _ in range(2):
        with opened_job(folder, TERMS) as job:
            assert all(part.is_dir() for part in (job.ledger, job.running, job.runs, job.logs))
    assert is_job(folder)
    assert read_job(folder) == TERMS


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        (replace(TERMS, langs=("en", "de")), "has langs=en, fr; you requested langs=en, de"),
        (replace(TERMS, kind="archives"), "has kind=sites; you requested kind=archives"),
        (replace(TERMS, settings={"scope": "host"}), "has scope=site; you requested scope=host"),
        (replace(TERMS, settings={**TERMS.settings, "new": 1}), "has new=None"),
        (replace(TERMS, inputs=("http://a.org/",)), "you requested inputs=http://a.org/; choose"),
    ],
)
def test_other_terms_are_refused_in_one_line(terms: JobTerms, said: str, tmp_path: Path) -> None:
    with opened_job(tmp_path, TERMS):
        pass
    with pytest.raises(StoreError, match=said) as error, opened_job(tmp_path, terms):
        pass
    assert "\n" not in str(error.value)
    assert read_job(tmp_path) == TERMS


def test_only_one_driver_has_a_job_open(tmp_path: Path) -> None:
    with (
        opened_job(tmp_path, TERMS),
        pytest.raises(StoreError, match="in use by another driver"),
        opened_job(tmp_path, TERMS),
    ):
        pass
    with opened_job(tmp_path, TERMS):
        pass


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text("")
    with pytest.raises(StoreError, match=r"holds other files \(run.toml\) but no job"):
        opened_job(tmp_path, TERMS).__enter__()
    assert not (tmp_path / "job.toml").exists()


@pytest.mark.parametrize("text", ["", "format = 2", "kind = 3", "\xff", "format = 1\nkind = 'a'"])
def test_a_damaged_description_is_a_store_error(text: str, tmp_path: Path) -> None:
    (tmp_path / "job.toml").write_bytes(text.encode("latin-1"))
    with pytest.raises(StoreError, match=r"job\.toml is not a readable description of a job"):
        read_job(tmp_path)


@pytest.mark.parametrize(
    "place",
    ["logs", "ledger", "runs", "running", "runs/a.org", "job.toml.part", "ledger/a.org.json.part",
     "corpus.tsv", "logs/a.org.log", "runs/b.org/run.sqlite", "runs/b.org/warc", "words"],
)  # fmt: skip
def test_a_link_in_a_job_is_refused_before_anything_is_written(place: str, tmp_path: Path) -> None:
    folder, outside = tmp_path / "job", tmp_path / "outside"
    with opened_job(folder, TERMS):
        pass
    outside.mkdir()
    (outside / "precious").write_text("precious")
    link = folder / place
    link.parent.mkdir(exist_ok=True)
    if link.is_dir():
        link.rmdir()
    link.symlink_to(outside / "precious" if "." in link.name else outside)
    said = f"{place} is not a regular file; remove it and run the same command again"
    with pytest.raises(StoreError, match=re.escape(said)), opened_job(folder, TERMS):
        pass
    assert [path.name for path in outside.iterdir()] == ["precious"]
    assert (outside / "precious").read_text() == "precious"


def test_a_pipe_in_a_job_is_refused(tmp_path: Path) -> None:
    with opened_job(tmp_path, TERMS) as job:
        os.mkfifo(job.ledger / "a.json")
    with pytest.raises(StoreError, match="is not a regular file"), opened_job(tmp_path, TERMS):
        pass


def test_a_job_may_be_opened_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "job").symlink_to(tmp_path / "disk")
    with opened_job(tmp_path / "job", TERMS) as job:
        assert job.path == tmp_path / "disk"


def test_a_lock_is_seen_while_it_is_held(tmp_path: Path) -> None:
    path = tmp_path / "run.lock"
    assert not is_locked(path)
    with locked(path, "in use"):
        assert is_locked(path)
    assert not is_locked(path)


def test_names_are_safe_and_unique() -> None:
    texts = ["../../etc", "A.org", "a.org:80", "x" * 300, "x" * 301, "..", "a_org", "a/org"]
    names = task_names(texts)
    assert len({name.lower() for name in names}) == len(texts)
    for name in names:
        assert "/" not in name
        assert not name.startswith(".")
        assert len(name) < 100

"""Archives of many sites as a job: the same corpus as of one run, also if it is interrupted."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from support.commands import mistake, query, rows, run
from support.waiting import until

from diptych import pipeline
from diptych.api import archive_job, archive_tasks, tasks
from diptych.api.archive_job import default_partitions
from diptych.job.folder import locked
from diptych.run.scan import scan
from diptych.run.warc import compose
from diptych.types import Url

pytest.importorskip("pyarrow")
fsspec = pytest.importorskip("fsspec")
COPY = b"lamps.example.net"
STAGES = ("ReadArchive", "PairPartition", "LearnWords", "AlignPartition")


@pytest.fixture(scope="session")
def archives(recorded: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two archives, in which the pages of two sites are mixed: the demo site and a copy of it."""
    folder = tmp_path_factory.mktemp("archives")
    records: list[bytes] = []
    for file in (recorded / "warc").iterdir():
        for _, response in scan(file):
            origin = response.url.split("/")[2]
            url = Url(response.url.replace(origin, COPY.decode()))
            body = response.body.replace(origin.encode(), COPY)
            records.append(compose(response))
            records.append(compose(type(response)(url, response.status, response.headers, body,
                                                  response.fetched_at)))  # fmt: skip
    paths = [folder / "a.warc.gz", folder / "b.warc.gz"]
    paths[0].write_bytes(b"".join(records[: len(records) // 2]))
    paths[1].write_bytes(b"".join(records[len(records) // 2 :]))
    return paths


def mine(out: Path, files: list[Any], *more: object) -> Any:
    named = [part for each in files for part in ("--warc", each)]
    return run("mine", *named, "--langs", "en,fr", "--out", out, "--quiet", *more)


def job(out: Path, files: list[Any], *more: object) -> Any:
    return mine(out, files, "--cluster", "here", *more)


def pairs(folder: Path) -> list[tuple[str, str]]:
    return sorted((row["left_url"], row["right_url"]) for row in rows(folder / "pairs.tsv"))


def texts(folder: Path) -> set[tuple[str, str]]:
    return {(row["left"], row["right"]) for row in rows(folder / "corpus.tsv")}


@pytest.fixture(scope="session")
def mined(archives: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The job on both archives."""
    folder = tmp_path_factory.mktemp("mined") / "job"
    result = job(folder, archives)
    assert result.exit_code == 0, result.output
    return folder


@pytest.mark.slow
def test_job_finds_what_one_run_finds(mined: Path, archives: list[Path], tmp_path: Path) -> None:
    assert mine(tmp_path / "run", archives).exit_code == 0
    assert pairs(mined) == pairs(tmp_path / "run")
    found, expected = texts(mined), texts(tmp_path / "run")
    assert len(found ^ expected) <= 0.02 * len(expected)


@pytest.mark.slow
def test_each_site_is_in_one_run_and_its_places_are_true(mined: Path, archives: list[Path]) -> None:
    sites: dict[str, str] = {}
    for folder in (mined / "runs").iterdir():
        for (url,) in query(folder, "SELECT urls.url FROM pages JOIN urls ON key = pages.url"):
            assert sites.setdefault(url.split("/")[2], folder.name) == folder.name
        assert not (folder / "pages.part").exists()
    assert len(sites) == 2
    by_place = {
        (str(path), offset): response for path in archives for offset, response in scan(path)
    }
    for row in rows(mined / "corpus.tsv"):
        place = by_place[row["left_warc"], int(row["left_offset"])]
        assert place.url == row["left_url"]


@pytest.mark.slow
def test_job_can_be_shown_explained_exported_and_rebuilt(
    mined: Path, archives: list[Path], tmp_path: Path
) -> None:
    assert run("status", mined).output.startswith("partitions: 8 of 8 finished, 0 running")
    left, right = pairs(mined)[0]
    assert "verified" in run("explain", mined, left, right).output
    standoff, again = tmp_path / "corpus.jsonl", tmp_path / "again.tsv"
    assert run("export", mined, "--format", "standoff", "--out", standoff).exit_code == 0
    rebuilt = run("rebuild", standoff, "--warc", archives[0].parent, "--out", again)
    assert f"{len(rows(mined / 'corpus.tsv'))} segments rebuilt ->" in rebuilt.output


@pytest.mark.slow
@pytest.mark.parametrize("stage", STAGES)
def test_killed_job_goes_on_and_nothing_is_lost_or_doubled(
    mined: Path, archives: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    owner = getattr(archive_tasks, stage)
    plain, calls = owner._run, []

    def killed(self: Any) -> dict[str, Any]:
        calls.append(self.name)
        result: dict[str, Any] = plain(self)
        if len(calls) == 2 or stage == "LearnWords":
            raise KeyboardInterrupt  # after the work, before the ledger knows of it
        return result

    with monkeypatch.context() as patch:
        patch.setattr(owner, "_run", killed)
        assert job(tmp_path / "job", archives).exit_code != 0
    done: list[str] = []

    def noted(self: Any) -> dict[str, Any]:
        done.append(self.name)
        found: dict[str, Any] = plain(self)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(owner, "_run", noted)
        assert job(tmp_path / "job", archives).exit_code == 0
    assert calls[-1] in done
    assert stage == "LearnWords" or calls[0] not in done
    assert pairs(tmp_path / "job") == pairs(mined)
    assert texts(tmp_path / "job") == texts(mined)


@pytest.mark.slow
def test_killed_crawl_of_a_partition_goes_on(
    mined: Path, archives: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from diptych.run.page_rows import StagedPages

    plain, asked = StagedPages.answer, []

    def killed(self: Any, url: Url, depth: int) -> Any:
        asked.append(url)
        if len(asked) == 50:
            raise KeyboardInterrupt
        return plain(self, url, depth)

    with monkeypatch.context() as patch:
        patch.setattr(StagedPages, "answer", killed)
        assert job(tmp_path / "job", archives).exit_code != 0
    assert job(tmp_path / "job", archives).exit_code == 0
    assert pairs(tmp_path / "job") == pairs(mined)
    assert texts(tmp_path / "job") == texts(mined)


@pytest.mark.slow
def test_job_with_other_limits_pairs_with_words_again(
    archives: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "CERTAIN", 2.0)  # so that words may decide on all sites
    monkeypatch.setattr(pipeline, "DOUBT", -1.0)
    plain, paired = pipeline.pair_pages, []

    def noted(store: Any, context: Any, *more: Any) -> bool:
        paired.append((store.folder.name, bool(context.lexicons)))
        return plain(store, context, *more)

    monkeypatch.setattr(pipeline, "pair_pages", noted)
    assert job(tmp_path / "job", archives).exit_code == 0
    first = sorted(paired)
    assert {with_words for _, with_words in first} == {False, True}
    paired.clear()
    assert job(tmp_path / "job", archives, "--max-pages", "9999").exit_code == 0
    assert sorted(paired) == first


@pytest.mark.slow
def test_partition_waits_for_a_run_in_use(
    mined: Path, archives: list[Path], tmp_path: Path
) -> None:
    shutil.copytree(mined, tmp_path / "job")
    log, held = tmp_path / "job" / "logs" / "pair-00000.log", ExitStack()
    held.enter_context(locked(tmp_path / "job" / "runs" / "part-00000" / "run.lock", ""))

    def release() -> None:
        until(lambda: "waiting for another process" in log.read_text("utf-8"))
        held.close()

    thread = threading.Thread(target=release)
    thread.start()
    result = job(tmp_path / "job", archives, "--keep-templates")
    thread.join()
    assert result.exit_code == 0, result.output
    assert log.read_text("utf-8").count("failed") == 0


@pytest.mark.slow
def test_partition_that_fails_is_named_with_exit_code_2(
    mined: Path, archives: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "_LOCK_SECONDS", 0.0)
    shutil.copytree(mined, tmp_path / "job")
    with locked(tmp_path / "job" / "runs" / "part-00000" / "run.lock", ""):
        result = job(tmp_path / "job", archives, "--keep-templates")
    assert result.exit_code == 2
    assert "error: pair-00000 failed 3 times: StoreError" in result.output
    assert "part-00000 is in use by another process" in result.output
    assert "pair-00000" in (tmp_path / "job" / "report.html").read_text("utf-8")
    assert job(tmp_path / "job", archives, "--keep-templates").exit_code == 0


@pytest.mark.slow
def test_pages_are_parsed_once(archives: list[Path], tmp_path: Path, monkeypatch: Any) -> None:
    from diptych.engine import reading
    from diptych.types import Kind

    parsed: list[str] = []
    plain: Callable[..., Any] = reading.read_answer

    def noted(kind: Kind, response: Any, **more: Any) -> Any:
        if kind is Kind.PAGE and response.status == 200:
            parsed.append(response.url)
        return plain(kind, response, **more)

    monkeypatch.setattr(reading, "read_answer", noted)
    assert job(tmp_path / "job", archives).exit_code == 0
    pages = [url for url in parsed if not url.endswith((".txt", ".xml"))]
    assert len(pages) == len(set(pages))


@pytest.mark.slow
def test_bad_files_cost_only_themselves(mined: Path, archives: list[Path], tmp_path: Path) -> None:
    bad = tmp_path / "bad.warc.gz"
    bad.write_bytes(b"hello\n" * 50)
    result = job(tmp_path / "job", [*archives, bad])
    assert f"error: {bad} is not a WARC file" in result.output
    assert result.exit_code == 2
    assert pairs(tmp_path / "job") == pairs(mined)
    assert job(tmp_path / "job", [*archives, bad]).exit_code == 2


def test_only_bad_files_are_an_error(tmp_path: Path) -> None:
    bad = tmp_path / "bad.warc.gz"
    bad.write_bytes(b"hello\n" * 50)
    line = mistake("mine", "--warc", bad, "--langs", "en,fr", "--out", tmp_path / "job",
                   "--cluster", "here")  # fmt: skip
    assert line == f"error: {bad} is not a WARC file"


@pytest.mark.slow
def test_remote_archives_are_copied_into_the_job(
    mined: Path, archives: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_job, "_REMOTE_BYTES", 1)
    memory = fsspec.filesystem("memory")
    memory.store.clear()
    for path in archives:
        memory.pipe(f"/{path.name}", path.read_bytes())
    assert job(tmp_path / "job", ["memory://*.warc.gz"]).exit_code == 0
    memory.store.clear()
    assert pairs(tmp_path / "job") == pairs(mined)
    assert texts(tmp_path / "job") == texts(mined)
    names = {row["left_warc"] for row in rows(tmp_path / "job" / "corpus.tsv")}
    assert names <= {"warc/read-00000.warc.gz", "warc/read-00001.warc.gz"}
    assert not list((tmp_path / "job").rglob("*.part"))
    standoff, again = tmp_path / "corpus.jsonl", tmp_path / "again.tsv"
    assert run("export", tmp_path / "job", "--format", "standoff", "--out", standoff).exit_code == 0
    rebuilt = run("rebuild", standoff, "--warc", tmp_path / "job" / "warc", "--out", again)
    assert "not rebuilt" not in rebuilt.output


@pytest.mark.slow
def test_one_site_among_others_is_mined(archives: list[Path], tmp_path: Path) -> None:
    assert job(tmp_path / "job", archives, f"http://{COPY.decode()}/").exit_code == 0
    assert {left.split("/")[2] for left, _ in pairs(tmp_path / "job")} == {COPY.decode()}


@pytest.mark.slow
def test_other_terms_are_refused(mined: Path, archives: list[Path]) -> None:
    line = mistake("mine", "--warc", archives[0], "--langs", "en,fr", "--out", mined, "--cluster",
                   "here")  # fmt: skip
    assert "holds a job that has inputs=" in line


def test_number_of_partitions_depends_on_the_size_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_job, "BYTES_PER_PARTITION", 100)
    (tmp_path / "a.warc").write_bytes(bytes(1001))
    assert default_partitions([str(tmp_path / "a.warc")]) == 11
    assert default_partitions([str(tmp_path / "a.warc")] * 2) == 21
    assert default_partitions([]) == 8
    assert default_partitions(["s3://a/b.warc.gz"]) == 4096

"""`diptych mine --common-crawl`: from a service on loopback to a corpus."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.commands import mistake, placeless, query, run, start
from support.crawled import SITE, command, site_pages, write_crawl

import diptych
from bench.support.crawl_files import CRAWL, CrawledPage, CrawlFiles
from bench.support.range_server import Asked, RangeServer, Refusal, serve_ranges

ARCHIVES = f"crawl-data/{CRAWL}/segments/"


@pytest.fixture
def files(tmp_path: Path) -> CrawlFiles:
    return write_crawl(tmp_path / "cc")


@pytest.fixture
def server(files: CrawlFiles) -> Iterator[RangeServer]:
    with serve_ranges(files.root) as server:
        yield server


def of_archives(files: CrawlFiles, tmp_path: Path) -> list[dict[str, str]]:
    """The corpus of the same pages, mined as archives."""
    out = tmp_path / "archives"
    result = run(
        "mine", "--warc", files.root / "crawl-data", "--langs", "en,fr", "--out", out, "--quiet"
    )
    assert result.exit_code == 0, result.output
    return placeless(out)


def test_the_corpus_is_that_of_the_archives(tmp_path: Path, files, server: RangeServer):
    result = run(*command(server, tmp_path / "run", SITE))
    assert result.exit_code == 0, result.output
    assert placeless(tmp_path / "run") == of_archives(files, tmp_path)
    assert re.search(
        rf"note: {CRAWL}: 30 of 30 pages fetched, of 30 captures; this time \d+ requests, 0.1 MB",
        result.stderr,
    )
    asked = len(server.log)
    again = run(*command(server, tmp_path / "run", SITE))
    assert again.exit_code == 0
    assert len(server.log) == asked, "a finished run asks nothing"
    assert f"{CRAWL}: 30 of 30 pages fetched, of 30 captures\n" in again.stderr
    assert {asked.agent for asked in server.log} == {diptych.api.web.AGENT}


def test_python_has_the_same_options(tmp_path: Path, files: CrawlFiles):
    mined = diptych.mine(
        SITE, langs="en,fr", out=tmp_path / "run", common_crawl=CRAWL, cc_base=str(files.root),
        delay=0, jobs=1,
    )  # fmt: skip
    assert mined.summary.pages == 30
    assert mined.summary.pairs == 15
    assert any(note.startswith(f"{CRAWL}: 30 of 30 pages") for note in mined.notes)


def test_pages_are_limited_per_site_and_languages_take_turns(tmp_path: Path, files):
    result = run(*command(files.root, tmp_path / "run", SITE, "--max-pages", 10, "--json"))
    found = json.loads(result.stdout)
    assert found["pages"] == 10
    langs = dict(query(tmp_path / "run", "SELECT lang, count(*) FROM pages GROUP BY lang"))
    assert langs == {"en": 5, "fr": 5}
    more = run(*command(files.root, tmp_path / "run", SITE, "--json"))
    assert json.loads(more.stdout)["pages"] == 30


def test_flags_of_pages_are_recorded(tmp_path: Path):
    first, *rest = site_pages()
    marked = first.body.replace(b"<head>", b'<head><meta name="robots" content="noindex, noai">')
    pages = [CrawledPage(first.url, marked, first.languages), *rest]
    files = write_crawl(tmp_path / "cc", pages)
    assert run(*command(files.root, tmp_path / "run", SITE)).exit_code == 0
    flags = "SELECT flags FROM pages JOIN urls ON key = pages.url WHERE urls.url = '{}'"
    (found,) = query(tmp_path / "run", flags.format(first.url))
    assert {"noindex", "noai"} <= set(found[0].split())


def test_sites_are_chosen_by_the_columnar_index(tmp_path: Path):
    mono = [CrawledPage(f"http://mono.example/{n}", b"<p>%d" % n, "eng") for n in range(9)]
    files = write_crawl(tmp_path / "cc", [*site_pages(), *mono], with_table=True)
    with serve_ranges(files.root) as server:
        table = files.root / "cc-index/table"
        result = run(*command(server, tmp_path / "run", "--cc-index", table, "--max-candidates", 3))
        assert result.exit_code == 0, result.output
        assert all(part[0].startswith(ARCHIVES) for part in server.parts())
    assert query(tmp_path / "run", "SELECT name FROM sites") == [("phares.example",)]
    assert query(tmp_path / "run", "SELECT count(*) FROM pages") == [(30,)]


# -- mistakes and services that refuse -------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--common-crawl", "../x", SITE], "is not the name of a crawl, such as CC-MAIN-2026-40"),
        (["--common-crawl", CRAWL], "specify the sites to mine"),
        (["--cc-index", "x.parquet", SITE], "--cc-index needs the name of a crawl"),
        (["--cc-base", "/data", SITE], "--cc-base needs the name of a crawl"),
        (["--suffix", "fr", SITE, "--common-crawl", CRAWL], "but the sites are named"),
        (["--suffix", "fr", "--common-crawl", CRAWL], "specify its files with --cc-index"),
        (["--min-pages", "7", "--common-crawl", CRAWL], "specify its files with --cc-index"),
        (
            ["--cc-index", "x.parquet", "--common-crawl", CRAWL, SITE, "--max-candidates", "3"],
            "--max-candidates chooses sites from an index, but the sites are named",
        ),
        (["--common-crawl", CRAWL, SITE, "--max-minutes", "3"], "use --max-pages"),
        (["--cluster", "here", "--cc-base", "/data", SITE], "--cc-base needs the name of a crawl"),
        (["--common-crawl", CRAWL, SITE, "--cc-base", "/no/folder"], "there is no folder /no/"),
    ],
)
def test_mistakes_say_what_to_do(tmp_path: Path, more: list[str], said: str):
    assert said in mistake("mine", "--langs", "en,fr", "--quiet", "--out", tmp_path / "run", *more)
    assert not (tmp_path / "run").exists()


def test_archives_and_crawls_do_not_mix(tmp_path: Path, files: CrawlFiles):
    warc = files.root / "crawl-data"
    said = mistake(*command(files.root, tmp_path / "run", SITE, "--warc", warc))
    assert "use either --common-crawl or --warc, not both" in said


def test_a_site_that_is_not_in_the_crawl_is_reported(tmp_path: Path, files: CrawlFiles):
    out = tmp_path / "run"
    said = mistake(*command(files.root, out, "https://nowhere.example/"))
    assert f"{CRAWL} has no pages to mine: no capture of nowhere.example is in the index" in said
    assert "mine the site itself without --common-crawl" in said
    assert not out.exists()
    result = run(*command(files.root, out, SITE, "https://nowhere.example/"))
    assert result.exit_code == 0
    assert "no capture of nowhere.example is in the index" in result.stderr


def test_pages_in_other_languages_are_reported(tmp_path: Path, files: CrawlFiles):
    arguments = command(files.root, tmp_path / "run", SITE)
    said = mistake(*("de,mt" if each == "en,fr" else each for each in arguments))
    assert "none of the 30 pages of phares.example is in de or mt" in said


def test_a_site_of_redirects_is_reported(tmp_path: Path):
    files = write_crawl(tmp_path / "cc", [CrawledPage(f"{SITE}/a", b"", status=301)])
    said = mistake(*command(files.root, tmp_path / "run", SITE))
    assert "the 1 captures of phares.example are errors, redirects or no HTML" in said


def test_what_was_fetched_is_kept_if_the_service_refuses(tmp_path: Path, server, monkeypatch):
    monkeypatch.setattr("diptych.sources.crawl_records.GAP", 0)
    monkeypatch.setattr("diptych.engine.patience.TRIES", 1)
    sent: list[Asked] = []

    def refuse(asked: Asked) -> Refusal | None:
        if asked.path.startswith(ARCHIVES):
            sent.append(asked)
        return Refusal(503, (("Retry-After", "600"),)) if len(sent) == 8 else None

    server.refuse = refuse
    said = mistake(*command(server, tmp_path / "run", SITE))
    assert "the service asks to wait 600 s" in said
    assert "(7 pages have been fetched and are kept)" in said
    result = run(*command(server, tmp_path / "run", SITE))
    assert result.exit_code == 0
    assert query(tmp_path / "run", "SELECT count(*) FROM pages") == [(30,)]
    assert len(server.parts()) == len(set(server.parts()))


def test_pages_that_were_denied_are_mined_by_the_same_command(
    tmp_path: Path, files, server, monkeypatch
):
    monkeypatch.setattr("diptych.engine.patience.REFUSED_TRIES", 1)
    monkeypatch.setattr("diptych.sources.crawl_records.GAP", 0)
    denied = {each.offset for each in files.records[:4]}
    server.refuse = lambda asked: Refusal(403) if asked.start in denied else None
    first = run(*command(server, tmp_path / "run", SITE))
    assert first.exit_code == 0, first.output
    assert "to ask again for what was denied, run the same command again" in first.stderr
    (pages,) = query(tmp_path / "run", "SELECT count(*) FROM pages")[0]
    assert pages == 26
    denied.clear()
    again = run(*command(server, tmp_path / "run", SITE))
    assert "to ask again" not in again.stderr
    assert placeless(tmp_path / "run") == of_archives(files, tmp_path)


def test_other_terms_do_not_delete_what_was_fetched(tmp_path: Path, server, monkeypatch):
    monkeypatch.setattr("diptych.sources.crawl_records.GAP", 0)
    monkeypatch.setattr("diptych.engine.patience.TRIES", 1)
    left = [True] * 12
    server.refuse = lambda asked: None if left and left.pop() else Refusal(500)
    mistake(*command(server, tmp_path / "run", SITE))
    said = mistake(*command(server, tmp_path / "run", SITE, "--scope", "host"))
    assert "holds a run that has scope=site; you requested scope=host" in said


# -- kills -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_run_that_is_killed_goes_on(tmp_path: Path):
    files = CrawlFiles(tmp_path / "cc", block_lines=5, archives=15, with_table=False)
    files.write(site_pages())
    with serve_ranges(files.root) as server:
        kill_and_finish(server, tmp_path / "run")
        records = server.parts(ARCHIVES)
    assert len(records) == len(set(records)), "no record is fetched twice"
    assert placeless(tmp_path / "run") == of_archives(files, tmp_path)


def kill_and_finish(server: RangeServer, out: Path) -> None:
    """Run the command, kill it three times while it waits for an answer, and let it finish."""
    chance = random.Random(4)
    for _ in range(3):
        process = start(*command(server, out, SITE, "--jobs", 1))
        number, before = chance.randrange(3, 8), len(server.log)
        server.refuse = lambda asked, process=process, last=before + number: kill(
            process, len(server.log) >= last
        )
        process.communicate(timeout=120)
        assert process.returncode == -signal.SIGKILL
    server.refuse = lambda asked: None
    process = start(*command(server, out, SITE, "--jobs", 1))
    process.communicate(timeout=120)
    assert process.returncode == 0


def kill(process: subprocess.Popen[str], is_due: bool) -> Refusal | None:
    """Kill the process instead of answering it, if it is time."""
    if not is_due or process.poll() is not None:
        return None
    os.killpg(process.pid, signal.SIGKILL)
    return Refusal()


# -- S3 --------------------------------------------------------------------------------------------

MOTO = """
import sys
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print("http://127.0.0.1:%d" % server.get_host_and_port()[1], flush=True)
sys.stdin.read()
"""


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of an S3 server, which is in the environment as users of S3 set it."""
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", MOTO],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        try:
            yield url
        finally:
            process.kill()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_crawl_in_s3_gives_the_same_corpus(tmp_path: Path, files: CrawlFiles, bucket: str):
    import boto3

    client = boto3.client("s3", endpoint_url=bucket)
    client.create_bucket(Bucket="commoncrawl")
    for path in files.root.rglob("*"):
        if path.is_file():
            client.upload_file(str(path), "commoncrawl", str(path.relative_to(files.root)))
    result = run(*command("s3://commoncrawl/", tmp_path / "run", SITE))
    assert result.exit_code == 0, result.output
    assert placeless(tmp_path / "run") == of_archives(files, tmp_path)
    said = mistake(*command("s3://elsewhere/", tmp_path / "other", SITE))
    assert "there is no crawl CC-MAIN-2026-40 at s3://elsewhere/" in said

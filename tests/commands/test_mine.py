"""`diptych mine` from a site to a corpus, and the commands that describe a run."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path
from pkgutil import resolve_name

import pytest
from support import zoo
from support.commands import Signal, placeless, rows, run, start
from support.filenames import file_name
from support.serving import MISSING, Fault, Reply, Request, reserved, secure_server, serve, url_of
from support.waiting import until

import diptych
from diptych.demo import GOLD
from diptych.reports.progress import Monitor
from diptych.steps.write_corpus import PAIRS_HEADER

SLOW = pytest.mark.slow
LANGS = ("--langs", "en,fr")
QUICK = (*LANGS, "--delay", 0, "--allow-private")
PROMISED = {"downloads", "pages", "pairs", "segments", "downloads_per_pair", "seconds"}


def gold(address: str) -> set[tuple[str, str]]:
    base = address.rstrip("/")
    return {(base + pair["left_path"], base + pair["right_path"]) for pair in rows(GOLD)}


def found(folder: Path) -> set[tuple[str, str]]:
    return {(pair["left_url"], pair["right_url"]) for pair in rows(folder / "pairs.tsv")}


@pytest.fixture(scope="session")
def home(recorded) -> str:
    """The first page of the recorded site."""
    return rows(recorded / "pairs.tsv")[0]["left_url"]


# -- what is found ---------------------------------------------------------------------------------


def test_demo_finds_exactly_the_true_pairs(recorded, home):
    assert found(recorded) == gold(home)


def test_tables_have_the_columns_that_scripts_depend_on(recorded):
    pairs = (recorded / "pairs.tsv").read_text("utf-8").splitlines()
    assert pairs[0] + "\n" == PAIRS_HEADER
    assert pairs[0].split("\t") == [
        "left_url", "right_url", "left_lang", "right_lang", "score", "evidence"
    ]  # fmt: skip
    corpus = (recorded / "corpus.tsv").read_text("utf-8").splitlines()
    columns = corpus[0].split("\t")
    assert columns[:5] == ["left", "right", "score", "left_url", "right_url"]
    assert {len(line.split("\t")) for line in corpus} == {len(columns)}
    assert {len(line.split("\t")) for line in pairs} == {6}


def test_values_of_the_tables_make_sense(recorded):
    known = found(recorded)
    for pair in rows(recorded / "pairs.tsv"):
        assert (pair["left_lang"], pair["right_lang"]) == ("en", "fr")
        assert 0 <= float(pair["score"]) <= 1
        assert pair["evidence"]
    segments = rows(recorded / "corpus.tsv")
    assert len(segments) > 100
    for segment in segments:
        assert (segment["left_url"], segment["right_url"]) in known
        assert segment["left"].strip()
        assert segment["right"].strip()
        assert 0 <= float(segment["score"]) <= 1
    texts = [(segment["left"], segment["right"]) for segment in segments]
    assert len(texts) == len(set(texts))


def test_run_folder_has_all_documented_files(recorded):
    names = {file.name for file in recorded.iterdir()}
    assert names >= {
        "run.toml", "run.sqlite", "warc", "corpus.tsv", "corpus.tmx", "pairs.tsv", "report.html"
    }  # fmt: skip
    assert not [name for name in names if name.endswith(".part")]
    report = (recorded / "report.html").read_text("utf-8")
    assert "<script src" not in report
    assert "http://127.0.0.1" in report


def test_demo_command_finds_the_true_pairs_and_prints_json(tmp_path):
    result = run("demo", "--out", tmp_path / "demo", "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert set(told) >= PROMISED
    assert (told["pairs"], told["out"]) == (len(rows(GOLD)), str(tmp_path / "demo"))
    assert "serving the demo site at http://127.0.0.1:" in result.stderr
    address = rows(tmp_path / "demo" / "pairs.tsv")[0]["left_url"]
    assert found(tmp_path / "demo") == gold(address)


def test_finished_run_makes_no_requests(recorded, home, tmp_path):
    folder = shutil.copytree(recorded, tmp_path / "run")
    before = (folder / "corpus.tsv").read_bytes()
    told = run("mine", home, *QUICK, "--out", folder, "--json")
    assert told.exit_code == 0, told.output
    assert (folder / "corpus.tsv").read_bytes() == before
    again, known = json.loads(told.stdout), json.loads(run("status", recorded, "--json").stdout)
    assert {name: again[name] for name in known} == known


# -- what is said ----------------------------------------------------------------------------------


def test_standard_output_has_only_json(tmp_path):
    with serve(zoo.header_hreflang()) as server:
        result = run("mine", server.url, *QUICK, "--out", tmp_path, "--json")
    assert result.exit_code == 0
    assert result.stderr == ""
    told = json.loads(result.stdout)
    assert set(told) >= PROMISED
    assert told["pairs"] == 1
    assert told["downloads_per_pair"] == told["downloads"] == len(server.log)
    assert told["seconds"] > 0


def test_summary_goes_to_standard_error(recorded, home, tmp_path):
    folder = shutil.copytree(recorded, tmp_path / "run")
    result = run("mine", home, *QUICK, "--out", folder)
    assert result.exit_code == 0
    assert result.stdout == ""
    for name in ("corpus.tsv", "corpus.tmx", "pairs.tsv", "report.html"):
        assert name in result.stderr


def test_status_prints_the_same_as_mine(tmp_path):
    with serve({"/": Reply(zoo.page("A"))}) as server:
        mined = run("mine", server.url, *QUICK, "--out", tmp_path, "--quiet")
    assert run("status", tmp_path).stdout == mined.stderr


def test_status_of_a_run(recorded):
    told = run("status", recorded)
    assert told.exit_code == 0
    assert "page pairs verified" in told.stdout
    assert told.stderr == ""
    counted = json.loads(run("status", recorded, "--json").stdout)
    assert counted["pairs"] == len(rows(GOLD))
    assert counted["segments"] == len(rows(recorded / "corpus.tsv"))


@pytest.mark.parametrize("name", ["run 1", "run#1", "run?mode=rw", "100%25", "läufe"])
def test_run_may_have_any_name(recorded, tmp_path, name):
    folder = shutil.copytree(recorded, tmp_path / file_name(name))
    told = run("status", folder, "--json")
    assert told.exit_code == 0, told.output
    assert json.loads(told.stdout)["pairs"] == len(rows(GOLD))


def test_explain_of_rejected_pairs_a_page_and_a_pair(recorded, home):
    assert run("explain", recorded).exit_code == 0
    one = run("explain", recorded, home)
    assert one.exit_code == 0
    for word in (
        home,
        "fetched",
        "language   en",
        "pair",
        "HTTP 200",
        "warc/diptych-00001.warc.gz",
    ):
        assert word in one.stdout
    two = run("explain", recorded, home, home + "fr/")
    assert f"{home} ~ {home}fr/" in two.stdout
    assert "verified" in two.stdout
    swapped = run("explain", recorded, home + "fr/", home)
    assert f"{home} ~ {home}fr/" in swapped.stdout
    strangers = run("explain", recorded, home, home + "fr/tides.html")
    assert "not a pair" in strangers.stdout


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("private/drafts.html", "robots.txt"),
        ("files/", "has no record of"),
        ("en/lamp-oil.html", "404"),
    ],
)
def test_explain_says_why_a_page_is_missing(recorded, home, path, said):
    assert said in run("explain", recorded, home + path).output


def test_export_writes_the_corpus_again(recorded, tmp_path):
    tsv, tmx = tmp_path / "a.tsv", tmp_path / "a.tmx"
    assert run("export", recorded, "--format", "tsv", "--out", tsv).exit_code == 0
    assert tsv.read_bytes() == (recorded / "corpus.tsv").read_bytes()
    told = run("export", recorded, "--format", "tmx", "--out", tmx)
    assert told.exit_code == 0
    assert str(tmx) in told.stdout
    units = ElementTree.parse(tmx).getroot().findall("body/tu")
    assert len(units) == len(rows(tsv))


def test_strategies_lists_recipes_and_stages():
    told = run("strategies")
    assert told.exit_code == 0
    for word in (
        "links",
        "[default]",
        "wmt16",
        "bfs+langs",
        "langstrip",
        "--align-dom",
        "gale_church",
    ):
        assert word in told.stdout


def test_strategy_and_stage_can_be_chosen(tmp_path):
    with serve(zoo.header_hreflang()) as server:
        result = run(
            "mine", server.url, *QUICK, "--out", tmp_path,
            "--strategy", "wmt16", "--crawl", "bfs+langs", "--json",
        )  # fmt: skip
    assert json.loads(result.stdout)["pages"] == 2
    text = (tmp_path / "run.toml").read_text("utf-8")
    assert "crawl:bfs+langs|pair:langstrip|" in text


def test_version_and_help():
    assert run("--version").output.split() == ["diptych,", "version", diptych.__version__]
    told = run("--help").output
    for command in ("mine", "export", "status", "explain", "strategies", "demo"):
        assert command in told
    for option in ("--langs", "--out", "--warc", "--delay", "--proxy", "--allow-private", "--json"):
        assert option in run("mine", "--help").output


def test_help_does_not_wait_for_heavy_imports():
    code = (
        "import sys\n"
        "from diptych.commands import main\n"
        "for arguments in (['--help'], ['mine', '--help'], ['--version']):\n"
        "    main.main(arguments, standalone_mode=False)\n"
        "print('loaded:', *sys.modules)\n"
    )
    package = str(Path(diptych.__file__).parent.parent)
    told = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": package},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    loaded = set(told.stdout.rpartition("loaded:")[2].split())
    heavy = {"aiohttp", "numpy", "rich", "selectolax", "fastwarc", "jinja2", "langcodes", "sqlite3"}
    assert not heavy & loaded


# -- the summary -----------------------------------------------------------------------------------


def test_every_download_of_the_demo_is_explained_and_the_numbers_add_up(recorded):
    told = json.loads(run("status", recorded, "--json").stdout)
    kinds = told["downloads_by_kind"]
    assert sum(kinds.values()) == told["downloads"]
    assert kinds == {"page": told["pages"], "http_404": 1, "robots.txt": 1, "sitemap": 1}
    said = " ".join(run("status", recorded).stdout.split())
    assert (
        f"{told['downloads']} downloads {told['pages']} pages, 1 not found (404), 1 robots.txt,"
        f" 1 sitemap {told['pages']} pages fetched skipped: "
    ) in said
    assert said.count("not found (404)") == 1


def test_command_that_the_summary_prints_exports_with_another_threshold(recorded, tmp_path):
    folder = shutil.copytree(recorded, tmp_path / "my run")
    *_, line = run("status", folder).stdout.splitlines()
    assert line.startswith("segments with a score of at least 0.6 are kept; ")
    program, *arguments = shlex.split(line.partition("to change the threshold, run: ")[2])
    assert (program, arguments[:2]) == ("diptych", ["export", str(folder)])
    assert run(*arguments).exit_code == 0
    kept, more = (rows(folder / name) for name in ("corpus.tsv", "corpus-selected.tsv"))
    assert len(more) > len(kept)
    assert 0.4 <= min(float(row["score"]) for row in more) < 0.6


# -- why nothing is found --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("site", "said"),
    [
        (zoo.with_robots(zoo.robots_txt("User-agent: *", "Disallow: /")), "disallows all pages"),
        (zoo.with_robots(MISSING), "no page is in fr (3 in en)"),
        ({"/": zoo.redirect(301, "http://elsewhere.example/")}, "http://elsewhere.example/"),
    ],
)
def test_site_without_results_is_explained(tmp_path, site, said):
    with serve(site) as server:
        command = ["mine", server.url, *QUICK, "--out", tmp_path, "--quiet"]
        result, again = run(*command), run(*command, "--json")
    assert result.exit_code == again.exit_code == 1
    assert result.stdout == ""
    text = " ".join(result.stderr.split())
    assert "nothing found: " in text
    assert said in text
    told = json.loads(again.stdout)
    assert set(told) >= PROMISED
    assert (told["pairs"], told["segments"], told["downloads_per_pair"]) == (0, 0, None)


def test_unknown_host_is_reported(tmp_path):
    with reserved() as place:
        host = url_of(place).split("/")[2]
        result = run("mine", url_of(place), *QUICK, "--out", tmp_path)
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-2:] == [
        f"nothing found: {host} refused the connection",
        "check the address and the port, or try again later",
    ]


def test_unknown_host_is_reported_once_without_library_messages(tmp_path):
    result = run("mine", "http://no-such-host.invalid/", *LANGS, "--quiet", "--out", tmp_path)
    assert result.exit_code == 1
    assert result.stderr.splitlines() == [
        "nothing found: unknown host: no-such-host.invalid",
        "check the address and your network connection",
    ]


def test_bad_certificate_is_reported(tmp_path):
    with secure_server() as url:
        result = run("mine", url, *QUICK, "--quiet", "--out", tmp_path)
    assert result.exit_code == 1
    cause, advice = result.stderr.splitlines()
    assert cause == f"nothing found: {url.split('/')[2]} has a bad certificate"
    assert advice.startswith("check the address in a browser")


def test_start_page_that_is_a_pdf_is_reported(tmp_path):
    pdf = Reply(b"%PDF-1.7", type="application/pdf")
    with serve({"/a.pdf": pdf, "/b": pdf}) as server:
        for name in ("a.pdf", "b"):
            result = run("mine", server.url + name, *QUICK, "--quiet", "--out", tmp_path / name)
            assert result.exit_code == 1
            assert "nothing found: the start page is a PDF, not HTML\n" in result.stderr


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_private_address_is_refused_with_a_hint(tmp_path, host):
    with serve(zoo.header_hreflang()) as server:
        result = run("mine", f"http://{host}:{server.port}/", *LANGS, "--out", tmp_path)
        assert server.log == []
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-2:] == [
        f"nothing found: {host}:{server.port} has a private address",
        "to mine it, run the same command with --allow-private",
    ]
    assert result.stderr.count("--") == 1


def test_same_command_crawls_a_host_that_is_available_again(tmp_path):
    with reserved() as place:
        command = ["mine", url_of(place), *QUICK, "--out", tmp_path]
        assert run(*command).exit_code == 1
        with serve(zoo.header_hreflang(), place=place):
            assert run(*command).exit_code == 0


# -- Ctrl-C ----------------------------------------------------------------------------------------


def interrupted(server, folder, requests):
    """Press Ctrl-C after a number of requests; all processes of a terminal receive the signal."""
    server.before = Signal(signal.SIGINT, requests)
    process = start("mine", server.url, *LANGS, "--allow-private", "--out", folder, "--delay", 0)
    server.before.follow(process)
    stdout, stderr = process.communicate()
    assert stdout == ""
    assert "Traceback" not in stderr
    said = " ".join(stderr.split())
    assert "Stopping: finishing with the pages fetched so far." in said
    assert "run the same command again to continue" in said
    assert len(server.log) < 40, "the crawl was to be left in the middle"
    return process.returncode


def test_interrupted_run_keeps_its_pages_and_continues(tmp_path):
    with serve(zoo.demo_site) as server:
        assert interrupted(server, tmp_path, requests=25) == 0
        assert found(tmp_path) < gold(server.url)
        assert len(rows(tmp_path / "corpus.tsv")) > 10
        result = run("mine", server.url, *QUICK, "--out", tmp_path, "--json", "--share", "100")
        whole = Counter(server.paths)
    assert result.exit_code == 0
    assert json.loads(result.stdout)["queued"] == 0
    assert found(tmp_path) == gold(server.url)
    assert whole.total() <= len(whole) + 1, "at most what was in flight is asked for again"


def test_second_interrupt_ends_a_run_and_loses_nothing(tmp_path, monkeypatch):
    here, usual, calls = threading.get_ident(), Monitor.interrupt, []

    def counted(progress: Monitor) -> None:
        calls.append(progress.stage)
        usual(progress)

    def twice(request: Request) -> None:
        if len(server.log) == 20:
            signal.pthread_kill(here, signal.SIGINT)
            until(lambda: calls)
            signal.pthread_kill(here, signal.SIGINT)

    monkeypatch.setattr(Monitor, "interrupt", counted)
    with serve(zoo.demo_site) as server:
        server.before = twice
        ended = run("mine", server.url, *QUICK, "--out", tmp_path, "--quiet")
        assert (ended.exit_code, len(calls)) == (130, 2)
        assert ended.stderr == (
            "Stopped immediately. Saved results are kept; run the same command again to continue.\n"
        )
        assert run("mine", server.url, *QUICK, "--out", tmp_path, "--quiet").exit_code == 0
    assert found(tmp_path) == gold(server.url)


def test_run_interrupted_immediately_ends_cleanly(tmp_path):
    with serve(zoo.demo_site) as server:
        assert interrupted(server, tmp_path, requests=1) == 1
    assert (tmp_path / "corpus.tsv").exists()
    assert (tmp_path / "pairs.tsv").exists()


@pytest.mark.parametrize(
    ("where", "stage"),
    [
        pytest.param("diptych.steps.tasks.PairTask.run", "pairing", marks=SLOW),
        pytest.param("diptych.steps.tasks.LexiconTask.run", "learning words", marks=SLOW),
        ("diptych.steps.align_pairs.AlignRowsTask.run", "aligning"),
        pytest.param("diptych.steps.score_segments.repeats", "scoring", marks=SLOW),
        pytest.param("diptych.steps.write_corpus.write_together", "writing", marks=SLOW),
    ],
)
def test_every_stage_can_be_stopped_and_continued(tmp_path, recorded, where, stage, monkeypatch):
    given = "mine", "--warc", recorded / "warc", "--langs", "en,fr", "--quiet"
    assert run(*given, "--out", tmp_path / "whole").exit_code == 0
    module, _, name = where.rpartition(".")
    owner = resolve_name(module)
    usual = getattr(owner, name)

    def interrupted(*values, **more):
        if usual in pressed:
            pressed.remove(usual)
            signal.raise_signal(signal.SIGINT)
        return usual(*values, **more)

    pressed = [usual]
    monkeypatch.setattr(owner, name, interrupted)
    stopped = run(*given, "--out", tmp_path / "run")
    assert stopped.exit_code == 130
    assert stopped.stderr == (
        f"Stopped while {stage}. Saved results are kept; run the same command again to continue.\n"
    )
    assert run(*given, "--out", tmp_path / "run").exit_code == 0
    assert placeless(tmp_path / "run") == placeless(tmp_path / "whole")


def test_download_of_an_archive_is_stopped_by_one_interrupt(tmp_path):
    here = threading.get_ident()
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 90000000\r\n\r\n"
    with serve({"/a.warc.gz": Fault(head + bytes(100_000), "stall")}) as server:
        server.before = lambda _: signal.pthread_kill(here, signal.SIGINT)
        archive = f"{server.url}a.warc.gz"
        stopped = run("mine", "--warc", archive, *QUICK, "--out", tmp_path / "run", "--quiet")
    assert stopped.exit_code == 130
    assert stopped.stderr.startswith("Stopped while downloading.")
    assert not list(tmp_path.rglob("*.part"))


def test_missing_kernels_are_a_warning_and_a_note(tmp_path, monkeypatch):
    monkeypatch.setattr("diptych.kernels.native", lambda: None)
    with serve({"/": Reply(zoo.page("A"))}) as server:
        result = run("mine", server.url, *QUICK, "--out", tmp_path, "--json")
    assert result.stderr.count("warning: the compiled kernels are missing") == 1
    assert [note for note in json.loads(result.stdout)["notes"] if "kernels" in note]


def test_compiled_kernels_give_no_note(tmp_path):
    assert "kernels" not in run("strategies").stderr

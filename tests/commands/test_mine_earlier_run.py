"""A run of an earlier Diptych version is opened, exported and continued with equal results.

`tests/support/earlier_run/make.py` says what the runs are and how they were made.
"""

from __future__ import annotations

import json
import re
import shutil
import tarfile
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.commands import query, run
from support.earlier_run import make
from support.earlier_run.make import CORPUS, EXPORTS, HOME, QUESTIONS, command, contents, digest
from support.serving import MISSING, Reply, Server, serve
from warcio.archiveiterator import ArchiveIterator

FOLDER = Path(make.__file__).parent
EXPECTED = json.loads((FOLDER / "expected.json").read_text("utf-8"))
OTHER = b"other"
"""placeholder for values that differ at each download of a page"""
TSV_PLACES = ("left_fetched", "left_offset", "right_fetched", "right_offset")

Open = Callable[[str], Path]


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the runs, which tests must not modify."""
    folder = tmp_path_factory.mktemp("earlier")
    with tarfile.open(FOLDER / "runs.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.fixture
def opened(earlier: Path, tmp_path: Path) -> Open:
    """A function that copies a run, so that a test may modify it."""
    return lambda name: Path(shutil.copytree(earlier / name, tmp_path / name))


@pytest.fixture
def proxy(earlier: Path) -> Iterator[Server]:
    """The responses of the site, from the archive of the finished run."""
    answers = {}
    for path in (earlier / "finished" / "warc").iterdir():
        with path.open("rb") as stream:
            for record in ArchiveIterator(stream):
                if record.rec_type == "response":
                    head = record.http_headers
                    answers[record.rec_headers["WARC-Target-URI"]] = Reply(
                        record.content_stream().read(),
                        int(head.get_statuscode()),
                        type=head["Content-Type"],
                    )
    with serve(lambda request: answers.get(request.path, MISSING)) as server:
        yield server


def said(*arguments: object) -> str:
    """The output of a command that succeeds."""
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def go_on(folder: Path, proxy: Server) -> list[str]:
    """Repeat the command of a run; returns the pages that it requested."""
    said(*command(folder, proxy.url), "--share", "100")
    return [path for path in proxy.paths if path != HOME + "robots.txt"]  # which grows too old


def known(folder: Path) -> set[str]:
    """The pages of a run."""
    return {
        url for (url,) in query(folder, "SELECT url FROM urls WHERE key IN (SELECT url FROM pages)")
    }


DATES = re.compile(
    rb"""(?x)\tfirst_seen\tlast_seen(?=\n) | \t[\d:TZ-]{20}\t[\d:TZ-]{20}(?=\n)  # TSV
    | [ ]*<prop[ ]type="(?:first|last)_seen">[^<]*</prop>\n                    # TMX
    | ,[ ]?"first_seen":[ ]?"[^"]*",[ ]?"last_seen":[ ]?"[^"]*"                # JSON
    | ,[ ]\["first_seen",[ ]"[^"]*"\],[ ]\["last_seen",[ ]"[^"]*"\]"""  # columns of Parquet
)
"""dates of segments, which earlier versions did not have"""


def as_then(data: bytes, folder: Path) -> bytes:
    """A corpus without dates, with the signature of the Diptych version that made its run."""
    data = DATES.sub(b"", data)
    then = tomllib.loads((folder / "run.toml").read_text("utf-8"))["versions"]["diptych"]
    now = said("--version").split()[-1]
    for form in ("|v:{}", 'creationtoolversion="{}"'):
        data = data.replace(form.format(now).encode(), form.format(then).encode())
    return data


def compare(data: bytes, expected: bytes) -> None:
    """Compare line by line, so that differences are readable."""
    assert data.decode().split("\n") == expected.decode().split("\n")


SITE_NAME = (" – Two Shores", " – Deux rives")
SCORES = ("verified", "alignment")
FEW = 8  # segments near the threshold, of 430


def segments_of(corpus: bytes) -> dict[tuple[str, ...], dict[str, str]]:
    """The lines of a TSV corpus by their texts."""
    head, *lines = (line.split("\t") for line in corpus.decode().split("\n")[:-1])
    found = [dict(zip(head, line, strict=True)) for line in lines]
    return {(line["left"], line["right"]): line for line in found}


def compare_but_titles(data: bytes, expected: bytes) -> None:
    """Check for equal lines, except for titles, language menus, scores and what they decide.

    Page reading has changed since then: the name of the site is cut off.  Names of different
    languages are no longer kept, and scores have another scale.
    """
    now, then = segments_of(data), segments_of(expected)
    assert len(now.keys() - then.keys()) <= FEW
    titles = {texts for texts in then.keys() - now.keys() if texts[0].endswith(SITE_NAME)}
    assert titles
    assert all(texts[1].endswith(SITE_NAME) for texts in titles)
    assert len(then.keys() - now.keys() - titles) <= FEW
    for texts in now.keys() & then.keys():
        line, before = now[texts], then[texts]
        if line["copies"] == before["copies"] == "1":  # else another copy may be the first
            for name in line.keys() - {"score"}:
                if name in SCORES:
                    assert float(line[name]) == pytest.approx(float(before[name]), abs=0.01), texts
                else:
                    assert line[name] == before[name], texts


def placed(corpus: Path, pages: set[str]) -> bytes:
    """A corpus with placeholders for times and archive positions, except those of some pages."""
    head, *lines = (line.split(b"\t") for line in corpus.read_bytes().split(b"\n"))
    columns = {name.decode(): place for place, name in enumerate(head)}
    for line in lines[:-1]:
        for name in columns.keys() & set(TSV_PLACES):
            url = line[columns[name.partition("_")[0] + "_url"]]
            line[columns[name]] = line[columns[name]] if url.decode() in pages else OTHER
    return b"\n".join(b"\t".join(line) for line in [head, *lines])


# -- a run that has come to its end ----------------------------------------------------------------


# Rows of many languages were written for two, and there were none.
@pytest.mark.parametrize("name", ["unfinished", "unaligned", "finished"])
def test_terms_of_an_earlier_run(earlier: Path, name: str) -> None:
    assert "\tgardiens\ten\tfr\t" in said("terms", earlier / name)


@pytest.mark.parametrize("words", [words for words in EXPORTS if "--n-way" not in words])
def test_export_is_the_same(earlier, tmp_path, words):
    # Documents are read from the archives again, so they change with the reading of pages.
    name, *options = words.split()
    finished = earlier / "finished"
    said("export", finished, "--out", tmp_path / name, *options)
    files = {file.name: as_then(contents(file), finished) for file in tmp_path.iterdir()}
    if words in CORPUS:
        compare(files[name], (finished / name).read_bytes())
    assert {name: digest(data) for name, data in files.items()} == EXPECTED["exports"][words]


def test_status_is_the_same(earlier):
    told = json.loads(said("status", earlier / "finished", "--json"))
    assert told.pop("ends") == {}  # it was not stored then
    assert told.pop("update") is None
    assert told == EXPECTED["status"]


@pytest.mark.parametrize("urls", QUESTIONS)
def test_explanation_is_the_same(earlier, urls):
    told = said("explain", earlier / "finished", *urls.split())
    assert told.splitlines() == EXPECTED["explain"][urls].splitlines()


def test_finished_run_is_aligned_again(opened, earlier, proxy):
    finished = opened("finished")
    assert go_on(finished, proxy) == []
    pairs = (folder / "pairs.tsv" for folder in (finished, earlier / "finished"))
    compare(*(file.read_bytes() for file in pairs))
    now = as_then((finished / "corpus.tsv").read_bytes(), finished)
    compare_but_titles(now, (earlier / "finished" / "corpus.tsv").read_bytes())
    lowest = min(float(line["score"]) for line in segments_of(now).values())
    assert 0.6 <= lowest < 0.95
    again = (finished / "corpus.tsv").read_bytes()
    assert go_on(finished, proxy) == []
    assert (finished / "corpus.tsv").read_bytes() == again


# -- runs that were cut off ------------------------------------------------------------------------


def test_unfinished_run_is_continued(opened, earlier, proxy):
    unfinished = opened("unfinished")
    before = known(unfinished)
    asked = go_on(unfinished, proxy)
    assert before.isdisjoint(asked)
    assert len(asked) == len(set(asked))
    assert known(unfinished) == known(earlier / "finished") > before
    now = as_then(placed(unfinished / "corpus.tsv", before), unfinished)
    compare_but_titles(now, placed(earlier / "resumed" / "corpus.tsv", before))


def test_run_interrupted_while_aligning_continues(opened, earlier, proxy):
    unaligned = opened("unaligned")
    assert go_on(unaligned, proxy) == []
    now = as_then((unaligned / "corpus.tsv").read_bytes(), unaligned)
    compare_but_titles(now, (earlier / "finished" / "corpus.tsv").read_bytes())

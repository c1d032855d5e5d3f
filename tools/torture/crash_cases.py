"""The commands that are crashed, on small sites on loopback, and what each must leave behind."""

from __future__ import annotations

import csv
import os
import shutil
import signal
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diptych.demo import SITE
from diptych.engine.file_server import serve
from diptych.run.store import Store

_PLACES = ("warc", "offset", "fetched")
_CHANGING = {
    *(f"{side}_{name}" for side in ("left", "right") for name in _PLACES),
    "first_seen", "last_seen",
}  # fmt: skip
"""columns of a corpus that depend on when a page was downloaded, and where its record is"""
_NAMED = ("--langs", "en,fr", "--delay", "0", "--allow-private", "--quiet")
_ENGLISH = (
    "The town museum is open every day of the week, and the children of the village visit it gladly"
    " with their teachers. In summer there are concerts in the garden behind the house."
)
_FRENCH = (
    "Le musée de la ville est ouvert tous les jours de la semaine, et les enfants du village le"
    " visitent volontiers avec leurs maîtres. En été, il y a des concerts dans le jardin."
)


NAMES = (
    "crawl", "crawl of an archive", "sketch", "pair", "learn", "align", "score", "write",
    "export to jsonl", "export to parquet", "merge", "discover",
)  # fmt: skip
"""the names of all cases"""


@dataclass(frozen=True)
class Case:
    """A command to crash in one of its stages."""

    name: str
    command: Sequence[str]
    stage: str
    """the stage as a `Watcher` knows it; empty if the whole command is meant"""
    begun: Path | None
    """the folder in which the command begins; None if it begins with nothing"""
    outcome: Callable[[Path], Any]
    """what the command leaves in its folder, in a form that does not depend on crashes"""
    run: str = "run"
    """name of the run in the folder, which must be intact; empty if there is none"""


def mined(folder: Path) -> dict[str, Any]:
    """The corpus, the page pairs and the pages of a run."""
    run = folder / "run"
    with (run / "corpus.tsv").open(encoding="utf-8", newline="") as stream:
        corpus = [
            {name: value for name, value in row.items() if name not in _CHANGING}
            for row in csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        ]
    with Store(run, write=False) as store:
        pages = store.db.execute(
            "SELECT urls.url, digest FROM pages JOIN urls ON urls.key = pages.url ORDER BY 1"
        ).fetchall()
    pairs = (run / "pairs.tsv").read_text("utf-8").splitlines()
    return {"corpus": corpus, "page pairs": pairs, "pages": pages, "files": _names(run)}


def searched(folder: Path) -> dict[str, Any]:
    """The verdicts of a search for sites."""
    with Store(folder / "run", write=False) as store:
        verdicts = store.db.execute(
            "SELECT url, accept, round(score, 4), reason, pages FROM verdicts ORDER BY url"
        ).fetchall()
    listed = sorted((folder / "run" / "sites.tsv").read_text("utf-8").splitlines())
    return {"verdicts": verdicts, "sites": [line.split("\t")[0] for line in listed]}


def written(folder: Path) -> dict[str, Any]:
    """The files that an export has written."""
    return {path.name: path.read_bytes() for path in sorted((folder / "out").iterdir())}


def _names(run: Path) -> list[str]:
    """The files of a run, without those of SQLite, and archives that it has set aside.

    An archive is set aside if the end of the log that lists it was lost.
    """
    names = (str(path.relative_to(run)) for path in run.rglob("*") if path.is_file())
    return sorted(
        name for name in names if not name.startswith("run.sqlite-") and "unknown" not in name
    )


# -- sites -----------------------------------------------------------------------------------------


@contextmanager
def served(folder: Path, numbers: int) -> Iterator[list[str]]:
    """Serve the demo site and small sites on loopback, by another process; yields their URLs.

    The last URL is that of a page that links to the small sites.
    """
    ports = _free_ports(numbers + 2)
    urls = [f"http://127.0.0.1:{port}/" for port in ports]
    folders = [SITE, *(_small_site(folder / str(n), n) for n in range(numbers))]
    links = "".join(f'<p><a href="{url}">museum {n}</a></p>' for n, url in enumerate(urls[1:-1]))
    folders.append(_site(folder / "hub", {"index.html": ("en", f"<p>{_ENGLISH}</p>{links}")}))
    process = os.fork()
    if not process:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 2)  # the server complains when a client is killed
        with ExitStack() as stack:
            for each, port in zip(folders, ports, strict=True):
                stack.enter_context(serve(each, port))
            signal.pause()
        os._exit(0)
    try:
        for port in ports:
            _wait_for(port)
        yield urls
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        places = [stack.enter_context(socket.socket()) for _ in range(count)]
        for place in places:
            place.bind(("127.0.0.1", 0))
        return [place.getsockname()[1] for place in places]


def _wait_for(port: int) -> None:
    for _ in range(1000):
        with socket.socket() as place:
            if place.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.01)
    raise SystemExit("the server of the sites has not started")


def _small_site(folder: Path, number: int) -> Path:
    """A bilingual site; each third one has two English pages instead."""
    lang, name, text = ("en", "Hours", _ENGLISH) if number % 3 == 2 else ("fr", "Français", _FRENCH)
    pages = {
        "index.html": ("en", f'<p>{_ENGLISH}</p><a href="/fr/index.html">{name}</a>'),
        "fr/index.html": (lang, f'<p>{text}</p><a href="/index.html">English</a>'),
    }
    return _site(folder, pages)


def _site(folder: Path, pages: dict[str, tuple[str, str]]) -> Path:
    for name, (lang, body) in pages.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'<html lang="{lang}"><body>{body}</body></html>', "utf-8")
    return folder


# -- cases -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Begun:
    """Folders in which commands begin: a run that has been crawled only, and finished runs."""

    crawled: Path
    finished: Path
    archive: Path
    """the WARC file of a finished run"""


def cases(folder: Path, urls: Sequence[str], begun: Begun) -> list[Case]:
    """All cases; each command works in `folder`."""
    run = str(folder / "run")
    live = ("mine", urls[0], "--out", run, "--patience", "0", *_NAMED)
    archive = ("mine", "--warc", str(begun.archive), "--langs", "en,fr", "--out", run, "--quiet")
    steps = ("mine", urls[0], "--out", run, "--crawl", "bfs", *_NAMED)
    discover = ("discover", urls[-1], "--policy", "fc", "--out", run, *_NAMED)
    names = (
        ("sketch", "reading"), ("pair", "pairing"), ("learn", "learning words"),
        ("align", "aligning"), ("score", "scoring"), ("write", "writing"),
    )  # fmt: skip
    return [
        Case("crawl", live, "crawling", None, mined),
        Case("crawl of an archive", archive, "crawling", None, mined),
        *(Case(name, steps, stage, begun.crawled, mined) for name, stage in names),
        *(_export(folder, begun.finished, name) for name in ("jsonl", "parquet")),
        Case(
            "merge",
            ("merge", run, f"{folder}/other", "--out", f"{folder}/out/merged.tsv"),
            "", begun.finished, written, "",
        ),
        Case("discover", discover, "searching", None, searched),
    ]  # fmt: skip


def _export(folder: Path, begun: Path, format: str) -> Case:
    command = ("export", f"{folder}/run", "--out", f"{folder}/out/corpus.{format}")
    return Case(f"export to {format}", command, "", begun, written, "")


def make_begun(folder: Path, work: Path, urls: Sequence[str], run: Callable[..., None]) -> Begun:
    """Make the folders in which commands begin; `run` runs a command in `work`, up to a stage."""
    begun = Begun(folder / "crawled", folder / "finished", folder / "archive.warc.gz")
    command = next(each for each in cases(work, urls, begun) if each.name == "sketch").command
    run(command, "reading")
    shutil.copytree(work, begun.crawled)
    run(command, "")
    shutil.copy(next((work / "run" / "warc").iterdir()), begun.archive)
    shutil.copytree(work, begun.finished)
    shutil.copytree(work / "run", begun.finished / "other")
    (begun.finished / "out").mkdir()
    return begun

"""Makes the runs that `test_mine_earlier_run.py` opens, and says what they were exported to.

    PYTHONPATH=CHECKOUT/src:tests python -m support.earlier_run.make FOLDER

mines the demo site of CHECKOUT with the Diptych of CHECKOUT and writes `runs.tar.xz` and
`expected.json` into FOLDER.  Those beside this file were made by commit a17b355.

A proxy answers for a host that does not exist, so that a run holds no port and no path of the
machine.  One run is mined in two goes, of which the first ends at a limit of pages:

- `unfinished` is a copy of it from the second go, while a page was being fetched;
- `unaligned` is a copy from when some of its pairs were aligned and others were not;
- `finished` is the run at its end;
- `resumed` is what the same command made of `unfinished`.

The copies are what a kill would have left.
"""

from __future__ import annotations

import gzip
import json
import mimetypes
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event

import zstandard
from pyarrow import parquet

from support.serving import MISSING, Answer, Reply, Request, Server, serve

HOME = "http://lighthouse.example/"
FIRST_PAGES = 9  # of the first go
HELD = 12  # the request of the second go that is not answered until the run has been copied
TIMEOUT = 120.0  # seconds
ALIGNED = "SELECT count(*) FROM pairs WHERE aligned"
RUNS = ("unfinished", "unaligned", "finished", "resumed")
CORPUS = ("corpus.tsv", "corpus.tmx", "pairs.tsv")
"""what `mine` writes and a test compares"""
EXPORTS = (
    "corpus.tsv",
    "corpus.tmx",
    "corpus.jsonl",
    "corpus.docs.jsonl",
    "corpus.standoff.jsonl",
    "corpus.parquet",
    "corpus --format moses",
    "corpus.tsv.gz",
    "corpus.jsonl.zst",
    "corpus.gz --format moses",
    "corpus.tsv --redact",
    "corpus.tmx --redact",
    "corpus.docs.jsonl --redact",
    "corpus.tsv --min-score 0",
    "corpus.jsonl --min-score 0.99",
    "corpus.tsv --without noai",
    "corpus.jsonl --without email",
    "corpus.tsv --n-way",
    "corpus.jsonl --n-way",
    "corpus.tmx --n-way",
    "corpus.parquet --n-way",
)
"""a name of a file and options of `export`"""
QUESTIONS = (
    "",
    f"{HOME}en/tides.html",
    f"{HOME}private/drafts.html",
    f"{HOME}en/tides.html {HOME}fr/tides.html",
    f"{HOME}en/fish-pie.html {HOME}fr/recette-cotriade.html",
    f"{HOME}en/tides.html {HOME}fr/storms.html",
)
"""URLs for `explain`"""
ADDED = {
    "en/tides.html": (
        "</main>",
        "<p>Write to keeper@lighthouse.example or call +33 2 98 22 10 00 before you sail."
        "</p></main>",
    ),
    "fr/tides.html": (
        "</main>",
        "<p>Écrivez à keeper@lighthouse.example ou appelez le +33 2 98 22 10 00 avant de partir."
        "</p></main>",
    ),
    "en/storms.html": ("</head>", '<meta name="robots" content="noai"></head>'),
}
"""what the pages of the demo lack: personal data, and a wish of the owner's"""


def command(folder: Path, proxy: str) -> list[str]:
    """The command of the run, which goes on with it; it has all the patience there is.

    Else what is left for want of it would depend on when answers came.
    """
    return [
        "mine", HOME, "--langs", "en,fr", "--out", str(folder), "--delay", "0", "--patience", "0",
        "--proxy", proxy, "--quiet",
    ]  # fmt: skip


def contents(path: Path) -> bytes:
    """What a file of an export holds, however some library has packed it."""
    if path.suffix == ".gz":
        return gzip.decompress(path.read_bytes())
    if path.suffix == ".zst":
        with zstandard.open(path, "rb") as stream:
            return stream.read()
    if path.suffix == ".parquet":
        table = parquet.read_table(path)
        kinds = [(field.name, str(field.type)) for field in table.schema]
        return json.dumps([kinds, table.to_pylist()], default=str).encode()
    return path.read_bytes()


def digest(data: bytes) -> str:
    """The digest of a file."""
    return sha256(data).hexdigest()


# -- the site --------------------------------------------------------------------------------------


class Site:
    """The demo site behind a proxy, which can be made to hold an answer back."""

    def __init__(self) -> None:
        found = find_spec("diptych")
        assert found is not None
        assert found.origin is not None
        (robots,) = Path(found.origin).parent.rglob("site/robots.txt")
        self.folder = robots.parent
        self.wait_at = 0
        """the request that is held back, counted from now"""
        self.is_waiting, self.go_on = Event(), Event()

    def __call__(self, request: Request) -> Answer:
        if self.wait_at:
            self.wait_at -= 1
            if not self.wait_at:
                self.is_waiting.set()
                self.go_on.wait(TIMEOUT)
        return self._answer(request.path)

    def _answer(self, url: str) -> Answer:
        path = url.removeprefix(HOME).partition("?")[0]
        file = self.folder / path
        if not path or path.endswith("/"):
            file /= "index.html"
        if not url.startswith(HOME) or ".." in path or not file.is_file():
            return MISSING
        kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        data = file.read_bytes().replace(b"{{ORIGIN}}", HOME.rstrip("/").encode())
        before, after = ADDED.get(path, ("", ""))
        assert before.encode() in data, path
        return Reply(data.replace(before.encode(), after.encode()) if before else data, type=kind)


# -- the runs --------------------------------------------------------------------------------------


def diptych(*arguments: str) -> str:
    """What a command says."""
    done = subprocess.run(
        [sys.executable, "-m", "diptych", *arguments], stdout=subprocess.PIPE, check=True
    )
    return done.stdout.decode()


@contextmanager
def started(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A command that is under way, and has come to its end afterwards."""
    process = subprocess.Popen([sys.executable, "-m", "diptych", *arguments])
    try:
        yield process
        assert process.wait(TIMEOUT) == 0
    finally:
        process.kill()


def count(folder: Path, query: str) -> int:
    """A number out of a run that may be under way."""
    with closing(sqlite3.connect(folder / "run.sqlite", timeout=TIMEOUT)) as db:
        found: int = db.execute(query).fetchone()[0]
    return found


def wait_until(is_so: Callable[[], bool]) -> None:
    """Until something has come about."""
    deadline = time.monotonic() + TIMEOUT
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def copy(process: subprocess.Popen[bytes], run: Path, target: Path) -> None:
    """The run as a kill would leave it now; it goes on."""
    os.kill(process.pid, signal.SIGSTOP)
    shutil.copytree(run, target)
    os.kill(process.pid, signal.SIGCONT)
    tidy(target)


def tidy(folder: Path) -> None:
    """Have all of a run in its database, and nothing that only a process needs."""
    with closing(sqlite3.connect(folder / "run.sqlite")) as db:
        assert db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
    (folder / "run.lock").unlink(missing_ok=True)
    (folder / "report.html").unlink(missing_ok=True)
    assert not [*folder.glob("run.sqlite-*"), *folder.glob("*.part")]


def make_runs(folder: Path, site: Site, server: Server) -> None:
    """All four of them."""
    run = folder / "finished"
    again = command(run, server.url)
    diptych(*again, "--max-pages", str(FIRST_PAGES))
    before = count(run, ALIGNED)
    site.wait_at = HELD
    with started(*again) as process:
        assert site.is_waiting.wait(TIMEOUT)
        wait_until(lambda: count(run, "SELECT count(*) FROM urls WHERE state = 1") == 1)
        copy(process, run, folder / "unfinished")
        site.go_on.set()
        wait_until(lambda: count(run, ALIGNED) > before)  # all are aligned anew
        copy(process, run, folder / "unaligned")
    tidy(run)
    assert count(folder / "unaligned", ALIGNED) < count(run, ALIGNED), "the copy came too late"
    resumed = gone_on(folder / "unfinished", server)
    (folder / "resumed").mkdir()
    for name in CORPUS:
        shutil.copy(resumed / name, folder / "resumed" / name)
    aligned = gone_on(folder / "unaligned", server)
    assert all((aligned / name).read_bytes() == (run / name).read_bytes() for name in CORPUS)


def gone_on(run: Path, server: Server) -> Path:
    """A copy of a run that the same command went on with."""
    folder = run.with_name(f"{run.name}-again")
    shutil.copytree(run, folder)
    diptych(*command(folder, server.url))
    return folder


# -- the files -------------------------------------------------------------------------------------


def exported(run: Path, folder: Path) -> dict[str, dict[str, str]]:
    """The digests of what each export writes, by the name of the file."""
    found = {}
    for number, words in enumerate(EXPORTS):
        name, *options = words.split()
        out = folder / str(number)
        out.mkdir()
        diptych("export", str(run), "--out", str(out / name), *options)
        found[words] = {file.name: digest(contents(file)) for file in sorted(out.iterdir())}
    return found


def pack(folder: Path, target: Path) -> None:
    """The runs as one file, which says nothing of who packed them."""

    def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid = member.gid = member.mtime = 0
        member.uname = member.gname = ""
        member.mode = 0o755 if member.isdir() else 0o644
        return member

    with tarfile.open(target, "w:xz", preset=9) as archive:
        for name in RUNS:
            archive.add(folder / name, name, filter=plain)


def main(target: Path) -> None:
    """Make everything."""
    target.mkdir(parents=True, exist_ok=True)
    site = Site()
    with TemporaryDirectory() as name, serve(site) as server:
        folder = Path(name)
        make_runs(folder, site, server)
        pack(folder, target / "runs.tar.xz")
        run = folder / "finished"
        (folder / "exports").mkdir()
        expected = {
            "exports": exported(run, folder / "exports"),
            "status": json.loads(diptych("status", str(run), "--json")),
            "explain": {urls: diptych("explain", str(run), *urls.split()) for urls in QUESTIONS},
        }
    text = json.dumps(expected, ensure_ascii=False, indent=1) + "\n"
    (target / "expected.json").write_text(text, "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""The commands whose disk fails, on a part of the demo site, and what each must leave behind."""

from __future__ import annotations

import csv
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from traceback import format_exception
from typing import Any, NamedTuple

from click.testing import CliRunner

from diptych.api.web import Environment
from diptych.commands import main as command_line
from diptych.demo import SITE

_NAMES = ("fog-signals", "fresnel", "museums")
_PATHS = ("", "fr/", *(f"{lang}/{name}.html" for name in _NAMES for lang in ("en", "fr")))
_LINK = re.compile(r'<a [^>]*href="([^"]*)"')
_PART = ".part"
"""a partial file, which a later process removes if it could not be removed at once"""
_CHANGING = re.compile(r"(left|right)_(warc|offset|fetched)|(first|last)_seen")
"""columns of a corpus that depend on when a page was downloaded, and where its record is"""


class Ended(NamedTuple):
    """How a command has ended."""

    code: int | None
    """the exit code; None if an exception has escaped"""
    said: str
    """standard error, or the exception"""

    @property
    def is_clear(self) -> bool:
        """True if it succeeded, or ended with one line and the exit code for such faults."""
        is_one_line = self.said.startswith("error: ") and self.said.count("\n") == 1
        return self.code == 0 or (self.code == 3 and is_one_line)


@dataclass(frozen=True)
class Case:
    """A command to be run in a folder."""

    name: str
    arguments: Callable[[Path], Sequence[object]]
    """the command, by the folder in which it runs"""
    outcome: Callable[[Path], Any]
    """what it leaves behind, in a form that does not depend on interruptions"""
    begun: Path | None = None
    """a folder with a finished run, of which the command gets a copy"""

    def prepare(self, folder: Path) -> Path:
        """Make the folder in which the command begins."""
        shutil.rmtree(folder, ignore_errors=True)
        if self.begun is None:
            folder.mkdir()
        else:
            shutil.copytree(self.begun, folder)
        return folder

    def run(self, folder: Path) -> Ended:
        """Run the command in this process."""
        return ended(*self.arguments(folder))


def ended(*arguments: object) -> Ended:
    """Run a command in this process."""
    given = [str(argument) for argument in arguments]
    result = CliRunner().invoke(command_line, given, obj=Environment(workers=0))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        return Ended(None, "".join(format_exception(result.exception)))
    return Ended(result.exit_code, result.stderr)


def write_site(folder: Path) -> Path:
    """Write some page pairs of the demo site, without links to its other pages."""
    for path in _PATHS:
        name = f"{path}index.html" if path.endswith("/") or not path else path
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        html = (SITE / name).read_text("utf-8", "surrogateescape")
        kept = _LINK.sub(lambda link: link[0] if link[1].lstrip("/") in _PATHS else "<a", html)
        (folder / name).write_text(kept, "utf-8", "surrogateescape")
    return folder


def mined(folder: Path) -> dict[str, Any]:
    """The corpus and the page pairs of the run in a folder, and the names of its files."""
    run = folder / "run"
    with (run / "corpus.tsv").open(encoding="utf-8", newline="") as stream:
        rows = [
            {name: value for name, value in row.items() if not _CHANGING.fullmatch(name)}
            for row in csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        ]
    names = {str(path.relative_to(run)) for path in run.rglob("*") if path.is_file()}
    pairs = (run / "pairs.tsv").read_text("utf-8")
    kept = sorted(n for n in names if not n.startswith("run.sqlite-") and not n.endswith(_PART))
    return {"corpus": rows, "pairs": pairs, "files": kept}


def written(folder: Path) -> dict[str, bytes]:
    """The files that a command has written."""
    out = folder / "out"
    names = {str(path.relative_to(out)): path for path in sorted(out.rglob("*.*"))}
    return {n: path.read_bytes() for n, path in names.items() if _PART not in n}


def cases(url: str, finished: Path) -> list[Case]:
    """All cases; `finished` is a folder with a finished run, `run`, and a folder `out`."""
    asked = ("--langs", "en,fr", "--quiet")
    web = ("--delay", 0, "--allow-private")
    archives = finished / "run" / "warc"

    def export(format: str, *more: object) -> Case:
        name = f"export --format {format}"
        out = "corpus" if more else f"corpus.{format}"
        return Case(
            name,
            lambda folder: (
                "export", folder / "run", "--format", format.partition(".")[0],
                "--out", folder / "out" / out, *more,
            ),
            written, finished,
        )  # fmt: skip

    return [
        Case(
            "mine a site",
            lambda folder: ("mine", url, "--out", folder / "run", "--patience", 0, *asked, *web),
            mined,
        ),
        Case(
            "mine archives",
            lambda folder: ("mine", "--warc", archives, "--out", folder / "run", *asked),
            mined,
        ),
        Case("update", lambda folder: ("update", folder / "run", "--quiet", *web), mined, finished),
        export("tmx"),
        export("jsonl.gz"),
        export("parquet"),
        export("tsv", "--max-lines", 20),
        Case(
            "merge",
            lambda folder: ("merge", folder / "run", "--out", folder / "out" / "merged.tsv"),
            written, finished,
        ),
        Case(
            "terms",
            lambda folder: ("terms", folder / "run", "--out", folder / "out" / "terms.tsv"),
            written, finished,
        ),
    ]  # fmt: skip

"""Control characters of arguments, paths and files do not reach the terminal."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console
from support.commands import run
from support.corpora import Said, made_run

from diptych.commands import _url_lines
from diptych.commands._corpus import names_of, say_written
from diptych.commands.options import say_damage
from diptych.errors import option_name
from diptych.reports.funnel import print_funnel
from diptych.reports.summary import summarise
from diptych.run.store import Store

RED, TURNED = "\x1b[31m", "\u202e"
EVIL = f"{RED}{TURNED}\x9b2J"


def is_plain(text: str) -> bool:
    return not set(text) & set(EVIL) - set("[31m2J")


@pytest.mark.parametrize(
    "arguments",
    [
        ("mine", f"--x{EVIL}"), ("mine", "--delay", EVIL), (EVIL,), (f"--x{EVIL}",),
        ("train", f"--x{EVIL}"), ("mine", "--quiet=" + EVIL), ("strategies", EVIL),
    ],
)  # fmt: skip
def test_errors_of_usage_are_plain(arguments: tuple[str, ...]) -> None:
    said = run(*arguments)
    assert said.exit_code == 2
    assert "Error: " in said.stderr
    assert is_plain(said.output)


def test_messages_about_damaged_archives_are_plain(capsys: pytest.CaptureFixture[str]) -> None:
    say_damage([f"{EVIL}.warc is damaged; see {option_name('out')}"])
    said = capsys.readouterr().err
    assert said.startswith("error: [31m 2J.warc is damaged; see --out; all intact")
    assert is_plain(said)


def test_paths_of_written_files_are_plain(capsys: pytest.CaptureFixture[str]) -> None:
    say_written("5 segments", [Path(f"a{EVIL}.tsv")])
    assert capsys.readouterr().out == "5 segments -> a [31m 2J.tsv\n"
    assert names_of([Path("-")]) == "-"


def test_paths_in_the_report_of_a_run_are_plain(tmp_path: Path) -> None:
    folder = tmp_path / f"run{EVIL}"
    with made_run(folder, {("/en/1", "/fr/1"): [Said("a", "b")]}):
        pass
    (folder / "report.html").touch()
    with Store(folder, write=False) as store:
        summary = summarise(store, ("en", "fr"))
    shown = io.StringIO()
    print_funnel(Console(file=shown, markup=False), summary, folder, [])
    assert "report.html" in shown.getvalue()
    assert is_plain(shown.getvalue())


class Screen(io.BytesIO):
    def isatty(self) -> bool:
        return True


def test_lines_of_a_file_are_plain_on_a_terminal_only() -> None:
    rows = [f"http://a.org/{EVIL}\tund\t0.0000", "b\t\tfr"]
    screen, file = Screen(), io.BytesIO()
    _url_lines.write(screen, rows)
    _url_lines.write(file, rows)
    assert screen.getvalue() == b"http://a.org/ [31m 2J\tund\t0.0000\nb\t\tfr\n"
    assert file.getvalue().decode() == "".join(f"{row}\n" for row in rows)

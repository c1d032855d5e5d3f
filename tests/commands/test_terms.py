"""`diptych terms` on the command line."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from support.commands import mistake, run
from support.corpora import Maker, Said
from support.term_texts import told


@pytest.fixture
def folder(made: Maker) -> Path:
    """A run in English and French; it has no lexicon."""
    return made({("/en/1", "/fr/1"): told()}).folder


def test_table_goes_to_standard_output(folder: Path) -> None:
    result = run("terms", folder)
    assert result.exit_code == 0
    header, *lines = result.stdout.splitlines()
    assert header.startswith("left\tright\tleft_lang\tright_lang\tcount\tconfidence\tkind\t")
    assert ["fog signal", "signal de brume", "en", "fr", "8"] in [
        line.split("\t")[:5] for line in lines
    ]
    assert result.stderr == f"{len(lines)} terms, 0 of them labels -> standard output\n"
    assert run("terms", folder, "--out", "-").stdout == result.stdout


def test_suffix_decides_the_format(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "terms.tbx"
    result = run("terms", folder, "--out", path, "--max-terms", 2)
    assert (result.exit_code, result.stdout) == (0, f"2 terms, 0 of them labels -> {path}\n")
    assert ElementTree.parse(path).getroot().get("type") == "TBX-Basic"
    standard = run("terms", folder, "--format", "tbx", "--max-terms", 2).stdout
    assert standard == path.read_text("utf-8")


def test_nothing_found_is_said(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "terms.tsv"
    result = run("terms", folder, "--min-count", 1000, "--out", path)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.splitlines()[-1] == (
        f"no terms in {folder}: no term has the same translation in 1,000 segments;"
        " try a lower --min-count"
    )
    assert not path.exists()


def test_duplicates_of_an_unfinished_run_are_copies(made: Maker) -> None:
    folder = made({("/en/1", "/fr/1"): told() * 2}).folder
    result = run("terms", folder)
    assert "fog signal\tsignal de brume\ten\tfr\t16\t" in result.stdout
    assert f"note: {folder} is not finished; its scores are provisional\n" in result.stderr


def test_run_without_segments_has_no_terms(made: Maker) -> None:
    folder = made({("/en/1", "/fr/1"): []}).folder
    assert run("terms", folder, "--min-count", 1).exit_code == 1


def test_languages_are_selected(made: Maker) -> None:
    label = [Said("Contact us", "Kontakt", 0.99)]
    pairs = {("/en/1", "/fr/1"): told(), ("/en/1", "/de/1"): label}
    folder = made(pairs, langs=("en", "fr", "de")).folder
    found = run("terms", folder, "--min-count", 1).stdout
    assert "\ten\tde\t" in found
    assert "\ten\tfr\t" in found
    assert "\ten\tfr\t" not in run("terms", folder, "--min-count", 1, "--langs", "de,en").stdout


def test_names_are_included_on_request(made: Maker) -> None:
    rock = [Said("Bell Rock", "Bell Rock", 0.99)]
    folder = made({("/en/1", "/fr/1"): [*told(), *rock]}).folder
    assert "Bell Rock" not in run("terms", folder, "--min-count", 1).stdout
    assert "Bell Rock\tBell Rock" in run("terms", folder, "--min-count", 1, "--names").stdout


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--langs", "en,de"], "--langs: {} has no de; it has en, fr"),
        (["--langs", "en"], "--langs requires two different languages"),
        (["--out", "terms.xlsx"], "set --format to one of: tsv, tbx"),
        (["--out", "terms"], "set --format to one of: tsv, tbx"),
        (["--out", "terms.tbx", "--format", "tsv"], "terms.tbx has the suffix of tbx, not of tsv"),
        (["--out", "terms.tsv.bz2"], "can be compressed as .gz or .zst, not as .bz2"),
    ],
)
def test_mistakes(folder: Path, options: list[str], said: str) -> None:
    assert said.format(folder) in mistake("terms", folder, *options)


def test_missing_run_comes_first(tmp_path: Path) -> None:
    assert "there is no folder" in mistake("terms", tmp_path / "none", "--out", "terms.xlsx")

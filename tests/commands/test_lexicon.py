"""`diptych lexicon` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.commands import mistake, run

from diptych.learn.lexicon.lexicon import read_lexicon

TEXT = "Haus\tmaison\nHaus\tchambre\nBerg\tmontagne\nHeim\tmaison\n"


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "words.tsv"
    path.write_text(TEXT, "utf-8")
    return path


def imported(table: Path) -> Path:
    assert run("lexicon", "import", table, "--langs", "de,fr").exit_code == 0
    return table.with_name("de-fr.lexicon.npz")


def test_import(table: Path) -> None:
    result = run("lexicon", "import", table, "--langs", "de,fra")
    assert (result.exit_code, result.stderr) == (0, "")
    first, *examples = result.stdout.splitlines()
    assert first == "4 links between 3 de and 3 fr words -> de-fr.lexicon.npz"
    assert "  haus: chambre, maison" in examples
    lexicon = read_lexicon(table.with_name("de-fr.lexicon.npz"))
    assert (lexicon.left_lang, lexicon.right_lang, len(lexicon)) == ("de", "fr", 4)


def test_import_of_several_files_in_both_directions(table: Path, tmp_path: Path) -> None:
    other = tmp_path / "fra-deu.tsv"
    other.write_text("vin\tWein\n", "utf-8")
    out = tmp_path / "mine.npz"
    assert run("lexicon", "import", table, other, "--langs", "de,fr", "--out", out).exit_code == 0
    assert read_lexicon(out).best("wein") == [("vin", 1.0)]
    result = run(
        "lexicon", "import", table, "--langs", "fr,de", "--reverse", "--out", out, "--format", "tsv"
    )
    assert result.exit_code == 0
    assert read_lexicon(out).best("montagne") == [("berg", 1.0)]


def test_import_of_nothing(table: Path) -> None:
    table.write_text("no words here\n", "utf-8")
    result = run("lexicon", "import", table, "--langs", "de,fr")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"no translations in {table}; try another --format\n"
    assert not table.with_name("de-fr.lexicon.npz").exists()


def test_show_words_of_either_language(table: Path) -> None:
    file = imported(table)
    result = run("lexicon", "show", file, "Haus", "maison")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "haus\tchambre\t0.5000\t1.0000",
        "haus\tmaison\t0.5000\t0.5000",
        "haus\tmaison\t0.5000\t0.5000",
        "heim\tmaison\t1.0000\t0.5000",
    ]


def test_show_all_words(table: Path) -> None:
    file = imported(table)
    lines = run("lexicon", "show", file).stdout.splitlines()
    assert [line.split("\t")[0] for line in lines] == ["berg", "haus", "haus", "heim"]
    assert len(run("lexicon", "show", file, "--limit", "1").stdout.splitlines()) == 3


def test_show_as_json(table: Path) -> None:
    (line,) = run("lexicon", "show", imported(table), "Berg", "--json").stdout.splitlines()
    assert json.loads(line) == {
        "left": "berg", "right": "montagne", "forward": 1.0, "backward": 1.0,
    }  # fmt: skip


def test_show_an_unknown_word(table: Path) -> None:
    file = imported(table)
    result = run("lexicon", "show", file, "Hund", "!")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"no translation of Hund, ! in {file}\n"


def test_mistakes_are_one_line(table: Path, tmp_path: Path) -> None:
    langs = ("--langs", "de,fr")
    assert "No such file" in mistake("lexicon", "import", tmp_path / "no.tsv", *langs)
    assert "--format" in mistake("lexicon", "import", tmp_path / "no", *langs)
    assert "two languages" in mistake("lexicon", "import", table, "--langs", "de,fr,en")
    assert "two different languages" in mistake("lexicon", "import", table, "--langs", "de")
    assert "unknown language" in mistake("lexicon", "import", table, "--langs", "de,zzzz")
    out = tmp_path / "no" / "folder.npz"
    assert "cannot write" in mistake("lexicon", "import", table, *langs, "--out", out)
    assert "not a Diptych lexicon" in mistake("lexicon", "show", table)
    assert "No such file" in mistake("lexicon", "show", tmp_path / "no.npz")
    assert "holds no run" in mistake("lexicon", "show", tmp_path)
    wrong = tmp_path / "freedict-deu-fra.index"
    wrong.write_text("", "utf-8")
    line = mistake("lexicon", "import", wrong, "--langs", "en,ru")
    assert "is for deu,fra, not en,ru" in line

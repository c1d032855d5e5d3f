from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st
from support.stores import add_page

from diptych import recipes
from diptych._version import VERSION
from diptych.errors import StoreError
from diptych.registry import signature
from diptych.run.store import SCHEMA_VERSION, Store
from diptych.run.terms import Terms, default_folder, open_run, opened_run, read_terms
from diptych.types import Url

RECIPE = recipes.load(recipes.DEFAULT, {})
HOME = Url("http://example.org/")
TERMS = Terms(("en", "fr"), ("http://example.org/", "http://example.fr/"), "site", RECIPE)


def begin(folder: Path, terms: Terms = TERMS) -> None:
    open_run(folder, terms, agent="a").close()


def test_run_toml_describes_the_run(tmp_path: Path) -> None:
    begin(tmp_path / "run")
    written = tomllib.loads((tmp_path / "run" / "run.toml").read_text("utf-8"))
    assert written["signature"] == signature(RECIPE, ["en", "fr"])
    assert written["schema"] == SCHEMA_VERSION
    assert written["langs"] == ["en", "fr"]
    assert written["seeds"] == ["http://example.org/", "http://example.fr/"]
    assert written["recipe"] == RECIPE
    assert written["versions"]["diptych"] == VERSION
    assert {"python", "aiohttp", "fastwarc"} < set(written["versions"])


@pytest.mark.parametrize("name", recipes.names())
def test_terms_are_read_as_they_were_written(tmp_path: Path, name: str) -> None:
    terms = replace(
        TERMS,
        recipe=recipes.load(name, {}),
        archives=("/a/été.warc.gz",),
        scope="host",
        lexicons=("en-fr:0a1b",),
    )
    begin(tmp_path, terms)
    assert read_terms(tmp_path) == terms


def test_same_command_resumes_the_same_run(tmp_path: Path) -> None:
    begin(tmp_path)
    before = (tmp_path / "run.toml").read_bytes()
    with open_run(tmp_path, TERMS, agent="another agent") as store:
        store.site_id("example.org")
    with open_run(tmp_path, TERMS, agent="a") as store:
        assert store.count("SELECT count(*) FROM sites") == 1
    assert (tmp_path / "run.toml").read_bytes() == before


BOTH = "http://example.org/, http://example.fr/"


def changed(**stages: dict[str, object]) -> dict[str, object]:
    return {**RECIPE, **stages}


@pytest.mark.parametrize(
    ("other", "named"),
    [
        (
            replace(TERMS, langs=("en", "de")),
            f"mines {BOTH} in en,fr; you requested {BOTH} in en,de",
        ),
        (
            replace(TERMS, langs=("fr", "en")),
            f"mines {BOTH} in en,fr; you requested {BOTH} in fr,en",
        ),
        (
            replace(TERMS, seeds=("http://b.net/",)),
            f"mines {BOTH} in en,fr; you requested http://b.net/ in en,fr",
        ),
        (
            replace(TERMS, seeds=(*TERMS.seeds, "http://c.net/", "http://d.net/")),
            f"mines {BOTH} in en,fr; you requested http://c.net/, http://d.net/,"
            " http://example.org/ and 1 more in en,fr",
        ),
        (replace(TERMS, scope="host"), "has scope=site; you requested scope=host"),
        (
            replace(TERMS, archives=("/x.warc",)),
            "has archives=none; you requested archives=/x.warc",
        ),
        (
            replace(TERMS, lexicons=("en-fr:0a1b",)),
            "has lexicons=none; you requested lexicons=en-fr:0a1b",
        ),
        (
            replace(TERMS, recipe=changed(crawl={"use": "bfs"})),
            "has crawl=hybrid; you requested crawl=bfs",
        ),
    ],
)
def test_other_terms_are_refused_and_the_difference_named(
    tmp_path: Path, other: Terms, named: str
) -> None:
    begin(tmp_path)
    add_page(tmp_path)
    with pytest.raises(StoreError) as caught:
        open_run(tmp_path, other, agent="a")
    said = f"{tmp_path} holds a run that {named}; choose another folder with"
    assert str(caught.value) == f"{said} out"
    assert caught.value.for_command_line() == f"{said} --out"
    begin(tmp_path)  # and the old run is as it was


def test_other_parameter_of_the_same_strategy_is_named_too(tmp_path: Path) -> None:
    begin(tmp_path)
    add_page(tmp_path)
    other = changed(pair={"use": "union", "pairers": [{"use": "links"}]})
    with pytest.raises(StoreError) as caught:
        open_run(tmp_path, replace(TERMS, recipe=other), agent="a")
    was, _, now = str(caught.value).partition("; you requested ")
    assert was.endswith("has pair=union(pairers=links+keys+langstrip)")
    assert now.startswith("pair=union(pairers=links);")


def test_a_run_without_a_page_is_begun_anew_on_other_terms(tmp_path: Path) -> None:
    begin(tmp_path)
    (tmp_path / "corpus.tsv").write_text("of nothing")
    (tmp_path / "notes.txt").write_text("of the user")
    with Store(tmp_path) as store:
        store.site_id("example.org")
    other = replace(TERMS, seeds=("http://b.net/",), langs=("en", "de"))
    with open_run(tmp_path, other, agent="a") as store:
        assert store.sites() == []
    assert read_terms(tmp_path) == other
    assert not (tmp_path / "corpus.tsv").exists()
    assert (tmp_path / "notes.txt").read_text() == "of the user"


def test_a_run_without_a_page_that_is_in_use_is_not_begun_anew(tmp_path: Path) -> None:
    begin(tmp_path)
    with Store(tmp_path), pytest.raises(StoreError, match="in use"):
        begin(tmp_path, replace(TERMS, seeds=("http://b.net/",)))
    assert read_terms(tmp_path) == TERMS


def test_a_run_that_cannot_be_read_is_not_begun_anew(tmp_path: Path) -> None:
    begin(tmp_path)
    for file in tmp_path.glob("run.sqlite*"):
        file.write_bytes(b"this is no database" * 100)
    with pytest.raises(StoreError, match="holds a run that mines"):
        begin(tmp_path, replace(TERMS, seeds=("http://b.net/",)))
    assert read_terms(tmp_path) == TERMS


def test_a_folder_that_was_made_goes_if_nothing_answered(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with opened_run(folder, TERMS, agent="a") as store:
        assert store.folder == folder
        store.save_fetch(1, HOME, 1.0, status=0, size=0, reason="dns", pointer=None)
    assert not folder.exists()
    with pytest.raises(StoreError, match="anything"), opened_run(folder, TERMS, agent="a"):
        raise StoreError("anything")
    assert not folder.exists()


@pytest.mark.parametrize("is_there", [True, False])
def test_a_folder_stays_if_it_was_there_or_something_answered(
    tmp_path: Path, is_there: bool
) -> None:
    folder = tmp_path / "run"
    if is_there:
        folder.mkdir()
    with opened_run(folder, TERMS, agent="a") as store:
        status = 0 if is_there else 404
        store.save_fetch(1, HOME, 1.0, status=status, size=0, reason="x", pointer=None)
    assert read_terms(folder) == TERMS


def test_files_of_the_user_stay_in_a_folder_where_nothing_answered(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with opened_run(folder, TERMS, agent="a"):
        (folder / "notes.txt").write_text("of the user")
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]


def test_folder_with_other_files_is_refused_and_one_of_them_named(tmp_path: Path) -> None:
    (tmp_path / "half.part").write_text("left by a kill")
    (tmp_path / "photo.jpg").write_text("mine")
    with pytest.raises(StoreError, match=r"holds other files \(photo\.jpg\) but no run"):
        begin(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["half.part", "photo.jpg"]


def test_remains_of_a_kill_at_the_start_are_accepted(tmp_path: Path) -> None:
    (tmp_path / "run.toml.part").write_text("langs = [")
    (tmp_path / "run.lock").write_text("")
    begin(tmp_path)
    assert read_terms(tmp_path) == TERMS


def test_run_without_a_database_yet_is_resumed(tmp_path: Path) -> None:
    begin(tmp_path)
    (tmp_path / "run.sqlite").unlink()
    begin(tmp_path)


def test_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "run"):
        with pytest.raises(StoreError, match=r"cannot write .*choose another folder with out"):
            begin(folder)


def test_folders_above_are_made(tmp_path: Path) -> None:
    begin(tmp_path / "a" / "b" / "run")
    assert (tmp_path / "a" / "b" / "run" / "run.toml").exists()


def test_folder_without_a_run_is_an_error_with_advice(tmp_path: Path) -> None:
    with pytest.raises(
        StoreError, match=r"holds no run \(no run\.toml\); mine a site into it first"
    ):
        read_terms(tmp_path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"langs = [", "is not a readable description of a run: Invalid"),
        (b"\xff\xfe", "it is not UTF-8"),
        (b"langs = ['en', 'fr']", "'seeds' is missing; to mine its archives again"),
        (b"", "'langs' is missing"),
    ],
)
def test_damaged_terms_are_refused(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "run.toml").write_bytes(content)
    with pytest.raises(StoreError, match=said):
        read_terms(tmp_path)


WHOLE = Terms(("en", "fr"), ("http://a.org/",), "site", recipes.load("bfs", {})).to_toml()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"langs": ["en", 5]}, "'langs' is not a list of texts"),
        ({"seeds": "http://a.org/"}, "'seeds' is not a list of texts"),
        ({"taught": [[]]}, "'taught' is not a list of texts"),
        ({"scope": 1}, "its scope or its schema has the wrong type"),
        ({"schema": "11"}, "its scope or its schema has the wrong type"),
        ({"recipe": {"filter": "rules"}}, "a stage of its recipe has no strategy"),
        ({"recipe": {"filter": {"use": 1}}}, "a stage of its recipe has no strategy"),
        ({"recipe": {"crawl": {"use": "bfs"}}}, "its recipe has no filter"),
        ({"recipe": []}, "has no attribute"),
    ],
)
def test_terms_of_another_type_are_refused(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    (tmp_path / "run.toml").write_text(tomli_w.dumps(WHOLE | changes), "utf-8")
    with pytest.raises(StoreError, match="is not a readable description of a run") as caught:
        read_terms(tmp_path)
    assert said in str(caught.value)


def test_run_in_use_is_refused(tmp_path: Path) -> None:
    with open_run(tmp_path, TERMS, agent="a"), pytest.raises(StoreError, match="in use"):
        begin(tmp_path)


def test_agent_is_written_into_the_archives(tmp_path: Path) -> None:
    with open_run(tmp_path, TERMS, agent="DiptychBot/9") as store:
        assert isinstance(store, Store)
        with store.transaction():
            store.archive.append(b"", 0.0)
    data = (tmp_path / "warc" / "diptych-00001.warc.gz").read_bytes()
    import gzip

    assert b"DiptychBot/9" in gzip.decompress(data)


@pytest.mark.parametrize(
    ("seeds", "archives", "langs", "name"),
    [
        (["http://example.org/"], [], ["en", "fr"], "diptych-example.org-en-fr"),
        (["https://www.example.org/en/a"], [], ["en", "fr"], "diptych-example.org-en-fr"),
        (["http://127.0.0.1:8735/"], [], ["en", "fr"], "diptych-127.0.0.1_8735-en-fr"),
        (["http://[::1]:80/"], [], ["en", "fr"], "diptych-___1__80-en-fr"),
        (["http://a.org/", "http://b.org/"], [], ["de", "fr"], "diptych-a.org+1-de-fr"),
        ([], ["/data/crawl.warc.gz"], ["en", "fr", "de"], "diptych-crawl-en-fr-de"),
        ([], ["/data/a b.warc.gz", "/data/c.warc"], ["en", "fr"], "diptych-a_b+1-en-fr"),
        (["http://a.org/"], ["/data/x.warc.gz"], ["en", "fr"], "diptych-a.org-en-fr"),
    ],
)
def test_default_folder_of_a_run(
    seeds: list[str], archives: list[str], langs: list[str], name: str
) -> None:
    assert default_folder(seeds, archives, langs) == Path(name)


@given(st.lists(st.text(min_size=1, max_size=30), min_size=1, max_size=3))
def test_default_folder_is_one_plain_name(names: list[str]) -> None:
    for folder in (
        default_folder(names, [], ["en", "fr"]),
        default_folder([], names, ["en", "fr"]),
    ):
        assert len(folder.parts) == 1
        assert folder.name.startswith("diptych-")
        assert not set(folder.name) & set('/\\:*?"<>|\x00\n ')

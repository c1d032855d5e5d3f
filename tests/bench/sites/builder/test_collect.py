"""Languages, keys and states of a family's pages."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bench.sites.builder.collect import LEAST_SHARE, SHORTEST, VERSION, collect, facts_file
from bench.sites.builder.documents import Facts
from bench.sites.builder.families import Family
from bench.sites.builder.pages import Pages

FAMILY = Family(
    "boats", ("boats-doc",), "usr/share/boats/",
    (r"^(?P<lang>fr|pt_BR)/(?P<key>.*\.html)$", r"^(?P<key>[^/]+\.html)$"), skip="search",
)  # fmt: skip


def facts(path: str, lang: str, length: int = 1000, share: int = 99, **more: object) -> Facts:
    known = Facts(path, length, lang, {lang: share, "la": 100 - share}, [], path, {})
    return known._replace(**more)  # type: ignore[arg-type]


class Collected:
    """Collects pages of which all that is known is made up."""

    def __init__(self, work: Path) -> None:
        self.work = work

    def __call__(self, known: dict[str, Facts], family: Family = FAMILY) -> Pages:
        base = self.work / "raw" / "boats-doc" / family.folder
        for path in known:
            (base / path).parent.mkdir(parents=True, exist_ok=True)
            (base / path).touch()
        file = facts_file(family, self.work)
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps({"version": VERSION, "pages": known}), "utf-8")
        return collect(family, self.work)


@pytest.fixture
def collected(tmp_path: Path) -> Collected:
    return Collected(tmp_path)


def states(pages: Pages) -> dict[str, str]:
    return {path: page.state for path, page in pages.items()}


def test_paths_tell_the_language_and_the_key(collected):
    found = collected({
        "a.html": facts("a.html", "en"), "fr/a.html": facts("fr/a.html", "fr"),
        "pt_BR/x/b.html": facts("pt_BR/x/b.html", "pt"), "search.html": facts("s", "en"),
        "de/a.html": facts("de/a.html", "de"),
    })  # fmt: skip
    assert {path: (page.lang, page.key) for path, page in found.items()} == {
        "a.html": ("en", "a.html"), "fr/a.html": ("fr", "a.html"),
        "pt_BR/x/b.html": ("pt-br", "x/b.html"),
    }  # fmt: skip
    assert set(states(found).values()) == {"ok"}


def test_only_languages_of_the_family_are_taken(collected):
    known = {"a.html": facts("a", "en"), "fr/a.html": facts("b", "fr")}
    assert set(collected(known, replace(FAMILY, langs=frozenset({"fr"})))) == {"fr/a.html"}


def test_second_page_of_a_language_and_key_has_a_key_of_its_own(collected):
    pattern = r"^(?P<key1>\w+)-?\w*/(?P<lang>en|fr)(?P<key2>\.html)$"
    known = {path: facts(path, "en") for path in ("a/en.html", "a-old/en.html")}
    found = collected(known, replace(FAMILY, patterns=(pattern,)))
    assert {path: page.key for path, page in found.items()} == {
        "a/en.html": "a.html", "a-old/en.html": "a.html#dup13",
    }  # fmt: skip


def test_pages_that_are_short_or_in_another_language_are_told(collected):
    found = collected({
        "a.html": facts("a", "en"), "fr/a.html": facts("b", "fr", length=SHORTEST - 1),
        "b.html": facts("c", "en"), "fr/b.html": facts("d", "en"),
        "c.html": facts("e", "en"), "fr/c.html": facts("f", "fr", share=LEAST_SHARE - 1),
        "d.html": facts("g", "en"), "fr/d.html": facts("h", "fr", digest="g"),
        "e.html": facts("i", "en"), "fr/e.html": facts("j", "fr", share=LEAST_SHARE),
    })  # fmt: skip
    assert {path: state for path, state in states(found).items() if state != "ok"} == {
        "fr/a.html": "short", "fr/b.html": "otherlang", "fr/c.html": "otherlang",
        "fr/d.html": "otherlang",
    }  # fmt: skip


def test_page_with_the_numbers_of_another_page_is_suspect(collected):
    known = {}
    for topic in "abcdefgh":
        tokens = {f"{topic}{number}": 1 for number in range(10, 20)}
        own = {f"z{number}": 1 for number in range(10, 20)} if topic == "a" else tokens
        known[f"{topic}.html"] = facts(topic, "en", tokens=tokens)
        known[f"fr/{topic}.html"] = facts(topic * 2, "fr", tokens=own)
    known["z.html"] = facts("z", "en", tokens={f"z{number}": 1 for number in range(10, 20)})
    found = states(collected(known))
    assert [path for path, state in found.items() if state != "ok"] == ["fr/a.html"]
    assert found["fr/a.html"] == "suspect"


def test_page_far_longer_than_usual_in_its_language_is_told(collected):
    known = {}
    for topic in "abcdefg":
        known[f"{topic}.html"] = facts(topic, "en")
        length = {"b": 6_000, "c": 2_400}.get(topic, 2_000)
        known[f"fr/{topic}.html"] = facts(topic * 2, "fr", length=length)
    found = states(collected(known))
    assert {path: state for path, state in found.items() if state != "ok"} == {
        "fr/b.html": "length"
    }


def test_pages_are_keyed_by_the_table_of_contents_where_names_differ(collected):
    known = {
        "index.html": facts("i", "en", links=["one.html", "two.html#x", "two.html"]),
        "one.html": facts("a", "en"), "two.html": facts("b", "en"),
        "fr/index.html": facts("j", "fr", links=["un.html", "deux.html"]),
        "fr/un.html": facts("c", "fr"), "fr/deux.html": facts("d", "fr"),
        "pt_BR/index.html": facts("k", "pt", links=["um.html"]),
        "pt_BR/um.html": facts("e", "pt"),
    }  # fmt: skip
    found = collected(known, replace(FAMILY, by_contents=True))
    keys = {path: page.key for path, page in found.items()}
    assert keys["two.html"] == keys["fr/deux.html"] == "n0001"
    assert keys["one.html"] == keys["fr/un.html"] == "n0000"
    assert keys["fr/index.html"] == "index.html"
    assert keys["pt_BR/um.html"] == "pt-br/pt_BR/um.html"  # another structure: no pair


def test_family_without_pages_ends_with_one_line(collected, capsys):
    with pytest.raises(SystemExit) as ended:
        collected({"search.html": facts("s", "en")})
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from support.examples import examples
from support.exported import DE, EN, FR, LANGS, UNIT, Given, corpora, dirty_texts, written

from diptych.corpus.files import OutFiles
from diptych.stages.export.moses import Moses
from diptych.stages.export.shared.columns import unit_id


def lines(corpus: Given, *, n_way: bool = False) -> dict[str, list[str]]:
    found = {}
    for ending, data in written(Moses(n_way=n_way), corpus).items():
        assert data.endswith(b"\n") or not data
        found[ending] = data.decode().split("\n")[:-1]
    return found


def test_each_two_languages_have_files_that_correspond() -> None:
    both = UNIT._replace(sides=(FR, DE))
    assert lines(Given([UNIT, both, UNIT], ("en", "fr", "de"))) == {
        "en-fr.en": ["A cat", "A cat"],
        "en-fr.fr": ["Un chat", "Un chat"],
        "en-fr.ids": [unit_id(UNIT)] * 2,
        "fr-de.fr": ["Un chat"],
        "fr-de.de": ["Eine Katze"],
        "fr-de.ids": [unit_id(both)],
    }


def test_an_empty_corpus_has_empty_files() -> None:
    assert lines(Given()) == {"en-fr.en": [], "en-fr.fr": [], "en-fr.ids": []}
    assert lines(Given(langs=("en", "fr", "de"))) == {}
    assert lines(Given(), n_way=True) == {"en": [], "fr": [], "ids": []}


def test_of_many_languages_the_files_are_those_of_pairs_that_occur() -> None:
    langs = ["en", "fr", *(f"q{first}{last}" for first in "abcde" for last in "abcdef")]
    assert sorted(lines(Given([UNIT], langs))) == ["en-fr.en", "en-fr.fr", "en-fr.ids"]


@pytest.mark.slow
def test_a_thousand_files_need_no_thousand_handles(tmp_path: Path) -> None:
    langs = [f"q{first}{last}" for first in "abcde" for last in "abcdefg"]
    units = [
        UNIT._replace(sides=(EN._replace(lang=left), FR._replace(lang=right)))
        for left, right in combinations(langs, 2)
    ]
    before = len(list(Path("/proc/self/fd").iterdir()))
    with OutFiles(tmp_path / "a.moses", "moses") as files:
        assert Moses().write(Given([*units, *units], langs), files) == 2 * len(units)
        assert len(list(Path("/proc/self/fd").iterdir())) < before + 10
    assert len(files.targets) == 3 * len(units) > 1_700
    assert {path.read_bytes().count(b"\n") for path in tmp_path.iterdir()} == {2}


def test_units_of_a_run_with_another_order_of_languages_are_turned() -> None:
    turned = UNIT._replace(sides=(FR._replace(text="Deux"), EN._replace(text="Two")))
    found = lines(Given([turned, UNIT, turned]))
    assert found["en-fr.en"] == ["Two", "A cat", "Two"]
    assert found["en-fr.fr"] == ["Deux", "Un chat", "Deux"]
    assert found["en-fr.ids"] == [unit_id(unit) for unit in (turned, UNIT, turned)]


def test_rows_of_many_languages_are_those_that_have_all() -> None:
    whole = UNIT._replace(sides=(EN, FR, DE))
    assert lines(Given([UNIT, whole], ("en", "fr", "de")), n_way=True) == {
        "en": ["A cat"],
        "fr": ["Un chat"],
        "de": ["Eine Katze"],
        "ids": [unit_id(whole)],
    }


@settings(max_examples=examples(40))
@given(corpora())
def test_a_round_trip_loses_no_text(corpus: Given) -> None:
    found = lines(corpus)
    for number, lang in enumerate(corpus.langs):
        assert found[f"en-id.{lang}"] == [unit.sides[number].text for unit in corpus.given]
    assert found["en-id.ids"] == list(map(unit_id, corpus.given))


@settings(max_examples=examples(40))
@given(corpora(langs=LANGS, least=3))
def test_a_round_trip_of_many_languages_loses_no_text(corpus: Given) -> None:
    found = lines(corpus, n_way=True)
    whole = [unit for unit in corpus.given if len(unit.sides) == len(LANGS)]
    for number, lang in enumerate(LANGS):
        assert found[lang] == [unit.sides[number].text for unit in whole]


@settings(max_examples=examples(40))
@given(corpora(dirty_texts))
def test_all_files_have_the_same_number_of_lines(corpus: Given) -> None:
    for data in written(Moses(), corpus).values():
        assert len(data.decode().splitlines()) == data.count(b"\n") == len(corpus.given)

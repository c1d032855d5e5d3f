"""Merging of corpora."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.corpora import Maker, Said, corpus_of, said, side, unit, url

from diptych.corpus.files import OutFiles
from diptych.corpus.from_run import Choice
from diptych.corpus.merge import FileCorpus, merge
from diptych.errors import ConfigError, CorpusError
from diptych.registry import exporter
from diptych.text.near_duplicates import segment_keys
from diptych.units import DocumentPair, Text


class Listed:
    """A corpus in memory."""

    def __init__(self, units):
        self.listed = units

    def keyed(self):
        for each in self.listed:
            left, right = each.sides
            yield segment_keys(left.text, right.text, left.lang, right.lang).same, each

    def documents(self):
        return iter(self.listed)


def pair(left: str, right: str, score: float = 0.5, copies: int = 1):
    return unit(side("en", left), side("fr", right), score=score, copies=copies)


def test_best_of_near_duplicates_stays_and_counts_all() -> None:
    merged = merge(
        [
            Listed([pair("Page 1", "Page 1", 0.5, 2), pair("One", "Un", 0.7)]),
            Listed([pair("page 2.", "Page 2", 0.9, 3), pair("Two", "Deux", 0.7)]),
            Listed([pair("Page 3", "page 3", 0.9)]),
        ]
    )
    found = [(each.sides[0].text, each.copies) for each in merged.units()]
    assert found == [("One", 1), ("page 2.", 6), ("Two", 1)]
    assert (merged.found, merged.langs) == (5, ("en", "fr"))


def test_two_languages_stand_in_the_order_in_which_they_came_first() -> None:
    turned = unit(side("fr", "Un."), side("en", "One"), score=0.9)
    other = unit(side("fr", "Deux"), side("en", "Two"))
    merged = merge([Listed([pair("one", "un", 0.5)]), Listed([turned, other])])
    assert [[side.lang for side in each.sides] for each in merged.units()] == [["en", "fr"]] * 2
    assert said(merged.units()) == [("One", "Un."), ("Two", "Deux")]
    assert [each.copies for each in merged.units()] == [2, 1]


def test_counts_beyond_belief_can_be_added_up() -> None:
    merged = merge([Listed([pair("One", "Un", copies=2**62)])] * 3)
    (found,) = merged.units()
    assert 3 < found.copies < 2**53


def test_same_pages_are_one_document() -> None:
    text = Text("en", url("/en/a"), "", (), 0.0, "sha1:A", "", 0)
    document = DocumentPair(text, text._replace(lang="fr"), 1.0, "keys", (), ())
    other = document._replace(right=text._replace(digest="sha1:B"))
    turned = document._replace(left=document.right, right=document.left)
    units = [pair("One", "Un")]

    class Paged(Listed):
        def documents(self):
            return iter([document, other, turned])

    assert list(merge([Paged(units), Paged(units)]).documents()) == [document, other]


def test_nothing_to_merge() -> None:
    assert list(merge([]).units()) == []
    assert list(merge([Listed([])]).units()) == []


TEXTS = st.sampled_from(["a", "b", "c"])
CORPORA = st.lists(
    st.lists(st.builds(pair, TEXTS, TEXTS, st.sampled_from([0.2, 0.8])), max_size=5), max_size=4
)


@given(CORPORA)
def test_merging_loses_no_text_and_says_none_twice(corpora) -> None:
    merged = merge([Listed(units) for units in corpora])
    every = [unit for units in corpora for unit in units]
    found = said(merged.units())
    assert len(found) == len(set(found))
    assert set(found) == set(said(every))
    assert sum(unit.copies for unit in merged.units()) == len(every)
    best = {texts: max(u.score for u in every if said([u]) == [texts]) for texts in found}
    assert {said([u])[0]: u.score for u in merged.units()} == best
    again = merge([Listed(list(merged.units()))])
    assert list(again.units()) == list(merged.units())


def test_corpus_that_changes_meanwhile_is_not_taken_for_the_same() -> None:
    source = Listed([pair("One", "Un"), pair("Two", "Deux")])
    merged = merge([source])
    source.listed = source.listed[:1]
    with pytest.raises(CorpusError, match="changed"):
        list(merged.units())
    source.listed = [pair("Other", "Autre"), pair("Two", "Deux")]
    with pytest.raises(CorpusError, match="changed"):
        list(merged.units())


def test_runs_and_files_are_merged_alike(made: Maker, tmp_path) -> None:
    one = made({("/en/a", "/fr/a"): [Said("One.", "Un.", 0.6), Said("Two.", "Deux.", 0.7)]})
    other = made({("/en/b", "/fr/b"): [Said("one", "un", 0.8), Said("Three.", "Trois.", 0.3)]})
    path = tmp_path / "other.jsonl.gz"
    with OutFiles(path, "jsonl") as files:
        exporter("jsonl").write(corpus_of(other), files)
    by_file = merge([corpus_of(one), FileCorpus(path, Choice(0.0))])
    by_run = merge([corpus_of(one), corpus_of(other)])
    assert list(by_file.units()) == list(by_run.units())
    assert said(by_run.units()) == [("Two.", "Deux."), ("one", "un"), ("Three.", "Trois.")]
    better = FileCorpus(path, Choice(0.5))
    assert [unit.score for _, unit in better.keyed()] == [0.8]
    with pytest.raises(ConfigError, match="no documents"):
        list(merge([better]).documents())

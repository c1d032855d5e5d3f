"""Candidates for terms: what is counted in each pass over the segments."""

from __future__ import annotations

from support.corpora import side, unit

from diptych.corpus.term_candidates import Extraction, Key, Search, Segment, Spellings, Survey
from diptych.corpus.term_texts import TermText
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.learn.lexicon.phrases import Span
from diptych.types import LangPair

LANGS = LangPair("en", "fr")
SEA = Key(("sea",), ("mer",))


def segment(left: str, right: str, **more: object) -> Segment:
    return Segment.of(unit(side("en", left), side("fr", right), **more))


def test_label_needs_few_words_on_one_side() -> None:
    assert segment("Privacy", "Politique de confidentialité du site").is_label()
    assert not segment("How we use your own data", "Comment nous utilisons vos données").is_label()


def test_names_of_two_languages_are_a_menu() -> None:
    assert not segment("Français", "English").is_label()
    assert segment("French", "Français").is_label()


def test_survey_counts_labels_with_their_copies() -> None:
    survey = Survey(LANGS)
    survey.add(segment("Home", "Accueil", copies=7))
    survey.add(segment("It is late.", "Il est tard."))
    assert survey.labels == {Key(("home",), ("accueil",)): 7}
    assert survey.left.words == {"home": 1, "it": 1, "is": 1, "late": 1}


def extraction() -> Extraction:
    lexicon = Lexicon.of_links(*LANGS, [("sea", "mer", 1), ("blue", "bleue", 1)])
    return Extraction(lexicon, {"sea": -3, "blue": -3, "near": -3}, {"mer": -3, "bleue": -3})


def test_pair_is_counted_once_in_each_segment() -> None:
    found = extraction()
    for _ in range(2):
        found.add(segment("sea, sea, sea", "mer, mer, mer"))
    assert found.candidates(9) == {SEA: 2}
    assert found.whole[SEA] == 2


def test_single_segment_makes_no_candidate() -> None:
    found = extraction()
    found.add(segment("sea", "mer"))
    assert found.candidates(9) == {}


def test_only_the_most_frequent_candidates_are_taken() -> None:
    found = extraction()
    for text in ("sea", "sea", "sea", "blue", "blue"):
        found.add(segment(text, {"sea": "mer", "blue": "bleue"}[text]))
    assert found.candidates(1) == {SEA: 3}


def test_pair_with_a_word_without_a_link_is_not_whole() -> None:
    found = extraction()
    found.add(segment("near sea", "mer"))
    assert found.phrases[Key(("near", "sea"), ("mer",))] == 1
    assert Key(("near", "sea"), ("mer",)) not in found.whole


def test_label_of_known_words_without_links_is_noted() -> None:
    found = extraction()
    found.add(segment("Blue sea", "Mer bleue"))
    assert not found.unlinked
    found.add(segment("Blue", "Mer"))
    found.add(segment("Unheard", "Mer"))
    assert found.unlinked == {Key(("blue",), ("mer",))}


def test_search_finds_all_places() -> None:
    search = Search([SEA], [SEA])
    search.add(segment("Sea", "Mer", copies=4, score=0.5))
    search.add(
        segment("Nobody knows where the sea begins here.", "Où la mer commence-t-elle donc ?")
    )
    search.add(segment("The sea!", "L’océan !"))
    seen = search.sightings[SEA]
    assert (seen.count, seen.score) == (5, 2.0)
    assert (search.left_segments[("sea",)], search.right_segments[("mer",)]) == (3, 2)
    assert seen.example is not None
    assert seen.example.left == "Nobody knows where the sea begins here."
    assert (seen.left.best(), seen.right.best()) == ("sea", "mer")


def test_spelling_in_running_text_outweighs_others() -> None:
    spellings = Spellings()
    for _ in range(9):
        spellings.add(TermText("The Sea", "en"), Span(1, 2))
        spellings.add(TermText("SEA", "en"), Span(0, 1))
        spellings.add(TermText("Sea", "en"), Span(0, 1))
    assert spellings.best() == "Sea"
    spellings.add(TermText("All of them went down to the sea.", "en"), Span(7, 8))
    assert spellings.best() == "sea"


def test_words_beside_a_phrase_are_counted_up_to_punctuation() -> None:
    spellings = Spellings()
    spellings.add(TermText("the blue sea, calm", "en"), Span(2, 3))
    assert (spellings.before, spellings.after) == ({"blue": 1}, {"": 1})

"""Terms of a corpus and their translations."""

from __future__ import annotations

from support.corpora import side, unit
from support.term_texts import units

from diptych.corpus.terms import Term, TermChoice, find_terms
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.units import Unit


def terms(corpus: list[Unit], **choice: object) -> list[Term]:
    return find_terms(lambda: corpus, [], TermChoice(**choice))


def by_left(corpus: list[Unit], **choice: object) -> dict[str, Term]:
    return {term.left: term for term in terms(corpus, **choice)}


def test_words_and_phrases_inside_sentences_are_terms() -> None:
    found = by_left(units())
    assert {left: found[left].right for left in ("fog signal", "harbour", "red lighthouse")} == {
        "fog signal": "signal de brume", "harbour": "port", "red lighthouse": "phare rouge",
    }  # fmt: skip
    assert {found[left].kind for left in ("fog signal", "harbour")} == {"term"}


def test_function_words_are_not_terms() -> None:
    assert not {"the", "a", "of"} & by_left(units()).keys()


def test_term_has_count_example_and_urls() -> None:
    term = by_left(units())["harbour"]
    assert term.count == 5
    assert 0.5 < term.confidence < 1
    assert "harbour" in term.example_left
    assert "port" in term.example_right
    assert (term.left_url, term.right_url) == ("http://example.org/en/1", "http://example.org/fr/1")
    assert (term.left_lang, term.right_lang) == ("en", "fr")


def test_label_is_counted_with_its_copies() -> None:
    term = by_left(units(contact=30))["Contact us"]
    assert (term.right, term.kind, term.count) == ("Nous contacter", "label", 30)
    assert term.confidence <= 0.9, "thirty copies of one segment are one piece of evidence"


def test_term_that_is_seldom_a_label_is_a_term() -> None:
    label = side("en", "Harbour"), side("fr", "Port")
    assert by_left([*units(), unit(*label)])["harbour"].kind == "term"
    assert by_left([*units(), unit(*label, copies=5)])["harbour"].kind == "label"


def test_count_and_number_of_terms_can_be_chosen() -> None:
    corpus = units(contact=30)
    assert min(term.count for term in terms(corpus, min_count=8)) >= 8
    assert terms(corpus, max_terms=3) == terms(corpus)[:3]


def test_names_are_left_out_unless_asked_for() -> None:
    corpus = [*units(), unit(side("en", "Bell Rock"), side("fr", "Bell Rock"), copies=9)]
    assert "Bell Rock" not in by_left(corpus)
    assert by_left(corpus, names=True)["Bell Rock"].right == "Bell Rock"
    assert "village" not in by_left(corpus)


def test_language_menu_is_not_a_label() -> None:
    corpus = [*units(), unit(side("en", "Français"), side("fr", "English"), copies=9)]
    assert "Français" not in by_left(corpus)


def test_contradicted_label_is_less_certain() -> None:
    other = unit(side("en", "Contact us"), side("fr", "Plan du site"), score=0.98, copies=20)
    labels = [term for term in terms([*units(contact=30), other]) if term.left == "Contact us"]
    assert [term.right for term in labels] == ["Nous contacter", "Plan du site"]
    assert max(term.confidence for term in labels) < 0.8


def test_spelling_is_that_of_the_middle_of_sentences() -> None:
    shouted = [
        unit(side("en", "HARBOUR"), side("fr", "PORT"), copies=50),
        unit(side("en", "Harbour"), side("fr", "Port"), copies=50),
    ]
    found = by_left([*units(), *shouted])
    assert found["harbour"].right == "port"
    assert not {"HARBOUR", "Harbour"} & found.keys()
    only = by_left([*units(), unit(side("en", "MENU CARD"), side("fr", "LA CARTE"), copies=2),
                    unit(side("en", "Menu card"), side("fr", "La carte"), copies=2)])  # fmt: skip
    assert only["Menu card"].right == "La carte"


def test_inflected_forms_are_one_term() -> None:
    texts = ([side.text for side in each.sides] for each in units())
    plural = [
        unit(side("en", f"{one[:-1]}s."), side("fr", f"{other[:-1]}s."))
        for one, other in texts
        if "harbour" in one
    ]
    found = by_left([*units(), *plural])
    assert "harbours" not in found
    assert found["harbour"].count == 10


def test_order_and_memory_do_not_matter() -> None:
    corpus = units(contact=3)
    assert terms(corpus[::-1]) == terms(corpus)


def test_each_language_pair_has_its_terms() -> None:
    both = [*units(contact=3), *units(("en", "de"), contact=2)]
    found = terms(both)
    assert {(term.left_lang, term.right_lang) for term in found} == {("en", "fr"), ("en", "de")}
    only = terms(both, langs=frozenset({"en", "de"}))
    assert {(term.left_lang, term.right_lang) for term in only} == {("en", "de")}
    assert only == terms(units(("en", "de"), contact=2))


def test_given_lexicon_is_used_in_either_direction() -> None:
    known = Lexicon.of_links("fr", "en", [("port", "harbour", 1), ("pont", "bridge", 1)])
    found = {term.left: term.right for term in find_terms(units, [known], TermChoice())}
    assert (found["bridge"], found["harbour"]) == ("pont", "port")
    assert "coast" not in found, "the lexicon does not know it, and it is spelt otherwise"


def test_empty_corpus_has_no_terms() -> None:
    assert terms([]) == []

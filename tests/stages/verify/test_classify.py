from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from support.candidates import ENGLISH, FRENCH, halves, of_texts, read_html
from support.candidates import candidate as aligned
from support.fakes import make_page

from diptych.errors import ConfigError
from diptych.registry import make
from diptych.stages.verify.classify import Classify
from diptych.stages.verify.shared.features import MAXENT, NAMES, PPLOCATOR, features
from diptych.stages.verify.shared.flags import untranslated_share
from diptych.stages.verify.shared.model import Logistic, load, to_json
from diptych.types import Sketch

GOOD = features(of_texts(ENGLISH, FRENCH))
LONG_ENGLISH = (
    *ENGLISH,
    "The lighthouse of 1827 was built of granite by Stevenson, and its lamp burned oil.",
    "Since 1961 it works without a keeper, and 4,200 visitors climb its stairs each year.",
    "The ferry to Islay leaves at 7:30 and at 18:45 from the northern pier.",
)
LONG_FRENCH = (
    *FRENCH,
    "Le phare de 1827 fut construit en granit par Stevenson, et sa lampe brûlait de l'huile.",
    "Depuis 1961 il fonctionne sans gardien, et 4 200 visiteurs montent l'escalier chaque année.",
    "Le bac pour Islay part à 7:30 et à 18:45 du quai du nord.",
)


def test_translation_is_accepted_and_scored_high() -> None:
    decision = Classify().verify(of_texts(LONG_ENGLISH, LONG_FRENCH))
    assert decision.accept
    assert decision.score > 0.8


def test_another_text_scores_lower() -> None:
    other = [
        "La montagne de Savoie est haute, et ses neiges ne fondent jamais tout à fait en été.",
        "Depuis 2003 un train y mène 850 personnes par jour.",
        "Balmat et Paccard avaient passé la nuit à 2392 mètres, sans tente ni corde, et avaient"
        " repris la marche avant le jour par les rochers qui portent leur nom.",
        "On y voit encore 17 glaciers.",
    ]
    right = Classify().verify(of_texts(LONG_ENGLISH, LONG_FRENCH))
    wrong = Classify().verify(of_texts(LONG_ENGLISH, other))
    assert (wrong.accept, wrong.reason) == (False, "not_parallel")
    assert wrong.score < right.score - 0.4


def test_page_with_part_of_the_content_is_partial() -> None:
    for left, right in ((LONG_ENGLISH, LONG_FRENCH[:2]), (LONG_ENGLISH[:3], LONG_FRENCH)):
        decision = Classify(min_letters=50).verify(of_texts(left, right))
        assert (decision.accept, decision.reason) == (False, "partial")


@pytest.mark.parametrize(
    ("less", "more", "places", "reason"),
    [
        (0.3, 0.95, 0.7, "partial"),
        (0.59, 0.81, 0.31, "partial"),
        (0.3, 0.95, 0.1, "not_parallel"),
        (0.3, 0.4, 0.7, "not_parallel"),
    ],
)
def test_partial_pairs(less: float, more: float, places: float, reason: str) -> None:
    row = GOOD._replace(covered_less=less, covered_more=more, same_places=places, letters_ratio=0.3)
    row = row._replace(aligned_sentences=0.5, bytes_ratio=0.3)
    decision = Classify().judge(row)
    assert (decision.accept, decision.reason) == (False, reason)


def test_pages_that_are_both_covered_are_parallel_though_their_lengths_differ() -> None:
    row = GOOD._replace(covered_less=0.97, covered_more=1.0, letters_ratio=0.7, words_ratio=0.6)
    assert Classify().judge(row).accept


def test_coverage_at_the_border_is_not_partial() -> None:
    row = GOOD._replace(covered_less=0.6, covered_more=1.0)
    assert Classify(threshold=0.0).judge(row).accept
    assert Classify(threshold=0.0, partial_less=0.61).judge(row).reason == "partial"
    assert Classify(threshold=0.0, partial_less=0.0).judge(row._replace(covered_less=0.0)).accept


@pytest.mark.parametrize(
    "name",
    ["words_ratio", "bytes_ratio", "word_overlap", "aligned_sentences", "letters_ratio", "numbers",
     "covered_less", "segment_score", "same_places", "files", "translated_less"],
)  # fmt: skip
def test_no_feature_has_the_wrong_sign(name: str) -> None:
    model = load("", "classify", NAMES)
    said = [model.probability(GOOD._replace(**{name: value})) for value in (0.0, 0.25, 0.5, 1.0)]
    assert all(one <= other for one, other in pairwise(said))


def test_important_features_have_weights() -> None:
    model = load("", "classify", NAMES)
    for name in ("same_places", "covered_less", "numbers", "letters_ratio"):
        low, high = (model.probability(GOOD._replace(**{name: value})) for value in (0.1, 0.9))
        assert high > low + 0.01


def test_page_in_both_languages_is_accepted() -> None:
    page = make_page("/both", "en", *LONG_ENGLISH, *LONG_FRENCH)
    assert Classify().verify(halves(page, len(LONG_ENGLISH))).accept


def test_machine_translation_is_marked_though_accepted() -> None:
    found = of_texts(LONG_ENGLISH, LONG_FRENCH)
    html = "<p>" + "</p><p>".join(LONG_FRENCH) + "</p>"
    widget = read_html("/fr", html + "<script src='//translate.google.com/translate_a/x'></script>")
    decision = Classify().verify(aligned(found.left, widget))
    assert decision.accept
    assert decision.marks == ("machine_translated",)


def test_sentences_left_untranslated_are_marked() -> None:
    left = [*LONG_ENGLISH, "This paragraph has been left as it was by the translators of the page"]
    right = [*LONG_FRENCH, left[-1]]
    found = of_texts(left, right)
    assert 0.1 < untranslated_share(found) < 0.3
    decision = Classify(untranslated=0.1).verify(found)
    assert decision.marks == ("untranslated_parts",)
    assert Classify(untranslated=0.5).verify(found).marks == ()


def test_code_that_is_the_same_in_both_is_not_untranslated() -> None:
    code = "for (i = 0; i < 10; i++) { print(names[i]); } /* 42 */"
    assert untranslated_share(of_texts([*ENGLISH, code], [*FRENCH, code])) == 0.0


def test_recipe_names_a_custom_model(tmp_path: Path) -> None:
    width = len(NAMES)
    never = Logistic(NAMES, -9.0, (0.0,) * width, (0.0,) * width, (1.0,) * width)
    (tmp_path / "classify.json").write_text(to_json(never))
    strategy = make("verify", {"use": "classify", "model": str(tmp_path)})
    decision = strategy.verify(of_texts(LONG_ENGLISH, LONG_FRENCH))
    assert decision.reason == "not_parallel"
    assert decision.score < 0.001


@pytest.mark.parametrize(
    ("name", "features"),
    [("classify", NAMES), ("decision_tree", PPLOCATOR), ("maxent", MAXENT)],
)
def test_folder_without_a_model_is_an_error(
    name: str, features: tuple[str, ...], tmp_path: Path
) -> None:
    strategy = make("verify", {"use": name, "model": str(tmp_path / "none")})
    with pytest.raises(
        ConfigError, match=rf"{name}\.json: No such file .*train one with: diptych train verify"
    ):
        strategy.verify(of_texts(LONG_ENGLISH, LONG_FRENCH))
    assert load("", name, features).features == features


def test_sketch_of_the_page_is_used() -> None:
    found = of_texts(ENGLISH, FRENCH)
    left = replace(found.left, sketch=Sketch("abc", 10, {"port": 1}))
    right = replace(found.right, sketch=Sketch("abd", 40, {"port": 1, "ville": 1}))
    row = features(replace(found, left=left, right=right))
    assert row.words_ratio == 0.25
    assert row.word_overlap == 0.5
    assert row.tag_distance == pytest.approx(1 / 3)

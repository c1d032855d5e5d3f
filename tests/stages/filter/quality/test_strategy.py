from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from diptych.errors import ConfigError
from diptych.learn.lexicon.ibm1 import train
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.learn.lexicon.word_links import discounted
from diptych.reason import Reason
from diptych.stages.filter.quality import encoder_measures as likeness
from diptych.stages.filter.quality.measures import NAMES, measures
from diptych.stages.filter.quality.model import load, shipped
from diptych.stages.filter.quality.strategy import Quality, QualityEncoder, decisions
from diptych.stages.filter.rules import Rules
from diptych.stages.filter.shared.segments import read_segments
from diptych.text.tokens import tokens
from diptych.types import Decision, SegmentPair, Url
from diptych.units import Repeats

URL = Url("http://example.org/")
NOUNS = [
    ("council", "conseil"), ("river", "fleuve"), ("garden", "jardin"), ("church", "clocher"),
    ("teacher", "professeur"), ("winter", "hiver"), ("kitchen", "cuisine"), ("letter", "lettre"),
    ("window", "vitrine"), ("morning", "matin"),
]  # fmt: skip
VERBS = [("sees", "voit"), ("finds", "trouve"), ("likes", "aime"), ("forgets", "oublie")]
SENTENCES = [
    (f"The {a[0]} often {verb[0]} the old {b[0]}.", f"Le {a[1]} {verb[1]} souvent le vieux {b[1]}.")
    for verb in VERBS
    for a, b in pairwise([*NOUNS, NOUNS[0]])
]
EMPTY = Lexicon.empty("en", "fr")


def segment(left: str, right: str, score: float = 0.95) -> SegmentPair:
    return SegmentPair(left, right, "en", "fr", URL, URL, "", "", score)


PAGE = [segment(*pair) for pair in SENTENCES]


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    pairs = [(tokens(left, "en"), tokens(right, "fr")) for left, right in SENTENCES]
    return discounted(train(pairs, "en", "fr"))


def scores(segs: list[SegmentPair], lexicon: Lexicon) -> list[float]:
    return [decision.score for decision in Quality().judge(segs, lexicon)]


def test_translations_are_kept(lexicon: Lexicon) -> None:
    kept = [decision.accept for decision in Quality().judge(PAGE, lexicon)]
    assert sum(kept) > 0.9 * len(PAGE)


def spoiled(change: str) -> list[SegmentPair]:
    """The page with its tenth segment made worse."""
    seg, other = PAGE[10], PAGE[17]
    words = seg.right.split()
    right = {
        "another sentence": other.right,
        "a sentence too many": f"{seg.right} {other.right}",
        "cut off": " ".join(words[:3]),
        "in disorder": " ".join(sorted(words)),
        "again and again": " ".join(words[:2] * 4),
        "another number": seg.right.replace(".", " en 1956."),
    }[change]
    return [*PAGE[:10], seg._replace(right=right), *PAGE[11:]]


@pytest.mark.parametrize(
    "change",
    ["another sentence", "a sentence too many", "cut off", "in disorder", "again and again",
     "another number"],
)  # fmt: skip
def test_worse_translations_score_lower(change: str, lexicon: Lexicon) -> None:
    before, after = scores(PAGE, lexicon)[10], scores(spoiled(change), lexicon)[10]
    assert after < before
    assert change == "another number" or after < Quality().threshold


def test_lexicon_compensates_for_dissimilar_words(lexicon: Lexicon) -> None:
    without = scores(spoiled("another sentence"), EMPTY)[10]
    assert scores(spoiled("another sentence"), lexicon)[10] < without


def test_low_score_is_a_reason_and_a_rule_comes_before_it(lexicon: Lexicon) -> None:
    segs = [*spoiled("another sentence"), segment("Madrid", "MADRID")]
    decisions = Quality().judge(segs, lexicon)
    assert decisions[10].reason == Reason.LOW_SCORE
    assert decisions[-1] == Decision(False, 0.0, "identical")


def test_threshold_changes_decisions_but_no_scores(lexicon: Lexicon) -> None:
    all_kept, none_kept = (
        Quality(threshold=limit).judge(PAGE, lexicon) for limit in (0.0, 1.1)
    )  # fmt: skip
    assert all(decision.accept for decision in all_kept)
    assert not any(decision.accept for decision in none_kept)
    assert [each.score for each in all_kept] == [each.score for each in none_kept]


def test_no_segments_are_no_decisions() -> None:
    assert Quality().judge([], EMPTY) == []
    assert Quality().judge_groups([], EMPTY) == []
    assert Quality().judge_groups([[], []], EMPTY) == [[], []]


def test_pages_are_judged_together_as_each_by_itself(lexicon: Lexicon) -> None:
    pages = [PAGE, PAGE[:1], [], spoiled("cut off"), spoiled("another number")[::-1], PAGE[8:12]]
    alone = [Quality().judge(page, lexicon) for page in pages]
    assert Quality().judge_groups(pages, lexicon) == alone
    assert Quality().judge_groups(pages[::-1], lexicon) == alone[::-1]
    assert alone[0][10] != alone[5][2], "neighbours matter, but only those of the same page"
    assert measures(read_segments([]), EMPTY).shape == (0, len(NAMES))


def test_measures_are_finite_and_named_once(lexicon: Lexicon) -> None:
    rows = measures(read_segments([*PAGE, segment("...", "1"), segment("", "")]), lexicon)
    assert rows.shape == (len(PAGE) + 2, len(NAMES))
    assert np.isfinite(rows).all()
    assert len(set(NAMES)) == len(NAMES)


def test_sides_may_be_exchanged(lexicon: Lexicon) -> None:
    turned = [
        SegmentPair(seg.right, seg.left, "fr", "en", URL, URL, "", "", seg.score) for seg in PAGE
    ]
    there, back = (
        measures(read_segments(PAGE), lexicon),
        measures(read_segments(turned), lexicon.reversed()),
    )
    # Words in order are counted from the left.
    same = [place for place, name in enumerate(NAMES) if name not in ("in_order", "jumps")]
    assert np.allclose(there[:, same], back[:, same], atol=1e-4)


AROUND = {
    "length_off", "words_off", "word_length_off", "neighbour_alignment", "neighbour_gain",
    "page_gain", "page_length",
}  # fmt: skip


def test_measures_of_one_segment_do_not_depend_on_others() -> None:
    segs = [segment("Wait (1956)!", "Attendez (1956) !"), segment("See: http://a.b", "Voir : ici")]
    alone = {
        "alignment", "length", "length_ratio", "language_less", "foreign_less", "end_differs",
        "begin_differs", "stops_apart", "brackets_apart", "letters_less", "upper_apart", "damaged",
        "numbers", "numbers_lost", "addresses_lost", "varied_less", "questions_apart",
    }  # fmt: skip
    places = [NAMES.index(name) for name in sorted(alone)]
    together = measures(read_segments(segs), EMPTY)
    each = np.concatenate([measures(read_segments([seg]), EMPTY) for seg in segs])
    assert np.array_equal(together[:, places], each[:, places])
    assert not alone & AROUND


@pytest.mark.parametrize(
    ("name", "left", "right", "value"),
    [
        ("numbers", "In 1956 and 1957", "En 1956 et 1958", 1),
        ("numbers_lost", "In 1956 and 1957", "En 1956 et 1958", 2),
        ("addresses_lost", "See http://a.org/x.", "Voir http://a.org/y.", 2),
        ("addresses_lost", "Ask a@b.org.", "Demandez à a@b.org", 0),
        ("end_differs", "Really?", "Vraiment.", 1),
        ("end_differs", "Really.", "真的。", 0),
        ("begin_differs", "the house", "La maison", 1),
        ("begin_differs", "the house", "家", 0),
        ("brackets_apart", "One (two)", "Un deux", 2),
        ("questions_apart", "What?!", "Quoi", 2),
        ("breaks_apart", "a. b? c", "a b c", 2),
        ("copied", "Debian Linux", "Debian et Linux", 1),
        ("copied", "red house", "maison rouge", 0),
    ],
)
def test_measures_match_their_names(name: str, left: str, right: str, value: float) -> None:
    row = measures(read_segments([segment(left, right)]), EMPTY)[0]
    assert row[NAMES.index(name)] == pytest.approx(value)


def test_word_order_is_measured(lexicon: Lexicon) -> None:
    found = measures(read_segments(spoiled("in disorder")), lexicon)
    column = found[:, NAMES.index("displaced")]
    assert column[10] > np.median(column)


def test_neighbours_give_less_than_the_right_side(lexicon: Lexicon) -> None:
    right = measures(read_segments(PAGE), lexicon)[:, NAMES.index("margin_less")]
    moved = [seg._replace(right=PAGE[place - 1].right) for place, seg in enumerate(PAGE)]
    wrong = measures(read_segments(moved), lexicon)[:, NAMES.index("margin_less")]
    assert np.median(right) > 0 > np.median(wrong)


def test_rescoring_uses_the_whole_run() -> None:
    same, left = np.array([1, 8, 1, 1]), np.array([1, 8, 9, 1])
    rescored = Quality().rescore(np.full(4, 0.8), Repeats(same, left, same))
    assert (
        rescored[0] == rescored[3] > 0.8
    )  # most are right, of so few that are not known to be bad
    assert rescored[1] >= rescored[0] > rescored[2]
    among_bad = Quality().rescore(np.array([0.8] + [0.01] * 500), Repeats(*np.ones((3, 501), int)))
    assert among_bad[0] < 0.8


def test_certain_scores_are_rescored_too() -> None:
    many = np.array([1, 1])
    rescored = Quality().rescore(np.array([0.0, 1.0]), Repeats(many, many * 1000, many * 1000))
    assert rescored[0] <= 1e-6
    assert rescored[1] < 1


def test_model_is_read_as_it_was_written(tmp_path: Path) -> None:
    model = shipped("quality", NAMES)
    model.save(tmp_path / "again.npz")
    again = load(tmp_path / "again.npz", NAMES)
    rows = np.random.default_rng(0).normal(size=(50, len(NAMES))).astype(np.float32)
    assert again.probabilities(rows).tolist() == model.probabilities(rows).tolist()
    assert np.allclose(model.forest.reference(rows), model.forest.scores(rows), atol=1e-4)


def test_damaged_model_is_refused(tmp_path: Path) -> None:
    model = shipped("quality", NAMES)
    path = tmp_path / "model.npz"
    for changed, said in (
        (replace(model, slope=-1.0), "prefer bad segments"),
        (replace(model, offset=float("nan")), "damaged"),
    ):
        changed.save(path)
        with pytest.raises(ConfigError, match=said):
            load(path, NAMES)
    model.save(path)
    with pytest.raises(ConfigError, match="different measures"):
        load(path, NAMES[1:])
    arrays = dict(np.load(path))
    for name, value in (("curve", np.array([1.0])), ("forest_base", np.array(["a"]))):
        np.savez(path, **(arrays | {name: value}))
        with pytest.raises(ConfigError, match="train the model again"):
            load(path, NAMES)
    with pytest.raises(ConfigError, match="train the model again"):
        load(tmp_path / "none.npz", NAMES)


def test_no_measure_has_the_wrong_sign() -> None:
    model = shipped("quality", NAMES)
    rows = measures(read_segments(PAGE), EMPTY)
    for name, sign in (("gain_less", 1), ("alignment", 1), ("numbers_lost", -1), ("damaged", -1)):
        place = NAMES.index(name)
        steps = []
        for step in range(5):
            moved = rows.copy()
            moved[:, place] += sign * step
            steps.append(model.probabilities(moved))
        assert all((after >= before - 1e-9).all() for before, after in pairwise(steps)), name


def test_similarity_uses_both_sides() -> None:
    left = np.eye(3, dtype=np.float32)
    cosine, over_page, over_neighbours = likeness.cosine_measures(left, left)
    assert cosine.tolist() == [1.0, 1.0, 1.0]
    assert np.allclose(over_page, 2 / 3)
    assert (over_neighbours > 0).all()
    crossed = likeness.cosine_measures(left, left[[1, 0, 2]])
    assert crossed[0].tolist() == [0.0, 0.0, 1.0]
    assert crossed[2][0] < 0


def test_encoder_that_does_not_know_the_languages_is_not_used(lexicon: Lexicon) -> None:
    segs = [seg._replace(right_lang="eo") for seg in PAGE]
    known = replace(lexicon, right_lang="eo")
    assert QualityEncoder().judge(segs, known) == Quality().judge(segs, known)


@pytest.mark.parametrize("lang", ["eo", "fr"], ids=["without the encoder", "with the encoder"])
def test_threshold_and_rules_hold_for_the_encoder_too(lexicon: Lexicon, lang: str) -> None:
    segs = [seg._replace(right_lang=lang) for seg in PAGE[:12]]
    known = replace(lexicon, right_lang=lang)
    for limit in (0.0, 1.1):
        decisions = QualityEncoder(threshold=limit).judge(segs, known)
        assert [decision.accept for decision in decisions] == [limit == 0.0] * len(segs)
    if lang == "fr":  # what the encoder says is in the score
        plain = Quality(threshold=1.1).judge(segs, known)
        assert all(a.score != b.score for a, b in zip(decisions, plain, strict=True))
    assert len(QualityEncoder().judge(segs[:1], known)) == 1
    assert QualityEncoder().judge([], known) == []
    strict = QualityEncoder(rules=Rules(max_length=10)).judge(segs, known)
    assert {decision.reason for decision in strict} == {"too_long"}


def test_encoder_rescores_like_the_plain_model() -> None:
    ones = np.ones(3, int)
    given = np.array([0.2, 0.8, 0.9])
    settled = QualityEncoder().rescore(given, Repeats(ones, ones, ones))
    assert settled.tolist() == Quality().rescore(given, Repeats(ones, ones, ones)).tolist()
    assert settled.tolist() != given.tolist()


def test_score_at_the_threshold_is_kept() -> None:
    partial = np.array([True, False, True, True])
    kept = decisions(np.array([0.5, 0.49, 0.3, 0.9]), partial, ["", "", "", "identical"], 0.5)
    assert kept == [
        Decision(True, 0.5, "", (Reason.PARTIAL,)), Decision(False, 0.49, Reason.LOW_SCORE),
        Decision(False, 0.3, Reason.PARTIAL, (Reason.PARTIAL,)),
        Decision(False, 0.0, Reason.IDENTICAL),
    ]  # fmt: skip
    assert Quality().threshold == QualityEncoder().threshold == 0.6


def test_words_gain_beside_their_translation(lexicon: Lexicon) -> None:
    place = NAMES.index("gain_less")
    right = measures(read_segments(PAGE), lexicon)[:, place]
    moved = [seg._replace(right=PAGE[place - 5].right) for place, seg in enumerate(PAGE)]
    wrong = measures(read_segments(moved), lexicon)[:, place]
    assert np.median(right) > np.median(wrong) + 0.5


def test_margin_is_over_the_best_neighbour(lexicon: Lexicon) -> None:
    """A sentence whose translation stands beside the next one gains more there."""
    segs = [*PAGE[:10], PAGE[10]._replace(right=PAGE[11].right), *PAGE[11:]]
    found = measures(read_segments(segs), lexicon)[:, NAMES.index("margin_less")]
    assert found[10] < 0
    assert found[5] > 0
    alone = measures(read_segments(PAGE[:1]), lexicon)[0]
    assert alone[NAMES.index("margin_less")] == alone[NAMES.index("margin_more")] == 0


def test_similarity_with_neighbours_counts_on_both_sides() -> None:
    left = np.eye(4, dtype=np.float32)
    before = likeness.cosine_measures(left, left[[0, 0, 2, 3]])[2]
    after = likeness.cosine_measures(left, left[[0, 1, 3, 3]])[2]
    assert before[1] < 0
    assert after[2] < 0
    assert before[0] == pytest.approx(0)  # its side stands beside the next as well

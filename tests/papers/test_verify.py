"""The features of Vieira & Moreira 2012, section 3.2, and of Shi et al. 2006, section 6."""

from __future__ import annotations

import pytest
from support.candidates import read_html
from support.fakes import make_page

from diptych.stages.verify.shared.features import (
    MAXENT,
    PPLOCATOR,
    coverage,
    features,
    tag_changes,
)
from diptych.stages.verify.shared.model import Logistic, Trees, load
from diptych.types import Candidate, PagePair, SegmentPair, Sketch

TEXT = "The harbour of the town is old, and its first ships came from the north with wood."
P1 = f"<html><head> Page P1 </head><body><h1> {TEXT} </h1><div> {TEXT} </div></body></html>"
P2 = f"<html><head> Page P2</head><body><div> {TEXT} </div><div> {TEXT} </div></body></html>"


def sketch(markup: str) -> Sketch:
    found = read_html("/", markup, ()).sketch
    assert found is not None
    return found


def test_edit_distance_of_the_tags_of_the_example_is_two() -> None:
    assert tag_changes(sketch(P1).tags, sketch(P2).tags)[0] == 2
    listed = ["html body h1 /h1 div /div /body /html", "html body div /div div /div /body /html"]
    letters = {tag: chr(97 + n) for n, tag in enumerate(sorted({*" ".join(listed).split()}))}
    left, right = ("".join(letters[tag] for tag in tags.split()) for tags in listed)
    assert tag_changes(left, right) == (2, 6)


def test_tag_similarity_is_the_share_of_matches_among_the_operations() -> None:
    left, right = read_html("/1", P1, ()), read_html("/2", P2, ())
    pair = PagePair(left.url, right.url, "en", "fr", 1.0, "test")
    found = features(Candidate(pair, left, right))
    assert left.sketch is not None
    length = len(left.sketch.tags)
    assert found.tag_similarity == pytest.approx((length - 2) / length)
    assert found.tag_distance == pytest.approx(2 / length)


def test_sentence_alignment_score_is_the_share_of_aligned_sentences_of_both_pages() -> None:
    left, right = read_html("/1", P1, ()), read_html("/2", P2, ())
    pair = PagePair(left.url, right.url, "en", "fr", 1.0, "test")
    texts = [("One.", "Un."), ("Two.", "Deux."), ("Three.", ""), ("", "Quatre.")]
    segments = [SegmentPair(*text, "en", "fr", left.url, right.url, "", "", 1.0) for text in texts]
    assert coverage(Candidate(pair, left, right, segments)).sentences == pytest.approx(4 / 6)


def test_ratios_overlap_and_structure_are_the_features_of_the_decision_tree() -> None:
    assert PPLOCATOR == ("words_ratio", "bytes_ratio", "tag_distance", "word_overlap")
    model = load("", "decision_tree", PPLOCATOR)
    assert isinstance(model, Trees)
    assert len(model.trees) == 1


def test_file_length_tags_and_sentences_are_the_features_of_maximum_entropy() -> None:
    assert MAXENT == ("bytes_ratio", "tag_similarity", "aligned_sentences")
    model = load("", "maxent", MAXENT)
    assert isinstance(model, Logistic)
    assert model.weights[2] > 0  # the more sentences align, the better


def test_proportion_of_identical_words() -> None:
    left = make_page("/1", "en", "The Mont Blanc of 1786")
    right = make_page("/2", "fr", "Le Mont Blanc en 1786")
    pair = PagePair(left.url, right.url, "en", "fr", 1.0, "test")
    assert features(Candidate(pair, left, right)).word_overlap == pytest.approx(3 / 7)

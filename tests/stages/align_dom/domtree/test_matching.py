"""The alignment of nodes in C, compared with its reference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.fakes import at

from diptych.kernels.tree_match import match
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.page.read import read_page
from diptych.stages.align_dom.domtree import matching
from diptych.stages.align_dom.domtree.document import document
from diptych.stages.align_dom.domtree.evidence import read_evidence
from diptych.stages.align_dom.domtree.matching import Part, match_nodes, match_reference
from diptych.stages.align_dom.domtree.strategy import DomTree
from diptych.types import Page, Response

PIECES = st.sampled_from(
    "<p>one 1956 house</p>|<div>|</div>|<ul><li>two 1957|<li>house berg|</ul>|three |"
    "<a href=/x/y>four|<a href=/z/y>|</a>|<h2>berg 12</h2>|<p>zeta 1956</p>|<td>eta".split("|")
)
markups = st.lists(PIECES, max_size=14).map("".join)
LEXICON = Lexicon.of_links("en", "fr", [("house", "berg", 0.9), ("one", "two", 0.5)])


def page(markup: str) -> Page:
    headers = (("content-type", "text/html; charset=utf-8"),)
    response = Response(at("/"), 200, headers, f"<body>{markup}".encode(), 0.0)
    return read_page(response, with_blocks=True, with_tree=True)


def part_of(left: str, right: str, weights: DomTree) -> Part:
    trees = document(page(left)), document(page(right))
    evidence = read_evidence(trees, LEXICON, weights)
    return Part.of(trees, evidence, slice(0, len(trees[0])), slice(0, len(trees[1])))


@given(markups, markups, st.sampled_from([(4.0, 3.0), (0.5, 0.25), (0.0, 3.0)]))
def test_alignment_equals_the_reference(
    left: str, right: str, margins: tuple[float, float]
) -> None:
    weights = DomTree(crossing=margins[0], swap=margins[1], per_word=0.1)
    part = part_of(left, right, weights)
    found, expected = match_nodes(part, weights), match_reference(part, weights)
    assert found.texts == pytest.approx(expected.texts, rel=1e-5, abs=1e-5)
    assert found.gains == pytest.approx(expected.gains, rel=1e-5, abs=1e-5)
    assert found.partners.tolist() == expected.partners.tolist()
    assert found.doubts.tolist() == expected.doubts.tolist()


def test_part_of_a_page_is_aligned_by_itself() -> None:
    whole = part_of("<p>one 1956<p>two 1957<p>six 12", "<p>un 1956<p>deux 1957<p>x", DomTree())
    part = Part.of(whole.trees, whole.evidence, slice(1, 3), slice(1, 3))
    assert match_nodes(part, DomTree()).partners[0] == 0
    found, expected = match_nodes(part, DomTree()), match_reference(part, DomTree())
    assert found.partners.tolist() == expected.partners.tolist()


def test_texts_that_moved_and_neighbours_that_cross_are_paired() -> None:
    texts = ["zeta 1956 1957 1958", "eta 2001 2002 2003", "theta 77 78 79 80", "iota 33 34 35"]
    left, right = (
        "".join(f"<p>{text}</p>" for text in some) for some in (texts, [texts[3], *texts[:3]])
    )
    part = part_of(left, right, DomTree())
    assert match_nodes(part, DomTree()).partners[:4].tolist() == [1, 2, 3, 0]
    part = part_of(left, "".join(f"<p>{texts[k]}</p>" for k in (1, 0, 2, 3)), DomTree())
    assert match_nodes(part, DomTree()).partners[:4].tolist() == [1, 0, 2, 3]


@pytest.mark.parametrize("name", ["rows", "tags", "leftmost", "words", "lengths"])
def test_nodes_that_refer_to_something_else_are_refused(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def spoiled(left, right, words, settings):  # type: ignore[no-untyped-def]
        wrong = {
            "rows": left.rows + 9, "tags": left.tags + 999, "leftmost": left.leftmost + 7,
            "words": left.words[1:], "lengths": left.lengths - 99,
        }  # fmt: skip
        return match(left._replace(**{name: wrong[name]}), right, words, settings)

    part = part_of("<p>one<p>two", "<p>un<p>deux", DomTree())
    monkeypatch.setattr(matching, "match", spoiled)
    with pytest.raises(ValueError, match=r"nodes|columns|forest|lengths"):
        match_nodes(part, DomTree())


def test_page_without_nodes_has_no_partners() -> None:
    part = part_of("<p>one", "<p>un", DomTree())
    none = Part.of(part.trees, part.evidence, slice(0, 2), slice(0, 0))
    assert match_nodes(none, DomTree()).partners.tolist() == [-1, -1]
    assert match_nodes(none, DomTree()).gains.shape == np.empty((2, 0)).shape

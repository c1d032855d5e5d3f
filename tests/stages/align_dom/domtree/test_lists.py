from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.fakes import at

from diptych.learn.lexicon.ibm1 import train
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.page.read import read_page
from diptych.stages.align_dom.domtree import lists
from diptych.stages.align_dom.domtree.evidence import Contents
from diptych.stages.align_dom.domtree.lists import Items, item_gains, lists_of
from diptych.stages.align_dom.domtree.strategy import DomTree
from diptych.text.tokens import tokens
from diptych.types import Page, Response

WORDS = [
    ("harbour", "port"), ("winter", "hiver"), ("ticket", "billet"), ("wind", "vent"),
    ("bridge", "pont"), ("garden", "jardin"), ("market", "marché"), ("church", "église"),
    ("night", "nuit"), ("river", "fleuve"),
]  # fmt: skip
NAMES = ["Ada Brook", "Bela Novak", "Carl Stone", "Dora Marsh", "Emil Wood", "Fay Rivers"]


def lexicon() -> Lexicon:
    texts = [pair for pair in WORDS for _ in range(20)]
    return train([(tokens(left, "en"), tokens(right, "fr")) for left, right in texts], "en", "fr")


def page(body: str, path: str) -> Page:
    headers = (("content-type", "text/html; charset=utf-8"),)
    response = Response(at(path), 200, headers, f"<body>{body}".encode(), 0.0)
    return read_page(response, with_blocks=True, with_tree=True)


def bullets(texts: list[str]) -> str:
    return "<ul>" + "".join(f"<li>{text}</li>" for text in texts) + "</ul>"


def paired(left: str, right: str, words: Lexicon | None = None) -> list[tuple[str, str]]:
    found = DomTree().align(page(left, "/en"), page(right, "/fr"), words)
    return [(one.text, other.text) for pair in found for one in pair.left for other in pair.right]


def test_items_that_contradict_each_other_are_not_paired() -> None:
    left = [WORDS[0][0], WORDS[1][0], WORDS[2][0], WORDS[3][0], WORDS[4][0]]
    right = [WORDS[0][1], WORDS[1][1], WORDS[9][1], WORDS[3][1], WORDS[4][1]]
    found = paired(bullets(left), bullets(right), lexicon())
    assert found == [WORDS[0], WORDS[1], WORDS[3], WORDS[4]]


def test_items_that_contradict_each_other_are_paired_by_content() -> None:
    """The last two cards changed places with others that are left over."""
    order = [0, 1, 5, 3, 4, 2]
    left = "".join(f"<div><h3>{WORDS[k][0]}</h3><p>{WORDS[k][0]} 2</p></div>" for k in range(6))
    right = "".join(f"<div><h3>{WORDS[k][1]}</h3><p>{WORDS[k][1]} 2</p></div>" for k in order)
    found = paired(f"<div>{left}</div>", f"<div>{right}</div>", lexicon())
    assert {(one, other) for one, other in found if " " not in one} == set(WORDS[:6])


def test_other_names_in_a_list_of_names_are_not_translations() -> None:
    left, right = [*NAMES, "Greta Hill"], [*NAMES, "Hugo Vale"]
    assert paired(bullets(left), bullets(right)) == [(name, name) for name in NAMES]


def test_words_without_evidence_stay_paired_in_other_lists() -> None:
    left = ["alpha oak", "beta elm", "gamma ash", "delta yew"]
    right = ["quercia uno", "olmo due", "frassino tre", "tasso quattro"]
    assert paired(bullets(left), bullets(right)) == list(zip(left, right, strict=True))


def test_heading_of_a_table_of_numbers_stays_paired() -> None:
    rows = "".join(f"<tr><td>{year}</td><td>{year * 3}</td></tr>" for year in range(1990, 2000))
    found = paired(
        f"<table><tr><th>qwertz</th><th>uiop</th></tr>{rows}</table>",
        f"<table><tr><th>asdfgh</th><th>yxcv</th></tr>{rows}</table>",
    )
    assert {("qwertz", "asdfgh"), ("uiop", "yxcv")} <= set(found)


def tweet(text: str, number: int) -> str:
    link = f'<a href="https://social.example/someone/status/{number}">1 May</a>'
    return f"<h1>{WORDS[0][0]}</h1><blockquote><p>{text}</p>{link}</blockquote>"


@pytest.mark.parametrize(("number", "is_paired"), [(17, True), (18, False)])
def test_quotations_of_other_sources_are_not_paired(number: int, is_paired: bool) -> None:
    found = paired(tweet("qwertz uiop", 17), tweet("yxcvb nmlk", number))
    assert (("qwertz uiop", "yxcvb nmlk") in found) == is_paired


def test_quotations_that_are_translated_stay_paired_whatever_their_links() -> None:
    left, right = (" ".join(word[side] for word in WORDS) for side in (0, 1))
    ours, theirs = tweet(left, 17) + "<p>qwertz</p>", tweet(right, 18) + "<p>yxcvb</p>"
    assert (left, right) in paired(ours, theirs, lexicon())


def test_lists_are_siblings_with_the_same_tag_and_quotations() -> None:
    tags = ("li", "li", "li", "ul", "p", "p", "blockquote", "h2", "div")
    leftmost = np.array([0, 1, 2, 0, 4, 5, 4, 7, 0], np.int32)
    assert lists_of(tags, leftmost, [0, 5]) == {3: [0, 1, 2], -7: [6]}
    assert lists_of(tags, leftmost, [6]) == {-7: [6]}
    assert lists_of(tags, leftmost, [7]) == {}


def items_of(count: int, per_item: int) -> Items:
    """A list of items with as many blocks each, but the first, which has none."""
    starts, nodes, leftmost, blocks = [], 0, [], []
    for item in range(count):
        first = nodes
        for _ in range(per_item if item else 0):
            blocks.append(nodes)
            leftmost.append(nodes)
            nodes += 1
        leftmost.append(first)
        starts.append(nodes)
        nodes += 1
    return Items(
        np.array(leftmost, np.int32), {0: starts}, np.array(blocks, np.int64), [""] * nodes, {}
    )


@given(
    st.integers(1, 4), st.integers(1, 4), st.integers(1, 3), st.integers(1, 3), st.integers(0, 99)
)
def test_gains_of_items_are_sums_over_their_blocks(
    ours: int, theirs: int, size: int, other_size: int, seed: int
) -> None:
    sides = items_of(ours, size), items_of(theirs, other_size)
    shape = len(sides[0].leftmost), len(sides[1].leftmost)
    cells = np.random.default_rng(seed).normal(size=shape).astype(np.float32)
    contents = Contents(cells, np.ones(shape[0]), np.ones(shape[1]), 0.0)
    items = sides[0].lists[0], sides[1].lists[0]
    found = item_gains(sides, items, contents)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lists, "native", lambda: None)
        assert found == pytest.approx(item_gains(sides, items, contents), abs=1e-5, nan_ok=True)
    for row, one in enumerate(items[0]):
        for column, other in enumerate(items[1]):
            part = cells[np.ix_(sides[0].blocks_in(one), sides[1].blocks_in(other))]
            expected = (part.max(1).sum() + part.max(0).sum()) / 2 if part.size else np.nan
            assert found[row, column] == pytest.approx(expected, abs=1e-5, nan_ok=True)


def test_lists_that_are_too_long_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lists, "_MAX_CELLS", 3)
    left = [WORDS[0][0], WORDS[1][0], WORDS[2][0], WORDS[3][0]]
    right = [WORDS[0][1], WORDS[1][1], WORDS[9][1], WORDS[3][1]]
    found = paired(bullets(left), bullets(right), lexicon())
    assert (WORDS[2][0], WORDS[9][1]) in found


def test_names_in_lists_that_are_too_long_stay_paired(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lists, "_MAX_CELLS", 3)
    left, right = [*NAMES, "Greta Hill"], [*NAMES, "Hugo Vale"]
    assert paired(bullets(left), bullets(right)) == list(zip(left, right, strict=True))

"""Blocks that recur on the pages of a site are paired and judged once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.blocks import walk
from support.fakes import at, make_page

from diptych.learn.lexicon.lexicon import Lexicon
from diptych.page.blocks import TITLE_PATH
from diptych.page.content import Outline, unpack_outline
from diptych.page.read import read_page
from diptych.stages.align_dom.domtree.strategy import DomTree
from diptych.steps import recurring_blocks
from diptych.steps.recurring_blocks import (
    SAMPLE,
    BlockRecorder,
    Recurring,
    RestAligner,
    Seen,
    anchored,
    recurring,
    sampled,
)
from diptych.types import Block, Decision, NodePair, Page, PagePair, Response, SegmentPair

EMPTY = Lexicon.empty("en", "fr")
GOOD, BAD = Decision(True, 0.9), Decision(False, 0.2, "low_score")
MENU = {"Home": ("Accueil", 0.9), "News": ("Nouvelles", 0.8), "Contact": ("Contact", 0.7)}


def seen(*blocks: tuple[str, str], decision: Decision = GOOD) -> Seen:
    segments = tuple((left, right, decision) for left, right in blocks if left and right)
    return Seen(tuple((left, right, 0.5) for left, right in blocks), segments)


def page(markup: str, *, stored: bool = True) -> Page:
    headers = (("content-type", "text/html; charset=utf-8"),)
    response = Response(at("/"), 200, headers, markup.encode(), 0.0)
    read = read_page(response, with_blocks=True, with_tree=True)
    content = unpack_outline(walk(markup).content) if stored else None
    return Page(read.record, (), *content) if content else read


def page_pairs(count: int, right: str = "fr") -> list[tuple[int, PagePair]]:
    return [
        (number, PagePair(at(f"/en/{number}"), at(f"/{right}/{number}"), "en", right, 1.0, ""))
        for number in range(count)
    ]


# -- the sample ------------------------------------------------------------------------------------


def test_sample_is_spread_over_the_pairs_of_each_pair_of_languages() -> None:
    french, german = page_pairs(100), page_pairs(60, "de")
    found = sampled([*french, *german])
    assert len(found) == 2 * SAMPLE
    assert [number for number, pair in found if pair.right_lang == "fr"] == [
        number * 100 // SAMPLE for number in range(SAMPLE)
    ]


def test_few_pairs_are_not_sampled() -> None:
    assert sampled(page_pairs(3 * SAMPLE - 1)) == []
    assert len(sampled(page_pairs(3 * SAMPLE))) == SAMPLE


# -- what recurs -----------------------------------------------------------------------------------


def test_texts_that_always_correspond_recur() -> None:
    found = recurring([seen(("Home", "Accueil"), (f"Text {n}", f"Texte {n}")) for n in range(3)])
    assert found.partners == {"Home": ("Accueil", pytest.approx(0.5))}
    assert found.decisions == {("Home", "Accueil"): GOOD}


def test_texts_on_two_pairs_do_not_recur() -> None:
    assert recurring([seen(("Home", "Accueil"))] * 2) == Recurring({}, {})


def test_text_with_several_counterparts_is_left_to_the_aligner() -> None:
    menus = [seen(("More", "Plus"))] * 3 + [seen(("More", "Suite"))] * 3
    assert recurring(menus).partners == {}
    menus = [seen(("More", "Plus"))] * 3 + [seen(("Others", "Plus"))] * 3
    assert recurring(menus).partners == {}


def test_texts_that_are_often_on_both_pages_but_not_paired_are_left_to_the_aligner() -> None:
    apart = seen(("Home", ""), ("", "Accueil"))
    assert recurring([seen(("Home", "Accueil"))] * 3 + [apart]).partners == {}
    assert "Home" in recurring([seen(("Home", "Accueil"))] * 9 + [apart]).partners


def test_decision_on_a_recurring_segment_is_the_one_in_the_middle() -> None:
    menus = [seen(("Home", "Accueil"), decision=each) for each in (BAD, GOOD, BAD)]
    assert recurring(menus).decisions == {("Home", "Accueil"): BAD}


def test_order_of_the_sample_does_not_matter() -> None:
    menus = [seen(("Home", "Accueil"), decision=Decision(True, n / 10)) for n in range(6)]
    assert recurring(menus).decisions == recurring(menus[::-1]).decisions


def test_recorder_keeps_short_texts_of_single_blocks_and_segments(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Fixed:
        uses_lexicon = False

        def align(self, left: Page, right: Page, lexicon: Lexicon) -> list[NodePair]:
            one, two, three = left.blocks
            return [
                NodePair((one,), (), 0.0), NodePair((two, three), right.blocks[:1], 1.0),
                NodePair((three,), right.blocks[1:], 0.5),
            ]  # fmt: skip

    recorder = BlockRecorder(Fixed())
    left, right = make_page("/", "en", "a", "b", "c" * 2000), make_page("/", "fr", "d", "e")
    assert len(recorder.align(left, right, EMPTY)) == 3
    segment = SegmentPair("a", "b", "en", "fr", at("/"), at("/"), "", "", 1.0)
    longer = SegmentPair("a" * 2000, "b", "en", "fr", at("/"), at("/"), "", "", 1.0)
    alone = SegmentPair("a", "", "en", "fr", at("/"), at("/"), "", "", 1.0)
    every = [(segment, GOOD), (longer, GOOD), (alone, BAD)] * 2
    assert recorder.seen(every) == Seen((("a", "", 0.0),), (("a", "b", GOOD),) * 2)
    monkeypatch.setattr(recurring_blocks, "_MAX_TEXTS", 1)
    recorder.align(left, right, EMPTY)
    assert recorder.seen(every) == Seen((("a", "", 0.0),), (("a", "b", GOOD),))


# -- the other pairs -------------------------------------------------------------------------------


def blocks(*texts: str) -> list[Block]:
    return [Block(text, f"/p[{number}]") for number, text in enumerate(texts)]


def test_recurring_texts_are_anchors_if_both_pages_have_them_equally_often() -> None:
    left, right = blocks("Home", "x", "News", "Home"), blocks("Accueil", "y", "Accueil")
    assert anchored(left, right, MENU) == {0: 0, 3: 2}
    assert anchored(left, right[:2], MENU) == {}
    assert anchored(left, blocks("Nouvelles"), MENU) == {2: 0}


def test_titles_are_no_anchors() -> None:
    left, right = [Block("Home", TITLE_PATH), *blocks("Home")], blocks("Accueil")
    assert anchored(left, right, MENU) == {1: 0}


BODY = "<title>{}</title><ul><li><a href=/a>{}</a><li><a href=/b>{}</a></ul><p>{}</p><p>{}</p><p>{}"
LEFT = BODY.format("Title", "Home", "News", "born 1956", "Alone 77", "Contact")
RIGHT = BODY.format("Titre", "Accueil", "Nouvelles", "né 1956", "Autre 88 99", "Contact")


class Spy:
    """Notes what it is asked, and asks a tree aligner."""

    uses_lexicon = True
    pages: tuple[Page, Page]

    def align(self, left: Page, right: Page, lexicon: Lexicon) -> list[NodePair]:
        self.pages = left, right
        return DomTree().align(left, right, lexicon)


@pytest.mark.parametrize("stored", [True, False])
def test_aligner_sees_the_rest_and_anchors_come_back_in_their_places(stored: bool) -> None:
    left, right = page(LEFT, stored=stored), page(RIGHT, stored=stored)
    assert isinstance(left.tree, Outline) == stored
    spy = Spy()
    found = RestAligner(spy, Recurring(MENU, {})).align(left, right, EMPTY)
    assert [block.text for block in spy.pages[0].blocks] == ["Title", "born 1956", "Alone 77"]
    texts = [
        ("".join(block.text for block in pair.left), "".join(block.text for block in pair.right))
        for pair in found
    ]
    assert [text for text, _ in texts if text] == [block.text for block in left.blocks]
    assert sorted(text for _, text in texts if text) == sorted(b.text for b in right.blocks)
    assert ("Home", "Accueil") in texts
    assert ("born 1956", "né 1956") in texts
    assert next(pair.score for pair in found if pair.left[:1] == (left.blocks[2],)) == 0.8


def test_without_recurring_blocks_whole_pages_are_aligned() -> None:
    left, right, spy = page(LEFT), page(RIGHT), Spy()
    found = RestAligner(spy, Recurring({}, {})).align(left, right, EMPTY)
    assert spy.pages == (left, right)
    assert found == DomTree().align(left, right, EMPTY)


@given(
    st.lists(st.sampled_from(["Home", "News", "x", "y 1956"]), max_size=7),
    st.lists(st.sampled_from(["Accueil", "Nouvelles", "z", "w 1956"]), max_size=7),
)
def test_every_block_is_in_exactly_one_pair_and_in_order(
    ours: list[str], theirs: list[str]
) -> None:
    left, right = make_page("/en", "en", *ours), make_page("/fr", "fr", *theirs)
    found = RestAligner(DomTree(), Recurring(MENU, {})).align(left, right, EMPTY)
    assert [id(block) for pair in found for block in pair.left] == [*map(id, left.blocks)]
    assert sorted(id(block) for pair in found for block in pair.right) == sorted(
        map(id, right.blocks)
    )

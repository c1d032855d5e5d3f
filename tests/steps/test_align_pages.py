"""Alignment of two pages into segments, with fake and with real aligners."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.fakes import make_page, titled

from diptych.learn.lexicon.lexicon import Lexicon
from diptych.registry import make
from diptych.steps.align_pages import AlignedSentences, TitleCuts, align_pages, align_sentences
from diptych.text.titles import Cut
from diptych.types import Bead, Block, LangPair, NodePair, Page, PagePair

LANGS = LangPair("en", "fr")
NOTHING = Lexicon.empty(*LANGS)


@dataclass
class Pieces:
    """A tree aligner that returns given pairs of blocks: indices on both sides, and a score."""

    pieces: Sequence[tuple[Sequence[int], Sequence[int], float]]
    uses_lexicon: ClassVar[bool] = False

    def align(self, left: Page, right: Page, lexicon: Lexicon) -> list[NodePair]:
        return [
            NodePair(
                tuple(left.blocks[n] for n in ours), tuple(right.blocks[n] for n in theirs), score
            )
            for ours, theirs, score in self.pieces
        ]


@dataclass
class Beads:
    """A sentence aligner that records its input, and pairs sentences in order."""

    asked: list[tuple[list[str], list[str], Lexicon]] = field(default_factory=list)
    calls: int = 0
    uses_lexicon: ClassVar[bool] = False

    def align(self, left: Sequence[str], right: Sequence[str], lexicon: Lexicon) -> list[Bead]:
        self.asked.append((list(left), list(right), lexicon))
        both = min(len(left), len(right))
        return [
            *(Bead((n,), (n,), 0.5) for n in range(both)),
            *(Bead((n,), (), 0.9) for n in range(both, len(left))),
            *(Bead((), (n,), 0.9) for n in range(both, len(right))),
        ]

    def align_pieces(
        self, pieces: Sequence[tuple[Sequence[str], Sequence[str]]], lexicon: Lexicon
    ) -> list[list[Bead]]:
        self.calls += 1
        return [self.align(left, right, lexicon) for left, right in pieces]


def texts(found: Sequence[AlignedSentences]) -> list[tuple[list[str], list[str]]]:
    return [([s.text for s in each.left], [s.text for s in each.right]) for each in found]


LEFT = make_page("/en", "en", "One here. Two here.", "Alone.", "Three here.")
RIGHT = make_page("/fr", "fr", "Un ici. Deux ici. Encore ici.", "Trois ici.", "Seul. Tout seul.")
PIECES = Pieces([((0,), (0,), 0.8), ((1,), (), 0.0), ((), (2,), 0.0), ((2,), (1,), 0.7)])


def test_sentences_are_aligned_inside_of_pieces() -> None:
    beads = Beads()
    found = list(align_sentences(LEFT, RIGHT, LANGS, PIECES, beads, NOTHING))
    assert texts(found) == [
        (["One here."], ["Un ici."]),
        (["Two here."], ["Deux ici."]),
        ([], ["Encore ici."]),
        (["Alone."], []),
        ([], ["Seul."]),
        ([], ["Tout seul."]),
        (["Three here."], ["Trois ici."]),
    ]
    # A bead is as sure as the piece it is in; what has no counterpart has no score.
    assert [each.score for each in found] == pytest.approx([0.4, 0.4, 0, 0, 0, 0, 0.7])


def test_pieces_of_one_sentence_need_no_aligner() -> None:
    beads = Beads()
    list(align_sentences(LEFT, RIGHT, LANGS, PIECES, beads, NOTHING))
    assert [asked[:2] for asked in beads.asked] == [
        (["One here.", "Two here."], ["Un ici.", "Deux ici.", "Encore ici."])
    ]
    assert beads.asked[0][2] is NOTHING


def test_all_pieces_of_two_pages_are_aligned_in_one_call() -> None:
    page = make_page("/en", "en", "One. Two.", "Alone.", "Three. Four.", "Five. Six.")
    aligner = Pieces([((0,), (0,), 1.0), ((1,), (), 0.0), ((2,), (2,), 1.0), ((3,), (3,), 1.0)])
    beads = Beads()
    found = list(align_sentences(page, page, LANGS, aligner, beads, NOTHING))
    assert beads.calls == 1
    assert len(beads.asked) == 3
    # What belongs to a piece stays in it.
    assert [ours for ours, _ in texts(found)] == [
        ["One."], ["Two."], ["Alone."], ["Three."], ["Four."], ["Five."], ["Six."]
    ]  # fmt: skip


def test_sentences_know_their_block_and_their_place() -> None:
    found = list(align_sentences(LEFT, RIGHT, LANGS, PIECES, Beads(), NOTHING))
    ours = [sentence for each in found for sentence in each.left]
    assert [(sentence.block.path, sentence.place) for sentence in ours] == [
        ("/html/body/p[1]", 0), ("/html/body/p[1]", 1), ("/html/body/p[2]", 2),
        ("/html/body/p[3]", 3),
    ]  # fmt: skip
    # The place is that in the page, also where pieces were moved.
    theirs = [sentence for each in found for sentence in each.right]
    assert [sentence.place for sentence in theirs] == [0, 1, 2, 4, 5, 3]
    assert [sentence.text for sentence in theirs if sentence.place == 3] == ["Trois ici."]


def test_equal_blocks_are_kept_apart() -> None:
    same = [Block("Yes. No.", "/html/body/p")] * 2
    page = make_page("/en", "en", *same)
    aligner = Pieces([((0,), (0,), 1.0), ((1,), (1,), 1.0)])
    found = list(align_sentences(page, page, LANGS, aligner, Beads(), NOTHING))
    assert [[s.place for s in each.left] for each in found] == [[0], [1], [2], [3]]
    assert [[s.place for s in each.right] for each in found] == [[0], [1], [2], [3]]


def test_segments_know_where_they_come_from() -> None:
    @dataclass
    class Joined:
        uses_lexicon: ClassVar[bool] = False

        def align(self, left: Sequence[str], right: Sequence[str], lexicon: Lexicon) -> list[Bead]:
            return [Bead(tuple(range(len(left))), tuple(range(len(right))), 0.5)]

        def align_pieces(
            self, pieces: Sequence[tuple[Sequence[str], Sequence[str]]], lexicon: Lexicon
        ) -> list[list[Bead]]:
            return [self.align(left, right, lexicon) for left, right in pieces]

    pair = PagePair(LEFT.url, RIGHT.url, "en", "fr", 0.9, "hreflang")
    aligner = Pieces([((0, 1), (0,), 1.0), ((2,), (1, 2), 0.5)])
    first, second = align_pages(pair, LEFT, RIGHT, aligner, Joined(), NOTHING)
    assert (first.left, first.right) == (
        "One here. Two here. Alone.",
        "Un ici. Deux ici. Encore ici.",
    )
    assert (first.left_path, first.right_path) == (
        "/html/body/p[1] /html/body/p[2]",  # each block once
        "/html/body/p[1]",
    )
    assert (first.left_url, first.right_url) == (LEFT.url, RIGHT.url)
    assert (first.left_lang, first.right_lang, first.score) == ("en", "fr", 0.5)
    assert (second.right_path, second.score) == ("/html/body/p[2] /html/body/p[3]", 0.25)


def test_side_without_counterpart_is_empty_in_the_segment() -> None:
    pair = PagePair(LEFT.url, RIGHT.url, "en", "fr", 0.9, "hreflang")
    found = list(align_pages(pair, LEFT, RIGHT, PIECES, Beads(), NOTHING))
    alone = next(segment for segment in found if segment.left == "Alone.")
    assert (alone.right, alone.right_path, alone.score) == ("", "", 0.0)


BLOCKS = st.lists(
    st.builds(
        Block,
        st.lists(
            st.sampled_from(
                ["In 1956 it was.", "So. ", "A harbour lies here, and ships. ", "山。"]
            ),
            max_size=5,
        ).map("".join),
        st.sampled_from(["/html/body/p[1]", "/html/body/p[2]", "/html/body/ul/li"]),
    ),
    max_size=6,
)


@pytest.mark.parametrize("trees", ["flat", "domtree"])
@pytest.mark.parametrize("sentences", ["gale_church", "length_lexicon"])
@settings(max_examples=examples(40))
@given(BLOCKS, BLOCKS)
def test_every_sentence_is_in_one_place(trees, sentences, ours, theirs) -> None:
    left, right = make_page("/en", "en", *ours), make_page("/fr", "fr", *theirs)
    aligners = make("align_dom", {"use": trees}), make("align_sentences", {"use": sentences})
    found = list(align_sentences(left, right, LANGS, *aligners, NOTHING))
    places = [sentence.place for each in found for sentence in each.left]
    assert places == list(range(len(places)))  # in the order of the left page
    others = Counter(sentence.place for each in found for sentence in each.right)
    assert others == Counter(range(len(others)))
    for page, side in ((left, 0), (right, 1)):
        said = Counter("".join(s.text for each in found for s in each[side]).replace(" ", ""))
        assert said == Counter("".join(block.text for block in page.blocks).replace(" ", ""))
    for each in found:
        assert each.left or each.right
        assert (each.score > 0) == bool(each.left and each.right)


TITLES = Pieces([((0,), (0,), 0.8), ((1,), (1,), 1.0)])
OURS = titled(make_page("/en", "en", "Bees. A poem | Bee House", "Text."))
THEIRS = titled(make_page("/fr", "fr", "La ruche – Les abeilles", "Texte."))
CUTS = TitleCuts(Cut(12, 15), Cut(8, 11, is_name_first=True))


def parts_of_titles(cuts: TitleCuts, left: Page = OURS, right: Page = THEIRS) -> list[tuple]:
    """The segments of the titles: texts, characters and score."""
    pair = PagePair(left.url, right.url, *LANGS, 1.0, "test")
    segments = align_pages(pair, left, right, TITLES, Beads(), NOTHING, cuts=cuts)
    return [(s.left, s.left_at, s.right, s.right_at, s.score) for s in segments][:-1]


def test_own_titles_and_the_names_of_the_site_are_segments_of_their_own() -> None:
    assert parts_of_titles(CUTS) == [
        ("Bees. A poem", "0-12", "Les abeilles", "11-23", 0.8),
        ("Bee House", "15-24", "La ruche", "0-8", 0.8),
    ]
    same_order = titled(make_page("/fr", "fr", "Les abeilles | Ruche", "Texte."))
    parts = parts_of_titles(TitleCuts(CUTS.left, Cut(12, 15)), OURS, same_order)
    assert [part[:3:2] for part in parts] == [
        ("Bees. A poem", "Les abeilles"), ("Bee House", "Ruche"),
    ]  # fmt: skip


def test_title_that_is_cut_on_one_side_is_left_to_the_aligner() -> None:
    assert [part[:3:2] for part in parts_of_titles(TitleCuts(CUTS.left, None))] == [
        ("Bees. A poem", "La ruche – Les abeilles"), ("Bee House", ""),
    ]  # fmt: skip


def test_title_that_is_nothing_but_the_name_has_one_part() -> None:
    bare = titled(make_page("/en", "en", "| Bee House", "Text."))
    parts = parts_of_titles(TitleCuts(Cut(0, 2), None), bare)
    assert parts == [("Bee House", "2-11", "La ruche – Les abeilles", "0-23", 0.8)]


def test_only_the_title_is_cut_and_only_if_it_is_the_one_that_was_stored() -> None:
    sentences = ["Bees.", "A poem | Bee House"]
    assert [part[0] for part in parts_of_titles(TitleCuts())] == sentences
    changed = replace(OURS, record=replace(OURS.record, title="Other"))
    assert [part[0] for part in parts_of_titles(CUTS, changed)] == sentences
    paragraph = make_page("/en", "en", OURS.blocks[0].text, "Text.")
    paragraph = replace(paragraph, record=OURS.record)
    assert [part[0] for part in parts_of_titles(CUTS, paragraph)] == sentences

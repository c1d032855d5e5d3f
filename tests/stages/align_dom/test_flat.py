from __future__ import annotations

import pytest
from support.fakes import make_page

from diptych.stages.align_dom.flat import Flat, last_tag
from diptych.types import Block, NodePair, Page

LONG = "A paragraph about the harbour, its ships and the people who work there every day. "


def page(*blocks: tuple[str, str]) -> Page:
    return make_page("/", "en", *(Block(text, f"/html/body/{path}") for path, text in blocks))


def texts(pairs: list[NodePair]) -> list[tuple[list[str], list[str]]]:
    return [([b.text for b in pair.left], [b.text for b in pair.right]) for pair in pairs]


@pytest.mark.parametrize(
    ("path", "tag"),
    [
        ("/html/body/p", "p"),
        ("/html/body/div[2]/h3[1]", "h3"),
        ("/html/body/p[2]/text()[2]", "p"),
        ("/html/body/p/text()", "p"),
        ("/html/body/x-card[12]", "x-card"),
        ("", ""),
    ],
)
def test_last_tag_is_that_of_the_element(path: str, tag: str) -> None:
    assert last_tag(path) == tag


def test_blocks_of_like_length_are_paired_in_order() -> None:
    left = page(("h1", "Harbour"), ("p[1]", LONG * 2), ("p[2]", LONG))
    right = page(("h1", "Le port"), ("p[1]", LONG.upper() * 2), ("p[2]", LONG.upper()))
    assert texts(Flat().align(left, right)) == [
        (["Harbour"], ["Le port"]),
        ([LONG * 2], [LONG.upper() * 2]),
        ([LONG], [LONG.upper()]),
    ]


def test_paragraph_cut_in_two_is_paired_with_the_whole() -> None:
    left = page(("p[1]", LONG.upper()), ("p[2]", LONG.upper() * 2))
    right = page(("p", LONG * 3))
    assert texts(Flat().align(left, right)) == [([LONG.upper(), LONG.upper() * 2], [LONG * 3])]
    assert [len(pair.right) for pair in Flat().align(right, left)] == [2]


def test_tag_decides_between_blocks_of_the_same_length() -> None:
    left = page(("h2", "Winter hours"))
    right = page(("li", "Bons horaires"), ("h2", "Heure d'hiver"))
    assert texts(Flat().align(left, right))[-1] == (["Winter hours"], ["Heure d'hiver"])
    swapped = page(("h2", "Heure d'hiver"), ("li", "Bons horaires"))
    assert texts(Flat().align(left, swapped))[0] == (["Winter hours"], ["Heure d'hiver"])
    # Without the cost of another tag only the length decides.
    close = page(("li", "Les bons horaires"), ("h2", "Heure d'hiver"))
    assert texts(Flat(other_tag=0.0).align(left, close))[0][0] == ["Winter hours"]
    assert texts(Flat().align(left, close))[0][0] == []


def test_numbers_decide_between_blocks_of_the_same_length() -> None:
    left = page(("p", "In 1956 we came"))
    right = page(("p[1]", "En 1945 on part"), ("p[2]", "En 1956 on va y"))
    assert texts(Flat().align(left, right))[-1] == (["In 1956 we came"], ["En 1956 on va y"])
    mirrored = page(("p[1]", "En 1956 on va y"), ("p[2]", "En 1945 on part"))
    assert texts(Flat().align(left, mirrored))[0] == (["In 1956 we came"], ["En 1956 on va y"])


def test_numbers_of_merged_blocks_are_all_looked_at() -> None:
    left = page(
        ("p[1]", "Open in the winter of 2011"), ("p[2]", "and of 2012, but closed on Mondays")
    )
    right = page(("p", "Ouvert en hiver 2011 et en hiver 2012, mais fermé lundi."))
    (pair,) = Flat().align(left, right)
    assert (
        pair.score
        > Flat().align(left, page(("p", right.blocks[0].text.replace("2", "3"))))[0].score
    )


def test_consistently_longer_language_is_no_mismatch() -> None:
    left = page(("p[1]", LONG * 4), ("p[2]", LONG * 8), ("p[3]", LONG * 6))
    right = page(*((f"p[{n}]", LONG.upper() * n) for n in (5, 10, 7)))
    assert [(len(pair.left), len(pair.right)) for pair in Flat().align(left, right)] == [(1, 1)] * 3
    assert min(pair.score for pair in Flat().align(left, right)) > 0.3


def test_page_with_more_content_is_no_longer_language() -> None:
    left = page(("p", LONG * 4))
    right = page(("p[1]", LONG.upper() * 4), ("p[2]", "X" * 2_000), ("p[3]", "Y" * 2_500))
    first = Flat().align(left, right)[0]
    assert (len(first.left), len(first.right)) == (1, 1)


def test_same_text_is_paired_whatever_its_tag() -> None:
    left = page(("h2", "Contact"), ("address", "Rue du Lac 7, Genève"), ("p", LONG))
    right = page(("td", "Rue du Lac 7, Genève"), ("p", LONG.upper()))
    pairs = Flat().align(left, right)
    assert (["Rue du Lac 7, Genève"], ["Rue du Lac 7, Genève"]) in texts(pairs)
    assert pairs[1].score == 1.0


def test_extra_block_has_no_counterpart_and_no_score() -> None:
    left = page(("p[1]", LONG), ("li", "New!"), ("p[2]", LONG * 2))
    right = page(("p[1]", LONG.upper()), ("p[2]", LONG.upper() * 2))
    assert NodePair(left.blocks[1:2], (), 0.0) in Flat().align(left, right)


@pytest.mark.slow
def test_page_of_thousands_of_blocks_is_aligned() -> None:
    rows = [("li", "x" * (5 + 13 * number % 70) + f" {number}") for number in range(2_000)]
    shifted = [("li", text.upper()) for _, text in rows]
    pairs = Flat().align(page(*rows), page(*shifted[:900], *shifted[903:]))
    assert sum(len(pair.left) for pair in pairs) == 2_000
    right = sum(
        [b.text.upper() for b in pair.left] == [b.text for b in pair.right] for pair in pairs
    )
    assert right > 1_980

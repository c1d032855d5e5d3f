from __future__ import annotations

import dataclasses
from itertools import pairwise

import numpy as np
import pytest
from support.fakes import at, make_page
from support.timing import processor_seconds

from diptych.learn.lexicon.ibm1 import train
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.page.read import read_page
from diptych.stages.align_dom.domtree.strategy import DomTree
from diptych.stages.align_dom.flat import Flat
from diptych.text.tokens import tokens
from diptych.types import Block, NodePair, Page, Response

EN = [
    "The harbour opens at seven in the morning.",
    "Ships from the north arrive in winter, and their crews stay for some weeks.",
    "Tickets are sold at the gate.",
    "Visitors should bring warm clothes, since the wind is strong.",
    "Dogs are not allowed on board.",
]
FR = [
    "Le port ouvre à sept heures du matin.",
    "Les navires du nord arrivent en hiver, et leurs équipages restent quelques semaines.",
    "Les billets sont vendus à l'entrée.",
    "Les visiteurs doivent apporter des vêtements chauds, car le vent est fort.",
    "Les chiens ne sont pas admis à bord.",
]


def page(markup: str, path: str = "/") -> Page:
    headers = (("content-type", "text/html; charset=utf-8"),)
    response = Response(at(path), 200, headers, markup.encode(), 0.0)
    return read_page(response, with_blocks=True, with_tree=True)


def paired(pairs: list[NodePair]) -> list[tuple[str, str]]:
    return [(one.text, other.text) for pair in pairs for one in pair.left for other in pair.right]


def sections(texts: list[str], *, menu: str = "") -> str:
    body = "".join(f"<div><h2>{text[:12]}</h2><p>{text}</p></div>" for text in texts)
    return f"<body>{menu}<div id=main>{body}</div>"


def test_translated_blocks_are_paired_by_structure_and_length() -> None:
    pairs = DomTree().align(page(sections(EN)), page(sections(FR)))
    assert set(zip(EN, FR, strict=True)) <= set(paired(pairs))
    assert all(pair.score > 0.5 for pair in pairs if pair.left and pair.right)


def test_menu_on_one_side_is_left_alone() -> None:
    menu = "<ul>" + "".join(f"<li>Entrée {name}</li>" for name in "ABCDEF") + "</ul>"
    pairs = DomTree().align(page(sections(EN)), page(sections(FR, menu=menu)))
    assert set(zip(EN, FR, strict=True)) <= set(paired(pairs))
    alone = [pair.right[0].text for pair in pairs if not pair.left]
    assert alone == [f"Entrée {name}" for name in "ABCDEF"]


def test_section_that_is_missing_does_not_shift_the_others() -> None:
    pairs = paired(DomTree().align(page(sections(EN)), page(sections(FR[:1] + FR[2:]))))
    assert set(pairs) >= {(EN[k], FR[k]) for k in (0, 2, 3, 4)}


def lexicon() -> Lexicon:
    words = [(tokens(en, "en"), tokens(fr, "fr")) for en, fr in zip(EN, FR, strict=True)]
    return train(words * 3, "en", "fr")


def test_lexicon_aligns_blocks_that_structure_cannot() -> None:
    left = page("<body><ul>" + "".join(f"<li>{text}" for text in EN) + "</ul>")
    right = page(f"<body><ul><li>{FR[0]}<li>{FR[4]}</ul>")
    assert paired(DomTree().align(left, right, lexicon())) == [(EN[0], FR[0]), (EN[4], FR[4])]


def test_texts_that_changed_places_are_paired_out_of_order() -> None:
    left = page("<body>" + "".join(f"<p>{text}</p>" for text in EN))
    order = [0, 2, 1, 3, 4]
    right = page("<body>" + "".join(f"<p>{FR[k]}</p>" for k in order))
    found = paired(DomTree().align(left, right, lexicon()))
    assert found == list(zip(EN, FR, strict=True))
    in_order = DomTree(crossing=0.0).align(left, right, lexicon())
    places = [right.blocks.index(pair.right[0]) for pair in in_order if pair.right]
    assert places == sorted(places)


def test_numbers_and_names_are_their_own_translations() -> None:
    left = page("<body><ul><li>Version 1.4 of Kopete<li>Version 2.7 of Amarok<li>Version 3.9</ul>")
    right = page("<body><ul><li>La version 2.7 d'Amarok</ul>")
    assert paired(DomTree().align(left, right)) == [
        ("Version 2.7 of Amarok", "La version 2.7 d'Amarok")
    ]


def test_aligned_links_are_given_with_their_addresses() -> None:
    left = page("<body><ul><li><a href=/en/a>About the harbour</a><li><a href=/en/b>News</a></ul>")
    right = page("<body><ul><li><a href=/fr/b>Nouvelles</a></ul>")
    assert [
        (one[-5:], other[-5:]) for one, other, _ in DomTree().align_with_links(left, right)[1]
    ] == [("/en/b", "/fr/b")]
    assert all(0 <= score <= 1 for _, _, score in DomTree().align_with_links(left, right)[1])


def test_answer_does_not_depend_on_what_was_aligned_before() -> None:
    one, other = page(sections(EN)), page(sections(FR[1:]))
    first = DomTree().align(one, other)
    DomTree().align(other, one, lexicon())
    assert DomTree().align(one, other) == first


def test_same_page_twice_and_odd_characters() -> None:
    odd = page("<body><p>\u202bשלום עולם\u202c</p><p>a\x00b\x01c \ufffd</p><p>\U0001f600 123</p>")
    for pair in DomTree().align(odd, odd):
        assert pair.left == pair.right
        assert pair.score > 0.5


def test_single_right_block_is_placed_between_its_neighbours() -> None:
    left = page("<body>" + "".join(f"<p>{text}</p>" for text in EN))
    right = page(
        f"<body><p>{FR[0]}</p><blockquote>12 345</blockquote>"
        + "".join(f"<p>{t}</p>" for t in FR[1:])
    )
    pairs = DomTree().align(left, right)
    places = [right.blocks.index(pair.right[0]) for pair in pairs if pair.right]
    assert all(one < other for one, other in pairwise(places))


def test_paper_alone_needs_a_lexicon_and_works_with_one() -> None:
    off = {field.name: 0.0 for field in dataclasses.fields(DomTree) if field.type == "float"}
    paper = DomTree(**{**off, "words": 1.0})
    assert set(zip(EN, FR, strict=True)) <= set(
        paired(paper.align(page(sections(EN)), page(sections(FR)), lexicon()))
    )


@pytest.mark.parametrize("cut", [1_000, 100_000])
def test_pages_that_are_cut_are_aligned_too(cut: int) -> None:
    texts = [f"{EN[k % 5]} Number {k}." for k in range(400)]
    others = [f"{FR[k % 5]} Numéro {k}." for k in range(400)]
    left = page("<body>" + "".join(f"<p>{text}</p>" for text in texts))
    right = page("<body>" + "".join(f"<p>{t}</p>" for k, t in enumerate(others) if k % 7))
    found = set(paired(DomTree(max_cells=cut).align(left, right)))
    right_ones = {(texts[k], others[k]) for k in range(400) if k % 7}
    assert len(found & right_ones) > 0.97 * len(right_ones)
    assert len(found - right_ones) < 0.01 * len(right_ones)


def blocks_page(count: int, path: str, seed: int) -> Page:
    rng = np.random.default_rng(seed)
    blocks = [
        Block(" ".join(f"w{n}" for n in rng.integers(0, 5_000, 5)), path.format(k, k % 97))
        for k in range(count)
    ]
    return make_page("/", "en", *blocks)


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    ["/html/body/p[{0}]", "/html/body/div[{0}]/ul/li[{1}]", "/html" + "/div" * 190 + "/p[{0}]"],
)
def test_huge_pages_end_in_bounded_time(path: str) -> None:
    left, right = blocks_page(20_000, path, 1), blocks_page(20_000, path, 2)
    with processor_seconds(60):
        pairs = DomTree().align(left, right)
    assert sum(len(pair.left) for pair in pairs) == 20_000
    assert sum(len(pair.right) for pair in pairs) == 20_000


def test_block_of_a_megabyte_is_one_block() -> None:
    long = make_page("/", "en", "word " * 200_000, "Short text.")
    pairs = DomTree().align(long, long)
    assert [len(pair.left) for pair in pairs] == [1, 1]


def test_trees_beat_one_sequence_if_one_side_has_more_blocks() -> None:
    menu = "<div><p>" + "</p><p>".join(FR[::-1]) + "</p></div>"
    left, right = page(sections(EN)), page(sections(FR, menu=menu))
    truth = set(zip(EN, FR, strict=True))
    assert len(set(paired(DomTree().align(left, right))) & truth) >= len(
        set(paired(Flat().align(left, right))) & truth
    )


def test_without_a_compiler_the_answer_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    left, right = page(sections(EN)), page(sections(FR[1:]))
    compiled = DomTree().align(left, right, lexicon())
    monkeypatch.setattr("diptych.kernels.tree_align.native", lambda: None)
    plain = DomTree().align(left, right, lexicon())
    assert paired(plain) == paired(compiled)
    assert [pair.score for pair in plain] == pytest.approx([pair.score for pair in compiled])

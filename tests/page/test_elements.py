"""Hidden elements: not shown, or not part of the sentence."""

from __future__ import annotations

import pytest
from support.blocks import block_texts, walk
from support.timing import processor_seconds

HIDDEN = [
    "hidden",
    "style='display:none'",
    "style='color:red; Display : none'",
    "style='visibility:hidden'",
    "style='visibility: hidden; width: 0'",
    "class='material-icons'",
    "class='material-symbols-outlined small'",
]
SHOWN = [
    "hidden=until-found",
    "style='overflow:hidden'",
    "style='visibility:visible'",
    "style='visibility:hidden; animation-name: zoomIn'",
    "class='wow fadeIn' style='visibility: hidden'",
    "class='material-icons-wrapper'",
    "aria-hidden=false",
    "class='screen-reader-shortcut'",
]
APART = [
    "class='sr-only'",
    "class='visually-hidden focusable'",
    "class='link screen-reader-text'",
    "class=visuallyhidden",
    "class=assistive-text",
    "aria-hidden=true",
]


@pytest.mark.parametrize("attribute", HIDDEN)
def test_hidden_text_is_left_out_and_the_sentence_stays_whole(attribute: str) -> None:
    assert block_texts(f"<p>one <span {attribute}>two</span> three</p>") == ["one three"]
    assert block_texts(f"<p>one</p><div {attribute}>two <p>three</div><p>four") == ["one", "four"]


@pytest.mark.parametrize("attribute", SHOWN)
def test_other_elements_are_read(attribute: str) -> None:
    assert block_texts(f"<p>one <span {attribute}>two</span> three</p>") == ["one two three"]


@pytest.mark.parametrize("attribute", APART)
def test_text_for_screen_readers_follows_the_sentence_it_hangs_on(attribute: str) -> None:
    markup = f"<p>A map <span {attribute}>opens in a <b>new</b> window</span> of it</p><p>End"
    assert block_texts(markup) == ["A map of it", "opens in a new window", "End"]
    found = walk(markup)
    paths = [block.path for block in found.blocks]
    assert paths[:2] == ["/html/body/p[1]", "/html/body/p[1]/span[1]"]
    assert found.tree is not None
    paragraph = found.tree.children[1].children[0]
    (span,) = [node for node in paragraph.children if node.tag == "span"]
    assert [(node.text, node.path) for node in span.children] == [
        ("opens in a new window", paths[1])
    ]


def test_text_that_is_all_for_screen_readers_is_a_block() -> None:
    assert block_texts("<a href=x><svg></svg><span class=sr-only>Twitter</span></a>") == ["Twitter"]
    assert block_texts("<p>Name<span aria-hidden=true>*</span></p>") == ["Name"]


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<svg><style>.a{fill:red}</style><title>Icon</title></svg>", []),
        ("<svg><title>Icon</title></svg> new<script>x()</script>", ["new"]),
        ("W<b>o</b>rd", ["Word"]),
        ("one<br>two", ["one two"]),
        ("one <i hidden>two</i>", ["one"]),
        ("<a href=a>one</a><a href=b>two</a>", ["one two"]),
    ],
)
def test_text_set_apart_is_what_is_shown(markup: str, expected: list[str]) -> None:
    assert block_texts(f"<p>Hello <span class=sr-only>{markup}</span></p>") == ["Hello", *expected]


def test_picture_in_an_element_set_apart_keeps_its_text() -> None:
    assert block_texts("<p>one <span aria-hidden=true><img alt=two></span>") == ["one", "two"]


def test_letters_of_a_moving_heading_stay_together() -> None:
    letters = "".join(f"<span aria-hidden=true>{letter}</span>" for letter in "move")
    assert block_texts(f"<h1>{letters}</h1>") == ["move"]
    words = " ".join(f"<span aria-hidden=true>{word}</span>" for word in ("We", "move"))
    assert block_texts(f"<h1>{words}</h1>") == ["We move"]


def test_hidden_element_does_not_hide_the_page() -> None:
    assert block_texts("<body style='visibility:hidden'><p>one") == ["one"]


def test_nested_elements_set_apart_are_read_in_linear_time() -> None:
    spans = "<span class=sr-only>" * 100
    with processor_seconds():
        found = walk(f"<p>{spans}{'<i></i>' * 50_000}text")
    assert [block.text for block in found.blocks] == ["text"]

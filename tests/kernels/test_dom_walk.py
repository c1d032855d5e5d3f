"""The walk in C by itself; `tests/page/test_fast_walk.py` compares it with the reference."""

from __future__ import annotations

import pytest
from selectolax.lexbor import LexborHTMLParser

from diptych.kernels import dom_walk, native
from diptych.kernels.dom_walk import Hidden, Question, Walker
from diptych.page import fast_walk


@pytest.fixture
def walker() -> Walker:
    found = fast_walk._walker()
    assert found is not None
    return found


def root(parser: LexborHTMLParser) -> int:
    assert parser.root is not None
    return parser.root.mem_id


def test_the_kernel_is_compiled() -> None:
    assert native() is not None


def test_decisions_come_from_the_caller(walker: Walker) -> None:
    parser = LexborHTMLParser(
        "<h1>a<b>b</b></h1><p>c<sup>1</sup></p><p><a class=x href='#d'>2<b>.</a></p>"
        "<a href=1>e</a><a href=2>f"
    )
    asked: list[tuple[Question, str]] = []

    def ask(question: Question, node: int, before: str) -> bool:
        asked.append((question, before))
        return True

    found = walker.walk(root(parser), (), ask)
    assert found is not None
    assert found.texts == ["a b", "c", "e f"]
    assert asked == [
        (Question.GAP, "a"), (Question.SUPERSCRIPT, ""),
        (Question.MARK, "2\0" "2.\0" "#d\0" "x\0" "\0"),
    ]  # fmt: skip
    none = walker.walk(root(parser), (), lambda *_: False)
    assert none is not None
    assert none.texts == ["ab", "c1", "2.", "e f"]


def test_hidden_elements_are_left_out_or_read_apart(walker: Walker) -> None:
    parser = LexborHTMLParser("<p>a <b>b</b> c</p><p>d</p><div>e</div>")
    bold, _, second = (parser.css(tag)[0] for tag in ("b", "p", "div"))
    hidden = [Hidden(second.mem_id, 1, ""), Hidden(bold.mem_id, 2, "Said")]
    found = walker.walk(root(parser), hidden, lambda *_: False)
    assert found is not None
    assert found.texts == ["a c", "Said", "d"]


def test_targets_of_links_are_left_to_the_caller(walker: Walker) -> None:
    parser = LexborHTMLParser("<p><a href=x>a</a> <a href=x>b</a> <a href='y\n'>c</a> <a>d</a>")
    found = walker.walk(root(parser), (), lambda *_: False)
    assert found is not None
    assert list(found.hrefs.values()) == ["x", "y\n"]
    assert [found.strings[number] for number in found.hrefs] == ["", ""]


def test_without_the_library_nothing_is_found(
    walker: Walker, monkeypatch: pytest.MonkeyPatch
) -> None:
    parser = LexborHTMLParser("<p>a")
    monkeypatch.setattr(dom_walk, "native", lambda: None)
    assert walker.walk(root(parser), (), lambda *_: False) is None


def test_links_of_a_list_are_blocks_of_their_own_if_the_list_has_nothing_else(
    walker: Walker,
) -> None:
    cases = {
        "<p><a href=1>a</a> b<br><br><a href=2>c</a> <a href=3>d</a></p>": ["a b", "c d"],
        "<p><a href=1>a</a> <a href=2>b</a><br><br><a href=3>c</a> <a href=4>d": [*"abcd"],
    }
    for source, texts in cases.items():
        parser = LexborHTMLParser(source)
        found = walker.walk(root(parser), (), lambda *_: False)
        assert found is not None
        assert found.texts == texts

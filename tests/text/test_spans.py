from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.page.read import read_content
from diptych.text.spans import (
    MAX_STRETCHES,
    by_path,
    format_at,
    parse_at,
    pieces,
    rewritten,
    stretches,
    texts_at,
)
from diptych.types import Block, Decision, Response, SegmentPair, Url
from diptych.units import DocumentPair, Piece, Text

URL = Url("http://a.org/")
SEGMENT = SegmentPair("One.", "Un.", "en", "fr", URL, URL, "/p", "/q", 0.5, "0-4", "0-3")
KEPT = Decision(True, 0.75)


def first(blocks: list[Block], path: str, at: str) -> str | None:
    return next(texts_at(by_path(blocks), path, at), None)


@given(st.lists(st.tuples(st.integers(0, 10**8), st.integers(1, 10**8)), max_size=6))
def test_formatted_ranges_parse_to_the_same_ranges(spans: list[tuple[int, int]]) -> None:
    whole = [(start, start + length) for start, length in spans]
    assert parse_at(format_at(whole)) == whole


@pytest.mark.parametrize(
    "at",
    ["0", "-", "0-", "-1-4", "0-4 ", " 0-4", "0-4  5-6", "4-4", "5-4", "0-4\n", "0-4\t5-6", "a-b",
     "0x1-5", "٠-٤", "1_0-20", "+0-4", "0-4.0", "0-9999999999", "0-1 0-9999999999",
     "0-1 9999999999-1", "0-4,5-6"],
)  # fmt: skip
def test_malformed_ranges_are_refused(at: str) -> None:
    with pytest.raises(ValueError, match="character range"):
        parse_at(at)


@given(st.text(max_size=12))
def test_any_text_is_refused_or_parsed(at: str) -> None:
    try:
        spans = parse_at(at)
    except ValueError:
        return
    assert all(0 <= start < end for start, end in spans)


def test_numbers_of_paths_and_ranges_must_match() -> None:
    assert stretches("", "") == []
    for path, at in [("/p", ""), ("", "0-4"), ("/p /q", "0-4"), ("/p", "0-4 5-6"), ("/p ", "0-4")]:
        with pytest.raises(ValueError, match="blocks but"):
            stretches(path, at)


def test_a_side_with_too_many_blocks_is_refused() -> None:
    assert len(stretches(" ".join(["/p"] * 2000), " ".join(["0-1"] * 2000))) == MAX_STRETCHES
    many = MAX_STRETCHES + 1
    with pytest.raises(ValueError, match="more than"):
        stretches(" ".join(["/p"] * many), " ".join(["0-1"] * many))


def test_a_blank_that_is_not_ascii_is_part_of_a_path() -> None:
    assert first([Block("Oui", "/a\u00a0b[1]")], "/a\u00a0b[1]", "0-3") == "Oui"


def test_stretches_of_several_blocks_are_joined_by_spaces() -> None:
    blocks = [Block("One. Two.", "/p"), Block("Three.", "/q")]
    assert first(blocks, "/p /q", "5-9 0-5") == "Two. Three"
    assert first(blocks, "/q /p", "0-6 0-4") == "Three. One."


@pytest.mark.parametrize(("path", "at"), [("/r", "0-1"), ("/p", "0-10"), ("/p /r", "0-4 0-1")])
def test_a_location_missing_on_the_page_has_no_text(path: str, at: str) -> None:
    assert first([Block("One. Two.", "/p")], path, at) is None


def test_blocks_with_the_same_path_are_tried_in_turn() -> None:
    page = by_path([Block("one", "/p"), Block("two", "/p"), Block("six", "/p")])
    assert list(texts_at(page, "/p", "0-3")) == ["one", "two", "six"]
    assert next(texts_at(page, "/p /p", "0-3 0-3")) == "one two"
    assert set(texts_at(page, "/p /p", "0-3 0-3")) >= {"two six", "one six", "six one"}
    assert list(texts_at(page, "/p", "0-4")) == []


def test_blocks_with_the_same_text_are_tried_once() -> None:
    page = by_path([Block("one!", "/p"), Block("one?", "/p")])
    assert list(texts_at(page, "/p", "0-3")) == ["one"]


def test_number_of_texts_to_try_is_bounded() -> None:
    page = by_path([Block(f"{number:05}", "/p") for number in range(2_000)])
    assert len(list(texts_at(page, "/p", "0-5"))) == 16
    path, at = " ".join(["/p"] * MAX_STRETCHES), " ".join(["0-5"] * MAX_STRETCHES)
    assert len(list(texts_at(page, path, at))) == 256


def test_segments_become_locations_in_blocks() -> None:
    left = [Block("Menu", "/m"), Block("One. Two.", "/p")]
    right = [Block("Un. Deux.", "/q"), Block("Trois", "/r")]
    both = SEGMENT._replace(
        left="Two.", left_at="5-9", right="Deux. Trois",
        right_path="/q /r", right_at="4-9 0-5",
    )  # fmt: skip
    alone = SEGMENT._replace(left="", left_path="", left_at="", right="Un.")
    lost = Decision(False, 0.0, "empty")
    assert pieces(left, right, [(SEGMENT, KEPT), (both, KEPT), (alone, lost)]) == (
        (((1, 0, 4),), ((0, 0, 3),), 0.75, True, ""),
        (((1, 5, 9),), ((0, 4, 9), (1, 0, 5)), 0.75, True, ""),
        ((), ((0, 0, 3),), 0.0, False, "empty"),
    )


def test_blocks_of_one_path_are_used_by_their_text_and_in_order() -> None:
    left = [Block("Two.", "/p"), Block("One.", "/p"), Block("One.", "/p")]
    right = [Block("Un.", "/q")] * 2
    found = pieces(left, right, [(SEGMENT, KEPT)] * 3)
    assert [piece.left[0][0] for piece in found] == [1, 2, 1]
    assert [piece.right[0][0] for piece in found] == [0, 1, 0]


@pytest.mark.parametrize(
    "changed",
    [
        {"left": "One"},
        {"left": "One. Two."},
        {"left": "Two."},
        {"left_at": ""},
        {"left_at": "0-40"},
        {"left_path": "/r"},
        {"left_path": "/p /p"},
    ],
)
def test_a_segment_whose_text_is_missing_is_rejected(changed: dict[str, str]) -> None:
    seg = SEGMENT._replace(**changed)  # type: ignore[arg-type]
    (piece,) = pieces([Block("One. Two.", "/p")], [Block("Un.", "/q")], [(seg, KEPT)])
    assert piece == ((), ((0, 0, 3),), 0.75, False, "no_text")


def test_locations_match_the_blocks_of_a_parsed_page() -> None:
    body = b"<p>A <b>bold</b>&nbsp;&amp; soft&shy;ened word. And<br>more.<p>Last"
    page = Response(URL, 200, (("Content-Type", "text/html"),), body, 0.0)
    blocks = list(read_content(page)[0])
    path = f"{blocks[0].path} {blocks[1].path}"
    assert first(blocks, path, "24-33 0-4") == "And more. Last"


def document(left: list[str], right: list[str], *found: Piece) -> DocumentPair:
    def page(lang: str, texts: list[str]) -> Text:
        blocks = tuple(Block(text, f"/p[{number}]") for number, text in enumerate(texts))
        return Text(lang, URL, "secret", blocks, 0.0, "", "", 0)

    return DocumentPair(page("en", left), page("fr", right), 1.0, "", (), found)


def said(found: DocumentPair) -> list[tuple[str, str]]:
    return [
        (
            " ".join(found.left.blocks[index].text[start:end] for index, start, end in piece.left),
            " ".join(
                found.right.blocks[index].text[start:end] for index, start, end in piece.right
            ),
        )
        for piece in found.pieces
    ]


def hidden(text: str) -> str:
    return text.replace("secret", "[X]").replace("x. y", "[Y]")


def test_segments_of_a_rewritten_text_have_new_locations() -> None:
    before = document(
        ["A secret. Two secret. End", "same"],
        ["Un. Deux", "secret"],
        Piece(((0, 0, 9),), ((0, 0, 3),), 0.5, True),
        Piece(((0, 10, 21), (1, 0, 4)), ((1, 0, 6),), 0.5, True),
        Piece(((0, 22, 25),), (), 0.0, False, "empty"),
    )
    after = rewritten(before, hidden)
    assert [block.text for block in after.left.blocks] == ["A [X]. Two [X]. End", "same"]
    assert said(after) == [(hidden(left), hidden(right)) for left, right in said(before)]
    assert [piece[2:] for piece in after.pieces] == [piece[2:] for piece in before.pieces]
    assert (after.left.title, after.right.title) == ("[X]", "[X]")
    assert rewritten(before, str) == before


def test_a_change_beyond_a_segment_is_applied_to_the_block() -> None:
    before = document(
        ["x. y z", "a"],
        ["b"],
        Piece(((0, 0, 2),), ((0, 0, 1),), 0.5, True),
        Piece(((1, 0, 1),), ((0, 0, 1),), 0.5, True),
    )
    after = rewritten(before, hidden)
    assert after.left.blocks[0].text == "[Y] z"
    assert after.pieces == (
        ((), ((0, 0, 1),), 0.5, False, "no_text"),
        (((1, 0, 1),), ((0, 0, 1),), 0.5, True, ""),
    )


@given(st.lists(st.sampled_from(["secret", "a", "bb. ", " "]), max_size=9), st.data())
def test_rewriting_with_any_cuts(parts: list[str], data: st.DataObject) -> None:
    text = "".join(parts)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=4)))
    found = [Piece(((0, start, end),), (), 0.5, True) for start, end in pairwise(cuts)]
    before = document([text], [], *found)
    after = rewritten(before, hidden)
    assert "secret" not in after.left.blocks[0].text
    for piece, (one, _), (other, _) in zip(after.pieces, said(after), said(before), strict=True):
        assert one == hidden(other) or piece.reason == "no_text"

"""The pass in C finds the hidden elements that selectors find; see also `test_parts`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from diptych.page import fast_scan
from diptych.page.elements import hidden_elements
from diptych.page.fast_scan import hidden_in, scan_page

PIECES = (
    "<p hidden>a", "<p HIDDEN=until-found>a", "<p hidden=''>a", "<p style='display:none'>a",
    "<p style='DISPLAY : NONE'>a", "<b style='visibility: hidden' class=fade>a</b>",
    "<b style='visibility:hidden'>a</b>", "<span aria-hidden=true>a</span>",
    "<span aria-hidden=false>a</span>", "<span aria-hidden=TRUE>a</span>",
    "<i aria-hidden=true class=sr-only>a</i>", "<span aria-hidden=true class='a sr-only'>a</span>",
    "<b class='a visually-hidden'>a</b>", "<b class=visuallyhidden>a</b>",
    "<b class='sr-only-focusable'>a</b>", "<b class='x\u00a0sr-only'>a</b>", "<b class>a</b>",
    "<b class='screen-reader-text\n'>a</b>", "<b class=assistive-text></b>",
    "<i class=material-icons>a</i>", "<i class='b material-icons'>a</i>",
    "<i class=material-symbols-sharp>a</i>", "<svg><g hidden><path></g></svg>",
    "<select><option hidden>a</select>", "<noscript><p hidden>a</noscript>", "<html hidden>",
    "<body style='display:none'>", "text", " ", "<!-- c -->", "<div>", "</div>", "<span>",
    "</span>",
)  # fmt: skip


def is_same(markup: str) -> None:
    parser = LexborHTMLParser(markup)
    scanned = scan_page(parser)
    assert scanned is not None
    found = {node.mem_id: reason for node, reason in hidden_in(scanned)}
    assert found == hidden_elements(parser)


@pytest.mark.parametrize("piece", PIECES)
def test_each_hidden_element(piece: str) -> None:
    is_same(f"<!doctype html>{piece}")
    is_same(f"<!doctype html><div>{piece} {piece}<p>{piece}one{piece}</div>")


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_any_hidden_elements(markup: str) -> None:
    is_same(f"<!doctype html>{markup}")


def test_an_empty_page_is_scanned() -> None:
    is_same("")


def test_without_the_functions_of_the_parser_nothing_is_scanned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fast_scan, "_scanner", lambda: None)
    assert scan_page(LexborHTMLParser("<p>a")) is None

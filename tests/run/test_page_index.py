"""The index of pages in archives, by digest and by URL."""

from __future__ import annotations

from diptych.run.page_index import PageIndex, PagePlace
from diptych.types import Url

A, B, C = (Url(f"http://example.org/{name}") for name in "abc")


def test_pages_of_the_same_content_come_with_those_of_the_url_first() -> None:
    index = PageIndex(
        iter(
            [
                PagePlace("x", A, 1, 5),
                PagePlace("y", B, 0, 9),
                PagePlace("x", B, 1, 7),
                PagePlace("x", A, 0, 6),
                PagePlace("x", A, 0, 3),
            ]
        )
    )
    assert index.places("x", B, 9) == [(1, 7), (0, 3), (0, 6), (1, 5)]
    assert index.places("x", A, 2) == [(0, 3), (0, 6)]
    assert index.places("x", C, 1) == [(0, 3)]
    assert index.places("z", A, 9) == []


def test_a_url_is_found_with_any_content() -> None:
    index = PageIndex([PagePlace("x", A, 0, 0)])
    assert [index.has(url) for url in (A, B)] == [True, False]
    assert not PageIndex([]).has(A)

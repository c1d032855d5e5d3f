from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from diptych.page.neighbourhood import BUCKETS, neighbourhood, words_of
from diptych.types import Link, Url


def words(url: str = "http://x.org/", **contexts: str) -> set[int]:
    return set(neighbourhood(Link(Url(url), **contexts)))


def test_words_are_distinguished_by_context() -> None:
    """The paper's example: `hotel` in URL and anchor."""
    base = words()
    found = [
        words(anchor="hotel") - base,
        words(around="hotel") - base,
        words("http://x.org/hotel") - base,
        words("http://hotel.x.org/") - base,
    ]
    assert all(len(each) == 1 for each in found)
    assert len(set().union(*found)) == 4


def test_forms_of_a_word_share_a_stem() -> None:
    assert words(anchor="Viajes") == words(anchor="viajero")
    assert words(anchor="Región") == words(anchor="region")
    assert words(anchor="hotel") != words(anchor="museum")


def test_the_domain_counts_and_www_does_not() -> None:
    assert words("http://www.x.es/") == words("http://x.es/") != words("http://x.org/")


def test_the_text_of_an_image_is_that_of_its_link() -> None:
    assert words(alt="Hoteles") == words(anchor="Hoteles")


def test_short_words_are_left_out() -> None:
    assert words_of("A la de my EN hotel of") == ["hotel"]
    assert words("http://x.org/index.html") >= words()
    assert words("http://x.org/links.asp") & words("http://y.org/links.html")


@given(st.text(), st.text(), st.text())
def test_any_link_text_becomes_numbers(anchor: str, around: str, path: str) -> None:
    link = Link(Url(f"http://example.org/{path}"), anchor=anchor, around=around)
    found = neighbourhood(link)
    assert list(found) == sorted(set(found))
    assert all(0 <= word < BUCKETS for word in found)
    assert found == neighbourhood(link)

"""Own texts of pages; more tests with canonical links are in tests/page/test_distinct.py."""

from __future__ import annotations

from diptych.page.template import Template, is_same_text, own_texts
from diptych.types import Url

PAGES = [Url(f"http://a.org/{number}") for number in range(40)]


def test_blocks_on_a_quarter_of_the_pages_are_template() -> None:
    menu, section = (1, 50.0), (2, 50.0)
    pages = [
        (url, [menu, *([section] if number < 10 else []), (100 + number, 9.0)])
        for number, url in enumerate(PAGES)
    ]
    own = own_texts(pages, lambda url: "en", {PAGES[0], PAGES[30]})
    assert own == {PAGES[0]: {2: 50.0, 100: 9.0}, PAGES[30]: {130: 9.0}}


def test_pages_of_different_numbers_are_not_the_same() -> None:
    assert is_same_text({1: 0.0, 2: 0.0}, {1: 0.0, 2: 0.0})
    assert not is_same_text({1: 0.0}, {2: 0.0})


def test_few_pages_have_no_template() -> None:
    pages = [(url, [(1, 50.0), (100 + number, 9.0)]) for number, url in enumerate(PAGES[:4])]
    assert own_texts(pages, lambda url: "en", {PAGES[0]}) == {PAGES[0]: {1: 50.0, 100: 9.0}}


def test_page_of_only_template_keeps_all_blocks() -> None:
    pages = [(url, [(number % 3, 50.0)]) for number, url in enumerate(PAGES)]
    assert own_texts(pages, lambda url: "en", {PAGES[1]}) == {PAGES[1]: {1: 50.0}}


def test_page_without_text_has_no_own_text() -> None:
    assert own_texts([(PAGES[0], [])], lambda url: "en", {PAGES[0]}) == {}


def test_texts_are_the_same_if_both_share_four_fifths() -> None:
    assert is_same_text({1: 80.0, 2: 20.0}, {1: 80.0})
    assert is_same_text({1: 80.0}, {1: 80.0, 2: 20.0})
    assert not is_same_text({1: 79.0, 2: 21.0}, {1: 79.0})
    assert not is_same_text({1: 79.0}, {1: 79.0, 2: 21.0})


def test_template_counts_no_more_blocks_than_it_has_room_for() -> None:
    template = Template(4)
    for page in range(9):
        template.add("en", [(1, 50.0), (100 + page, 9.0)])
    assert template.pages["en"] == 3

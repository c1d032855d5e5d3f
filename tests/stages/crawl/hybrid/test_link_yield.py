"""The worth of the links of a page before it is fetched."""

from __future__ import annotations

from diptych.stages.crawl.hybrid.link_yield import LinkYields
from diptych.types import Url

LIST, DOCUMENT = Url("http://x.org/en/page/7/"), Url("http://x.org/en/news/a")


def counted(*brought: float, url: Url = LIST) -> LinkYields:
    """Pages of which each brought a few links of so much worth."""
    yields = LinkYields()
    for worth in brought:
        yields.add_page(url, "en")
        for _ in range(3):
            yields.add_link(url, "en", worth / 3)
    return yields


def test_links_have_a_small_prior_value() -> None:
    assert 0.3 < LinkYields().expected(LIST, "en", 0.0) < 0.5
    assert LinkYields().expected(LIST, "en", 0.3) == 0.0


def test_few_good_links_are_worth_more_than_many_poor_ones() -> None:
    few, many = LinkYields(), LinkYields()
    for _ in range(9):
        for yields, links in ((few, 1), (many, 5)):
            yields.add_page(LIST, "en")
            for _ in range(links):
                yields.add_link(LIST, "en", 0.5 / links)
    assert few.expected(LIST, "en", 0.09) > 0.35
    assert many.expected(LIST, "en", 0.09) < 0.1


def test_only_the_excess_over_the_best_url_counts() -> None:
    yields = counted(1.5, 1.5, 1.5)
    worth = [yields.expected(LIST, "en", least) for least in (0.0, 0.3, 0.4, 0.6)]
    assert worth == sorted(worth, reverse=True)
    assert worth[0] > worth[1] > worth[2] > 0.0
    assert worth[3] == 0.0


def test_pages_are_distinguished_by_folder_but_not_by_number() -> None:
    yields = counted(1.5, 1.5, 1.5)
    for _ in range(3):
        yields.add_page(DOCUMENT, "en")
    other = Url("http://x.org/en/page/12/")
    assert yields.expected(other, "en", 0.2) == yields.expected(LIST, "en", 0.2)
    assert yields.expected(DOCUMENT, "en", 0.0) < yields.expected(LIST, "en", 0.0)


def test_value_falls_after_pages_without_yield() -> None:
    rich = counted(*[1.2] * 20)
    before = rich.expected(LIST, "en", 0.2)
    for _ in range(4):
        rich.add_page(LIST, "en")
    plain = 1.2 * 20 / 24 / (1.2 * 20 / 20)  # the share that is left by the counts alone
    assert rich.expected(LIST, "en", 0.2) < 0.9 * plain * before


def test_links_are_never_worth_as_much_as_a_sure_pair() -> None:
    assert counted(*[9.0] * 9).expected(LIST, "en", 0.0) < 0.7


def test_value_that_was_asked_for_before_follows_the_counts() -> None:
    asked, fresh = LinkYields(), LinkYields()
    asked.expected(LIST, "en", 0.0)
    for yields in (asked, fresh):
        yields.add_page(LIST, "en")
    assert asked.expected(LIST, "en", 0.0) == fresh.expected(LIST, "en", 0.0)
    for yields in (asked, fresh):
        yields.add_link(LIST, "en", 0.5)
    assert asked.expected(LIST, "en", 0.0) == fresh.expected(LIST, "en", 0.0)

"""Algorithm 1 and Figure 3 of Vieira & Moreira 2012: which pages are downloaded."""

from __future__ import annotations

import pytest
from support.webgraph import Web, downloaded

from diptych.registry import build

# The behaviour of Figure 3, with names: a start page, what it links to, and what those link to.
FIGURE_3 = Web(
    {
        "/": ["/en/", "/fr/", "/contact"],
        "/en/": ["/en/rooms.html", "/en/prices.html", "/en/history.html"],
        "/fr/": ["/fr/rooms.html", "/fr/prices.html", "/plan-du-site"],
        "/contact": ["/imprint"],
        "/en/rooms.html": ["/en/rooms/one.html"],
        "/fr/rooms.html": ["/fr/rooms/one.html"],
    },
    langs={"/fr": "fr"},
)
FIRST_TWO = ["/", "/contact", "/en/", "/fr/"]
PAIRS = ["/en/prices.html", "/en/rooms.html", "/fr/prices.html", "/fr/rooms.html"]


def policy(**parameters: int) -> object:
    stages = {
        "pair": "pplocator", "verify": "size_ratio", "align_dom": "flat",
        "align_sentences": "gale_church", "filter": "rules",
    }  # fmt: skip
    recipe = {stage: {"use": name} for stage, name in stages.items()}
    return build({"crawl": {"use": "pplocator", **parameters}, **recipe}).crawl


def test_figure_3() -> None:
    """The third level is downloaded only where its URLs can form a pair."""
    found = downloaded(FIGURE_3, policy(), "en", "fr")
    assert sorted(found[:4]) == FIRST_TWO  # exhaustive, and before anything of the third
    assert sorted(found[4:]) == PAIRS


@pytest.mark.parametrize(
    ("levels", "pages"),
    [
        (1, ["/"]),
        (2, ["/", "/en/", "/fr/"]),
        (3, [*FIRST_TWO, *PAIRS]),
        (4, [*FIGURE_3.pages()]),
    ],
)
def test_number_of_levels(levels: int, pages: list[str]) -> None:
    """Levels 1 to n - 1 whole, of level n the candidates; nothing below."""
    assert sorted(downloaded(FIGURE_3, policy(levels=levels), "en", "fr")) == sorted(pages)


def test_site_without_tokens_of_the_languages_costs_no_page_of_the_last_level() -> None:
    """Both lists empty: the site is given up."""
    web = Web({"/": ["/a", "/b"], "/a": ["/a/one", "/a/two"], "/b": ["/b/one"]})
    assert sorted(downloaded(web, policy(), "en", "fr")) == ["/", "/a", "/b"]


def test_counterpart_of_a_page_above_the_last_level_is_downloaded() -> None:
    """Candidates are sought among all URLs that were collected, on whatever level."""
    web = Web({"/": ["/menu", "/news_eng.htm"], "/menu": ["/news_fra.htm", "/jobs_fra.htm"]})
    assert "/news_fra.htm" in downloaded(web, policy(), "en", "fr")
    assert "/jobs_fra.htm" not in downloaded(web, policy(), "en", "fr")


def test_content_is_not_considered() -> None:
    """Only URLs: what a page is in, or says, changes nothing."""
    other = Web(FIGURE_3.links, langs={"/": "de"})
    assert downloaded(other, policy(), "en", "fr") == downloaded(FIGURE_3, policy(), "en", "fr")

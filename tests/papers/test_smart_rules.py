"""Garcia-Romero et al., section 2.1: the order in which components of a URL are asked."""

from __future__ import annotations

import pytest

from bench.baselines.url_rules import components, rule_language

ORDER = [
    ("http://de.example.fr/es/page?lang=it", "it"),  # parameter values
    ("http://de.example.fr/es/page", "es"),  # directory names
    ("http://de.example.fr/page", "fr"),  # public suffix
    ("http://de.example.com/page", "de"),  # subdomain
    ("http://example.com/page", "und"),
]


@pytest.mark.parametrize(("url", "lang"), ORDER)
def test_contradictions_are_settled_by_the_order_of_the_paper(url: str, lang: str) -> None:
    assert rule_language(url) == lang


def test_the_papers_examples() -> None:
    # Spanish pages with English words: the first has a mark, the second none.
    assert rule_language("https://www.dochaney.com/es/contact-us") == "es"
    assert rule_language("https://hjmorelia.com/about-us") == "und"


def test_all_four_components_are_compared() -> None:
    assert list(components("http://a.b.example.com/c/d/e?f=g&h=i")) == [
        "g",
        "i",
        "c",
        "d",
        "com",
        "a",
        "b",
    ]

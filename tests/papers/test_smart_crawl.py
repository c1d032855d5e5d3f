"""Steps 1 to 6 of section 4 of Garcia-Romero et al.: the order in which pages are downloaded."""

from __future__ import annotations

import pytest
from support.fakes import FakeSite, at, make_page
from support.webgraph import Web, downloaded

from diptych.learn.url import language as url_lang
from diptych.learn.url import pair as url_pair
from diptych.stages.crawl.bfs import Bfs
from diptych.stages.crawl.bfs_langs import BfsLangs
from diptych.stages.crawl.smart import Smart
from diptych.types import Link

NAMES = ["news", "about", "history", "visit"]
SITE = Web(
    {
        "/": [*(f"/en/{name}.html" for name in NAMES), "/de/", "/en/", "/fr/"],
        **{f"/en/{name}.html": ["/en/", "/de/", f"/fr/{name}.html"] for name in NAMES},
        **{f"/fr/{name}.html": ["/fr/", "/de/", f"/en/{name}.html"] for name in NAMES},
        "/fr/": [f"/fr/{name}.html" for name in NAMES],
        "/de/": ["/de/nur-deutsch.html"],
    },
    langs={"/fr": "fr", "/de": "de"},
)


def test_steps_4_to_6_give_the_product_of_both_models() -> None:
    """Figure 6: the document is English, so the probability of Spanish is asked for."""
    u = at("/en/guide.html")
    targets = [at(path) for path in ("/es/guide.html", "/es/", "/en/faq.html", "/guia")]
    page = make_page(u, "en", links=[Link(url) for url in targets])
    languages = url_lang.load()
    spanish = languages.probabilities(targets)[:, languages.labels.index("es")]
    parallel = url_pair.load().probabilities([u] * len(targets), targets)
    ranked = Smart().rank(page, FakeSite("en", "es"))
    assert [each.link.url for each in ranked] == targets
    assert [each.priority for each in ranked] == pytest.approx((spanish * parallel).tolist())


def test_step_4_asks_for_the_language_the_document_is_not_in() -> None:
    links = [Link(at("/es/guide.html")), Link(at("/en/guide.html"))]
    for lang, first in (("en", 0), ("es", 1)):
        page = make_page("/guide", lang, links=links)
        ranked = sorted(Smart().rank(page, FakeSite("en", "es")), key=lambda each: -each.priority)
        assert ranked[0].link == links[first]


def test_step_6_raises_and_never_lowers() -> None:
    """No entry asks for what is queued with a higher priority to be lowered."""
    page = make_page("/en/a", "en", links=[Link(at("/fr/a")), Link(at("/en/b"))])
    assert not any(each.lowers for each in Smart().rank(page, FakeSite("en", "fr")))


def test_step_2_discards_documents_in_other_languages() -> None:
    assert "/de/nur-deutsch.html" in downloaded(SITE, Bfs(), "en", "fr")
    for policy in (BfsLangs(), Smart()):
        assert "/de/nur-deutsch.html" not in downloaded(SITE, policy, "en", "fr")


def test_seeds_are_first_and_translations_follow_each_other() -> None:
    order = downloaded(SITE, Smart(), "en", "fr")
    assert order[0] == "/"
    for name in NAMES:
        places = sorted(order.index(f"/{lang}/{name}.html") for lang in ("en", "fr"))
        assert places[1] - places[0] == 1, order


def test_parallel_documents_are_found_earlier_than_by_either_baseline() -> None:
    """Figure 7: pairs by the share that is downloaded; in the end all find the same."""

    def pairs(order: list[str], share: float) -> int:
        there = set(order[: round(share * len(order))])
        return sum({f"/en/{name}.html", f"/fr/{name}.html"} <= there for name in NAMES)

    orders = [downloaded(SITE, policy, "en", "fr") for policy in (Bfs(), BfsLangs(), Smart())]
    at_half = [pairs(order, 0.6) for order in orders]
    assert at_half[2] > max(at_half[:2])
    assert {pairs(order, 1.0) for order in orders} == {len(NAMES)}

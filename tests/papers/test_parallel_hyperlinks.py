"""The mining scheme of Shi et al. 2006, section 3: steps 1, 2, 3 and 5."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from support.fakes import at
from support.webgraph import Web, downloaded

from diptych.stages.crawl.parallel_links import ParallelLinks, trigger_language
from diptych.types import Link

SECTIONS = {"a": ["a1", "a2"], "b": ["b1"], "a2": ["a21"], "a21": ["a211"]}


def tree(lang: str) -> dict[str, list[str]]:
    pages = {f"/{lang}/": [f"/{lang}/a", f"/{lang}/b", f"/{lang}/only-{lang}"]}
    for name, below in SECTIONS.items():
        pages[f"/{lang}/{name}"] = [f"/{lang}/", *(f"/{lang}/{each}" for each in below)]
    return pages


SITE = Web(
    {"/": ["English -> /en/", "中文 -> /zh/", "/news"], "/news": ["/news/2006"],
     **tree("en"), **tree("zh")},
    langs={"/zh": "zh", "/": "en"},
)  # fmt: skip
PAIRED = ["", "a", "b", "a1", "a2", "b1", "a21", "a211"]


class Verifier:
    """Accepts translations, and aligns the links of two pages by their names."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def __call__(self, left: str, right: str) -> Sequence[tuple[str, str]] | None:
        self.asked.append((left, right))
        if left.removeprefix("/en") != right.removeprefix("/zh"):
            return None
        targets = [link.replace("/zh/", "/en/") for link in SITE.links.get(right, ())]
        return [
            (link, link.replace("/en/", "/zh/"))
            for link in SITE.links.get(left, ())
            if link in targets
        ]


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("en", "English"), ("en", "English Version"), ("zh", "Chinese"), ("zh", "Chinese Version"),
        ("zh", "Simplified Chinese"), ("zh", "Traditional Chinese"), ("zh", "中文"),
        ("zh", "中文版"),
    ],
)  # fmt: skip
def test_trigger_strings(lang: str, text: str) -> None:
    assert trigger_language(Link(at("/x"), anchor=text), ("en", "zh")) == lang
    assert trigger_language(Link(at("/x"), alt=text), ("en", "zh")) == lang


def test_mining_follows_parallel_hyperlinks_until_there_are_no_more() -> None:
    verify = Verifier()
    order = downloaded(SITE, ParallelLinks(), "en", "zh", verify=verify)
    pairs = [(f"/en/{name}", f"/zh/{name}") for name in PAIRED]
    assert set(verify.asked) >= set(pairs)
    assert len(verify.asked) == len(set(verify.asked))
    # Apart from the root page and what it links to, nothing but halves of pairs: 2 for each.
    assert sorted(order) == sorted(["/", "/news", *(half for pair in pairs for half in pair)])


def test_halves_of_a_pair_are_downloaded_together() -> None:
    order = downloaded(SITE, ParallelLinks(), "en", "zh", verify=Verifier())
    for name in PAIRED[1:]:
        assert abs(order.index(f"/en/{name}") - order.index(f"/zh/{name}")) == 1


def test_generations_come_one_after_the_other() -> None:
    order = downloaded(SITE, ParallelLinks(), "en", "zh", verify=Verifier())
    generations = [["a", "b"], ["a1", "a2", "b1"], ["a21"], ["a211"]]
    last = [max(order.index(f"/en/{name}") for name in names) for names in generations]
    first = [min(order.index(f"/en/{name}") for name in names) for names in generations]
    assert all(before < after for before, after in zip(last, first[1:], strict=False))


def test_pages_in_one_language_are_not_downloaded() -> None:
    order = downloaded(SITE, ParallelLinks(), "en", "zh", verify=Verifier())
    assert not {"/en/only-en", "/zh/only-zh", "/news/2006"} & set(order)


def test_site_without_triggers_is_not_taken_for_bilingual() -> None:
    web = Web({"/": ["/en/", "/zh/"], **tree("en"), **tree("zh")}, langs={"/zh": "zh"})
    verify = Verifier()
    assert sorted(downloaded(web, ParallelLinks(), "en", "zh", verify=verify)) == [
        "/", "/en/", "/zh/",
    ]  # fmt: skip
    assert verify.asked == []


def test_where_no_pair_is_verified_nothing_is_followed() -> None:
    order = downloaded(SITE, ParallelLinks(), "en", "zh", verify=lambda left, right: None)
    assert sorted(order) == ["/", "/en/", "/news", "/zh/"]


def test_counterpart_that_is_missing_ends_only_its_own_branch() -> None:
    web = Web(SITE.links, langs={"/zh": "zh"}, missing=["/zh/a2"])
    order = downloaded(web, ParallelLinks(), "en", "zh", verify=Verifier())
    assert {"/en/a2", "/zh/a2", "/en/b1", "/zh/b1"} <= set(order)
    assert not {"/en/a21", "/zh/a21"} & set(order)

"""Recipes named after papers are what the papers have."""

from __future__ import annotations

from typing import Any

import pytest

from diptych import recipes
from diptych.registry import make
from diptych.stages.align_dom.domtree.strategy import DomTree


def uses(name: str) -> dict[str, Any]:
    return {stage: table["use"] for stage, table in recipes.load(name, {}).items()}


@pytest.mark.parametrize(
    ("name", "crawl", "pair", "verify"),
    [
        ("pti", "bfs", "pti", "size_ratio"),
        ("pplocator", "pplocator", "pplocator", "decision_tree"),
        ("dom", "parallel_links", "union", "maxent"),
    ],
)
def test_crawls_pairs_and_verifies_as_its_paper(
    name: str, crawl: str, pair: str, verify: str
) -> None:
    named = uses(name)
    assert (named["crawl"], named["pair"], named["verify"]) == (crawl, pair, verify)


def test_smart_and_its_baselines_differ_in_nothing_but_the_crawl() -> None:
    named = {name: uses(name) for name in ("smart", "bfs", "bfs+langs")}
    assert {name: stages.pop("crawl") for name, stages in named.items()} == {
        name: name for name in named
    }
    assert named["smart"] == named["bfs"] == named["bfs+langs"]


def test_shi_aligns_trees() -> None:
    # With all evidence of ours: the paper's own needs a lexicon, and a run begins without one.
    assert make("align_dom", recipes.load("dom", {})["align_dom"]) == DomTree()

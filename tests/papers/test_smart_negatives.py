"""Synthetic negatives as in Garcia-Romero et al., section 3.1 and appendix A."""

from __future__ import annotations

import inspect
import random
import re

import pytest

from diptych.learn.url.data import LabelledPair
from diptych.learn.url.negatives import BEST_MIX, METHODS, Negatives, remove_tokens, url_tokens
from diptych.learn.url.pair_train import examples

PAGES = ("history", "history-of-art", "art", "contact", "map")
COLLECTION = [
    LabelledPair("x.org", f"https://x.org:80/en/{page}", "en", f"https://x.org:80/fr/{page}", "fr")
    for page in PAGES
]


def test_codes_of_table_a5() -> None:
    assert METHODS == {
        1: "random match, bilingual",
        2: "maximise Jaccard similarity, bilingual",
        3: "remove random tokens, bilingual",
        4: "random match, monolingual",
        5: "maximise Jaccard similarity, monolingual",
        6: "remove random tokens, monolingual",
    }


def test_the_best_combination_is_the_default() -> None:
    assert BEST_MIX == (1, 2, 3, 4, 5) == Negatives().methods
    assert {method for _, method in Negatives().make(COLLECTION)} == {1, 2, 3, 4, 5}
    assert "methods" not in inspect.signature(examples).parameters


def language(url: str) -> str:
    return "en" if "/en" in url else "fr" if "/fr" in url else ""


@pytest.mark.parametrize("method", METHODS)
def test_bilingual_and_monolingual(method: int) -> None:
    found = list(Negatives((method,)).make(COLLECTION))
    assert found
    for row, made_by in found:
        assert made_by == method
        langs = {language(row.url_a), language(row.url_b)} - {""}
        if method in (1, 2):
            assert langs == {"en", "fr"}
        elif method > 3:
            assert len(langs) <= 1


def jaccard(one: str, other: str) -> float:
    left, right = url_tokens(one), url_tokens(other)
    return len(left & right) / len(left | right)


def test_jaccard_similarity_to_the_url_that_is_replaced_is_maximised() -> None:
    french = [row.url_b for row in COLLECTION]
    made = {row.url_a: row.url_b for row, _ in Negatives((2,), each=1).make(COLLECTION)}
    for row in COLLECTION:
        others = [url for url in french if url != row.url_b]
        most = max(jaccard(row.url_b, url) for url in others)
        assert jaccard(row.url_b, made[row.url_a]) == most
    assert made["https://x.org:80/en/history"] == "https://x.org:80/fr/history-of-art"


def test_tokens_removed_are_never_of_scheme_authority_or_port() -> None:
    for seed in range(200):
        short = remove_tokens("https://user@x.org:80/en/history?id=12", random.Random(seed))
        assert re.match(r"https://user@x\.org:80/", short)
        assert short != "https://user@x.org:80/en/history?id=12"


def test_both_urls_lose_tokens() -> None:
    made = [row for row, _ in Negatives((3,), each=9).make(COLLECTION)]
    whole = {url for row in COLLECTION for url in (row.url_a, row.url_b)}
    # What is left of one page may be another page: `history-of-art` without its history.
    assert all(not {row.url_a, row.url_b} <= whole for row in made if "history" not in row.url_a)

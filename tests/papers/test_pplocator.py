"""The worked examples of Vieira & Moreira 2012, section 3.1."""

from __future__ import annotations

import pytest
from rapidfuzz.distance import Levenshtein
from support.fakes import FakeSite

from diptych.stages.pair import pplocator
from diptych.stages.pair.pplocator import (
    PPLocator,
    find_pairs,
    guess_language,
    normal_form,
    populate,
)
from diptych.types import Url

LISBON = (
    "www.travelingtolisbon.com/promocoes.php",
    "http://www.travelingtolisbon.com/pt/promocoes.php",
)
PORTO_ALEGRE = ("http://portoalegre.8k.com/ccmq.htm", "http://portoalegre.8k.com/ccmq_eng.htm")
FIGURE_1 = (
    "http://www.rmc.ca/aca/cc-cg/index-eng.asp",
    "http://www.rmc.ca/aca/cc-cg/index-fra.asp",
)
UNIVERSITY = "http://www.univ-nancy2.fr/formations/f_continue/fc_nu.html?depuis_id=1246&lang="


def pairs(langs: tuple[str, str], *urls: str) -> list[tuple[str, str]]:
    site = FakeSite(*langs)
    for url in urls:
        site.page(url)
    return [(pair.left, pair.right) for pair in PPLocator().pair(site)]


def test_normalisation_makes_the_two_more_similar() -> None:
    forms = [normal_form(url) for url in LISBON]
    assert forms == [
        "travelingtolisbon.com/promocoes.php",
        "travelingtolisbon.com/pt/promocoes.php",
    ]
    before = Levenshtein.normalized_similarity(*LISBON)
    after = Levenshtein.normalized_similarity(*forms)
    assert before < 0.85 < after


def test_only_one_of_the_two_has_a_token() -> None:
    assert guess_language(PORTO_ALEGRE[0], "en", "pt") == ""
    assert guess_language(PORTO_ALEGRE[1], "en", "pt") == "en"
    assert pairs(("en", "pt"), *PORTO_ALEGRE) == [(PORTO_ALEGRE[1], PORTO_ALEGRE[0])]


def test_figure_1() -> None:
    assert pairs(("en", "fr"), *FIGURE_1) == [FIGURE_1]


@pytest.mark.parametrize(
    "url",
    [
        "http://www.brasil-natal.com.br/en/",
        "http://www.newhotel.com/us/Info.aspx",
        "http://eng.ondehospedar.com.br/ac/index.php",
    ],
)
def test_tokens_of_english(url: str) -> None:
    assert guess_language(url, "en", "pt") == "en"
    assert guess_language(url, "pt", "en") == "en"


def test_tokens_of_a_third_language_discard_a_url() -> None:
    assert guess_language("http://www.travelingtolisbon.com/es/promocoes.php", "en", "pt") == "*"


A, B, C, D = (Url(f"http://x.org/{name}") for name in "abcd")


@pytest.mark.parametrize(
    ("guessed", "lists"),
    [
        ([(A, "en"), (B, "pt"), (C, "")], ([A], [B])),  # both filled: they are compared
        ([(A, "en"), (C, ""), (D, "")], ([A], [C, D])),  # one empty: the unknown ones stand in
        ([(B, "pt"), (C, "")], ([C], [B])),
        ([(C, ""), (D, "")], ([], [])),  # both empty: the site is given up
        ([(A, "en"), (B, "*")], ([A], [])),
    ],
)
def test_three_lists(guessed: list[tuple[Url, str]], lists: tuple[list[Url], list[Url]]) -> None:
    assert populate(guessed, "en", "pt") == lists


def test_threshold_is_the_papers() -> None:
    assert PPLocator().similarity == 0.85
    # Three letters of twenty differ, and three of nineteen.
    assert find_pairs(["x.org/abcdefghijklmn"], ["x.org/abcdefghijkxyz"], 0.85)
    assert not find_pairs(["x.org/abcdefghijklm"], ["x.org/abcdefghijxyz"], 0.85)


def test_fewer_comparisons_than_by_brute_force(monkeypatch: pytest.MonkeyPatch) -> None:
    """100 URLs: 4,950 comparisons of all with all, 2,500 in the worst case of two lists."""
    compared = []

    class Counting:
        @staticmethod
        def normalized_similarity(left: str, right: str, score_cutoff: float) -> float:
            compared.append((left, right))
            return 0.0

    monkeypatch.setattr(pplocator, "Levenshtein", Counting)
    urls = [f"http://x.org/{lang}/{number}" for lang in ("en", "pt") for number in range(50)]
    assert pairs(("en", "pt"), *urls) == []
    assert len(compared) == 2500


def test_misleading_token_is_proposed_and_content_has_the_last_word() -> None:
    urls = [f"{UNIVERSITY}EN", f"{UNIVERSITY}FR"]
    assert [guess_language(url, "en", "fr") for url in urls] == ["en", "fr"]
    assert pairs(("en", "fr"), *urls) == [(urls[0], urls[1])]
    site = FakeSite("en", "fr")
    for url in urls:
        site.page(url, "fr")
    assert PPLocator().pair(site) == []

"""All evidence together: sites whose URLs, links and content agree, and sites where they do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations
from pathlib import Path
from random import Random
from typing import cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.fakes import FakeSite, at, paths
from support.sketches import article, dictionary, known

from diptych.errors import ConfigError
from diptych.protocols import SiteView
from diptych.stages.pair.content import Content
from diptych.stages.pair.keys.strategy import Keys
from diptych.stages.pair.langstrip import LangStrip
from diptych.stages.pair.links import Links
from diptych.stages.pair.pplocator import PPLocator
from diptych.stages.pair.shared.one_partner import noisy_or
from diptych.stages.pair.shared.page_languages import page_languages
from diptych.stages.pair.shared.pages_by_language import pages_by_language
from diptych.stages.pair.shared.similarity import Pairs, SideBySide
from diptych.stages.pair.union.candidate_table import FEATURES, Table
from diptych.stages.pair.union.strategy import Union, _assigned
from diptych.types import LangScore, PagePair

PAGES = range(1, 13)


def site(
    *langs: str, address: str = "/{lang}/{page}", without: Sequence[str] = (), words: bool = True
) -> FakeSite:
    """Twelve articles in some languages, but for a few pages; their words are known."""
    built = FakeSite(*(langs or ("en", "fr")))
    for page in PAGES:
        for lang in built.langs:
            if f"{lang}{page}" not in without:
                url = address.format(lang=lang, page=page, id=opaque(lang, page))
                built.page(url, lang).sketch(url, article(lang, page))
    for place, left in enumerate(built.langs):
        for right in built.langs[place + 1 :]:
            if words:
                built.know(dictionary(left, right))
    return built


def opaque(lang: str, page: int) -> str:
    return "".join(Random(f"{lang}{page}").choices("abcdefghijkmnpqrstuvwxyz", k=7))


def numbers(pairs: Sequence[PagePair]) -> set[tuple[str, str]]:
    """Pairs by the last part of their addresses."""
    return {(left.rpartition("/")[2], right.rpartition("/")[2]) for left, right in paths(pairs)}


def same(*without: int) -> set[tuple[str, str]]:
    return {(str(page), str(page)) for page in PAGES if page not in without}


def check_partners(pairs: Sequence[PagePair]) -> None:
    """One partner per page and pair of languages, strongest first."""
    seen = set()
    for pair in pairs:
        for url in {pair.left, pair.right}:
            end = url, frozenset((pair.left_lang, pair.right_lang))
            assert end not in seen
            seen.add(end)
    scores = [pair.score for pair in pairs]
    assert scores == sorted(scores, reverse=True)


# Where all agree, and where one of them has nothing to say


def test_urls_and_content_that_agree_are_sure() -> None:
    pairs = Union().pair(site())
    assert numbers(pairs) == same()
    assert all(pair.score > 0.8 for pair in pairs)
    check_partners(pairs)


def test_opaque_addresses_are_paired_by_content() -> None:
    built = site(address="/{id}")
    pairs = Union().pair(built)
    assert {(pair.left, pair.right) for pair in pairs} == {
        (at(f"/{opaque('en', page)}"), at(f"/{opaque('fr', page)}")) for page in PAGES
    }
    assert {pair.evidence for pair in pairs} == {"content"}


def test_content_is_a_parameter() -> None:
    built = site(address="/{id}")
    assert Union(content=None).pair(built) == []
    assert numbers(Union(content=None).pair(site())) == same()


def test_without_a_lexicon_numbers_are_enough() -> None:
    assert numbers(Union().pair(site(words=False))) == same()


def test_the_threshold_is_a_parameter() -> None:
    assert Union(threshold=1.1).pair(site()) == []
    few, many = (Union(threshold=t).pair(site(address="/{id}")) for t in (0.99, 0.3))
    assert {(pair.left, pair.right) for pair in few} <= {(pair.left, pair.right) for pair in many}


# Where they do not agree


def test_hreflang_to_a_wrong_page_loses_to_content() -> None:
    # Of two articles each declares the other's translation for its own.
    built = site().alternates("/en/1", "/fr/2").alternates("/en/2", "/fr/1")
    assert numbers(Union().pair(built)) == same()


def test_hreflang_to_a_wrong_page_loses_without_evidence_from_urls() -> None:
    built = site(address="/{id}")
    english, french = (
        [f"/{opaque(lang, page)}" for page in PAGES] for lang in ("en", "fr")
    )  # fmt: skip
    built.alternates(english[0], french[1])
    right = {(at(one), at(other)) for one, other in zip(english, french, strict=True)}
    assert {(pair.left, pair.right) for pair in Union().pair(built)} == right


def test_a_switcher_that_leads_home_loses() -> None:
    built = site().page("/fr/", "fr").sketch("/fr/", article("fr", 99, size=3))
    for page in PAGES:
        built.link(f"/en/{page}", "/fr/", "Français")
    assert numbers(Union().pair(built)) == same()


def test_wrong_page_under_the_expected_url_is_not_paired() -> None:
    built = site()
    built.sketch("/fr/3", article("fr", 77))
    assert numbers(Union().pair(built)) == same(3)


def test_an_untranslated_copy_has_a_score_of_its_own() -> None:
    # It has the right address and says the same: the verifier is to see that it says it alike.
    built = site()
    built.sketch("/fr/3", built.read("/en/3").sketch)
    found = {(pair.left, pair.right): dict(pair.scores) for pair in Union().all_candidates(built)}
    assert found[at("/en/3"), at("/fr/3")]["copied"] == 1
    assert found[at("/en/4"), at("/fr/4")]["copied"] == 0


def test_pages_whose_counterpart_is_gone_stay_alone() -> None:
    for address in ("/{lang}/{page}", "/{id}"):
        gone = ("fr2", "fr5", "fr9", "en3", "en4")
        built = site(address=address, without=gone)
        pairs = Union().pair(built)
        assert len(pairs) == 7
        right = {
            tuple(
                at(address.format(lang=lang, page=page, id=opaque(lang, page)))
                for lang in ("en", "fr")
            )
            for page in PAGES if page not in (2, 3, 4, 5, 9)
        }  # fmt: skip
        assert {(pair.left, pair.right) for pair in pairs} == right


def test_a_site_in_one_language_has_no_pairs() -> None:
    assert Union().pair(site(without=[f"fr{page}" for page in PAGES])) == []
    assert Union().pair(site("en")) == []


def test_near_copies_take_their_own_partner() -> None:
    built = FakeSite("en", "fr").know(dictionary("en", "fr"))
    for version in range(4):
        for page in range(1, 5):
            for lang in built.langs:
                base = article(lang, page)
                bag = {**base.bag, f"20{version}": 3}
                words = (*base.block_words, (len(base.bag),) * 3)
                made = replace(
                    base, bag=bag, block_words=words, blocks=(*base.blocks, (version + 1, 9.0))
                )
                url = f"/{opaque(lang, 10 * version + page)}"
                built.page(url, lang).sketch(url, made)
    pairs = Union().pair(built)
    right = {
        (at(f"/{opaque('en', 10 * version + page)}"), at(f"/{opaque('fr', 10 * version + page)}"))
        for version in range(4) for page in range(1, 5)
    }  # fmt: skip
    assert {(pair.left, pair.right) for pair in pairs} <= right


# Neighbours


def test_pages_linked_at_the_same_place_are_candidates() -> None:
    # Two pages of pictures without a word; the pages that link to them are paired.
    built = site(address="/{id}")
    for number in (1, 2):
        for lang in built.langs:
            url = f"/{opaque(lang, 50 + number)}"
            built.page(url, lang).sketch(url, known("", blocks=((next_hash(), 30.0),), tags="xyxy"))
    for page in PAGES:
        for lang in built.langs:
            for number in (1, 2):
                built.link(f"/{opaque(lang, page)}", f"/{opaque(lang, 50 + number)}")
    found = {(pair.left, pair.right): dict(pair.scores) for pair in Union().all_candidates(built)}
    for number in (1, 2):
        pair = at(f"/{opaque('en', 50 + number)}"), at(f"/{opaque('fr', 50 + number)}")
        assert found[pair]["neighbours"] > 0.5


_NEXT = iter(range(5_000_000, 6_000_000))


def next_hash() -> int:
    return next(_NEXT)


# Three languages


def test_a_document_in_three_languages_is_one_group() -> None:
    pairs = Union().pair(site("en", "fr", "de"))
    assert numbers(pairs) == same()
    assert len(pairs) == 3 * len(PAGES)
    check_partners(pairs)
    assert {(pair.left_lang, pair.right_lang) for pair in pairs} == {
        ("en", "fr"), ("en", "de"), ("fr", "de"),
    }  # fmt: skip


def test_groups_have_one_page_of_each_language() -> None:
    built = site("en", "fr", "de", without=("de1", "fr2", "en3"))
    built.alternates("/en/1", "/de/2").alternates("/fr/1", "/de/3").alternates("/en/2", "/fr/3")
    pairs = Union().pair(built)
    check_partners(pairs)
    groups: dict[str, set[str]] = {}
    for pair in pairs:
        joined = groups.get(pair.left, {pair.left}) | groups.get(pair.right, {pair.right})
        groups.update(dict.fromkeys(joined, joined))
    for group in groups.values():
        langs = [built.pages[at(url)].lang for url in group]
        assert len(set(langs)) == len(langs)
    assert numbers(pairs) == same()


def settled(*scores: tuple[str, str, float]) -> set[tuple[str, str]]:
    """What is taken of candidates with such probabilities; `a` and `b` are pages of a language."""
    built = FakeSite("en", "fr", "de")
    for lang in built.langs:
        for page in "ab":
            built.page(f"/{lang}{page}", lang).sketch(f"/{lang}{page}", known("1 2"))
    lang_of = page_languages(built)
    pages_of = pages_by_language(built, lang_of)
    tables = []
    for left, right in combinations(built.langs, 2):
        sides = SideBySide(pages_of[left], pages_of[right], built.lexicon(left, right))
        here = [each for each in scores if each[0][:2] == left and each[1][:2] == right]
        places = [
            (sides.left.place[at(f"/{one}")], sides.right.place[at(f"/{other}")])
            for one, other, _ in here
        ]
        pairs = Pairs(*np.array(places, np.int32).reshape(len(here), 2).T)
        rows = np.zeros((len(here), len(FEATURES)), np.float32)
        measures = {"text": np.full(len(here), 9.0, np.float32)}
        chances = np.array([each[2] for each in here])
        tables.append(Table(sides, pairs, {}, measures, rows, chances))
    return {(left[1:], right[1:]) for left, right in paths(_assigned(tables, lang_of, 0.5))}


def test_a_pair_that_breaks_a_group_is_refused() -> None:
    sure = ("ena", "fra", 0.9), ("fra", "dea", 0.9)
    assert settled(*sure, ("ena", "deb", 0.6)) == {("ena", "fra"), ("fra", "dea")}
    assert settled(("ena", "deb", 0.6)) == {("ena", "deb")}


def test_a_pair_that_follows_from_two_others_needs_less() -> None:
    sure = ("ena", "fra", 0.9), ("fra", "dea", 0.9)
    assert settled(*sure, ("ena", "dea", 0.4)) == {("ena", "fra"), ("fra", "dea"), ("ena", "dea")}
    assert ("ena", "dea") not in settled(*sure, ("ena", "dea", 0.01))
    assert settled(("ena", "dea", 0.4)) == set()


def test_two_good_pairs_are_better_than_the_best_one() -> None:
    found = settled(("ena", "fra", 0.9), ("ena", "frb", 0.85), ("enb", "fra", 0.85))
    assert found == {("ena", "frb"), ("enb", "fra")}


def test_a_third_language_helps_two_that_share_no_lexicon() -> None:
    built = site("en", "fr", "de", address="/{id}", words=False)
    built.know(dictionary("en", "fr")).know(dictionary("en", "de"))
    found = {
        (pair.left_lang, pair.right_lang): dict(pair.scores)
        for pair in Union().all_candidates(built)
    }
    assert found["fr", "de"]["siblings"] >= 0
    pairs = Union().pair(built)
    assert sum(pair.left_lang == "fr" for pair in pairs) == len(PAGES)


# Pages in two languages at once


def both(url: str, *shares: float) -> FakeSite:
    """A site with a page in both languages."""
    built = site().page(url, "en").sketch(url, known("18", blocks=((next_hash(), 900.0),)))
    mixed = built.read(url).sketch
    assert mixed is not None
    scores = tuple(map(LangScore, ("en", "fr"), shares))
    return built.sketch(url, replace(mixed, shares=scores))


def test_bilingual_page_is_paired_with_itself() -> None:
    pairs = Union().pair(both("/both", 0.5, 0.5))
    (own,) = [pair for pair in pairs if pair.left == pair.right]
    assert (own.left, own.evidence) == (at("/both"), "one_page")
    assert (own.left_lang, own.right_lang) == ("en", "fr")
    assert 0 < own.score <= 1
    assert numbers([pair for pair in pairs if pair != own]) == same()
    check_partners(pairs)


def test_page_with_a_little_of_the_other_language_is_not_paired_with_itself() -> None:
    assert numbers(Union().pair(both("/both", 0.9, 0.1))) == same()


def test_bilingual_page_with_a_partner_is_not_paired_with_itself() -> None:
    built = site()
    for url in ("/en/1", "/fr/2"):
        found = built.read(url).sketch
        assert found is not None
        shares = (LangScore("en", 0.6), LangScore("fr", 0.4))
        built.sketch(url, replace(found, shares=shares))
    pairs = Union().pair(built)
    assert numbers(pairs) == same()
    assert all(pair.left != pair.right for pair in pairs)
    check_partners(pairs)


def test_pages_in_both_languages_keep_to_one_partner_in_a_third() -> None:
    built = site("en", "fr", "de")
    for page in PAGES:
        url = f"/en/{page}"
        found = built.read(url).sketch
        assert found is not None
        shares = tuple(LangScore(lang, 1 / 3) for lang in built.langs)
        built.sketch(url, replace(found, shares=shares))
    check_partners(Union().pair(built))


# What is kept


def test_all_evidence_is_kept_with_its_score() -> None:
    built = site().alternates("/en/1", "/fr/1")
    pairs = {(pair.left, pair.right): pair for pair in Union().pair(built)}
    pair = pairs[at("/en/1"), at("/fr/1")]
    assert set(pair.evidence.split("+")) >= {"hreflang", "langstrip"}
    scores = dict(pair.scores)
    assert set(pair.evidence.split("+")) <= scores.keys()
    assert {"shared", "translated", "tags", "sizes", "copied", "url_model"} <= scores.keys()
    assert {"neighbours", "siblings"} <= scores.keys()
    (link,) = [each for each in Links().pair(built) if each.left == at("/en/1")]
    assert scores["hreflang"] == link.score
    assert "hreflang" not in dict(pairs[at("/en/2"), at("/fr/2")].scores)


def test_all_candidates_include_those_that_lost() -> None:
    # Of three copies and their three translations each could be the other's.
    built, pairs = crowded()
    weighed = {(pair.left, pair.right): pair for pair in Union().all_candidates(built)}
    taken = {(pair.left, pair.right): pair for pair in pairs}
    assert taken.keys() < weighed.keys()
    assert all(weighed[pair] == taken[pair] for pair in taken)
    assert Union(threshold=1.1).all_candidates(built) == list(weighed.values())


# Without content


def rivals() -> FakeSite:
    """/en/a is declared to be /fr/b, and marked as /fr/a; /en/c is both /fr/c."""
    built = FakeSite("en", "fr")
    for page in "abc":
        built.page(f"/en/{page}", "en").page(f"/fr/{page}", "fr")
    return built.alternates("/en/a", "/fr/b").link("/en/c", "/fr/c", "Français")


def test_without_content_the_pairers_decide_together() -> None:
    pairers = Links(), LangStrip()
    pairs = Union(pairers).pair(rivals())
    assert set(paths(pairs)) == {("/en/a", "/fr/b"), ("/en/c", "/fr/c")}
    by_left = {pair.left: pair for pair in pairs}
    assert by_left[at("/en/a")].evidence == "hreflang"
    joined = by_left[at("/en/c")]
    assert joined.evidence == "langstrip+switcher"
    alone = [
        pair.score for each in pairers for pair in each.pair(rivals()) if pair.left == joined.left
    ]
    assert joined.score == pytest.approx(noisy_or(alone))


def test_without_content_one_pairer_is_left_as_it_is() -> None:
    for pairer in (Links(), LangStrip(), Keys()):
        assert Union((pairer,)).pair(rivals()) == pairer.pair(rivals())
    assert Union(()).pair(rivals()) == []
    assert Union((Links(), LangStrip())).pair(rivals()) == Union((LangStrip(), Links())).pair(
        rivals()
    )


def test_without_content_pages_of_no_known_language_keep_their_pairs() -> None:
    # A list of URLs, of which only the URLs tell the languages.
    built = FakeSite("en", "fr")
    for page in "abcdefghij":
        built.page(f"/en/{page}.html").page(f"/fr/{page}.html")
    alone = PPLocator().pair(built)
    assert len(alone) == 10
    assert Union((PPLocator(),)).pair(built) == alone


def test_the_order_of_pairers_does_not_matter() -> None:
    built = site().alternates("/en/1", "/fr/2")
    pairers = Links(), Keys(), LangStrip()
    assert Union(pairers).pair(built) == Union(pairers[::-1]).pair(built)


# Order, models, bad input


@cache
def crowded() -> tuple[FakeSite, list[PagePair]]:
    """A site with gaps, a wrong hreflang and copies that nothing tells apart; and its pairs."""
    built = site("en", "fr", "de", without=("fr4", "de5")).alternates("/en/1", "/fr/2", "/de/1")
    for copy in range(3):
        for lang in ("en", "fr"):
            url = f"/{lang}/copy{copy}"
            built.page(url, lang).sketch(url, article(lang, 55))
    for page in PAGES:
        built.link("/en/1", f"/en/{page}").link("/fr/1", f"/fr/{page if page != 2 else 3}")
    return built, Union().pair(built)


@given(st.randoms(use_true_random=False))
@settings(max_examples=examples(10))
def test_the_order_of_pages_does_not_matter(chance: Random) -> None:
    built, expected = crowded()
    order = list(range(len(built.pages)))
    chance.shuffle(order)
    assert len(expected) > 2 * len(PAGES)
    assert Union().pair(built.reordered(order)) == expected


@given(st.randoms(use_true_random=False))
@settings(max_examples=examples(10))
def test_the_order_of_equal_pages_does_not_matter(chance: Random) -> None:
    # More copies than there are candidates: the first by URL are taken, whoever came first.
    built = FakeSite("en", "fr").know(dictionary("en", "fr"))
    for page in range(6):
        for lang in built.langs:
            built.page(f"/{lang}/x{page}y", lang).sketch(f"/{lang}/x{page}y", article(lang, 5))
    order = list(range(12))
    chance.shuffle(order)
    one_each = Union((), content=Content(candidates=1), threshold=0.01)
    assert one_each.pair(built.reordered(order)) == one_each.pair(built)


def test_missing_model_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="train the model again"):
        Union(model=str(tmp_path)).pair(site())


@pytest.mark.parametrize("langs", [(), ("en",), ("en", "fr"), ("en", "fr", "de")])
def test_small_sites_are_paired(langs: tuple[str, ...]) -> None:
    assert Union().pair(FakeSite(*langs)) == []
    lonely = FakeSite(*langs).page("/", "en").link("/", "/", "English").sketch("/", known("1 2 3"))
    assert Union().pair(lonely) == Union().all_candidates(lonely) == []
    bare = FakeSite(*langs).page("/en", "en").page("/fr", "fr").sketch("/en", known(""))
    assert Union().pair(bare.sketch("/fr", known(""))) == Union().pair(bare)


def test_pages_made_of_the_same_words_are_not_sure_pairs() -> None:
    built = FakeSite("en", "fr")
    for number in range(30):
        for lang in built.langs:
            url = f"/{opaque(lang, number)}"
            built.page(url, lang).sketch(url, known("gnu 1899 logo.png", tags="abab"))
    assert all(pair.score < 0.9 for pair in Union().pair(built))


class _Remembering:
    """A view of a site that keeps results between rounds."""

    def __init__(self, built: FakeSite, memory: dict[object, object]) -> None:
        self._built, self.memory = built, memory

    def __getattr__(self, name: str) -> object:
        return getattr(self._built, name)


@pytest.mark.parametrize("address", ["/{lang}/{page}", "/{id}"])
@pytest.mark.parametrize("pairer", [Union(), Union(url_model=False), Union((PPLocator(),))])
def test_second_round_with_words_finds_what_a_first_one_would(address: str, pairer: Union) -> None:
    memory: dict[object, object] = {}
    unknown, known_words = (site("en", "fr", "de", address=address, words=w) for w in (False, True))
    for built in (unknown, known_words, unknown):
        view = cast("SiteView", _Remembering(built, memory))
        assert pairer.all_candidates(view) == pairer.all_candidates(built)
        assert pairer.pair(view) == pairer.pair(built)
    assert memory

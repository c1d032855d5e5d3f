from __future__ import annotations

import pytest
from support.fakes import at

from diptych.stages.crawl.hybrid.known_urls import Kinds, Life, Spot, Spots
from diptych.stages.crawl.hybrid.language_guess import OTHER
from diptych.stages.crawl.hybrid.matches import ENOUGH_PAIRS, MAX_ASKED, Matches
from diptych.stages.crawl.hybrid.value import Worth
from diptych.types import PagePair

ALTERNATE, NAME, KEY = (("alternate",),), (("name",),), (("key",),)


class Bench:
    """Pages of a site, and what is made of them."""

    def __init__(self, *langs: str) -> None:
        self.worth = Worth(langs or ("en", "fr"), 3.0)
        self.matches = Matches(self.worth)

    def page(self, path: str, lang: str) -> Spot:
        spot = Spot(at(path), life=Life.PAGE, lang=lang)
        spot.kinds = self.worth.cells(spot, lang)
        if lang in self.worth.langs:
            self.matches.add(spot)
        return spot

    def pages(self, count: int, lang: str) -> list[Spot]:
        return [self.page(f"/{lang}/{number}", lang) for number in range(count)]

    def wishes(self) -> list[PagePair]:
        found, self.matches.wishes = self.matches.wishes, []
        assert None not in found
        return [wish for wish in found if wish is not None]

    def translated(self, path: str = "/new", lang: str = "en") -> float:
        return self.worth.translated(Spot(at(path)), lang)

    def pair(self, one: Spot, other: Spot, kinds: Kinds = ALTERNATE) -> None:
        """Tie, ask and verify."""
        self.matches.tie(one, other, kinds)
        assert [wish.left for wish in self.wishes()] == [one.url]
        self.matches.pair(one, other)


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_pages_that_are_tied_are_asked_for_once(bench: Bench) -> None:
    one, other = bench.page("/en/a", "en"), bench.page("/fr/a", "fr")
    bench.matches.tie(other, one, ALTERNATE)
    bench.matches.tie(one, other, NAME)
    (wish,) = bench.wishes()
    assert (wish.left, wish.right, wish.left_lang, wish.right_lang) == (
        one.url, other.url, "en", "fr",
    )  # fmt: skip
    assert wish.evidence == "alternate"
    assert one.partners == {"fr": other}
    assert other.partners == {"en": one}


def test_nothing_is_asked_before_both_pages_are_there(bench: Bench) -> None:
    one, other = bench.page("/en/a", "en"), Spot(at("/fr/a"))
    bench.matches.tie(one, other, ALTERNATE)
    bench.matches.consider(one)
    assert bench.wishes() == []
    other.life, other.lang = Life.PAGE, "fr"
    bench.matches.consider(other)
    assert len(bench.wishes()) == 1


@pytest.mark.parametrize("lang", ["en", OTHER, ""])
def test_pages_whose_languages_cannot_be_a_pair_are_not_tied(bench: Bench, lang: str) -> None:
    one, other = bench.page("/en/a", "en"), bench.page("/b", lang)
    assert not bench.matches.differ(one, other)
    bench.matches.tie(one, other, ALTERNATE)
    assert bench.wishes() == []
    assert one.ties == {}


def test_page_has_one_partner_in_each_language() -> None:
    bench = Bench("en", "fr", "de")
    one, french, german = bench.page("/a", "en"), bench.page("/b", "fr"), bench.page("/c", "de")
    other = bench.page("/d", "fr")
    bench.pair(one, french)
    bench.pair(one, german)
    bench.matches.tie(one, other, ALTERNATE)
    assert bench.wishes() == []
    assert not bench.matches.may_be(one, other)
    assert bench.matches.differ(one, other)
    assert bench.matches.may_be(other, german)


def test_evidence_of_a_pair_is_believed_more_and_what_is_refuted_less(bench: Bench) -> None:
    one, two, other = *bench.pages(2, "en"), bench.page("/fr/a", "fr")
    start = bench.worth.trust.of(ALTERNATE, 0.5)
    bench.pair(one, other)
    after = bench.worth.trust.of(ALTERNATE, 0.5)
    assert after > start
    gone = Spot(at("/fr/b"))
    bench.matches.tie(two, gone, ALTERNATE)
    gone.life = Life.GONE
    bench.matches.refute(two, gone)
    assert bench.worth.trust.of(ALTERNATE, 0.5) < after
    assert two.ties == gone.ties == {}


def test_what_is_untied_for_want_of_a_free_page_is_not_held_against_it(bench: Bench) -> None:
    one, (first, second) = bench.page("/en/a", "en"), bench.pages(2, "fr")
    second.life = Life.PENDING
    bench.matches.tie(one, second, NAME)
    bench.pair(one, first)
    before = bench.worth.trust.of(NAME, 0.5)
    second.life = Life.PAGE
    bench.matches.refute(one, second)
    assert bench.worth.trust.of(NAME, 0.5) == before


def test_strongest_of_several_is_asked_first(bench: Bench) -> None:
    one, others = bench.page("/en/a", "en"), bench.pages(3, "fr")
    for other, kinds in zip(others, (NAME, ALTERNATE, NAME), strict=True):
        Spots.tie(one, other, kinds)
    bench.matches.consider(one)
    assert [wish.right for wish in bench.wishes()] == [others[1].url]


def test_page_is_not_compared_with_all_there_is(bench: Bench) -> None:
    one, others = bench.page("/en/a", "en"), bench.pages(10, "fr")
    asked = 0
    for other in others:
        bench.matches.tie(one, other, NAME)
        for _ in bench.wishes():
            asked += 1
            one.partners.clear()
            other.partners.clear()
    assert asked == MAX_ASKED


def test_pages_without_a_translation_are_counted_by_language(bench: Bench) -> None:
    one, two, other = *bench.pages(2, "en"), bench.page("/fr/a", "fr")
    assert dict(bench.matches.alone) == {"en": 2, "fr": 1}
    bench.matches.tie(one, other, ALTERNATE)
    assert dict(bench.matches.alone) == {"en": 1, "fr": 0}
    bench.matches.remove(two)
    assert dict(bench.matches.alone) == {"en": 0, "fr": 0}


def test_pages_count_as_tried_once_it_can_be_told(bench: Bench) -> None:
    english, french = bench.pages(8, "en"), bench.pages(8, "fr")
    usual = bench.translated()
    assert usual == Bench().translated(), "without pairs, pages without one say nothing"
    for one, other in zip(english[:ENOUGH_PAIRS], french, strict=False):
        bench.pair(one, other)
    assert bench.matches.count == ENOUGH_PAIRS
    some = bench.translated()
    for number in range(20):
        bench.page(f"/en/more/{number}", "en")
    assert bench.translated() < some


def test_settling_counts_all_pages_there_are(bench: Bench) -> None:
    bench.pages(9, "en")
    before = bench.translated()
    bench.matches.resolve_all()
    after = bench.translated()
    assert after < before
    bench.matches.resolve_all()
    assert bench.translated() == after, "each counts once"


def test_what_may_have_another_value_is_noted(bench: Bench) -> None:
    one, other, third = bench.page("/en/a", "en"), bench.page("/fr/a", "fr"), Spot(at("/fr/b"))
    bench.matches.tie(one, third, NAME)
    bench.matches.changed.clear()
    bench.matches.tie(one, other, ALTERNATE)
    assert third in bench.matches.changed, "the page it was thought to complete is asked for"
    bench.matches.changed.clear()
    bench.matches.pair(one, other)
    assert third in bench.matches.changed

from __future__ import annotations

import pytest
from support.fakes import at

from diptych.stages.crawl.hybrid.known_urls import Kinds, KnownUrl, KnownUrls, State
from diptych.stages.crawl.hybrid.language_guess import OTHER
from diptych.stages.crawl.hybrid.matches import CHECKED, MAX_VERIFIED, MIN_PAIRS, Matches
from diptych.stages.crawl.hybrid.value import UrlValues
from diptych.types import UNDECIDED, Decision, PagePair

ALTERNATE, NAME, KEY = (("alternate",),), (("name",),), (("key",),)


class Bench:
    """Pages of a site, and what is made of them."""

    def __init__(self, *langs: str) -> None:
        self.values = UrlValues(langs or ("en", "fr"), 3.0)
        self.matches = Matches(self.values)

    def page(self, path: str, lang: str) -> KnownUrl:
        known = KnownUrl(at(path), state=State.PAGE, lang=lang)
        known.kinds = self.values.page_kinds(known, lang)
        if lang in self.values.langs:
            self.matches.add(known)
        return known

    def pages(self, count: int, lang: str) -> list[KnownUrl]:
        return [self.page(f"/{lang}/{number}", lang) for number in range(count)]

    def questions(self) -> list[PagePair]:
        found, self.matches.questions = self.matches.questions, []
        assert None not in found
        return [question for question in found if question is not None]

    def translation_probability(self, path: str = "/new", lang: str = "en") -> float:
        return self.values.translation_probability(KnownUrl(at(path)), lang)

    def pair(self, one: KnownUrl, other: KnownUrl, kinds: Kinds = ALTERNATE) -> None:
        """Add evidence, request verification, and accept."""
        self.matches.add_evidence(one, other, kinds)
        assert [question.left for question in self.questions()] == [one.url]
        self.matches.accept(one, other)


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_candidates_are_verified_once(bench: Bench) -> None:
    one, other = bench.page("/en/a", "en"), bench.page("/fr/a", "fr")
    bench.matches.add_evidence(other, one, ALTERNATE)
    bench.matches.add_evidence(one, other, NAME)
    (question,) = bench.questions()
    assert (question.left, question.right, question.left_lang, question.right_lang) == (
        one.url, other.url, "en", "fr",
    )  # fmt: skip
    assert question.evidence == "alternate"
    assert one.partners == {"fr": other}
    assert other.partners == {"en": one}


def test_nothing_is_verified_before_both_pages_are_fetched(bench: Bench) -> None:
    one, other = bench.page("/en/a", "en"), KnownUrl(at("/fr/a"))
    bench.matches.add_evidence(one, other, ALTERNATE)
    bench.matches.request_verification(one)
    assert bench.questions() == []
    other.state, other.lang = State.PAGE, "fr"
    bench.matches.request_verification(other)
    assert len(bench.questions()) == 1


@pytest.mark.parametrize("lang", ["en", OTHER, ""])
def test_pages_whose_languages_cannot_be_a_pair_are_no_candidates(bench: Bench, lang: str) -> None:
    one, other = bench.page("/en/a", "en"), bench.page("/b", lang)
    assert not bench.matches.are_in_two_languages(one, other)
    bench.matches.add_evidence(one, other, ALTERNATE)
    assert bench.questions() == []
    assert one.candidates == {}


def test_page_has_one_partner_in_each_language() -> None:
    bench = Bench("en", "fr", "de")
    one, french, german = bench.page("/a", "en"), bench.page("/b", "fr"), bench.page("/c", "de")
    other = bench.page("/d", "fr")
    bench.pair(one, french)
    bench.pair(one, german)
    bench.matches.add_evidence(one, other, ALTERNATE)
    assert bench.questions() == []
    assert not bench.matches.may_be_pair(one, other)
    assert bench.matches.are_in_two_languages(one, other)
    assert bench.matches.may_be_pair(other, german)


def test_trust_rises_with_pairs_and_falls_with_refutations(bench: Bench) -> None:
    one, two, other = *bench.pages(2, "en"), bench.page("/fr/a", "fr")
    start = bench.values.evidence_rates.rate(ALTERNATE, 0.5)
    bench.pair(one, other)
    after = bench.values.evidence_rates.rate(ALTERNATE, 0.5)
    assert after > start
    gone = KnownUrl(at("/fr/b"))
    bench.matches.add_evidence(two, gone, ALTERNATE)
    gone.state = State.GONE
    bench.matches.refute(two, gone)
    assert bench.values.evidence_rates.rate(ALTERNATE, 0.5) < after
    assert two.candidates == gone.candidates == {}


def test_evidence_for_a_page_that_is_paired_already_does_not_count_as_wrong(bench: Bench) -> None:
    one, (first, second) = bench.page("/en/a", "en"), bench.pages(2, "fr")
    second.state = State.PENDING
    bench.matches.add_evidence(one, second, NAME)
    bench.pair(one, first)
    before = bench.values.evidence_rates.rate(NAME, 0.5)
    second.state = State.PAGE
    bench.matches.refute(one, second)
    assert bench.values.evidence_rates.rate(NAME, 0.5) == before


def test_strongest_of_several_is_verified_first(bench: Bench) -> None:
    one, others = bench.page("/en/a", "en"), bench.pages(3, "fr")
    for other, kinds in zip(others, (NAME, ALTERNATE, NAME), strict=True):
        KnownUrls.add_evidence(one, other, kinds)
    bench.matches.request_verification(one)
    assert [question.right for question in bench.questions()] == [others[1].url]


def pending(bench: Bench, path: str, lang: str) -> KnownUrl:
    first = bench.values.languages.first_guess(lang, "", {})
    return KnownUrl(at(path), first_guess=first)


@pytest.mark.parametrize("swap", [False, True])
def test_pair_waits_for_a_likelier_partner_that_is_not_fetched_yet(
    bench: Bench, swap: bool
) -> None:
    one, other, better = (
        bench.page("/en/a", "en"), bench.page("/fr/b", "fr"), pending(bench, "/fr/a", "fr"),
    )  # fmt: skip
    bench.matches.add_evidence(one, better, ALTERNATE)
    bench.matches.add_evidence(*((other, one) if swap else (one, other)), NAME)
    assert bench.questions() == []
    bench.matches.drop_all(better)
    assert [question.right for question in bench.questions()] == [other.url]


def test_pair_waits_no_more_when_the_likelier_partner_is_refuted(bench: Bench) -> None:
    one, other, better = (
        bench.page("/en/a", "en"), bench.page("/fr/b", "fr"), pending(bench, "/fr/a", "fr"),
    )  # fmt: skip
    bench.matches.add_evidence(one, better, ALTERNATE)
    bench.matches.add_evidence(one, other, NAME)
    bench.matches.refute_all(better)
    assert len(bench.questions()) == 1


@pytest.mark.parametrize(("lang", "kinds"), [("en", ALTERNATE), ("fr", (("rank",),))])
def test_pair_does_not_wait_for_others(bench: Bench, lang: str, kinds: Kinds) -> None:
    one, other = bench.page("/en/a", "en"), bench.page("/fr/b", "fr")
    bench.matches.add_evidence(one, pending(bench, "/x", lang), kinds)
    bench.matches.add_evidence(one, other, NAME)
    assert len(bench.questions()) == 1


def test_verifications_per_page_are_limited(bench: Bench) -> None:
    one, others = bench.page("/en/a", "en"), bench.pages(10, "fr")
    asked = 0
    for other in others:
        bench.matches.add_evidence(one, other, NAME)
        for _ in bench.questions():
            asked += 1
            one.partners.clear()
            other.partners.clear()
    assert asked == MAX_VERIFIED


def test_pages_without_a_translation_are_counted_by_language(bench: Bench) -> None:
    one, two, other = *bench.pages(2, "en"), bench.page("/fr/a", "fr")
    assert dict(bench.matches.unpaired) == {"en": 2, "fr": 1}
    bench.matches.add_evidence(one, other, ALTERNATE)
    assert dict(bench.matches.unpaired) == {"en": 1, "fr": 0}
    bench.matches.remove(two)
    assert dict(bench.matches.unpaired) == {"en": 0, "fr": 0}


def test_pages_count_as_trials_once_there_are_pairs(bench: Bench) -> None:
    english, french = bench.pages(8, "en"), bench.pages(8, "fr")
    usual = bench.translation_probability()
    assert usual == Bench().translation_probability(), (
        "without pairs, pages without one say nothing"
    )
    for one, other in zip(english[:MIN_PAIRS], french, strict=False):
        bench.pair(one, other)
    assert bench.matches.count == MIN_PAIRS
    some = bench.translation_probability()
    for number in range(20):
        bench.page(f"/en/more/{number}", "en")
    assert bench.translation_probability() < some


def test_all_open_pages_are_counted_at_once(bench: Bench) -> None:
    bench.pages(9, "en")
    before = bench.translation_probability()
    bench.matches.count_all_pages()
    after = bench.translation_probability()
    assert after < before
    bench.matches.count_all_pages()
    assert bench.translation_probability() == after, "each counts once"


def test_urls_whose_value_may_change_are_marked(bench: Bench) -> None:
    one, other, third = bench.page("/en/a", "en"), bench.page("/fr/a", "fr"), KnownUrl(at("/fr/b"))
    bench.matches.add_evidence(one, third, NAME)
    bench.matches.changed.clear()
    bench.matches.add_evidence(one, other, ALTERNATE)
    assert third in bench.matches.changed, "the page it was thought to complete is asked for"
    bench.matches.changed.clear()
    bench.matches.accept(one, other)
    assert third in bench.matches.changed


# -- evidence that is trusted ----------------------------------------------------------------------


def proved(kinds: Kinds, *, wrong: int = 0) -> Bench:
    """Evidence of these kinds was right for 30 pairs, and `wrong` for others."""
    bench = Bench()
    for number in range(30 + wrong):
        bench.values.count_proof(kinds, is_accepted=number < 30)
    return bench


def ask(bench: Bench, kinds: Kinds, count: int = 40) -> int:
    """The number of pairs with this evidence that are verified."""
    for one, other in zip(bench.pages(count, "en"), bench.pages(count, "fr"), strict=True):
        bench.matches.add_evidence(one, other, kinds)
    return len(bench.questions())


def test_of_pairs_with_proved_evidence_only_samples_are_verified() -> None:
    bench = proved(ALTERNATE)
    assert 0 < ask(bench, ALTERNATE) < 2 * 40 / CHECKED


@pytest.mark.parametrize(
    ("kinds", "wrong"), [(ALTERNATE, 3), ((("aligned",),), 0), ((("content",),), 0)]
)
def test_pairs_with_other_evidence_are_all_verified(kinds: Kinds, wrong: int) -> None:
    bench = proved(kinds, wrong=wrong)
    assert ask(bench, kinds) == 40
    assert bench.matches.accept_trusted() == []


def test_evidence_is_not_trusted_before_it_has_proved_right(bench: Bench) -> None:
    assert ask(bench, ALTERNATE) == 40


def test_trusted_pairs_are_pairs_but_prove_nothing() -> None:
    bench = proved(ALTERNATE)
    asked = ask(bench, ALTERNATE)
    before = dict(bench.values.proofs.trials), dict(bench.values.evidence_rates.trials)
    trusted = bench.matches.accept_trusted()
    assert len(trusted) == bench.matches.count == 40 - asked
    assert (bench.values.proofs.trials, bench.values.evidence_rates.trials) == before
    assert bench.matches.accept_trusted() == [], "each is accepted once"
    assert bench.values.has_pairs


def verify(bench: Bench, folder: str, count: int, kinds: Kinds, *decisions: Decision) -> list[bool]:
    """Add pairs with this evidence and decide on those that are verified; which are verified?

    A pair is accepted if there is no decision on it.
    """
    verified = []
    for number in range(count):
        one = bench.page(f"/en/{folder}/{number}", "en")
        other = bench.page(f"/fr/{folder}/{number}", "fr")
        bench.matches.add_evidence(one, other, kinds)
        questions = bench.questions()
        verified.append(bool(questions))
        for question in questions:
            if decisions:
                bench.matches.reject(one, other, question.score, decisions[number % len(decisions)])
            else:
                bench.matches.accept(one, other)
        bench.matches.accept_trusted()
    return verified


UNSURE = Decision(False, 0.45, "score")
"""a verifier without a lexicon rejects a pair that is probable nevertheless"""


def test_trust_is_lost_when_declarations_become_worse(bench: Bench) -> None:
    good = verify(bench, "good", 60, ALTERNATE)
    assert all(good[:20])
    assert not all(good[20:])
    worse = verify(bench, "worse", 60, ALTERNATE, UNSURE)
    assert not all(worse)
    assert all(worse[30:])
    assert bench.matches.count == 120, "the verifier is unsure, and the pairs are probable"


def test_trust_is_kept_while_declarations_stay_right(bench: Bench) -> None:
    verified = verify(bench, "good", 400, ALTERNATE)
    assert 400 / CHECKED / 2 < sum(verified[200:]) * 2 < 400 / CHECKED * 2


def test_trust_is_lost_in_one_section(bench: Bench) -> None:
    def of(section: str) -> Kinds:
        return (("alternate",), ("alternate", section))

    verify(bench, "good", 200, of("good"))
    assert all(verify(bench, "bad", 40, of("bad"), UNSURE)[20:])
    assert not all(verify(bench, "better", 40, of("good")))


@pytest.mark.parametrize("reason", [*sorted(UNDECIDED)[:1], "failed:MemoryError"])
def test_pairs_without_a_decision_neither_win_nor_lose_trust(bench: Bench, reason: str) -> None:
    verify(bench, "good", 60, ALTERNATE)
    before = dict(bench.values.proofs.trials)
    verified = verify(bench, "undecided", 60, ALTERNATE, Decision(False, 0.0, reason))
    assert not all(verified)
    assert bench.values.proofs.trials == before


def test_only_declarations_are_counted_as_proofs(bench: Bench) -> None:
    verify(bench, "aligned", 3, (("aligned",), ("aligned", 1)))
    assert bench.values.proofs.trials == {}

"""The probability that a URL is a new page."""

from __future__ import annotations

import pytest

from diptych.stages.crawl.hybrid.page_chance import PageChances

SITE, DEAD, ALIVE, NEW = range(4)


def counted(dead: int = 0, alive: int = 0, fading: float = 5.0) -> PageChances:
    chances = PageChances(fading=fading)
    for _ in range(dead):
        chances.add([SITE, DEAD], 0.0)
    for _ in range(alive):
        chances.add([SITE, ALIVE], 1.0)
    return chances


def test_prior_is_that_most_links_are_pages() -> None:
    assert 0.75 < PageChances().chance((NEW,)) < 0.95


def test_one_answer_does_not_decide_for_the_site() -> None:
    assert counted(dead=1).usual > 0.5


@pytest.mark.parametrize("dead", [1, 2, 4, 8, 16])
def test_each_failure_lowers_the_chance_of_its_kind(dead: int) -> None:
    fewer, more = counted(dead, 10), counted(dead + 1, 10)
    assert more.chance((SITE, DEAD)) < fewer.chance((SITE, DEAD))


def test_kind_that_always_fails_has_almost_no_chance() -> None:
    chances = counted(dead=8, alive=30)
    assert chances.chance((SITE, DEAD)) < 0.06
    assert chances.chance((SITE, ALIVE)) > 0.9
    assert chances.chance((SITE, NEW)) == pytest.approx(chances.usual, abs=0.05)


def test_most_informative_feature_decides() -> None:
    chances = counted(dead=8, alive=8)
    for features in ((SITE, DEAD), (DEAD, SITE)):
        assert chances.chance(features) == chances.chance((DEAD,))


def test_share_of_the_site_fades_with_the_trials_of_a_kind() -> None:
    faded, full = counted(10, 10), counted(10, 10, fading=float("inf"))
    assert faded.chance((DEAD,)) < full.chance((DEAD,)) / 2


def test_fractional_shares_count() -> None:
    chances = PageChances()
    for _ in range(50):
        chances.add([NEW], 0.25)
    assert chances.chance((NEW,)) == pytest.approx(0.25, abs=0.05)


def test_chance_that_was_asked_for_before_follows_the_counts() -> None:
    asked = PageChances()
    for number in range(5):
        asked.add([SITE, DEAD], float(number == 0))
        asked.chance((SITE, DEAD))
    fresh = PageChances()
    for number in range(5):
        fresh.add([SITE, DEAD], float(number == 0))
    assert asked.chance((SITE, DEAD)) == fresh.chance((SITE, DEAD))

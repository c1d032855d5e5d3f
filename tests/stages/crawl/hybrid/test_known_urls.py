from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from diptych.stages.crawl.hybrid.known_urls import MAX_EVIDENCE, MAX_TIES, Life, Spot, Spots
from diptych.types import Url

KEY, NAME = (("key",),), (("name",), ("name", "seldom"))


def known(count: int) -> tuple[Spots, list[Spot]]:
    spots = Spots()
    return spots, [spots.add(Spot(Url(f"http://x.org/{number}"))) for number in range(count)]


def test_what_is_added_is_known_by_its_url() -> None:
    spots, (one, other) = known(2)
    assert spots.get(one.url) is one
    assert spots.get(other.url) is other
    assert spots.get(Url("http://x.org/x")) is None
    assert len(spots) == 2


def test_ties_hold_for_both_and_are_told_once() -> None:
    spots, (one, other) = known(2)
    assert spots.tie(one, other, KEY)
    assert not spots.tie(one, other, KEY)
    assert not spots.tie(other, one, KEY)
    assert spots.tie(other, one, NAME)
    assert one.ties == {other: [KEY, NAME]}
    assert other.ties == {one: [KEY, NAME]}
    assert list(spots.ties(one)) == [(other, [KEY, NAME])]


def test_nothing_is_tied_to_itself_or_to_what_is_gone() -> None:
    spots, (one, other) = known(2)
    assert not spots.tie(one, one, KEY)
    other.life = Life.GONE
    assert not spots.tie(one, other, KEY)
    assert not spots.tie(other, one, KEY)
    assert one.ties == other.ties == {}


def test_untied_urls_forget_each_other() -> None:
    spots, (one, other) = known(2)
    spots.tie(one, other, KEY)
    assert spots.untie(one, other) == [KEY]
    assert spots.untie(one, other) == []
    assert one.ties == other.ties == {}


def test_ties_and_what_says_so_are_bounded() -> None:
    spots, (home, *pages) = known(MAX_TIES + 10)
    assert sum(spots.tie(home, page, NAME) for page in pages) == MAX_TIES
    assert sum(spots.tie(home, pages[0], ((str(n),),)) for n in range(20)) == MAX_EVIDENCE - 1


def test_what_is_said_of_a_url_holds_for_where_it_leads() -> None:
    spots, (old, new, partner) = known(3)
    spots.tie(old, partner, KEY)
    spots.tie(old, partner, NAME)
    spots.move(old, new)
    assert spots.get(old.url) is new
    assert old.life is Life.GONE
    assert (old.ties, new.ties) == ({}, {partner: [KEY, NAME]})
    assert partner.ties == {new: [KEY, NAME]}


def test_ties_between_a_url_and_where_it_leads_are_gone() -> None:
    spots, (old, new) = known(2)
    spots.tie(old, new, KEY)
    spots.move(old, new)
    assert old.ties == new.ties == {}


def test_url_that_leads_to_itself_stays() -> None:
    spots, (one,) = known(1)
    spots.move(one, one)
    assert spots.get(one.url) is one
    assert one.life is Life.PENDING


@given(st.lists(st.tuples(st.sampled_from(["tie", "untie", "move"]), st.integers(0, 5),
                          st.integers(0, 5)), max_size=40))  # fmt: skip
def test_ties_are_mutual_whatever_happens(steps: list[tuple[str, int, int]]) -> None:
    spots, known_ones = known(6)
    for what, left, right in steps:
        one, other = known_ones[left], known_ones[right]
        if what == "tie":
            spots.tie(one, other, KEY)
        elif what == "untie":
            spots.untie(one, other)
        else:
            spots.move(one, other)
    for spot in known_ones:
        assert len(spot.ties) <= MAX_TIES
        assert spot not in spot.ties
        for other, evidence in spot.ties.items():
            assert other.ties[spot] is evidence
            assert Life.GONE not in (spot.life, other.life)
        spots.get(spot.url)  # ends, also where URLs lead round and round

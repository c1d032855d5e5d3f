from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from diptych.stages.crawl.hybrid.known_urls import (
    MAX_CANDIDATES,
    MAX_EVIDENCE,
    KnownUrl,
    KnownUrls,
    State,
)
from diptych.types import Url

KEY, NAME = (("key",),), (("name",), ("name", "seldom"))


def urls_of(count: int) -> tuple[KnownUrls, list[KnownUrl]]:
    urls = KnownUrls()
    return urls, [urls.add(KnownUrl(Url(f"http://x.org/{number}"))) for number in range(count)]


def test_added_url_is_found_by_its_address() -> None:
    urls, (one, other) = urls_of(2)
    assert urls.get(one.url) is one
    assert urls.get(other.url) is other
    assert urls.get(Url("http://x.org/x")) is None
    assert not urls.is_full


def test_evidence_holds_for_both_urls_and_is_kept_once() -> None:
    urls, (one, other) = urls_of(2)
    assert urls.add_evidence(one, other, KEY)
    assert not urls.add_evidence(one, other, KEY)
    assert not urls.add_evidence(other, one, KEY)
    assert urls.add_evidence(other, one, NAME)
    assert one.candidates == {other: [KEY, NAME]}
    assert other.candidates == {one: [KEY, NAME]}


def test_no_url_is_a_candidate_of_itself_or_of_a_removed_one() -> None:
    urls, (one, other) = urls_of(2)
    assert not urls.add_evidence(one, one, KEY)
    other.state = State.GONE
    assert not urls.add_evidence(one, other, KEY)
    assert not urls.add_evidence(other, one, KEY)
    assert one.candidates == other.candidates == {}


def test_removed_evidence_is_removed_from_both_urls() -> None:
    urls, (one, other) = urls_of(2)
    urls.add_evidence(one, other, KEY)
    urls.remove_evidence(one, other)
    urls.remove_evidence(one, other)
    assert one.candidates == other.candidates == {}


def test_candidates_and_their_evidence_are_bounded() -> None:
    urls, (home, *pages) = urls_of(MAX_CANDIDATES + 10)
    assert sum(urls.add_evidence(home, page, NAME) for page in pages) == MAX_CANDIDATES
    assert (
        sum(urls.add_evidence(home, pages[0], ((str(n),),)) for n in range(20)) == MAX_EVIDENCE - 1
    )


def test_redirect_target_inherits_candidates() -> None:
    urls, (old, new, partner) = urls_of(3)
    urls.add_evidence(old, partner, KEY)
    urls.add_evidence(old, partner, NAME)
    urls.move(old, new)
    assert urls.get(old.url) is new
    assert old.state is State.GONE
    assert (old.candidates, new.candidates) == ({}, {partner: [KEY, NAME]})
    assert partner.candidates == {new: [KEY, NAME]}


def test_redirect_target_is_no_candidate_of_its_source() -> None:
    urls, (old, new) = urls_of(2)
    urls.add_evidence(old, new, KEY)
    urls.move(old, new)
    assert old.candidates == new.candidates == {}


def test_url_that_leads_to_itself_stays() -> None:
    urls, (one,) = urls_of(1)
    urls.move(one, one)
    assert urls.get(one.url) is one
    assert one.state is State.PENDING


@given(st.lists(st.tuples(st.sampled_from(["tie", "untie", "move"]), st.integers(0, 5),
                          st.integers(0, 5)), max_size=40))  # fmt: skip
def test_candidates_are_mutual_after_any_steps(steps: list[tuple[str, int, int]]) -> None:
    urls, entries = urls_of(6)
    for what, left, right in steps:
        one, other = entries[left], entries[right]
        if what == "tie":
            urls.add_evidence(one, other, KEY)
        elif what == "untie":
            urls.remove_evidence(one, other)
        else:
            urls.move(one, other)
    for known in entries:
        assert len(known.candidates) <= MAX_CANDIDATES
        assert known not in known.candidates
        for other, evidence in known.candidates.items():
            assert other.candidates[known] is evidence
            assert State.GONE not in (known.state, other.state)
        urls.get(known.url)  # ends, also where URLs lead round and round

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.stores import begin

from diptych.frontier.queries import SQL
from diptych.frontier.queue import Claim, Entry, Frontier, Host, State, Turn
from diptych.run.store import Store
from diptych.text.urls import url_key
from diptych.types import Kind, Url


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path) as opened:
        begin(opened)
        yield opened


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """One store for all simulations, each of which empties it, because opening a store is slow."""
    with Store(tmp_path_factory.mktemp("simulated")) as opened:
        begin(opened)
        yield opened


def page(path: str, priority: float = 0.0, *, host: int = 1, depth: int = 1) -> Entry:
    return Entry(Url(f"http://h{host}.org/{path}"), host, priority, depth)


def frontier_of(store: Store, *hosts: Host) -> Frontier:
    frontier = Frontier(store.db)
    for host in hosts:
        frontier.add_host(host)
    return frontier


def names(claims: list[Claim]) -> list[str]:
    return [claim.url.rpartition("/")[2] for claim in claims]


def drain(frontier: Frontier, now: float = 0.0) -> list[str]:
    """All URLs that can be claimed in sequence, each completed at once."""
    found = []
    while claims := frontier.claim(now, 1):
        found += names(claims)
        frontier.complete(claims[0], now, status=200)
    return found


def state_of(store: Store, entry: Entry) -> State:
    query = "SELECT state FROM urls WHERE key = ?"
    return State(store.db.execute(query, (url_key(entry.url),)).fetchone()[0])


def row_of(store: Store, entry: Entry) -> tuple[float, int]:
    query = "SELECT priority, depth FROM urls WHERE key = ?"
    row: tuple[float, int] = store.db.execute(query, (url_key(entry.url),)).fetchone()
    return row


# -- order -------------------------------------------------------------------------------------


def test_highest_priority_comes_first_then_the_order_of_discovery(store: Store) -> None:
    frontier = frontier_of(store, Host(1))
    frontier.add([page("c", 1.0), page("a", 2.0), page("d", 1.0), page("b", 2.0), page("z", -9.0)])
    assert drain(frontier) == ["a", "b", "c", "d", "z"]


@settings(max_examples=examples(60))
@given(priorities=st.lists(st.sampled_from([-1e9, -2.5, -1.0, 0.0, 0.5, 1.0, 1e9]), max_size=25))
def test_order_is_that_of_a_stable_sort(shared_store: Store, priorities: list[float]) -> None:
    shared_store.db.execute("DELETE FROM urls")
    frontier = frontier_of(shared_store, Host(1))
    frontier.add([page(str(number), priority) for number, priority in enumerate(priorities)])
    order = sorted(range(len(priorities)), key=lambda number: -priorities[number])
    assert drain(frontier) == [str(number) for number in order]


def test_claim_has_all_facts_about_the_url(store: Store) -> None:
    frontier = frontier_of(store, Host(7))
    entry = Entry(Url("http://h.org/sitemap.xml"), 7, 2.5, 3, turn=Turn.SITEMAP, hops=4)
    frontier.add([entry])
    (claim,) = frontier.claim(0.0, 9)
    assert claim[1:] == ("http://h.org/sitemap.xml", 7, Turn.SITEMAP, 3, 2.5, 4, 0)
    assert claim.kind is Kind.SITEMAP


def test_turn_comes_before_priority(store: Store) -> None:
    frontier = frontier_of(store, Host(1))
    turns = (Turn.PAGE, Turn.CHILD_SITEMAP, Turn.SEED, Turn.SITEMAP, Turn.ROBOTS)
    frontier.add([page(turn.name, 10.0**turn)._replace(turn=turn) for turn in turns])
    assert drain(frontier) == ["ROBOTS", "SITEMAP", "SEED", "CHILD_SITEMAP", "PAGE"]


def test_unknown_turn_is_that_of_a_page(store: Store) -> None:
    frontier = frontier_of(store, Host(1))
    frontier.add([page("a", 1.0)])
    store.db.execute("UPDATE urls SET turn = 'damaged'")
    assert frontier.best_priority([1], 0.0) == 1.0
    assert [claim.turn for claim in frontier.claim(0.0, 1)] == [Turn.PAGE]


def test_next_url_is_one_step_in_an_index(store: Store) -> None:
    rows = store.db.execute("EXPLAIN QUERY PLAN " + SQL["next_url"], (1, 0.0)).fetchall()
    assert [row[3] for row in rows] == ["SEARCH urls USING INDEX urls_ready (host=?)"]
    rows = store.db.execute("EXPLAIN QUERY PLAN " + SQL["best_priority"], (1, 0.0)).fetchall()
    assert [row[3] for row in rows] == ["SEARCH urls USING INDEX urls_ready (host=?)"]


def test_hosts_take_turns(store: Store) -> None:
    frontier = frontier_of(store, *(Host(number) for number in (1, 2, 3)))
    frontier.add([page(str(number), host=host) for host in (1, 2, 3) for number in range(20)])
    served = []
    for _ in range(60):
        (claim,) = frontier.claim(0.0, 1)
        served.append(claim.host)
        frontier.complete(claim, 0.0, status=200)
    for start in range(0, 60, 3):
        assert set(served[start : start + 3]) == {1, 2, 3}


def test_a_host_with_high_priorities_does_not_starve_the_others(store: Store) -> None:
    frontier = frontier_of(store, Host(1), Host(2))
    frontier.add([page(str(number), 1e6, host=1) for number in range(10)])
    frontier.add([page("only", -1e6, host=2)])
    assert {claim.host for claim in frontier.claim(0.0, 2)} == {1, 2}


# -- entries that are known already ------------------------------------------------------------


def test_priority_is_raised_and_never_lowered(store: Store) -> None:
    frontier = frontier_of(store, Host(1))
    frontier.add([page("a", 1.0), page("b", 2.0)])
    frontier.add([page("a", 3.0), page("b", 0.0)])
    assert row_of(store, page("a"))[0] == 3.0
    assert row_of(store, page("b"))[0] == 2.0
    assert drain(frontier) == ["a", "b"]


def test_priority_is_lowered_where_an_entry_says_so(store: Store) -> None:
    frontier = frontier_of(store, Host(1))
    frontier.add([page("a", 0.9), page("b", 0.5)])
    frontier.add([page("a", 0.1)._replace(lowers=True), page("b", 0.2)])
    assert row_of(store, page("a"))[0] == 0.1
    assert row_of(store, page("b"))[0] == 0.5
    assert drain(frontier) == ["b", "a"]


def test_entry_that_lowers_raises_as_well(store: Store) -> None:
    frontier = frontier_of(store, Host(1))
    frontier.add([page("a", 0.1)])
    frontier.add([page("a", 0.7)._replace(lowers=True)])
    assert row_of(store, page("a"))[0] == 0.7


def test_seeds_are_never_lowered(store: Store) -> None:
    frontier = frontier_of(store, Host(1))
    frontier.add([page("seed", depth=0)._replace(turn=Turn.SEED), page("a", 0.9)])
    frontier.add([page("seed", -0.1)._replace(lowers=True), page("seed", 7.0)])
    assert row_of(store, page("seed")) == (0.0, 0)
    assert drain(frontier) == ["seed", "a"]


@pytest.mark.parametrize("turn", [Turn.SITEMAP, Turn.CHILD_SITEMAP])
@pytest.mark.parametrize("lowers", [True, False])
def test_link_to_a_sitemap_does_not_make_it_a_page(
    store: Store, turn: Turn, *, lowers: bool
) -> None:
    frontier = frontier_of(store, Host(1))
    frontier.add([page("a", 5.0), page("map.xml")._replace(turn=turn)])
    frontier.add([page("map.xml", 3.0)._replace(lowers=lowers)])
    (claim,) = frontier.claim(0.0, 1)
    assert (claim.turn, claim.kind) == (turn, Kind.SITEMAP)


def test_page_that_is_named_as_a_seed_becomes_one(store: Store) -> None:
    frontier = frontier_of(store, Host(1))
    frontier.add([page("a", 5.0), page("b", 1.0)])
    frontier.add([page("b")._replace(turn=Turn.SEED)])
    assert drain(frontier) == ["b", "a"]


def test_depth_of_a_rescored_url_is_kept(store: Store) -> None:
    frontier = frontier_of(store, Host(1))
    frontier.add([page("a", 0.9, depth=3)])
    for depth, priority in ((1, 0.5), (7, 0.2), (1, 0.8)):
        frontier.add([page("a", priority, depth=depth)._replace(lowers=True)])
    assert row_of(store, page("a")) == (0.8, 3)


@pytest.mark.parametrize("state", [State.FETCHED, State.FAILED, State.REFUSED, State.CLAIMED])
def test_only_what_is_queued_is_lowered(store: Store, state: State) -> None:
    frontier = frontier_of(store, Host(1))
    frontier.add([page("a", 0.9)])
    store.db.execute("UPDATE urls SET state = ?", (int(state),))
    frontier.add([page("a", 0.1)._replace(lowers=True)])
    assert row_of(store, page("a"))[0] == 0.9
    assert state_of(store, page("a")) is state


def test_top_is_the_best_page_that_may_be_claimed_soon(store: Store) -> None:
    frontier = frontier_of(store, Host(1), Host(2), Host(3))
    assert frontier.best_priority([1, 2, 3], 0.0) == -math.inf
    frontier.add([page("a", 0.3), page("b", 0.7), page("c", 0.9, host=2)])
    frontier.add([page("robots.txt")._replace(turn=Turn.ROBOTS)])
    assert frontier.best_priority([1], 0.0) == 0.7
    assert frontier.best_priority([1, 2], 0.0) == 0.9
    frontier.hold(2, 3600.0)
    assert frontier.best_priority([1, 2], 0.0) == 0.7
    assert frontier.best_priority([1, 2], 3600.0) == 0.9
    frontier.stop(1, "test")
    assert frontier.best_priority([1, 2], 0.0) == -math.inf
    assert frontier.best_priority([], 0.0) == frontier.best_priority([3], 0.0) == -math.inf
    frontier.add([page("seed", host=3)._replace(turn=Turn.SEED), page("d", 0.5, host=3)])
    assert frontier.best_priority([2, 3], 3600.0) == math.inf


@settings(max_examples=examples(60))
@given(st.lists(st.tuples(st.integers(-5, 5), st.booleans()), min_size=1, max_size=8))
def test_priority_is_the_last_that_may_lower_or_what_was_raised_since(
    shared_store: Store, said: list[tuple[int, bool]]
) -> None:
    shared_store.db.execute("DELETE FROM urls")
    frontier, expected = frontier_of(shared_store, Host(1)), -math.inf
    for priority, lowers in said:
        frontier.add([page("a", float(priority))._replace(lowers=lowers)])
        expected = priority if lowers else max(expected, priority)
    assert row_of(shared_store, page("a"))[0] == expected


@pytest.mark.parametrize("turns", [(Turn.PAGE, Turn.SITEMAP), (Turn.SITEMAP, Turn.PAGE)])
def test_url_that_is_once_named_as_a_sitemap_is_one(store: Store, turns: tuple[Turn, Turn]) -> None:
    frontier = frontier_of(store, Host(1))
    for priority, turn in enumerate(turns):
        frontier.add([page("map.xml", float(priority))._replace(turn=turn)])
    assert frontier.claim(0.0, 1)[0].kind is Kind.SITEMAP


def test_depth_of_a_raised_url_is_the_smaller_one(store: Store) -> None:
    frontier = frontier_of(store, Host(1))
    frontier.add([page("near", 1.0, depth=2), page("far", 1.0, depth=2)])
    frontier.add([page("near", 2.0, depth=5), page("far", 2.0, depth=1)])
    assert row_of(store, page("near")) == (2.0, 2)
    assert row_of(store, page("far")) == (2.0, 1)


@settings(max_examples=examples(60))
@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(0, 5)), min_size=1, max_size=8))
def test_order_of_discovery_does_not_change_the_priority(
    shared_store: Store, seen: list[tuple[int, int]]
) -> None:
    shared_store.db.execute("DELETE FROM urls")
    frontier = frontier_of(shared_store, Host(1))
    for priority, depth in seen:
        frontier.add([page("a", float(priority), depth=depth)])
    assert row_of(shared_store, page("a"))[0] == max(priority for priority, _ in seen)
    assert shared_store.count("SELECT count(*) FROM urls") == 1


@pytest.mark.parametrize("state", [State.FETCHED, State.FAILED, State.REFUSED])
def test_finished_urls_are_never_queued_again(store: Store, state: State) -> None:
    frontier = frontier_of(store, Host(1))
    entry = page("a", 1.0)
    frontier.add([entry])
    (claim,) = frontier.claim(0.0, 1)
    if state is State.FETCHED:
        frontier.complete(claim, 0.0, status=200)
    elif state is State.FAILED:
        frontier.fail(claim, 0.0, reason="dns")
    else:
        frontier.refuse(claim, 0.0, reason="robots")
    frontier.add([entry, entry._replace(priority=1e9, depth=0)])
    assert state_of(store, entry) is state
    assert row_of(store, entry) == (1.0, 1)
    assert frontier.claim(1.0, 5) == []


def test_urls_being_fetched_are_not_queued_again(store: Store) -> None:
    frontier = frontier_of(store, Host(1, connections=4))
    frontier.add([page("a", 1.0)])
    (claim,) = frontier.claim(0.0, 5)
    frontier.add([page("a", 5.0)])
    assert frontier.claim(0.0, 5) == []
    frontier.complete(claim, 0.0, status=200)
    assert frontier.claim(1.0, 5) == []


@pytest.mark.parametrize("state", [State.REFUSED, State.OUTSIDE])
def test_queued_url_stays_queued_when_it_is_later_refused(store: Store, state: State) -> None:
    frontier = frontier_of(store, Host(1))
    frontier.add([page("a", 1.0)])
    frontier.add([page("a", 9.0)._replace(state=state, reason="x")])
    assert row_of(store, page("a"))[0] == 1.0
    assert drain(frontier) == ["a"]


@pytest.mark.parametrize("state", [State.REFUSED, State.OUTSIDE])
def test_refused_and_outside_urls_are_kept_with_their_reason_and_not_given_out(
    store: Store, state: State
) -> None:
    frontier = frontier_of(store, Host(1))
    frontier.add([page("a")._replace(state=state, reason="because")])
    assert store.db.execute("SELECT state, reason FROM urls").fetchall() == [(state, "because")]
    frontier.add([page("a", 5.0)])
    assert frontier.claim(0.0, 1) == []


# -- what becomes of a claim -------------------------------------------------------------------


def test_completed_claim_keeps_its_status_and_where_it_leads(store: Store) -> None:
    frontier = frontier_of(store, Host(1))
    frontier.add([page("a")])
    (claim,) = frontier.claim(0.0, 1)
    frontier.complete(claim, 0.0, status=301, redirect=42)
    row = store.db.execute("SELECT state, status, redirect, attempts FROM urls").fetchone()
    assert row == (State.FETCHED, 301, 42, 1)
    assert frontier.active == 0


def test_failed_claim_comes_back_at_its_time_and_counts_its_attempts(store: Store) -> None:
    frontier = frontier_of(store, Host(1))
    frontier.add([page("a")])
    for attempts in range(3):
        now = attempts * 10.0
        (claim,) = frontier.claim(now, 1)
        assert claim.attempts == attempts
        frontier.fail(claim, now, reason="timeout", status=0, retry_at=now + 10.0)
        assert frontier.claim(now + 9.9, 1) == []
        assert frontier.wake() == now + 10.0
    (claim,) = frontier.claim(30.0, 1)
    frontier.fail(claim, 30.0, reason="http_503", status=503)
    assert frontier.claim(1e9, 1) == []
    row = store.db.execute("SELECT state, status, reason, attempts FROM urls").fetchone()
    assert row == (State.FAILED, 503, "http_503", 4)


def test_reason_of_a_retried_url_is_gone_when_it_succeeds(store: Store) -> None:
    frontier = frontier_of(store, Host(1))
    frontier.add([page("a")])
    (claim,) = frontier.claim(0.0, 1)
    frontier.fail(claim, 0.0, reason="timeout", retry_at=1.0)
    (claim,) = frontier.claim(1.0, 1)
    frontier.complete(claim, 1.0, status=200)
    assert store.db.execute("SELECT reason FROM urls").fetchone() == ("",)


def test_retry_does_not_hold_up_the_rest_of_its_host(store: Store) -> None:
    frontier = frontier_of(store, Host(1))
    frontier.add([page("slow", 9.0), page("b"), page("c")])
    (claim,) = frontier.claim(0.0, 1)
    frontier.fail(claim, 0.0, reason="http_500", retry_at=100.0)
    assert drain(frontier, 1.0) == ["b", "c"]
    assert frontier.wake() == 100.0
    assert drain(frontier, 100.0) == ["slow"]


def test_refused_claim_gives_its_place_to_the_next_url_at_once(store: Store) -> None:
    frontier = frontier_of(store, Host(1, delay=10.0))
    frontier.add([page("a", 3.0), page("b", 2.0), page("c", 1.0)])
    (first,) = frontier.claim(0.0, 1)
    frontier.refuse(first, 0.0, reason="robots")
    (second,) = frontier.claim(0.0, 1)
    assert names([second]) == ["b"]
    assert frontier.claim(5.0, 1) == []
    row = store.db.execute(
        "SELECT state, reason, attempts FROM urls WHERE id = ?", (first.id,)
    ).fetchone()
    assert row == (State.REFUSED, "robots", 0)


def test_claim_given_back_stays_queued_and_is_not_an_attempt(store: Store) -> None:
    frontier = frontier_of(store, Host(1))
    frontier.add([page("a")])
    (claim,) = frontier.claim(0.0, 1)
    frontier.give_back(claim, 5.0)
    assert frontier.active == 0
    assert frontier.claim(4.9, 1) == []
    assert frontier.wake() == 5.0
    (again,) = frontier.claim(5.0, 1)
    assert (again.url, again.attempts) == (claim.url, 0)


def test_claim_given_back_is_not_given_out_at_once_over_another_connection(store: Store) -> None:
    frontier = frontier_of(store, Host(1, connections=4))
    frontier.add([page("a"), page("b")])
    (claim,) = frontier.claim(0.0, 1)
    frontier.give_back(claim, 5.0)
    assert claim.url not in [again.url for again in frontier.claim(4.9, 9)]
    assert claim.url in [again.url for again in frontier.claim(5.0, 9)]


def test_claim_that_is_given_back_for_a_moment_may_be_given_out_after_it(store: Store) -> None:
    frontier = frontier_of(store, Host(1))
    frontier.add([page("a")])
    (claim,) = frontier.claim(0.0, 1)
    frontier.give_back(claim, 0.25)
    assert names(frontier.claim(0.25, 1)) == ["a"]


def test_failed_claim_may_be_tried_again_at_once(store: Store) -> None:
    frontier = frontier_of(store, Host(1))
    frontier.add([page("a")])
    (claim,) = frontier.claim(0.0, 1)
    frontier.fail(claim, 0.0, reason="timeout", retry_at=0.0)
    assert names(frontier.claim(0.0, 1)) == ["a"]


def test_host_that_is_not_known_yet_may_have_something_queued(store: Store) -> None:
    frontier = frontier_of(store, Host(1))
    frontier.add([page("a", host=2)])
    assert frontier.claim(0.0, 9) == []
    host = Host(2)
    frontier.add_host(host)
    assert frontier.host(2) is host
    (claim,) = frontier.claim(0.0, 9)
    assert (claim.host, claim.hops, claim.attempts, claim.kind) == (2, 0, 0, Kind.PAGE)
    assert frontier.forget_host(2) is host


@pytest.mark.parametrize(("wait", "top"), [(0.0, 3.0), (5.0, 3.0), (5.1, -math.inf)])
def test_highest_priority_is_that_of_hosts_that_may_be_asked_within_five_seconds(
    store: Store, wait: float, top: float
) -> None:
    frontier = frontier_of(store, Host(1, next_at=100.0 + wait))
    frontier.add([page("a", 3.0), page("b", 2.0)])
    assert frontier.best_priority([1], 100.0) == top


def test_states_are_numbered_as_in_the_databases_of_runs() -> None:
    assert {state.name: int(state) for state in State} == {
        "QUEUED": 0, "CLAIMED": 1, "FETCHED": 2, "FAILED": 3, "REFUSED": 4, "OUTSIDE": 5, "ALIAS": 6
    }  # fmt: skip


# -- claims ----------------------------------------------------------------------------------


def test_restart_gives_back_all_claims(store: Store) -> None:
    before = frontier_of(store, Host(1, connections=3), Host(2))
    before.add([page("a"), page("b"), page("c"), page("d", host=2)])
    assert len(before.claim(0.0, 9)) == 4
    after = frontier_of(store, Host(1), Host(2))
    after.give_back_all()
    assert after.active == 0
    assert sorted(drain(after)) == ["a", "b", "c", "d"]


def test_claim_that_has_ended_cannot_end_again(store: Store) -> None:
    host = Host(1)
    frontier = frontier_of(store, host)
    frontier.add([page("a"), page("b")])
    (claim,) = frontier.claim(0.0, 1)
    frontier.complete(claim, 1.0, status=200)
    with pytest.raises(AssertionError, match="has expired"):
        frontier.fail(claim, 2.0, reason="late")
    assert (host.active, frontier.active) == (0, 0)
    assert state_of(store, page("a")) is State.FETCHED


def test_claims_are_given_back_by_an_index(store: Store) -> None:
    rows = store.db.execute("EXPLAIN QUERY PLAN " + SQL["give_back_all_claims"]).fetchall()
    assert "urls_claimed" in rows[0][3]


# -- politeness --------------------------------------------------------------------------------


def test_delay_is_kept_between_starts_and_after_the_end_of_an_answer(store: Store) -> None:
    frontier = frontier_of(store, Host(1, delay=2.0))
    frontier.add([page("a"), page("b"), page("c")])
    (claim,) = frontier.claim(0.0, 9)
    assert frontier.claim(5.0, 9) == []  # one connection, and it is busy
    frontier.complete(claim, 10.0, status=200)
    assert frontier.claim(11.9, 9) == []
    assert frontier.wake() == 12.0
    assert len(frontier.claim(12.0, 9)) == 1


def test_several_connections_still_start_one_delay_apart(store: Store) -> None:
    frontier = frontier_of(store, Host(1, delay=1.0, connections=3))
    frontier.add([page(str(number)) for number in range(9)])
    starts = [now / 4 for now in range(40) if frontier.claim(now / 4, 9)]
    assert starts == [0.0, 1.0, 2.0]


def test_no_delay_and_several_connections_are_used_at_once(store: Store) -> None:
    frontier = frontier_of(store, Host(1, connections=3))
    frontier.add([page(str(number)) for number in range(9)])
    claims = frontier.claim(0.0, 9)
    assert len(claims) == 3
    frontier.complete(claims[0], 0.0, status=200)
    assert len(frontier.claim(0.0, 9)) == 1


def test_host_on_hold_is_left_alone(store: Store) -> None:
    frontier = frontier_of(store, Host(1), Host(2))
    frontier.add([page("a"), page("b", host=2)])
    frontier.hold(1, 50.0)
    assert names(frontier.claim(0.0, 9)) == ["b"]
    assert frontier.claim(49.0, 9) == []
    assert frontier.wake() == 50.0
    frontier.hold(1, 20.0)  # a shorter wait does not shorten the longer one
    assert frontier.claim(49.0, 9) == []
    assert names(frontier.claim(50.0, 9)) == ["a"]


def test_stopped_host_gets_no_requests_and_keeps_its_queue(store: Store) -> None:
    frontier = frontier_of(store, Host(1), Host(2))
    frontier.add([page("a"), page("b"), page("c", host=2)])
    frontier.stop(1, "refused")
    frontier.add([page("d")])
    frontier.hold(1, 5.0)
    assert names(frontier.claim(9.0, 9)) == ["c"]
    assert frontier.wake() is None
    assert store.count("SELECT count(*) FROM urls WHERE state = 0") == 3


def test_nothing_to_wake_for_when_all_hosts_are_stopped(store: Store) -> None:
    frontier = frontier_of(store, Host(1), Host(2))
    frontier.add([page("a"), page("b", host=2)])
    frontier.stop(1, "refused")
    assert frontier.wake() == 0.0
    frontier.stop(2, "refused")
    assert frontier.wake() is None


def test_host_that_may_have_fewer_connections_than_it_has_gets_no_more(store: Store) -> None:
    host = Host(1, connections=3)
    frontier = frontier_of(store, host)
    frontier.add([page(str(number)) for number in range(9)])
    first, second = frontier.claim(0.0, 2)
    host.connections = 1  # its robots.txt was read again and asks for a Crawl-delay
    assert frontier.claim(1.0, 9) == []
    frontier.complete(first, 2.0, status=200)
    assert frontier.claim(2.0, 9) == []
    frontier.complete(second, 3.0, status=200)
    assert len(frontier.claim(3.0, 9)) == 1


def test_host_keeps_its_place_in_line_when_more_of_it_is_queued(store: Store) -> None:
    frontier = frontier_of(store, Host(1), Host(2))
    frontier.add([page("first"), page("second", host=2)])
    frontier.add([page(str(number)) for number in range(3)])
    (claim,) = frontier.claim(0.0, 1)
    assert claim.host == 1


def test_claims_of_a_stopped_host_can_still_be_completed(store: Store) -> None:
    frontier = frontier_of(store, Host(1, connections=2))
    frontier.add([page("a"), page("b"), page("c")])
    first, second = frontier.claim(0.0, 2)
    frontier.stop(1, "limit")
    frontier.complete(first, 1.0, status=200)
    frontier.fail(second, 1.0, reason="timeout", retry_at=2.0)
    assert frontier.active == 0
    assert frontier.claim(9.0, 9) == []
    assert frontier.wake() is None


# -- wake --------------------------------------------------------------------------------------


def test_nothing_to_wake_for_without_anything_queued(store: Store) -> None:
    frontier = frontier_of(store)
    assert frontier.wake() is None
    frontier.add_host(Host(1, next_at=3.0))
    assert frontier.claim(10.0, 1) == []
    assert frontier.wake() is None


def test_new_entry_wakes_a_host_that_had_run_dry(store: Store) -> None:
    frontier = frontier_of(store, Host(1, delay=4.0))
    frontier.add([page("a")])
    (claim,) = frontier.claim(0.0, 1)
    frontier.complete(claim, 1.0, status=200)
    assert frontier.claim(100.0, 1) == []
    assert frontier.wake() is None
    frontier.add([page("b")])
    wake = frontier.wake()
    assert wake is not None
    assert wake <= 100.0
    assert names(frontier.claim(100.0, 1)) == ["b"]


# -- simulations with a clock of our own ---------------------------------------------------------


class Simulation:
    """Random hosts, URLs and responses; records the times for judging politeness."""

    def __init__(self, store: Store, seed: int) -> None:
        store.db.execute("DELETE FROM urls")
        self.random = random.Random(seed)
        self.now = 0.0
        self.hosts = [
            Host(
                number + 1,
                delay=self.random.choice([0.0, 0.5, 1.0, 3.0]),
                connections=self.random.choice([1, 1, 2, 4]),
            )
            for number in range(self.random.randint(1, 6))
        ]
        self.frontier = frontier_of(store, *self.hosts)
        self.starts: dict[int, list[float]] = defaultdict(list)
        self.ends: dict[int, list[float]] = defaultdict(list)
        self.active: list[Claim] = []
        self.held: dict[int, float] = {}
        self.claimed: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.retried: Counter[str] = Counter()
        self.added = 0

    def add(self, count: int) -> None:
        entries = []
        for _ in range(count):
            host = self.random.choice(self.hosts).id
            entries.append(page(str(self.added), float(self.random.randint(-3, 3)), host=host))
            self.added += 1
        self.frontier.add(entries)

    def claim(self) -> None:
        wake = self.frontier.wake()
        claims = self.frontier.claim(self.now, self.random.randint(1, 5))
        if claims:
            assert wake is not None
            assert wake <= self.now
        for claim in claims:
            chance = self.random.random()
            if chance < 0.15:  # judged before anything is sent
                self.frontier.refuse(claim, self.now, reason="robots")
                self.refused[claim.url] += 1
                continue
            if chance < 0.25:
                self.frontier.give_back(claim, self.now + 0.5)
                continue
            self.check(claim)
            self.claimed[claim.url] += 1
            self.starts[claim.host].append(self.now)
            self.active.append(claim)

    def check(self, claim: Claim) -> None:
        host = self.hosts[claim.host - 1]
        busy = sum(other.host == host.id for other in self.active)
        assert busy < host.connections
        for earlier in (self.starts[host.id], self.ends[host.id]):
            if earlier:
                assert self.now - earlier[-1] >= host.delay - 1e-9
        assert self.now >= self.held.get(host.id, 0.0)

    def answer(self) -> None:
        if not self.active:
            return
        claim = self.active.pop(self.random.randrange(len(self.active)))
        self.ends[claim.host].append(self.now)
        chance = self.random.random()
        if chance < 0.7:
            self.frontier.complete(claim, self.now, status=200)
        elif chance < 0.8:
            self.frontier.fail(claim, self.now, reason="dns")
        else:
            self.retried[claim.url] += 1
            retry_at = self.now + self.random.choice([0.0, 2.0, 7.5])
            self.frontier.fail(claim, self.now, reason="timeout", retry_at=retry_at)

    def hold(self) -> None:
        host = self.random.choice(self.hosts)
        until = self.now + self.random.choice([0.0, 1.0, 6.0])
        self.held[host.id] = max(self.held.get(host.id, 0.0), until)
        self.frontier.hold(host.id, until)

    def run(self, steps: int) -> None:
        for _ in range(steps):
            action = self.random.random()
            if action < 0.15:
                self.add(self.random.randint(1, 4))
            elif action < 0.55:
                self.claim()
            elif action < 0.9:
                self.answer()
            elif action < 0.93:
                self.hold()
            else:
                self.now += self.random.choice([0.1, 0.5, 1.0, 4.0])

    def finish(self) -> None:
        """Respond and claim until nothing is left, relying on `wake` for the next time."""
        while True:
            self.claim()
            if self.active:
                self.answer()
                continue
            wake = self.frontier.wake()
            if wake is None:
                break
            self.now = max(self.now, wake)


@settings(max_examples=examples(80))
@given(seed=st.integers(0, 10**9))
def test_no_host_is_ever_asked_too_soon_or_too_often_at_once(
    shared_store: Store, seed: int
) -> None:
    simulation = Simulation(shared_store, seed)
    simulation.run(150)
    assert simulation.frontier.active == len(simulation.active)


@settings(max_examples=examples(40))
@given(seed=st.integers(0, 10**9))
def test_every_url_is_given_out_once_plus_its_retries(shared_store: Store, seed: int) -> None:
    simulation = Simulation(shared_store, seed)
    simulation.run(100)
    simulation.finish()
    outcomes = simulation.claimed + simulation.refused
    assert len(outcomes) == simulation.added
    for url, count in outcomes.items():
        assert count == 1 + simulation.retried[url]
    assert shared_store.count("SELECT count(*) FROM urls WHERE state IN (0, 1)") == 0
    assert simulation.frontier.active == 0


def test_a_big_crawl_claims_every_url_exactly_once(shared_store: Store) -> None:
    simulation = Simulation(shared_store, seed=7)
    for _ in range(40):
        simulation.add(100)
        simulation.run(50)
    simulation.finish()
    assert sum(simulation.claimed.values()) + sum(simulation.refused.values()) == (
        simulation.added + sum(simulation.retried.values())
    )
    assert len(simulation.claimed + simulation.refused) == simulation.added >= 4000


@settings(max_examples=examples(40))
@given(seed=st.integers(0, 10**9))
def test_before_its_wake_time_a_frontier_has_nothing_to_give(
    shared_store: Store, seed: int
) -> None:
    simulation = Simulation(shared_store, seed)
    simulation.run(60)
    frontier = simulation.frontier
    while frontier.claim(simulation.now, 100):
        pass
    wake = frontier.wake()
    assert wake is None or wake > simulation.now
    if wake is None:
        assert frontier.claim(simulation.now + 1e6, 1) == []
    else:
        assert frontier.claim((simulation.now + wake) / 2, 1) == []


def test_unclaimed_hosts_are_served_before_any_is_served_twice_more(shared_store: Store) -> None:
    random_numbers = random.Random(3)
    shared_store.db.execute("DELETE FROM urls")
    frontier = frontier_of(shared_store, *(Host(number, delay=1.0) for number in range(1, 9)))
    frontier.add([page(str(number), host=host) for host in range(1, 9) for number in range(30)])
    served: Counter[int] = Counter()
    now = 0.0
    while sum(served.values()) < 200:
        for claim in frontier.claim(now, random_numbers.randint(1, 3)):
            served[claim.host] += 1
            frontier.complete(claim, now, status=200)
        counts = [served[host] for host in range(1, 9)]
        assert max(counts) - min(counts) <= 1
        now += 0.1

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.frontier.politeness import MAX_BACKOFF, Limits, Politeness


@pytest.mark.parametrize(
    ("agent", "token"),
    [
        ("DiptychBot/0.1 (+https://example.org/bot)", "DiptychBot"),
        ("DiptychBot", "DiptychBot"),
        ("My Bot/1.0", "My"),
        ("", ""),
    ],
)
def test_token_is_the_product_of_the_agent(agent: str, token: str) -> None:
    assert Politeness(agent=agent).token == token


@pytest.mark.parametrize(
    ("asked", "delay"),
    [(None, 2.0), (0.0, 2.0), (1.0, 2.0), (2.5, 2.5), (600.0, 600.0), (1e9, 600.0), (-4.0, 2.0)],
)
def test_crawl_delay_is_kept_within_bounds(asked: float | None, delay: float) -> None:
    assert Politeness(agent="a", delay=2.0).delay_for(asked) == delay


@pytest.mark.parametrize("asked", [math.inf, math.nan, -math.inf])
def test_absurd_crawl_delay_still_gives_a_delay(asked: float) -> None:
    assert 1.0 <= Politeness(agent="a").delay_for(asked) <= 600.0


def test_own_delay_above_the_longest_crawl_delay_is_kept() -> None:
    polite = Politeness(agent="a", delay=900.0)
    assert polite.delay_for(1e9) == 900.0
    assert not polite.is_too_slow(800.0)


def test_crawl_delay_of_more_than_ten_minutes_is_too_long() -> None:
    polite = Politeness(agent="a")
    assert [polite.is_too_slow(asked) for asked in (None, 60.0, 600.0, 601.0)] == [False] * 3 + [
        True
    ]


def test_backoff_doubles_from_its_start_up_to_a_limit() -> None:
    polite = Politeness(agent="a", backoff=2.0)
    assert [polite.wait(count) for count in range(5)] == [2.0, 2.0, 4.0, 8.0, 16.0]
    assert polite.wait(10_000) == MAX_BACKOFF


@given(st.integers(0, 500), st.floats(0.0, 1000.0))
def test_waits_never_shrink(refusals: int, backoff: float) -> None:
    polite = Politeness(agent="a", backoff=backoff)
    assert 0.0 <= polite.wait(refusals) <= polite.wait(refusals + 1) <= MAX_BACKOFF


def test_default_is_one_request_a_second_and_robots_obeyed() -> None:
    polite = Politeness(agent="a")
    assert (polite.delay, polite.connections, polite.obey_robots) == (1.0, 1, True)


def test_default_limits_end_no_crawl_by_size() -> None:
    limits = Limits()
    assert (limits.max_pages, limits.max_bytes, limits.max_seconds) == (None, None, None)

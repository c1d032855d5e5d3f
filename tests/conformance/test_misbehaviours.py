"""Servers that misbehave, one row of the table after the other; see docs/reliability.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache

import pytest
from support.misbehaviour.crawled import Crawled, crawled
from support.misbehaviour.row import HASTY, PUBLIC, USUAL, Misbehaviour
from support.misbehaviour.table import TABLE

MAX_FLOODED = 500_000_000  # bytes; floods that nobody stops are a hundred times as many


@pytest.fixture(scope="module")
def crawled_as(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Crawled]:
    """The crawl of all sites that are crawled in one way, done once for all tests."""
    return cache(lambda way: crawled(TABLE, way, tmp_path_factory.mktemp(way)))


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.host)
def test_server_that_misbehaves(row: Misbehaviour, crawled_as: Callable[[str], Crawled]) -> None:
    found = crawled_as(row.crawled)
    became = {key: found.became(found.url(row, key)) for key in row.outcomes}
    assert became == row.outcomes
    assert found.stopped(row) == row.stopped
    assert found.requests(row) <= row.requests


@pytest.mark.parametrize("way", [USUAL, HASTY])
def test_nothing_is_connected_to_but_public_addresses(
    way: str, crawled_as: Callable[[str], Crawled]
) -> None:
    assert crawled_as(way).connected == {PUBLIC}


def test_floods_are_stopped(crawled_as: Callable[[str], Crawled]) -> None:
    assert 0 < sum(crawled_as(USUAL).server.flooded.values()) < MAX_FLOODED


def test_hosts_of_the_table_are_distinct() -> None:
    assert Counter(row.host for row in TABLE).most_common(1)[0][1] == 1
    assert len(TABLE) >= 60

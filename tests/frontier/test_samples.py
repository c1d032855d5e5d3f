"""Random samples of the queue before a site ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import troubles
from support.replayed import DEFAULT, crawl
from support.stores import begin

from diptych.frontier import samples
from diptych.frontier.queue import Entry, Frontier, Host, Turn
from diptych.frontier.samples import MAX_SAMPLES, SIZE, Samples
from diptych.run.store import Store
from diptych.types import Url

HOST = "http://example.org"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path) as opened:
        begin(opened)
        yield opened


def queued(store: Store, *priorities: float, host: int = 1) -> Frontier:
    frontier = Frontier(store.db)
    frontier.add_host(Host(host))
    frontier.add(
        Entry(Url(f"{HOST}/{host}/{number}"), host, priority)
        for number, priority in enumerate(priorities)
    )
    return frontier


def raised(store: Store, priority: float = 0.2) -> list[str]:
    rows = store.db.execute("SELECT url FROM urls WHERE priority = ? ORDER BY id", (priority,))
    return [url for (url,) in rows]


def test_sample_has_its_size_and_is_drawn_once(store: Store) -> None:
    drawing = Samples(store, queued(store, *[0.01] * 30))
    assert [drawing.draw(1, [1], 100 + number, 0.2) for number in range(SIZE)] == [True] * SIZE
    assert len(raised(store)) >= 1
    assert not drawing.draw(1, [1], 100 + SIZE, 0.2)


def test_next_sample_begins_after_the_crawl_continued(store: Store) -> None:
    drawing = Samples(store, queued(store, *[0.01] * 30))
    for _ in range(SIZE):
        drawing.draw(1, [1], 100, 0.2)
    assert not drawing.draw(1, [1], 108, 0.2)
    assert drawing.draw(1, [1], 109, 0.2)


def test_samples_of_a_site_are_bounded(store: Store) -> None:
    drawing = Samples(store, queued(store, *[0.01] * 30))
    drawn = [drawing.draw(1, [1], 100 * number, 0.2) for number in range(99)]
    assert sum(drawn) < (MAX_SAMPLES + 1) * SIZE
    assert not drawn[-1]


def test_sample_goes_on_after_a_restart(store: Store) -> None:
    frontier = queued(store, *[0.01] * 30)
    for number in range(SIZE):
        assert Samples(store, frontier).draw(1, [1], 100 + number, 0.2)
    assert not Samples(store, frontier).draw(1, [1], 100 + SIZE, 0.2)
    assert Samples(store, frontier).draw(2, [1], 100, 0.2), "each site has a sample of its own"


def test_nothing_is_drawn_where_nothing_is_queued(store: Store) -> None:
    frontier = queued(store)
    frontier.add([Entry(Url(f"{HOST}/robots.txt"), 1, 0.5, turn=Turn.ROBOTS)])
    assert not Samples(store, frontier).draw(1, [1], 100, 0.2)
    assert raised(store) == []


def test_hosts_that_are_stopped_are_left_alone(store: Store) -> None:
    frontier = queued(store, 0.01, 0.02)
    frontier.stop(1, "enough")
    assert not Samples(store, frontier).draw(1, [1], 100, 0.2)


def test_url_that_was_drawn_is_claimed_next(store: Store) -> None:
    frontier = queued(store, *[0.1] * 20)
    assert Samples(store, frontier).draw(1, [1], 100, 0.2)
    (url,) = raised(store)
    assert [claim.url for claim in frontier.claim(0.0, 1)] == [url]


def test_better_urls_are_drawn_more_often(store: Store) -> None:
    drawn: Counter[bool] = Counter()
    for host in range(1, 61):
        frontier = queued(store, *[0.001] * 10, *[0.01] * 10, host=host)
        assert frontier.raise_any([host], host)
        (url,) = raised(store, host)
        drawn[int(url.rpartition("/")[2]) >= 10] += 1
    assert 35 < drawn[True] < 60  # 55 are expected
    assert drawn[False] > 0


def test_site_that_would_end_too_early_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    assert crawl(troubles.refreshed(), limits=DEFAULT).found == 1.0
    monkeypatch.setattr(samples, "SIZE", 0)
    assert crawl(troubles.refreshed(), limits=DEFAULT).found < 0.9


def test_sample_costs_no_more_than_its_size_and_the_translations_it_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tested = crawl(troubles.empty_pages(), limits=DEFAULT).downloads
    monkeypatch.setattr(samples, "SIZE", 0)
    assert 0 < tested - crawl(troubles.empty_pages(), limits=DEFAULT).downloads <= SIZE

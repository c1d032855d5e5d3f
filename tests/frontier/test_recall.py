"""A crawl that is killed at any commit knows what it knew, and goes on as if it had not been.

`tests/conformance/test_resume.py` says the same of every policy, on a site of real pages.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bench.support.memory_site import START, MemoryCrawl, MemorySite
from diptych.frontier import guides
from diptych.frontier.crawl import Crawl
from diptych.frontier.guides import PairQuestion
from diptych.protocols import Guide
from diptych.run.encoding import read_snapshot, write_snapshot
from diptych.run.store import Store
from diptych.stages.crawl.hybrid.strategy import Hybrid
from diptych.types import Outlook, Url

SMALL = MemorySite(40, wide=310)
EVERY = 4  # turns between two commits
ALWAYS, NOW_AND_THEN, NEVER = -1, 3_000, 10**9
"""work in the journal at which a snapshot takes its place"""


@dataclass(frozen=True)
class Watched:
    """A policy whose guides can be inspected."""

    policy: Hybrid = field(default_factory=lambda: Hybrid(models=False))
    made: list[Guide] = field(default_factory=list, repr=False)

    def guide(self, langs: Sequence[str]) -> Guide:
        self.made.append(self.policy.guide(langs))
        return self.made[-1]

    def restored(self, langs: Sequence[str], snapshot: object) -> Guide:
        self.made.append(self.policy.restored(langs, snapshot))
        return self.made[-1]


@dataclass
class Knowledge:
    """Everything that a crawl knows."""

    guide: Any
    outlook: Outlook | None
    questions: list[PairQuestion]
    queue: list[tuple[Any, ...]]


class Run:
    """A crawl in any number of processes."""

    def __init__(self, folder: Path, site: MemorySite = SMALL, *, every: int = EVERY) -> None:
        self.policy = Watched()
        self.crawl = MemoryCrawl(folder, [site], commit_every=every, policy=self.policy)
        self.known: Knowledge | None = None
        """when the last process ended"""
        self.kills = 0

    def go(self, dies_at: Callable[[int], bool] = lambda turns: False) -> Run:
        """Crawl to the end, but get killed at some commits, given by turn numbers."""

        def at_commit(crawl: Crawl, turns: int) -> bool:
            if not dies_at(turns):
                return True
            self.crawl.waiting += crawl.questions(START)
            self.known = self.knowledge(crawl)
            self.kills += 1
            return False

        is_over = False
        while not is_over:
            if self.kills % 2:
                self.take_up_all()
            with Store(self.crawl.folder) as store:
                crawl = self.crawl.open(store)
                self.crawl.waiting += crawl.questions(START)
                if self.known is not None:
                    assert self.knowledge(crawl) == self.known
                is_over = self.crawl.go(crawl, at_commit)
                if is_over:
                    self.known = self.knowledge(crawl)
        return self

    def killed(self, at: int) -> Knowledge:
        """Crawl for some turns and get killed; returns everything that was known."""
        with Store(self.crawl.folder) as store:
            crawl = self.crawl.open(store)
            assert not self.crawl.go(crawl, lambda crawl, turns: turns < at)
            self.crawl.waiting += crawl.questions(START)
            return self.knowledge(crawl)

    def take_up_all(self) -> None:
        """Load all guides into memory, not only those with questions."""
        self.change("DELETE FROM idle_guides")

    def opened(self) -> Knowledge:
        """Everything that a new process knows."""
        with Store(self.crawl.folder) as store:
            self.crawl.open(store)
        self.take_up_all()
        with Store(self.crawl.folder) as store:
            crawl = self.crawl.open(store)
            self.crawl.waiting += crawl.questions(START)
            return self.knowledge(crawl)

    def knowledge(self, crawl: Crawl) -> Knowledge:
        query = "SELECT url, kind, state, priority, depth, reason FROM urls ORDER BY id"
        return Knowledge(
            self.policy.made[-1].snapshot(),  # of the last process, if it was not taken up yet
            crawl.outlook(),
            list(self.crawl.waiting),
            crawl.store.db.execute(query).fetchall(),
        )

    def change(self, statement: str, *values: object) -> None:
        with Store(self.crawl.folder) as store:
            store.db.execute(statement, values)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """An undisturbed crawl."""
    return Run(tmp_path_factory.mktemp("whole")).go()


# -- snapshots and the journal ---------------------------------------------------------------------


def test_crawl_has_something_for_every_part_of_the_memory(whole: Run) -> None:
    with Store(whole.crawl.folder, write=False) as store:
        rows = store.db.execute("SELECT kind, state, redirect IS NULL FROM urls").fetchall()
    assert {(0, 2, 1), (0, 2, 0), (0, 3, 1), (0, 4, 1), (2, 2, 1)} <= set(rows)
    known = whole.known
    assert known is not None
    assert known.outlook is not None
    assert known.outlook.found > 10
    assert known.guide["rules"]
    assert known.guide["same"][0]


@pytest.mark.parametrize(
    "work", [ALWAYS, NOW_AND_THEN, pytest.param(NEVER, marks=pytest.mark.slow)]
)
def test_crawl_killed_at_every_commit_knows_and_does_the_same(
    whole: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, work: int
) -> None:
    monkeypatch.setattr(guides, "MIN_WORK", work)
    monkeypatch.setattr(guides, "WORK_PER_BYTE", 0.0)
    run = Run(tmp_path).go(lambda turns: True)
    assert run.kills == whole.crawl.turns // EVERY
    assert run.crawl.fetched == whole.crawl.fetched
    assert run.known == whole.known


@pytest.mark.slow
def test_large_crawl_killed_at_ten_points_knows_and_does_the_same(tmp_path: Path) -> None:
    site = MemorySite(20_000)
    runs = [Run(tmp_path / name, site, every=20) for name in ("whole", "killed")]
    for run in runs:
        run.crawl.folder.mkdir()
        run.crawl.max_pages = 5_000
    whole = runs[0].go()
    step = whole.crawl.turns // 11 // 20 * 20
    killed = runs[1].go(lambda turns: turns % step == 0)
    assert killed.kills >= 10
    assert killed.crawl.fetched == whole.crawl.fetched
    assert killed.known == whole.known
    assert len(set(killed.crawl.fetched)) == len(killed.crawl.fetched)


# -- without a snapshot ----------------------------------------------------------------------------


def urls_of(known: Knowledge) -> dict[str, int]:
    """The state of each URL."""
    urls, states = (known.guide["urls"][name] for name in ("url", "state"))
    return {url: state for url, state in zip(urls, states, strict=True) if "/old/" not in url}


def is_alike(one: Knowledge, other: Knowledge) -> bool:
    """True if two guides know the same URLs and pairs, even if events came in another order."""
    assert one.outlook is not None
    assert other.outlook is not None
    return (
        urls_of(one) == urls_of(other)
        and sorted(zip(*one.guide["pairs"][:2], strict=True))
        == sorted(zip(*other.guide["pairs"][:2], strict=True))
        and abs(one.outlook.left - other.outlook.left) < 0.2 * one.outlook.left + 1
    )


DAMAGE: dict[str, tuple[str, Callable[[bytes], object]]] = {
    "truncated": ("UPDATE guides SET data = ?", lambda data: data[:-9]),
    "garbage": ("UPDATE guides SET data = ?", lambda data: b"garbage"),
    "text": ("UPDATE guides SET data = ?", lambda data: "text"),
    "number": ("UPDATE guides SET data = ?", lambda data: 7),
    "not JSON": ("UPDATE guides SET data = ?", lambda data: write_snapshot(0)[:4] + data[4:]),
    "null": ("UPDATE guides SET data = ?", lambda data: write_snapshot(None)),
    "no guide": ("UPDATE guides SET data = ?", lambda data: write_snapshot([{}, []])),
    "a question of numbers": (
        "UPDATE guides SET data = ?",
        lambda data: write_snapshot([read_snapshot(data)[0], [[1, 2, 3, 4, 5, 6]]]),
    ),
    "version": (
        "UPDATE guides SET data = ?",
        lambda data: write_snapshot([{**read_snapshot(data)[0], "version": 0}, []]),
    ),
    "maker": ("UPDATE guides SET maker = ?", lambda data: "0 another policy"),
    "journal of another page": ("UPDATE journal SET data = ?", lambda data: "http://x.org/"),
    "journal of numbers": ("UPDATE journal SET what = 'missing', data = ?", lambda data: "[1, {}]"),
    "journal of links of numbers": (
        "UPDATE journal SET what = 'sitemap', data = ?",
        lambda data: "http://x.org/ [[1]]",
    ),
    "journal of something else": ("UPDATE journal SET what = ?", lambda data: "x"),
    "all lost": ("DELETE FROM guides WHERE data != ?", lambda data: "x"),
}


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Knowledge]:
    """A crawl that was killed after it had a snapshot and a journal."""
    folder = tmp_path_factory.mktemp("killed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(guides, "MIN_WORK", 2_500)
        known = Run(folder).killed(80)
    with Store(folder) as store:
        assert store.count("SELECT count(*) FROM journal") > 0
        assert store.count("SELECT length(data) FROM guides") > 0
    return folder, known


@pytest.mark.parametrize("damage", DAMAGE)
def test_guide_is_rebuilt_where_its_snapshot_is_damaged(
    killed: tuple[Path, Knowledge], tmp_path: Path, damage: str
) -> None:
    folder, before = killed
    run = Run(shutil.copytree(folder, tmp_path / "run"))
    with Store(folder, write=False) as store:
        data = store.db.execute("SELECT data FROM guides").fetchone()[0]
    statement, change = DAMAGE[damage]
    run.change(statement, change(data))
    if damage == "all lost":
        run.change("DELETE FROM journal")
    after = run.opened()
    assert after.guide != before.guide, "it was not restored"
    assert is_alike(before, after)
    with Store(run.crawl.folder, write=False) as store:
        decided = {(pair.left, pair.right) for _, pair in store.verified_pairs(1)}
        asked = [question.pair for question in after.questions if question.pair]
        assert decided
        assert decided.isdisjoint((pair.left, pair.right) for pair in asked)
        ((data,),) = store.db.execute("SELECT data FROM guides").fetchall()
        assert read_snapshot(data)[0] == after.guide, "what was rebuilt is saved"
        assert store.count("SELECT count(*) FROM journal") == 0


def test_guide_is_rebuilt_from_as_much_of_a_sitemap_as_was_read(tmp_path: Path) -> None:
    run = Run(tmp_path, MemorySite(100), every=1)
    before = run.killed(7)
    with Store(tmp_path) as store:
        (start,) = store.db.execute("SELECT start FROM open_sitemaps").fetchone()
        assert 0 < start < 100
    run.change("UPDATE guides SET data = 'x'")
    assert urls_of(run.opened()) == urls_of(before)


def test_crawl_goes_on_with_a_guide_that_was_rebuilt(
    killed: tuple[Path, Knowledge], whole: Run, tmp_path: Path
) -> None:
    run = Run(shutil.copytree(killed[0], tmp_path / "run"))
    run.change("UPDATE guides SET data = 'x'")
    run.go()
    with Store(killed[0], write=False) as store:
        query = "SELECT urls.url FROM fetches JOIN urls ON urls.key = fetches.url"
        before = [url for (url,) in store.db.execute(query)]
    assert linked([*before, *run.crawl.fetched]) == linked(whole.crawl.fetched)


def linked(urls: Iterable[Url]) -> list[Url]:
    """The URLs found on pages, without guesses, which depend on the order of events."""
    return sorted(url for url in urls if "/fr/news/" not in url)


def test_guide_is_rebuilt_without_pages_lost_in_a_power_failure(tmp_path: Path) -> None:
    run = Run(tmp_path)
    before = run.killed(80)
    (warc,) = (tmp_path / "warc").iterdir()
    os.truncate(warc, warc.stat().st_size * 9 // 10)
    after = run.opened()
    lost = [row[0] for row in after.queue if row[2] == 0 and row[0] in run.crawl.fetched]
    assert lost
    assert all(urls_of(after).get(url, 0) != 1 for url in lost), "they are no pages any more"
    assert set(urls_of(after)) <= set(urls_of(before))
    run.go()


def test_run_of_a_version_that_had_events_is_opened(
    killed: tuple[Path, Knowledge], tmp_path: Path
) -> None:
    folder, before = killed
    run = Run(shutil.copytree(folder, tmp_path / "run"))
    for table in ("guides", "journal", "open_sitemaps"):
        run.change(f"DELETE FROM {table}")
    run.change("CREATE TABLE events (id INTEGER PRIMARY KEY, site, what, data)")
    assert is_alike(before, run.opened())
    with Store(run.crawl.folder) as store:
        assert store.count("SELECT count(*) FROM sqlite_master WHERE name = 'events'") == 0

"""Alignment and verification of the pairs of a run, also after an interruption."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from support.runs import BASELINES, LANGS, Counting, Killed, Killing, context, crawled, kept, state

from diptych.engine.worker import Failed
from diptych.engine.workers import Workers
from diptych.errors import StoppedError
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.page.blocks import TITLE_PATH
from diptych.protocols import Watcher
from diptych.run.pairs import UnalignedPair
from diptych.run.store import Store
from diptych.stages.align_dom.domtree import strategy as domtree
from diptych.steps import align_pairs as align_pairs_module
from diptych.steps.align_pairs import align_pairs
from diptych.types import Candidate, Decision, PagePair

PAIRS = 4


@pytest.fixture(scope="module")
def every_pair(recorded: Path) -> list[PagePair]:
    with Store(recorded, write=False) as store:
        return [pair for site, _ in store.sites() for _, pair in store.pairs(site)]


@pytest.fixture
def fresh(recorded: Path, tmp_path: Path) -> Iterator[Callable[..., Store]]:
    """Creates crawled and paired runs, with given pairs of the demo in a given order."""
    opened: list[Store] = []

    def make(pairs: list[PagePair]) -> Store:
        opened.append(crawled(recorded, tmp_path / f"run{len(opened)}", pairs))
        return opened[-1]

    yield make
    for store in opened:
        store.close()


def align(
    store: Store, watcher: Watcher | None = None, workers: Workers | None = None, **stages: str
) -> Watcher:
    watcher = watcher or Counting()
    align_pairs(store, context(store, **stages), workers or Workers(0), watcher)
    return watcher


def test_every_pair_is_aligned_and_decided_once(fresh, every_pair) -> None:
    store = fresh(every_pair[:PAIRS])
    watcher = align(store)
    assert (watcher.stages, watcher.ticks) == (("aligning",), PAIRS)
    assert [*store.pairs_to_align()] == []
    assert store.count("SELECT count(*) FROM decisions WHERE accept") == PAIRS
    assert watcher.pairs == PAIRS
    assert watcher.segments == store.count("SELECT count(*) FROM segments WHERE accept") > 20


def test_name_of_the_site_in_titles_is_a_segment_of_its_own(fresh, every_pair) -> None:
    store = fresh(every_pair[1 : PAIRS + 1])  # the title of the home page is the name alone
    with Workers(1) as workers:
        align(store, workers=workers)
    rows = store.db.execute(
        "SELECT left, right, left_at, right_at FROM segments WHERE left_path = ?", (TITLE_PATH,)
    ).fetchall()
    names = [row for row in rows if row[:2] == ("Two Shores", "Deux rives")]
    own = [row for row in rows if row not in names]
    assert len(names) == len(own) == PAIRS
    titles = {*store.titles(1)}
    for (left, right, left_at, right_at), name in zip(own, names, strict=True):
        assert f"{left} – Two Shores" in titles
        assert f"{right} – Deux rives" in titles
        assert (left_at, right_at) == (f"0-{len(left)}", f"0-{len(right)}")
        assert name[2] == f"{len(left) + 3}-{len(left) + 13}"


def test_second_run_does_nothing(fresh, every_pair) -> None:
    store = fresh(every_pair[:PAIRS])
    done, before = align(store), state(store)
    again = align(store)
    assert again.ticks == 0
    assert (again.pairs, again.segments) == (done.pairs, done.segments)
    assert state(store) == before


def test_words_that_were_learned_are_used(fresh, every_pair, monkeypatch) -> None:
    seen: list[str] = []
    tree = domtree.DomTree.align

    def watched(self, left, right, lexicon):
        seen.extend(word for word, _ in lexicon.best("zyzzyva"))
        return tree(self, left, right, lexicon)

    monkeypatch.setattr(domtree.DomTree, "align", watched)
    store = fresh(every_pair[:2])
    words = {LANGS: Lexicon.of_links("en", "fr", [("zyzzyva", "charançon", 1)])}
    align_pairs(store, replace(context(store), lexicons=words), Workers(0), Counting())
    assert seen == ["charançon"] * 2


@dataclass(frozen=True)
class Stern:
    """Rejects one pair, and records its candidates."""

    reject: str
    shown: list[Candidate]

    def verify(self, candidate: Candidate) -> Decision:
        self.shown.append(candidate)
        if candidate.pair.left == self.reject:
            return Decision(False, 0.125, "partial", ("machine_translated",))
        return Decision(True, 0.75, marks=("machine_translated",))


def test_verification_sees_how_the_pages_were_aligned(fresh, every_pair) -> None:
    store, shown = fresh(every_pair[:2]), []
    own = context(store)
    verifier = Stern(every_pair[0].left, shown)
    own = replace(own, strategies=replace(own.strategies, verify=verifier))
    watcher = Counting()
    align_pairs(store, own, Workers(0), watcher)
    assert [candidate.pair for candidate in shown] == every_pair[:2]
    assert all(each.segments and each.left.blocks and each.right.sketch for each in shown)
    # Of what is rejected no segments are kept, but the reason is, and the marks are.
    decided = store.db.execute("SELECT accept, score, reason, marks FROM decisions ORDER BY accept")
    assert decided.fetchall() == [
        (0, 0.125, "partial", "machine_translated"), (1, 0.75, "", "machine_translated"),
    ]  # fmt: skip
    assert {seg.left_url for seg in kept(store)} == {every_pair[1].left}
    assert watcher.pairs == 1
    assert align(store).ticks == 0


def test_unreadable_pairs_are_looked_at_once(fresh, every_pair, monkeypatch) -> None:
    store = fresh(every_pair[:3])
    store.db.execute("DELETE FROM contents")
    gone = every_pair[0].left
    open_ = store.response
    monkeypatch.setattr(store, "response", lambda url: None if url == gone else open_(url))
    watcher = align(store)
    assert (watcher.ticks, watcher.pairs) == (3, 2)
    decisions = "SELECT accept, reason FROM decisions ORDER BY accept"
    assert store.db.execute(decisions).fetchall() == [(0, "unreadable"), (1, ""), (1, "")]
    assert align(store).ticks == 0


class Failing(Workers):
    """Workers that run no task."""

    def run_tasks(self, tasks, shared, **more):
        return (Failed("MemoryError") for _ in tasks)


def test_pair_that_ended_its_worker_is_rejected(fresh, every_pair) -> None:
    store = fresh(every_pair[:2])
    align(store, workers=Failing(0))
    rows = store.db.execute("SELECT accept, reason FROM decisions").fetchall()
    assert rows == [(0, "failed:MemoryError")] * 2


def test_pair_that_raises_costs_itself_only(fresh, every_pair, monkeypatch) -> None:
    store = fresh(every_pair[:3])
    store.db.execute("DELETE FROM contents")
    gone = every_pair[0].left
    open_ = store.response

    def response(url):
        if url == gone:
            raise MemoryError
        return open_(url)

    monkeypatch.setattr(store, "response", response)
    watcher = align(store)
    assert (watcher.ticks, watcher.pairs) == (3, 2)
    decisions = "SELECT accept, reason FROM decisions ORDER BY accept"
    assert store.db.execute(decisions).fetchall() == [(0, "failed:MemoryError"), (1, ""), (1, "")]
    monkeypatch.setattr(store, "response", open_)
    assert align(store).pairs == 3, "the next invocation tries it again"
    assert store.db.execute(decisions).fetchall() == [(1, "")] * 3


def test_sentences_without_counterpart_are_kept_with_the_reason(
    fresh, every_pair, monkeypatch
) -> None:
    store = fresh(every_pair[:2])
    store.db.execute("DELETE FROM contents")
    pair, alone = every_pair[0], "Nobody over there says a word of this, of 4711 or of 4712."
    open_ = store.response

    def longer(url):
        found = open_(url)
        if url != pair.left:
            return found
        return replace(found, body=found.body.replace(b"<p", f"<p>{alone}</p><p".encode(), 1))

    monkeypatch.setattr(store, "response", longer)
    align(store)
    found = store.db.execute(
        "SELECT position, left, right, left_path != '', right_path, accept, reason FROM segments"
        " WHERE left = '' OR right = ''"
    ).fetchall()
    assert [row[1:] for row in found] == [(alone, "", 1, "", 0, "unaligned")]
    assert found[0][0] > 0  # at its place in the page
    assert all(segment.left and segment.right for segment in kept(store))


@pytest.mark.parametrize("stages", [{}, BASELINES])
@pytest.mark.parametrize("at_once", [1, 2, 16])
def test_run_killed_at_any_moment_comes_to_the_same_end(
    fresh, every_pair, stages, at_once, monkeypatch
) -> None:
    monkeypatch.setattr(align_pairs_module, "_MAX_PAIRS", at_once)
    whole = fresh(every_pair[:3])
    align(whole, **stages)
    ended = state(whole)
    for ticks in range(3):
        store = fresh(every_pair[:3])
        with pytest.raises(Killed):
            align(store, Killing(left=ticks), **stages)
        assert state(store) != ended
        watcher = align(store, **stages)
        assert state(store) == ended
        assert watcher.ticks == 3 - ticks // at_once * at_once
        assert watcher.segments == store.count("SELECT count(*) FROM segments WHERE accept")
        assert watcher.pairs == 3


@dataclass
class _Stopping(Killing):
    """Stops a run after so many ticks, as the user does."""

    def tick(self) -> None:
        try:
            Killing.tick(self)
        except Killed as error:
            raise StoppedError("Stopped.") from error


def test_run_stopped_by_the_user_keeps_the_finished_pairs(fresh, every_pair) -> None:
    store = fresh(every_pair[:3])
    with pytest.raises(StoppedError):
        align(store, _Stopping(left=2))
    assert align(store).ticks == 1


@pytest.mark.parametrize("most", [1, 16])
def test_pairs_are_saved_after_so_many_pairs_or_segments(
    fresh, every_pair, most, monkeypatch
) -> None:
    monkeypatch.setattr(align_pairs_module, "_MAX_PAIRS", most)
    monkeypatch.setattr(align_pairs_module, "_MAX_SEGMENTS", 17 - most)
    store = fresh(every_pair[:3])
    with pytest.raises(Killed):
        align(store, Killing(left=2))
    assert align(store).ticks == 1


@pytest.fixture
def together(monkeypatch: pytest.MonkeyPatch) -> None:
    """All pairs are aligned in one task."""
    monkeypatch.setattr(align_pairs_module, "_MIN_BATCHES", 1)


def test_pairs_that_are_aligned_together_have_the_same_segments(
    fresh, every_pair, monkeypatch
) -> None:
    alone = fresh(every_pair[:PAIRS])
    align(alone)
    monkeypatch.setattr(align_pairs_module, "_MIN_BATCHES", 1)
    for jobs in (0, 1):
        store = fresh(every_pair[:PAIRS])
        with Workers(jobs) as workers:
            watcher = align(store, workers=workers)
        assert watcher.done == PAIRS
        assert state(store) == state(alone)


@pytest.mark.usefixtures("together")
def test_pair_that_fails_does_not_cost_those_aligned_with_it(
    fresh, every_pair, monkeypatch
) -> None:
    whole, store = fresh(every_pair[:PAIRS]), fresh(every_pair[:PAIRS])
    align(whole)
    store.db.execute("DELETE FROM contents")
    gone, open_ = every_pair[1].left, store.response

    def response(url):
        if url == gone:
            raise MemoryError
        return open_(url)

    monkeypatch.setattr(store, "response", response)
    watcher = align(store)
    assert (watcher.done, watcher.pairs) == (PAIRS, PAIRS - 1)
    failed = store.db.execute("SELECT reason FROM decisions WHERE NOT accept").fetchall()
    assert failed == [("failed:MemoryError",)]
    monkeypatch.setattr(store, "response", open_)
    assert align(store).done == 1
    assert state(store) == state(whole)


@pytest.mark.parametrize(
    ("lengths", "most", "sizes"),
    [
        ([10, 10, 10, 10, 10], 2, [2, 2, 1]),
        ([10, 10, 10], 0, [1, 1, 1]),
        ([10] * 40, 99, [16, 16, 8]),
        ([60_000, 40_000, 10, 99_999, 200_000, 1], 9, [2, 1, 1, 1, 1]),
        ([], 9, []),
    ],
)
def test_pairs_of_a_task_are_few_and_short(every_pair, lengths, most, sizes) -> None:
    todo = [UnalignedPair(id, 1, length, every_pair[0]) for id, length in enumerate(lengths)]
    batches = list(align_pairs_module._batches(todo, most))
    assert [len(batch) for batch in batches] == sizes
    assert [each for batch in batches for each in batch] == todo


def test_order_of_pairs_does_not_matter(fresh, every_pair) -> None:
    one, other = fresh(every_pair[:3]), fresh(every_pair[2::-1])
    align(one)
    align(other)
    assert state(one) == state(other)

"""Questions of guides are answered in other processes during the crawl."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from support import zoo
from support.crawling import AGENT
from support.crawling import crawl as crawl_here
from support.pooltasks import Ending, Hanging
from support.runs import LANGS, Killed, strategies
from support.serving import Reply, Request, Server, Site, serve
from support.waiting import until
from support.watching import Watching

from diptych.demo import GOLD
from diptych.engine import live
from diptych.engine.fetch import FetchSettings
from diptych.engine.limits import PAIR_LIMITS, TaskLimits
from diptych.engine.live import LiveEngine
from diptych.engine.workers import Workers
from diptych.frontier.crawl import Crawl
from diptych.frontier.guides import PairQuestion
from diptych.frontier.politeness import Limits, Politeness
from diptych.frontier.scope import Scope, group
from diptych.run.store import Store
from diptych.steps.guide_answers import GuideAnswers
from diptych.steps.tasks import TaskContext
from diptych.text.urls import normalise
from diptych.types import CrawlEvent, PagePair, PairingResult, VerifiedPair

PATIENCE = 180.0  # seconds after which a crawl can only be one without end
FIRST = 15  # requests after which pages wait until there are segments
FOUND = (
    "SELECT l.url, r.url, accept, decisions.reason, (SELECT count(*) FROM segments WHERE"
    " segments.pair = pairs.id) FROM pairs JOIN decisions ON decisions.pair = pairs.id"
    " JOIN urls l ON l.key = pairs.left JOIN urls r ON r.key = pairs.right"
)

KEPT = "SELECT count(*) FROM segments WHERE accept"


class Instead(GuideAnswers):
    """Answers questions with substitute tasks."""

    def __init__(self, *given: Any, instead: Callable[[PairQuestion], Any], **more: Any) -> None:
        super().__init__(*given, **more)
        self._instead = instead

    def task_of(self, question: PairQuestion) -> Any:
        other = self._instead(question)
        return super().task_of(question) if other is None else other

    def collect(self) -> None:
        assert self.ready, "the crawl stops for nothing"
        super().collect()


def crawl(
    server: Server,
    folder: Path,
    *,
    policy: str = "hybrid",
    watch: Callable[[Crawl], None] = lambda machine: None,
    stop: Callable[[Crawl], bool] = lambda machine: False,
    instead: Callable[[PairQuestion], Any] = lambda question: None,
    limits: TaskLimits = PAIR_LIMITS,
) -> list[tuple[int, CrawlEvent]]:
    """Crawl a site with a guide until nothing is left; only the crawl, nothing after it.

    Returns the answers to the guide, each with the number of pages that were there.
    """
    url = normalise(server.url)
    assert url is not None
    sites = group([url])
    deadline = time.monotonic() + PATIENCE
    made = strategies(crawl=policy)
    with Store(folder, agent=AGENT) as store, Workers(1) as workers:
        machine = Crawl(
            store, sites, Scope.of(sites), made.crawl, LANGS,
            politeness=Politeness(AGENT, delay=0.0), limits=Limits(), now=time.time(),
        )  # fmt: skip
        told: list[tuple[int, CrawlEvent]] = []
        answered = machine.answered

        def noted(question: PairQuestion, event: CrawlEvent) -> None:
            told.append((machine.stats.pages, event))
            answered(question, event)

        machine.answered = noted  # type: ignore[method-assign]
        context = TaskContext(folder, made, LANGS)
        LiveEngine(FetchSettings(AGENT, allow_private=True)).run(
            machine,
            Instead(machine, context, workers, instead=instead, limits=limits),
            workers,
            Watching(
                on_tick=lambda: watch(machine),
                is_over=lambda: time.monotonic() > deadline or stop(machine),
            ),
        )
        assert time.monotonic() < deadline, "the crawl does not end"
    return told


def found_in(told: list[tuple[int, CrawlEvent]]) -> list[VerifiedPair]:
    return [event for _, event in told if isinstance(event, VerifiedPair)]


def query(folder: Path, text: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(f"file:{folder / 'run.sqlite'}?mode=ro", uri=True)) as db:
        return db.execute(text).fetchall()


def gold() -> int:
    return len(GOLD.read_text("utf-8").splitlines()) - 1


# -- the ordinary course ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def undisturbed(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Path, list[tuple[int, int]], list[tuple[int, CrawlEvent]]]:
    """A whole crawl: its store as others see it at each step, and the answers."""
    folder = tmp_path_factory.mktemp("undisturbed")
    seen: list[tuple[int, int]] = []

    def watch(machine: Crawl) -> None:
        (segments,) = query(folder, "SELECT count(*) FROM segments")[0]
        seen.append((machine.stats.downloads, segments))
        # What is counted is committed a moment later.
        assert machine.stats.segments >= query(folder, KEPT)[0][0]

    def hold(request: Request) -> None:
        if len(server.log) > FIRST:
            until(lambda: query(folder, "SELECT count(*) FROM segments")[0][0])

    with serve(zoo.demo_site) as server:
        server.before = hold
        told = crawl(server, folder, watch=watch)
    return folder, seen, told


def test_pairs_are_found_and_verified_during_the_crawl(undisturbed) -> None:
    folder, _, told = undisturbed
    found = [row for row in query(folder, FOUND) if row[2]]
    assert len(found) >= gold() * 3 // 4
    assert all(count for *_, count in found), "each with its segments"
    first = next(pages for pages, event in told if isinstance(event, VerifiedPair))
    (pages,) = query(folder, "SELECT count(*) FROM pages")[0]
    assert first < pages / 2, "and told to the guide in the middle of it"


def test_results_are_there_to_be_read_before_the_end(undisturbed) -> None:
    _, seen, _ = undisturbed
    downloads = seen[-1][0]
    assert any(segments and count < downloads / 2 for count, segments in seen)
    assert [count for count, _ in seen] == sorted(count for count, _ in seen)


def test_every_question_is_answered_once(undisturbed) -> None:
    folder, _, told = undisturbed
    pairs = [(event.pair.left, event.pair.right) for event in found_in(told)]
    assert len(pairs) == len(set(pairs)) == len(query(folder, FOUND))


def test_questions_that_come_last_are_taken_up_before_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As if all that is left were answered within a moment: nothing is due to be written down.
    monkeypatch.setattr(live, "COMMIT_AFTER", 3600.0)
    with serve(zoo.header_hreflang()) as server:
        crawl(server, tmp_path)
    assert len(query(tmp_path, FOUND)) == 1


# -- what goes wrong -------------------------------------------------------------------------------


def three_pairs() -> Site:
    """Pages that declare their translations."""
    paths = {lang: [f"/{lang}/{number}" for number in range(3)] for lang in ("en", "fr")}
    pages = {
        one: Reply(
            zoo.page(one, lang=lang, head=f'<link rel=alternate hreflang={to} href="{two}">')
        )
        for lang, to in (("en", "fr"), ("fr", "en"))
        for one, two in zip(paths[lang], paths[to], strict=True)
    }
    return zoo.site(paths["en"], pages)


def test_crawl_continues_without_answers_of_dead_workers(tmp_path: Path) -> None:
    asked: list[PagePair] = []

    def sometimes(question: PairQuestion) -> Ending | None:
        asked.extend([question.pair] if question.pair else [])
        return Ending() if question.pair in asked[:1] else None

    with serve(three_pairs()) as server:
        told = crawl(server, tmp_path, instead=sometimes)
    found = query(tmp_path, FOUND)
    assert [accept for *_, accept, _, _ in found] == [1, 1], "the third is aligned after the crawl"
    reasons = [event.decision.reason for event in found_in(told)]
    assert reasons.count("failed:ProcessEnded") == 1
    assert query(tmp_path, "SELECT count(*) FROM pages") == [(7,)]


def test_crawl_continues_without_the_answer_of_a_hanging_worker(tmp_path: Path) -> None:
    at_once = TaskLimits(0.0, None)
    with serve(zoo.header_hreflang()) as server:
        crawl(server, tmp_path, instead=lambda question: Hanging(), limits=at_once)
    assert query(tmp_path, FOUND) == []
    assert query(tmp_path, "SELECT count(*) FROM pages") == [(2,)]


def test_pairing_that_fails_is_no_evidence(tmp_path: Path) -> None:
    numbers = range(4)
    plain = {f"/{lang}{n}": zoo.Reply(zoo.page(f"{lang} {n}", lang=lang))
             for lang in ("en", "fr") for n in numbers}  # fmt: skip
    with serve(zoo.site(plain, plain)) as server:
        told = crawl(server, tmp_path, instead=lambda question: Ending())
    assert {event for _, event in told} == {PairingResult(None)}
    assert query(tmp_path, "SELECT count(*) FROM pages") == [(9,)]


def test_guide_waits_no_longer_for_what_has_failed(tmp_path: Path) -> None:
    waiting: list[bool] = []

    def watch(machine: Crawl) -> None:
        waiting.append(machine.guides.waiting)

    with serve(three_pairs()) as server:
        crawl(server, tmp_path, watch=watch, instead=lambda question: Ending())
    assert any(waiting), "it did wait"
    assert not waiting[-1]


# -- how processes end -----------------------------------------------------------------------------


def test_processes_end_with_a_crawl_that_is_stopped(tmp_path: Path) -> None:
    with serve(zoo.header_hreflang()) as server:
        told = crawl(
            server, tmp_path, stop=lambda machine: machine.guides.waiting,
            instead=lambda question: Hanging(tmp_path / "begun"),
        )  # fmt: skip
    assert all(map(has_ended, tmp_path.glob("begun.*")))
    assert told == []


def test_processes_end_with_a_crawl_that_fails(tmp_path: Path) -> None:
    begun = tmp_path / "begun"

    def watch(machine: Crawl) -> None:
        if machine.guides.waiting:
            until(lambda: list(tmp_path.glob("begun.*")))
            raise Killed

    with serve(zoo.header_hreflang()) as server, pytest.raises(Killed):
        crawl(server, tmp_path, watch=watch, instead=lambda question: Hanging(begun))
    (one,) = tmp_path.glob("begun.*")
    assert has_ended(one)


def has_ended(begun: Path) -> bool:
    """True if the process that left a file has ended."""
    return not Path(f"/proc/{begun.suffix[1:]}").exists()


def test_without_processes_all_is_answered_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("asyncio.create_subprocess_exec", None)
    with serve(three_pairs()) as server:
        outcome = crawl_here(server.url, folder=tmp_path, policy="hybrid", workers=0)
    assert len(outcome.pages) == 7
    assert [row[2] for row in query(tmp_path, FOUND)] == [1, 1, 1]

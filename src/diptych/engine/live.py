"""The engine for the live web: drives a crawl over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from typing import Any, ParamSpec, TypeVar

from diptych.engine.engine import Answerer, PendingAnswers
from diptych.engine.fetch import Fetcher, FetchSettings
from diptych.engine.limits import PAGE_LIMITS
from diptych.engine.link_answers import LinkQueryThread
from diptych.engine.reading import ReadTask, read_result
from diptych.engine.workers import ALONE, Workers
from diptych.frontier.crawl import Crawl
from diptych.frontier.queue import Claim
from diptych.frontier.revisits import Validators
from diptych.frontier.search import Discovery
from diptych.page.answer import NOT_MODIFIED, ReadAnswer
from diptych.protocols import LinkSource, Watcher
from diptych.run.warc import compose_revisit
from diptych.types import Failure, Kind

COMMIT_AFTER = 0.05  # seconds between commits; uncommitted pages are fetched again after a kill
MAX_STARTS = 8  # fetches started before running ones get a turn
MAX_TURN = 0.01  # seconds that responses are processed before the network gets a turn
POLL_INTERVAL = 0.01  # seconds between checks for answers from workers
TICK_INTERVAL = 0.1  # seconds between ticks while nothing happens

Arguments = ParamSpec("Arguments")
Value = TypeVar("Value")
CrawlState = Crawl | Discovery
Outcome = tuple[Claim, ReadAnswer | Failure, bytes]


@dataclass(frozen=True, slots=True)
class LiveEngine:
    """Fetches the URLs that a crawl selects; the crawl holds all state."""

    settings: FetchSettings

    def run(self, crawl: Crawl, answers: Answerer, workers: Workers, watcher: Watcher) -> None:
        """Crawl until no URL is left or the watcher stops the crawl.

        The watcher's `tick` is called at least ten times a second.
        """

        def prepare() -> None:
            workers.prepare()
            crawl.guides.warm_up()

        workers.run_in_loop(self._run(crawl, answers, workers, watcher, prepare))

    def discover(
        self, discovery: Discovery, source: LinkSource, workers: Workers, watcher: Watcher
    ) -> None:
        """Search for bilingual sites; links are looked up in `source`.

        The search ends when no URL is left, its budget is spent, or the watcher stops it.
        """
        with LinkQueryThread(discovery, source) as pending:
            workers.run_in_loop(self._run(discovery, pending, workers, watcher, lambda: None))

    async def _run(
        self, crawl: CrawlState, answers: PendingAnswers, workers: Workers, watcher: Watcher,
        prepare: Callable[[], None],
    ) -> None:  # fmt: skip
        """Fetch URLs until none is left or the watcher stops the crawl.

        `prepare` is called once, before anything other than robots.txt files is fetched.
        """
        loop = asyncio.get_running_loop()
        # Host names are resolved in threads: a slow lookup must not delay others.
        loop.set_default_executor(ThreadPoolExecutor(self.settings.concurrency))
        fetches, committed, is_prepared = _Fetches(), 0.0, False
        # Slow operations run in another thread, while fetching continues; nothing else uses the
        # crawl and its store meanwhile.
        with crawl.store.transaction() as transaction, ThreadPoolExecutor(1) as keeper:
            async with Fetcher(self.settings) as fetcher:
                while not watcher.stopped():
                    now = self.settings.clock()
                    claims = crawl.next(now, min(self._room(fetches), MAX_STARTS))
                    if not is_prepared and any(claim.kind is not Kind.ROBOTS for claim in claims):
                        prepare()
                        is_prepared = True
                    for claim in claims:
                        known = crawl.validators(claim)
                        fetches.begin(self._fetch(claim, known, crawl, fetcher, workers))
                    await asyncio.sleep(0)  # let them start
                    is_over = fetches.are_over and crawl.wake() is None and not answers.waiting
                    if is_over or now - committed > COMMIT_AFTER:
                        await _in_thread(keeper, crawl.checkpoint, transaction)
                        committed = now
                        answers.submit(now)
                    if is_over and not answers.waiting:
                        break
                    if answers.ready:
                        await _in_thread(keeper, answers.collect)
                    await fetches.wait(self._pause(crawl, answers, fetches, now))
                    await self._report(crawl, fetches.outcomes())
                    watcher.tick()
                await fetches.cancel()

    def _pause(
        self, crawl: CrawlState, answers: PendingAnswers, fetches: _Fetches, now: float
    ) -> float:
        """The maximum time, in seconds, to wait for a running fetch to end."""
        wake = crawl.wake()
        longest = POLL_INTERVAL if answers.waiting else TICK_INTERVAL
        if wake is None or not self._room(fetches):
            return longest
        return min(max(wake - now, 0.001), longest)

    def _room(self, fetches: _Fetches) -> int:
        return self.settings.concurrency - len(fetches.tasks)

    async def _fetch(
        self, claim: Claim, known: Validators | None, crawl: CrawlState, fetcher: Fetcher,
        workers: Workers,
    ) -> Outcome:  # fmt: skip
        response = await fetcher.fetch(claim.url, claim.kind, known.headers() if known else None)
        if isinstance(response, Failure):
            return claim, response, b""
        if known is not None and response.status == NOT_MODIFIED:
            unchanged = ReadAnswer(claim.url, NOT_MODIFIED, 0, response.fetched_at)
            return claim, unchanged, compose_revisit(response, known.fetched_at)
        task = ReadTask(claim.kind, response, claim.depth, crawl.langs, crawl.needs_sketches)
        result = await workers.call(task, ALONE, limits=PAGE_LIMITS, is_page=True)
        reading, record = await _last_of(read_result(claim.url, result))
        return claim, reading, record

    async def _report(self, crawl: CrawlState, outcomes: list[Outcome]) -> None:
        now = self.settings.clock()
        for claim, reading, record in outcomes:
            pointer = crawl.store.archive.append(record, now) if record else None
            crawl.fetched(claim, reading, now, pointer)
            if self.settings.clock() - now > MAX_TURN:  # let others have a turn
                await asyncio.sleep(0)
                now = self.settings.clock()


async def _in_thread(
    keeper: ThreadPoolExecutor, act: Callable[Arguments, None], *given: Arguments.args,
    **more: Arguments.kwargs,
) -> None:  # fmt: skip
    """Run `act` in the thread pool `keeper`, with a copy of the current context variables."""
    work = partial(copy_context().run, act, *given, **more)
    await asyncio.get_running_loop().run_in_executor(keeper, work)


async def _last_of(steps: Iterator[Value | None]) -> Value:
    """Run all steps and return the last value; other coroutines can run after each step."""
    found: Value | None = None
    for step in steps:
        found = step
        await asyncio.sleep(0)
    assert found is not None
    return found


class _Fetches:
    """The running fetches, and the ended fetches whose outcomes are not collected yet."""

    def __init__(self) -> None:
        self.tasks: list[asyncio.Task[Outcome]] = []
        self._news = asyncio.Event()

    def begin(self, fetch: Coroutine[Any, Any, Outcome]) -> None:
        """Start a fetch."""
        task = asyncio.create_task(fetch)
        self.tasks.append(task)
        task.add_done_callback(lambda _: self._news.set())

    @property
    def are_over(self) -> bool:
        """True if no fetch is running and all outcomes have been collected."""
        return not self.tasks

    async def wait(self, seconds: float) -> None:
        """Wait until a fetch ends, for at most `seconds`."""
        timer = asyncio.get_running_loop().call_later(seconds, self._news.set)
        await self._news.wait()
        timer.cancel()
        self._news.clear()

    def outcomes(self) -> list[Outcome]:
        """Collect the outcomes of ended fetches; an unexpected exception is raised again."""
        ended = [task for task in self.tasks if task.done()]
        self.tasks = [task for task in self.tasks if not task.done()]
        return [task.result() for task in ended]

    async def cancel(self) -> None:
        """Cancel the running fetches, and wait until they have ended."""
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

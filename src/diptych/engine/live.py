"""The live web: drives a crawl over HTTP."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

from diptych.crawl.frontier import Claim
from diptych.crawl.machine import Crawl
from diptych.crawl.reading import Reading
from diptych.engine.answers import Answers
from diptych.engine.fetch import Fetcher, FetchSettings
from diptych.engine.readers import Readers
from diptych.tasks import Work
from diptych.types import Failure

__all__ = ["LiveEngine"]

COMMIT_AFTER = 0.05  # seconds; what a kill can cost, and then it is fetched again
AT_ONCE = 0.01  # seconds that answers are taken in without a turn for the network
LOOK = 0.01  # seconds between two looks at whether a worker has an answer, and nothing to do
TICK = 0.1  # seconds between two looks at the clock while nothing happens

Outcome = tuple[Claim, Reading | Failure, bytes]


@dataclass(frozen=True, slots=True)
class LiveEngine:
    """Fetches what a crawl asks for; all state is the crawl's."""

    settings: FetchSettings
    workers: int = 1

    def run(
        self, crawl: Crawl, work: Work, *, tick: Callable[[], None], stopped: Callable[[], bool]
    ) -> None:
        """Crawl until nothing is left or `stopped` says so, with at least ten ticks a second."""
        crawl.guides.rehearse()
        with Answers(crawl, work, max(1, self.workers)) as answers:
            asyncio.run(self._run(crawl, answers, tick, stopped))

    async def _run(
        self, crawl: Crawl, answers: Answers, tick: Callable[[], None], stopped: Callable[[], bool]
    ) -> None:
        async with Fetcher(self.settings) as fetcher, Readers(self.workers) as readers:
            tasks: set[asyncio.Task[Outcome]] = set()
            finished: list[asyncio.Task[Outcome]] = []
            news = asyncio.Event()
            committed = 0.0

            def done(task: asyncio.Task[Outcome]) -> None:
                tasks.discard(task)
                finished.append(task)
                news.set()

            while not stopped():
                now = time.time()
                for claim in crawl.next(now, self.settings.concurrency - len(tasks)):
                    task = asyncio.create_task(self._fetch(claim, crawl, fetcher, readers))
                    tasks.add(task)
                    task.add_done_callback(done)
                if now - committed > COMMIT_AFTER:
                    crawl.store.commit()
                    committed = now
                    answers.ask(now)
                if answers.waiting:
                    answers.take()
                wake = crawl.wake()
                if not tasks and not finished and wake is None and not answers.waiting:
                    break
                pause = TICK if wake is None else min(max(wake - now, 0.001), TICK)
                await _wait(news, min(pause, LOOK) if answers.waiting else pause)
                outcomes = [task.result() for task in finished]  # a bug ends the run, and is seen
                finished.clear()
                await self._report(crawl, outcomes)
                tick()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            crawl.store.commit()

    async def _fetch(
        self, claim: Claim, crawl: Crawl, fetcher: Fetcher, readers: Readers
    ) -> Outcome:
        response = await fetcher.fetch(claim.url, claim.kind)
        if isinstance(response, Failure):
            return claim, response, b""
        reading, record = await readers.read(
            claim.kind, response, claim.depth, crawl.langs, with_sketch=crawl.guides.remember
        )
        return claim, reading, record

    @staticmethod
    async def _report(crawl: Crawl, outcomes: list[Outcome]) -> None:
        now = time.time()
        crawl.store.begin()
        for claim, reading, record in outcomes:
            pointer = crawl.store.archive.append(record, now) if record else None
            crawl.fetched(claim, reading, now, pointer)
            if time.time() - now > AT_ONCE:  # let others have a turn
                await asyncio.sleep(0)
                now = time.time()


async def _wait(news: asyncio.Event, seconds: float) -> None:
    """Until something was fetched, or for a while."""
    timer = asyncio.get_running_loop().call_later(seconds, news.set)
    await news.wait()
    timer.cancel()
    news.clear()

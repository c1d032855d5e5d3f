"""Answers to what the guides of a crawl want to know, while it goes on.

The work is done in other processes, so that the crawl never waits for it; an archive is played back
in one process, so that the same archive always gives the same crawl.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from diptych.engine.task_workers import Failed, Pool
from diptych.frontier.crawl import Crawl
from diptych.frontier.guides import Wish
from diptych.steps.tasks import Aligned, Looked, LookTask, PairTask, Work
from diptych.types import Decision, Found, Reason, Settled

_UNREADABLE = Looked(Aligned(Decision(False, 0.0, Reason.UNREADABLE), []), ())


def _task(wish: Wish, crawl: Crawl) -> LookTask | PairTask:
    if wish.pair is not None:
        return LookTask(wish.pair)
    site = crawl.hosts.site(wish.site)
    return PairTask(site.site, site.id)


def _tell(crawl: Crawl, wish: Wish, result: object) -> None:
    """Tell a crawl what became of a wish; a pair and its segments are kept at once."""
    if wish.pair is None:
        pairs = result if isinstance(result, tuple) and not isinstance(result, Failed) else ()
        crawl.told(wish, Settled(pairs))
        return
    aligned, links = result if isinstance(result, Looked) else _UNREADABLE
    crawl.store.begin()
    crawl.store.save_pair(wish.site, wish.pair, aligned.decision, aligned.segments)
    crawl.told(wish, Found(wish.pair, aligned.decision, links))


@dataclass(slots=True)
class GuideAnswers:
    """What the guides of a crawl want to know: answered at once, or by worker processes."""

    crawl: Crawl
    work: Work
    _pool: Pool[Work] | None = None
    _asked: dict[int, Wish] = field(default_factory=dict)

    def answer_at_once(self, now: float) -> None:
        """Answer all wishes in this process, also those that answers lead to."""
        here = self.work.of(self.crawl.store)
        while wishes := self.crawl.wishes(now):
            for wish in wishes:
                _tell(self.crawl, wish, _task(wish, self.crawl).run(here))

    @contextmanager
    def in_processes(self, count: int) -> Iterator[GuideAnswers]:
        """Have wishes answered by so many worker processes, with `ask` and `take`.

        Without any, `take` answers them in this process.
        """
        self._pool = Pool(self.work if count else self.work.of(self.crawl.store), count)
        if self.crawl.guides.remember:
            self._pool.start()
        try:
            yield self
        finally:
            self._pool.close()

    @property
    def waiting(self) -> bool:
        """Whether something is to be found out still."""
        return bool(self._asked)

    def ask(self, now: float) -> None:
        """Take up what guides want to know.

        Pages must be in the store for good by now: other processes read them there.
        """
        assert self._pool is not None
        for wish in self.crawl.wishes(now):
            self._asked[self._pool.submit(_task(wish, self.crawl))] = wish

    def take(self) -> None:
        """Tell guides what was found out, and have the next things found out."""
        assert self._pool is not None
        for number, result in self._pool.collect().items():
            # What a task that failed has for a result is neither of the two: an empty answer.
            _tell(self.crawl, self._asked.pop(number), result)

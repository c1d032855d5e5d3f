"""Answers to the questions of guides, while the crawl goes on.

The work is done in other processes, so that the crawl never waits for it; an archive is played back
in one process, so that the same archive always gives the same crawl.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import cast

from diptych.engine.task_workers import Failed, Pool, attempt
from diptych.frontier.crawl import Crawl
from diptych.frontier.guides import PairQuestion
from diptych.steps.tasks import PairTask, TaskContext, VerifyResult, VerifyTask
from diptych.types import Decision, PagePair, PairingResult, VerifiedPair


def _task(question: PairQuestion, crawl: Crawl) -> VerifyTask | PairTask:
    if question.pair is not None:
        return VerifyTask(question.pair)
    site = crawl.hosts.site(question.site)
    return PairTask(site.site, site.id)


def _report_answer(crawl: Crawl, question: PairQuestion, result: object) -> None:
    """Pass the answer to a question to the crawl; a pair and its segments are saved at once.

    A task that failed says nothing about its pages: it is no evidence.
    """
    if question.pair is None:
        pairs = None if isinstance(result, Failed) else cast("tuple[PagePair, ...]", result)
        crawl.answered(question, PairingResult(pairs))
        return
    if isinstance(result, Failed):  # it is tried again when all pairs are aligned
        decision = Decision(False, 0.0, result.reason)
        crawl.answered(question, VerifiedPair(question.pair, decision, ()))
        return
    assert isinstance(result, VerifyResult)
    aligned, links = result
    with crawl.store.transaction():
        crawl.store.save_pair(question.site, question.pair, aligned.decision, aligned.segments)
        crawl.answered(question, VerifiedPair(question.pair, aligned.decision, links))


@dataclass(slots=True)
class GuideAnswers:
    """Answers the questions of guides: at once, or in worker processes."""

    crawl: Crawl
    context: TaskContext
    _pool: Pool[TaskContext] | None = None
    _asked: dict[int, PairQuestion] = field(default_factory=dict)

    def answer_at_once(self, now: float) -> None:
        """Answer all questions in this process, also those that answers lead to."""
        here = self.context.of(self.crawl.store)
        while questions := self.crawl.questions(now):
            for question in questions:
                result = attempt(_task(question, self.crawl), here)
                _report_answer(self.crawl, question, result)

    @contextmanager
    def in_processes(self, count: int) -> Iterator[GuideAnswers]:
        """Have questions answered by so many worker processes, with `submit` and `collect`.

        Without any, `collect` answers them in this process.
        """
        self._pool = Pool(self.context if count else self.context.of(self.crawl.store), count)
        if self.crawl.guides.has_memory:
            self._pool.start()
        try:
            yield self
        finally:
            self._pool.close()

    @property
    def waiting(self) -> bool:
        """True if a question is not answered yet."""
        return bool(self._asked)

    def submit(self, now: float) -> None:
        """Submit the new questions of guides.

        Their pages must be committed: other processes read them in the store.
        """
        assert self._pool is not None
        for question in self.crawl.questions(now):
            self._asked[self._pool.submit(_task(question, self.crawl))] = question

    def collect(self) -> None:
        """Pass answers that are ready to the crawl, and start the next tasks."""
        assert self._pool is not None
        for number, result in self._pool.collect().items():
            _report_answer(self.crawl, self._asked.pop(number), result)

"""Answers to the questions of guides during the crawl.

Worker processes compute the answers, so that a live crawl does not wait for them.  The crawl of an
archive does wait, so that the same archive always gives the same result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from diptych.engine.limits import PAIR_LIMITS, SITE_LIMITS, TaskLimits
from diptych.engine.waiting import is_awaited
from diptych.engine.worker import Failed, Task
from diptych.engine.workers import Workers
from diptych.frontier.crawl import Crawl
from diptych.frontier.guides import PairQuestion
from diptych.protocols import Watcher
from diptych.steps.tasks import PairTask, TaskContext, VerifyResult, VerifyTask
from diptych.types import Decision, PagePair, PairingResult, VerifiedPair

if TYPE_CHECKING:
    from concurrent.futures import Future


def _report_answer(crawl: Crawl, question: PairQuestion, result: object) -> None:
    """Pass the answer to a question to the crawl, and save a verified pair with its segments.

    A failed task is not evidence for or against a pair.
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
    crawl.stats.segments += sum(decision.accept for _, decision in aligned.segments)


class GuideAnswers:
    """Answers the questions of guides in the worker processes of a run."""

    def __init__(
        self,
        crawl: Crawl,
        context: TaskContext,
        workers: Workers,
        *,
        limits: TaskLimits = PAIR_LIMITS,
    ) -> None:
        self._crawl = crawl
        self._limits = limits
        self._shared = context.shared(crawl.store)
        self._workers = workers
        self._asked: dict[Future[object], PairQuestion] = {}

    def answer_all(self, now: float, commit: Callable[[], None], watcher: Watcher) -> None:
        """Answer all questions in order, including follow-up questions.

        New pages are committed first, because worker processes read them from the store.  If the
        watcher stops the run, the remaining questions are not answered.
        """
        while questions := self._crawl.questions(now):
            commit()
            answers = [self._ask(question) for question in questions]
            for question, answer in zip(questions, answers, strict=True):
                if not is_awaited(answer, watcher):
                    return
                _report_answer(self._crawl, question, answer.result())

    @property
    def waiting(self) -> bool:
        """True if any submitted question has not been answered yet."""
        return bool(self._asked)

    @property
    def ready(self) -> bool:
        """True if an answer has not been passed to the crawl yet."""
        return any(answer.done() for answer in self._asked)

    def submit(self, now: float) -> None:
        """Submit the new questions of guides; the pages that they concern must be committed."""
        for question in self._crawl.questions(now):
            self._asked[self._ask(question)] = question

    def collect(self) -> None:
        """Pass all finished answers to the crawl."""
        for answer in [each for each in self._asked if each.done()]:
            _report_answer(self._crawl, self._asked.pop(answer), answer.result())

    def _ask(self, question: PairQuestion) -> Future[object]:
        limits = SITE_LIMITS if question.pair is None else self._limits
        task = self.task_of(question)
        return self._workers.submit(task, self._shared, limits=limits, is_answer=True)

    def task_of(self, question: PairQuestion) -> Task[TaskContext, object]:
        """Return the task that answers a question."""
        if question.pair is not None:
            return VerifyTask(question.pair)
        site = self._crawl.hosts.site(question.site)
        return PairTask(site.site, site.id)

"""Protocols for engines (`Engine`) and for answering guides' questions (`Answerer`).

A guide is the memory of a crawl policy for one site.  Its questions are requests to verify a pair
of pages, or to pair all pages of the site.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from diptych.protocols import Watcher

if TYPE_CHECKING:
    from diptych.engine.workers import Workers
    from diptych.frontier.crawl import Crawl


class PendingAnswers(Protocol):
    """A crawl's questions, which are answered in the background."""

    @property
    def waiting(self) -> bool:
        """True if there is a question that is not answered yet."""
        ...

    @property
    def ready(self) -> bool:
        """True if `collect` has something to do."""
        ...

    def submit(self, now: float) -> None:
        """Submit the crawl's new questions; the pages they refer to must be committed."""
        ...

    def collect(self) -> None:
        """Pass the answers that are ready to the crawl."""
        ...


class Answerer(PendingAnswers, Protocol):
    """Answers the questions that the guides of a crawl ask, in the background or immediately."""

    def answer_all(self, now: float, commit: Callable[[], None], watcher: Watcher) -> None:
        """Answer all questions in order, including follow-up questions.

        `commit` is called first, so that worker processes can read the new pages.  If the watcher
        stops the crawl, the remaining questions are not answered.
        """
        ...


class Engine(Protocol):
    """Fetches pages for a crawl, from the live web or from archives."""

    def run(self, crawl: Crawl, answers: Answerer, workers: Workers, watcher: Watcher) -> None:
        """Crawl until no URL is left or the watcher stops the crawl."""
        ...

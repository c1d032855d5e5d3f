"""Protocols of engines: Engine fetches for a crawl, Answerer answers questions of guides."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from diptych.protocols import Watcher

if TYPE_CHECKING:
    from diptych.frontier.crawl import Crawl


class PendingAnswers(Protocol):
    """Questions of a crawl that are answered in the background, while it goes on."""

    @property
    def waiting(self) -> bool:
        """True if a question is not answered yet."""
        ...

    def submit(self, now: float) -> None:
        """Submit the new questions of the crawl."""
        ...

    def collect(self) -> None:
        """Pass the answers that are ready to the crawl."""
        ...


class Answerer(Protocol):
    """Answers the questions of guides: at once, or in other processes."""

    def answer_at_once(self, now: float) -> None:
        """Answer all questions of guides in this process."""
        ...

    def in_processes(self, count: int) -> AbstractContextManager[PendingAnswers]:
        """Have questions answered by so many processes; by this one if there are none."""
        ...


class Engine(Protocol):
    """Answers what a crawl asks for: the live web, or archives."""

    def run(self, crawl: Crawl, answers: Answerer, watcher: Watcher) -> None:
        """Crawl until nothing is left or the watcher stops it."""
        ...

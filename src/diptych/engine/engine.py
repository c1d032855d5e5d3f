"""Protocols of engines: Engine fetches for a crawl, Answers answers questions of guides."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from diptych.frontier.crawl import Crawl


class Asking(Protocol):
    """Questions of a crawl that are answered elsewhere, while it goes on."""

    @property
    def waiting(self) -> bool:
        """True if an answer is still missing."""
        ...

    def ask(self, now: float) -> None:
        """Take up what the crawl wants to know."""
        ...

    def take(self) -> None:
        """Tell the crawl the answers that have come."""
        ...


class Answers(Protocol):
    """Answers to the guides of a crawl: at once, or from other processes."""

    def answer_at_once(self, now: float) -> None:
        """Answer all that guides want to know, in this process."""
        ...

    def in_processes(self, count: int) -> AbstractContextManager[Asking]:
        """Have questions answered by so many processes; by this one if there are none."""
        ...


class Engine(Protocol):
    """Answers what a crawl asks for: the live web, or archives."""

    def run(
        self,
        crawl: Crawl,
        answers: Answers,
        *,
        tick: Callable[[], None],
        stopped: Callable[[], bool],
    ) -> None:
        """Crawl until nothing is left or `stopped` says so."""
        ...

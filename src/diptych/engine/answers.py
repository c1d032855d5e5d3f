"""What an engine is given to answer the questions of a crawl while it goes on."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

__all__ = ["Answers", "Asking"]


class Asking(Protocol):
    """Questions of a crawl that are answered elsewhere, while it goes on."""

    @property
    def waiting(self) -> bool:
        """Whether an answer is still to come."""
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
        """Have questions answered by so many processes."""
        ...

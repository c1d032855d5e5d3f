"""How a run gets on: told by the stages, read by whoever shows progress."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from diptych.frontier.crawl import Crawl

__all__ = ["Watcher"]


@dataclass(slots=True)
class Watcher:
    """Told how a run gets on, and asked whether it should stop crawling; does nothing by itself."""

    stage: str = ""
    crawl: Crawl | None = None
    pairs: int = 0
    segments: int = 0
    notes: list[str] = field(default_factory=list)

    def tick(self) -> None:
        """Called many times a second."""

    def stopped(self) -> bool:
        """Whether to leave off crawling and finish with what is there."""
        return False

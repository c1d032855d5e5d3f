"""Look-ups of a discovery, answered by a source of links while it goes on."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from diptych.discover.machine import Discovery, LookUp
from diptych.protocols import LinkSource
from diptych.types import Failure, Link

__all__ = ["LookUps", "look_up", "look_up_at_once"]

BACK_LINKS = 100  # of one site
OUT_LINKS = 1_000  # of one page or host

Answer = Sequence[Link] | Failure | None


def look_up(source: LinkSource, wish: LookUp) -> Answer:
    """Who links to a site, or what a page links to."""
    if wish.lead is None:
        return source.back_links(wish.url, BACK_LINKS)
    return source.out_links(wish.url, OUT_LINKS)


def look_up_at_once(discovery: Discovery, source: LinkSource, now: float) -> None:
    """Answer all look-ups of a discovery, and have it learn if it is time."""
    while wishes := discovery.wishes(now):
        for wish in wishes:
            discovery.told(wish, look_up(source, wish), now)
    if discovery.is_learning_due:
        discovery.learn()


@dataclass(slots=True)
class LookUps:
    """Look-ups on their way, one after the other: a service is asked no faster than it answers."""

    discovery: Discovery
    source: LinkSource
    _now: float = 0.0
    _asked: deque[tuple[LookUp, Future[Answer]]] = field(default_factory=deque)
    _thread: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))

    def __enter__(self) -> LookUps:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)

    @property
    def waiting(self) -> bool:
        """Whether something is to be found out, or learned, still."""
        return bool(self._asked) or self.discovery.is_learning_due

    def ask(self, now: float) -> None:
        """Take up what a discovery wants to know."""
        self._now = now
        for wish in self.discovery.wishes(now):
            self._asked.append((wish, self._thread.submit(look_up, self.source, wish)))

    def take(self) -> None:
        """Tell a discovery what was found out, in the order in which it asked."""
        while self._asked and self._asked[0][1].done():
            wish, answer = self._asked.popleft()
            self.discovery.told(wish, answer.result(), self._now)
        if self.discovery.is_learning_due:
            self.discovery.learn()

"""Send the queries of a search to link sources, directly or in a background thread."""

from __future__ import annotations

from collections.abc import Sequence
from queue import SimpleQueue
from threading import Thread

from diptych.errors import DiptychError
from diptych.frontier.search import Discovery, LinkQuery
from diptych.protocols import LinkSource
from diptych.types import Failure, Link

MAX_BACK_LINKS = 100  # per site
MAX_OUT_LINKS = 1_000  # per page or host

Answer = Sequence[Link] | Failure | None


def query_links(source: LinkSource, query: LinkQuery) -> Answer:
    """Look up the back links of a site or the out links of a page, as the query requests."""
    if query.lead is None:
        return source.back_links(query.url, MAX_BACK_LINKS)
    return source.out_links(query.url, MAX_OUT_LINKS)


class LinkQueryThread:
    """Queries link sources in a thread, one query at a time.

    The thread is a daemon, so it ends with the process even if it is waiting for a service.
    """

    def __init__(self, discovery: Discovery, source: LinkSource) -> None:
        self._discovery = discovery
        self._source = source
        self._now = 0.0
        self._open = 0
        self._queries: SimpleQueue[LinkQuery | None] = SimpleQueue()
        self._answers: SimpleQueue[tuple[LinkQuery, Answer | DiptychError]] = SimpleQueue()
        self._thread = Thread(target=self._work, daemon=True)

    def __enter__(self) -> LinkQueryThread:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._queries.put(None)

    def _work(self) -> None:
        while (query := self._queries.get()) is not None:
            try:
                self._answers.put((query, query_links(self._source, query)))
            except DiptychError as error:  # an error that the user can fix
                self._answers.put((query, error))

    @property
    def waiting(self) -> bool:
        """True if queries are unanswered, or the search is due to learn from its results.

        Once the budget of the search is spent, this is always False.
        """
        if self._discovery.is_over(self._now):
            return False
        return self._open > 0 or self._discovery.is_learning_due

    @property
    def ready(self) -> bool:
        """True if there are answers, the search is due to learn, or the thread has failed."""
        has_ended = self._open > 0 and not self._thread.is_alive()
        is_due = not self._answers.empty() or self._discovery.is_learning_due or has_ended
        return is_due and not self._discovery.is_over(self._now)

    def submit(self, now: float) -> None:
        """Submit the new queries of the search, unless its budget is spent."""
        self._now = now
        if self._discovery.is_over(now):
            return
        for query in self._discovery.link_queries(now):
            self._open += 1
            self._queries.put(query)

    def collect(self) -> None:
        """Pass the answers received so far to the search, in the order of its queries."""
        while not self._answers.empty():
            query, answer = self._answers.get()
            self._open -= 1
            if isinstance(answer, DiptychError):
                raise answer
            self._discovery.answered(query, answer, self._now)
        if self._open and not self._thread.is_alive():
            raise RuntimeError("link lookups ended with an error")
        if self._discovery.is_learning_due:
            self._discovery.learn()

"""SQL queries to display everything that a run knows about a URL, its page and its pairs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from diptych.run.database import Database
from diptych.run.queries import SQL
from diptych.text.urls import url_key
from diptych.types import Url


class UrlFacts(NamedTuple):
    """The state of a URL in the crawl."""

    state: int
    """a `frontier.queue.State`"""
    depth: int
    status: int | None
    reason: str
    redirect: str | None
    """the URL that this URL redirects to; '?' if the target is unknown"""
    attempts: int
    turn: int
    """a `frontier.queue.Turn`"""
    priority: float


class PairFacts(NamedTuple):
    """A page pair, and the decision about it if one has been made."""

    left: str
    right: str
    score: float
    evidence: str
    scores: str
    accept: int | None
    verified: float
    reason: str
    marks: str
    segments: int
    """number of kept segments"""


@dataclass(frozen=True, slots=True)
class Facts:
    """Queries about single URLs and page pairs of a run."""

    store: Database

    def url(self, url: Url) -> UrlFacts | None:
        """The state of a URL; None if the URL is unknown to the run."""
        row = self.store.db.execute(SQL["url_facts"], (url_key(url),)).fetchone()
        return UrlFacts(*row) if row else None

    def robots(self, origin: str) -> str:
        """The text of a host's robots.txt; empty if it is not stored."""
        query = "SELECT robots FROM hosts WHERE origin = ? AND robots IS NOT NULL"
        row = self.store.db.execute(query, (origin,)).fetchone()
        return str(row[0]) if row else ""

    def alias_counts(self, rule: str, scopes: Sequence[str]) -> list[tuple[int, int]]:
        """For each of `scopes` with tests of an alias rule, how often the rule held and failed.

        The list is empty for runs of earlier versions, which have no alias rules.
        """
        if not self.store.count("SELECT count(*) FROM sqlite_master WHERE name = 'alias_rules'"):
            return []
        rows = self.store.db.execute(SQL["alias_counts"], (rule, json.dumps(scopes)))
        found = {scope: (held, broken) for scope, held, broken in rows}
        return [found[scope] for scope in scopes if scope in found]

    def page(self, url: Url) -> tuple[Any, ...] | None:
        """The stored facts about a page, such as languages, title and digest; None if not stored.

        The columns are those of the query `page_facts`.
        """
        row: tuple[Any, ...] | None
        row = self.store.db.execute(SQL["page_facts"], (url_key(url),)).fetchone()
        return row

    def links_to(self, url: Url) -> tuple[int, str | None]:
        """The number of links to a URL, and the alphabetically first page with such a link."""
        query = "SELECT count(*), min(source) FROM links WHERE target = ?"
        count, source = self.store.db.execute(query, (url,)).fetchone()
        return count, source

    def pairs_of(self, url: Url) -> list[PairFacts]:
        """The page pairs that contain this URL."""
        return self._pairs("pairs.left = ?1 OR pairs.right = ?1", url_key(url))

    def pairs_between(self, one: Url, other: Url) -> list[PairFacts]:
        """The page pairs of these two URLs, in either order and in all languages."""
        where = "(pairs.left = ?1 AND pairs.right = ?2) OR (pairs.right = ?1 AND pairs.left = ?2)"
        return self._pairs(where, url_key(one), url_key(other))

    def decided_pairs(self, *, accept: bool) -> list[PairFacts]:
        """The accepted pairs if `accept` is True, else the rejected pairs, sorted by URL."""
        return self._pairs("decisions.accept = ?", accept)

    def segments_between(self, one: Url, other: Url) -> list[tuple[str, int, float]]:
        """The reasons for the decisions on the segments of two pages, most frequent first.

        Each item is (reason, number of segments, mean score).
        """
        keys = url_key(one), url_key(other)
        return self.store.db.execute(SQL["segments_between"], keys).fetchall()

    def _pairs(self, where: str, *values: int) -> list[PairFacts]:
        order = "l.url, r.url, left_lang, right_lang"
        query = SQL["pair_facts"] + f" WHERE {where} ORDER BY {order}"
        return [PairFacts(*row) for row in self.store.db.execute(query, values)]

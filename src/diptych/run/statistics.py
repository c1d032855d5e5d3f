"""SQL queries for the figures in a run's reports and progress displays."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from diptych.page.declarations import Checked, Declares
from diptych.page.scripts import MAX_TEXT, SCRIPTED
from diptych.reason import DownloadKind, Reason, SiteEnd
from diptych.run.database import Database
from diptych.run.encoding import decoding
from diptych.run.queries import SQL
from diptych.types import Kind, LangPair

_ENDS = frozenset(SiteEnd)
_DECLARED = frozenset(Declares)


class PageCounts(NamedTuple):
    """Counts of pages in one language."""

    pages: int
    distinct: int
    """number of distinct pages: pages with the same text count once"""
    without_pair: int
    """number of distinct pages that are in no pair"""


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts from the tables of a run; each call queries the database again."""

    store: Database

    # -- the crawl ---------------------------------------------------------------------------

    def downloads(self) -> int:
        """Number of responses of any kind; requests without a response are not counted."""
        return self.store.count("SELECT count(*) FROM fetches WHERE status > 0")

    def robots_downloads(self) -> int:
        """Number of responses to requests for robots.txt."""
        return self.store.count(SQL["downloads_of_kind"], int(Kind.ROBOTS))

    def pages(self) -> int:
        """Number of pages in the run."""
        return self.store.count("SELECT count(*) FROM pages")

    def downloads_by_kind(self) -> dict[str, int]:
        """Number of downloads by `DownloadKind`, or by the reason why there is no page.

        The sum of these numbers is the number of all downloads.
        """
        rows = self.store.db.execute(SQL["downloads_by_kind"], (Reason.TOO_MANY_REDIRECTS,))
        counts = {kind: (count, urls) for kind, count, urls in rows}
        downloads, pages = counts.pop(DownloadKind.PAGE, (0, 0))
        copies = sum(each.pages - each.distinct for each in self.pages_by_language().values())
        copies = min(copies, pages)
        found = {kind: count for kind, (count, _) in counts.items()}
        found[DownloadKind.PAGE] = pages - copies
        found[DownloadKind.DUPLICATE] = copies
        found[DownloadKind.FETCHED_AGAIN] = downloads - pages
        return {kind: count for kind, count in found.items() if count}

    def pages_by_language(self) -> dict[str, PageCounts]:
        """Counts of pages by language; the key is '' for pages in an unknown language."""
        rows = self.store.db.execute(SQL["pages_by_language"])
        return {lang: PageCounts(*counts) for lang, *counts in rows}

    def queued(self, host: int | None = None) -> int:
        """Number of queued URLs, on all hosts or only on the host with this id."""
        query = "SELECT count(*) FROM urls WHERE state = 0"
        if host is None:
            return self.store.count(query)
        return self.store.count(f"{query} AND host = ?", host)

    def unfinished(self) -> int:
        """Number of URLs that are queued or being fetched."""
        return self.store.count("SELECT count(*) FROM urls WHERE state IN (0, 1)")

    def faults(self) -> dict[str, int]:
        """Number of URLs that failed or were refused, by reason."""
        return self._by(SQL["faults"])

    def skipped_urls(self) -> dict[str, int]:
        """Number of URLs that were never requested, by reason."""
        return self._by(SQL["skipped_urls"])

    def unanswered_urls(self) -> dict[str, int]:
        """Number of URLs that failed without any response, by reason."""
        return self._by(SQL["unanswered_urls"])

    def aliases(self) -> dict[str, int]:
        """Number of URLs skipped as aliases of other URLs, by reason."""
        return self._by(SQL["aliases"])

    def stopped_hosts(self) -> tuple[tuple[str, str], ...]:
        """Hosts that the crawl gave up on, each with the reason."""
        return tuple(self.store.db.execute("SELECT origin, stopped FROM hosts WHERE stopped != ''"))

    def site_ends(self) -> tuple[tuple[str, SiteEnd], ...]:
        """Sites whose crawl has ended, each with the reason."""
        rows = self.store.db.execute("SELECT name, ended FROM sites ORDER BY id")
        return tuple((name, SiteEnd(end)) for name, end in rows if end in _ENDS)

    def scripted_pages(self) -> tuple[tuple[str, int, int], ...]:
        """Rows of (site name, scripted pages, all pages), for sites that have scripted pages."""
        return tuple(self.store.db.execute(SQL["scripted_pages"], (MAX_TEXT, SCRIPTED)))

    def declarations(self) -> tuple[tuple[str, Checked], ...]:
        """Each site's name and checked declarations; empty for runs of earlier versions."""
        if not self.store.count("SELECT count(*) FROM sqlite_master WHERE name = 'declarations'"):
            return ()
        rows = self.store.db.execute(SQL["declarations"])
        with decoding("a site's declaration about its pages"):
            return tuple(
                (site, Checked(Declares(kind), int(checked), int(wrong), str(said), str(found)))
                for site, kind, checked, wrong, said, found in rows
                if kind in _DECLARED
            )

    # -- pairs -------------------------------------------------------------------------------

    def pairs(self) -> int:
        """Number of page pairs found."""
        return self.store.count("SELECT count(*) FROM pairs")

    def verified_pairs(self) -> int:
        """Number of accepted page pairs."""
        return self.store.count("SELECT count(*) FROM decisions WHERE accept")

    def aligned_pairs(self) -> int:
        """Number of accepted page pairs that are already aligned."""
        return self.store.count(SQL["aligned_pairs"])

    def unaligned_pairs(self) -> int:
        """Number of page pairs that are not aligned yet."""
        return self.store.count(SQL["unaligned_pairs"])

    def rejected_pairs(self) -> dict[str, int]:
        """Number of rejected page pairs, by reason."""
        return self._by("SELECT reason, count(*) FROM decisions WHERE NOT accept GROUP BY reason")

    def marks(self) -> dict[str, int]:
        """Number of accepted pairs with each mark."""
        return self._words("SELECT marks, count(*) FROM decisions WHERE accept GROUP BY 1")

    def page_flags(self) -> dict[str, int]:
        """Number of pages with each flag, among the pages in accepted pairs."""
        return self._words(SQL["page_flags"])

    def by_languages(self) -> dict[LangPair, tuple[int, int]]:
        """Numbers of accepted pairs and of their kept segments, by language pair."""
        rows = self.store.db.execute(SQL["verified_by_languages"])
        return {LangPair(*row[:2]): (row[2], row[3]) for row in rows}

    def found_at(self) -> tuple[int, ...]:
        """The number of downloads until both pages of each accepted pair were fetched, sorted."""
        return tuple(number for (number,) in self.store.db.execute(SQL["found_at"]))

    # -- segments ----------------------------------------------------------------------------

    def kept_segments(self) -> int:
        """Number of segments in the corpus."""
        return self.store.count("SELECT count(*) FROM kept_segments")

    def segments_by_reason(self) -> dict[str, int]:
        """Number of segments by the reason for exclusion; the key is '' for kept segments."""
        return self._by("SELECT reason, count(*) FROM segments GROUP BY reason")

    def segment_flags(self) -> dict[str, int]:
        """Number of kept segments with each flag."""
        return self._words("SELECT flags, count(*) FROM kept_segments GROUP BY 1")

    def score_histogram(self, bins: int) -> dict[int, tuple[int, int]]:
        """Numbers of kept segments, and of segments that no filter rule rejects, by score bin."""
        rows = self.store.db.execute(
            SQL["score_histogram"], (bins, Reason.DUPLICATE, Reason.TEMPLATE)
        )
        return {place: (kept, total) for place, kept, total in rows}

    def _by(self, query: str) -> dict[str, int]:
        return dict(self.store.db.execute(query).fetchall())

    def _words(self, query: str) -> dict[str, int]:
        """Count the rows that contain each word, given a query that returns (words, count)."""
        found: Counter[str] = Counter()
        for words, count in self.store.db.execute(query):
            found.update(dict.fromkeys(words.split(), count))
        return found

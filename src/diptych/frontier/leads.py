"""Storage of the leads of a search for bilingual sites, and of the verdicts on the sites.

A lead is a page that may belong to a bilingual site or lead to one.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import orjson

from diptych.frontier.queries import SQL
from diptych.page.neighbourhood import neighbourhood
from diptych.protocols import Ranking
from diptych.reason import Reason
from diptych.run.encoding import decoding
from diptych.run.store import Store
from diptych.text.urls import site_name, url_key
from diptych.types import Decision, Example, Lead, Link, Role, Url

_COLUMNS = "id, url, site, role, words, source"
_FAILED = f"state = 2 AND outcome IS NULL AND reason NOT IN ('', '{Reason.MOVED}')"
MAX_MOVES = 5  # moves of a site that are followed
_MAX_LOOKED_AT = 10_000  # waiting leads examined to find leads to different sites
_BATCH = 5_000  # leads scored together
_MAX_EXAMPLES = 50_000  # the latest examples, which are used for training
_MIN_TESTED = 2  # tested sites that a back-link page must link to before it is an example
_MAX_WORDS = 300  # words of one lead, however many pages link to it


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision whether a site is bilingual, and the pages on which it is based."""

    site: str
    url: Url
    """the URL where the test started"""
    decision: Decision
    pages: tuple[tuple[str, Url], ...]
    """each language, with a page in that language"""
    downloads: int
    named: Url
    """the URL that was followed first; it differs from `url` if the site has moved"""


class Leads:
    """The leads and verdicts of one run; the caller manages the transaction.

    If `once` is True, all forward links to the same site form a single lead.
    """

    def __init__(self, store: Store, *, once: bool) -> None:
        self._store = store
        self._once = once

    def from_links(self, links: Iterable[Link], role: Role) -> list[Lead]:
        """Convert links to leads with the given role, without storing them."""
        return [Lead(0, link.url, site_name(link.url), role, neighbourhood(link)) for link in links]

    def add(self, found: Sequence[Lead], ranking: Ranking, source: int) -> None:
        """Save the leads in `found`, with the scores that `ranking` gives them.

        If a lead is already stored, its words are merged with the new ones.  `source` is the id of
        the lead whose page links to these leads; it is 0 if there is none.
        """
        db = self._store.db
        leads = [self._with_known_words(lead) for lead in found]
        rows = [
            (self._key(lead), lead.url, lead.site, int(lead.role), score, source, _bytes(lead))
            for lead, score in zip(leads, ranking(leads), strict=True)
        ]
        db.executemany(SQL["add_lead"], rows)
        if source:
            db.executemany(SQL["add_citation"], [(source, row[0]) for row in rows])

    def _with_known_words(self, lead: Lead) -> Lead:
        row = self._store.db.execute(SQL["known_words"], (self._key(lead),)).fetchone()
        if row is None:
            return lead
        words = sorted({*_words(row[0]), *lead.words})
        return lead._replace(words=tuple(words[:_MAX_WORDS]))

    def _key(self, lead: Lead) -> int:
        is_site = self._once and lead.role is Role.FORWARD
        return url_key(f"{lead.role}:{lead.site if is_site else lead.url}")

    def waiting(self, limit: int, busy: Iterable[str] = ()) -> list[Lead]:
        """The best waiting leads, with at most one per site and none for the sites in `busy`."""
        taken = set(busy)
        best: list[int] = []
        for id, site in self._store.db.execute(SQL["best_leads"], (_MAX_LOOKED_AT,)):
            if len(best) >= limit:
                break
            if site not in taken:
                taken.add(site)
                best.append(id)
        query = f"SELECT {_COLUMNS} FROM leads WHERE id = ?"
        return [_lead(self._store.db.execute(query, (id,)).fetchone()) for id in best]

    def taken(self) -> list[Lead]:
        """The leads that are in progress."""
        rows = self._store.db.execute(f"SELECT {_COLUMNS} FROM leads WHERE state = 1 ORDER BY id")
        return [_lead(row) for row in rows]

    def take(self, lead: Lead) -> None:
        """Mark a lead as in progress."""
        self._store.db.execute("UPDATE leads SET state = 1 WHERE id = ?", (lead.id,))

    def follow_again(self) -> None:
        """Follow leads again whose sites were rejected because a page could not be read.

        Call this before the pages are requeued.
        """
        self._store.db.execute(SQL["follow_leads_with_faults"])
        self._store.db.execute(SQL["forget_verdicts_with_faults"])

    def end(self, lead: Lead, outcome: float | None, reason: str = "") -> None:
        """Mark a lead as done, and save its outcome, or the reason why it failed."""
        self._store.db.execute(SQL["end_lead"], (outcome, reason, lead.id))

    def followed(self, site: str) -> int:
        """How many of the leads to a site have yielded a page."""
        return self._store.count(SQL["leads_with_page"], site)

    def origin(self, lead: Lead) -> tuple[Url, int]:
        """The original URL of a lead whose site may have moved, and the number of moves."""
        moves = 0
        while moves < MAX_MOVES:
            values = lead.id, Reason.MOVED
            row = self._store.db.execute(SQL["moved_from"], values).fetchone()
            if row is None:
                break
            lead, moves = lead._replace(id=row[0], url=row[1]), moves + 1
        return lead.url, moves

    def destination(self, site: str) -> str:
        """The site to which a site has finally moved; the site itself if it has not moved."""
        for _ in range(MAX_MOVES):
            row = self._store.db.execute(SQL["moved_to"], (site, Reason.MOVED)).fetchone()
            if row is None:
                break
            site = row[0]
        return site

    def left(self) -> int:
        """The number of leads that are waiting or in progress."""
        return self._store.count("SELECT count(*) FROM leads WHERE state IN (0, 1)")

    def all_failures(self) -> int:
        """The number of leads that have failed."""
        return self._store.count(f"SELECT count(*) FROM leads WHERE {_FAILED}")

    def failures(self, site: str) -> int:
        """The number of leads to a site that have failed."""
        return self._store.count(f"SELECT count(*) FROM leads WHERE site = ? AND {_FAILED}", site)

    def failed(self) -> list[tuple[Url, str]]:
        """The URL of each failed lead, or its original URL if its site moved, with the reason."""
        rows = self._store.db.execute(
            f"SELECT {_COLUMNS}, reason FROM leads WHERE {_FAILED} ORDER BY id"
        ).fetchall()
        return [(self.origin(_lead(row[:-1]))[0], row[-1]) for row in rows]

    # -- learning ----------------------------------------------------------------------------

    def examples(self) -> list[Example]:
        """Training examples: forward leads with their outcomes, and back-link pages.

        The outcome of a back-link page is the mean outcome of the leads found on it.  The lead
        through which the page itself was found is excluded.
        """
        db = self._store.db
        forward = db.execute(SQL["forward_examples"], (int(Role.FORWARD), _MAX_EXAMPLES))
        found = [Example(Role.FORWARD, _words(words), outcome) for words, outcome in forward]
        back = db.execute(SQL["back_examples"], (int(Role.BACK), _MIN_TESTED, _MAX_EXAMPLES))
        return found + [Example(Role.BACK, _words(words), share) for words, share in back]

    def all_waiting(self) -> Iterator[list[Lead]]:
        """Yield all waiting leads except seeds, in batches."""
        last = 0
        while True:
            rows = self._store.db.execute(
                f"SELECT {_COLUMNS} FROM leads WHERE state = 0 AND role != ? AND id > ?"
                " ORDER BY id LIMIT ?",
                (int(Role.SEED), last, _BATCH),
            ).fetchall()
            if not rows:
                return
            last = rows[-1][0]
            yield [_lead(row) for row in rows]

    def rescore(self, leads: Sequence[Lead], scores: Sequence[float]) -> None:
        """Save new scores for waiting leads."""
        self._store.db.executemany(
            "UPDATE leads SET score = ? WHERE id = ?",
            [(float(score), lead.id) for lead, score in zip(leads, scores, strict=True)],
        )

    # -- verdicts ----------------------------------------------------------------------------

    def decided(self, site: str) -> bool | None:
        """True if a site was accepted, False if it was rejected, None if it was not tested."""
        row = self._store.db.execute(SQL["site_verdict"], (site,)).fetchone()
        return bool(row[0]) if row else None

    def decide(self, id: int, verdict: Verdict, lead: int, at: int) -> None:
        """Save the verdict on the site with this id.

        `lead` is the id of the lead through which the site was tested.  `at` is the number of
        downloads made before the verdict.
        """
        decision = verdict.decision
        row = (
            id, verdict.url, lead, decision.accept, decision.score, decision.reason,
            orjson.dumps(verdict.pages).decode(), verdict.downloads, verdict.named, at,
        )  # fmt: skip
        self._store.db.execute(SQL["save_verdict"], row)

    def tested(self) -> int:
        """The number of tested sites."""
        return self._store.count("SELECT count(*) FROM verdicts")

    def found(self) -> int:
        """The number of sites found to be bilingual."""
        return self._store.count("SELECT count(*) FROM verdicts WHERE accept")

    def found_at(self) -> tuple[int, ...]:
        """The numbers of downloads after which bilingual sites were found, in ascending order."""
        rows = self._store.db.execute("SELECT at FROM verdicts WHERE accept ORDER BY at")
        return tuple(at for (at,) in rows)

    def rejections(self) -> list[tuple[str, int]]:
        """The reasons why sites were rejected, with their counts, most frequent first."""
        return self._store.db.execute(SQL["rejections"]).fetchall()

    def verdicts(self, *, only_bilingual: bool = False) -> list[Verdict]:
        """The verdicts in the order in which they were made."""
        rows = self._store.db.execute(
            "SELECT name, url, accept, score, reason, pages, downloads, named FROM verdicts"
            " JOIN sites ON sites.id = verdicts.site WHERE accept >= ? ORDER BY verdicts.id",
            (only_bilingual,),
        )
        with decoding("a verdict"):
            return [
                Verdict(
                    name, url, Decision(bool(accept), score, reason),
                    tuple((lang, page) for lang, page in orjson.loads(pages)), downloads, named,
                )
                for name, url, accept, score, reason, pages, downloads, named in rows
            ]  # fmt: skip

    def without_back_links(self) -> list[tuple[int, Url, int]]:
        """The id, URL and lead id of each bilingual site whose back links are not known yet."""
        return self._store.db.execute(SQL["without_back_links"]).fetchall()

    def mark_looked_up(self, site: int) -> None:
        """Record that the back links of a site have been looked up."""
        self._store.db.execute("UPDATE verdicts SET looked = 1 WHERE site = ?", (site,))


def _bytes(lead: Lead) -> bytes:
    return array("i", lead.words).tobytes()


def _words(data: bytes) -> tuple[int, ...]:
    words = array("i")
    words.frombytes(data)
    return tuple(words)


def _lead(row: tuple[int, str, str, int, bytes, int]) -> Lead:
    id, url, site, role, words, source = row
    with decoding("a lead"):
        return Lead(id, Url(url), site, Role(role), _words(words), source)

"""The results of `discover` and `detect`: sites.tsv, report.html, summary lines and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import orjson

from diptych.errors import StoreError
from diptych.files import replace_file
from diptych.frontier.leads import Leads
from diptych.registry import signature
from diptych.reports.closing import AGAIN
from diptych.reports.curve import Curve
from diptych.reports.plot import plot
from diptych.reports.reasons import counted, in_words
from diptych.reports.run_page import render
from diptych.run.statistics import Statistics
from diptych.run.store import Store
from diptych.run.terms import Terms

SHOWN_SITES = 1_000
MIN_DOWNLOADS_PER_SITE = 3.0  # robots.txt and one page in each language
HEADER = "site\turl\tbilingual\tscore\tdownloads\treason\tpages\n"


@dataclass(frozen=True, slots=True)
class SearchSummary:
    """Counts for a search, summed over all invocations."""

    downloads: int
    robots: int
    tested: int
    bilingual: int
    leads: int
    """number of leads that are waiting or in progress"""
    failed: int
    reasons: Sequence[tuple[str, int]]
    """reasons why sites are not bilingual, with their counts, most frequent first"""

    @classmethod
    def of(cls, store: Store) -> SearchSummary:
        """Compute the summary of a search from its store."""
        counts, leads = Statistics(store), Leads(store, once=True)
        return cls(
            downloads=counts.downloads(),
            robots=counts.robots_downloads(),
            tested=leads.tested(),
            bilingual=leads.found(),
            leads=leads.left(),
            failed=leads.all_failures(),
            reasons=leads.rejections(),
        )

    def to_json(self) -> str:
        """The summary as one JSON object."""
        return orjson.dumps({**asdict(self), "reasons": dict(self.reasons)}).decode()

    def lines(self, *, follows_links: bool) -> list[str]:
        """The summary as lines of text; leads are mentioned only if the search follows links."""
        lost = [
            f"  {count:,} not bilingual: {in_words(reason)}" for reason, count in self.reasons[:5]
        ]
        noun, verb = ("lead", "followed") if follows_links else ("site", "tested")
        failed = [f"  {counted(self.failed, noun)} could not be {verb}"] if self.failed else []
        return [
            f"bilingual: {self.bilingual:,} of {counted(self.tested, 'tested site')};"
            f" {counted(self.downloads, 'download')}, {self.robots:,} of them robots.txt;"
            f" {counted(self.leads, noun)} left",
            *lost,
            *failed,
        ]

    def interruption(self, *, follows_links: bool, can_continue: bool) -> str:
        """The line to print if the user has interrupted the search."""
        noun, verb = ("lead", "followed") if follows_links else ("site", "tested")
        line = f"interrupted: {counted(self.leads, noun)} not {verb} yet"
        return f"{line}; {AGAIN}" if can_continue else line


def follows_links(terms: Terms) -> bool:
    """True for a run of `discover`, False for a run of `detect`."""
    return "discover" in terms.recipe


def write_sites(store: Store, terms: Terms, notes: Sequence[str]) -> None:
    """Write `sites.tsv`, a list of all tested sites, and `report.html` to the run folder."""
    standing, verdicts = SearchSummary.of(store), Leads(store, once=True).verdicts()
    lines = [HEADER]
    for each in verdicts:
        decision = each.decision
        pages = " ".join(f"{lang}={url}" for lang, url in each.pages)
        lines.append(
            f"{each.site}\t{each.url}\t{decision.accept:d}\t{decision.score:.3f}"
            f"\t{each.downloads}\t{decision.reason}\t{pages}\n"
        )
    replace_file(store.folder / "sites.tsv", "".join(lines).encode(), error=StoreError)
    found = [each for each in verdicts if each.decision.accept]
    largest = max((count for _, count in standing.reasons), default=1)
    page = render(
        "sites.html",
        title=_title(terms.seeds or terms.archives),
        langs=" - ".join(terms.langs),
        signature=signature(terms.recipe, terms.langs),
        found="bilingual sites", each="site", search="this search", outlook="",
        tiles=[
            ("bilingual sites", f"{standing.bilingual:,}"),
            ("sites tested", f"{standing.tested:,}"),
            ("downloads", f"{standing.downloads:,}"),
            ("robots.txt downloads", f"{standing.robots:,}"),
            (f"{'leads' if follows_links(terms) else 'sites'} left", f"{standing.leads:,}"),
        ],
        plot=plot(_curve(store, standing), MIN_DOWNLOADS_PER_SITE),
        reasons=[
            {"name": in_words(reason), "count": f"{count:,}", "width": 100 * count / largest}
            for reason, count in standing.reasons
        ],
        notes=list(dict.fromkeys(notes))[:50],
        sites=[
            {"url": each.url, "pages": each.pages, "score": each.decision.score,
             "downloads": each.downloads}
            for each in found[:SHOWN_SITES]
        ],
        more=max(0, len(found) - SHOWN_SITES),
    )  # fmt: skip
    replace_file(store.folder / "report.html", page, error=StoreError)


def _title(names: Sequence[str]) -> str:
    """The title of the report: the first three seeds and the number of further seeds.

    >>> _title(["a.org", "b.org", "c.org", "d.org"])
    'a.org, b.org, c.org and 1 more'
    """
    rest = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + rest


def _curve(store: Store, standing: SearchSummary) -> Curve:
    """The curve that shows how many bilingual sites were found after how many downloads.

    `standing` is the summary of the search.
    """
    return Curve(standing.downloads, Leads(store, once=True).found_at())

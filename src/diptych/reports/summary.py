"""Summary of a run: funnel steps with counts and reasons, marks, flags and outlook."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from diptych.errors import ConfigError
from diptych.language.codes import asked_language
from diptych.page.declarations import Checked
from diptych.reason import DownloadKind, Reason, SiteEnd
from diptych.reports.curve import Curve, curve
from diptych.reports.reasons import listed
from diptych.reports.start_pages import StartPage, start_pages
from diptych.run.statistics import PageCounts, Statistics
from diptych.run.store import Store
from diptych.run.terms import Terms, read_terms
from diptych.run.updates import UpdateCounts, Updates
from diptych.types import Outlook, lang_pairs

NO_CURVE = Curve()
SMALL_SHARE = 0.01  # of all pairs; a smaller share is shown as "less than 1%"


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the funnel that leads from pages to segments."""

    name: str
    """name of the counted items, such as "page pairs verified\""""
    count: int
    """number of items that passed this step"""
    lost: tuple[tuple[str, int], ...] = ()
    """reasons why other items did not pass, with the numbers of items"""

    def in_words(self) -> str:
        """The reasons for losses as text, most frequent first."""
        return listed(self.lost)


@dataclass(frozen=True, slots=True)
class Summary:
    """Summary figures for a run."""

    downloads: int
    """responses of servers, including errors, redirects, robots.txt and sitemaps"""
    pages: int
    """pages fetched and read, including duplicates"""
    pairs: int
    """verified page pairs"""
    segments: int
    """segments in the corpus; provisional, and with duplicates, until the run is finished"""
    queued: int
    """known URLs that were not fetched"""
    steps: tuple[Step, ...]
    """the funnel from pages to segments"""
    faults: tuple[tuple[str, int], ...]
    """reasons why URLs have no page, with the numbers of URLs"""
    hosts: tuple[tuple[str, str], ...]
    """hosts that Diptych gave up on, with the reasons"""
    downloads_by_kind: tuple[tuple[str, int], ...] = ()
    """downloads by `DownloadKind`, or by the reason why there is no page; they add up to
    `downloads`"""
    skipped: tuple[tuple[str, int], ...] = ()
    """URLs that were not requested, by reason"""
    unanswered: tuple[tuple[str, int], ...] = ()
    """URLs without a response, by reason; they do not count as downloads"""
    start_pages: tuple[StartPage, ...] = ()
    """start pages of a run that fetched no page"""
    threshold: float | None = None
    """minimum score of segments in the corpus; None if the recipe is unknown"""
    langs: tuple[tuple[str, int], ...] = ()
    """numbers of distinct pages in each requested language"""
    marks: tuple[tuple[str, int], ...] = ()
    """marks of verified pairs, with their counts"""
    flags: tuple[tuple[str, int], ...] = ()
    """flags of pages in verified pairs, with their counts"""
    personal: tuple[tuple[str, int], ...] = ()
    """kinds of personal data, with the numbers of segments that contain them"""
    lang_pairs: tuple[tuple[str, str, int, int], ...] = ()
    """for each pair of languages, the numbers of verified pairs and of segments"""
    rows: int | None = None
    """number of n-way rows; None if only two languages were requested"""
    missing: float | None = None
    """estimated share of all pairs that have not been found yet; None if the crawl policy makes no
    estimate"""
    most_missing: float | None = None
    """upper bound of `missing`, which allows for the usual variation of counts"""
    ends: tuple[tuple[str, SiteEnd], ...] = ()
    """sites whose crawl has ended, with the reasons"""
    declared: tuple[tuple[str, Checked], ...] = ()
    """for each site, its kinds of declarations, with the numbers of wrong declarations"""
    scripted: tuple[tuple[str, int, int], ...] = ()
    """sites with pages whose text comes from scripts: numbers of such pages and of all pages"""
    aliases: tuple[tuple[str, int], ...] = ()
    """rules by which URLs were skipped as duplicates of other URLs, with the numbers of URLs"""
    curve: Curve = NO_CURVE
    """verified pairs against downloads"""
    update: UpdateCounts | None = None
    """figures of the last update; None if there was none"""

    @property
    def downloads_per_pair(self) -> float | None:
        """The number of downloads per verified pair; None if there are no pairs."""
        return round(self.downloads / self.pairs, 3) if self.pairs else None

    @property
    def outlook(self) -> str:
        """The text for the share of pairs not found yet; empty if the share is zero or unknown."""
        if not self.pairs or not self.queued or not self.missing:
            return ""
        share = f"about {self.missing:.0%}" if self.missing >= SMALL_SHARE else "less than 1%"
        most = round(100 * (self.most_missing or 0.0))
        bound = f" (at most {most}%)" if most > round(100 * self.missing) else ""
        return f"{share} of the pairs have probably not been found yet{bound}"


def summarise(store: Store, langs: Iterable[str]) -> Summary:
    """Compute the current summary of a run."""
    langs = tuple(langs)
    counts = Statistics(store)
    terms = read_terms(store.folder) if (store.folder / "run.toml").exists() else None
    by_language = counts.pages_by_language()
    accepted, queued, found = counts.verified_pairs(), counts.unfinished(), curve(store)
    steps = (*_pages(counts, by_language, langs), *_segments(counts))
    outlook = _outlook(store, accepted, queued)
    pages, segments = steps[0].count, steps[-1].count
    return Summary(
        downloads=found.downloads,
        downloads_by_kind=_pages_first(_sorted(counts.downloads_by_kind())),
        pages=pages,
        pairs=accepted,
        segments=segments,
        queued=queued,
        steps=steps,
        faults=steps[0].lost,
        hosts=counts.stopped_hosts(),
        skipped=_sorted(counts.skipped_urls()),
        unanswered=_sorted(counts.unanswered_urls()),
        start_pages=start_pages(store, terms.seeds) if terms and not pages else (),
        threshold=_threshold(terms),
        langs=_by_language(by_language, langs)[0],
        marks=_sorted(counts.marks()),
        flags=_sorted(counts.page_flags()),
        personal=_sorted(counts.segment_flags()),
        lang_pairs=_lang_pairs(counts, langs),
        rows=_rows(store.folder / "n-way.tsv") if len(langs) > 2 else None,
        missing=outlook.missing if outlook else None,
        most_missing=outlook.most_missing if outlook else None,
        ends=counts.site_ends(),
        declared=counts.declarations(),
        scripted=counts.scripted_pages(),
        aliases=_sorted(counts.aliases()),
        curve=found,
        update=Updates(store).last(),
    )


def _threshold(terms: Terms | None) -> float | None:
    """The filter threshold in the recipe of a run; None if the recipe is unknown."""
    if terms is None or "filter" not in terms.recipe:
        return None
    try:
        return terms.threshold
    except ConfigError:  # a filter of another version; the other figures can still be shown
        return None


def _outlook(store: Store, pairs: int, queued: int) -> Outlook | None:
    """The number of pairs found, and an estimate of those still to be found; None if unknown.

    `pairs` is the number of verified pairs.  If `queued`, the number of URLs in the queue, is 0,
    no more pairs are expected.
    """
    outlook = store.outlook()
    if outlook is None:
        return None
    # Pairing finds pairs that the crawl did not know, and a sum of floats is rarely exactly zero.
    left = max(outlook.left, 0.0) if queued else 0.0
    return Outlook(max(outlook.found, pairs), left)


def _pages(
    counts: Statistics, by_language: Mapping[str, PageCounts], langs: tuple[str, ...]
) -> tuple[Step, ...]:
    """The funnel steps for pages: fetched, in a requested language, paired, verified."""
    inside, left_out = _by_language(by_language, langs)
    alone: dict[str, int] = {
        Reason.NO_PARTNER: sum(
            each.without_pair for lang, each in by_language.items() if asked_language(lang, langs)
        )
    }
    return (
        Step("pages fetched", counts.pages(), _sorted(counts.faults())),
        Step("in the requested languages", sum(count for _, count in inside), _sorted(left_out)),
        Step("page pairs found", counts.pairs(), _sorted(alone)),
        Step("page pairs verified", counts.verified_pairs(), _sorted(counts.rejected_pairs())),
    )


def _by_language(
    by_language: Mapping[str, PageCounts], langs: tuple[str, ...]
) -> tuple[tuple[tuple[str, int], ...], dict[str, int]]:
    """Count distinct pages by requested language, and excluded pages by reason."""
    inside, left_out = dict.fromkeys(langs, 0), Counter[str]()
    for lang, each in by_language.items():
        left_out[Reason.DUPLICATE] += each.pages - each.distinct
        wanted = asked_language(lang, langs)
        if wanted:
            inside[wanted] += each.distinct
        else:
            left_out[Reason.OTHER_LANGUAGE if lang else Reason.NO_LANGUAGE] += each.distinct
    return tuple(inside.items()), left_out


def _lang_pairs(counts: Statistics, langs: Sequence[str]) -> tuple[tuple[str, str, int, int], ...]:
    """The numbers of page pairs and segments per language pair, in the order of `langs`."""
    found = counts.by_languages()
    return tuple((*pair, *found[pair]) for pair in lang_pairs(langs) if pair in found)


def _rows(path: Path) -> int:
    """The number of rows in a table, excluding the header; 0 if the file does not exist."""
    if not path.exists():
        return 0
    with path.open("rb") as table:
        return max(0, sum(1 for _ in table) - 1)


def _segments(counts: Statistics) -> tuple[Step, Step]:
    """The funnel steps for segments: aligned, kept."""
    lost = counts.segments_by_reason()
    alone, kept = lost.pop(Reason.UNALIGNED, 0), lost.pop("", 0)
    return (
        Step("segments aligned", kept + sum(lost.values()), _sorted({Reason.UNALIGNED: alone})),
        Step("segments kept", kept, _sorted(lost)),
    )


def _sorted(counts: dict[str, int]) -> tuple[tuple[str, int], ...]:
    items = [(str(reason), count) for reason, count in counts.items() if count]
    return tuple(sorted(items, key=lambda item: (-item[1], item[0])))


def _pages_first(counts: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
    """Sort the counts of downloads so that pages come first."""
    return tuple(sorted(counts, key=lambda item: item[0] != DownloadKind.PAGE))

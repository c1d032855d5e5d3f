"""Figures of a run: steps of the funnel with counts and reasons, marks, flags, outlook."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from diptych.language.codes import asked_language
from diptych.page.declarations import Checked
from diptych.reason import Reason, SiteEnd
from diptych.reports.curve import Curve, curve
from diptych.reports.reasons import in_words
from diptych.run.statistics import Statistics
from diptych.run.store import Store
from diptych.types import Outlook, lang_pairs

NO_CURVE = Curve()
SMALL_SHARE = 0.01  # of all pairs: less is told as that


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the funnel: how many came through, and why others did not."""

    name: str
    count: int
    lost: tuple[tuple[str, int], ...] = ()

    def in_words(self) -> str:
        """The reasons, most frequent first."""
        return ", ".join(f"{count:,} {in_words(reason)}" for reason, count in self.lost)


@dataclass(frozen=True, slots=True)
class Summary:
    """Figures of a run."""

    downloads: int
    pages: int
    pairs: int
    segments: int
    queued: int
    steps: tuple[Step, ...]
    faults: tuple[tuple[str, int], ...]
    hosts: tuple[tuple[str, str], ...]
    """hosts that were stopped, and why"""
    langs: tuple[tuple[str, int], ...] = ()
    """pages in each language asked for"""
    marks: tuple[tuple[str, int], ...] = ()
    """marks of verified pairs, with their counts"""
    flags: tuple[tuple[str, int], ...] = ()
    """flags of pages of verified pairs, with their counts"""
    personal: tuple[tuple[str, int], ...] = ()
    """kinds of personal data, and how many of the segments kept have them"""
    lang_pairs: tuple[tuple[str, str, int, int], ...] = ()
    """for each two languages, verified pairs and segments kept"""
    rows: int | None = None
    """rows of many languages; None where there are but two"""
    missing: float | None = None
    """the share of all pairs that is probably not found yet, behind URLs that are queued; None
    where the crawl policy cannot tell"""
    most_missing: float | None = None
    """the same if as much more is left as counts usually differ from what is expected"""
    ends: tuple[tuple[str, SiteEnd], ...] = ()
    """sites whose crawl has ended, and why"""
    declared: tuple[tuple[str, Checked], ...] = ()
    """what sites declare of their pages, and how often that is wrong"""
    scripted: tuple[tuple[str, int, int], ...] = ()
    """sites with pages whose text is made by scripts: how many, and how many pages in all"""
    aliases: tuple[tuple[str, int], ...] = ()
    """reasons of URLs that were not fetched since they are the same page as another; how many"""
    curve: Curve = NO_CURVE
    """verified pairs against downloads"""

    @property
    def downloads_per_pair(self) -> float | None:
        """Downloads per verified pair."""
        return round(self.downloads / self.pairs, 3) if self.pairs else None

    @property
    def outlook(self) -> str:
        """Words for the share of pairs not found yet; empty if it is zero or unknown."""
        if not self.pairs or not self.queued or not self.missing:
            return ""
        share = f"about {self.missing:.0%}" if self.missing >= SMALL_SHARE else "less than 1%"
        most = round(100 * (self.most_missing or 0.0))
        bound = f" (at most {most}%)" if most > round(100 * self.missing) else ""
        return f"{share} of the pairs are probably not found yet{bound}"


def summarise(store: Store, langs: Iterable[str]) -> Summary:
    """The funnel of a run as it stands: fetched, in a language, paired, verified, aligned, kept."""
    langs = tuple(langs)
    counts = Statistics(store)
    faults, pages = _sorted(counts.faults()), counts.pages()
    by_language, strangers = _by_language(counts, langs)
    accepted = counts.verified_pairs()
    alone: dict[str, int] = {Reason.NO_PARTNER: _pages_without_pair(counts, langs)}
    steps = (
        Step("pages fetched", pages, faults),
        Step("in a language asked for", sum(by_language.values()), _sorted(strangers)),
        Step("page pairs found", counts.pairs(), _sorted(alone)),
        Step("page pairs verified", accepted, _sorted(counts.rejected_pairs())),
        *_segments(counts),
    )
    queued, found = counts.unfinished(), curve(store)
    outlook = _outlook(store, accepted, queued)
    return Summary(
        downloads=found.downloads,
        pages=pages,
        pairs=accepted,
        segments=steps[-1].count,
        queued=queued,
        steps=steps,
        faults=faults,
        hosts=counts.stopped_hosts(),
        langs=tuple(by_language.items()),
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
    )


def _outlook(store: Store, pairs: int, queued: int) -> Outlook | None:
    """The pairs of a run, and those that are probably behind URLs that are queued."""
    outlook = store.outlook()
    if outlook is None:
        return None
    # At the end pairs are found that the crawl did not know of; and sums of floats are never zero.
    left = max(outlook.left, 0.0) if queued else 0.0
    return Outlook(max(outlook.found, pairs), left)


def _by_language(
    counts: Statistics, langs: tuple[str, ...]
) -> tuple[dict[str, int], dict[str, int]]:
    """Pages in each language asked for, and why others are in none."""
    inside, strangers = dict.fromkeys(langs, 0), Counter[str]()
    for lang, count in counts.pages_by_language().items():
        wanted = asked_language(lang, langs)
        if wanted:
            inside[wanted] += count
        else:
            strangers[Reason.OTHER_LANGUAGE if lang else Reason.NO_LANGUAGE] += count
    return inside, strangers


def _pages_without_pair(counts: Statistics, langs: tuple[str, ...]) -> int:
    """Pages in a language asked for that are in no pair."""
    found = counts.pages_without_pair().items()
    return sum(count for lang, count in found if asked_language(lang, langs))


def _lang_pairs(counts: Statistics, langs: Sequence[str]) -> tuple[tuple[str, str, int, int], ...]:
    """Pairs and segments of each two languages, in the user's order."""
    found = counts.by_languages()
    return tuple((*pair, *found[pair]) for pair in lang_pairs(langs) if pair in found)


def _rows(path: Path) -> int:
    """Lines of a table but for its head; none if it is not there yet."""
    if not path.exists():
        return 0
    with path.open("rb") as table:
        return max(0, sum(1 for _ in table) - 1)


def _segments(counts: Statistics) -> tuple[Step, Step]:
    """The steps of segments: aligned, and kept."""
    lost = counts.segments_by_reason()
    alone, kept = lost.pop(Reason.UNALIGNED, 0), lost.pop("", 0)
    return (
        Step("segments aligned", kept + sum(lost.values()), _sorted({Reason.UNALIGNED: alone})),
        Step("segments kept", kept, _sorted(lost)),
    )


def _sorted(counts: dict[str, int]) -> tuple[tuple[str, int], ...]:
    items = [(str(reason), count) for reason, count in counts.items() if count]
    return tuple(sorted(items, key=lambda item: (-item[1], item[0])))

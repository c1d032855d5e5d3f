"""Figures of a run: steps of the funnel with counts and reasons, marks, flags, outlook."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from diptych.frontier.queue import State
from diptych.language.codes import asked_language
from diptych.reason import Reason
from diptych.reports.curve import Curve, curve
from diptych.reports.reasons import in_words
from diptych.run.store import Store
from diptych.types import Outlook, lang_pairs

NO_CURVE = Curve()
SMALL_SHARE = 0.01  # of all pairs: less is told as that

_FLAGS = (
    "SELECT flags, count(*) FROM pages WHERE url IN (SELECT left FROM pairs JOIN decisions"
    " ON pair = pairs.id WHERE accept UNION SELECT right FROM pairs JOIN decisions"
    " ON pair = pairs.id WHERE accept)"
)
_LANG_PAIRS = (
    "SELECT left_lang, right_lang, count(*), sum((SELECT count(*) FROM segments"
    " WHERE segments.pair = pairs.id AND segments.accept))"
    " FROM pairs JOIN decisions ON decisions.pair = pairs.id WHERE decisions.accept"
    " GROUP BY left_lang, right_lang"
)


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
    """the share of all pairs that is probably still out there, behind URLs that are queued; None
    where the crawl policy cannot tell"""
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
        return f"{share} of the pairs are probably still out there"


def summarise(store: Store, langs: Iterable[str]) -> Summary:
    """The funnel of a run as it stands: fetched, in a language, paired, verified, aligned, kept."""
    langs = tuple(langs)
    faults = Counter(dict(store.db.execute(
        "SELECT reason, count(*) FROM urls WHERE state IN (?, ?) AND reason != '' GROUP BY reason",
        (State.FAILED, State.REFUSED),
    ).fetchall()))  # fmt: skip
    pages = store.count("SELECT count(*) FROM pages")
    by_language, strangers = _by_language(store, langs)
    in_language = sum(by_language.values())
    paired, accepted, rejected = _pairs(store)
    steps = (
        Step("pages fetched", pages, _sorted(faults)),
        Step("in a language asked for", in_language, _sorted(strangers)),
        Step(
            "page pairs found",
            paired,
            _sorted({Reason.NO_PARTNER: _pages_without_pair(store, langs)}),
        ),
        Step("page pairs verified", accepted, _sorted(rejected)),
        *_segments(store),
    )
    queued = store.count("SELECT count(*) FROM urls WHERE state IN (0, 1)")
    found = curve(store)
    return Summary(
        downloads=found.downloads,
        pages=pages,
        pairs=accepted,
        segments=steps[-1].count,
        queued=queued,
        steps=steps,
        faults=_sorted(faults),
        hosts=tuple(store.db.execute("SELECT origin, stopped FROM hosts WHERE stopped != ''")),
        langs=tuple(by_language.items()),
        marks=_sorted(_words(store, "SELECT marks, count(*) FROM decisions WHERE accept")),
        flags=_sorted(_words(store, _FLAGS)),
        personal=_sorted(_words(store, "SELECT flags, count(*) FROM segments WHERE accept")),
        lang_pairs=_lang_pairs(store, langs),
        rows=_rows(store.folder / "n-way.tsv") if len(langs) > 2 else None,
        missing=_missing(store, accepted, queued),
        curve=found,
    )


def _missing(store: Store, pairs: int, queued: int) -> float | None:
    """The share of all pairs that is probably behind URLs that are queued."""
    outlook = store.outlook()
    if outlook is None:
        return None
    # At the end pairs are found that the crawl did not know of; and sums of floats are never zero.
    left = max(outlook.left, 0.0) if queued else 0.0
    return Outlook(max(outlook.found, pairs), left).missing


def _by_language(store: Store, langs: tuple[str, ...]) -> tuple[dict[str, int], dict[str, int]]:
    """Pages in each language asked for, and why others are in none."""
    inside, strangers = dict.fromkeys(langs, 0), Counter[str]()
    for lang, count in store.db.execute(
        "SELECT lang, count(*) FROM pages GROUP BY lang"
    ).fetchall():
        wanted = asked_language(lang, langs)
        if wanted:
            inside[wanted] += count
        else:
            strangers[Reason.OTHER_LANGUAGE if lang else Reason.NO_LANGUAGE] += count
    return inside, strangers


def _pages_without_pair(store: Store, langs: tuple[str, ...]) -> int:
    """Pages in a language asked for that are in no pair."""
    rows = store.db.execute(
        "SELECT lang, count(*) FROM pages WHERE url NOT IN"
        " (SELECT left FROM pairs UNION SELECT right FROM pairs) GROUP BY lang"
    )
    return sum(count for lang, count in rows if asked_language(lang, langs))


def _words(store: Store, query: str) -> dict[str, int]:
    """Counts of the words in a column of words."""
    found: Counter[str] = Counter()
    for words, count in store.db.execute(f"{query} GROUP BY 1"):
        found.update(dict.fromkeys(words.split(), count))
    return found


def _lang_pairs(store: Store, langs: Sequence[str]) -> tuple[tuple[str, str, int, int], ...]:
    """Pairs and segments of each two languages, in the user's order."""
    found = {(row[0], row[1]): row for row in store.db.execute(_LANG_PAIRS)}
    return tuple(found[pair] for pair in lang_pairs(langs) if pair in found)


def _rows(path: Path) -> int:
    """Lines of a table but for its head; none if it is not there yet."""
    if not path.exists():
        return 0
    with path.open("rb") as table:
        return max(0, sum(1 for _ in table) - 1)


def _pairs(store: Store) -> tuple[int, int, dict[str, int]]:
    paired = store.count("SELECT count(*) FROM pairs")
    accepted = store.count("SELECT count(*) FROM decisions WHERE accept")
    rejected = store.db.execute(
        "SELECT reason, count(*) FROM decisions WHERE NOT accept GROUP BY reason"
    ).fetchall()
    return paired, accepted, dict(rejected)


def _segments(store: Store) -> tuple[Step, Step]:
    """The steps of segments: aligned, and kept."""
    rows = store.db.execute("SELECT reason, count(*) FROM segments GROUP BY reason")
    counts = dict(rows.fetchall())
    alone, kept = counts.pop(Reason.UNALIGNED, 0), counts.pop("", 0)
    return (
        Step("segments aligned", kept + sum(counts.values()), _sorted({Reason.UNALIGNED: alone})),
        Step("segments kept", kept, _sorted(counts)),
    )


def _sorted(counts: dict[str, int]) -> tuple[tuple[str, int], ...]:
    items = [(str(reason), count) for reason, count in counts.items() if count]
    return tuple(sorted(items, key=lambda item: (-item[1], item[0])))

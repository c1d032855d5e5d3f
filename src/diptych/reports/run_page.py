"""The report.html of a run: key figures, funnel, score histogram, page pairs, sample segments."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from diptych.errors import StoreError, for_command_line, in_one_line
from diptych.files import replace_file
from diptych.registry import signature
from diptych.reports.closing import closing_of, threshold_lines
from diptych.reports.funnel import Row, funnel_rows
from diptych.reports.nothing_found import why_nothing
from diptych.reports.plot import plot
from diptych.reports.reasons import counted, evidence_in_words, in_words
from diptych.reports.site_notes import site_notes
from diptych.reports.summary import Summary
from diptych.reports.update import update_lines
from diptych.run.facts import Facts
from diptych.run.segments import Segments
from diptych.run.statistics import Statistics
from diptych.run.store import Store
from diptych.run.terms import Terms
from diptych.types import SegmentPair

SHOWN_PAIRS = 500
SHOWN_SEGMENTS = 60
FIRST_SEGMENTS = 8  # of these, shown at the top of the page
BINS = 20  # bins of the score histogram


def write_report(store: Store, terms: Terms, summary: Summary, notes: Sequence[str]) -> None:
    """Write `report.html` to the run folder."""
    pairs, rejected = _pairs(store, accept=True), _pairs(store, accept=False)
    cost = summary.downloads_per_pair
    page = render(
        "report.html",
        found="pairs", each="pair", search="this crawl",
        title=", ".join(terms.seeds or terms.archives),
        langs=" - ".join(terms.langs),
        signature=signature(terms.recipe, terms.langs),
        tiles=[
            ("page pairs", f"{summary.pairs:,}"),
            ("segments", f"{summary.segments:,}"),
            ("pages", f"{summary.pages:,}"),
            ("downloads", f"{summary.downloads:,}"),
            ("downloads per pair", f"{cost:.2f}" if cost is not None else "-"),
        ],
        # A group of pages in n languages takes n downloads and has n (n - 1) / 2 pairs.
        plot=plot(summary.curve, 2 / (len(terms.langs) - 1)),
        outlook=summary.outlook,
        steps=_funnel(summary),
        notes=[*_closing(summary, store), *site_notes(summary), *dict.fromkeys(notes)],
        lang_pairs=summary.lang_pairs if len(summary.lang_pairs) > 1 else (),
        rows=summary.rows,
        scores=_histogram(store),
        threshold=threshold_lines(summary.threshold, store.folder),
        flags=[
            f"{counted(count, what)} {in_words(flag, count)}"
            for what, counts in (("page", summary.flags), ("segment", summary.personal))
            for flag, count in counts
        ],
        pairs=pairs[:SHOWN_PAIRS],
        more_pairs=max(0, len(pairs) - SHOWN_PAIRS),
        rejected=rejected[:SHOWN_PAIRS],
        segments=_mixed(sample(store, summary.segments, SHOWN_SEGMENTS)),
        first_segments=FIRST_SEGMENTS,
    )  # fmt: skip
    replace_file(store.folder / "report.html", page, error=StoreError)


def render(name: str, script: str = "", **values: Any) -> bytes:
    """Render a template as a page encoded in UTF-8.

    Browsers run no code on the page but `script`, which its Content-Security-Policy names.  The
    value of each expression has no control characters, none that change the direction of text, and
    no space at its ends.
    """
    from jinja2 import Environment, PackageLoader
    from markupsafe import Markup

    def finalize(value: object) -> object:
        is_text = isinstance(value, str) and not isinstance(value, Markup)
        return in_one_line(value) if is_text else value

    loader = PackageLoader("diptych.reports")
    template = Environment(loader=loader, autoescape=True, finalize=finalize).get_template(name)
    if script:
        digest = b64encode(sha256(script.encode()).digest()).decode()
        values |= {"script": Markup(script), "script_hash": Markup(f"'sha256-{digest}'")}
    return template.render(**values).encode("utf-8", "replace")


def _closing(summary: Summary, store: Store) -> list[str]:
    """The lines of the report on the queue and how to continue, or on why nothing was found."""
    said = closing_of(summary) if summary.segments else why_nothing(summary, store.folder).lines()
    update = [] if summary.update is None else list(update_lines(summary.update))
    return [*update, *map(for_command_line, said)]


def _funnel(summary: Summary) -> list[dict[str, Any]]:
    """The bars of the funnel; widths are percentages of the widest bar with the same unit."""
    rows = funnel_rows(summary)
    largest = {
        unit: max((row.total for row in rows if _unit(row) == unit), default=0) or 1
        for unit in ("page", "segment")
    }
    return [
        {
            "name": row.name,
            "count": f"{row.total:,}",
            "width": round(100 * row.total / largest[_unit(row)], 1),
            "note": row.note,
        }
        for row in rows
    ]


def _histogram(store: Store) -> list[dict[str, Any]]:
    """The score histogram of the segments that no filter rule rejects.

    Heights are percentages of the highest bar.  They grow with the square root of the count, so
    that small counts remain visible.
    """
    counts = Statistics(store).score_histogram(BINS)
    most = max((total for _, total in counts.values()), default=0)
    return [
        {
            "from": f"{place / BINS:.2f}",
            "kept": kept, "left": total - kept,
            "kept_height": round(100 * (total / most) ** 0.5 * kept / max(total, 1), 1),
            "left_height": round(100 * (total / most) ** 0.5 * (1 - kept / max(total, 1)), 1),
        }
        for place in range(BINS)
        for kept, total in [counts.get(place, (0, 0))]
    ] if most else []  # fmt: skip


def _unit(row: Row) -> str:
    return "segment" if row.name.startswith("segment") else "page"


def _pairs(store: Store, *, accept: bool) -> list[dict[str, Any]]:
    return [
        {
            "left": row.left, "right": row.right, "evidence": evidence_in_words(row.evidence),
            "score": f"{row.score:.2f}", "verified": f"{row.verified:.2f}",
            "reason": in_words(row.reason), "segments": row.segments,
            "marks": ", ".join(in_words(mark) for mark in row.marks.split()),
        }
        for row in Facts(store).decided_pairs(accept=accept)
    ]  # fmt: skip


def _mixed(segments: Sequence[SegmentPair]) -> list[SegmentPair]:
    """Reorder segments so that the first few come from all over the corpus.

    >>> _mixed(range(20))[:8]
    [0, 3, 6, 9, 12, 15, 18, 1]
    """
    step = max(1, -(-len(segments) // FIRST_SEGMENTS))
    return [segment for start in range(step) for segment in segments[start::step]]


def sample(store: Store, total: int, size: int) -> list[SegmentPair]:
    """At most `size` segments, evenly spaced over the whole corpus."""
    step = max(1, -(-total // size))
    segments = Segments(store)
    counts = segments.kept_by_pair()
    found: list[SegmentPair] = []
    before = 0
    for pair in store.pair_order():
        here = range(-before % step, counts.get(pair, 0), step)
        found.extend(segments.kept(pair, place) for place in here)
        before += counts.get(pair, 0)
    return found[:size]

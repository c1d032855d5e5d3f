"""The funnel printed on the terminal at the end of `mine`, and by `status`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from diptych.reason import SiteEnd
from diptych.reports.reasons import in_words
from diptych.reports.site_notes import site_notes
from diptych.reports.summary import Summary

if TYPE_CHECKING:
    from rich.console import Console


def print_funnel(
    console: Console,
    summary: Summary,
    folder: Path,
    notes: Sequence[str],
) -> None:
    """Print the funnel of a run, the reasons for what was lost, and the files it wrote."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", style="bold", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(style="dim")
    for step in summary.steps:
        words = step.in_words()
        lost = Text(f"lost: {words}" if words else "")
        table.add_row(Text(f"{step.count:,}"), Text(step.name), lost)
    console.print(table)
    if summary.downloads_per_pair is not None:
        cost = summary.downloads_per_pair
        console.print(f"{summary.downloads:,} downloads in all, {cost:.2f} per verified pair")
    for line in _details(summary):
        console.print(line, soft_wrap=True)
    if summary.queued:
        console.print(f"{summary.queued:,} URLs are still queued{_how_to_go_on(summary)}")
    if summary.outlook:
        console.print(summary.outlook)
    for note in dict.fromkeys(
        [*notes, *(f"{origin} was stopped: {why}" for origin, why in summary.hosts)]
    ):
        console.print(f"note: {note}")
    if not summary.segments:
        console.print(f"nothing found: {_why_nothing(summary)}")
        return
    names = [
        name
        for name in ("corpus.tsv", "corpus.tmx", "n-way.tsv", "pairs.tsv", "report.html")
        if (folder / name).exists()
    ]
    console.print(f"see {folder}/: {', '.join(names)}", soft_wrap=True)


def _details(summary: Summary) -> Iterator[str]:
    """Lines on languages, marks, flags, and what is wrong with sites."""
    if len(summary.lang_pairs) > 1:
        by_lang = ", ".join(
            f"{left}-{right} {pairs:,} ({segments:,} segments)"
            for left, right, pairs, segments in summary.lang_pairs
        )
        yield f"page pairs by languages: {by_lang}"
    if summary.rows is not None:
        yield f"{summary.rows:,} rows of three languages or more in n-way.tsv"
    for what, counts in (
        ("verified pairs that are marked", summary.marks),
        ("pages that are flagged", summary.flags),
        ("segments that are flagged", summary.personal),
    ):
        if counts:
            yield f"{what}: " + ", ".join(f"{count:,} {in_words(name)}" for name, count in counts)
    yield from site_notes(summary)


def _how_to_go_on(summary: Summary) -> str:
    """Advice on URLs that are still queued, by the way the crawl has ended."""
    ends = {end for _, end in summary.ends}
    ways = {
        "a higher limit": any(end.is_limit for end in ends),
        "a larger --patience": SiteEnd.UNLIKELY in ends,
        "--share 100": SiteEnd.ENOUGH in ends or SiteEnd.NO_PAIRS in ends,
    }
    match [way for way, helps in ways.items() if helps]:
        case []:
            return ": the same command goes on with them"
        case ["a higher limit"]:
            return ": raise the limit to go on"
        case ["a larger --patience"]:
            return ", none likely to bring a pair: a larger --patience goes on with them"
        case ["--share 100"]:
            return ": --share 100 goes on with them"
        case several:
            return f": {', or '.join(several)}, goes on with them"


def _why_nothing(summary: Summary) -> str:
    """The first step of the funnel where everything was lost."""
    if not summary.pages:
        reason = summary.hosts[0][1] if summary.hosts else ""
        return reason or summary.steps[0].in_words() or "no page was fetched"
    if empty := [lang for lang, count in summary.langs if not count]:
        return f"no page is in {' or '.join(empty)} ({_by_language(summary)})"
    for step in summary.steps[1:]:
        if not step.count:
            words = step.in_words()
            return f"no {step.name}" + (f" ({words})" if words else "")
    return "no segments kept"


def _by_language(summary: Summary) -> str:
    found = [f"{count:,} in {lang}" for lang, count in summary.langs if count]
    return ", ".join(found) or summary.steps[1].in_words() or "none in a language asked for"

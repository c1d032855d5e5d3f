"""The funnel: how many pages, page pairs and segments are left after each step of a run.

`mine` prints the funnel when it ends, and `status` prints it at any time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, NamedTuple

from diptych.errors import for_command_line, in_one_line
from diptych.frontier.hosts import stop_note, way_out_note
from diptych.reason import DownloadKind
from diptych.reports.closing import closing_of, next_steps
from diptych.reports.nothing_found import why_nothing
from diptych.reports.reasons import counted, listed
from diptych.reports.site_notes import site_notes
from diptych.reports.summary import Summary
from diptych.reports.update import update_lines

if TYPE_CHECKING:
    from rich.console import Console


_MIN_NOTE = 30  # columns that notes need beside their names


class Row(NamedTuple):
    """One row of the printed funnel."""

    name: str
    total: int
    note: str = ""
    """the parts of the total, or the reasons why other items were left out"""


def funnel_rows(summary: Summary) -> list[Row]:
    """The rows of the funnel: the downloads, then the steps up to the first one with no results.

    If the only start page failed, the steps are left out, because the reason is printed instead.
    """
    fetched, *others = summary.steps
    apart = (("skipped", summary.skipped), ("failed", summary.unanswered))
    note = "; ".join(f"{name}: {listed(counts)}" for name, counts in apart if counts)
    downloads = _row("downloads", summary.downloads, listed(_with_duplicates(summary)))
    if is_single_failure(summary):
        return [downloads] if downloads.total else []
    rows = [
        downloads,
        _row(fetched.name, fetched.count, note),
        *(
            _row(step.name, step.count, f"left out: {step.in_words()}" if step.lost else "")
            for step in others
        ),
    ]
    last = max((place for place, row in enumerate(rows) if row.total), default=0)
    return rows[: last + 2]


def _row(name: str, total: int, note: str) -> Row:
    """Create a row, with its name in the singular if the total is 1.

    >>> _row("page pairs found", 1, "").name, _row("page pairs found", 2, "").name
    ('page pair found', 'page pairs found')
    """
    noun, *rest = name.split(" ")
    if noun == "page" and rest:
        noun, rest = f"page {rest[0]}", rest[1:]
    return Row(" ".join([noun.removesuffix("s"), *rest]) if total == 1 else name, total, note)


def _with_duplicates(summary: Summary) -> list[tuple[str, int]]:
    """The number of downloads of each kind, with duplicates counted as pages.

    A later step of the funnel leaves out the duplicates.
    """
    counts: dict[str, int] = {}
    for kind, count in summary.downloads_by_kind:
        name = DownloadKind.PAGE if kind == DownloadKind.DUPLICATE else kind
        counts[name] = counts.get(name, 0) + count
    return list(counts.items())


def funnel_columns(rows: Sequence[Row], width: int | None) -> Iterator[tuple[str, str, str]]:
    """Yield the lines of the funnel as total, name and note, padded to columns.

    Notes are wrapped between words to fit `width`, the width of the terminal; in a narrow terminal,
    they are placed below the names.  If `width` is None, notes are not wrapped.

    >>> rows = [Row("downloads", 1_234, "1,200 pages, 34 redirects"), Row("pages", 90)]
    >>> ["".join(line) for line in funnel_columns(rows, None)]
    ['1,234  downloads  1,200 pages, 34 redirects', '   90  pages']
    >>> ["".join(line) for line in funnel_columns(rows, 30)]
    ['1,234  downloads', '       1,200 pages, 34', '       redirects', '   90  pages']
    """
    totals = [f"{row.total:,}" for row in rows]
    first = max(map(len, totals), default=0)
    second = max((len(row.name) for row in rows), default=0)
    indent = first + 2
    is_narrow = width is not None and width < indent + second + 2 + _MIN_NOTE
    note_indent = indent if is_narrow else indent + second + 2
    for total, row in zip(totals, rows, strict=True):
        room = max(_MIN_NOTE // 2, width - note_indent) if width is not None else len(row.note) + 1
        notes = wrap(row.note, room, break_long_words=False, break_on_hyphens=False)
        begin = "" if is_narrow or not notes else notes.pop(0)
        name = f"  {row.name:<{second}}  " if begin else f"  {row.name}"
        yield f"{total:>{first}}", name, begin
        yield from (("", " " * note_indent, note) for note in notes)


def is_single_failure(summary: Summary) -> bool:
    """True if the only start page of a run could not be fetched."""
    return not summary.pages and len(summary.start_pages) == 1


def print_funnel(
    console: Console,
    summary: Summary,
    folder: Path,
    notes: Sequence[str],
) -> None:
    """Print the funnel of a run with the reasons for losses, then notes and the next steps.

    `folder` is the run folder, which is named in the next steps.
    """
    from rich.text import Text

    width = console.width if console.is_terminal else None
    for total, name, note in funnel_columns(funnel_rows(summary), width):
        parts = (total, "bold"), (name, ""), (note, "dim")
        console.print(Text.assemble(*parts), soft_wrap=True)
    for line in _lines(summary, folder, notes):
        console.print(in_one_line(for_command_line(line)), soft_wrap=True)


def _lines(summary: Summary, folder: Path, notes: Sequence[str]) -> Iterator[str]:
    """Yield the lines below the funnel: details of the run, notes and the next steps.

    If the run found nothing, the reason and some advice replace the next steps.
    """
    if summary.downloads_per_pair is not None:
        yield f"{summary.downloads_per_pair:.2f} downloads per verified pair"
    yield from _details(summary)
    if summary.update is not None:
        yield from update_lines(summary.update)
    if summary.pages:  # the last line is the advice on a run that found nothing
        yield from closing_of(summary) if summary.segments else closing_of(summary)[:-1]
    yield from (f"note: {note}" for note in _notes(summary, notes))
    if summary.segments:
        yield from next_steps(summary, folder)
        return
    cause, *others = why_nothing(summary, folder).lines()
    yield f"nothing found{'' if summary.ends else ' yet'}: {cause}"
    yield from others


def _notes(summary: Summary, notes: Sequence[str]) -> list[str]:
    """All notes without duplicates; notes that repeat the cause of an empty run are left out."""
    gave_up = [stop_note(origin, why) for origin, why in summary.hosts]
    if is_single_failure(summary):
        (start,) = summary.start_pages
        told = {*gave_up, way_out_note(start.url, start.end)}
        return [note for note in dict.fromkeys(notes) if note not in told]
    return list(dict.fromkeys([*notes, *gave_up]))


def _details(summary: Summary) -> Iterator[str]:
    """Yield report lines about languages, marks, flags, and problems with sites."""
    if len(summary.lang_pairs) > 1:
        by_lang = ", ".join(
            f"{left}-{right} {pairs:,} ({counted(segments, 'segment')})"
            for left, right, pairs, segments in summary.lang_pairs
        )
        yield f"page pairs by language pair: {by_lang}"
    if summary.rows is not None:
        yield f"{counted(summary.rows, 'row')} with three or more languages in n-way.tsv"
    for what, counts in (
        ("flagged page pairs", summary.marks),
        ("flagged pages", summary.flags),
        ("flagged segments", summary.personal),
    ):
        if counts:
            yield f"{what}: {listed(counts)}"
    yield from site_notes(summary)

"""Closing lines of a run: the state of the queue, how to continue, and the next steps.

Options are named with `errors.option_name`, so that the caller can decide how they are spelled.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path

from diptych.errors import option_name
from diptych.reason import SiteEnd
from diptych.reports.reasons import counted
from diptych.reports.summary import Summary

AGAIN = "run the same command again to continue"
LOWER_THRESHOLD = 0.4  # an example for users who want more segments
# An example for users who want better segments, or more of a run with a high threshold.
HIGHER_THRESHOLD = 0.8
_HOPELESS = frozenset({SiteEnd.UNLIKELY, SiteEnd.NO_PAIRS, SiteEnd.NOTHING_LEFT})
_CORPUS = ("corpus.tsv", "corpus.tmx", "n-way.tsv", "pairs.tsv")


def closing(ends: Iterable[SiteEnd], queued: int, outlook: str) -> list[str]:
    """The lines of the report on the URLs still queued, the pairs expected, and how to continue.

    `ends` are the reasons why the crawls of sites ended.  `outlook` states the share of pairs not
    found yet; it is empty if the share is zero or unknown.

    >>> closing([SiteEnd.NO_PAIRS], 1, "")[0]
    '1 URL is still queued; none is likely to lead to a pair'
    """
    kinds = set(ends)
    if not queued:
        return [f"interrupted: {AGAIN}"] if SiteEnd.INTERRUPTED in kinds else []
    left = f"{counted(queued, 'URL')} {'is' if queued == 1 else 'are'} still queued"
    is_hopeless = kinds <= _HOPELESS and kinds & {SiteEnd.UNLIKELY, SiteEnd.NO_PAIRS}
    expected = outlook or ("none is likely to lead to a pair" if is_hopeless else "")
    return [f"{left}; {expected}" if expected else left, _how_to_continue(kinds)]


def _how_to_continue(kinds: set[SiteEnd]) -> str:
    """Advice on how to continue; `kinds` are the reasons why crawls ended.

    A time limit needs no advice, because it applies anew to each invocation.
    """
    if not kinds:
        return f"the crawl is not finished; if it is no longer running, {AGAIN}"
    ways = {
        f"a higher {option_name('max_pages')}": SiteEnd.PAGE_LIMIT in kinds,
        f"a higher {option_name('max_megabytes')}": SiteEnd.BYTE_LIMIT in kinds,
        f"a higher {option_name('patience')}": SiteEnd.UNLIKELY in kinds,
        f"{option_name('share')} 100": bool(kinds & {SiteEnd.ENOUGH, SiteEnd.NO_PAIRS}),
    }
    wanted = [way for way, helps in ways.items() if helps]
    return f"run the same command with {' or '.join(wanted)} to continue" if wanted else AGAIN


def closing_of(summary: Summary) -> list[str]:
    """The closing lines of a run."""
    return closing((end for _, end in summary.ends), summary.queued, summary.outlook)


def next_steps(summary: Summary, folder: Path) -> list[str]:
    """The lines of the report on the corpus files and on exporting with another threshold."""
    report = folder / "report.html"
    corpus = [name for name in _CORPUS if (folder / name).exists()]
    said = [f"open {report} for an overview"] if report.exists() else []
    if len(corpus) == 1:
        said.append(f"the corpus file in {folder}/ is {corpus[0]}")
    elif corpus:
        said.append(f"the corpus files in {folder}/ are {', '.join(corpus)}")
    files = ["; ".join(said)] if said else []
    return [*files, *threshold_lines(summary.threshold, folder)]


def threshold_lines(threshold: float | None, folder: Path) -> list[str]:
    """A report line about a corpus's score threshold and how to change it; none if unknown.

    >>> threshold_lines(0.6, Path("run"))[0].partition("; ")[0]
    'segments with a score of at least 0.6 are kept'
    """
    if threshold is None:
        return []
    kept = f"a score of at least {threshold:g}" if threshold else "any score"
    other = LOWER_THRESHOLD if LOWER_THRESHOLD < threshold < 0.9 else HIGHER_THRESHOLD
    command = export_command(folder, other)
    return [f"segments with {kept} are kept; to change the threshold, run: {command}"]


def export_command(folder: Path, min_score: float) -> str:
    """The command that exports the corpus of a run with another threshold.

    >>> export_command(Path("my run"), 0.8)
    "diptych export 'my run' --min-score 0.8 --format tsv"
    """
    return f"diptych export {shlex.quote(str(folder))} --min-score {min_score:g} --format tsv"

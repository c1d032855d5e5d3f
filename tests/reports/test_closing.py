"""The closing lines of a run: no combination of ends, queue and outlook gives a contradiction."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from diptych.errors import for_command_line
from diptych.reason import SiteEnd
from diptych.reports.closing import closing, next_steps, threshold_lines
from diptych.reports.reasons import ends_in_words
from diptych.reports.summary import Summary

OUTLOOK = "about 6% of the pairs have probably not been found yet"
AGAIN = "run the same command again to continue"
PAGES, MEGABYTES = "a higher --max-pages", "a higher --max-megabytes"
PATIENCE, SHARE = "a higher --patience", "--share 100"
SUBSETS = [
    frozenset(subset) for size in range(len(SiteEnd) + 1) for subset in combinations(SiteEnd, size)
]


def said(ends: frozenset[SiteEnd], queued: int, outlook: str) -> list[str]:
    return [for_command_line(line) for line in closing(ends, queued, outlook)]


@pytest.mark.parametrize(
    ("end", "hopeless", "how"),
    [
        (SiteEnd.PAGE_LIMIT, False, f"run the same command with {PAGES} to continue"),
        (SiteEnd.BYTE_LIMIT, False, f"run the same command with {MEGABYTES} to continue"),
        (SiteEnd.TIME_LIMIT, False, AGAIN),
        (SiteEnd.ENOUGH, False, f"run the same command with {SHARE} to continue"),
        (SiteEnd.UNLIKELY, True, f"run the same command with {PATIENCE} to continue"),
        (SiteEnd.NO_PAIRS, True, f"run the same command with {SHARE} to continue"),
        (SiteEnd.HOSTS_STOPPED, False, AGAIN),
        (SiteEnd.INTERRUPTED, False, AGAIN),
        (SiteEnd.NOTHING_LEFT, False, AGAIN),
        (None, False, f"the crawl is not finished; if it is no longer running, {AGAIN}"),
    ],
)
def test_each_end_has_its_statement(end: SiteEnd | None, hopeless: bool, how: str) -> None:
    ends = frozenset([end] if end else [])
    bare = "12 URLs are still queued"
    none = f"{bare}; none is likely to lead to a pair"
    assert said(ends, 12, OUTLOOK) == [f"{bare}; {OUTLOOK}", how]
    assert said(ends, 12, "") == [none if hopeless else bare, how]
    is_stopped = end is SiteEnd.INTERRUPTED
    assert said(ends, 0, "") == ([f"interrupted: {AGAIN}"] if is_stopped else [])


@pytest.mark.parametrize("outlook", ["", OUTLOOK])
@pytest.mark.parametrize("queued", [0, 1, 1200])
def test_no_statement_contradicts_itself(queued: int, outlook: str) -> None:
    for ends in SUBSETS:
        lines = said(ends, queued, outlook)
        text = "\n".join([*lines, *ends_in_words((f"{end}.org", end) for end in ends)])
        assert not ("none is likely" in text and "not found yet" in text)
        assert "1 URLs" not in text
        assert "1 URL are" not in text
        if not queued:  # there is no outlook either
            assert (lines == []) is (SiteEnd.INTERRUPTED not in ends)
            continue
        left, how = lines
        assert left.startswith("1 URL is still" if queued == 1 else "1,200 URLs are still queued")
        assert left.endswith(outlook)
        for option, helped in (
            (PAGES, {SiteEnd.PAGE_LIMIT}), (MEGABYTES, {SiteEnd.BYTE_LIMIT}),
            (PATIENCE, {SiteEnd.UNLIKELY}), (SHARE, {SiteEnd.ENOUGH, SiteEnd.NO_PAIRS}),
        ):  # fmt: skip
            assert (option in how) is bool(helped & ends)
        assert how.endswith("to continue")


def test_no_pair_is_likely_only_if_every_crawl_ended_for_that_reason() -> None:
    for ends in SUBSETS:
        is_said = "none is likely" in " ".join(said(ends, 5, ""))
        ended = ends - {SiteEnd.NOTHING_LEFT}
        assert is_said is (bool(ended) and ended <= {SiteEnd.UNLIKELY, SiteEnd.NO_PAIRS})


def test_several_ways_to_continue_are_all_named() -> None:
    ends = frozenset({SiteEnd.PAGE_LIMIT, SiteEnd.NO_PAIRS})
    assert said(ends, 2, "")[1] == f"run the same command with {PAGES} or {SHARE} to continue"


# -- next steps ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("threshold", "kept", "other"),
    [(0.6, "a score of at least 0.6", 0.4), (0.95, "a score of at least 0.95", 0.8),
     (0.3, "a score of at least 0.3", 0.8),
     (0.0, "any score", 0.8)],
)  # fmt: skip
def test_threshold_is_shown_with_a_command_for_another(
    threshold: float, kept: str, other: float
) -> None:
    assert threshold_lines(threshold, Path("a run")) == [
        f"segments with {kept} are kept; to change the threshold, run:"
        f" diptych export 'a run' --min-score {other} --format tsv"
    ]


def test_only_existing_files_are_named(tmp_path: Path) -> None:
    summary = Summary(2, 2, 1, 1, 0, (), (), ())
    assert next_steps(summary, tmp_path) == []
    (tmp_path / "corpus.tsv").touch()
    assert next_steps(summary, tmp_path) == [f"the corpus file in {tmp_path}/ is corpus.tsv"]
    (tmp_path / "pairs.tsv").touch()
    (line,) = next_steps(summary, tmp_path)
    assert line == f"the corpus files in {tmp_path}/ are corpus.tsv, pairs.tsv"
    (tmp_path / "report.html").touch()
    (line,) = next_steps(summary, tmp_path)
    assert line.startswith(f"open {tmp_path / 'report.html'} for an overview; the corpus files in ")

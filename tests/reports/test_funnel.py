from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from rich.console import Console

from diptych.commands.mine import to_json
from diptych.frontier.hosts import stop_note, way_out_note
from diptych.reason import SiteEnd
from diptych.reports.curve import Curve
from diptych.reports.funnel import Row, funnel_rows, print_funnel
from diptych.reports.start_pages import StartPage
from diptych.reports.summary import Step, Summary

STEPS = (
    Step("pages fetched", 4, (("http_404", 1), ("robots", 2))),
    Step("page pairs found", 2, (("no_partner", 1),)),
    Step("segments kept", 2, (("duplicate", 3), ("low_score", 1))),
)
KINDS = (("page", 4), ("robots.txt", 1), ("http_404", 1))
HOME = "http://a.org/"


def summary(
    *ends: SiteEnd, queued: int = 12, missing: float | None = None, pairs: int = 2
) -> Summary:
    named = tuple((f"s{number}.org", end) for number, end in enumerate(ends))
    return Summary(
        6, 4, pairs, 2, queued, STEPS, (), (), missing=missing, ends=named,
        downloads_by_kind=KINDS, skipped=(("robots", 2),),
    )  # fmt: skip


def told(capsys: pytest.CaptureFixture[str], what: Summary, *notes: str) -> list[str]:
    print_funnel(Console(highlight=False, markup=False, width=200), what, Path("run"), notes)
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


def failed(reason: str = "dns", end: str = HOME) -> Summary:
    """A run whose only start page could not be fetched."""
    steps = (Step("pages fetched", 0, ((reason, 1),)), Step("segments kept", 0))
    return Summary(
        0, 0, 0, 0, 1, steps, (), (("http://a.org", "unknown host"),),
        unanswered=((reason, 1),), ends=(("a.org", SiteEnd.HOSTS_STOPPED),),
        start_pages=(StartPage(HOME, end, reason),),
    )  # fmt: skip


def test_funnel_separates_downloads_from_skipped_urls() -> None:
    what = replace(summary(), unanswered=(("timeout", 1), ("dns", 2)))
    assert funnel_rows(what) == [
        Row("downloads", 6, "4 pages, 1 robots.txt, 1 not found (404)"),
        Row("pages fetched", 4, "skipped: 2 forbidden by robots.txt; failed: 1 timed out,"
            " 2 unknown hosts"),
        Row("page pairs found", 2, "left out: 1 without a counterpart"),
        Row("segments kept", 2, "left out: 3 duplicates, 1 below the threshold"),
    ]  # fmt: skip


def test_duplicates_are_pages_until_they_are_left_out() -> None:
    kinds = (("page", 3), ("robots.txt", 1), ("duplicate", 1))
    assert funnel_rows(replace(summary(), downloads_by_kind=kinds))[:2] == [
        Row("downloads", 6, "4 pages, 1 robots.txt"),
        Row("pages fetched", 4, "skipped: 2 forbidden by robots.txt"),
    ]


def test_rows_of_one_are_in_the_singular() -> None:
    names = ("pages fetched", "in the requested languages", "page pairs found",
             "page pairs verified", "segments aligned", "segments kept")  # fmt: skip
    one = replace(summary(), downloads=1, steps=tuple(Step(name, 1) for name in names))
    assert [row.name for row in funnel_rows(one)] == [
        "download", "page fetched", "in the requested languages", "page pair found",
        "page pair verified", "segment aligned", "segment kept",
    ]  # fmt: skip


def test_funnel_ends_with_the_first_empty_step() -> None:
    empty = tuple(replace(step, count=step.count if place < 1 else 0)
                  for place, step in enumerate(STEPS))  # fmt: skip
    rows = funnel_rows(replace(summary(), steps=empty))
    assert [(row.name, row.total) for row in rows[1:]] == [
        ("pages fetched", 4), ("page pairs found", 0),
    ]  # fmt: skip
    nothing = replace(summary(), downloads=0, pages=0, steps=(replace(STEPS[0], count=0),))
    assert [row.name for row in funnel_rows(nothing)] == ["downloads", "pages fetched"]


def test_queue_line_follows_the_cost_and_says_how_to_continue(
    capsys: pytest.CaptureFixture[str],
) -> None:
    said = told(capsys, summary(SiteEnd.PAGE_LIMIT, missing=0.03), "a note")
    assert said[4:8] == [
        "3.00 downloads per verified pair",
        "12 URLs are still queued; about 3% of the pairs have probably not been found yet",
        "run the same command with a higher --max-pages to continue",
        "note: a note",
    ]


def test_no_outlook_is_printed_if_nothing_is_queued(
    capsys: pytest.CaptureFixture[str],
) -> None:
    said = " ".join(told(capsys, summary(queued=0, missing=0.0)))
    assert "queued" not in said
    assert "not found yet" not in said


def test_threshold_is_shown_only_with_a_corpus(capsys: pytest.CaptureFixture[str]) -> None:
    what = replace(summary(queued=0), threshold=0.95)
    assert told(capsys, what)[-1].endswith("diptych export run --min-score 0.8 --format tsv")
    assert "another threshold" not in "".join(told(capsys, replace(what, segments=0)))


def test_failed_start_page_prints_only_cause_and_advice(
    capsys: pytest.CaptureFixture[str],
) -> None:
    note = stop_note("http://a.org", "unknown host")
    assert told(capsys, failed(), note) == [
        "nothing found: unknown host: a.org",
        "check the address and your network connection",
    ]
    moved = failed("outside", "http://b.org/")
    assert told(capsys, moved, note, way_out_note(HOME, "http://b.org/"), "another")[0] == (
        "note: another"
    )


def test_hosts_given_up_are_noted_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    what = replace(summary(), hosts=(("http://a.org", "timed out"),))
    note = stop_note("http://a.org", "timed out")
    assert told(capsys, what, note, note).count(f"note: {note}") == 1
    two = replace(failed(), start_pages=failed().start_pages * 2)
    assert f"note: {stop_note(*two.hosts[0])}" in told(capsys, two)


def test_run_that_found_nothing_says_how_to_continue_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    empty = replace(summary(SiteEnd.PAGE_LIMIT, pairs=0), segments=0, langs=(("en", 4), ("fr", 0)))
    assert told(capsys, empty)[-3:] == [
        "12 URLs are still queued",
        "nothing found: no page is in fr (4 in en)",
        "run the same command with a higher --max-pages to continue",
    ]
    assert "nothing found yet: " in "".join(told(capsys, replace(empty, ends=())))


# -- JSON ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("missing", "shown"), [(None, "null"), (0.0, "0.0"), (1 / 3, "0.3333"), (1.0, "1.0")]
)
def test_missing_share_is_in_the_json(missing: float | None, shown: str) -> None:
    assert f'"probably_missing":{shown},' in to_json(summary(missing=missing))


def test_curve_is_in_the_json_by_tenths_of_the_pairs() -> None:
    pairs = Summary(9, 9, 2, 1, 0, (), (), (), curve=Curve(9, (3, 5)))
    assert '"curve":[3,3,3,3,3,5,5,5,5,5],' in to_json(pairs)
    assert '"curve":[],' in to_json(summary())


def test_kinds_of_downloads_are_in_the_json() -> None:
    told = orjson.loads(to_json(summary()))
    assert told["downloads_by_kind"] == dict(KINDS)
    assert sum(told["downloads_by_kind"].values()) == told["downloads"]

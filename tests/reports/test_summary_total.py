"""The summaries of several runs are added up."""

from __future__ import annotations

from dataclasses import fields

from diptych.reason import SiteEnd
from diptych.reports.summary import Step, Summary
from diptych.reports.summary_total import total


def summary(number: int, threshold: float = 0.6) -> Summary:
    return Summary(
        downloads=10 * number, pages=number, pairs=2, segments=3, queued=1,
        steps=(Step("pages", number, (("timeout", number),)),), faults=(("timeout", 1),),
        hosts=((f"h{number}", "refused"),), threshold=threshold, langs=(("en", number),),
        lang_pairs=(("en", "fr", 2, number),), ends=((f"s{number}", SiteEnd.NOTHING_LEFT),),
        rows=number if number > 1 else None,
    )  # fmt: skip


def test_counts_tables_and_lists_are_added_up() -> None:
    found = total([summary(1), summary(2)])
    assert (found.downloads, found.pages, found.pairs, found.segments, found.queued) == (
        30, 3, 4, 6, 2,
    )  # fmt: skip
    assert found.steps == (Step("pages", 3, (("timeout", 3),)),)
    assert found.faults == (("timeout", 2),)
    assert found.hosts == (("h1", "refused"), ("h2", "refused"))
    assert found.langs == (("en", 3),)
    assert found.lang_pairs == (("en", "fr", 4, 3),)
    assert [site for site, _ in found.ends] == ["s1", "s2"]
    assert (found.rows, found.threshold) == (2, 0.6)
    assert total([summary(1), summary(1, 0.9)]).threshold is None


def test_no_runs_have_no_figures() -> None:
    found = total([])
    assert (found.downloads, found.pairs, found.steps, found.rows) == (0, 0, (), None)
    assert {field.name for field in fields(found)} == {field.name for field in fields(Summary)}

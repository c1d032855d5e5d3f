from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from diptych.commands.mine import to_json
from diptych.reason import SiteEnd
from diptych.reports.curve import Curve
from diptych.reports.funnel import print_funnel
from diptych.reports.summary import Step, Summary

STEPS = (Step("pages fetched", 4), Step("segments kept", 2))


def summary(
    *ends: SiteEnd, queued: int = 12, missing: float | None = None, pairs: int = 2
) -> Summary:
    named = tuple((f"s{number}.org", end) for number, end in enumerate(ends))
    return Summary(6, 4, pairs, 2, queued, STEPS, (), (), missing=missing, ends=named)


def told(capsys: pytest.CaptureFixture[str], what: Summary, *notes: str) -> list[str]:
    print_funnel(Console(highlight=False, markup=False), what, Path("run"), notes)
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("ends", "end"),
    [
        (
            (SiteEnd.UNLIKELY, SiteEnd.NOTHING_LEFT),
            ", none likely to bring a pair: a larger --patience goes on with them",
        ),
        ((SiteEnd.PAGE_LIMIT,), ": raise the limit to go on"),
        (
            (SiteEnd.TIME_LIMIT, SiteEnd.UNLIKELY),
            ": a higher limit, or a larger --patience, goes on with them",
        ),
        ((SiteEnd.ENOUGH, SiteEnd.NOTHING_LEFT), ": --share 100 goes on with them"),
        ((SiteEnd.NO_PAIRS,), ": --share 100 goes on with them"),
        (
            (SiteEnd.PAGE_LIMIT, SiteEnd.NO_PAIRS),
            ": a higher limit, or --share 100, goes on with them",
        ),
        ((SiteEnd.INTERRUPTED,), ": the same command goes on with them"),
        ((SiteEnd.HOSTS_STOPPED,), ": the same command goes on with them"),
        ((), ": the same command goes on with them"),
    ],
)
def test_how_to_go_on_depends_on_how_the_crawl_ended(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
    ends: tuple[SiteEnd, ...], end: str,
) -> None:  # fmt: skip
    monkeypatch.setenv("COLUMNS", "120")
    said = told(capsys, summary(*ends, missing=0.03))
    assert f"12 URLs are still queued{end}" in said


def test_run_that_never_came_to_an_end_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    said = told(capsys, summary())
    assert "12 URLs are still queued: the same command goes on with them" in said


def test_outlook_follows_what_is_queued(capsys: pytest.CaptureFixture[str]) -> None:
    said = told(capsys, summary(SiteEnd.PAGE_LIMIT, missing=0.03))
    queued = said.index("12 URLs are still queued: raise the limit to go on")
    assert said[queued + 1] == "about 3% of the pairs are probably not found yet"


def test_nothing_is_said_of_the_outlook_where_nothing_is_left(
    capsys: pytest.CaptureFixture[str],
) -> None:
    said = " ".join(told(capsys, summary(queued=0, missing=0.0)))
    assert "queued" not in said
    assert "not found yet" not in said


@pytest.mark.parametrize(
    ("missing", "shown"), [(None, "null"), (0.0, "0.0"), (1 / 3, "0.3333"), (1.0, "1.0")]
)
def test_share_that_is_missing_is_in_the_json(missing: float | None, shown: str) -> None:
    assert f'"probably_missing":{shown},' in to_json(summary(missing=missing))


def test_curve_is_in_the_json_by_tenths_of_the_pairs() -> None:
    pairs = Summary(9, 9, 2, 1, 0, (), (), (), curve=Curve(9, (3, 5)))
    assert '"curve":[3,3,3,3,3,5,5,5,5,5],' in to_json(pairs)
    assert '"curve":[],' in to_json(summary())

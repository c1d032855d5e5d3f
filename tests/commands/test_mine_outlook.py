"""Output of a guided crawl: its curve, and the share of pairs probably not found yet."""

from __future__ import annotations

import json
import re
from pathlib import Path

from support import zoo
from support.commands import rows, run
from support.serving import serve

from diptych.demo import GOLD

QUICK = ("--langs", "en,fr", "--delay", 0, "--allow-private", "--quiet")


def words(text: str) -> str:
    """The output as one line, independent of the width of the terminal."""
    return " ".join(text.split())


def test_crawl_that_ended_by_patience_says_how_to_continue(tmp_path: Path) -> None:
    with serve(zoo.demo_site) as server:
        command = ("mine", server.url, *QUICK, "--out", tmp_path)
        ended = run(*command, "--patience", 1)  # nothing is sure to bring a pair by one download
        whole = run(*command, "--patience", 0, "--share", 100, "--json")
    said = words(ended.stderr)
    assert "still queued; " in said
    assert "run the same command with a higher --patience to continue" in said
    assert "another pair would cost too many downloads" in said
    assert ("none is likely to lead to a pair" in said) is not ("not been found yet" in said)
    told = json.loads(whole.stdout)
    assert (told["pairs"], told["queued"]) == (len(rows(GOLD)), 0)
    assert told["probably_missing"] == 0.0
    assert told["notes"] == []


def test_crawl_that_a_limit_ended_says_what_is_probably_missing(tmp_path: Path) -> None:
    with serve(zoo.demo_site) as server:
        ended = run(
            "mine", server.url, *QUICK, "--out", tmp_path, "--max-pages", 20, "--patience", 0
        )
    said = words(ended.stderr)
    asked = words(run("status", tmp_path).stdout)
    for text in (said, asked):
        assert re.search(r"URLs are still queued; about \d+% of the pairs have probably", text)
        assert "run the same command with a higher --max-pages to continue" in text
    assert ": page limit reached" in asked
    told = json.loads(run("status", tmp_path, "--json").stdout)
    assert 0 < told["probably_missing"] < 1
    assert told["ends"] == {"page_limit": 1}
    assert f"about {told['probably_missing']:.0%} of the pairs" in said


def test_curve_is_in_the_json_and_in_the_report(tmp_path: Path) -> None:
    with serve(zoo.header_hreflang()) as server:
        result = run("mine", server.url, *QUICK, "--out", tmp_path, "--json")
    told = json.loads(result.stdout)
    assert told["pairs"] == 1
    assert len(told["curve"]) == 10
    assert 2 <= told["curve"][0] == told["curve"][-1] <= told["downloads"]
    assert told["probably_missing"] == 0.0
    report = words((tmp_path / "report.html").read_text("utf-8"))
    assert f"95% of the pairs were found after {told['curve'][-1]} downloads" in report


def test_policy_without_a_guide_makes_no_estimate(tmp_path: Path) -> None:
    with serve(zoo.demo_site) as server:
        result = run(
            "mine", server.url, *QUICK, "--out", tmp_path, "--strategy", "bfs",
            "--max-pages", 20, "--json",
        )  # fmt: skip
    told = json.loads(result.stdout)
    assert told["queued"] > 0
    assert told["probably_missing"] is None

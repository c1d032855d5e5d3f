"""The report of a job is one file that needs nothing else, and shows only text of sites as text."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser
from support.policies import CLOSED, policy_of

from diptych.reports.job_page import SiteRow, write_job_page


def test_rows_come_from_files_that_may_hold_anything() -> None:
    result = {"pages": 10, "pairs": 4, "segments": "x", "downloads": 12, "ends": ["nothing_left"]}
    row = SiteRow.of("a.org", result, "", 1)
    assert (row.pages, row.pairs, row.segments, row.cost, row.is_done) == (10, 4, 0, 3.0, True)
    assert row.end == "nothing left to fetch" or row.end
    failed = SiteRow.of("b.org", {"ends": 3, "pages": True}, "TimeoutError", 3)
    assert (failed.pages, failed.cost, failed.end, failed.is_done) == (
        0,
        None,
        "TimeoutError",
        False,
    )


def test_the_page_lists_all_sites_with_links(tmp_path: Path) -> None:
    rows = [
        SiteRow.of("a.org", {"pages": 1200, "pairs": 4, "segments": 9, "downloads": 12}, "", 1),
        SiteRow.of("b.org", {}, "OSError: <b>full</b>", 3),
    ]
    write_job_page(tmp_path, "2 sites", ("en", "fr"), "crawl:x", rows, 7)
    text = (tmp_path / "report.html").read_text("utf-8")
    tree = LexborHTMLParser(text)
    assert [node.attributes["href"] for node in tree.css("#sites a")] == [
        "runs/a.org/report.html", "logs/b.org.log",
    ]  # fmt: skip
    cells = [node.text() for node in tree.css("#sites tbody tr")[0].css("td")]
    assert cells[:7] == ["a.org", "1,200", "4", "9", "12", "3.00", "1"]
    assert "failed: OSError: <b>full</b>" in tree.css("#sites tbody tr")[1].text()
    assert "<b>full</b>" not in text
    tiles = {node.text(strip=True) for node in tree.css(".tile")}
    assert {"2sites", "1sites failed", "7segments", "1,200pages"} <= tiles
    assert not re.search(r"(?:src|href)=.(?:https?:)?//", text), "nothing is loaded from elsewhere"


def test_browsers_run_only_the_script_that_sorts_the_table(tmp_path: Path) -> None:
    write_job_page(tmp_path, "<script>1</script>", ("en", "fr"), "<script>2</script>", [], 0)
    tree = LexborHTMLParser((tmp_path / "report.html").read_text("utf-8"))
    policy = policy_of(tree)
    assert {name: policy[name] for name in policy if name != "script-src"} == CLOSED
    (script,) = tree.css("script")
    digest = b64encode(sha256(script.text().encode()).digest()).decode()
    assert policy["script-src"] == f"'sha256-{digest}'"
    assert "addEventListener" in script.text()
    assert not any(name.startswith("on") for node in tree.css("*") for name in node.attributes)

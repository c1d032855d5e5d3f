from __future__ import annotations

import ast
import re
import sqlite3
from pathlib import Path

import numpy as np
import orjson
import pytest

import diptych
from diptych.frontier.retries import NETWORK_FAULTS
from diptych.reason import DownloadKind, Reason, SiteEnd, http_status
from diptych.reports.reasons import REASONS, ends_in_words, in_words

SOURCE = Path(diptych.__file__).parent
WRITERS = {"reason.py", "reports/reasons.py"}
HOMONYMS = {
    "engine/executors.py": {"tls"},  # the scheme of a URL
    "engine/fetch.py": {"content_type"},  # of Response.truncated
    "engine/link_service.py": {"timeout"},  # a key of the TOML file
    "language/codes.py": {"same_language"},  # a function
    "learn/url/pair.py": {"same_language"},  # a feature
    "page/answer.py": {"content_type", "too_large"},  # of Response.truncated; of decompression
    "page/body.py": {"too_large"},  # a fault of a Content-Encoding
    "page/file_type.py": {"empty"},  # of a file
    "page/flags.py": {"robots"},  # a user agent
    "page/nesting.py": {"template"},  # an element
    "page/elements.py": {"template"},  # an element
    "run/encoding.py": {"moved"},  # an event
    "run/updates.py": {"not_asked"},  # the outcome of a visit
    "sources/cdx_index.py": {"other_language", "outside"},  # counts of captures
    "run/upgrade.py": {"partial"},  # a column
    "stages/filter/quality/correction.py": {"length_ratio", "partial"},  # a measure, a regression
    "run/warc.py": {"content_type"},  # of Response.truncated
    "stages/crawl/hybrid/contexts.py": {"unaligned"},  # evidence of a tie
    "stages/crawl/hybrid/value.py": {"unaligned"},  # evidence of a tie
    "stages/crawl/smart.py": {"other_language"},  # a function
    "stages/filter/quality/measures.py": {"copied", "length_ratio"},  # features
    "stages/pair/content.py": {"copied"},  # a feature
    "stages/pair/shared/similarity.py": {"copied"},  # a feature
    "stages/pair/union/candidate_table.py": {"copied"},  # a feature
    "stages/verify/shared/train.py": {"copied"},  # a feature
}
"""strings that equal a reason but have another meaning in their place"""


@pytest.mark.parametrize("reason", [*Reason, *SiteEnd, *DownloadKind])
def test_every_reason_has_a_text(reason: Reason | SiteEnd | DownloadKind) -> None:
    one, *_, several = words = [*REASONS[reason.value], REASONS[reason.value][-1]]
    assert (in_words(reason), in_words(reason, 2)) == (one, several)
    assert all(words)
    assert len(set(words)) == len(REASONS[reason.value]) <= 2


def test_network_faults_of_hosts_and_urls_have_the_same_text() -> None:
    """The note on a host that was given up has the text for its URLs, except a hint in brackets."""
    for reason, words in NETWORK_FAULTS.items():
        told = in_words(reason)
        assert words.startswith(told) or words in told


def test_every_reason_and_flag_with_a_text_is_used() -> None:
    others = (path for path in SOURCE.rglob("*.py") if path.name not in ("reason.py", "reasons.py"))
    code = "".join(path.read_text("utf-8") for path in others)
    members = {Reason[name].value for name in re.findall(r"\bReason\.([A-Z_]+)", code)}
    members |= {SiteEnd[name].value for name in re.findall(r"\bSiteEnd\.([A-Z_]+)", code)}
    flags = set(re.findall(r"""["']([\w-]+)["']""", code)) - {reason.value for reason in Reason}
    kinds = {kind.value for kind in DownloadKind}
    statuses = {name for name in REASONS if http_status(name)}
    assert REASONS.keys() - members - flags - kinds - statuses == set()


def test_many_sites_with_the_same_end_are_counted() -> None:
    many = [(f"s{number}.org", SiteEnd.NOTHING_LEFT) for number in range(1200)]
    few = [("a.org", SiteEnd.UNLIKELY), ("b.org", SiteEnd.UNLIKELY)]
    assert ends_in_words([*many, *few]) == [
        "1,200 sites: nothing left to fetch",
        "a.org: another pair would cost too many downloads",
        "b.org: another pair would cost too many downloads",
    ]
    assert len(ends_in_words(many[:5])) == 5


def test_a_reason_is_written_as_its_value() -> None:
    reason = Reason.LOW_SCORE
    db = sqlite3.connect(":memory:")
    assert f"{reason} {reason!s}" == "low_score low_score"
    assert "\t".join([reason]) == "low_score"
    assert orjson.dumps({"reason": reason}) == b'{"reason":"low_score"}'
    assert db.execute("SELECT ?1, typeof(?1)", (reason,)).fetchone() == ("low_score", "text")
    assert np.where([True, False], reason, "").tolist() == ["low_score", ""]


def test_reasons_in_code_are_members_of_the_enum() -> None:
    values = {reason.value for reason in Reason}
    quoted = {f"'{value}'" for value in values}
    literal = []
    for path in sorted(SOURCE.rglob("*.py")):
        place = path.relative_to(SOURCE).as_posix()
        if place in WRITERS:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
                continue
            is_reason = node.value in values - HOMONYMS.get(place, set())
            is_query = "WHERE" in node.value and any(word in node.value for word in quoted)
            if is_reason or is_query:
                literal.append(f"{place}:{node.lineno}: {node.value}")
    assert literal == []

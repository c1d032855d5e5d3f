"""Cause and advice for runs that found nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from diptych.errors import for_command_line
from diptych.reason import Reason, SiteEnd
from diptych.reports.nothing_found import why_nothing
from diptych.reports.start_pages import StartPage
from diptych.reports.summary import Step, Summary

RUN = Path("my run")
HOME = "https://a.org:8080/docs/x"
LATER = "the problem may be temporary: run the same command again later"


def no_page(*pages: StartPage, hosts: tuple[tuple[str, str], ...] = (), **more: object) -> Summary:
    steps = (Step("pages fetched", 0),)
    return Summary(0, 0, 0, 0, 1, steps, (), hosts, start_pages=pages, **more)  # type: ignore[arg-type]


def why(summary: Summary) -> tuple[str, str]:
    cause, advice, _ = why_nothing(summary, RUN)
    return for_command_line(cause), for_command_line(advice)


@pytest.mark.parametrize(
    ("reason", "cause", "advice"),
    [
        ("dns", "unknown host: a.org:8080", "check the address and your network connection"),
        ("connection_refused", "a.org:8080 refused the connection", "check the address and the"),
        ("connect", "cannot connect to a.org:8080", "check the address and your network"),
        ("timeout", "a.org:8080 did not respond in time", LATER),
        ("disconnected", "a.org:8080 closed the connection without a response", LATER),
        ("bad_certificate", "a.org:8080 has a bad certificate", "check the address in a browser"),
        ("tls", "cannot connect securely to a.org:8080 (TLS error)", "check the address in a"),
        ("protocol", "the response from a.org:8080 is not valid HTTP", "check the address and the"),
        ("private_address", "a.org:8080 has a private address",
         "to mine it, run the same command with --allow-private"),
        ("http_503",
         "the robots.txt file on a.org:8080 returned HTTP 503, so nothing may be fetched", LATER),
    ],
)  # fmt: skip
def test_cause_for_a_host_without_a_response(reason: str, cause: str, advice: str) -> None:
    told = why(no_page(StartPage(HOME, HOME, reason, is_robots=True)))
    assert told[0] == cause
    assert told[1].startswith(advice)
    assert told[1].count("--") == ("--" in advice)


@pytest.mark.parametrize(
    ("page", "cause", "advice"),
    [
        (StartPage(HOME, HOME + ".pdf", "not_html"), "the start page is a PDF, not HTML",
         "start at an HTML page of the site, such as https://a.org:8080/"),
        (StartPage(HOME, HOME + ".zip", "not_html"), "the start page is of type .zip, not HTML",
         "start at an HTML page of the site"),
        (StartPage(HOME, HOME, "content_type", content_type="application/pdf"),
         "the start page is a PDF, not HTML", "start at"),
        (StartPage(HOME, HOME, "content_type", content_type="application/json"),
         "the start page is of type application/json, not HTML", "start at"),
        (StartPage(HOME, HOME, "robots", forbids_all=True),
         "the robots.txt file on a.org:8080 disallows all pages",
         "Diptych obeys robots.txt: ask the owner"),
        (StartPage(HOME, HOME, "robots"),
         "the robots.txt file on a.org:8080 disallows the start page",
         "Diptych obeys robots.txt: start at a page that it allows"),
        (StartPage(HOME, "http://b.org/", "outside"),
         "the start page redirects to http://b.org/, which is outside the site",
         "mine that site instead: http://b.org/"),
        (StartPage(HOME, HOME, "http_404"), "the start page does not exist (404)", "check the"),
        (StartPage(HOME, HOME, "http_403"), "the start page returned HTTP 403", "check the"),
        (StartPage(HOME, HOME, "http_503"), "the start page returned HTTP 503", LATER),
        (StartPage(HOME, HOME, "empty"), "the start page is empty", "check the"),
        (StartPage(HOME, HOME, "trap_repeating_path"),
         "the URL of the start page has a repeating path", "start at another page of the site"),
        (StartPage(HOME, HOME, "failed:MemoryError"),
         "the start page cannot be used (could not be processed (MemoryError))", "check the"),
    ],
)  # fmt: skip
def test_cause_for_a_failed_start_page(page: StartPage, cause: str, advice: str) -> None:
    told = why(no_page(page))
    assert told[0] == cause
    assert told[1].startswith(advice)


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_is_one_line_without_raw_names(reason: Reason) -> None:
    for line in why(no_page(StartPage(HOME, HOME, reason))):
        assert "\n" not in line
        assert "_" not in line


def test_start_page_that_is_no_html_is_not_its_own_alternative() -> None:
    page = StartPage("http://a.org/", "http://a.org/", "content_type", content_type="image/png")
    assert why(no_page(page))[1] == "start at an HTML page of the site"


def test_common_cause_of_start_pages_is_reported_once() -> None:
    first = StartPage(HOME, "http://a.org/", "dns")
    assert why_nothing(no_page(first, first._replace(url="http://b.org/")), RUN).lines() == [
        "unknown host: a.org", "check the address and your network connection",
    ]  # fmt: skip


def test_different_causes_of_start_pages_are_reported_in_one_line_each() -> None:
    hosts = [StartPage(f"http://{name}.org/", f"http://{name}.org/", "dns") for name in "abcdefg"]
    assert why_nothing(no_page(*hosts), RUN).lines() == [
        "no start page could be fetched",
        *(f"  http://{name}.org/: unknown host: {name}.org" for name in "abcde"),
        "  2 other start pages failed",
        "check the address and your network connection",
    ]
    missing = StartPage(HOME, HOME, "http_404")
    assert why_nothing(no_page(hosts[0], missing), RUN).lines()[1:] == [
        "  http://a.org/: unknown host: a.org; check the address and your network connection",
        f"  {HOME}: the start page does not exist (404); check the address in a browser",
    ]


def test_start_page_that_was_never_requested() -> None:
    open_page = StartPage(HOME, HOME, "")
    stopped = no_page(open_page, hosts=(("https://a.org", "it asks clients to wait 7200 s"),))
    assert why(stopped) == ("gave up on https://a.org: it asks clients to wait 7200 s", LATER)
    again = "run the same command again to continue"
    ended = no_page(open_page, ends=(("a.org", SiteEnd.INTERRUPTED),))
    assert why(ended) == ("interrupted before the first page was fetched", again)
    assert why(no_page(open_page)) == ("no page was fetched", again)
    assert why(no_page(unanswered=(("not_archived", 2),)))[0] == "2 not in the archives"


# -- pages, but no segment -----------------------------------------------------------------------


def pages(*counts: int, lost: tuple[tuple[str, int], ...] = (), **more: object) -> Summary:
    names = ("pages fetched", "in the requested languages", "page pairs found",
             "page pairs verified", "segments aligned", "segments kept")  # fmt: skip
    steps = tuple(
        Step(name, count, lost if count == 0 else ())
        for name, count in zip(names, counts, strict=True)
    )
    return Summary(9, counts[0], counts[3], counts[5], 0, steps, (), (), **more)  # type: ignore[arg-type]


EXPLAIN = "diptych explain 'my run'"


@pytest.mark.parametrize(
    ("summary", "cause", "advice"),
    [
        (pages(3, 3, 0, 0, 0, 0, langs=(("en", 3), ("fr", 0))), "no page is in fr (3 in en)",
         "check --langs, or start at a page in fr"),
        (pages(3, 3, 0, 0, 0, 0, lost=(("no_partner", 3),)),
         "no page pairs found (3 without a counterpart)",
         f"to see why two pages are not a pair, run: {EXPLAIN} URL URL"),
        (pages(3, 3, 1, 0, 0, 0, lost=(("not_parallel", 1),)),
         "no page pairs verified (1 not a translation)",
         f"to see the rejected pairs, run: {EXPLAIN}"),
        (pages(3, 3, 1, 1, 5, 0, lost=(("low_score", 5),)),
         "no segments kept (5 below the threshold)",
         "to keep more segments, run: diptych export 'my run' --min-score 0.3 --format tsv"),
        (pages(3, 3, 1, 1, 5, 0, lost=(("identical", 5),)),
         "no segments kept (5 identical on both sides)",
         "to see the pages, open my run/report.html"),
    ],
)  # fmt: skip
def test_cause_is_the_first_empty_step(summary: Summary, cause: str, advice: str) -> None:
    assert why(summary) == (cause, advice)


def test_pages_in_no_requested_language() -> None:
    none = pages(3, 0, 0, 0, 0, 0, lost=(("other_language", 3),), langs=(("en", 0), ("fr", 0)))
    assert why(none)[0] == "no page is in en or fr (3 in other languages)"

"""Explain why a run found nothing, and advise the user, in one line each.

Options are named with `errors.option_name`, so that the caller can decide how they are spelled.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from diptych.errors import option_name
from diptych.frontier.hosts import stop_note
from diptych.reason import Reason, SiteEnd, http_status
from diptych.reports.closing import AGAIN, closing_of, export_command
from diptych.reports.reasons import MAX_NAMED, counted, in_words, listed
from diptych.reports.start_pages import StartPage
from diptych.reports.summary import Summary
from diptych.run.segments import LOW_SCORES
from diptych.text.urls import extension, origin_of

CHECK = "check the address and your network connection"
LATER = "the problem may be temporary: run the same command again later"
BROWSER = "check the address in a browser"
_LOW_SCORE = 0.3  # an example of a threshold that keeps many more segments


class Nothing(NamedTuple):
    """The reason why a run found nothing, and advice for the user."""

    cause: str
    advice: str
    pages: tuple[str, ...] = ()
    """lines on start pages, if they failed for different reasons"""

    def lines(self) -> list[str]:
        """The cause, the start pages, and the advice, one line each."""
        return [self.cause, *self.pages, *([self.advice] if self.advice else [])]


def why_nothing(summary: Summary, folder: Path) -> Nothing:
    """The reason why the corpus of a run is empty, and advice for the user."""
    if not summary.pages:
        return _no_page(summary)
    cause, advice, _ = _no_segment(summary, folder)
    *_, last = ["", *closing_of(summary)]
    return Nothing(cause, last or advice)


# -- no page -------------------------------------------------------------------------------------


def _no_page(summary: Summary) -> Nothing:
    known = {page.url: _of_start_page(page) for page in summary.start_pages if page.reason}
    if not known:
        return _not_begun(summary)
    first, *others = dict.fromkeys(known.values())
    if not others:
        return first
    common = first.advice if {each.advice for each in others} == {first.advice} else ""
    lines = [
        f"  {url}: {cause}" + ("" if common else f"; {advice}")
        for url, (cause, advice, _) in known.items()
    ]
    more = len(lines) - MAX_NAMED
    rest = [f"  {counted(more, 'other start page')} failed"] if more > 0 else []
    return Nothing("no start page could be fetched", common, (*lines[:MAX_NAMED], *rest))


def _not_begun(summary: Summary) -> Nothing:
    """Explain why a run has no pages, and what to do, if no start page was even requested."""
    if summary.hosts:
        return Nothing(stop_note(*summary.hosts[0]), LATER)
    if any(end is SiteEnd.INTERRUPTED for _, end in summary.ends):
        return Nothing("interrupted before the first page was fetched", AGAIN)
    if summary.unanswered or summary.skipped:
        return Nothing(listed([*summary.unanswered, *summary.skipped]), BROWSER)
    return Nothing("no page was fetched", AGAIN)


def _of_start_page(page: StartPage) -> Nothing:
    host = urlsplit(page.end).netloc
    if page.is_robots and (status := http_status(page.reason)):
        return Nothing(
            f"the robots.txt file on {host} returned HTTP {status}, so nothing may be fetched",
            LATER,
        )
    if page.reason in _BY_HOST:
        words, advice = _BY_HOST[page.reason]
        return Nothing(words.format(host=host), advice)
    return _BY_PAGE.get(page.reason, _other)(page)


_BY_HOST: Mapping[str, tuple[str, str]] = {
    Reason.DNS: ("unknown host: {host}", CHECK),
    Reason.CONNECTION_REFUSED: (
        "{host} refused the connection",
        "check the address and the port, or try again later",
    ),
    Reason.CONNECT: ("cannot connect to {host}", CHECK),
    Reason.TIMEOUT: ("{host} did not respond in time", LATER),
    Reason.DISCONNECTED: ("{host} closed the connection without a response", LATER),
    Reason.BAD_CERTIFICATE: (
        "{host} has a bad certificate",
        "check the address in a browser; some sites also work with http:// instead of https://",
    ),
    Reason.TLS: (
        "cannot connect securely to {host} (TLS error)",
        "check the address in a browser; some sites also work with http:// instead of https://",
    ),
    Reason.PROTOCOL: (
        "the response from {host} is not valid HTTP",
        "check the address and the port: a web server must be listening there",
    ),
    Reason.PRIVATE_ADDRESS: (
        "{host} has a private address",
        f"to mine it, run the same command with {option_name('allow_private')}",
    ),
}
"""causes that are the same for all pages of a host"""


def _forbidden(page: StartPage) -> Nothing:
    host = urlsplit(page.end).netloc
    obeys = "Diptych obeys robots.txt"
    if page.forbids_all:
        ask = "ask the owner of the site for permission"
        return Nothing(f"the robots.txt file on {host} disallows all pages", f"{obeys}: {ask}")
    return Nothing(
        f"the robots.txt file on {host} disallows the start page",
        f"{obeys}: start at a page that it allows",
    )


def _not_html(page: StartPage) -> Nothing:
    name = page.content_type.rpartition("/")[2] or extension(page.end)
    kind = "a PDF" if name.lower() == "pdf" else f"of type {page.content_type or f'.{name}'}"
    home = f"{origin_of(page.end)}/"
    example = "" if home in (page.url, page.end) else f", such as {home}"
    return Nothing(
        f"the start page is {kind}, not HTML", f"start at an HTML page of the site{example}"
    )


def _outside(page: StartPage) -> Nothing:
    return Nothing(
        f"the start page redirects to {page.end}, which is outside the site",
        f"mine that site instead: {page.end}",
    )


def _other(page: StartPage) -> Nothing:
    """Explain why a start page cannot be used, and what to do about it.

    This is for reasons that have no function of their own, such as HTTP errors.
    """
    status = http_status(page.reason)
    if page.reason in _TRAPS:
        return Nothing(_TRAPS[page.reason], "start at another page of the site")
    if status is None:
        words = _PROBLEMS.get(page.reason, f"cannot be used ({in_words(page.reason)})")
        return Nothing(f"the start page {words}", BROWSER)
    if status in (404, 410):
        return Nothing(f"the start page does not exist ({status})", BROWSER)
    is_busy = status >= 500 or status == 429
    return Nothing(f"the start page returned HTTP {status}", LATER if is_busy else BROWSER)


_TRAPS: Mapping[str, str] = {
    Reason.TRAP_CALENDAR: "the start page is part of an endless calendar",
    Reason.TRAP_DATES: "the start page is part of an endless series of dates",
    Reason.TRAP_SORT_ORDER: "the start page is a re-sorted version of another list",
    Reason.TRAP_REPEATING_PATH: "the URL of the start page has a repeating path",
    Reason.TRAP_DEEP_PATH: "the URL of the start page has a path that is too deep",
    Reason.TRAP_PARAMETERS: "the URL of the start page has too many parameters",
}
_PROBLEMS: Mapping[str, str] = {
    Reason.NOT_ARCHIVED: "is not in the archives",
    Reason.BAD_REDIRECT: "redirects to an invalid URL",
    Reason.TOO_MANY_REDIRECTS: "redirects too many times",
    Reason.TOO_LARGE: "is too large",
    Reason.CUT_OFF: "is incomplete",
    Reason.EMPTY: "is empty",
    Reason.UNREADABLE: "took too long to read",
}
_BY_PAGE: Mapping[str, Callable[[StartPage], Nothing]] = {
    Reason.ROBOTS: _forbidden,
    Reason.NOT_HTML: _not_html,
    Reason.CONTENT_TYPE: _not_html,
    Reason.OUTSIDE: _outside,
}


# -- pages, but no segment -----------------------------------------------------------------------


def _no_segment(summary: Summary, folder: Path) -> Nothing:
    """Explain why a run with pages has no segments, and what to do about it.

    The explanation is based on the first step with no results.
    """
    if empty := [lang for lang, count in summary.langs if not count]:
        langs = option_name("langs")
        return Nothing(
            f"no page is in {' or '.join(empty)} ({_by_language(summary)})",
            f"check {langs}, or start at a page in {empty[0]}",
        )
    explain = f"diptych explain {shlex.quote(str(folder))}"
    advice = {
        "page pairs found": f"to see why two pages are not a pair, run: {explain} URL URL",
        "page pairs verified": f"to see the rejected pairs, run: {explain}",
    }
    for step in summary.steps[1:]:
        if not step.count:
            words = f" ({step.in_words()})" if step.lost else ""
            return Nothing(f"no {step.name}{words}", advice.get(step.name, _more(summary, folder)))
    return Nothing("no segments kept", _more(summary, folder))


def _more(summary: Summary, folder: Path) -> str:
    """Advice for a run in which segments were aligned but none was kept."""
    if any(reason in LOW_SCORES for reason, _ in summary.steps[-1].lost):
        return f"to keep more segments, run: {export_command(folder, _LOW_SCORE)}"
    return f"to see the pages, open {folder / 'report.html'}"


def _by_language(summary: Summary) -> str:
    found = [f"{count:,} in {lang}" for lang, count in summary.langs if count]
    return ", ".join(found) or summary.steps[1].in_words() or "none in the requested languages"

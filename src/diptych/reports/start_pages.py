"""The start pages of a run that fetched no pages, and the reasons why they failed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from diptych.frontier.queue import State
from diptych.page.robots import Robots
from diptych.run.facts import Facts
from diptych.run.store import Store
from diptych.text.urls import origin_of
from diptych.types import Url

MAX_START_PAGES = 100  # start pages that are examined
_MAX_REDIRECTS = 20


class StartPage(NamedTuple):
    """A start URL that did not lead to a page, and the URL at which its redirects ended."""

    url: str
    end: str
    reason: str
    """reason why there is no page; empty if the URL was not requested yet"""
    is_robots: bool = False
    """True if robots.txt could not be fetched, so that no page may be fetched"""
    forbids_all: bool = False
    """True if robots.txt forbids all pages of the host"""
    content_type: str = ""
    """content type that the server declared"""


def start_pages(store: Store, seeds: Sequence[str]) -> tuple[StartPage, ...]:
    """The start pages of a run, each with the reason why it could not be used."""
    facts = Facts(store)
    return tuple(_start_page(store, facts, Url(url)) for url in seeds[:MAX_START_PAGES])


def _start_page(store: Store, facts: Facts, start: Url) -> StartPage:
    url = start
    for _ in range(_MAX_REDIRECTS):
        known = facts.url(url)
        if known is None or not known.redirect or known.redirect == "?":
            break
        url = Url(known.redirect)
    robots = facts.url(Url(origin_of(url) + "/robots.txt"))
    if robots is not None and robots.state == State.FAILED:
        return StartPage(start, url, robots.reason, is_robots=True)
    if known is None or known.state not in (State.FAILED, State.REFUSED, State.OUTSIDE):
        return StartPage(start, url, "")
    answer = store.answer(url)
    content_type = answer.header("Content-Type").partition(";")[0].strip() if answer else ""
    forbids_all = Robots(facts.robots(origin_of(url)), "read").forbids_all()
    return StartPage(start, url, known.reason, forbids_all=forbids_all, content_type=content_type)

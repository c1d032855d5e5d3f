"""Reasons why start pages have no page, read from the store of a crawl."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.driving import HOME, Drive, failure, page, redirect, robots, status, url, web

from diptych.reports.start_pages import StartPage, start_pages
from diptych.run.store import Store


def became(folder: Path, *answers: object, seed: str = f"{HOME}/") -> StartPage:
    Drive(folder, web(*answers), seeds=[seed]).run()  # type: ignore[arg-type]
    with Store(folder, write=False) as store:
        (found,) = start_pages(store, [seed])
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


START = url("/")


def test_page_that_is_missing(folder: Path) -> None:
    assert became(folder, status("/", 404)) == StartPage(START, START, "http_404")


def test_host_whose_robots_txt_cannot_be_fetched(folder: Path) -> None:
    found = became(folder, failure("/robots.txt", "dns"))
    assert found == StartPage(START, START, "dns", is_robots=True)


def test_robots_txt_that_forbids_all_or_the_start_page(folder: Path) -> None:
    all_of_it = became(folder / "1", robots("User-agent: *\nDisallow: /"))
    assert (all_of_it.reason, all_of_it.forbids_all) == ("robots", True)
    some = became(folder / "2", robots("User-agent: *\nDisallow: /\nAllow: /open/"))
    assert (some.reason, some.forbids_all) == ("robots", False)


def test_redirects_are_followed_to_their_end(folder: Path) -> None:
    found = became(folder, redirect("/", "/a"), redirect("/a", "/b"), status("/b", 410))
    assert found == StartPage(START, url("/b"), "http_410")
    outside = became(folder / "2", redirect("/", "https://elsewhere.com/"))
    assert (outside.end, outside.reason) == ("https://elsewhere.com/", "outside")


def test_start_page_with_the_extension_of_another_file_type(folder: Path) -> None:
    pdf = url("/x.pdf")
    assert became(folder, seed=pdf) == StartPage(pdf, pdf, "not_html")


def test_page_that_was_fetched_has_no_reason(folder: Path) -> None:
    assert became(folder, page("/")).reason == ""


def test_url_that_the_run_does_not_know_has_no_reason(folder: Path) -> None:
    became(folder, page("/"))
    with Store(folder, write=False) as store:
        assert start_pages(store, ["http://other.org/"])[0].reason == ""

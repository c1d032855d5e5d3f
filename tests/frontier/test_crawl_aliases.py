"""Aliases in a crawl: URLs that are skipped, and URLs that are fetched after all."""

from __future__ import annotations

from pathlib import Path

from support.driving import HOME, Drive, page, redirect, status, url, web

from diptych.frontier.aliases import TESTED
from diptych.text.urls import url_key


def paths(template: str, count: int) -> list[str]:
    """Paths that are not fetched as a test."""
    made = (template.format(number) for number in range(9 * count))
    return [path for path in made if url_key(HOME + path) % TESTED][:count]


def test_links_that_only_lack_a_slash_are_fetched_with_it(tmp_path: Path) -> None:
    names = paths("/s/x{}", 20)
    site = web(
        page("/", *names),
        *(redirect(name, name + "/") for name in names),
        *(page(name + "/", text=name) for name in names),
    )
    asked = [each for each, _ in Drive(tmp_path, site).run().log]
    assert len([name for name in names if url(name) in asked]) <= 5
    assert all(url(name + "/") in asked for name in names)


def test_page_is_fetched_where_the_rule_leads_to_none(tmp_path: Path) -> None:
    names = paths("/s/x{}", 20)
    last = names[-1]
    site = web(
        page("/", *names),
        *(redirect(name, name + "/") for name in names[:-1]),
        *(page(name + "/", text=name) for name in names[:-1]),
        page(last),
        status(last + "/", 404),
    )
    asked = [each for each, _ in Drive(tmp_path, site).run().log]
    assert url(last) in asked


def test_aliases_of_a_rule_that_is_demoted_are_fetched(tmp_path: Path) -> None:
    names = paths("/s/x{}", 12)
    itself = next(
        path for path in map("/s/t{}".format, range(999)) if not url_key(HOME + path) % TESTED
    )
    site = web(
        page("/", *names, itself),
        *(redirect(name, name + "/") for name in names[:3]),
        *(page(name + "/", text=name) for name in names),
        *(page(name, text=f"other {name}") for name in names[3:]),
        page(itself),
    )
    asked = [each for each, _ in Drive(tmp_path, site).run().log]
    assert asked.index(url(names[3] + "/")) < len(asked)
    assert all(url(name) in asked for name in names)


def test_url_whose_alias_is_out_of_scope_is_fetched(tmp_path: Path) -> None:
    names = paths("/s/x{}", 9)
    site = web(
        page("/", *names), *(redirect(name, f"http://www.example.org{name}") for name in names)
    )
    asked = [each for each, _ in Drive(tmp_path, site, scope="host").run().log]
    assert all(url(name) in asked for name in names)

from __future__ import annotations

import pytest
from support.timing import processor_seconds

from diptych.page.read import read_page
from diptych.page.scripts import MAX_TEXT, SCRIPTED, is_made_by_scripts
from diptych.types import Response, Url

SCRIPT = '<script src="/static/main.js"></script>'
EMPTY = [
    f'<div id="root"></div>{SCRIPT}',
    f"<div id=app>Loading...</div>{SCRIPT}",
    f"<DIV class='x' ID='__next'><div class=spinner></div></DIV>{SCRIPT.upper()}",
    f'<div id="___gatsby"></div>{SCRIPT}',
    f"<app-root></app-root>{SCRIPT}",
    f'<my-app class="x"> </my-app>{SCRIPT}',
    f"<noscript>You need to enable JavaScript to run this app.</noscript>{SCRIPT}",
    f"<noscript><img src=a></noscript><noscript>Veuillez activer JavaScript</noscript>{SCRIPT}",
]
OTHER = [
    '<div id="root"></div>',  # nothing makes its text
    f"<p>Moved.</p>{SCRIPT}",
    f'<div id="apple"></div>{SCRIPT}',
    f"<noscript><img src=count></noscript><p>JavaScript</p>{SCRIPT}",
    f"<noscript>A picture</noscript>{SCRIPT}",
]


@pytest.mark.parametrize("body", EMPTY)
def test_page_without_text_that_scripts_make_is_recognised(body: str) -> None:
    assert is_made_by_scripts(f"<html><body>{body}</body></html>", "Loading...")


@pytest.mark.parametrize("body", OTHER)
def test_other_pages_with_little_text_are_not_scripted(body: str) -> None:
    assert not is_made_by_scripts(f"<html><body>{body}</body></html>", "")


def test_page_with_text_is_never_scripted() -> None:
    assert is_made_by_scripts(EMPTY[0], "x" * (MAX_TEXT - 1))
    assert not is_made_by_scripts(EMPTY[0], "x" * MAX_TEXT)


@pytest.mark.parametrize("text", ["", "The lamp stands by the door. " * 20])
def test_page_that_is_read_has_the_flag(text: str) -> None:
    body = f"<meta name=robots content=noai,noindex><body>{EMPTY[0]}<p>{text}</p>".encode()
    response = Response(Url("http://a.org/"), 200, (("Content-Type", "text/html"),), body, 0.0)
    others = ("noai", "noindex")
    assert read_page(response).record.flags == (others if text else (*others, SCRIPTED))


@pytest.mark.parametrize("piece", ["<noscript>", "<div id", "<a-a", "<script"])
def test_hostile_markup_takes_no_time(piece: str) -> None:
    markup = "<script>" + piece * 100_000
    with processor_seconds():
        is_made_by_scripts(markup, "")

from __future__ import annotations

import inspect
import threading
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from support.linked_sites import Web, linked_sites

import diptych
from diptych.api.discover import DiscoverOptions

QUICK: dict[str, Any] = {"langs": ["en", "es"], "delay": 0, "allow_private": True}


@pytest.fixture
def web(tmp_path: Path) -> Iterator[Web]:
    with linked_sites(tmp_path) as found:
        yield found


def test_options_are_declared_once() -> None:
    parameters = inspect.signature(diptych.discover).parameters
    options = {field.name: field.default for field in fields(DiscoverOptions)}
    assert set(parameters) == {*options, "progress", "cancel"} - {"test"}
    for name in set(parameters) & set(options) - {"langs"}:
        assert parameters[name].default == options[name], name


def test_sites_are_found_and_the_same_call_continues(web: Web, tmp_path: Path) -> None:
    given = {"backlinks": web.source, "out": tmp_path / "run", **QUICK}
    found = list(diptych.discover(web.good[0].url, **given))
    assert {site.url for site in found} == {server.url for server in web.good}
    assert all(site.accept and site.pages.keys() == {"en", "es"} for site in found)
    asked = web.asked()
    again = list(diptych.discover([web.good[0].url], **given))
    assert [site.url for site in again] == [site.url for site in found]
    assert web.asked() == asked, "nothing is fetched twice"


def test_leaving_the_loop_ends_the_search(web: Web, tmp_path: Path) -> None:
    before = set(threading.enumerate())
    sites = diptych.discover(web.good[0].url, backlinks=web.source, out=tmp_path / "run", **QUICK)
    assert next(sites).accept
    sites.close()
    assert not [each for each in set(threading.enumerate()) - before if "diptych" in each.name]


def test_another_thread_can_cancel(web: Web, tmp_path: Path) -> None:
    cancel = threading.Event()
    sites = diptych.discover(
        web.good[0].url, backlinks=web.source, out=tmp_path / "run", cancel=cancel, **QUICK
    )
    assert next(sites).accept
    for server in (*web.good, *web.plain):
        server.before = lambda request: cancel.set()
    with pytest.raises(diptych.StoppedError):
        list(sites)


def test_wrong_options_are_errors_of_the_call_itself() -> None:
    for options in ({"max_sites": 0}, {"langs": "en"}, {"langid": "/nowhere"}):
        with pytest.raises(diptych.ConfigError):
            diptych.discover("https://example.org", **{"langs": "en,es", **options})


def test_other_mistakes_are_raised_by_the_loop(tmp_path: Path) -> None:
    for options, said in [
        ({}, "backlinks"),
        ({"policy": "focc"}, "topic"),
        ({"backlinks": "nowhere"}, "nowhere"),
        ({"max_sites": 0}, "max_sites must be at least 1"),
    ]:
        with pytest.raises(diptych.DiptychError, match=said) as raised:
            list(diptych.discover("https://example.org", langs="en,es", **options))
        assert "--backlinks" not in str(raised.value)
    with pytest.raises(diptych.ConfigError, match="cc_index"):
        list(diptych.discover(langs="en,es", out=tmp_path / "run"))

from __future__ import annotations

import inspect
import threading
from dataclasses import fields
from pathlib import Path

import pytest
from support.linked_sites import BILINGUAL, ENGLISH
from support.serving import reserved, serve, url_of

import diptych
from diptych.api.detect import DetectOptions

QUICK = {"langs": ["en", "es"], "delay": 0, "allow_private": True}


def test_options_are_declared_once() -> None:
    parameters = inspect.signature(diptych.detect).parameters
    options = {field.name: field.default for field in fields(DetectOptions)}
    assert set(parameters) == {*options, "site", "progress", "cancel"} - {"sites"}
    for name in set(parameters) & set(options) - {"langs"}:
        assert parameters[name].default == options[name], name


def test_bilingual_site_is_accepted() -> None:
    with serve(BILINGUAL) as server:
        found = diptych.detect(server.url, **QUICK)
    assert found.accept
    assert found.pages == {"en": server.url, "es": server.url + "es/"}
    assert (found.url, found.downloads, found.reason) == (server.url, 2, "")
    assert 0.5 < found.score <= 1.0


def test_site_in_one_language_is_not_accepted() -> None:
    with serve(ENGLISH) as server:
        found = diptych.detect(server.url, **QUICK)
    assert not found.accept
    assert found.reason
    assert found.pages == {"en": server.url}


def test_site_without_a_response_has_a_reason() -> None:
    with reserved() as place:
        found = diptych.detect(url_of(place), **QUICK)
    assert (found.accept, found.downloads, found.site) == (False, 0, "")
    assert found.reason


def test_fetched_pages_are_kept_in_a_folder(tmp_path: Path) -> None:
    seen: list[diptych.Progress] = []
    with serve(BILINGUAL) as server:
        for _ in range(2):
            found = diptych.detect(server.url, out=tmp_path / "run", progress=seen.append, **QUICK)
            assert found.accept
        assert server.paths.count("/es/") == 1, "the second call reads the folder"
    assert seen[0].stage == "searching"
    with pytest.raises(diptych.ConfigError, match="is a search for sites"):
        diptych.open(tmp_path / "run")


def test_another_thread_can_cancel() -> None:
    cancel = threading.Event()
    with serve(BILINGUAL) as server:
        server.before = lambda request: cancel.set()
        with pytest.raises(diptych.StoppedError):
            diptych.detect(server.url, cancel=cancel, **QUICK)


def test_reasons_are_in_words() -> None:
    with serve(ENGLISH) as server:
        assert "_" not in diptych.detect(server.url, **QUICK).reason


def test_mistakes(tmp_path: Path) -> None:
    sites = tmp_path / "two.txt"
    sites.write_text("https://a.org\nhttps://b.org\n")
    for site in (str(sites), ["https://a.org"], ""):
        with pytest.raises(diptych.ConfigError):
            diptych.detect(site, langs="en,fr")
    with pytest.raises(diptych.ConfigError, match="cannot read /nowhere"):
        diptych.detect("https://example.org", langs="en,fr", langid="/nowhere")
    with pytest.raises(diptych.ConfigError, match="threshold must be at most 1"):
        diptych.detect("https://example.org", langs="en,fr", threshold=2)
    with pytest.raises(diptych.ConfigError, match="predictor"):
        diptych.detect("https://example.org", langs="en,fr", method="luck")

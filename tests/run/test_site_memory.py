"""Results about a site are kept while its pages stay the same, and no longer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from run.test_site_view import Builder, url

from diptych.run import site_memory
from diptych.run.site_memory import forget_results, kept_results
from diptych.run.site_view import StoreView
from diptych.run.store import Store
from diptych.types import Link, Site, Sketch


@pytest.fixture
def build(tmp_path: Path) -> Iterator[Builder]:
    with Store(tmp_path) as store:
        yield Builder(store).page("/a").page("/b", lang="fr")


def test_results_are_kept_while_only_pairs_change(build: Builder) -> None:
    build.view().memory["name"] = 1
    build.store.replace_pairs(build.id, [])
    assert build.view().memory == {"name": 1}


CHANGES: dict[str, Callable[[Builder], object]] = {
    "new page": lambda build: build.page("/c"),
    "page with other text": lambda build: build.page("/a", "other"),
    "canonical page": lambda build: build.page("/a", canonical="/b"),
    "redirect": lambda build: build.redirect("/old", "/a"),
    "sketch": lambda build: build.store.save_sketch(url("/a"), Sketch("abc", 3, {"word": 2})),
    "sitemap": lambda build: build.store.announce(
        build.id, [(url("/a"), Link(url("/b"), "alternate", "fr"))]
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_changed_pages_have_no_results(build: Builder, change: str) -> None:
    build.view().memory["name"] = 1
    CHANGES[change](build)
    assert build.view().memory == {}


def test_other_languages_seeds_and_sites_have_results_of_their_own(build: Builder) -> None:
    build.view().memory["name"] = 1
    store, id = build.store, build.id
    assert StoreView(store, Site("example.org", ()), id, ("en", "fr")).memory == {}
    assert StoreView(store, build.view().site, id, ("en", "de")).memory == {}
    assert kept_results(store, store.site_id("b.net")) == {}
    assert build.view().memory == {"name": 1}


def test_results_of_too_many_pages_are_not_kept(
    build: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site_memory, "MAX_PAGES", 1)
    kept_results(build.store, build.id)["name"] = 1
    assert kept_results(build.store, build.id) == {}


def test_results_of_another_run_are_forgotten(build: Builder, tmp_path: Path) -> None:
    kept_results(build.store, build.id)["name"] = 1
    other = tmp_path / "other"
    other.mkdir()
    with Store(other) as store:
        assert kept_results(store, Builder(store).page("/a").page("/b", lang="fr").id) == {}
    assert kept_results(build.store, build.id) == {}


def test_results_are_forgotten_when_pairing_is_over(build: Builder) -> None:
    build.view().memory["name"] = 1
    forget_results()
    assert build.view().memory == {}

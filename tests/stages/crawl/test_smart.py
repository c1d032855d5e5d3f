from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from support.fakes import FakeSite, at, make_page

from diptych.learn.url import language as url_lang
from diptych.learn.url import pair as url_pair
from diptych.stages.crawl import smart
from diptych.stages.crawl.bfs_langs import BfsLangs
from diptych.stages.crawl.smart import Smart, other_language
from diptych.types import Link, Page, PageRecord

LABELS = ("und", "de", "en", "fr")
KINDS = ("a", "area", "frame", "alternate", "refresh", "canonical", "sitemap")


class Languages:
    """Tells a language by the first folder; half of the probability is unknown."""

    labels = LABELS

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def probabilities(self, urls: Sequence[str]) -> NDArray[np.float32]:
        self.asked.append(list(urls))
        rows = np.full((len(urls), len(LABELS)), 0.1, np.float32)
        for row, url in zip(rows, urls, strict=True):
            name = url.split("/")[3]
            row[LABELS.index(name) if name in LABELS else 0] = 0.7
        return rows


class Pairs:
    """Holds two URLs parallel if they end alike."""

    def __init__(self) -> None:
        self.asked: list[tuple[list[str], list[str]]] = []

    def probabilities(self, lefts: Sequence[str], rights: Sequence[str]) -> NDArray[np.float32]:
        self.asked.append((list(lefts), list(rights)))
        ends = [left.rpartition("/")[2] for left in lefts]
        same = [right.endswith(f"/{end}") for end, right in zip(ends, rights, strict=True)]
        return np.where(same, 0.5, 0.0).astype(np.float32)


Models = tuple[Languages, Pairs]


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> Models:
    languages, pairs = Languages(), Pairs()
    remembered = smart._CachedLanguageModel(languages)
    monkeypatch.setattr(smart, "_models", lambda lang, pair: (remembered, pairs))
    return languages, pairs


def page(path: str, lang: str, *targets: str) -> Page:
    return make_page(path, lang, links=[Link(at(target)) for target in targets])


def priorities(read: Page, *langs: str) -> dict[str, float]:
    return {link.url: priority for link, priority, _ in Smart().rank(read, FakeSite(*langs))}


def test_priority_is_the_product_of_both_probabilities(models: Models) -> None:
    found = priorities(page("/en/a", "en", "/fr/a", "/en/b/a", "/de/a"), "en", "fr")
    assert found == pytest.approx(
        {at("/fr/a"): 0.7 * 0.5, at("/en/b/a"): 0.1 * 0.5, at("/de/a"): 0.1 * 0.5}
    )


def test_the_other_language_is_the_one_the_page_is_not_in(models: Models) -> None:
    for lang in ("fr", "fr-CA", "fra"):
        found = priorities(page("/fr/a", lang, "/en/a", "/fr/b/a"), "en", "fr")
        assert found == pytest.approx({at("/en/a"): 0.35, at("/fr/b/a"): 0.05})


def test_with_more_languages_any_of_the_others_counts(models: Models) -> None:
    found = priorities(page("/en/a", "en", "/fr/a", "/en/b/a"), "en", "fr", "de")
    assert found == pytest.approx({at("/fr/a"): 0.8 * 0.5, at("/en/b/a"): 0.2 * 0.5})


def test_page_in_a_third_language_is_discarded_before_models_are_asked(models: Models) -> None:
    assert priorities(page("/de/a", "de", "/fr/a"), "en", "fr") == {}
    assert (models[0].asked, models[1].asked) == ([], [])


def test_page_without_text_is_followed_to_the_likeliest_language(models: Models) -> None:
    found = priorities(page("/a", "", "/fr/a", "/en/a", "/de/a"), "en", "fr")
    assert found == pytest.approx({at("/fr/a"): 0.35, at("/en/a"): 0.35, at("/de/a"): 0.05})


def test_links_with_probability_zero_are_queued_too(models: Models) -> None:
    found = priorities(page("/en/a", "en", "/fr/b"), "en", "fr")
    assert 0.0 < found[at("/fr/b")] < 1e-9


def test_links_are_those_that_breadth_first_follows(models: Models) -> None:
    read = make_page("/en/a", "en", links=[Link(at(f"/{kind}"), kind) for kind in KINDS])
    site = FakeSite("en", "fr")
    ranked = [each.link for each in Smart().rank(read, site)]
    assert ranked == [each.link for each in BfsLangs().rank(read, site)]


def test_models_are_asked_once_for_a_page_and_once_for_a_language(models: Models) -> None:
    languages, pairs = models
    priorities(page("/en/a", "en", "/fr/a", "/fr/b", "/fr/a"), "en", "fr")
    priorities(page("/en/b", "en", "/fr/a", "/fr/b", "/fr/c"), "en", "fr")
    assert languages.asked == [[at("/fr/a"), at("/fr/b")], [at("/fr/c")]]
    assert [len(lefts) for lefts, _ in pairs.asked] == [2, 3]
    assert [set(lefts) for lefts, _ in pairs.asked] == [{at("/en/a")}, {at("/en/b")}]


def test_cache_of_languages_is_bounded(models: Models, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smart, "_MAX_CACHED", 1000)
    remembered = smart._CachedLanguageModel(models[0])
    monkeypatch.setattr(smart, "_models", lambda lang, pair: (remembered, models[1]))
    one, other = page("/en/a", "en", "/fr/a", "/fr/b"), page("/en/b", "en", "/fr/a", "/fr/c")
    first = priorities(one, "en", "fr")
    priorities(other, "en", "fr")
    assert priorities(one, "en", "fr") == first
    assert models[0].asked[1] == [at("/fr/a"), at("/fr/c")]


def test_language_unknown_to_the_model_is_one_of_the_unknown() -> None:
    rows = np.array([[0.6, 0.1, 0.2, 0.1]], np.float32)
    assert other_language(rows, LABELS, "en", ("en", "tet")).tolist() == rows[:, 0].tolist()
    # Two of them are not twice as likely.
    assert other_language(rows, LABELS, "en", ("en", "tet", "gsw")).tolist() == rows[:, 0].tolist()


def test_crawl_ends_with_its_links() -> None:
    site = FakeSite("en", "fr").page("/", "en").link("/", "/a")
    assert list(Smart().refill(site)) == []


# -- with the models that come with the package --------------------------------------------------


def test_counterpart_comes_before_everything_else() -> None:
    others = ("/en/about.html", "/fr/contact.html", "/de/news.html", "/en/", "/fr/", "/logo")
    found = priorities(page("/en/news.html", "en", *others, "/fr/news.html"), "en", "fr")
    assert max(found, key=lambda url: found[url]) == at("/fr/news.html")
    assert all(0.0 < priority <= 1.0 for priority in found.values())


def test_cache_changes_no_result() -> None:
    paths = ["/fr/a.html", "/de/b.html", "/c?lang=fr", "/titre-de-la-page/", "/en/a.html"]
    urls = [at(path) for path in paths]
    left = [at("/en/a.html")] * len(urls)
    languages, pairs = smart._models("", "")
    for _ in range(2):
        assert np.array_equal(languages.probabilities(urls), url_lang.load().probabilities(urls))
        fresh = url_pair.load().probabilities(left, urls)
        assert np.array_equal(pairs.probabilities(left, urls), fresh)


def test_sitemap_of_many_urls_is_ranked_by_language() -> None:
    links = tuple(Link(at(path), "sitemap") for path in ("/fr/a.html", "/de/a.html"))
    sitemap = Page(PageRecord(at("/sitemap.xml"), "", (), "", 0, 0, 0, ""), links)
    found = priorities(sitemap, "en", "fr")
    assert found[at("/fr/a.html")] > found[at("/de/a.html")]

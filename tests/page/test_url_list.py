"""A list of URLs as a site."""

from __future__ import annotations

from support.fakes import at

from diptych.page.url_list import UrlList
from diptych.stages.pair.langstrip import LangStrip
from diptych.stages.pair.links import Links
from diptych.types import LangScore


def listed(*pages):
    return UrlList.of(
        "example.org", [(at(path), LangScore(lang, 0.7)) for path, lang in pages], ("en", "fr")
    )


def test_list_is_a_site_without_links():
    site = listed(("/en/a", "en"), ("/fr/a", "fr"), ("/x", ""))
    assert site.site.name == "example.org"
    assert list(site.links()) == list(site.links(rel="alternate")) == list(site.sketches()) == []
    words = site.lexicon("en", "fr")
    assert (words.left_lang, words.right_lang, len(words)) == ("en", "fr", 0)
    assert [page.lang for page in site.pages.values()] == ["en", "fr", ""]
    assert site.pages[at("/en/a")].langs == (LangScore("en", 0.7),)
    assert site.pages[at("/x")].langs == ()
    assert len({page.digest for page in site.pages.values()}) == 3
    assert site.resolve(at("/x")) == at("/x")
    assert site.resolve(at("/y")) is None


def test_pairers_work_on_it():
    site = listed(("/en/a", "en"), ("/fr/a", "fr"), ("/de/a", "de"), ("/", ""))
    (pair,) = LangStrip().pair(site)
    assert (pair.left, pair.right) == (at("/en/a"), at("/fr/a"))
    assert Links().pair(site) == []

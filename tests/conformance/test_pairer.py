from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.fakes import FakeSite, paths, sketch_of

from diptych.language.codes import same_language
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.protocols import Pairer
from diptych.registry import strategies
from diptych.stages.pair.content import Content
from diptych.types import LangScore

BY_CONTENT = Content  # who has nothing to go by where nothing is known of what pages say
PAIRERS = [pytest.param(cls(), id=name) for name, cls in strategies("pair").items()]


WORDS = {
    "en": "lamp tower keeper storm winter island harbour signal rescue stairs glass engine".split(),
    "fr": "lampe tour gardien orage hiver ile port alarme sauver marches verre moteur".split(),
    "de": "leuchte turm wache sturm kaelte insel hafen zeichen retten treppe scheibe motor".split(),
}


def dictionary(left: str, right: str) -> Lexicon:
    links = ((one, other, 1.0) for one, other in zip(WORDS[left], WORDS[right], strict=True))
    return Lexicon.of_links(left, right, links)


def text(lang: str, *topics: int) -> str:
    """A sentence of some words, the same ones in any language."""
    return " ".join(WORDS.get(lang, WORDS["en"])[topic] for topic in topics)


def sketched(site: FakeSite, seed: str = "") -> FakeSite:
    """The same site with the content of its pages known, and a dictionary."""
    for url, record in site.pages.items():
        chance = random.Random(f"{seed}{url.rpartition('/')[2]}")  # translations say the same
        topics = [chance.sample(range(12), 10) for _ in range(3)]
        words = [f"{text(record.lang, *topic)} {chance.randrange(99)}." for topic in topics]
        site.page(url, record.lang, *words, links=site.read(url).links).sketch(url)
    for left, right in (("en", "fr"), ("en", "de"), ("fr", "de")):
        site.know(dictionary(left, right))
    return site


def competing() -> FakeSite:
    """Three languages, all signals at once, and several claims to the same pages."""
    site = FakeSite("en", "fr", "de").page("/", "en", depth=0).page("/fr/", "fr").page("/de/", "de")
    for page in ("a", "b", "c"):
        for lang in ("en", "fr", "de"):
            site.page(f"/{lang}/{page}.html", lang)
        site.alternates(f"/en/{page}.html", f"/fr/{page}.html", f"/de/{page}.html")
        site.link(f"/en/{page}.html", "/fr/", "Français").link(f"/fr/{page}.html", "/", "English")
    site.page("/a.html", "en").page("/fr/a_fr.html", "fr").page("/d_en.html", "en")
    site.page("/d_fr.html", "fr").link("/d_en.html", "/fr/a.html", "Français")
    site.link("/a.html", "/fr/b.html", rel="alternate", hreflang="fr")
    return site.redirect("/old", "/fr/a.html").link("/", "/old", "fr")


LANGS = ["en", "fr", "de", "it", ""]
URLS = ["/", "/en/", "/fr/", "/en/a", "/fr/a", "/de/a", "/a", "/a_fr", "/a?lang=fr", "/en/fr/a"]


@st.composite
def sites(draw: st.DrawFn) -> FakeSite:
    site = FakeSite("en", "fr", "de")
    urls = draw(st.lists(st.sampled_from(URLS), unique=True, min_size=1))
    for url in urls:
        site.page(url, draw(st.sampled_from(LANGS)))
    for _ in range(draw(st.integers(0, 12))):
        site.link(
            draw(st.sampled_from(urls)),
            draw(st.sampled_from(URLS)),
            draw(st.sampled_from(["English", "Français", "DE", "more"])),
            rel=draw(st.sampled_from(["a", "alternate"])),
            hreflang=draw(st.sampled_from(["", "en", "fr", "de", "x-default"])),
        )
    return site


@st.composite
def sketched_sites(draw: st.DrawFn) -> FakeSite:
    """Sites whose pages say something, some of them hardly anything or in two languages."""
    site = sketched(draw(sites()), draw(st.sampled_from("ab")))
    for url in site.pages:
        known = sketch_of(site.read(url))
        kind = draw(st.sampled_from(["whole", "whole", "whole", "bare", "both"]))
        if kind == "bare":
            known = replace(known, words=0, bag={}, blocks=(), block_words=(), tags="")
        elif kind == "both":
            known = replace(known, shares=(LangScore("en", 0.6), LangScore("fr", 0.4)))
        site.sketch(url, known)
    return site


def check(pairer: Pairer, site: FakeSite) -> None:
    """All that the Protocol promises of a pairer's answer."""
    pairs = pairer.pair(site)
    both = {url for url, sketch in site.sketches() if len(sketch.shares) > 1}
    seen = set()
    order = list(site.langs)
    for pair in pairs:
        langs = (pair.left_lang, pair.right_lang)
        assert pair.left != pair.right or pair.left in both
        assert order.index(pair.left_lang) < order.index(pair.right_lang)
        for url, lang in ((pair.left, pair.left_lang), (pair.right, pair.right_lang)):
            read = site.pages[url].lang  # a page with too little text is in no known language
            assert not read or same_language(read, lang) or url in both
        assert 0 < pair.score < 1
        assert pair.evidence
        for end in {(pair.left, langs), (pair.right, langs)}:
            assert end not in seen
            seen.add(end)
    scores = [pair.score for pair in pairs]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("pairer", PAIRERS)
@given(site=sites())
@settings(max_examples=examples(50))
def test_pairs_are_one_to_one_and_strongest_first(pairer: Pairer, site: FakeSite) -> None:
    check(pairer, site)


@pytest.mark.parametrize("pairer", PAIRERS)
@given(site=sketched_sites())
@settings(max_examples=examples(30))
def test_what_pages_say_breaks_no_promise(pairer: Pairer, site: FakeSite) -> None:
    check(pairer, site)


@pytest.mark.parametrize("site", [competing(), sketched(competing())], ids=["bare", "sketched"])
@pytest.mark.parametrize("pairer", PAIRERS)
def test_competing_claims_leave_one_partner_each(pairer: Pairer, site: FakeSite) -> None:
    check(pairer, site)
    found = paths(pairer.pair(site))
    if isinstance(pairer, BY_CONTENT) and not list(site.sketches()):
        assert found == []
        return
    assert ("/en/b.html", "/de/b.html") in found
    assert ("/en/c.html", "/fr/c.html") in found
    assert ("/fr/c.html", "/de/c.html") in found


@pytest.mark.parametrize("pairer", PAIRERS)
@given(chance=st.randoms(use_true_random=False), content=st.booleans())
@settings(max_examples=examples(20))
def test_order_of_pages_does_not_matter(
    pairer: Pairer, chance: random.Random, content: bool
) -> None:
    site = sketched(competing()) if content else competing()
    order = list(range(len(site.pages)))
    chance.shuffle(order)
    assert pairer.pair(site.reordered(order)) == pairer.pair(site)


@pytest.mark.parametrize("pairer", PAIRERS)
@pytest.mark.parametrize("langs", [("en", "fr"), ("en",), ()])
def test_site_without_pairs(pairer: Pairer, langs: tuple[str, ...]) -> None:
    assert pairer.pair(FakeSite(*langs)) == []
    lonely = FakeSite(*langs).page("/", "en").link("/", "/", "English").link("/", "/fr", "fr")
    assert pairer.pair(lonely) == []
    assert pairer.pair(sketched(lonely)) == []

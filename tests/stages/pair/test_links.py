from __future__ import annotations

import pytest
from support.fakes import FakeSite, paths

from diptych.language.switchers import _names, named_language
from diptych.stages.pair.links import Links


def site(*langs: str) -> FakeSite:
    """Two translated articles and their home pages."""
    return (
        FakeSite(*(langs or ("en", "fr")))
        .page("/", "en", depth=0)
        .page("/fr/", "fr")
        .page("/en/a", "en")
        .page("/fr/a", "fr")
        .page("/en/b", "en")
        .page("/fr/b", "fr")
    )


def test_hreflang_from_both_sides_is_nearly_certain() -> None:
    (pair,) = Links().pair(site().alternates("/en/a", "/fr/a"))
    assert paths([pair]) == [("/en/a", "/fr/a")]
    assert (pair.left_lang, pair.right_lang, pair.evidence) == ("en", "fr", "hreflang")
    assert pair.score == pytest.approx(0.99)


def test_hreflang_from_one_side_is_weaker() -> None:
    one_sided = site().link("/fr/a", "/en/a", rel="alternate", hreflang="en-GB")
    (pair,) = Links().pair(one_sided)
    assert paths([pair]) == [("/en/a", "/fr/a")]
    assert pair.score == pytest.approx(0.9)


def test_reciprocal_hreflang_wins_over_a_one_sided_one() -> None:
    rivals = site().alternates("/en/a", "/fr/a")
    rivals.link("/en/b", "/fr/a", rel="alternate", hreflang="fr")
    assert paths(Links().pair(rivals)) == [("/en/a", "/fr/a")]


def test_sides_are_in_the_order_of_the_user() -> None:
    (pair,) = Links().pair(site("fr", "en").alternates("/en/a", "/fr/a"))
    assert (pair.left_lang, *paths([pair])[0]) == ("fr", "/fr/a", "/en/a")


@pytest.mark.parametrize(
    ("target", "hreflang"),
    [
        ("/fr/a", "de"),  # declared in a language it is not in
        ("/fr/a", "x-default"),  # declared in no language
        ("/fr/a", ""),  # another form of the page, not a translation
        ("/fr/gone", "fr"),  # never fetched
        ("/en/b", "en"),  # of the same language
        ("/en/b", "fr"),  # of the same language, whatever it says
        ("/en/a", "fr"),  # itself
    ],
)
def test_wrong_hreflang_is_no_evidence(target: str, hreflang: str) -> None:
    assert Links().pair(site().link("/en/a", target, rel="alternate", hreflang=hreflang)) == []


def test_page_in_an_unrequested_language_is_not_paired() -> None:
    german = site().page("/de/a", "de").alternates("/en/a", "/de/a")
    assert Links().pair(german) == []


def test_redirects_are_followed() -> None:
    moved = site().redirect("/old/fr/a", "/fr/a")
    moved.link("/en/a", "/old/fr/a", rel="alternate", hreflang="fr")
    assert paths(Links().pair(moved)) == [("/en/a", "/fr/a")]


@pytest.mark.parametrize(
    "anchor",
    ["Français", "FRANÇAIS", "French", "fr", "FR", "[fr]", "fr-CA", "fr_ca", "fra", "« Français »",
     "Français (Canada)", "Français / French", "FR - Français", "franc\u0327ais"],
)  # fmt: skip
def test_switcher_is_a_link_named_after_its_language(anchor: str) -> None:
    (pair,) = Links().pair(site().link("/en/a", "/fr/a", anchor))
    assert (pair.evidence, pair.score) == ("switcher", 0.7)
    assert Links().pair(site().link("/en/a", "/fr/a", alt=anchor)) == [pair]


@pytest.mark.parametrize(
    "anchor", ["", "French wine", "Read on", "de", "English", "English / Français", "x" * 99]
)
def test_other_links_are_no_switchers(anchor: str) -> None:
    assert Links().pair(site().link("/en/a", "/fr/a", anchor)) == []


def test_switcher_in_the_language_of_its_page() -> None:
    assert Links().pair(site().link("/fr/a", "/en/a", "Anglais"))


@pytest.mark.parametrize("kind", ["frame", "refresh", "canonical", "sitemap"])
def test_only_clickable_links_are_switchers(kind: str) -> None:
    assert Links().pair(site().link("/en/a", "/fr/a", "Français", rel=kind, hreflang="fr")) == []


@pytest.mark.parametrize(
    ("anchor", "lang"),
    [("日本語", "ja"), ("日本語 (Japanese)", "ja"), ("简体中文", "zh"), ("中文", "zh"),
     ("ZH-TW", "zh"),
     ("Ελληνικά", "el"), ("עברית", "he"), ("norsk", "no"), ("Norsk bokmål", "no"), ("GRE", "el")],
)  # fmt: skip
def test_names_in_any_script(anchor: str, lang: str) -> None:
    assert named_language(anchor, _names(("en", "ja", "zh", "el", "he", "no"))) == lang


def test_link_with_hreflang_is_stronger_than_a_name() -> None:
    (pair,) = Links().pair(site().link("/en/a", "/fr/a", "Version originale", hreflang="fr"))
    assert (pair.evidence, pair.score) == ("switcher", 0.8)


def test_evidence_names_hreflang_and_switcher() -> None:
    both = site().alternates("/en/a", "/fr/a").link("/en/a", "/fr/a", "Français")
    (pair,) = Links().pair(both)
    assert pair.evidence == "hreflang+switcher"
    assert pair.score == pytest.approx(0.997)


def switched_home() -> FakeSite:
    """Every page has a switcher to the home page of the other language."""
    built = site().page("/en/c", "en").page("/fr/c", "fr")
    for page in "abc":
        built.link(f"/en/{page}", "/fr/", "Français").link(f"/fr/{page}", "/", "English")
    return built


def test_switcher_to_the_home_page_is_nearly_nothing() -> None:
    assert all(pair.score < 0.1 for pair in Links().pair(switched_home()))


def test_home_pages_are_paired_by_the_same_switcher() -> None:
    built = switched_home().link("/", "/fr/", "Français")
    strongest = Links().pair(built)[0]
    assert paths([strongest]) == [("/", "/fr/")]
    assert strongest.score == pytest.approx(0.7)


def test_home_pages_that_answer_each_other_are_paired_without_being_seeds() -> None:
    built = switched_home().page("/en/", "en").link("/en/", "/fr/", "Français")
    built.link("/fr/", "/en/", "English")
    strongest = Links().pair(built)[0]
    assert paths([strongest]) == [("/en/", "/fr/")]
    assert strongest.score == pytest.approx(0.91)


def test_true_switcher_beats_the_common_one() -> None:
    built = switched_home().page("/fr/d", "fr").link("/en/c", "/fr/d", "Français")
    assert ("/en/c", "/fr/d") in paths(Links().pair(built))


def test_two_pages_may_share_a_target() -> None:
    built = site().link("/en/a", "/fr/a", "Français").link("/en/b", "/fr/a", "Français")
    (pair,) = Links().pair(built)
    assert (*paths([pair])[0], pair.score) == ("/en/a", "/fr/a", 0.7)


def test_many_languages_may_share_a_target() -> None:
    langs = ("en", "fr", "de", "it", "es")
    built = FakeSite(*langs)
    for lang in langs:
        built.page(f"/{lang}/a", lang)
    for lang in langs[1:]:
        built.link(f"/{lang}/a", "/en/a", "English")
    assert [pair.score for pair in Links().pair(built)] == [0.7] * 4


def test_unrequested_languages_do_not_weaken_each_other() -> None:
    built = site()
    for lang in ("de", "it", "es", "nl"):
        built.page(f"/{lang}/a", lang).link(f"/{lang}/a", "/en/a", rel="alternate", hreflang="en")
        built.link(f"/{lang}/a", "/fr/a", rel="alternate", hreflang="fr")
    (pair,) = Links().pair(built)
    assert pair.score == pytest.approx(0.81)


def test_alternates_of_a_third_page_pair_with_each_other() -> None:
    third = site("fr", "de").page("/de/a", "de")
    third.link("/en/a", "/fr/a", rel="alternate", hreflang="fr")
    third.link("/en/a", "/de/a", rel="alternate", hreflang="de")
    (pair,) = Links().pair(third)
    assert paths([pair]) == [("/fr/a", "/de/a")]
    assert pair.score < 0.9


def test_alternates_of_a_third_page_in_the_language_of_one_of_them() -> None:
    third = site().page("/en-gb/a", "en").link("/en/b", "/en-gb/a", rel="alternate", hreflang="en")
    third.link("/en/b", "/fr/a", rel="alternate", hreflang="fr").alternates("/en/b", "/fr/b")
    pairs = Links().pair(third)
    assert paths(pairs) == [("/en/b", "/fr/b"), ("/en-gb/a", "/fr/a")]
    assert pairs[1].score == pytest.approx(0.81)


def test_switchers_of_a_third_page_are_no_evidence_for_each_other() -> None:
    third = site("fr", "de").page("/de/", "de")
    third.link("/en/a", "/fr/a", "Français").link("/en/a", "/de/", "Deutsch")
    assert Links().pair(third) == []


def test_alternate_to_a_home_page_does_not_pair_it_with_siblings() -> None:
    built = FakeSite("en", "fr", "de").page("/de/", "de")
    for page in "abc":
        built.page(f"/en/{page}", "en").page(f"/fr/{page}", "fr")
        built.link(f"/en/{page}", f"/fr/{page}", rel="alternate", hreflang="fr")
        built.link(f"/en/{page}", "/de/", rel="alternate", hreflang="de")
    scores = {pair.right_lang + pair.left_lang: pair.score for pair in Links().pair(built)}
    assert scores["fren"] == 0.9
    assert scores["deen"] < 0.1
    assert scores["defr"] < 0.1

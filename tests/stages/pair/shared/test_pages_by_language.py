"""The pages of a site by language, their content in numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.fakes import FakeSite, at
from support.sketches import known

from diptych.page.read import read_page
from diptych.stages.pair.shared.page_languages import page_languages
from diptych.stages.pair.shared.pages_by_language import LanguagePages, pages_by_language
from diptych.types import Response, Sketch


def site(**pages: Sketch) -> FakeSite:
    """Pages named by their language and a number: `en1`."""
    built = FakeSite("en", "fr")
    for name, sketch in pages.items():
        built.page(f"/{name}", name[:2]).sketch(f"/{name}", sketch)
    return built


def pages_of(built: FakeSite) -> dict[str, LanguagePages]:
    return pages_by_language(built, page_languages(built))


def content(pages: LanguagePages) -> dict[str, dict[str, float]]:
    """The rows of pages, by page and feature."""
    rows = pages.features
    return {
        url.rpartition("/")[2]: {
            pages.names[rows.features[at]]: float(rows.values[at])
            for at in range(rows.offsets[place], rows.offsets[place + 1])
        }
        for place, url in enumerate(pages.urls)
    }


SOME = {
    "en1": known({"lamp": 2, "1899": 1}, "tower.png", tags="ab"),
    "en2": known({"lamp": 1, "storm": 1}),
    "fr1": known({"lampe": 1, "1899": 3}, "tower.png"),
}


def test_features_are_words_numbers_and_files() -> None:
    found = pages_of(site(**SOME))
    assert content(found["en"]) == {
        "en1": {"lamp": 2, "1899": 1, "/tower.png": 1},
        "en2": {"lamp": 1, "storm": 1},
    }
    assert content(found["fr"]) == {"fr1": {"lampe": 1, "1899": 3, "/tower.png": 1}}
    assert found["en"].tags == ("ab", "")
    assert (found["en"].lang, len(found["en"])) == ("en", 2)


def test_a_file_is_not_a_word_of_the_same_name() -> None:
    found = pages_of(site(en1=known({"lamp": 1}, "lamp"), fr1=known({}, "lamp")))
    assert content(found["en"]) == {"en1": {"lamp": 1, "/lamp": 1}}
    assert content(found["fr"]) == {"fr1": {"/lamp": 1}}


def test_features_are_numbered_for_all_languages_the_rarest_first() -> None:
    found = pages_of(site(**SOME))
    assert found["en"].names == found["fr"].names
    spread = found["en"].spread + found["fr"].spread
    assert spread.tolist() == sorted(spread.tolist())
    # Ties as they are spelled.
    assert found["en"].names == ("lampe", "storm", "/tower.png", "1899", "lamp")


def test_the_spread_of_a_feature_is_the_number_of_pages_that_have_it() -> None:
    pages = pages_of(site(**SOME))["en"]
    assert dict(zip(pages.names, pages.spread.tolist(), strict=True)) == {
        "lampe": 0, "storm": 1, "/tower.png": 1, "1899": 1, "lamp": 2,
    }  # fmt: skip


def test_rare_feature_has_more_weight_than_a_common_one() -> None:
    pages = pages_of(site(**SOME))["en"]
    rarity = dict(zip(pages.names, pages.rarity.tolist(), strict=True))
    assert rarity["storm"] == pytest.approx(np.log(3 / 1.5))
    assert rarity["lamp"] == pytest.approx(np.log(3 / 2.5))
    assert rarity["storm"] > rarity["lamp"] >= 0


def test_weights_are_as_documented() -> None:
    pages = pages_of(site(**SOME))["en"]
    rows = pages.weighted
    weights = dict(zip(rows.features[:3].tolist(), rows.values[:3].tolist(), strict=True))
    lamp = pages.names.index("lamp")
    assert weights[lamp] == pytest.approx(np.log(1 + 2) * np.log(3 / 2.5))


def test_pages_are_in_order_of_their_urls_and_have_a_place() -> None:
    built = site(en3=known({"a": 1}), en1=known({"b": 1}), en2=known({"c": 1}))
    pages = pages_of(built)["en"]
    assert pages.urls == (at("/en1"), at("/en2"), at("/en3"))
    assert [pages.place[url] for url in pages.urls] == [0, 1, 2]
    assert content(pages) == {"en1": {"b": 1}, "en2": {"c": 1}, "en3": {"a": 1}}


def test_pages_without_a_sketch_or_a_language_are_left_out() -> None:
    built = (
        site(en1=known({"a": 1}), de1=known({"a": 1})).page("/fr1", "fr").page("/x").sketch("/x")
    )
    found = pages_of(built)
    assert {lang: pages.urls for lang, pages in found.items()} == {"en": (at("/en1"),), "fr": ()}


def test_a_site_without_sketches_has_no_pages() -> None:
    for built in (FakeSite("en", "fr"), site(en1=known({}), fr1=known({}))):
        for pages in pages_of(built).values():
            assert len(pages.features.features) == len(pages.weighted.values) == 0
            assert pages.rarity.tolist() == pages.spread.tolist() == []
            assert pages.sizes.tolist() == [[0.0, 0.0]] * len(pages)


# Templates


def page_of(number: int, *more: int, words: str = "") -> Sketch:
    """A page with a menu that all have, and a block of its own."""
    blocks = ((1, 500.0), (100 + number, 80.0 + number), *((hash, 40.0) for hash in more))
    return known(words, blocks=blocks)


def test_template_blocks_do_not_count_in_sizes() -> None:
    pages = pages_of(site(**{f"en{number}": page_of(number) for number in range(8)}))["en"]
    assert pages.sizes.tolist() == [[80.0 + number, 580.0 + number] for number in range(8)]
    assert pages.blocks == tuple(frozenset({100 + number}) for number in range(8))


def test_blocks_of_a_few_pages_are_no_template() -> None:
    pages = {f"en{n}": page_of(n, *([7] if n < 2 else [])) for n in range(8)}
    pages = pages_of(site(**pages))["en"]
    assert 7 in pages.blocks[0]
    assert pages.sizes[0].tolist() == [120.0, 620.0]


def test_a_section_of_a_large_site_has_a_template_too() -> None:
    pages = {f"en{n:03}": page_of(n, *([7] if n < 30 else [])) for n in range(300)}
    pages = pages_of(site(**pages))["en"]
    assert not any(7 in blocks for blocks in pages.blocks)
    assert pages.sizes[0].tolist() == [80.0, 620.0]


def test_few_pages_have_no_template() -> None:
    pages = pages_of(site(**{f"en{number}": page_of(number) for number in range(3)}))["en"]
    assert pages.sizes.tolist() == [[580.0 + number] * 2 for number in range(3)]


def test_a_block_that_a_page_repeats_is_no_template() -> None:
    pages = {f"en{number}": page_of(number) for number in range(8)}
    pages["en0"] = page_of(0, *[9] * 30)
    pages = pages_of(site(**pages))["en"]
    assert 9 in pages.blocks[0]
    assert pages.sizes[0, 0] == 80.0 + 30 * 40.0


def test_templates_are_those_of_a_language() -> None:
    pages = {f"en{number}": page_of(number) for number in range(8)}
    pages = pages_of(site(**pages, fr1=page_of(1)))["fr"]
    assert pages.sizes.tolist() == [[581.0, 581.0]]


def test_words_of_a_template_are_no_features() -> None:
    pages = {f"en{number}": known("home", f"{number}.png", block=5) for number in range(8)}
    pages |= {f"en{number}": known(f"lamp 1{number}") for number in (8, 9)}
    found = content(pages_of(site(**pages, en10=page_of(3, words="home 1899")))["en"])
    # They are features where they are in another block, and where a page has nothing else.
    assert found["en8"] == {"lamp": 1, "18": 1}
    assert found["en10"] == {"home": 1, "1899": 1}
    assert found["en0"] == {"home": 1, "/0.png": 1}


def test_a_menu_takes_no_words_from_a_page() -> None:
    def page(number: int) -> Sketch:
        return Sketch(
            "", 4, {"home": 2, f"1{number}": 1, "news": 1}, (), ((5, 9.0), (60 + number, 9.0)),
            ((0, 2), (1, 0)),
        )  # fmt: skip

    found = content(pages_of(site(**{f"en{number}": page(number) for number in range(8)}))["en"])
    assert found["en3"] == {"13": 1, "home": 1}


@pytest.mark.parametrize("word", ["\x00 a", "a\ud800", "?!", "12.5 " * 9, "一二三"])
def test_any_word_may_be_on_a_page(word: str) -> None:
    sentence = "The keeper of the lighthouse climbed the stairs to light the great lamp."
    markup = f"<p>{sentence}</p><p>x{word}</p><p>{sentence}</p>".encode("utf-8", "replace")
    weights = (("Content-Type", "text/html"),)
    read = read_page(
        Response(at("/en1"), 200, weights, markup, 0.0), langs=("en", "fr"), with_sketch=True
    )
    assert read.sketch is not None
    assert len(read.sketch.block_words) == len(read.sketch.blocks) == 3
    assert content(pages_of(site(en1=read.sketch))["en"])["en1"]["lamp"] >= 2


bags = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 4), max_size=4)


@given(st.lists(st.tuples(st.sampled_from(["en", "fr"]), bags), max_size=8), st.randoms())
def test_the_order_of_pages_does_not_matter(pages, chance) -> None:
    built = site(**{f"{lang}{n}": known(bag) for n, (lang, bag) in enumerate(pages)})
    order = list(range(len(pages)))
    chance.shuffle(order)
    for lang, pages in pages_of(built.reordered(order)).items():
        same = pages_of(built)[lang]
        assert pages.names == same.names
        assert pages.urls == same.urls
        assert content(pages) == content(same)

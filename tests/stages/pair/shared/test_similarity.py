"""How much alike two pages are, worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.fakes import FakeSite, at
from support.sketches import known

from diptych.learn.lexicon.lexicon import Lexicon
from diptych.stages.pair.shared.page_languages import page_languages
from diptych.stages.pair.shared.pages_by_language import pages_by_language
from diptych.stages.pair.shared.similarity import Pairs, SideBySide, similarities
from diptych.types import Sketch

NONE = Lexicon.empty("en", "fr")
DICTIONARY = Lexicon.of_links(
    "en", "fr", [("lamp", "lampe", 1), ("storm", "orage", 1), ("tower", "tour", 1)]
)


def site(**pages: Sketch | str) -> FakeSite:
    built = FakeSite("en", "fr")
    for name, sketch in pages.items():
        made = known(sketch) if isinstance(sketch, str) else sketch
        built.page(f"/{name}", name[:2]).sketch(f"/{name}", made)
    return built


def sides(built: FakeSite, lexicon: Lexicon = NONE) -> SideBySide:
    pages_of = pages_by_language(built, page_languages(built))
    return SideBySide(pages_of["en"], pages_of["fr"], lexicon)


def measured(built: FakeSite, one: str, other: str, lexicon: Lexicon = NONE) -> dict[str, float]:
    """All measures of two pages."""
    found = sides(built, lexicon)
    pairs = Pairs(
        np.array([found.left.place[at(f"/{one}")]], np.int32),
        np.array([found.right.place[at(f"/{other}")]], np.int32),
    )
    return {name: float(values[0]) for name, values in similarities(found, pairs).items()}


def candidates(built: FakeSite, most: int = 5, lexicon: Lexicon = NONE) -> set[tuple[str, str]]:
    found = sides(built, lexicon)
    pairs = found.candidates(most)
    assert list(zip(*pairs, strict=True)) == sorted(set(zip(*pairs, strict=True)))
    return {
        (found.left.urls[one].rpartition("/")[2], found.right.urls[other].rpartition("/")[2])
        for one, other in zip(*pairs, strict=True)
    }


# What is shared


def test_shared_is_the_cosine_of_common_features() -> None:
    # Each feature is on one page of two: its weight is log(1 + count) * log(3 / 1.5).
    built = site(en1="1899 1899 1912 lamp", en2="x", fr1="1899 1912 1912 lampe", fr2="y")
    left, right = (log(3), log(2)), (log(2), log(3))
    product = left[0] * right[0] + left[1] * right[1]
    found = measured(built, "en1", "fr1")
    # lamp and lampe are in one language only, and count for nothing.
    assert found["shared"] == pytest.approx(product / (log(2) ** 2 + log(3) ** 2), rel=1e-5)
    raw = product * log(2) ** 2
    assert found["amount"] == pytest.approx(raw / (raw + 30), rel=1e-5)


def test_same_numbers_and_files_have_similarity_one() -> None:
    built = site(en1="1899 a.png lamp", en2="x", fr1="1899 a.png lampe", fr2="y")
    assert measured(built, "en1", "fr1")["shared"] == pytest.approx(1)
    assert measured(built, "en2", "fr1")["shared"] == 0
    assert measured(built, "en2", "fr2")["amount"] == 0


def test_features_of_only_one_page_lower_the_similarity() -> None:
    # fr1 has a number that en1 has not, but en2 has.
    built = site(en1="1899", en2="1912", fr1="1899 1912", fr2="y")
    assert measured(built, "en1", "fr1")["shared"] == pytest.approx(1 / sqrt(2), rel=1e-5)


def test_rare_features_count_more() -> None:
    pages = {f"{lang}{n}": "gnu" for lang in ("en", "fr") for n in range(3, 9)}
    built = site(en1="gnu 1899", en2="gnu 1912", fr1="gnu 1899", fr2="gnu 1912 2000", **pages)
    assert measured(built, "en1", "fr1")["shared"] > 0.9
    assert measured(built, "en1", "fr2")["shared"] < 0.1


def test_the_more_is_shared_the_greater_the_amount() -> None:
    built = site(en1="1 2 3 4 5 6", en2="7", fr1="1 2 3 4 5 6", fr2="7")
    much, little = measured(built, "en1", "fr1"), measured(built, "en2", "fr2")
    assert much["shared"] == pytest.approx(little["shared"])
    assert much["amount"] > little["amount"] > 0


# Translations


def test_words_are_translated_only_with_a_lexicon() -> None:
    built = site(en1="lamp storm", en2="tower", fr1="lampe orage", fr2="tour")
    assert sides(built).translated is None
    assert measured(built, "en1", "fr1")["translated"] == 0
    known_words = measured(built, "en1", "fr1", DICTIONARY)
    assert known_words["translated"] == pytest.approx(1)
    assert known_words["shared"] == 0
    assert measured(built, "en1", "fr2", DICTIONARY)["translated"] == 0


def test_word_unknown_to_the_lexicon_is_its_own_translation() -> None:
    built = site(en1="lamp 1899 a.png", en2="x", fr1="lampe 1899 a.png", fr2="y")
    assert measured(built, "en1", "fr1", DICTIONARY)["translated"] == pytest.approx(1)
    assert measured(site(en1="1", en2="x", fr1="1", fr2="y"), "en1", "fr1", DICTIONARY)[
        "translated"
    ] == pytest.approx(1)


def test_word_known_to_the_lexicon_is_not_its_own_translation() -> None:
    # "tour" is a word of both languages, and means a tower in one of them only.
    lexicon = Lexicon.of_links("en", "fr", [("tour", "visit", 1), ("tower", "tour", 1)])
    built = site(en1="tour", en2="tower", fr1="tour", fr2="visit")
    assert measured(built, "en1", "fr1", lexicon)["translated"] == 0
    assert measured(built, "en1", "fr1", lexicon)["shared"] > 0
    assert measured(built, "en1", "fr2", lexicon)["translated"] == pytest.approx(1)


def test_a_translation_counts_by_its_probability() -> None:
    lexicon = Lexicon.of_links("en", "fr", [("lamp", "lampe", 3), ("lamp", "feu", 1)])
    built = site(en1="lamp", en2="x", fr1="lampe", fr2="feu")
    # There 3 : 1 over their length; back both are the lamp, and nothing else is.
    assert measured(built, "en1", "fr1", lexicon)["translated"] == pytest.approx(
        (3 / sqrt(10) + 1) / 2, rel=1e-5
    )
    assert measured(built, "en1", "fr2", lexicon)["translated"] == pytest.approx(
        (1 / sqrt(10) + 1) / 2, rel=1e-5
    )


def test_only_the_four_most_probable_translations_count() -> None:
    words = ["un", "deux", "trois", "quatr", "cinq"]
    links = [("lamp", word, 10.0 - place) for place, word in enumerate(words)]
    pages = {f"fr{place}": word for place, word in enumerate(words)}
    # Back is known from the last as well: only there is not.
    found = sides(site(en1="lamp", en2="x", **pages), Lexicon.of_links("en", "fr", links))
    assert found.translated is not None
    there = found.translated[0][0]
    assert {found.left.names[feature] for feature in there.features} == set(words[:4])


def test_unlikely_translations_do_not_count() -> None:
    lexicon = Lexicon.of_links("en", "fr", [("lamp", "lampe", 99), ("lamp", "chat", 1)])
    found = sides(site(en1="lamp", en2="x", fr1="lampe", fr2="chat"), lexicon)
    assert found.translated is not None
    assert {found.left.names[each] for each in found.translated[0][0].features} == {"lampe"}


def test_words_of_the_lexicon_that_no_page_has_do_no_harm() -> None:
    built = site(en1="1899", en2="x", fr1="1899", fr2="y")
    far = Lexicon.of_links("en", "fr", [("whale", "baleine", 1)])
    assert measured(built, "en1", "fr1", far)["translated"] == pytest.approx(1)
    for empty in (site(), site(en1="lamp"), site(fr1="lampe")):
        assert candidates(empty, lexicon=DICTIONARY) == set()


# Form


def test_tags_are_alike_by_edit_distance() -> None:
    built = site(en1=known("", tags="abcd"), fr1=known("", tags="abxd"), fr2=known("", tags="abcd"))
    assert measured(built, "en1", "fr2")["tags"] == 1
    assert measured(built, "en1", "fr1")["tags"] == pytest.approx(3 / 4)


def test_sizes_are_compared_by_their_ratio() -> None:
    built = site(
        en1=known("", blocks=((1, 150.0),)), fr1=known("", blocks=((2, 50.0),)),
        fr2=known("", blocks=((3, 150.0),)), fr3=known(""),
    )  # fmt: skip
    assert measured(built, "en1", "fr1")["sizes"] == pytest.approx(log(200 / 100), rel=1e-5)
    assert measured(built, "en1", "fr2")["sizes"] == 0
    assert measured(built, "en1", "fr3")["sizes"] == pytest.approx(log(200 / 50), rel=1e-5)
    assert measured(built, "en1", "fr1")["text"] == pytest.approx(log(51), rel=1e-5)
    assert measured(built, "en1", "fr3")["text"] == 0


def test_templates_are_left_out_of_sizes() -> None:
    # The French menu is five times as long as the English one, the articles are alike.
    english = {f"en{n}": known("", blocks=((1, 100.0), (10 + n, 300.0))) for n in range(8)}
    french = {f"fr{n}": known("", blocks=((2, 500.0), (50 + n, 300.0))) for n in range(8)}
    found = measured(site(**english, **french), "en3", "fr3")
    assert found["sizes"] == 0
    assert found["text"] == pytest.approx(log(301), rel=1e-5)


def test_template_on_one_side_only_does_not_separate_two_pages() -> None:
    # Of the French pages too few were fetched to tell their menu.
    english = {f"en{n}": known("", blocks=((1, 400.0), (10 + n, 300.0))) for n in range(8)}
    found = measured(site(**english, fr3=known("", blocks=((2, 400.0), (3, 300.0)))), "en3", "fr3")
    assert found["sizes"] == 0


# Titles


def test_titles_are_alike_by_the_words_of_the_shorter() -> None:
    built = site(en1="x", fr1="y", fr2="y", fr3="y")
    for url, title in (
        ("/en1", "The GNU Manual 1899"), ("/fr1", "GNU 1899"), ("/fr2", "Le manuel"), ("/fr3", ""),
    ):  # fmt: skip
        page = built.read(url)
        built._read[at(url)] = replace(page, record=replace(page.record, title=title))
    assert measured(built, "en1", "fr1")["title"] == 1
    assert 0 <= measured(built, "en1", "fr2")["title"] < 0.5
    assert measured(built, "en1", "fr3")["title"] == 0.5


def test_copied_is_the_share_of_the_smaller_page() -> None:
    built = site(
        en1=known("", blocks=((1, 9.0), (2, 9.0), (3, 9.0), (4, 9.0))),
        fr1=known("", blocks=((1, 9.0), (2, 9.0), (8, 9.0))),
        fr2=known("", blocks=((1, 9.0), (4, 9.0))),
        fr3=known("", blocks=((7, 9.0),)),
        fr4=known(""),
    )
    shares = [measured(built, "en1", f"fr{number}")["copied"] for number in (1, 2, 3, 4)]
    assert shares == pytest.approx([2 / 3, 1, 0, 0])


# Candidates


def test_candidates_share_something() -> None:
    built = site(en1="1899", en2="x", fr1="1899", fr2="y")
    assert candidates(built) == {("en1", "fr1")}


def test_candidates_are_the_best_of_either_side() -> None:
    # The second English page has nobody else, and neither has the second French one.
    built = site(en1="1 2 3 4", en2="1", en9="x", fr1="1 2 3", fr2="4", fr9="y")
    assert candidates(built, most=1) == {("en1", "fr1"), ("en2", "fr1"), ("en1", "fr2")}


def test_translations_make_candidates() -> None:
    built = site(en1="lamp storm", en2="tower", fr1="lampe orage", fr2="tour")
    assert candidates(built) == set()
    assert candidates(built, lexicon=DICTIONARY) == {("en1", "fr1"), ("en2", "fr2")}


def test_zero_candidates_can_be_requested() -> None:
    assert candidates(site(en1="1899", en2="x", fr1="1899", fr2="y"), most=0) == set()


WORDS = "1 2 3 4 5 lamp lampe storm orage a.png".split()
bags = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
pages = st.lists(st.tuples(st.sampled_from(["en", "fr"]), bags), max_size=8)


@given(pages, st.randoms(use_true_random=False), st.booleans())
def test_the_order_of_pages_does_not_matter(found, chance, with_words: bool) -> None:
    lexicon = DICTIONARY if with_words else NONE
    built = site(**{f"{lang}{n}": bag for n, (lang, bag) in enumerate(found)})
    order = list(range(len(found)))
    chance.shuffle(order)
    other = built.reordered(order)
    nominated = candidates(built, len(found), lexicon)
    assert candidates(other, len(found), lexicon) == nominated
    for one, two in nominated:
        assert measured(built, one, two, lexicon) == pytest.approx(
            measured(other, one, two, lexicon), abs=1e-5
        )


@given(pages, st.booleans())
def test_sides_do_not_matter(found, with_words: bool) -> None:
    lexicon = DICTIONARY if with_words else NONE
    there = sides(site(**{f"{lang}{n}": bag for n, (lang, bag) in enumerate(found)}), lexicon)
    back = SideBySide(there.right, there.left, lexicon.reversed())
    ours, theirs = there.candidates(9), back.candidates(9)
    assert set(zip(*ours, strict=True)) == {(b, a) for a, b in zip(*theirs, strict=True)}
    turned = similarities(back, Pairs(ours.right, ours.left))
    for name, values in similarities(there, ours).items():
        np.testing.assert_allclose(values, turned[name], 1e-5, 1e-6, err_msg=name)


@given(pages, st.booleans())
def test_measures_are_within_their_bounds(found, with_words: bool) -> None:
    made = sides(
        site(**{f"{lang}{n}": bag for n, (lang, bag) in enumerate(found)}),
        DICTIONARY if with_words else NONE,
    )
    left, right = np.indices((len(made.left), len(made.right))).reshape(2, -1).astype(np.int32)
    for name, values in similarities(made, Pairs(left, right)).items():
        assert values.dtype == np.float32, name
        assert np.isfinite(values).all(), name
        assert (values >= 0).all(), name
        if name not in ("sizes", "text"):
            assert (values <= 1.0001).all(), name

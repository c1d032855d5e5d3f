"""The name of a site in the titles of its pages."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.text import titles as titles_module
from diptych.text.titles import Names, SiteNames, learn_names


def names_in(titles: list[str]) -> Names:
    return learn_names(lambda: dict.fromkeys(titles))


def cut_titles(*titles: str) -> list[tuple[str, ...]]:
    """Each title as (own, name) if it is cut, else as (title,)."""
    names = names_in([*titles])
    found: list[tuple[str, ...]] = []
    for title in titles:
        cut = names.cut(title)
        parts = (title[: cut.end], title[cut.start :]) if cut else (title,)
        found.append(parts[::-1] if cut and cut.is_name_first else parts)
    return found


@pytest.mark.parametrize("separator", [" | ", " - ", " – ", " — ", " · ", " :: ", " » ", "|"])
def test_name_after_a_separator_is_cut_off(separator: str) -> None:
    own = ("Bees", "Honey", "Wax")
    titles = (f"{each}{separator}The Bee House" for each in own)
    assert cut_titles(*titles) == [(each, "The Bee House") for each in own]


def test_name_before_a_separator_is_cut_off() -> None:
    titles = ("Bee House - One", "Bee House - Two - and a half", "Bee House - Three")
    own = ("One", "Two - and a half", "Three")
    assert cut_titles(*titles) == [(each, "Bee House") for each in own]


def test_name_may_contain_a_separator() -> None:
    name = "UniSat — Launch your dreams"
    titles = [f"{each} | {name}" for each in ("Фото", "Видео — 2", "О проекте")]
    assert cut_titles(*titles, name) == [
        ("Фото", name), ("Видео — 2", name), ("О проекте", name), (name,)
    ]  # fmt: skip


def test_separator_in_the_own_title_is_left_alone() -> None:
    titles = ["Chapter 1 - Bees", "Chapter 2 - Honey", "Wax | a poem", "News", "About", "Us - them"]
    assert cut_titles(*titles) == [(title,) for title in titles]
    named = [f"{title} | Site" for title in titles]
    assert cut_titles(*named) == [(title, "Site") for title in titles]


def test_few_titles_with_the_same_end_are_left_alone() -> None:
    titles = [*(f"Poem {n} - Bees" for n in range(3)), *(f"Page {n}" for n in range(7))]
    assert cut_titles(*titles) == [(title,) for title in titles]


def test_name_of_a_section_is_part_of_the_own_title() -> None:
    titles = [f"Page {n} | {'Blog | ' if n < 3 else ''}Site" for n in range(9)]
    assert cut_titles(*titles)[0] == ("Page 0 | Blog", "Site")
    assert cut_titles(*titles)[5] == ("Page 5", "Site")


def test_two_titles_are_not_enough() -> None:
    assert cut_titles("One | Site", "Two | Site") == [("One | Site",), ("Two | Site",)]
    assert cut_titles("One | Site", "Two | Site", "Two | Site")[0] == ("One | Site",)


def test_title_without_a_part_of_its_own() -> None:
    titles = ("One | Site", "Two | Site", "Three | Site", "| Site")
    assert cut_titles(*titles)[3] == ("", "Site")


def test_name_is_learned_for_each_language_or_for_all() -> None:
    rows = [("en", f"Page {n} | Site") for n in range(9)]
    rows += [("fr", f"Article {n} | Le site") for n in range(3)]
    rows += [("de", "Seite 1 | Site"), ("de", "Seite 2 | Seite")]
    own = {
        lang: names_in([title for known, title in rows if known == lang])
        for lang in ("en", "fr", "de")
    }
    names = SiteNames(own, names_in([title for _, title in rows]))
    assert [title for lang, title in rows if not names.cut(lang, title)] == ["Seite 2 | Seite"]
    assert names.cut("ro", "Pagina 1 | Site"), "a language without titles"


@given(st.lists(st.text("ab |-—:", max_size=12), max_size=8))
def test_cut_is_a_separator_inside_the_title(titles: list[str]) -> None:
    titles = [" ".join(title.split()) for title in titles]
    names = names_in(titles)
    for title in titles:
        if (cut := names.cut(title)) is None:
            continue
        assert 0 <= cut.end < cut.start <= len(title)
        assert not set(title[cut.end : cut.start]) & set("ab")
        name = title[: cut.end] if cut.is_name_first else title[cut.start :]
        assert sum(name in each for each in set(titles)) >= 3


def test_titles_with_many_separators_do_not_fill_the_memory() -> None:
    titles = [f"{number}|{'a|' * 990}" for number in range(20)]
    tracemalloc.start()
    names_in(titles)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000


@given(st.lists(st.text("ab |-—:", max_size=12), max_size=30), st.integers(40, 80))
def test_names_are_the_same_if_few_counts_are_kept(titles: list[str], most: int) -> None:
    whole = names_in(titles)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(titles_module, "_MAX_COUNTS", most)
        assert names_in(titles) == whole


def test_titles_of_a_large_site_do_not_fill_the_memory() -> None:
    tracemalloc.start()
    names = learn_names(lambda: (f"Page {n} of many | Part {n} | Site" for n in range(20_000)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [*names.counts] == [(False, "Site")]
    assert peak < 4_000_000

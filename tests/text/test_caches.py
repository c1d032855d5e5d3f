"""Caches stay bounded in bytes for any input."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Sequence

import pytest

from diptych.language.codes import hreflang_language
from diptych.language.switchers import names_other_language
from diptych.stages.detect.shared.naming import marks_in
from diptych.stages.pair.pplocator import normal_form
from diptych.text.caches import LastingMap, TextCache, TextMap
from diptych.text.cognates import folded
from diptych.text.url_fields import tagged_tokens
from diptych.text.urls import normalise, resolve, site_name, url_key

BOUND = 40_000_000  # bytes: half of what ten thousand texts of 8,000 characters take


def test_missing_values_are_computed_together() -> None:
    asked: list[list[str]] = []

    def lengths(texts: Sequence[str]) -> list[int]:
        asked.append(sorted(texts))
        return [len(text) for text in texts]

    cache = TextCache(len, 1000, together=lengths)
    cache.read(["a", "bb", "a"])
    cache.read(["bb", "ccc", "a"])
    cache.read(["a"])
    assert asked == [["a", "bb"], ["ccc"]]
    assert dict(cache) == {"a": 1, "bb": 2, "ccc": 3}
    cache.read(map(str, range(10_000_000, 10_000_005)))  # no room beside the others
    assert len(cache) == 5
    assert cache.bytes <= 1000
    cache.read(["x" * 2000])
    assert len(cache) == cache.bytes == 0
    assert cache["x" * 2000] == 2000


def test_many_values_are_computed_by_the_function_if_nothing_else_is_given() -> None:
    cache = TextCache(len, 1000)
    cache.read(["a", "bb"])
    assert dict(cache) == {"a": 1, "bb": 2}


def test_values_are_kept_until_they_take_too_many_bytes() -> None:
    calls: list[str] = []

    def length(text: str) -> int:
        calls.append(text)
        return len(text)

    cache = TextCache(length, 10_000)
    for _ in range(2):
        assert [cache["a" * count] for count in range(20)] == list(range(20))
    assert len(calls) == 20
    assert 20 * 160 < cache.bytes < 10_000
    for number in range(1000):
        assert cache[f"text {number}"] == len(f"text {number}")
        assert cache.bytes <= 10_000
    assert len(cache) < 60


def test_value_stored_again_counts_once() -> None:
    known: TextMap[int] = TextMap(10_000)
    for number in range(1000):
        assert known.keep("same", number) == number
    assert known == {"same": 999}
    assert known.bytes < 200


def test_value_larger_than_the_cache_is_not_stored() -> None:
    known: TextMap[str] = TextMap(1000)
    known.keep("a", "b")
    assert known.keep("x" * 2000, "long") == "long"
    assert len(known) <= 1
    assert known.bytes <= 1000


def test_size_depends_on_entries_characters_and_values() -> None:
    known: TextMap[int] = TextMap(100_000, per_entry=1000, per_character=10)
    known.keep("abc", 1)
    assert known.bytes == 160 + 1000 + 30
    known.keep("d", 2)
    assert known.bytes == 2 * 1160 + 40
    known.clear()
    assert (known.bytes, len(known)) == (0, 0)


@pytest.mark.parametrize("count", [11, 20, 80])
def test_cyclic_lookups_hit_as_often_as_the_capacity_allows(count: int) -> None:
    known: LastingMap[int] = LastingMap(10_000)  # room for ten
    hits = 0
    for turn in range(100 * count):
        text = f"{turn % count:02}"
        value = known.get(text)
        hits += value is not None
        assert (known.keep(text, turn % count, 800) if value is None else value) == turn % count
        assert known.bytes <= 10_000
    assert hits > 0.8 * 100 * 10


def test_lasting_values_are_replaced() -> None:
    known: LastingMap[int] = LastingMap(10_000)
    for number in range(1000):
        known.keep("same", number, 800)
        assert known.get("same") == number
    assert known.bytes == 160 + 4 + 800
    known.keep("same", 5, 20_000)
    assert known.get("same") is None  # never the value of before
    assert known.bytes == 0
    for number in range(10_000):
        known.keep(str(number), number, 800)
    assert known.get("0") is None
    assert known.bytes <= 10_000


def held_after(function: Callable[[str], object], count: int, text: str) -> int:
    """The memory in bytes that a function retains after `count` calls with long texts."""
    tracemalloc.start()
    try:
        for number in range(count):
            function(f"http://example.org/{text}/{number}")
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "function",
    [
        url_key,
        site_name,
        folded,
        hreflang_language,
        lambda text: names_other_language(text, ("en",)),
    ],
)
def test_tens_of_thousands_of_long_texts_do_not_fill_memory(
    function: Callable[[str], object],
) -> None:
    assert held_after(function, 10_000, "x" * 8_000) < BOUND


@pytest.mark.slow
@pytest.mark.parametrize(
    "function", [normalise, normal_form, marks_in, lambda url: resolve("http://a.org/", url)]
)
def test_tens_of_thousands_of_long_urls_do_not_fill_memory(
    function: Callable[[str], object],
) -> None:
    assert held_after(function, 10_000, "x" * 8_000) < BOUND


@pytest.mark.slow
def test_words_of_many_paths_do_not_fill_memory() -> None:
    assert held_after(tagged_tokens, 1_000, "ab/cd-" * 300) < BOUND

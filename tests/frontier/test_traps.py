from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.timing import processor_seconds

from diptych.frontier.traps import (
    CALENDAR_LIMIT,
    DATE_LIMIT,
    MAX_PARAMETERS,
    MAX_SEGMENTS,
    Family,
    family_of,
    refusal,
)
from diptych.text.urls import normalise

HOME = "http://example.org"


def allowed(urls: Iterable[str]) -> list[str]:
    """The URLs that a crawl would fetch of these, found in this order."""
    counts: Counter[str] = Counter()
    kept = []
    for url in dict.fromkeys(urls):
        family = family_of(url)
        if refusal(url):
            continue
        if family is not None:
            counts[family.key] += 1
            if counts[family.key] > family.limit:
                continue
        kept.append(url)
    return kept


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/", ""),
        ("/a/b/c/d/e/f/g", ""),
        ("/en/en/", ""),
        ("/en/en-gb/en/", ""),
        ("/2024/05/05/05-things", ""),
        ("/a/a/b/a/a", ""),
        ("/a/b/a/b/c", ""),
        ("///", ""),
        ("/a////b", ""),
        ("/a/a/a/", "trap_repeating_path"),
        ("/x/a/a/a/y", "trap_repeating_path"),
        ("/a/b/a/b/a/b/c.html", "trap_repeating_path"),
        ("/x/a/b/c/a/b/c/a/b/c", "trap_repeating_path"),
        ("/" + "/".join(map(str, range(MAX_SEGMENTS))), ""),
        ("/" + "/".join(map(str, range(MAX_SEGMENTS + 1))), "trap_deep_path"),
        ("/?" + "&".join(f"p{number}=x" for number in range(MAX_PARAMETERS)), ""),
        (
            "/?" + "&".join(f"p{number}=x" for number in range(MAX_PARAMETERS + 1)),
            "trap_parameters",
        ),
        ("/a?back=/a/a/a/a/a", ""),
    ],
)
def test_traps_by_their_shape(path: str, reason: str) -> None:
    assert refusal(HOME + path) == reason


@pytest.mark.parametrize(
    ("path", "limit", "reason"),
    [
        ("/calendar/2024/05/", CALENDAR_LIMIT, "trap_calendar"),
        ("/calendar?month=5&year=2024", CALENDAR_LIMIT, "trap_calendar"),
        ("/fr/agenda/2024-05-12", CALENDAR_LIMIT, "trap_calendar"),
        ("/events/2024/05/12/", CALENDAR_LIMIT, "trap_calendar"),
        ("/kalender/2024/5", CALENDAR_LIMIT, "trap_calendar"),
        ("/?date=20240512", CALENDAR_LIMIT, "trap_calendar"),
        ("/2024/05/12/", DATE_LIMIT, "trap_dates"),
        ("/archive/2024-05.html", DATE_LIMIT, "trap_dates"),
        ("/list?sort=name", 1, "trap_sort_order"),
        ("/list?id=4&order=desc", 1, "trap_sort_order"),
        ("/pub/?C=N;O=D", None, ""),
        ("/pub/?C=M&O=A", 1, "trap_sort_order"),
        ("/list?per_page=50&page=2", 1, "trap_sort_order"),
    ],
)
def test_families_that_can_go_on_without_end(path: str, limit: int | None, reason: str) -> None:
    family = family_of(HOME + path)
    if limit is None:
        assert family is None
    else:
        assert family is not None
        assert (family.limit, family.reason) == (limit, reason)


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/en/about.html",
        "/2024/05/12/the-lamp-is-lit.html",
        "/blog/2024/05/the-lamp",
        "/news/2024-05-12-lamps",
        "/article.php?id=12345",
        "/?p=42",
        "/?page=7",
        "/index.php?lang=fr",
        "/list?sort=relevance-to-me",
        "/events/the-lamp-festival",
        "/calendar/",
        "/view.php?view=article&id=4",
        "/wiki/1984_(novel)",
        "/product/199512345",
        "/shop?order=lamp-of-the-year",
    ],
)
def test_pages_of_real_sites_are_of_no_family(path: str) -> None:
    assert refusal(HOME + path) == ""
    assert family_of(HOME + path) is None


def test_same_list_in_another_order_is_one_family_and_another_list_is_not() -> None:
    keys = {
        path: family_of(HOME + path)
        for path in ("/list?id=4&sort=name", "/list?sort=date&id=4", "/list?id=5&sort=name")
    }
    first, second, third = (family.key if family else "" for family in keys.values())
    assert first == second != third


def test_families_of_two_hosts_are_counted_apart() -> None:
    first = family_of("http://a.org/calendar/2024/05/")
    second = family_of("http://b.org/calendar/2024/05/")
    assert first is not None
    assert second is not None
    assert first.key != second.key


def days(count: int) -> list[date]:
    return [date(1990, 1, 1) + timedelta(days=number) for number in range(count)]


ENDLESS = {
    "months": ([f"/calendar/{day:%Y/%m}/" for day in days(30_000)], CALENDAR_LIMIT),
    "days": ([f"/agenda/{day:%Y-%m-%d}" for day in days(5_000)], 2 * CALENDAR_LIMIT),
    "query": ([f"/events?month={n % 12 + 1}&year={1990 + n // 12}" for n in range(5_000)], 120),
    "date_only": ([f"/{day:%Y/%m/%d}/" for day in days(9_000)], DATE_LIMIT),
    "orders": ([f"/list?sort={key}&dir={d}" for key in "nmsd" for d in "ad"], 1),
    "sizes": ([f"/list?limit={number}" for number in range(1_000)], 1),
    "repeating": (["/a" + "/b" * number for number in range(500)], 5),
    "deep": ([f"/{'/'.join(map(str, range(number)))}" for number in range(200)], 30),
    "parameters": (["/?" + "&".join(f"p{n}={n}" for n in range(k)) for k in range(200)], 20),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_endless_families_are_bounded(name: str) -> None:
    paths, limit = ENDLESS[name]
    kept = allowed(HOME + path for path in paths)
    assert 1 <= len(kept) <= limit


REAL = {
    "blog": [f"/{day:%Y/%m/%d}/post-{number}" for number, day in enumerate(days(5_000))],
    "flat_blog": [f"/blog/{day:%Y-%m-%d}-a-lamp" for day in days(2_000)],
    "numbered": [f"/article.php?id={number}" for number in range(5_000)],
    "pages_of_a_list": [f"/news?page={number}" for number in range(500)],
    "events_with_names": [f"/events/2024/05/12/lamp-{chr(97 + n)}" for n in range(26)],
    "years": [f"/annual-report-{year}" for year in range(1900, 2030)],
    "day_archives": [f"/{day:%Y/%m/%d}/" for day in days(2_900)],
    "language_switch": [f"/a?lang={lang}" for lang in "en fr de es it pt nl".split()],
    "translations": [f"/{lang}/{n}" for lang in ("en", "fr") for n in range(500)],
    "forum": [f"/viewtopic.php?f={n % 9}&t={n}" for n in range(3_000)],
}


@pytest.mark.parametrize("name", REAL)
def test_real_sites_are_crawled_whole(name: str) -> None:
    urls = [HOME + path for path in REAL[name]]
    assert allowed(urls) == urls


@pytest.mark.parametrize("parameter", ["c", "view", "show"])
def test_numbered_pages_are_not_taken_for_orders_of_a_list(parameter: str) -> None:
    # index.php?c=12 is a category of many forums and shops, view=12 an article.
    urls = [f"{HOME}/index.php?{parameter}={number}" for number in range(1, 200)]
    assert allowed(urls) == urls


pieces = st.lists(
    st.sampled_from(
        ["/", "a", "b", "2024", "05", "-", "calendar", "?", "&", "sort=", "date=", "1", "%C3", "."]
    ),
    max_size=25,
).map("".join)


@given(st.one_of(pieces, st.text(max_size=30)))
def test_any_url_is_judged_and_always_in_the_same_way(text: str) -> None:
    url = normalise(f"{HOME}/{text}")
    if url is not None:
        assert refusal(url) == refusal(url)
        assert family_of(url) == family_of(url)
        family = family_of(url)
        assert family is None or (isinstance(family, Family) and family.limit >= 1)


@pytest.mark.parametrize(
    "path", ["/" + "20240512" * 250, "/" + "a/" * 1000, "/?" + "a=1&" * 500, "/?" + ";" * 2000]
)
def test_long_urls_are_judged_at_once(path: str) -> None:
    with processor_seconds():
        refusal(HOME + path)
        family_of(HOME + path)

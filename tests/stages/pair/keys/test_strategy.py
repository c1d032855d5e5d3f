from __future__ import annotations

import random
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.fakes import FakeSite, paths
from support.key_reference import linking_power, reference_pairs
from support.timing import processor_seconds

from diptych.stages.pair.keys.strategy import PAPER, Keys, pair_urls
from diptych.text.url_edits import UrlPair

LANGS = ["en", "fr", "de"]
NAMES = ("harbour", "tides", "storm", "lens", "keeper", "fog", "rock", "log")


def site(
    *patterns: str, pages: tuple[str, ...] = NAMES, known: bool = True
) -> list[tuple[str, str]]:
    """Pages by `lang pattern`, with * for the page's name."""
    found = []
    for entry in patterns:
        lang, pattern = entry.split()
        found += [
            (f"http://x.org{pattern.replace('*', page)}", lang if known else "") for page in pages
        ]
    return found


def whole(pattern: str, page: str) -> str:
    return f"http://{pattern.replace('*', page)}"


def ends(pairs: list[UrlPair]) -> list[tuple[str, str]]:
    return sorted((pair.left, pair.right) for pair in pairs)


# -- the paper's method, fast and by definition ----------------------------------------------------

PIECES = st.sampled_from(["", "/a", "/b", "/en", "/fr", "/a-b", "/b/a", "/1", "/2"])
FILES = st.sampled_from(
    ["", "a", "b", "a_en.html", "a_fr.html", "en.htm", "b-a", "a.b.php", "1", "06e"]
)
QUERIES = st.sampled_from(["", "", "", "?a=1", "?lang=en", "?b=2&a=1"])
URLS = st.builds(
    lambda host, one, two, file, query: f"http://{host}{one}{two}/{file}{query}",
    st.sampled_from(["x.org", "x.org", "x.org", "fr.x.org"]), PIECES, PIECES, FILES, QUERIES,
)  # fmt: skip
PAGES = st.dictionaries(URLS, st.sampled_from(["", "en", "fr"]), max_size=40)


@given(PAGES, st.sampled_from([0.0, 0.05, 0.1, 0.2, 0.4]))
def test_fast_form_is_the_papers_definition(pages: dict[str, str], tau: float) -> None:
    keys = Keys(tau=tau, fields=("path", "file"), generalise=False, several=False, suppress=False)
    expected = [
        (match.left, match.right, str(match.key))
        for match in reference_pairs(list(pages.items()), tau)
    ]
    found = pair_urls(list(pages.items()), ["en", "fr"], keys)
    assert [(pair.left, pair.right, pair.key) for pair in found] == [
        turned(row, pages) for row in expected
    ]


def turned(row: tuple[str, str, str], pages: dict[str, str]) -> tuple[str, str, str]:
    """A match with the language asked for first on the left, where languages are known."""
    left, right, key = row
    # One that is not known stands before those that are.
    if ["", "en", "fr"].index(pages[left]) <= ["", "en", "fr"].index(pages[right]):
        return row
    one, _, two = key.partition(":")
    return right, left, f"{two}:{one}"


def test_urls_that_are_the_same_set_add_to_the_power_of_a_key() -> None:
    urls = [f"http://x.org/{path}/" for path in ("en/a/b", "en/b/a", "b/en/a", "fr/a/b", "b/a/fr")]
    pages = [(url, "") for url in [*urls, *(f"http://x.org/{n}/{n}{n}" for n in range(10))]]
    keys = Keys(tau=0.4, fields=("path",), generalise=False, several=False, suppress=False)
    assert len(linking_power(pages)) == 1
    assert len(reference_pairs(pages, 0.4)) == len(pair_urls(pages, ["en", "fr"], keys)) == 2


@given(PAGES)
def test_linking_power_counts_each_pair_for_one_key(pages: dict[str, str]) -> None:
    matched = linking_power(list(pages.items()))
    pairs = [frozenset(match[:2]) for matches in matched.values() for match in matches]
    assert len(pairs) == len(set(pairs))
    assert all(len(pair) == 2 for pair in pairs)


# -- what holds for all settings -------------------------------------------------------------------

SETTINGS = [
    pytest.param(Keys(), id="all"),
    pytest.param(PAPER, id="paper"),
    pytest.param(Keys(generalise=False), id="no affixes"),
    pytest.param(Keys(several=False), id="no several"),
    pytest.param(Keys(suppress=False), id="no choice"),
    pytest.param(Keys(fields=("query",)), id="query only"),
]


@pytest.mark.parametrize("keys", SETTINGS)
@given(pages=PAGES, chance=st.randoms(use_true_random=False))
@settings(max_examples=examples(60))
def test_pairs_are_one_to_one_and_do_not_depend_on_order(
    keys: Keys, pages: dict[str, str], chance: random.Random
) -> None:
    rows = list(pages.items())
    found = pair_urls(rows, ["en", "fr"], keys)
    used = [url for pair in found for url in pair[:2]]
    assert len(used) == len(set(used))
    scores = [pair.score for pair in found]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score < 1 for score in scores)
    for pair in found:
        known = (pages[pair.left], pages[pair.right])
        assert "" in known or known[0] != known[1]
        assert all(lang in ("", told) for lang, told in zip(known, pair[2:4], strict=True))
    chance.shuffle(rows)
    assert pair_urls(rows, ["en", "fr"], keys) == found


HOSTILE = [
    "", "?", "://", "http://", "http:///a", "mailto:a@x.org", "data:text/html,<p>", "http://x.org",
    "http://x.org/\0", "http://x.org/%zz%", "http://bücher.example/fr/", "http://x.org/?=&&=;",
    "http://x.org//////", "http://x.org/?lang", "http://x.org/fr?lang=fr#fr", "http://[::1]:80/en/a",
    "http://x.org/" + "a/" * 3000, "http://x.org/" + "é" * 999, "\ud800://\ud800/\ud800", "http://:/",
    "http://x.org/en/" + "-" * 5000, "http://x.org/_._", "http://x.org/*/*~*",
]  # fmt: skip


@pytest.mark.parametrize("keys", SETTINGS)
@given(
    urls=st.lists(st.sampled_from(HOSTILE) | st.text() | st.text().map("http://x.org/".__add__)),
    langs=st.lists(st.sampled_from(["en", "fr", "", "xx", "zh-cn", "\0"]), min_size=1),
)
@settings(max_examples=examples(40))
def test_hostile_urls_do_no_harm(keys: Keys, urls: list[str], langs: list[str]) -> None:
    rows = [(url, langs[place % len(langs)]) for place, url in enumerate(urls + HOSTILE)]
    pair_urls(rows, LANGS, keys)


def test_url_of_a_million_characters() -> None:
    rows = [*site("en /en/*", "fr /fr/*"), ("http://x.org/en/" + "ab-" * 333_333, "en")]
    assert len(pair_urls(rows, LANGS)) == len(NAMES)


@pytest.mark.parametrize("langs", [[], ["en"]])
def test_less_than_two_languages_have_no_pairs(langs: list[str]) -> None:
    assert pair_urls(site("en /en/*", "fr /fr/*"), langs) == []


# -- keys that are found ---------------------------------------------------------------------------

PATTERNS = [
    ("/en/*.html", "/fr/*.html"),
    ("/*.html", "/fr/*.html"),
    ("/*_en.html", "/*_fr.html"),
    ("/*.html", "/*_fr.html"),
    ("/*.en.html", "/*.fr.html"),
    ("/index.php?lang=en&id=*", "/index.php?lang=fr&id=*"),
    ("/index.php?id=*&lang=en", "/index.php?lang=fr&id=*"),
    ("/index.php?id=*", "/index.php?id=*&lang=fr"),
    ("/a?page=en/*", "/a?page=fr/*"),
    ("/en/*_en.html", "/fr/*_fr.html"),
    ("/*.en.html", "/fr/*.fr.html"),
    ("/english/*_e.html", "/french/*_f.html"),
    ("/en_US/*", "/fr_FR/*"),
    ("/docs/*", "/docs/translations/fr_FR/*"),
    ("/guide-en/html/*", "/guide-fr/html/*"),
    ("/C/*", "/fr/*"),
    ("/english/*", "/francais/*"),
    ("/english/*", "/fran%C3%A7ais/*"),
    ("/EN/*", "/FR/*"),
    ("/*/index.html", "/*/index_fr.html"),
    ("/*/en", "/*/fr"),
]


@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize(("left", "right"), PATTERNS)
def test_scheme(left: str, right: str, known: bool) -> None:
    rows = site(f"en {left}", f"fr {right}", known=known)
    found = pair_urls(rows, ["en", "fr"])
    expected = [(one[0], two[0]) for one, two in zip(rows[:8], rows[8:], strict=True)]
    assert ends(found) == sorted(expected)
    assert {pair[2:4] for pair in found} == {("en", "fr")}


@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("en.x.org/*", "fr.x.org/*"),
        ("www.x.org/*", "fr.x.org/*"),
        ("x.org/*", "fr.x.org/*"),
        ("www.x.org/*", "www.x.fr/*"),
        ("lighthouse.org/a/*", "phares.fr/a/*"),
        ("en.x.org:8001/a/*", "fr.x.org:8002/a/*"),
    ],
)
def test_scheme_in_the_host(left: str, right: str, known: bool) -> None:
    rows = [
        (whole(pattern, page), lang if known else "")
        for pattern, lang in ((left, "en"), (right, "fr"))
        for page in NAMES
    ]
    found = pair_urls(rows, ["en", "fr"])
    assert ends(found) == sorted((whole(left, page), whole(right, page)) for page in NAMES)


@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize(
    "patterns",
    [
        ("en /en/*", "fr /fr/*", "de /de/*"),
        ("en /*", "fr /fr/*", "de /de/*"),
        ("en /*.html", "fr /*_fr.html", "de /*_de.html"),
        ("en /?id=*", "fr /?id=*&lang=fr", "de /?id=*&lang=de"),
    ],
)
def test_three_languages_at_once(patterns: tuple[str, ...], known: bool) -> None:
    rows = site(*patterns, known=known)
    found = pair_urls(rows, LANGS)
    sides = [rows[start : start + 8] for start in (0, 8, 16)]
    expected = [
        (one[0], two[0])
        for left, right in combinations(sides, 2)
        for one, two in zip(left, right, strict=True)
    ]
    assert ends(found) == sorted(expected)


def test_unrequested_languages_are_ignored() -> None:
    rows = site("en /en/*", "fr /fr/*", "de /de/*", "ja /ja/*", known=False)
    found = pair_urls(rows, ["en", "fr"])
    assert {pair.key for pair in found} == {"en:fr"}
    assert pair_urls(site("en /en/*", "de /de/*", known=False), ["en", "fr"]) == []


def test_unmarked_pages_are_no_language_if_all_languages_have_marks() -> None:
    rows = site("fr /fr/*", "de /de/*", "en /*", known=False)
    assert {pair.key for pair in pair_urls(rows, ["fr", "de"])} == {"fr:de"}


def test_numbers_may_be_languages_where_languages_are_known() -> None:
    rows = site("en /0/*", "fr /1/*", pages=(*NAMES, "a", "b", "c", "d"))
    assert len(pair_urls(rows, ["en", "fr"])) == 12
    assert pair_urls([(url, "") for url, _ in rows], ["en", "fr"]) == []


def test_language_parameter_may_be_a_number() -> None:
    rows = site("en /?L=0&id=*", "fr /?L=1&id=*", known=False)
    assert len(pair_urls(rows, ["en", "fr"])) == 8


def test_unknown_keys_are_found_by_linking_power() -> None:
    found = pair_urls(site("en /abc/*", "fr /xyz/*", known=False), ["en", "fr"])
    assert {pair.key for pair in found} == {"abc:xyz"}
    assert max(pair.score for pair in found) < 0.6


def test_known_languages_override_misleading_marks() -> None:
    found = pair_urls(site("fr /en/*", "en /fr/*"), ["en", "fr"])
    assert {pair.key for pair in found} == {"fr:en"}
    assert len(found) == 8


def test_few_known_languages_reveal_the_others() -> None:
    rows = site("en /abc/*", "fr /xyz/*")
    rows = [(url, lang if place % 2 else "") for place, (url, lang) in enumerate(rows)]
    found = pair_urls(rows, ["en", "fr"])
    assert len(found) == 8
    assert {pair[2:4] for pair in found} == {("en", "fr")}


def test_copies_in_another_language_are_no_pair() -> None:
    rows = site("en /en/*", "fr /fr/*") + site("en /en/*", "en /fr/*", pages=("a", "b", "c"))
    assert len(pair_urls(rows, ["en", "fr"])) == 8


def test_token_of_a_language_in_a_name_is_no_trouble() -> None:
    rows = site("en /en/fr-*", "fr /fr/fr-*", "en /en/it/*", "fr /fr/it/*")
    assert len(pair_urls(rows, ["en", "fr"])) == 16


def test_same_page_under_two_protocols_is_paired_within_one() -> None:
    rows = site("en /en/*", "fr /fr/*")
    rows += [(url.replace("http", "https"), lang) for url, lang in rows]
    found = pair_urls(rows, ["en", "fr"])
    assert len(found) == 16
    assert all(pair.left.startswith("https") == pair.right.startswith("https") for pair in found)


def test_order_of_tokens_counts() -> None:
    rows = site("en /en/*/a-b.html", "fr /fr/*/a-b.html", "en /en/*/b-a.html", "fr /fr/*/b-a.html")
    found = pair_urls(rows, ["en", "fr"])
    assert len(found) == 16
    assert all(pair.left[-8:] == pair.right[-8:] for pair in found)


# -- keys that are not -----------------------------------------------------------------------------

FALSE = [
    ("/list/*/1", "/list/*/2"),
    ("/2023/*", "/2024/*"),
    ("/v1.0/*", "/v2.0/*"),
    ("/*?sort=asc", "/*?sort=desc"),
    ("/*?page=1", "/*?page=2"),
    ("/*", "/print/*"),
    ("/*.html", "/*.pdf"),
    ("/*-small.html", "/*-large.html"),
]


@pytest.mark.parametrize(("left", "right"), FALSE)
def test_false_key_is_suppressed_without_languages(left: str, right: str) -> None:
    assert pair_urls(site(f"en {left}", f"fr {right}", known=False), ["en", "fr"]) == []


@pytest.mark.parametrize(("left", "right"), FALSE)
@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
def test_false_key_beside_a_true_one(left: str, right: str, known: bool) -> None:
    rows = []
    for lang in ("en", "fr"):
        rows += site(f"{lang} /{lang}{left}", f"{lang} /{lang}{right}", known=known)
    found = pair_urls(rows, ["en", "fr"])
    assert {pair.key for pair in found} == {"en:fr"}
    assert len(found) == 16


def test_false_key_beside_unmarked_pages() -> None:
    rows = site("en /*", "en /print/*", "fr /fr/*", known=False)
    found = pair_urls(rows, ["en", "fr"])
    assert {pair.key for pair in found} == {"(null):fr"}
    assert len(found) == 8


def test_chance_pairs_of_opaque_urls_are_not_made() -> None:
    chance = random.Random(7)
    rows = [
        (f"http://x.org/doc/{number}.html", chance.choice(["en", "fr"]))
        for number in chance.sample(range(1000, 9999), 900)
    ]
    assert pair_urls(rows, ["en", "fr"]) == []
    assert pair_urls([(url, "") for url, _ in rows], ["en", "fr"]) == []


def test_chance_pairs_of_slugs_are_not_made() -> None:
    chance = random.Random(7)
    words = "how to set up it in no time a the new old big fr en app all for us me be".split()
    urls = {"-".join(chance.sample(words, chance.randint(2, 4))) for _ in range(800)}
    rows = [(f"http://x.org/{url}/", chance.choice(["en", "fr"])) for url in sorted(urls)]
    assert len(pair_urls(rows, ["en", "fr"])) < len(rows) / 100


def test_words_that_look_like_marks_are_no_key() -> None:
    """`/make-it/` and `/make/`, `/no-de-on/` and `/no-it-on/`: two pages of many."""
    rows = [(f"http://x.org/it-{n}{n}/{n}", "") for n in range(40)]
    rows += [(f"http://x.org/de-{n}{n}/{n}", "") for n in range(40, 80)]
    rows += [(f"http://x.org/{path}/", "") for path in ("it/a", "de/a", "it/b", "de/b")]
    assert pair_urls(rows, ["it", "de"]) == []
    rows = [(f"http://x.org/do-it-{n}{n}/{n}", "") for n in range(40)]
    rows += [(f"http://x.org/{path}/", "") for path in ("do/a", "do-it/a", "do/b", "do-it/b")]
    assert pair_urls(rows, ["en", "it"]) == []


def test_ends_of_words_are_no_marks_beside_true_ones() -> None:
    """`ch` of a chapter is Switzerland, `re` of a reference is nothing."""
    chapters = tuple(f"{kind}{number:02}" for kind in ("ch", "re") for number in range(1, 6))
    rows = site("en /*", "de /de/*", "fr /fr/*", "pt /pt/*", pages=chapters, known=False)
    assert {pair.key for pair in pair_urls(rows, ["en", "de"])} == {"(null):de"}


def test_weak_marks_count_beside_strong_ones() -> None:
    rows = site("en /en/*", "fr /fr/*", "ja /jp/*", known=False)
    found = pair_urls(rows, ["en", "fr", "ja"])
    assert {pair.key for pair in found} == {"en:fr", "en:jp", "fr:jp"}


def test_weak_marks_of_a_language_with_strong_ones_do_not_count() -> None:
    """`uk` is Ukrainian where `en` is English."""
    rows = site("en /en/*", "es /es/*", "uk /uk/*", "ar /ar/*", known=False)
    assert {pair.key for pair in pair_urls(rows, ["en", "es"])} == {"en:es"}


# -- the strategy ----------------------------------------------------------------------------------


def test_pages_are_paired() -> None:
    built = FakeSite("en-US", "fr")
    for name in NAMES:
        built.page(f"/en/{name}", "en").page(f"/fr/{name}", "fr").page(f"/xx/{name}", "")
    pairs = Keys().pair(built)
    assert sorted(paths(pairs)) == sorted((f"/en/{name}", f"/fr/{name}") for name in NAMES)
    assert {(p.left_lang, p.right_lang, p.evidence) for p in pairs} == {("en-US", "fr", "keys")}


def test_large_site_is_near_linear() -> None:
    rows = [
        (f"http://x.org/{lang}/{number % 50}/{number}.html", "")
        for number in range(20_000)
        for lang in ("en", "fr")
    ]
    with processor_seconds(20):
        assert len(pair_urls(rows, ["en", "fr"])) == 20_000


def test_large_list_of_pages_does_not_blow_up() -> None:
    rows = [
        (f"http://x.org/{lang}/list/{number}/{part}", "")
        for number in range(200)
        for part in range(40)
        for lang in ("en", "fr")
    ]
    with processor_seconds(20):
        assert len(pair_urls(rows, ["en", "fr"])) == 8_000

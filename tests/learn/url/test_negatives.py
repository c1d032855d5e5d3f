"""Negatives: six methods to generate pairs that are not translations."""

from __future__ import annotations

import random
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.learn.url.data import LabelledPair
from diptych.learn.url.negatives import BEST_MIX, METHODS, Negatives, remove_tokens, url_tokens

HOST = "http://x.org:8080"


def pair(left: str, right: str, domain: str = "x.org", langs: str = "en fr") -> LabelledPair:
    one, other = langs.split()
    return LabelledPair(domain, f"{HOST}{left}", one, f"{HOST}{right}", other)


SITE = [
    pair("/en/news/red-wine", "/fr/actualites/vin-rouge"),
    pair("/en/news/white-wine", "/fr/actualites/vin-blanc"),
    pair("/en/about/contact", "/fr/a-propos/contact"),
    pair("/en/map?id=12", "/fr/plan?id=12"),
]
ENGLISH = {row.url_a for row in SITE}
FRENCH = {row.url_b for row in SITE}
POSITIVE = {(row.url_a, row.url_b) for row in SITE}


def made(method: int, rows: list[LabelledPair] = SITE, **how: int) -> list[tuple[str, str]]:
    found = list(Negatives((method,), **how).make(rows))
    assert {number for _, number in found} <= {method}
    return [(row.url_a, row.url_b) for row, _ in found]


def test_random_match_bilingual() -> None:
    found = made(1)
    assert len(found) == 12
    assert all(left in ENGLISH and right in FRENCH for left, right in found)


def test_random_match_draws_from_all() -> None:
    rows = [pair(f"/en/{number}", f"/fr/{number}") for number in range(30)]
    assert len({right for _, right in made(1, rows)}) > 15


def test_most_similar_bilingual() -> None:
    found = dict(made(2, each=1))
    assert set(found) == ENGLISH
    # By the similarity of the French URLs, not of the English one with a French one.
    assert found[SITE[0].url_a] == SITE[1].url_b
    assert found[SITE[1].url_a] == SITE[0].url_b


def test_most_similar_come_first_of_several() -> None:
    two = [right for left, right in made(2, each=2) if left == SITE[0].url_a]
    assert two[0] == SITE[1].url_b
    assert len(set(two)) == 2


def is_part(short: str, whole: str) -> bool:
    """True if one text is a subsequence of the other."""
    rest = iter(whole)
    return all(letter in rest for letter in short)


def test_tokens_removed_bilingual() -> None:
    found = made(3)
    assert len(found) > 8
    changed = 0
    for left, right in found:
        sources = [row for row in SITE if is_part(left, row.url_a) and is_part(right, row.url_b)]
        assert sources, (left, right)
        changed += all((left, right) != (row.url_a, row.url_b) for row in sources)
    assert changed == len(found)


@pytest.mark.parametrize("method", [4, 5])
def test_monolingual_pairs_are_of_one_language(method: int) -> None:
    found = made(method)
    assert {frozenset((left in ENGLISH, right in ENGLISH)) for left, right in found} == {
        frozenset({True}),
        frozenset({False}),
    }
    assert {left for left, _ in found} == ENGLISH | FRENCH
    assert len(found) == 16  # half of three for each URL, rounded up


def test_most_similar_monolingual() -> None:
    assert (SITE[0].url_a, SITE[1].url_a) in made(5, each=1)
    assert (SITE[0].url_b, SITE[1].url_b) in made(5, each=1)


def test_tokens_removed_monolingual() -> None:
    found = made(6)
    assert len(found) > 8
    for left, right in found:
        assert any(is_part(left, url) and is_part(right, url) for url in ENGLISH | FRENCH)


def many(seed: int) -> list[LabelledPair]:
    """Domains with documents in three languages, given by two pairs each, and single pairs."""
    chance = random.Random(seed)
    rows = []
    for domain in ("a.org", "b.org"):
        for number in range(chance.randint(1, 12)):
            english, french, german = (
                f"/{lang}/{number % 7}/{domain}" for lang in ("en", "fr", "de")
            )
            rows.append(pair(english, french, domain))
            if chance.random() < 0.6:
                rows.append(pair(german, french, domain, "de fr"))
    return [*rows, pair("/en/alone", "/fr/seul", "c.org")]


def documents(rows: list[LabelledPair]) -> dict[str, int]:
    """The document that each URL is a version of, by brute force."""
    number = {url: place for place, url in enumerate({u for r in rows for u in (r.url_a, r.url_b)})}
    for _ in rows:
        for row in rows:
            least = min(number[row.url_a], number[row.url_b])
            number[row.url_a] = number[row.url_b] = least
    return number


@pytest.mark.parametrize("seed", range(5))
def test_never_the_same_document(seed: int) -> None:
    rows = many(seed)
    document = documents(rows)
    for row, method in Negatives(tuple(METHODS), seed=seed).make(rows):
        assert row.url_a != row.url_b
        one, other = document.get(row.url_a), document.get(row.url_b)
        assert one is None or other is None or one != other, (row, method)


def test_translations_of_translations_are_never_negatives() -> None:
    # English and German are never paired, but both are versions of the French one.
    rows = [
        pair("/en/a", "/fr/a"),
        pair("/de/a", "/fr/a", langs="de fr"),
        pair("/en/b", "/de/b", langs="en de"),
    ]
    for method in METHODS:
        assert (f"{HOST}/en/a", f"{HOST}/de/a") not in made(method, rows, each=9)


def test_same_seed_same_negatives_in_any_order() -> None:
    rows = many(1)
    mix = Negatives(tuple(METHODS), seed=7)
    found = list(mix.make(rows))
    for _ in range(3):
        random.Random(3).shuffle(rows)
        assert list(mix.make(rows)) == found
    assert list(mix.make([*rows, *rows])) == found
    assert list(Negatives(tuple(METHODS), seed=8).make(rows)) != found


def test_negatives_of_a_domain_do_not_depend_on_the_others() -> None:
    alone = list(Negatives().make(SITE))
    among = Negatives().make(
        [*SITE, pair("/en/z", "/fr/z", "y.org"), pair("/en/y", "/fr/y", "y.org")]
    )
    assert [made for made in among if made[0].domain == "x.org"] == alone


def test_domain_of_one_pair() -> None:
    alone = [pair("/en/red", "/fr/rouge", "one.org")]
    counts = Counter(method for _, method in Negatives(tuple(METHODS)).make(alone))
    assert set(counts) <= {3, 6}
    # With other domains there is something to match at random, but nothing similar.
    rows = [*alone, *SITE]
    of_one = [made for made in Negatives(tuple(METHODS)).make(rows) if made[0].domain == "one.org"]
    assert {method for _, method in of_one} <= {1, 3, 6}
    assert any(method == 1 and row.url_b in FRENCH for row, method in of_one)


def test_translations_known_from_other_domains_are_never_negatives() -> None:
    # The same English page is in a pair of another domain.
    rows = [pair("/en/a", "/fr/a", "one.org"), pair("/en/a", "/de/a", "two.org", "en de")]
    assert made(1, rows, each=9) == []


def test_no_pairs_no_negatives() -> None:
    assert list(Negatives().make([])) == []


def test_weight_and_languages_stay_with_the_pair() -> None:
    doubtful = [row._replace(weight=0.5) for row in SITE]
    for row, _ in Negatives().make(doubtful):
        assert (row.domain, row.lang_a, row.lang_b, row.weight) == ("x.org", "en", "fr", 0.5)


def test_large_domains_are_sampled() -> None:
    rows = [pair(f"/en/{n}/a-{n % 13}", f"/fr/{n}/b-{n % 13}") for n in range(250)]
    found = list(Negatives(BEST_MIX, each=1).make(rows))
    assert len(found) > 1000


TOKENS = st.lists(
    st.sampled_from(["a", "b1", "é", "12", "/", "-", "_", "?", "=", "&", ".", "#"])
).map("".join)


@given(
    head=st.sampled_from(
        ["http://x.org", "https://u:p@x.org:8080", "//x.org", "x.org", "http://[::1]:80"]
    ),
    tail=TOKENS,
    seed=st.integers(0, 99),
)
def test_scheme_host_and_port_are_never_removed(head: str, tail: str, seed: int) -> None:
    tail = f"/{tail}" if tail else ""
    short = remove_tokens(head + tail, random.Random(seed))
    assert short.startswith(head)
    assert is_part(short, head + tail)
    if re.search(r"[^\W_]", tail):
        assert len(short) < len(head + tail)
    else:
        assert short == head + tail


def test_delimiters_are_removed_or_kept() -> None:
    found = {remove_tokens("http://x.org/a-b-c", random.Random(seed)) for seed in range(99)}
    assert found == {f"http://x.org/{rest}" for rest in ("-b-c", "a--c", "a-c", "a-b-", "a-b")}


def test_at_most_half_of_the_tokens_are_removed() -> None:
    url = "http://x.org/a/b/c/d/e/f"
    left = [len(url_tokens(remove_tokens(url, random.Random(seed)))) for seed in range(200)]
    assert set(left) == {len(url_tokens(url)) - gone for gone in (1, 2, 3)}

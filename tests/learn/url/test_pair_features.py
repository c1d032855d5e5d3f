"""Features of URL pairs: the reference implementation, and the kernel compared with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.examples import examples
from support.urlpieces import ODD, urls

from bench.training.concepts import Phrase, learn_concepts
from diptych.kernels import native
from diptych.learn.url import pair_features as url_features
from diptych.learn.url.concepts import SENSES, Concepts, fingerprint
from diptych.learn.url.pair_features import NAMES, Features, dice, pair_features

PHRASES = [("red", "rouge"), ("wine", "vin"), ("accommodation", "hébergement"), ("news", "новости")]
CONCEPTS = learn_concepts(
    [Phrase("fr", one, other) for one, other in PHRASES],
    {"red": 4.0, "wine": 3.0, "accommodation": 2.0, "news": 1.0},
)
FEATURES = Features(CONCEPTS)
X = "http://x.org"


def of(left: str, right: str) -> dict[str, float]:
    """Features by name, computed by both implementations."""
    by_name = pair_features(left, right, CONCEPTS)
    row = FEATURES.of([left], [right])[0]
    assert np.allclose(row, list(by_name.values()), atol=1e-5)
    return by_name


def test_feature_names_are_unique() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert FEATURES.of([X], [X]).shape == (1, len(NAMES))


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (
            "http://fr.x.org/a",
            "http://en.x.org/a",
            {"host": 0, "host_core": 1, "tld": 1, "longest_label": 1},
        ),
        ("http://x.fr/a", "http://x.de/a", {"host": 0, "host_core": 1, "tld": 0}),
        ("http://www.x.org/a", "https://x.org:80/a", {"host": 1}),
        (
            f"{X}/en/a",
            f"{X}/fr/a",
            {"strong_marks": 1, "main_marks": 1, "mark_slot": 1, "rest_same": 1},
        ),
        (f"{X}/fr/a", f"{X}/fr/b", {"strong_marks": -1, "main_marks": -1, "rest_same": 0}),
        (
            f"{X}/a",
            f"{X}/fr/a",
            {"strong_marks": 0, "strong<": 0, "strong>": 1, "rest_same": 1, "tokens_same": 1},
        ),
        (f"{X}/a?lang=1", f"{X}/a?lang=2", {"main_marks": 1, "mark_strength<": 4, "rest_same": 1}),
        (f"{X}/a_en", f"{X}/a_fr", {"edge_marks<": 1, "edge_mark_langs": 1, "tokens_same": 1}),
        (f"{X}/a_en", f"{X}/en_a", {"edge_marks>": 0, "tokens_same": 1, "last_same": 0}),
        (
            f"{X}/a/12",
            f"{X}/b/12",
            {"common_numbers": 1, "longest_common_number": 2, "late_common_number": 2},
        ),
        (f"{X}/12/a", f"{X}/b/12", {"longest_common_number": 2, "late_common_number": 0}),
        (
            f"{X}/a-12",
            f"{X}/a-13",
            {"number_distance": np.log(2), "longest_number": 2, "numbers<": 1},
        ),
        (f"{X}/a-1", f"{X}/a-" + "1" * 16, {"number_distance": -1}),
        (f"{X}/a/b", f"{X}/a/k/m", {"segments_off": 1, "prefix_segments": 1, "other_segments": 2}),
        (f"{X}/a.html", f"{X}/a.php", {"extension": -1, "extension<": 1, "last_same": 1}),
        (f"{X}/a.html", f"{X}/a", {"extension": -1, "extension<": 0, "extension>": 1}),
        (f"{X}/a/", f"{X}/a", {"slash": 0, "end<": 0, "end>": 1}),
        (
            f"{X}/red-wine",
            f"{X}/vin-rouge",
            {"words<": 2, "words>": 2, "known<": 1, "separators": 1, "lone>": 0},
        ),
        (f"{X}/red-wine", f"{X}/red_wine", {"separators": 0, "tokens_same": 1}),
        (
            f"{X}/xyz",
            f"{X}/abcdef",
            {"meaning>": 0, "known>": 0, "lone<": 1, "lone>": 1, "cognates>": 0},
        ),
        (f"{X}/a", f"{X}/a", {"meaning<": -1, "known<": -1, "cognates<": -1, "common_share": 1}),
        (f"{X}/a?b=1", f"{X}/a?b=2", {"query_names": 1, "query_values": -1, "params<": 1}),
        (f"{X}/a?b=1", f"{X}/a", {"query_names": -1, "query_values": -1, "params<": 0}),
        (
            f"{X}/a?b=1&lang=en",
            f"{X}/a?b=1&lang=fr",
            {"query_names": 1, "query_values": 1, "rest_same": 1},
        ),
        (f"{X}/a", f"{X}/b", {"query_names": 0, "query_values": 0}),
        (f"{X}/a--b", f"{X}/a-b", {"odd<": 0, "odd>": 1, "odd_off": 1}),
    ],
)
def test_features(left: str, right: str, expected: dict[str, float]) -> None:
    found = of(left, right)
    assert {name: found[name] for name in expected} == pytest.approx(expected)


def test_meaning_counts_if_words_differ() -> None:
    same, other = of(f"{X}/red-wine", f"{X}/vin-rouge"), of(f"{X}/red-wine", f"{X}/nuit-noire")
    assert same["meaning<"] > 0.5 > other["meaning<"]
    assert same["last_meaning<"] > other["last_meaning<"]
    longer = of(f"{X}/hebergements", f"{X}/accommodation")
    assert longer["meaning<"] > 0.5  # by its first letters
    assert of(f"{X}/news", f"{X}/%D0%BD%D0%BE%D0%B2%D0%BE%D1%81%D1%82%D0%B8")["meaning<"] > 0.5


def test_only_the_first_words_are_compared() -> None:
    many = "-".join("abcdefghijklmnop")
    found = of(f"{X}/{many}-red", f"{X}/rouge")
    assert (found["words>"], found["meaning>"]) == (17, 0)


@given(left=urls(), right=urls())
@example(f"{X}/12/a", f"{X}/b/12")
@example(f"{X}/a/a/b-a", f"{X}/b-a/a")
def test_kernel_matches_the_reference_and_is_symmetric(left: str, right: str) -> None:
    lefts, rights = [left, left, right, right], [right, left, left, left]
    fast, slow = FEATURES.of(lefts, rights), FEATURES.reference(lefts, rights)
    off = np.abs(fast - slow).max(axis=0)
    assert {name: value for name, value in zip(NAMES, off, strict=True) if value > 1e-5} == {}
    swapped = np.abs(slow[0] - slow[2])
    assert {name: value for name, value in zip(NAMES, swapped, strict=True) if value > 1e-6} == {}
    assert np.isfinite(fast).all()


def test_kernel_matches_the_reference_on_odd_urls() -> None:
    pairs = list(product(ODD, repeat=2))
    lefts, rights = [left for left, _ in pairs], [right for _, right in pairs]
    assert_equal(FEATURES.of(lefts, rights), FEATURES.reference(lefts, rights))


def assert_equal(fast: NDArray[np.float32], slow: NDArray[np.float32]) -> None:
    off = np.abs(fast - slow).max(axis=0)
    assert {name: value for name, value in zip(NAMES, off, strict=True) if value > 1e-5} == {}


@given(rows=st.lists(st.tuples(urls(), urls()), max_size=6), repeated=st.booleans())
@settings(max_examples=examples(30))
def test_a_row_does_not_depend_on_the_others(rows: list[tuple[str, str]], repeated: bool) -> None:
    rows = rows * 2 if repeated else rows
    lefts, rights = [row[0] for row in rows], [row[1] for row in rows]
    together = FEATURES.of(lefts, rights)
    assert together.shape == (len(rows), len(NAMES))
    for row, left, right in zip(together, lefts, rights, strict=True):
        assert np.array_equal(row, FEATURES.of([left], [right])[0])


def test_without_a_compiler_the_reference_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    lefts, rights = [f"{X}/en/red", f"{X}/a"], [f"{X}/fr/rouge", ""]
    fast = FEATURES.of(lefts, rights)
    monkeypatch.setattr(url_features, "native", lambda: None)
    assert_equal(fast, FEATURES.of(lefts, rights))
    assert FEATURES.of([], []).shape == (0, len(NAMES))


def test_kernels_are_compiled() -> None:
    # Else all that holds kernels against references holds references against themselves.
    assert native() is not None


def test_no_pairs() -> None:
    assert FEATURES.of([], []).shape == (0, len(NAMES))
    assert FEATURES.reference([], []).shape == (0, len(NAMES))


def test_both_sides_must_have_the_same_length() -> None:
    for compute in (FEATURES.of, FEATURES.reference):
        with pytest.raises(ValueError, match=r"differ|shorter|longer"):
            compute([X, X], [X])


EMPTY = learn_concepts([], {})


@pytest.mark.parametrize("words", [0, 1, 7, 300, 5000])
def test_lexicons_of_any_size(words: int) -> None:
    used = {f"w{'abcdefghij'[n % 10]}{_letters(n)}": 1.0 for n in range(words)}
    features = Features(learn_concepts([], used))
    known = [*list(used)[:200], "unknown", "xyz"]
    lefts, rights = [f"{X}/{word}" for word in known], [f"{X}/{word}-q" for word in reversed(known)]
    assert_equal(features.of(lefts, rights), features.reference(lefts, rights))


def _letters(number: int) -> str:
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))


def lookups(words: Sequence[bytes], scores: NDArray[np.uint8]) -> Features:
    """Features with a lexicon of words sorted by fingerprint, in which every two are synonyms."""
    keys = np.array([fingerprint(word) for word in words], np.uint32)
    ids = np.tile(np.arange(len(words), dtype=np.uint16)[:, None] // 2, SENSES)
    features = Features(Concepts(keys, ids, scores))
    pages = [f"{X}/{word.decode()}" for word in words]
    lefts, rights = map(list, zip(*product(pages, repeat=2), strict=True))
    assert_equal(features.of(lefts, rights), features.reference(lefts, rights))
    return features


def test_rows_without_a_score_are_ignored() -> None:
    words = sorted((b"wa", b"wb", b"wc"), key=fingerprint)
    scores = np.full((3, SENSES), 255, np.uint8)
    scores[0] = 0
    concepts = lookups(words, scores).concepts
    assert [len(concepts.senses(word)) for word in words] == [0, 1, 1]


def test_words_are_found_among_fingerprints_with_the_same_prefix() -> None:
    # Fingerprints with the same upper 16 bits, and the lowest and highest of many.
    words = sorted((f"w{_letters(n)}".encode() for n in range(3000)), key=fingerprint)
    upper = Counter(fingerprint(word) >> 16 for word in words)
    alike = [word for word in words if upper[fingerprint(word) >> 16] > 1]
    assert len(alike) > 4
    chosen = sorted({*alike[:9], words[0], words[-1]}, key=fingerprint)
    concepts = lookups(chosen, np.full((len(chosen), SENSES), 9, np.uint8)).concepts
    assert all(concepts.senses(word) for word in chosen)


def test_dice_is_symmetric_and_counts_repeats() -> None:
    assert dice(b"aaaa", b"aa") == dice(b"aa", b"aaaa") == 0.5
    assert dice(b"", b"") == 1
    assert dice(b"", b"ab") == 0

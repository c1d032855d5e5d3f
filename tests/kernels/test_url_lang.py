"""The kernel of the URL language model, compared with its reference in Python."""

from __future__ import annotations

import copy
import ctypes
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.kernels import native, pointer, url_lang_reference
from diptych.kernels.url_lang import (
    Learning,
    Packed,
    Tables,
    count_domains,
    epoch,
    probabilities,
)
from diptych.learn.url.language_text import pack

MAX_FEATURES = url_lang_reference.MAX_FEATURES
URLS = [
    "http://www.example.co.uk/en-GB/Some_Page.html?lang=EN&id=3",
    "https://fr.example.com/actualites/le-chat-noir-12.php",
    "http://xn--e1afmkfd.xn--p1ai/%D0%BD%D0%BE%D0%B2%D0%BE%D1%81%D1%82%D0%B8/",
    "HTTP://EXAMPLE.ORG",
    "http://example.org:8080?hl=de;x=1#part",
    "http://a..b.c.jp//x//y.z.html?=&a=&b",
    "https://例え.jp/ニュース/記事?言語=日本語",
    "http://example.org/" + "loooong" * 80 + "/" + "漢" * 100,
    "http://example.org/" + "/".join(f"word{n}abc" for n in range(300)),
    "mailto:a@example.org",
    "http://",
    "http:///x",
    "",
    "\0",
    "http://\0/\0?\0=\0",
]
url_texts = st.one_of(
    st.text(max_size=60),
    st.builds("http://{}".format, st.text(alphabet="aZ09.-_/?&=;:#%é漢я", max_size=80)),
    st.sampled_from(URLS),
)


def kernel_features(packed: Packed) -> list[list[int] | None]:
    found = np.zeros((len(packed), MAX_FEATURES), np.uint32)
    counts = np.zeros(len(packed), np.int32)
    library = native()
    assert library is not None
    library.url_lang_features(
        pointer(packed.text), pointer(packed.offsets), len(packed), pointer(found), pointer(counts)
    )
    return [
        None if count < 0 else row[:count].tolist()
        for row, count in zip(found, counts, strict=True)
    ]


def tables_of(urls: list[str], *, labels: int = 5, width: int = 8) -> Tables:
    """Random tables: two in three features are known; half of these have a row, some have facts."""
    chance = np.random.default_rng(3)
    found = {n for text in pack(urls).texts() for n in url_lang_reference.features(text) or ()}
    keys = [key for key in sorted(found) if key % 3]
    size = 1 << (2 * len(keys) + 8).bit_length()
    slot_key, slot_entry = np.zeros(size, np.uint32), np.zeros(size, np.int32)
    for entry, key in enumerate(keys):
        slot = key & (size - 1)
        while slot_key[slot]:
            slot = (slot + 1) & (size - 1)
        slot_key[slot], slot_entry[slot] = key, entry
    facts = chance.integers(0, 3, len(keys))
    starts = np.zeros(len(keys) + 1, np.int32)
    np.cumsum(facts, out=starts[1:])
    total, rows = int(facts.sum()), len(keys) // 2
    return Tables(
        out=chance.normal(size=(labels, width)).astype(np.float32),
        bias=chance.normal(size=labels).astype(np.float32),
        table=chance.integers(-127, 128, (rows, width)).astype(np.int8),
        scale=chance.uniform(0, 0.01, rows).astype(np.float32),
        slot_key=slot_key,
        slot_entry=slot_entry,
        entry_from=starts,
        fact_label=chance.integers(0, labels, total).astype(np.uint16),
        fact_kind=chance.integers(0, 7, total).astype(np.uint16),
        fact_value=chance.uniform(0, 1, total).astype(np.float32),
        kinds=chance.normal(size=7).astype(np.float32),
        gates=(chance.normal(size=7) / 10).astype(np.float32),
    )


@given(st.lists(url_texts, min_size=1, max_size=6))
def test_features_match_the_reference(urls: list[str]) -> None:
    packed = pack(urls)
    assert kernel_features(packed) == [url_lang_reference.features(t) for t in packed.texts()]


def test_features_of_long_and_strange_urls_match_the_reference() -> None:
    packed = pack(URLS)
    found = kernel_features(packed)
    assert found == [url_lang_reference.features(text) for text in packed.texts()]
    assert [features is None for features in found] == [False] * 9 + [True] * 5 + [False]
    assert len(found[8] or []) == MAX_FEATURES


def test_probabilities_match_the_reference() -> None:
    tables, packed = tables_of(URLS), pack(URLS)
    expected = url_lang_reference.probabilities(tables, packed.texts())
    np.testing.assert_allclose(probabilities(tables, packed), expected, rtol=2e-4, atol=1e-6)
    np.testing.assert_allclose(expected.sum(axis=1), 1, rtol=1e-5)
    assert expected[9].tolist() == [1, 0, 0, 0, 0]
    assert len({tuple(row) for row in expected[:9].tolist()}) == 9


def learning_of(tables: Tables, *, facts_only: bool = False) -> Learning:
    kinds = len(tables.kinds)
    return Learning(
        rows=tables.table * tables.scale[:, None],
        rows_seen=np.zeros(len(tables.table), np.float32),
        out_seen=np.full(len(tables.bias), 0.01, np.float32),
        kinds_seen=np.ones(kinds, np.float32),
        gates_seen=np.ones(kinds, np.float32),
        state=88172645463325252,
        drop=0.2,
        drop_host=0.3,
        facts_only=facts_only,
    )


@pytest.mark.parametrize("facts_only", [False, True])
def test_a_training_pass_matches_the_reference(facts_only: bool) -> None:
    urls = URLS[:8] * 3
    ours, theirs = tables_of(urls), tables_of(urls)
    left, right = (learning_of(tables, facts_only=facts_only) for tables in (ours, theirs))
    before = copy.deepcopy(left)
    order = np.random.default_rng(5).permutation(len(urls)).astype(np.int32)
    truth = (np.arange(len(urls)) % 5).astype(np.int32)
    weight = np.linspace(0.1, 2, len(urls)).astype(np.float32)
    packed, rates = pack(urls), (0.1, 0.02)
    loss = epoch(ours, left, packed, order, truth, weight, rates)
    texts = packed.texts()
    expected = url_lang_reference.epoch(
        theirs, right, [texts[place] for place in order], truth[order].tolist(),
        weight[order].tolist(), rates,
    )  # fmt: skip
    assert loss == pytest.approx(expected, rel=1e-3)
    assert left.state == right.state
    for name in ("out", "bias", "kinds", "gates"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=2e-3, atol=2e-4)
    np.testing.assert_allclose(left.rows, right.rows, rtol=2e-3, atol=2e-4)
    assert np.array_equal(left.rows, before.rows) == facts_only
    assert not np.array_equal(ours.kinds, tables_of(urls).kinds)


def test_domain_counts_match_the_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    urls = ["http://a.org/one", "http://a.org/one/two", "http://b.org/one", "http://c.de/drei"]
    packed, domain = pack(urls), np.array([0, 0, 1, 2], np.int32)
    counted = count_domains(packed, domain)
    monkeypatch.setattr("diptych.kernels.url_lang.native", lambda: None)
    expected = count_domains(packed, domain)
    for one, other in zip(counted, expected, strict=True):
        assert one.tolist() == other.tolist()
    of = dict(zip(*(array.tolist() for array in counted), strict=True))
    assert of[url_lang_reference.feature(url_lang_reference.TLD, b"org")] == 2
    assert of[url_lang_reference.feature(url_lang_reference.WORD, b"one")] == 2
    assert of[url_lang_reference.feature(url_lang_reference.WORD, b"drei")] == 1


def test_without_a_compiler_the_reference_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    tables, packed = tables_of(URLS[:4]), pack(URLS[:4])
    compiled = probabilities(tables, packed)
    monkeypatch.setattr("diptych.kernels.url_lang.native", lambda: None)
    np.testing.assert_allclose(probabilities(tables, packed), compiled, rtol=2e-4, atol=1e-6)
    learning = learning_of(tables)
    order, truth = np.arange(4, dtype=np.int32), np.array([1, 2, 3, 4], np.int32)
    weight = np.ones(4, np.float32)
    losses = [epoch(tables, learning, packed, order, truth, weight, (0.3, 0.3)) for _ in range(12)]
    assert losses[-1] < losses[0] / 2


def test_facts_reduce_the_weight_of_words() -> None:
    url = "http://example.org/fr/words"
    tables = replace(tables_of([url]), kinds=np.zeros(7, np.float32))
    quiet = replace(tables, gates=np.full(7, 50, np.float32))
    expected = np.exp(tables.bias) / np.exp(tables.bias).sum()
    np.testing.assert_allclose(probabilities(quiet, pack([url]))[0], expected, rtol=1e-4)
    loud = probabilities(replace(tables, gates=np.zeros(7, np.float32)), pack([url]))[0]
    assert not np.allclose(loud, expected, rtol=1e-2)


def test_the_feature_of_a_mark_depends_on_its_field() -> None:
    reference = url_lang_reference
    expected = {
        "http://fr.example.org/": reference.SUB,
        "http://example.org/fr/": reference.DIR_FIRST,
        "http://example.org/a/fr/": reference.DIR,
        "http://example.org/index.fr.html": reference.FILE_LAST,
        "http://example.org/fr.html": reference.FILE_WHOLE,
        "http://example.org/fr-1": reference.FILE_FIRST,
        "http://example.org/a.html.fr": reference.EXTENSION,
        "http://example.org/?lang=fr": reference.VALUE_LANG,
        "http://example.org/?x=fr": reference.VALUE,
        "http://example.org/fr_CA/": reference.LOCALE_LEFT,
        "http://example.org/ca-fr/": reference.LOCALE_RIGHT,
        "http://example.fr/": reference.TLD,
    }
    for url, kind in expected.items():
        assert reference.feature(kind, b"fr") in (reference.features(url.encode()) or []), url
        others = {reference.feature(other, b"fr") for other in expected.values() if other != kind}
        assert not others & set(reference.features(url.encode()) or []), url


def test_structures_have_the_same_size_as_in_c() -> None:
    from diptych.kernels.url_lang import _CLearning, _CTables

    assert ctypes.sizeof(_CTables) == 16 + 12 * ctypes.sizeof(ctypes.c_void_p)
    assert ctypes.sizeof(_CLearning) == 9 * ctypes.sizeof(ctypes.c_void_p) + 8 + 16

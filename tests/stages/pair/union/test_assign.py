from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import permutations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.timing import processor_seconds

from diptych.stages.pair.union import assign
from diptych.stages.pair.union.assign import best_matching, consistent_groups

Edge = tuple[str, str, float]

WEIGHTS = st.one_of(
    st.sampled_from([0.25, 0.5, 0.75, 1.0]),
    st.floats(0.001, 1.0),
)
EDGES = st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from("uvwxy"), WEIGHTS))


def total(edges: Sequence[Edge], pairs: Sequence[tuple[str, str]]) -> float:
    """The weight of a matching, which must be one."""
    heaviest: dict[tuple[str, str], float] = {}
    for left, right, weight in edges:
        heaviest[left, right] = max(weight, heaviest.get((left, right), 0.0))
    assert len({left for left, _ in pairs}) == len({right for _, right in pairs}) == len(pairs)
    return sum(heaviest[pair] for pair in pairs)


def greedy(edges: Sequence[Edge]) -> list[tuple[str, str]]:
    taken: set[object] = set()
    pairs = []
    for left, right, _ in sorted(edges, key=lambda edge: (-edge[2], edge)):
        if taken.isdisjoint({(left, 0), (right, 1)}):
            taken |= {(left, 0), (right, 1)}
            pairs.append((left, right))
    return pairs


def most(edges: Sequence[Edge]) -> float:
    """The best weight there is, by trying all."""
    rights = "uvwxy"
    heaviest: dict[tuple[str, str], float] = {}
    for left, right, weight in edges:
        heaviest[left, right] = max(weight, heaviest.get((left, right), 0.0))
    return max(
        sum(heaviest.get(pair, 0.0) for pair in zip("abcde", order, strict=True))
        for order in permutations(rights)
    )


def random_edges(lefts: int, each: int, *, rights: int, seed: int = 0) -> list[Edge]:
    chance = random.Random(seed)
    return [
        (f"a{left}", f"b{chance.randrange(rights)}", chance.random())
        for left in range(lefts)
        for _ in range(each)
    ]


def test_strongest_first_is_not_the_best() -> None:
    edges = [("a", "x", 0.9), ("a", "y", 0.8), ("b", "x", 0.8)]
    assert greedy(edges) == [("a", "x")]
    assert best_matching(edges) == [("a", "y"), ("b", "x")]


def test_nodes_may_stay_unmatched() -> None:
    # Matching both left nodes would weigh less than the one good pair.
    edges = [("a", "x", 0.9), ("a", "y", 0.1), ("b", "x", 0.2)]
    assert best_matching(edges) == [("a", "x")]
    assert best_matching([]) == []


def test_matched_node_gives_way_to_a_better_one() -> None:
    assert best_matching([("a", "x", 0.5), ("b", "x", 0.9)]) == [("b", "x")]


@given(EDGES)
@example([("a", "u", 0.5), ("b", "u", 0.75), ("b", "v", 0.5), ("c", "v", 0.75), ("c", "u", 1.0)])
def test_no_matching_weighs_more(edges: list[Edge]) -> None:
    assert total(edges, best_matching(edges)) == pytest.approx(most(edges), abs=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_dense_graphs_agree_with_the_assignment_of_scipy(seed: int) -> None:
    optimize = pytest.importorskip("scipy.optimize")
    rows, columns = 12 + seed, 25 - 2 * seed
    weights = np.random.default_rng(seed).random((rows, columns)) + 0.001
    edges = [
        (f"a{row}", f"b{column}", float(weights[row, column]))
        for row in range(rows)
        for column in range(columns)
    ]
    best = weights[optimize.linear_sum_assignment(weights, maximize=True)].sum()
    assert total(edges, best_matching(edges)) == pytest.approx(best, abs=1e-9)


def test_a_sparse_graph_of_middle_size_is_exact_too() -> None:
    optimize = pytest.importorskip("scipy.optimize")
    edges = random_edges(120, 4, rights=120)
    weights = np.zeros((120, 120))
    for left, right, weight in edges:
        place = int(left[1:]), int(right[1:])
        weights[place] = max(weight, weights[place])
    best = weights[optimize.linear_sum_assignment(weights, maximize=True)].sum()
    assert total(edges, best_matching(edges)) == pytest.approx(best, abs=1e-9)


@given(EDGES, st.randoms(use_true_random=False))
def test_order_of_edges_does_not_matter(edges: list[Edge], chance: random.Random) -> None:
    shuffled = list(edges)
    chance.shuffle(shuffled)
    assert best_matching(shuffled) == best_matching(edges)


def test_ties_go_to_what_sorts_first() -> None:
    edges = [(left, right, 0.5) for left in "cba" for right in "zyx"]
    assert best_matching(edges) == [("a", "x"), ("b", "y"), ("c", "z")]
    assert best_matching([("b", "x", 0.5), ("a", "x", 0.5)]) == [("a", "x")]


def test_left_and_right_are_apart_even_where_a_node_is_both() -> None:
    assert best_matching([("a", "a", 0.5), ("a", "b", 0.4), ("b", "a", 0.4)]) == [
        ("a", "b"),
        ("b", "a"),
    ]


def test_invalid_weights_are_ignored() -> None:
    edges = [("a", "x", 0.0), ("b", "x", -1.0), ("c", "x", float("nan")), ("d", "x", float("inf"))]
    assert best_matching([*edges, ("e", "x", 1e-300)]) == [("e", "x")]


def test_many_small_components_take_no_time() -> None:
    chance = random.Random(0)
    edges = [
        (f"a{left}", f"b{left // 5 * 5 + chance.randrange(8)}", chance.random())
        for left in range(5_000)
        for _ in range(10)
    ]
    with processor_seconds():  # measured: 0.2
        pairs = best_matching(edges)
    assert total(edges, pairs) > 1.05 * total(edges, greedy(edges))


@pytest.mark.slow
@pytest.mark.parametrize("weight", ["any", "equal"])
def test_one_large_component_is_bounded_and_better_than_greedy(weight: str) -> None:
    edges = random_edges(6_000, 10, rights=6_000)
    if weight == "equal":
        edges = [(left, right, 0.5) for left, right, _ in edges]
    with processor_seconds(10):  # measured: 1
        pairs = best_matching(edges)
    assert total(edges, pairs) > 1.03 * total(edges, greedy(edges))


def test_complete_graph_is_bounded() -> None:
    edges = [(f"a{left}", f"b{right}", 0.5) for left in range(300) for right in range(300)]
    with processor_seconds():  # measured: 0.2
        assert len(best_matching(edges)) == 300


def test_a_search_that_is_ended_early_still_gives_a_good_matching(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    edges = random_edges(300, 6, rights=300)
    exact = total(edges, best_matching(edges))
    monkeypatch.setattr(assign, "_FREE_LOOKS", 0)
    monkeypatch.setattr(assign, "_LOOKS_PER_EDGE", 0)
    monkeypatch.setattr(assign, "_NARROW_SEARCH", 30)
    ended = total(edges, best_matching(edges))
    assert total(edges, greedy(edges)) < ended < exact
    assert ended > 0.97 * exact


LANG_OF = {"e1": "en", "e2": "en", "f1": "fr", "f2": "fr", "d1": "de", "d2": "de"}


def test_pages_of_n_languages_become_one_document() -> None:
    pairs = [("e1", "f1", 0.9), ("f1", "d1", 0.8), ("e2", "f2", 0.7)]
    assert consistent_groups(pairs, LANG_OF) == [("d1", "e1", "f1"), ("e2", "f2")]


def test_a_second_page_of_a_language_is_refused() -> None:
    pairs = [("e1", "f1", 0.9), ("e2", "d1", 0.8), ("f1", "d1", 0.7), ("e1", "e2", 1.0)]
    assert consistent_groups(pairs, LANG_OF) == [("d1", "e2"), ("e1", "f1")]


def test_the_strongest_pair_is_joined_first() -> None:
    weak_first = [("e1", "f1", 0.5), ("e2", "f1", 0.9)]
    assert consistent_groups(weak_first, LANG_OF) == [("e2", "f1")]


def test_pages_nobody_is_paired_with_are_in_no_group() -> None:
    assert consistent_groups([], LANG_OF) == []
    assert consistent_groups([("e1", "e2", 0.9), ("e1", "e1", 0.9)], LANG_OF) == []
    assert consistent_groups([("e1", "f1", 0.0)], LANG_OF) == []


PAIRS = st.lists(
    st.tuples(st.sampled_from(sorted(LANG_OF)), st.sampled_from(sorted(LANG_OF)), WEIGHTS)
)


@given(PAIRS, st.randoms(use_true_random=False))
def test_groups_have_one_page_of_a_language_in_whatever_order(
    pairs: list[Edge], chance: random.Random
) -> None:
    groups = consistent_groups(pairs, LANG_OF)
    pages = [page for group in groups for page in group]
    assert len(set(pages)) == len(pages)
    for group in groups:
        assert len({LANG_OF[page] for page in group}) == len(group) > 1
    turned = [(right, left, weight) for left, right, weight in pairs]
    chance.shuffle(turned)
    assert consistent_groups(turned, LANG_OF) == groups

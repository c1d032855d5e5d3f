"""Training the URL pair model: examples and boosted trees."""

from __future__ import annotations

import math
import random
import sys

import numpy as np
import pytest
from support.tinymodel import parallel_urls, tiny_model

from diptych.errors import ConfigError
from diptych.learn.url.data import LabelledPair
from diptych.learn.url.negatives import BEST_MIX, Negatives
from diptych.learn.url.pair_train import examples, train


def pair(
    left: str, right: str, langs: str = "en fr", domain: str = "x.org", weight: float = 1.0
) -> LabelledPair:
    one, other = langs.split()
    return LabelledPair(domain, f"http://x.org{left}", one, f"http://x.org{right}", other, weight)


def test_examples_are_positives_and_the_mix_of_negatives() -> None:
    rows = parallel_urls(3)
    given = examples(rows, seed=4)
    assert given.parallel.sum() == len(rows)
    made = list(Negatives(BEST_MIX, each=2, seed=4).make(rows))
    assert len(given.lefts) == len(given.rights) == len(given.domains) == len(rows) + len(made)
    negative = [
        (left, right)
        for left, right, parallel in zip(given.lefts, given.rights, given.parallel, strict=True)
        if not parallel
    ]
    assert negative == [(row.url_a, row.url_b) for row, _ in made]


def test_a_domain_counts_by_the_root_of_its_size() -> None:
    small = [pair(f"/en/{n}", f"/fr/{n}", domain="small.org") for n in range(4)]
    large = [pair(f"/en/p{n}", f"/fr/p{n}", domain="large.org", weight=0.5) for n in range(16)]
    given = examples([*small, *large])
    weights = {
        (domain, bool(parallel)): weight
        for domain, parallel, weight in zip(
            given.domains, given.parallel, given.weights, strict=True
        )
    }
    assert weights == {
        ("small.org", True): 1 / 2,
        ("small.org", False): 1.5 / 2,
        ("large.org", True): 0.5 / 4,  # doubtful positives count less, their negatives do not
        ("large.org", False): 1.5 / 4,
    }


def test_a_trained_model_separates_pairs_from_others() -> None:
    rows = parallel_urls(30)[24 * 8 :]  # sites it was not trained on
    given = examples(rows)
    found = tiny_model().probabilities(given.lefts, given.rights)
    threshold = 0.5
    right = (found > threshold) == given.parallel
    assert right.mean() > 0.9
    assert found[given.parallel].mean() > found[~given.parallel].mean() + 0.5


def test_same_rows_and_seed_same_model() -> None:
    rows = parallel_urls(8)
    one, other = (train(rows, iterations=3) for _ in range(2))
    for name in ("roots", "features", "thresholds", "values"):
        assert np.array_equal(getattr(one.forest, name), getattr(other.forest, name))
    assert np.array_equal(one.features.concepts.keys, other.features.concepts.keys)


@pytest.mark.parametrize("rows", [[], [pair("/", "/")], [pair("", "/")]])
def test_training_without_negatives_is_an_error(rows: list[LabelledPair]) -> None:
    with pytest.raises(ConfigError, match="at least two documents"):
        train(rows)


def test_training_without_scikit_learn_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    rows = parallel_urls(3)
    with pytest.raises(ConfigError, match="pip install"):
        train(rows)


def test_order_of_rows_changes_no_example() -> None:
    rows = parallel_urls(4)
    shuffled = rows[:]
    random.Random(2).shuffle(shuffled)

    def told(given):
        return sorted(
            zip(
                given.lefts,
                given.rights,
                given.parallel.tolist(),
                given.weights.tolist(),
                strict=True,
            )
        )

    assert told(examples(rows)) == told(examples(shuffled))
    assert math.isclose(examples(rows).weights.sum(), examples(shuffled).weights.sum())

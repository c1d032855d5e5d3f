"""Cross-fitting of the URL pair model: what words and languages are learned from."""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import pytest
from support.tinymodel import learn_from, parallel_urls
from support.urlmodels import FakeLanguages

from bench.training.concepts import learn_concepts
from bench.training.cross_fitting import Knowledge, train
from diptych.errors import ConfigError
from diptych.learn.url.data import LabelledPair, fold_of


def test_same_rows_and_seed_same_model() -> None:
    rows = parallel_urls(8)
    one, other = (train(rows, learn_from(rows), iterations=3) for _ in range(2))
    for name in ("roots", "features", "thresholds", "values"):
        assert np.array_equal(getattr(one.forest, name), getattr(other.forest, name))
    assert np.array_equal(one.features.concepts.keys, other.features.concepts.keys)


def test_features_of_a_domain_never_come_from_what_it_taught() -> None:
    rows = parallel_urls(8)
    asked: list[set[str]] = []

    def learn(chosen: Callable[[str], bool]) -> Knowledge:
        asked.append({row.domain for row in rows if chosen(row.domain)})
        return Knowledge(learn_concepts([], {}), Spy(asked[-1]))

    class Spy(FakeLanguages):
        def __init__(self, learned: set[str]) -> None:
            super().__init__()
            self.learned = learned

        def probabilities(self, urls):
            read = {url.split("/")[2] for url in urls} & {row.domain for row in rows}
            assert not read & self.learned
            return super().probabilities(urls)

    train(rows, learn, iterations=1)
    domains = {row.domain for row in rows}
    assert asked[0] | asked[1] == domains == asked[2]
    assert not asked[0] & asked[1]
    assert asked[0]
    assert asked[1]


def test_one_domain_is_enough() -> None:
    rows = [row._replace(domain="x.org") for row in parallel_urls(2)]
    model = train(rows, learn_from(rows), iterations=1)
    assert model.features.concepts.senses(b"water")
    assert 0 <= fold_of("x.org") < 1


def test_nothing_to_learn_from() -> None:
    one = LabelledPair("x.org", "http://x.org/", "en", "http://x.org/", "fr")
    for rows in ([], [one], [one._replace(url_a="http://x.org")]):
        with pytest.raises(ConfigError, match="at least two documents"):
            train(rows, learn_from(rows))


def test_training_asks_for_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    rows = parallel_urls(3)
    with pytest.raises(ConfigError, match="pip install"):
        train(rows, learn_from(rows))

"""What does not depend on words is computed once."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.fakes import FakeSite

from diptych.stages.pair.shared.memory import Measures, PairMemory, computed_once


class RememberingSite(FakeSite):
    """A site that keeps results."""

    def __init__(self) -> None:
        super().__init__("en", "fr")
        self.memory: dict[object, object] = {}


def test_result_is_computed_once_if_the_site_keeps_results() -> None:
    calls: list[int] = []
    for built, expected in ((RememberingSite(), 1), (FakeSite("en", "fr"), 2)):
        calls.clear()
        for _ in range(2):
            assert computed_once(built, "name", lambda: calls.append(1) or len(calls)) > 0
        assert len(calls) == expected


def test_results_have_names() -> None:
    built = RememberingSite()
    assert [computed_once(built, name, lambda name=name: name * 2) for name in "aba"] == [
        "aa", "bb", "aa"
    ]  # fmt: skip


@given(st.lists(st.lists(st.integers(0, 9), unique=True), max_size=5))
def test_each_pair_is_measured_once(rounds: list[list[int]]) -> None:
    memory, measured = PairMemory(), []
    for each in rounds:
        keys = np.array(each, np.int64)

        def compute(is_new: NDArray[np.bool_], keys: NDArray[np.int64] = keys) -> Measures:
            measured.extend(keys[is_new].tolist())
            return {
                "double": keys[is_new].astype(np.float32) * 2, "own": keys[is_new] + np.float32(1)
            }  # fmt: skip

        found = memory.measures(keys, compute)
        assert found["double"].tolist() == [2 * key for key in each]
        assert found["own"].tolist() == [key + 1 for key in each]
    assert len(measured) == len(set(measured))

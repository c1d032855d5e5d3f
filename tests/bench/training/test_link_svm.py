"""Training of the link predictor."""

from __future__ import annotations

import numpy as np
import pytest

from bench.training.link_svm import LabelledLink, fit, platt


def rows() -> list[LabelledLink]:
    made = []
    for number in range(60):
        group = f"g{number % 10}"
        made.append(LabelledLink(frozenset({"anchor:is:missing", "rel:a"}), True, group))
        made.append(LabelledLink(frozenset({"rel:a", "anchor:is:third"}), False, group))
        made.append(LabelledLink(frozenset({"rel:a", f"url={group}"}), False, group))
    return made


def test_trained_model_tells_links_apart() -> None:
    model = fit(rows())
    assert model.probability({"rel:a", "anchor:is:missing"}) > 0.9
    assert model.probability({"rel:a", "anchor:is:third"}) < 0.1
    assert fit(rows()) == model


def test_feature_of_one_group_gets_no_weight() -> None:
    alone = [
        LabelledLink(frozenset({"rel:a", "anchor:is:missing", "odd"}), True, "g1") for _ in range(9)
    ]
    assert "odd" not in fit([*rows(), *alone]).weights
    assert "odd" in fit([*rows(), *alone], least_groups=1).weights


def test_no_weight_has_the_wrong_sign() -> None:
    odd = [
        LabelledLink(frozenset({"rel:a", "text:missing:sure"}), False, f"g{number % 10}")
        for number in range(50)
    ]
    odd += [
        LabelledLink(frozenset({"rel:a", "text:third:sure"}), True, f"g{number % 10}")
        for number in range(50)
    ]
    weights = fit([*rows(), *odd]).weights
    assert weights.get("text:missing:sure", 0.0) >= 0
    assert weights.get("text:third:sure", 0.0) <= 0


def test_the_sigmoid_gives_the_frequencies() -> None:
    margins = np.repeat([-1.0, 1.0], 1000)
    labels = np.concatenate([np.arange(1000) < 200, np.arange(1000) < 900])
    slope, offset = platt(margins, labels)
    shares = 1 / (1 + np.exp(-(slope * np.array([-1.0, 1.0]) + offset)))
    assert shares == pytest.approx([0.2, 0.9], abs=0.01)

from __future__ import annotations

import pytest

from diptych.stages.align_sentences.gale_church import PRIORS, GaleChurch
from diptych.types import Bead


def shapes(beads: list[Bead]) -> list[tuple[int, int]]:
    return [(len(bead.left), len(bead.right)) for bead in beads]


def words(*lengths: int) -> list[str]:
    return ["x" * length for length in lengths]


def test_priors_are_those_of_the_paper() -> None:
    assert PRIORS[1, 1] == 0.89
    assert PRIORS[1, 0] + PRIORS[0, 1] == pytest.approx(0.0099)
    assert PRIORS[2, 1] + PRIORS[1, 2] == pytest.approx(0.089)
    assert PRIORS[2, 2] == 0.011
    # table 5 is rounded
    assert sum(PRIORS.values()) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ((40, 90, 20), (42, 85, 21), [(1, 1), (1, 1), (1, 1)]),
        ((30, 50, 100), (81, 102), [(2, 1), (1, 1)]),
        ((81, 102), (30, 50, 100), [(1, 2), (1, 1)]),
        ((50, 50, 3), (100,), [(2, 1), (1, 0)]),
        ((100,), (3, 50, 50), [(0, 1), (1, 2)]),
        ((10, 200), (110, 100), [(2, 2)]),
    ],
)
def test_each_kind_of_bead_is_found(
    left: tuple[int, ...], right: tuple[int, ...], expected: list[tuple[int, int]]
) -> None:
    assert shapes(GaleChurch().align(words(*left), words(*right))) == expected


def test_score_of_a_perfect_pair_is_one_and_a_merged_one_is_its_prior() -> None:
    (one,) = GaleChurch().align(words(50), words(50))
    assert one.score == 1.0
    (merged,) = GaleChurch().align(words(30, 20), words(50))
    assert merged.score == pytest.approx(0.089 / 2 / 0.89)


def test_worse_lengths_score_lower() -> None:
    scores = [GaleChurch().align(words(50), words(right))[0].score for right in (50, 55, 70)]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == 3


def test_ideographs_are_as_long_as_the_words_they_stand_for() -> None:
    english = [
        "The kernel is the core of the system.",
        "It starts first.",
        "Install it now please.",
    ]
    chinese = ["内核是系统的核心部分。", "它最先启动。", "请现在就安装它。"]
    assert shapes(GaleChurch().align(english, chinese)) == [(1, 1)] * 3


def test_expected_ratio_is_a_parameter() -> None:
    left, right = words(40, 44), words(80, 88)
    assert shapes(GaleChurch(c=2.0).align(left, right)) == [(1, 1), (1, 1)]
    assert GaleChurch(c=2.0).align(left, right)[0].score > GaleChurch().align(left, right)[0].score


def test_variance_is_a_parameter() -> None:
    left, right = words(50), words(70)
    assert GaleChurch(s2=20).align(left, right)[0].score > GaleChurch().align(left, right)[0].score


@pytest.mark.slow
def test_long_texts_are_aligned_in_a_band_and_still_well() -> None:
    lengths = [20 + 37 * number % 101 for number in range(1_500)]
    beads = GaleChurch().align(words(*lengths), words(*lengths[:700], 300, *lengths[700:]))
    assert sum(len(bead.left) for bead in beads) == 1_500
    assert sum(len(bead.right) for bead in beads) == 1_501
    assert shapes(beads).count((1, 1)) > 1_450

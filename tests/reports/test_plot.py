from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.reports.curve import Curve
from diptych.reports.plot import MAX_STEPS, SIDE, Mark, Plot, plot

CURVES = st.tuples(
    st.lists(st.integers(1, 5000), min_size=1, max_size=900), st.integers(0, 300)
).map(lambda each: Curve(max(each[0]) + each[1], tuple(sorted(each[0]))))


def drawn(pairs: Curve, langs: int = 2) -> Plot:
    picture = plot(pairs, 2 / (langs - 1))
    assert picture is not None
    return picture


def corners(path: str) -> list[tuple[float, float]]:
    """The corners of an SVG path of M, H, V and L commands."""
    found = [(0.0, 0.0)]
    for command, numbers in re.findall(r"([MHVL])([-\d. ]+)", path):
        values = [float(number) for number in numbers.split()]
        x, y = found[-1]
        match command:
            case "H":
                found.append((values[0], y))
            case "V":
                found.append((x, values[0]))
            case _:
                found.append((values[0], values[1]))
    return found[1:]


def numbers(marks: tuple[Mark, ...]) -> list[int]:
    return [int(text.replace(",", "")) for _, text in marks]


def places(marks: tuple[Mark, ...]) -> list[float]:
    return [float(place.removesuffix("%")) for place, _ in marks]


def test_nothing_is_drawn_without_pairs() -> None:
    assert plot(Curve(12, ()), 2.0) is None


def test_cost_is_that_of_95_percent_of_pairs() -> None:
    picture = drawn(Curve(400, (*range(3, 60, 3), 300)))
    assert (picture.pairs, picture.downloads) == (20, 400)
    assert (picture.most, picture.cost) == (57, 3.0)
    assert picture.place == ("14.25%", "95%")


@given(CURVES)
def test_line_rises_and_stays_within_its_frame(pairs: Curve) -> None:
    line = corners(drawn(pairs).line)
    assert line[0] == (0, SIDE)
    assert line[-1][0] == SIDE  # the last download
    assert all(0 <= x <= SIDE and 0 <= y <= SIDE for x, y in line)
    assert [x for x, _ in line] == sorted(x for x, _ in line)
    assert [y for _, y in line] == sorted((y for _, y in line), reverse=True)
    assert len(line) <= 2 * MAX_STEPS + 3


@pytest.mark.parametrize("pairs", [MAX_STEPS, MAX_STEPS + 1, 25_000])
def test_long_line_has_a_limited_number_of_steps(pairs: int) -> None:
    line = corners(drawn(Curve(3 * pairs, tuple(range(2, 2 * pairs + 1, 2)))).line)
    assert MAX_STEPS <= len(line) <= 2 * MAX_STEPS + 3


@given(CURVES)
def test_line_ends_at_all_pairs(pairs: Curve) -> None:
    picture = drawn(pairs)
    top = numbers(picture.up)[-1]
    assert top >= len(pairs.found)
    assert corners(picture.line)[-1][1] == round(SIDE * (1 - len(pairs.found) / top))


@pytest.mark.parametrize("langs", [2, 3, 5])
def test_groups_in_several_languages_cost_less_than_two_downloads_per_pair(langs: int) -> None:
    picture = drawn(Curve(40, (4, 8, 10, 11, 12)), langs)
    assert picture.least == 2 / (langs - 1)
    assert corners(picture.limit)[-1] == (round(SIDE * 5 * picture.least / 40), 0)


@given(CURVES, st.integers(2, 6))
def test_limit_stays_within_the_frame(pairs: Curve, langs: int) -> None:
    picture = drawn(pairs, langs)
    x, y = corners(picture.limit)[-1]
    highest = corners(picture.line)[-1][1]
    assert 0 <= x <= SIDE
    assert highest <= y <= SIDE
    assert x == SIDE or y == highest  # it ends at the last download or with all pairs


@given(CURVES)
def test_axes_have_few_round_marks(pairs: Curve) -> None:
    picture = drawn(pairs)
    for marks, most in ((picture.across, pairs.downloads), (picture.up, len(pairs.found))):
        assert 2 <= len(marks) <= 6
        assert numbers(marks)[0] == 0
        assert str(numbers(marks)[1]).rstrip("0") in {"1", "2", "5"}
        assert numbers(marks)[-1] + numbers(marks)[1] > most
        assert places(marks) == sorted(places(marks))
        assert places(marks)[-1] <= 100

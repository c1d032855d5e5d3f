from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.reports.curve import Curve, curve
from diptych.run.store import Store

CURVES = st.lists(st.integers(1, 1000), max_size=60).map(
    lambda found: Curve(max(found, default=0) + 7, tuple(sorted(found)))
)


def test_empty_run_has_an_empty_curve(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        assert curve(store) == Curve(0, ())


def test_curve_of_a_run_has_downloads_and_pairs(recorded: Path) -> None:
    with Store(recorded, write=False) as store:
        found = curve(store)
        verified = [pair for site, _ in store.sites() for pair in store.verified_pairs(site)]
    assert len(found.found) == len(verified) > 0
    assert 2 <= found.found[0] <= found.found[-1] <= found.downloads


# -- shares --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("share", "downloads"),
    [(0.1, 10), (0.15, 20), (0.2, 20), (0.3, 30), (0.7, 70), (0.95, 100), (1.0, 100), (0.0, 10)],
)
def test_share_is_reached_with_the_pair_that_completes_it(share: float, downloads: int) -> None:
    pairs = Curve(120, tuple(range(10, 101, 10)))
    assert pairs.at(share) == downloads
    assert pairs.per_pair(share) == 10.0


def test_rounding_errors_of_shares_add_no_pair() -> None:
    assert Curve(25, tuple(range(1, 26))).at(0.28) == 7


def test_curve_without_pairs_reaches_nothing() -> None:
    empty = Curve(12, ())
    assert (empty.at(0.95), empty.per_pair(0.95), empty.tenths) == (None, None, [])


@given(CURVES)
def test_tenths_rise_from_the_first_pairs_to_the_last(pairs: Curve) -> None:
    tenths = pairs.tenths
    if not pairs.found:
        assert tenths == []
        return
    assert len(tenths) == 10
    assert tenths == sorted(tenths)
    assert tenths[-1] == pairs.found[-1]
    for number, downloads in enumerate(tenths, 1):
        assert 10 * sum(found <= downloads for found in pairs.found) >= number * len(pairs.found)
        assert 10 * sum(found < downloads for found in pairs.found) < number * len(pairs.found)

"""Beads in C, compared with their reference, and both with all possible paths."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.kernels import beads, beads_reference, native
from diptych.kernels.beads import (
    Band,
    Lengths,
    Moves,
    Path,
    Windows,
    bead_scores,
    best_path,
    word_gains,
)
from diptych.kernels.ibm1 import Bags, Postings, bags, postings
from diptych.kernels.tables import Table

SIZE, OTHERS = 6, 5
GAPS = ((1, 0), (0, 1))
LIFTS = st.floats(0.125, 2_000, width=32)
KINDS = ((1, 1), (1, 2), (2, 1), (2, 2), (1, 3), (3, 1), (1, 4), (4, 1))
rows = st.lists(st.lists(st.integers(0, SIZE - 1), max_size=6), max_size=6)
other_rows = st.lists(st.lists(st.integers(0, OTHERS - 1), max_size=6), max_size=6)


def packed(found: Sequence[Sequence[int]], size: int) -> Bags:
    offsets = np.cumsum([0, *map(len, found)], dtype=np.int64)
    return bags(np.array([word for row in found for word in row], np.int32), offsets, size)


def words_before(found: Sequence[Sequence[int]]) -> np.ndarray:
    return np.cumsum([0.0, *(max(len(row), 1) for row in found)])


@pytest.fixture(autouse=True)
def _compiled() -> None:
    assert native() is not None


def slowly(call, *arguments, **options):
    """The result of a call without compiled kernels."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(beads, "native", lambda: None)
        return call(*arguments, **options)


@st.composite
def link_tables(draw: st.DrawFn, lifts: st.SearchStrategy[float] = LIFTS) -> Table:
    columns = [sorted(draw(st.sets(st.integers(0, OTHERS - 1)))) for _ in range(SIZE)]
    offsets = np.cumsum([0, *map(len, columns)], dtype=np.int64)
    count = int(offsets[-1])
    values = draw(st.lists(lifts, min_size=count, max_size=count))
    flat = np.array([column for row in columns for column in row], np.int32)
    return Table(offsets, flat, np.array(values, np.float32))


@st.composite
def bands(draw: st.DrawFn, most: int = 6) -> Band:
    """Bands of all widths, down to one point per row where they are straight."""
    left, right = draw(st.integers(0, most)), draw(st.integers(0, most))
    if draw(st.booleans()):
        return Band.full(left, right)
    points = draw(st.lists(st.tuples(st.integers(0, left), st.integers(0, right)), max_size=5))
    points = sorted({(0, 0), *points, (left, right)})
    if draw(st.booleans()):  # a way that only goes on
        points = np.maximum.accumulate(np.array(points), axis=0).tolist()
    return Band.around(np.array(points, np.int64), left, right, draw(st.integers(0, 2)))


@st.composite
def some_moves(draw: st.DrawFn) -> Moves:
    kinds = [*GAPS, *draw(st.lists(st.sampled_from(KINDS), unique=True))]
    kinds = draw(st.permutations(kinds))
    shares = st.floats(0.001, 0.9)
    return Moves.of(kinds, draw(st.lists(shares, min_size=len(kinds), max_size=len(kinds))))


def points_of(band: Band) -> Iterator[tuple[int, int]]:
    for i, (low, high) in enumerate(zip(*band, strict=True)):
        yield from ((i, j) for j in range(low, high + 1))


def random_scores(band: Band, moves: Moves, seed: int) -> np.ndarray:
    """Random scores of all moves within a band; moves that leave it are impossible."""
    chance = np.random.default_rng(seed)
    scores = chance.normal(-1, 2, (int(band.start[-1]), len(moves.priors))).astype(np.float32)
    for at, (i, j) in enumerate(points_of(band)):
        for move, (a, b, _) in enumerate(zip(*moves, strict=True)):
            x, y = i + a, j + b
            if x >= len(band.low) or not band.low[x] <= y <= band.high[x]:
                scores[at, move] = beads_reference.IMPOSSIBLE
    return scores


def ways(band: Band, moves: Moves, scores: np.ndarray) -> list[list[tuple[int, int, int]]]:
    """All paths through a band, as beads: left and right position, and kind of move."""
    end = len(band.low) - 1, band.right

    def onward(i: int, j: int) -> Iterator[list[tuple[int, int, int]]]:
        if (i, j) == end:
            yield []
        for move, (a, b, _) in enumerate(zip(*moves, strict=True)):
            if scores[band.start[i] + j - band.low[i], move] > beads_reference.IMPOSSIBLE:
                yield from ([(i, j, move), *rest] for rest in onward(i + a, j + b))

    return list(onward(0, 0))


def value_of(band: Band, way, scores: np.ndarray) -> float:
    return sum(float(scores[band.start[i] + j - band.low[i], q]) for i, j, q in way)


def assert_whole(path: Path, band: Band, moves: Moves) -> None:
    """Assert that a path connects both corners by known moves within the band."""
    at, kinds = (0, 0), set(zip(moves.left.tolist(), moves.right.tolist(), strict=True))
    for i, j, a, b in path.steps.tolist():
        assert (i, j) == at
        assert (a, b) in kinds
        assert band.low[i] <= j <= band.high[i]
        at = i + a, j + b
    assert at == (len(band.low) - 1, band.right)
    assert len(path.steps) == len(path.confidence)


# -- bands -------------------------------------------------------------------------------------


@given(
    st.integers(0, 12),
    st.integers(0, 12),
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=8),
    st.integers(0, 4),
    st.booleans(),
)
def test_band_around_any_points_connects_both_corners(
    left: int, right: int, found: list[tuple[int, int]], margin: int, in_order: bool
) -> None:
    points = [(min(i, left), min(j, right)) for i, j in found]
    points = [*(sorted(points) if in_order else points), (left, right)]
    band = Band.around(np.array(points, np.int64), left, right, margin)
    assert (len(band.low), band.low[0], band.high[-1], band.right) == (left + 1, 0, right, right)
    assert ((band.low >= 0) & (band.low <= band.high) & (band.high <= right)).all()
    for rising in band:
        assert (np.diff(rising) >= 0).all()
    assert (band.low[1:] <= band.high[:-1]).all()  # neighbouring rows touch
    for i, j in points:
        assert band.low[i] <= j <= band.high[i]
    moves = Moves.of(GAPS, (0.5, 0.5))
    assert_whole(best_path(band, moves, random_scores(band, moves, 0)), band, moves)


@given(bands(10), st.integers(1, 4))
def test_windows_contain_all_sentences_a_bead_may_join(band: Band, most: int) -> None:
    ours, theirs = band.left_windows(most), band.right_windows(most)
    assert (len(ours.low), len(theirs.low)) == (len(band.low) - 1, band.right)
    for i, j in points_of(band):
        for a in range(1, most + 1):
            for b in range(1, most + 1):
                x, y = i + a, j + b
                if x >= len(band.low) or not band.low[x] <= y <= band.high[x]:
                    continue
                assert (ours.low[i:x] <= j).all()
                assert (ours.high[i:x] >= y).all()
                assert (theirs.low[j:y] <= i).all()
                assert (theirs.high[j:y] >= x).all()


def test_starts_count_the_points() -> None:
    band = Band(np.array([0, 0, 1], np.int32), np.array([1, 2, 2], np.int32))
    assert band.start.tolist() == [0, 2, 5, 7]
    assert Windows(*band).start.tolist() == [0, 1, 3, 4]


# -- words -------------------------------------------------------------------------------------


def spans(draw: st.DrawFn, count: int, places: int) -> Windows:
    ends = [sorted(draw(st.tuples(*[st.integers(0, places)] * 2))) for _ in range(count)]
    low, high = np.array(ends, np.int32).reshape(-1, 2).T.copy()
    return Windows(low, high)


@given(st.data(), rows, other_rows, st.integers(1, 4), st.sampled_from([0.999, 0.9, 0.3]))
def test_word_gains_match_the_reference(data, found, others, sizes: int, share: float) -> None:
    left, right = packed(found, SIZE), packed(others, OTHERS)
    windows = spans(data.draw, len(found), len(others))
    before = words_before(others)
    arguments = (left, data.draw(link_tables()), postings(right), before, windows)
    # Of the words of a sentence some are loose, or all, or none.
    kinds = st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=len(others), max_size=len(others))
    loose = np.cumsum([0.0, *(np.array(data.draw(kinds)) * np.diff(before))])
    options = {"sizes": sizes, "null_share": share, "loose_before": loose}
    ours = word_gains(*arguments, **options)
    theirs = slowly(word_gains, *arguments, **options)
    assert ours.shape == (sizes, int((windows.high - windows.low).sum()))
    np.testing.assert_allclose(ours, theirs, 1e-4, 1e-4)
    # Nothing is left in the arrays in between.
    np.testing.assert_array_equal(ours, word_gains(*arguments, **options))


@given(st.data(), st.lists(st.integers(0, SIZE - 1), max_size=40))
def test_gains_of_many_strongly_linked_words_do_not_overflow(data, found) -> None:
    left, right = packed([found], SIZE), packed([[0, 1], [2, 3, 4]], OTHERS)
    links = data.draw(link_tables(st.just(1e37)))
    windows = Windows(np.zeros(1, np.int32), np.full(1, 2, np.int32))
    arguments = (left, links, postings(right), np.array([0.0, 2.0, 5.0]), windows)
    ours = word_gains(*arguments, sizes=2, null_share=0.5)
    assert np.isfinite(ours).all()
    np.testing.assert_allclose(
        ours, slowly(word_gains, *arguments, sizes=2, null_share=0.5), 1e-4, 1e-3
    )


def test_loose_words_gain_nothing_over_chance() -> None:
    none = Table(np.zeros(2, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32))
    windows = Windows(np.zeros(1, np.int32), np.full(1, 2, np.int32))
    arguments = packed([[0, 0]], 1), none, postings(packed([[0], [0]], 1)), np.arange(3.0), windows
    gains = word_gains(*arguments, sizes=1, null_share=0.5, loose_before=np.array([0.0, 1.0, 1.0]))
    assert gains[0].tolist() == pytest.approx([0.0, 2 * math.log(0.5)])


def test_gain_matches_a_manual_calculation() -> None:
    # One word; one of three words of a place is 8 times likelier beside it than by chance.
    links = Table(np.array([0, 1], np.int64), np.array([1], np.int32), np.array([8.0], np.float32))
    windows = Windows(np.zeros(1, np.int32), np.full(1, 2, np.int32))
    posts = postings(packed([[0, 1, 1], [0]], 2))
    gains = word_gains(
        packed([[0]], 1), links, posts, np.array([0.0, 3.0, 4.0]), windows, sizes=2, null_share=0.75
    )
    expected = [
        [math.log(0.75 + 0.25 * 16 / 3), math.log(0.75)],
        [math.log(0.75 + 0.25 * 16 / 4), math.log(0.75)],  # the second has no place beyond it
    ]
    np.testing.assert_allclose(gains, expected, 1e-6)


@pytest.mark.parametrize("share", [0.0, 1.0, -1.0, math.nan])
def test_null_share_out_of_range_is_refused(share: float) -> None:
    none = Table(np.zeros(2, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32))
    windows = Windows(np.zeros(1, np.int32), np.ones(1, np.int32))
    arguments = packed([[0]], 1), none, postings(packed([[0]], 1)), np.array([0.0, 1.0]), windows
    with pytest.raises(ValueError, match="between 0 and 1"):
        word_gains(*arguments, sizes=1, null_share=share)
    with pytest.raises(ValueError, match="row per word"):
        word_gains(packed([[0]], 9), *arguments[1:], sizes=1, null_share=0.5)


def test_empty_text_has_no_gains() -> None:
    none = Table(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32))
    empty = np.zeros(0, np.int32)
    posts: Postings = postings(packed([], 0))
    gains = word_gains(
        packed([], 0), none, posts, np.zeros(1), Windows(empty, empty), sizes=3, null_share=0.5
    )
    assert gains.shape == (3, 0)


# -- scores ------------------------------------------------------------------------------------


def lengths_of(chance: np.random.Generator, band: Band) -> Lengths:
    left = np.concatenate(([0.0], chance.integers(0, 90, len(band.low) - 1).cumsum()))
    right = np.concatenate(([0.0], chance.integers(0, 90, band.right).cumsum()))
    return Lengths(left, right, float(chance.uniform(0.6, 1.6)))


@given(bands(), some_moves(), st.integers(0, 1_000), st.booleans())
def test_bead_scores_match_the_reference(band: Band, moves: Moves, seed: int, more: bool) -> None:
    chance = np.random.default_rng(seed)
    gains = [
        chance.normal(0, 3, (moves.most, int(windows.start[-1]))).astype(np.float32)
        for windows in (band.left_windows(moves.most), band.right_windows(moves.most))
    ]
    shape = int(band.start[-1]), len(moves.priors)
    known = chance.normal(0, 1, shape).astype(np.float32) if more else None
    before = None if known is None else known.copy()
    arguments = band, moves, lengths_of(chance, band), *gains, known
    ours, theirs = bead_scores(*arguments), slowly(bead_scores, *arguments)
    np.testing.assert_allclose(ours, theirs, 1e-4, 1e-4)
    if known is not None:
        np.testing.assert_array_equal(known, before)  # what was given is not written to
    for at, (i, j) in enumerate(points_of(band)):
        for move, (a, b, prior) in enumerate(zip(*moves, strict=True)):
            x, y = i + a, j + b
            stays = x < len(band.low) and band.low[x] <= y <= band.high[x]
            assert (ours[at, move] > beads_reference.IMPOSSIBLE) == stays
            if stays and not (a and b):  # nothing speaks for a gap but how often there is one
                extra = 0 if known is None else known[at, move]
                assert ours[at, move] == pytest.approx(prior + extra, abs=1e-4)


def test_length_counts_as_in_gale_and_church() -> None:
    moves = Moves.of([(1, 1)], [1.0])
    none = np.zeros((1, 1), np.float32)
    scores = [
        bead_scores(Band.full(1, 1), moves, Lengths(*map(np.array, sides)), none, none)[0, 0]
        for sides in (([0.0, 100.0], [0.0, 100.0]), ([0.0, 100.0], [0.0, 130.0]),
                      ([0.0, 10.0], [0.0, 1e6]), ([0.0, 0.0], [0.0, 0.0]))
    ]  # fmt: skip
    assert scores == pytest.approx([0.0, -1.26, -25.0, 0.0], abs=0.01)


def test_scores_that_do_not_match_the_band_are_refused() -> None:
    band, moves = Band.full(2, 2), Moves.of([*GAPS, (1, 2)], [0.1, 0.1, 0.8])
    lengths = Lengths(np.arange(3.0), np.arange(3.0))
    gains = np.zeros((2, 4), np.float32)
    assert bead_scores(band, moves, lengths, gains, gains).shape == (9, 3)
    for by_left, by_right, more in (
        (gains[:1], gains, None),
        (gains, gains[:1], None),
        (gains, gains, np.zeros((9, 2), np.float32)),
        (gains, gains, np.zeros((8, 3), np.float32)),
    ):
        with pytest.raises(ValueError, match="the band"):
            bead_scores(band, moves, lengths, by_left, by_right, more)
    with pytest.raises(ValueError, match="C order"):
        bead_scores(band, moves, lengths, np.zeros((4, 2), np.float32).T, gains)


# -- the best way ------------------------------------------------------------------------------


@given(bands(), some_moves(), st.integers(0, 1_000), st.booleans())
def test_best_path_matches_the_reference(
    band: Band, moves: Moves, seed: int, by_posterior: bool
) -> None:
    scores = random_scores(band, moves, seed)
    ours = best_path(band, moves, scores, by_posterior=by_posterior)
    theirs = slowly(best_path, band, moves, scores, by_posterior=by_posterior)
    assert_whole(ours, band, moves)
    # Of ways that are equally good either may be taken.
    assert ours.confidence.sum() == pytest.approx(theirs.confidence.sum(), rel=1e-5, abs=1e-5)
    if by_posterior:
        assert ((ours.confidence >= 0) & (ours.confidence <= 1 + 1e-9)).all()


@given(bands(3), some_moves(), st.integers(0, 1_000))
def test_best_path_is_the_best_of_all_paths(band: Band, moves: Moves, seed: int) -> None:
    scores = random_scores(band, moves, seed)
    every = ways(band, moves, scores)
    values = np.array([value_of(band, way, scores) for way in every])
    highest = best_path(band, moves, scores, by_posterior=False)
    assert highest.confidence.sum() == pytest.approx(values.max(), abs=1e-4)

    weights = np.exp(values - values.max())
    weights /= weights.sum()
    shares: dict[tuple[int, int, int], float] = {}
    for way, weight in zip(every, weights, strict=True):
        for bead in way:
            shares[bead] = shares.get(bead, 0.0) + weight
    kinds = {(int(a), int(b)): q for q, (a, b, _) in enumerate(zip(*moves, strict=True))}
    likeliest = best_path(band, moves, scores)
    for (i, j, a, b), confidence in zip(
        likeliest.steps.tolist(), likeliest.confidence.tolist(), strict=True
    ):
        assert confidence == pytest.approx(shares[i, j, kinds[a, b]], abs=1e-5)
    # Each bead counts for its sentences.
    sizes = moves.left + moves.right
    best = max(sum(shares[bead] * sizes[bead[2]] for bead in way) for way in every)
    worth = likeliest.confidence @ likeliest.steps[:, 2:].sum(1)
    assert worth == pytest.approx(best, abs=1e-5)


def test_sentences_more_probable_together_are_not_separated() -> None:
    moves = Moves.of([(1, 1), (1, 0), (0, 1)], [1.0, 1.0, 1.0])
    band = Band.full(1, 1)
    scores = np.full((4, 3), beads_reference.IMPOSSIBLE, np.float32)
    scores[0] = np.log([0.6, 0.2, 0.2])
    scores[1, 1] = scores[2, 2] = 0.0
    assert best_path(band, moves, scores).steps.tolist() == [[0, 0, 1, 1]]


@given(bands(5), some_moves(), st.integers(0, 1_000))
def test_probabilities_of_a_sentences_beads_sum_to_one(band: Band, moves: Moves, seed: int) -> None:
    scores = random_scores(band, moves, seed)
    values = {
        (i, j, move): float(scores[at, move])
        for at, (i, j) in enumerate(points_of(band))
        for move in range(len(moves.priors))
        if scores[at, move] > beads_reference.IMPOSSIBLE
    }
    end = len(band.low) - 1, band.right
    found = beads_reference._posteriors(values, moves, end)
    for side, (counts, sentences) in enumerate(((moves.left, end[0]), (moves.right, end[1]))):
        covered = np.zeros(sentences)
        for bead, probability in found.items():
            start = bead[side]
            covered[start : start + counts[bead[2]]] += probability
        np.testing.assert_allclose(covered, 1.0, 1e-6)


@pytest.mark.parametrize(("left", "right"), [(0, 0), (0, 1), (1, 0), (0, 7), (7, 0), (1, 9)])
@pytest.mark.parametrize("by_posterior", [True, False])
def test_texts_of_very_few_sentences(left: int, right: int, by_posterior: bool) -> None:
    band, moves = Band.full(left, right), Moves.of([*GAPS, (1, 1), (1, 4)], [0.1, 0.1, 0.7, 0.1])
    scores = random_scores(band, moves, 1)
    path = best_path(band, moves, scores, by_posterior=by_posterior)
    assert_whole(path, band, moves)
    assert path.steps.shape[1] == 4


def test_longest_possible_path_fits() -> None:
    band, moves = Band.full(40, 30), Moves.of(GAPS, [0.5, 0.5])
    path = best_path(band, moves, random_scores(band, moves, 1))
    assert len(path.steps) == 70
    assert_whole(path, band, moves)


def test_extreme_scores_neither_overflow_nor_underflow() -> None:
    band, moves = Band.full(3, 3), Moves.of([*GAPS, (1, 1)], [0.1, 0.1, 0.8])
    scores = random_scores(band, moves, 1)
    scores[:, 2] = np.where(scores[:, 2] > beads_reference.IMPOSSIBLE, 5e4, scores[:, 2])
    scores[:, :2] = np.where(scores[:, :2] > beads_reference.IMPOSSIBLE, -5e4, scores[:, :2])
    path = best_path(band, moves, scores)
    assert path.steps[:, 2:].tolist() == [[1, 1]] * 3
    assert path.confidence.tolist() == [1.0] * 3


def test_band_without_a_path_is_an_error() -> None:
    moves = Moves.of([(1, 1)], [1.0])
    band = Band.full(1, 2)
    scores = random_scores(band, moves, 1)
    for by_posterior in (True, False):
        with pytest.raises(ValueError, match="no path leads through"):
            best_path(band, moves, scores, by_posterior=by_posterior)


def test_scores_of_the_wrong_shape_are_refused() -> None:
    band, moves = Band.full(2, 2), Moves.of(GAPS, [0.5, 0.5])
    for shape in ((8, 2), (10, 2), (9, 1), (9, 3)):
        with pytest.raises(ValueError, match="scores must have one row per point"):
            best_path(band, moves, np.zeros(shape, np.float32))


def test_too_many_kinds_of_beads_are_refused() -> None:
    kinds = [*GAPS, *((1, n) for n in range(1, 32))]
    band, moves = Band.full(2, 2), Moves.of(kinds, [0.1] * len(kinds))
    with pytest.raises(ValueError, match="no path"):
        best_path(band, moves, random_scores(band, moves, 1))
    few = Moves(*(part[:32].copy() for part in moves))
    assert_whole(best_path(band, few, random_scores(band, few, 1)), band, few)

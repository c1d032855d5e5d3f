from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples

from diptych.kernels.beads import Band, Moves, Path
from diptych.learn.lexicon.bags import Text, read_text
from diptych.learn.lexicon.word_links import cognate_links
from diptych.stages.align_sentences.shared import passes
from diptych.stages.align_sentences.shared.passes import (
    Model,
    align_near,
    align_passes,
    sure_steps,
)

MOVES = Moves.of([(1, 1), (1, 0), (0, 1), (2, 1), (1, 2)], [0.8, 0.02, 0.02, 0.08, 0.08])


def numbered(count: int, *, start: int = 0) -> Text:
    """A text whose sentences are told apart by numbers alone."""
    return read_text([f"satz nummer {1_000 + start + number}" for number in range(count)], "de")


def links(left: Text, right: Text):
    return cognate_links(left.words, right.words)


def path_of(*steps: tuple[int, int, int, int], confidence: float = 1.0) -> Path:
    return Path(np.array(steps, np.int32), np.full(len(steps), confidence))


def pairs(path: Path) -> set[tuple[int, int]]:
    return {(i, j) for i, j, a, b in path.steps.tolist() if (a, b) == (1, 1)}


@settings(max_examples=examples(30))
@given(st.integers(0, 40), st.integers(0, 40), st.integers(1, 3), st.integers(20, 400))
def test_every_sentence_is_in_a_step_at_any_coarseness(
    count: int, others: int, rounds: int, cells: int
) -> None:
    left, right = numbered(count), numbered(others, start=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passes, "MAX_CELLS", cells)
        patch.setattr(passes, "_MARGIN", 2)
        path, _ = align_passes(left, right, MOVES, links(left, right), rounds)
    ends = path.steps[:, :2] + path.steps[:, 2:]
    assert path.steps[:, 2:].sum(0).tolist() == [count, others]
    if len(path.steps):
        assert path.steps[0, :2].tolist() == [0, 0]
        np.testing.assert_array_equal(ends[:-1], path.steps[1:, :2])
        assert ends[-1].tolist() == [count, others]


def test_only_a_band_of_long_texts_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    decode = passes._decode

    def counted(left, right, band, *rest):
        seen.append(int(band.start[-1]))
        return decode(left, right, band, *rest)

    monkeypatch.setattr(passes, "_decode", counted)
    for count in (500, 1_000, 2_000):
        seen.clear()
        text = numbered(count)
        path, _ = align_passes(text, text, MOVES, links(text, text), 2)
        assert len(pairs(path)) == count
        # No more than so many points a sentence, whatever the length.
        assert max(seen) <= max(passes.MAX_CELLS, (4 * passes._MARGIN + 4) * (count + 1))
        assert min(seen) <= passes.MAX_CELLS


def test_short_texts_are_searched_completely(monkeypatch: pytest.MonkeyPatch) -> None:
    left, right = numbered(9), numbered(9)
    model = Model(MOVES, links(left, right), 0.9, 0.9, 1.0)
    wrong = path_of(*((n, 0, 1, 0) for n in range(9)), *((9, n, 0, 1) for n in range(9)))
    assert pairs(align_near(left, right, wrong, model)) == {(n, n) for n in range(9)}
    # Of longer ones only what is near the way that is known.
    monkeypatch.setattr(passes, "MAX_CELLS", 20)
    monkeypatch.setattr(passes, "_MARGIN", 1)
    near = align_near(left, right, wrong, model)
    assert (4, 4) not in pairs(near)


def test_more_evidence_counts() -> None:
    left, right = (read_text([letter * 60] * 2, "de") for letter in "xv")
    model = Model(MOVES, links(left, right), 0.999, 0.999, 1.0)

    def scorer(band: Band, moves: Moves) -> np.ndarray:
        scores = np.zeros((int(band.start[-1]), len(moves.priors)), np.float32)
        scores[1, 0] = 40.0  # the pair of the first left and the second right sentence
        return scores

    path, _ = align_passes(left, right, MOVES, model.links, 1)
    assert pairs(path) == {(0, 0), (1, 1)}
    assert pairs(align_near(left, right, path, model, scorer)) == {(0, 1)}


def test_words_are_learned_only_from_sure_beads() -> None:
    steps = [(0, 0, 1, 1), (1, 1, 1, 0), (2, 1, 0, 1), (2, 2, 1, 2)]
    path = Path(np.array(steps, np.int32), np.array([0.9, 0.9, 0.9, 0.4]))
    assert sure_steps(path).tolist() == [True, False, False, False]
    left, right = numbered(3), numbered(4)
    ours, theirs = passes._sure_beads(left, right, path)
    assert (len(ours), len(theirs)) == (1, 1)


def test_words_are_not_learned_from_lists() -> None:
    long = read_text([" ".join(f"wort{n}" for n in range(250)), "kurz"], "de")
    ours, theirs = passes._sure_beads(long, long, path_of((0, 0, 1, 1), (1, 1, 1, 1)))
    assert (ours.lengths.tolist(), theirs.lengths.tolist()) == ([4], [4])


def test_length_ratio_is_shrunk_for_short_texts() -> None:
    assert passes._ratio(0, 0) == 1
    assert 1 < passes._ratio(20, 30) < passes._ratio(2_000, 3_000) < 1.5
    assert passes._ratio(1_000, 1e9) == pytest.approx(1.6)
    assert passes._ratio(1e9, 1_000) == pytest.approx(1 / 1.6)


def test_share_of_chance_falls_where_words_are_known() -> None:
    left, right = numbered(30), numbered(30)
    _, model = align_passes(left, right, MOVES, links(left, right), 1)
    assert (model.left_share, model.right_share) == (0.95, 0.95)
    _, taught = align_passes(left, right, MOVES, links(left, right), 3)
    assert taught.left_share < 0.95
    assert taught.right_share < 0.95
    assert len(taught.links) >= len(model.links)


def test_without_words_the_share_stays() -> None:
    left, right = read_text(["aa", "bb"], "de"), read_text(["11", "22"], "fr")
    none = links(left, right)
    assert len(none) == 0
    _, model = align_passes(left, right, MOVES, none, 1)
    assert model.left_share == model.right_share == 0.999

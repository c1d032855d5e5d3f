"""Words without a counterpart, counted in the order of the texts."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from diptych.stages.filter.quality.unlinked import unlinked_words

SEGMENTS = st.lists(st.lists(st.tuples(st.booleans(), st.floats(0, 1)), max_size=8), max_size=5)


def runs(words: list[tuple[bool, float]]) -> list[list[tuple[bool, float]]]:
    """The runs of unlinked words of one segment."""
    found: list[list[tuple[bool, float]]] = [[]]
    for word in words:
        if word[0]:
            found[-1].append(word)
        else:
            found.append([])
    return [run for run in found if run]


@given(segments=SEGMENTS)
def test_counts_are_those_of_a_plain_loop(segments: list[list[tuple[bool, float]]]) -> None:
    flat = [(at, *word) for at, words in enumerate(segments) for word in words]
    found = unlinked_words(
        np.array([at for at, _, _ in flat], np.int64),
        np.array([unlinked for _, unlinked, _ in flat], bool),
        np.array([known for _, _, known in flat], float),
        len(segments),
    )
    for at, words in enumerate(segments):
        own = runs(words)
        assert found.total[at] == sum(map(len, own))
        assert found.longest[at] == max(map(len, own), default=0)
        assert found.first[at] == (len(own[0]) if words and words[0][0] else 0)
        assert found.last[at] == (len(own[-1]) if words and words[-1][0] else 0)
        known = [sum(weight for _, weight in run) for run in own]
        assert np.isclose(found.known[at], sum(known))
        assert np.isclose(found.longest_known[at], max(known, default=0))
        assert np.isclose(found.share[at], sum(map(len, own)) / max(len(words), 1))
        everything = sum(weight for _, weight in words)
        assert np.isclose(found.known_share[at], sum(known) / (everything + 1))

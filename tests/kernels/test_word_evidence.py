"""Bags and word evidence of segments in C, compared with their reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.kernels import native
from diptych.kernels.tables import Table, ends_of
from diptych.kernels.word_evidence import (
    COLUMNS,
    EvidenceSettings,
    SideArrays,
    StemArrays,
    find_bags,
    find_evidence,
)
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.learn.lexicon.stems import Stems
from diptych.learn.lexicon.word_links import LOOKS
from diptych.stages.filter.quality import side_words as module
from diptych.stages.filter.quality.side_words import side_words
from diptych.stages.filter.quality.vocabulary import evidence_reference, word_evidence

# Words that are the same or alike, numbers, other scripts, and what folds to nothing.
POOL = [
    "berg", "bergs", "bergé", "1956", "1957", "19567", "haus", "house", "der", "die", "é", "e",
    "山", "горы", "gory", "x", "exped", "expéd", "expel", "a1956", "12345678", "2", "le", "la",
]  # fmt: skip
texts = st.lists(st.sampled_from(POOL), max_size=40).map(" ".join)
segments = st.lists(st.tuples(texts, texts), max_size=7)
lexicons = st.lists(
    st.tuples(st.sampled_from(POOL), st.sampled_from(POOL), st.floats(0.01, 1)), max_size=20
)
SETTINGS = EvidenceSettings(0.1, 500, 5, 0.8, 0.96, 4, 0.3)


@pytest.fixture(autouse=True)
def _compiled() -> None:
    assert native() is not None


def flat(found: Any) -> list[float]:
    """All numbers in nested tuples of arrays, in order."""
    if isinstance(found, np.ndarray):
        return found.tolist()
    return [number for part in found for number in flat(part)]


@st.composite
def grouped(draw: Any, items: Any) -> tuple[list, np.ndarray]:
    """Items in groups, of which some may be empty, and the offsets of the groups."""
    groups = draw(st.lists(items, max_size=4))
    sizes = [len(group) for group in groups]
    return [each for group in groups for each in group], ends_of(np.array(sizes, np.int64))


@given(grouped(segments), lexicons)
def test_evidence_equals_the_reference_to_the_last_bit(
    some: tuple[list, np.ndarray], known: list
) -> None:
    lexicon, stems, (pairs, groups) = Lexicon.of_links("de", "fr", known), Stems(), some
    left = side_words([pair[0] for pair in pairs], "de", stems, groups)
    right = side_words([pair[1] for pair in pairs], "fr", stems, groups)
    found = word_evidence(left, right, lexicon)
    assert flat(found) == flat(evidence_reference(left, right, lexicon))
    assert len(flat(found)) == COLUMNS * len(pairs)


@given(st.lists(segments, max_size=4), lexicons)
def test_each_group_is_measured_as_if_it_were_alone(groups: list, known: list) -> None:
    lexicon, stems = Lexicon.of_links("de", "fr", known), Stems()
    ends = ends_of(np.array([len(group) for group in groups], np.int64))

    def evidence_of(pairs: list, groups: np.ndarray | None = None) -> np.ndarray:
        left = side_words([pair[0] for pair in pairs], "de", stems, groups)
        right = side_words([pair[1] for pair in pairs], "fr", stems, groups)
        return np.array(flat(word_evidence(left, right, lexicon))).reshape(COLUMNS, -1)

    together = evidence_of([pair for group in groups for pair in group], ends)
    alone = [np.empty((COLUMNS, 0)), *map(evidence_of, filter(None, groups))]
    assert together.tolist() == np.concatenate(alone, axis=1).tolist()


@given(grouped(st.lists(texts, max_size=7)))
def test_bags_equal_the_reference(some: tuple[list[str], np.ndarray]) -> None:
    stems, (written, groups) = Stems(), some
    stems.read(["la die 1957 der"], "de")
    found = side_words(written, "de", stems, groups)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "native", lambda: None)
        slowly = side_words(written, "de", stems, groups)
    for own, other in zip(found.text_bags, slowly.text_bags, strict=True):
        np.testing.assert_array_equal(own, other, strict=True)
    assert found.types.tolist() == [len({*stems.read([text], "de").ids}) for text in written]
    for name in ("lengths", "tokens"):
        np.testing.assert_array_equal(getattr(found, name), getattr(slowly, name))


def test_segments_with_many_words_are_sorted_like_short_ones() -> None:
    many = [f"w{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(200)]
    stems, lexicon = Stems(), Lexicon.empty("de", "fr")
    left = side_words([" ".join(many)], "de", stems)
    right = side_words([" ".join([*many[::-1], "1956"])], "fr", stems)
    found = word_evidence(left, right, lexicon)
    assert flat(found) == flat(evidence_reference(left, right, lexicon))
    assert found.links.tolist() == [200]


def ints(*numbers: int, kind: Any = np.int64) -> np.ndarray:
    return np.array(numbers, kind)


@pytest.mark.parametrize(
    ("ids", "offsets"),
    [([0, 2], [0, 2]), ([-1, 0], [0, 2]), ([0, 1], [0, 3]), ([0, 1], [1, 2]), ([0, 1], [0, 2, 1])],
)
def test_stems_and_offsets_out_of_range_are_refused(ids: list[int], offsets: list[int]) -> None:
    with pytest.raises(ValueError, match="within range"):
        find_bags(ints(*ids, kind=np.int32), ints(*offsets), 2)


@pytest.mark.parametrize("groups", [[], [0], [0, 1], [1, 2], [0, 2, 1, 2], [0, 3]])
def test_groups_out_of_range_are_refused(groups: list[int]) -> None:
    with pytest.raises(ValueError, match="groups"):
        find_bags(ints(0, 1, kind=np.int32), ints(0, 1, 2), 2, ints(*groups))
    with pytest.raises(ValueError, match="groups"):
        evidence(side(), groups=ints(*[2 * place for place in groups]))


def side(**changes: Any) -> SideArrays:
    """A side with the words 1, 0 and 1, some of whose arrays are replaced."""
    bags = find_bags(ints(1, 0, 1, kind=np.int32), ints(0, 3), 2)
    table = Table(ints(0, 1), ints(0, kind=np.int32), np.ones(1, np.float32))
    made = SideArrays(bags, ints(0, 3), np.ones(2), ints(0, -1), np.ones(2), table)
    of_bags = {name: changes.pop(name) for name in tuple(changes) if name in bags._fields}
    return made._replace(**{"bags": bags._replace(**of_bags)} | changes)


def evidence(
    left: SideArrays, stems: StemArrays | None = None, groups: np.ndarray | None = None
) -> np.ndarray:
    spelt = StemArrays(np.zeros(2, bool), np.frombuffer(b"ab", np.uint8), ints(0, 1, 2))
    return find_evidence(
        left, side(), ints(0, 1) if groups is None else groups, stems or spelt, LOOKS, SETTINGS
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"vocabulary": ints(1, 2, kind=np.int32)}, {"word": ints(0, 2, kind=np.int32)},
        {"order": ints(0, 1, 2)}, {"offsets": ints(0, 3)}, {"offsets": ints(0, 1, 2)},
        {"times": np.ones(1, np.float32)}, {"position": np.ones(1)}, {"rarity": np.ones(1)},
        {"token_offsets": ints(0, 4)}, {"token_offsets": ints(0, 1, 3)},
        {"words_from": ints(0, 3)}, {"words_from": ints(0, 1, 2)}, {"words_from": ints(2)},
        {"entries_from": ints(0, 1)}, {"entries_from": ints(0, 2, 2)}, {"offsets": ints(1, 2)},
        {"offsets": ints(0, 2, 2)}, {"rows": ints(0)}, {"rows": ints(1, -1)}, {"trust": np.ones(1)},
        {"table": Table(ints(0, 2), ints(0, kind=np.int32), np.ones(1, np.float32))},
        {"table": Table(ints(0, 9, 1), ints(0, kind=np.int32), np.ones(1, np.float32))},
        {"table": Table(ints(0, -9, 1), ints(0, kind=np.int32), np.ones(1, np.float32))},
    ],
)  # fmt: skip
def test_indices_out_of_bounds_are_refused(changes: dict[str, np.ndarray]) -> None:
    assert evidence(side()).shape == (COLUMNS, 1)
    with pytest.raises(ValueError, match=r"does not exist|same number"):
        evidence(side(**changes))


def test_a_lexicon_with_wild_columns_does_no_harm() -> None:
    wild = Table(ints(0, 3), ints(-5, 1 << 30, 0, kind=np.int32), np.ones(3, np.float32))
    assert np.isfinite(evidence(side(table=wild))).all()


def test_stems_without_a_spelling_are_refused() -> None:
    short = StemArrays(np.zeros(2, bool), np.frombuffer(b"a", np.uint8), ints(0, 1, 2))
    with pytest.raises(ValueError, match="does not exist"):
        evidence(side(), short)

"""Links of two vocabularies in C, compared with their reference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.kernels import native
from diptych.kernels.tables import Table
from diptych.kernels.word_links import Looks, Spelling, Words, find_links
from diptych.learn.lexicon import stems as stems_module
from diptych.learn.lexicon import word_links as links
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.learn.lexicon.stems import Stems, stem_links
from diptych.learn.lexicon.word_links import WordLinks, vocabulary_links

# Words that are the same or alike, numbers, other scripts, and what folds to nothing.
POOL = [
    "berg", "bergs", "bergé", "1956", "1957", "19567", "haus", "house", "der", "die", "é", "e",
    "山", "горы", "gory", "\u0301", "x", "exped", "expéd", "expel", "a1956", "12345678", "12349999",
]  # fmt: skip
vocabularies = st.lists(st.sampled_from(POOL), unique=True, max_size=12)
lexicons = st.lists(
    st.tuples(st.sampled_from(POOL), st.sampled_from(POOL), st.floats(0.01, 1)), max_size=20
)


@pytest.fixture(autouse=True)
def _compiled() -> None:
    assert native() is not None


def slowly(left: list[str], right: list[str], lexicon: Lexicon) -> WordLinks:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(links, "native", lambda: None)
        return vocabulary_links(left, right, lexicon)


def assert_same(ours: WordLinks, theirs: WordLinks) -> None:
    np.testing.assert_array_equal(ours.left, theirs.left)
    np.testing.assert_array_equal(ours.right, theirs.right)
    np.testing.assert_allclose(ours.forward, theirs.forward, 1e-6)
    np.testing.assert_allclose(ours.backward, theirs.backward, 1e-6)


@given(vocabularies, vocabularies, lexicons)
def test_links_match_the_reference(left: list[str], right: list[str], known: list) -> None:
    lexicon = Lexicon.of_links("de", "fr", known)
    assert_same(vocabulary_links(left, right, lexicon), slowly(left, right, lexicon))


@given(vocabularies, vocabularies, lexicons)
def test_links_of_stems_are_those_of_their_words(
    left: list[str], right: list[str], known: list
) -> None:
    lexicon, stems = Lexicon.of_links("de", "fr", known), Stems()
    stems.read(["exped 77 andere"], "de")
    ours, theirs = (np.unique(stems.read(side, "de").ids)[::-1] for side in (left, right))
    found = stem_links(ours, theirs, stems, lexicon)
    words = [[stems.words[number] for number in side] for side in (ours, theirs)]
    assert_same(found, slowly(*words, lexicon))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stems_module, "native", lambda: None)
        assert_same(found, stem_links(ours, theirs, stems, lexicon))


@pytest.mark.parametrize("count", [39, 40, 41, 300])
def test_comparisons_per_word_are_bounded(count: int) -> None:
    left = ["reise", "19560"]
    right = [f"reis{chr(0x4E00 + n)}" for n in range(count)] + [f"1956{n}" for n in range(count)]
    lexicon = Lexicon.empty("de", "fr")
    found = vocabulary_links(left, right, lexicon)
    assert_same(found, slowly(left, right, lexicon))
    assert 0 < len(found) <= 41


def test_a_damaged_lexicon_does_no_harm_to_the_kernel() -> None:
    wild = Table(
        np.array([0, 3], np.int64), np.array([-5, 1 << 30, 0], np.int32), np.ones(3, np.float32)
    )
    words = Words(np.zeros(1, np.int64), wild, Spelling.of(["berg"]))
    found = find_links(words, words, Looks(0.5, 0.3, 0.6, 4, 40))
    assert [part.tolist() for part in found] == [[0], [0], [1.0], [1.0]]


@pytest.mark.parametrize(
    ("rows", "offsets", "folded"),
    [
        ([1], [0, 1], ("a",)), ([-2], [0, 1], ("a",)), ([0], [0, 1], ()), ([0], [0, 2], ("a",)),
        ([0], [1, 1], ("a",)), ([0, 0], [0, 1], ("a",)), ([1], [0, 9, 1], ("a",)),
        ([0], [0, -4, 1], ("a",)),
    ],
)  # fmt: skip
def test_words_with_indices_out_of_bounds_are_refused(rows, offsets, folded) -> None:
    entry = np.zeros(1, np.int32), np.ones(1, np.float32)
    good = Words(
        np.zeros(1, np.int64), Table(np.array([0, 1], np.int64), *entry), Spelling.of(["a"])
    )
    bad = Words(
        np.array(rows, np.int64), Table(np.array(offsets, np.int64), *entry), Spelling.of(folded)
    )
    looks = Looks(0.5, 0.3, 0.6, 4, 40)
    assert len(find_links(good, good, looks)[0]) == 1
    for sides in ((good, bad), (bad, good)):
        with pytest.raises(ValueError, match=r"row|rows"):
            find_links(*sides, looks)


@pytest.mark.parametrize("at", [[0], [0, 2], [1, 1], [0, -1, 1], []])
def test_spellings_out_of_bounds_are_refused(at: list[int]) -> None:
    table = Table(np.array([0, 1], np.int64), np.zeros(1, np.int32), np.ones(1, np.float32))
    spelling = Spelling(np.zeros(1, np.uint8), np.array(at, np.int64))
    with pytest.raises(ValueError, match="spelling"):
        find_links(*[Words(np.zeros(1, np.int64), table, spelling)] * 2, Looks(1, 1, 1, 4, 40))

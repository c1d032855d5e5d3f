"""Word links between two texts, and their lifts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.kernels.ibm1 import Bags, bags
from diptych.learn.lexicon.ibm1 import train
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.learn.lexicon.word_links import (
    WordLinks,
    cognate_links,
    discounted,
    learned_links,
    lexicon_links,
    lifts,
    merged,
)

WORDS = ("haus", "berg", "fluss", "meer", "baum")
LEXICON = Lexicon.of_links(
    "de", "fr",
    [("häuser", "maisons", 1), ("haus", "maison", 3), ("haus", "chambre", 1), ("see", "lac", 1)],
)  # fmt: skip


def packed(found: list[list[int]], size: int) -> Bags:
    offsets = np.cumsum([0, *map(len, found)], dtype=np.int64)
    return bags(np.array([word for row in found for word in row], np.int32), offsets, size)


def as_dict(links: WordLinks) -> dict[tuple[int, int], tuple[float, float]]:
    parts = links.left, links.right, links.forward, links.backward
    found = zip(*(part.tolist() for part in parts), strict=True)
    return {
        (left, right): (round(forward, 4), round(backward, 4))
        for left, right, forward, backward in found
    }


def links_of(*some: tuple[int, int, float, float]) -> WordLinks:
    left, right, forward, backward = zip(*some, strict=True) if some else ((), (), (), ())
    return WordLinks(
        np.array(left, np.int32), np.array(right, np.int32),
        np.array(forward, np.float32), np.array(backward, np.float32),
    )  # fmt: skip


# -- what looks alike --------------------------------------------------------------------------


def test_same_word_is_more_probable_than_a_similar_one() -> None:
    links = as_dict(cognate_links(["1956", "natio", "haus"], ["1956", "natia", "chien"]))
    assert set(links) == {(0, 0), (1, 1)}
    assert links[0, 0] == (0.5, 0.5)
    assert links[1, 1] == pytest.approx((0.3 * 0.8,) * 2, abs=1e-4)


# -- what a lexicon knows ----------------------------------------------------------------------


def test_lexicon_is_looked_up_by_stem_in_both_directions() -> None:
    links = as_dict(lexicon_links(["haus", "häuse", "fluss"], ["chamb", "maiso"], LEXICON))
    assert links == {
        (0, 0): (0.25, 1.0),
        (0, 1): (0.75, 1.0),  # maison and maisons are one stem, which has the best of each
        (1, 1): (1.0, 1.0),
    }


def test_lexicon_without_any_of_the_words() -> None:
    for left, right in (([], []), (["x"], []), (["x"], ["y"]), (["haus"], ["y"]), ([], ["lac"])):
        assert len(lexicon_links(left, right, LEXICON)) == 0
    assert len(lexicon_links(["haus"], ["maiso"], Lexicon.empty("de", "fr"))) == 0


def test_one_direction_is_enough() -> None:
    # The backward table is pruned away.
    none = Lexicon.empty("de", "fr").backward
    empty = np.zeros(len(LEXICON.right_words) + 1, np.int64)
    half = Lexicon(
        "de", "fr", LEXICON.left_words, LEXICON.right_words, LEXICON.forward,
        none._replace(offsets=empty),
    )  # fmt: skip
    assert as_dict(lexicon_links(["see"], ["lac"], half)) == {(0, 0): (1.0, 0.0)}


@given(st.permutations(range(5)), st.permutations(range(4)))
def test_order_of_words_does_not_matter(order: list[int], other: list[int]) -> None:
    left = ["haus", "häuse", "see", "fluss", "berg"]
    right = ["maiso", "chamb", "lac", "fleuv"]
    plain = as_dict(lexicon_links(left, right, LEXICON))
    mixed = as_dict(lexicon_links([left[n] for n in order], [right[n] for n in other], LEXICON))
    assert {(order[a], other[b]): value for (a, b), value in mixed.items()} == plain


@given(st.permutations([("a", "x", 1.0), ("abcdef", "x", 2.0), ("abcdeg", "y", 1.0)]))
def test_order_of_a_lexicon_does_not_matter(found: list[tuple[str, str, float]]) -> None:
    lexicon = Lexicon.of_links("de", "fr", found)
    links = as_dict(lexicon_links(["a", "abcde"], ["x", "y"], lexicon))
    assert links == {(0, 0): (1.0, 0.3333), (1, 0): (1.0, 0.6667), (1, 1): (1.0, 1.0)}


# -- what texts teach --------------------------------------------------------------------------


def test_a_single_co_occurrence_is_not_learned() -> None:
    often = [[0, 1]] * 6 + [[0], [1]] * 3
    once, text = [2, 3], packed([*often, [2, 3]], 4)
    links = as_dict(learned_links(text, text))
    assert set(links) == {(0, 0), (1, 1)}
    again = packed([*often, once, once, [2], [2]], 4)
    more = as_dict(learned_links(again, again))
    assert (2, 2) in more
    assert 0 < more[2, 2][0] < links[0, 0][0] < 1  # little seen, little believed


def test_empty_texts_give_no_links() -> None:
    assert len(learned_links(packed([], 3), packed([], 2))) == 0
    assert len(learned_links(packed([[0], []], 1), packed([[], [0]], 1))) == 0


@given(st.permutations(range(8)))
def test_order_of_sentences_does_not_matter(order: list[int]) -> None:
    left = [[0, 1], [0], [1], [2, 0], [2], [3, 1], [3], [0, 1, 2, 3]]
    right = [[1, 0], [1], [0], [2, 1], [2], [3, 0], [3], [1, 0, 2]]
    plain = as_dict(learned_links(packed(left, 4), packed(right, 4)))
    mixed = as_dict(
        learned_links(packed([left[n] for n in order], 4), packed([right[n] for n in order], 4))
    )
    assert mixed.keys() == plain.keys()
    for pair, value in plain.items():
        assert mixed[pair] == pytest.approx(value, abs=1e-3)


def test_both_directions_of_a_mirrored_text_are_mirrored() -> None:
    left = packed([[0, 1], [0], [1, 2], [2, 2, 0], [0, 1]], 3)
    right = packed([[0, 1], [0], [1], [0, 2], [1, 0]], 3)
    there, back = as_dict(learned_links(left, right)), as_dict(learned_links(right, left))
    assert there == {(b, a): (after, before) for (a, b), (before, after) in back.items()}


def test_links_from_single_coincidences_are_removed() -> None:
    pairs = [(["haus"], ["maison"])] * 8 + [(["berg"], ["montagne"])] * 8
    pairs.append((["see", "tief"], ["lac", "profond"]))
    lexicon = train(pairs, "de", "fr")
    kept = discounted(lexicon)
    for word, side in (("see", "left"), ("tief", "left"), ("lac", "right"), ("profond", "right")):
        assert lexicon.best(word, side)
        assert kept.best(word, side) == []
    ((best, share),) = kept.best("haus")
    assert best == "maison"
    assert 0.5 < share < lexicon.best("haus")[0][1]
    assert (kept.left_words, kept.right_words) == (lexicon.left_words, lexicon.right_words)
    # What is left of it is whole: it can be kept as a file.
    assert Lexicon.from_bytes(kept.to_bytes()).best("haus") == kept.best("haus")


def test_empty_lexicon_stays_empty() -> None:
    pairs: list[tuple[list[str], list[str]]] = [([], [])]
    assert len(discounted(train(pairs, "de", "fr"))) == 0


# -- all together ------------------------------------------------------------------------------


def test_the_highest_of_several_links_counts() -> None:
    one = links_of((0, 0, 0.5, 0.1), (1, 2, 0.2, 0.2))
    other = links_of((0, 0, 0.3, 0.9), (2, 1, 0.7, 0.0))
    expected = {(0, 0): (0.5, 0.9), (1, 2): (0.2, 0.2), (2, 1): (0.7, 0.0)}
    assert as_dict(merged(one, other)) == expected
    assert as_dict(merged(other, one, links_of())) == expected
    assert as_dict(merged(links_of(), links_of())) == {}


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 5), *[st.floats(0, 1, width=32)] * 2),
        max_size=20,
    ),
    st.integers(0, 20),
    st.randoms(),
)
def test_merged_links_do_not_depend_on_order(found, cut: int, chance) -> None:
    plain = merged(links_of(*found))
    chance.shuffle(found)
    mixed = merged(links_of(*found[cut:]), links_of(*found[:cut]))
    assert list(as_dict(plain).items()) == list(as_dict(mixed).items())
    assert len(plain) == len({link[:2] for link in found})


def test_words_of_large_vocabularies_are_distinguished() -> None:
    large = 2**31 - 1
    links = as_dict(merged(links_of((large, 0, 0.5, 0.5), (0, large, 0.25, 0.25))))
    assert links == {(large, 0): (0.5, 0.5), (0, large): (0.25, 0.25)}


def test_link_of_a_rare_word_has_a_higher_lift() -> None:
    text = packed([[0] * 90, [1]], 2)
    of_left, of_right = lifts(links_of((0, 0, 0.5, 0.5), (1, 1, 0.5, 0.5)), text, text)
    assert of_left.offsets.tolist() == of_right.offsets.tolist() == [0, 0, 1]
    assert of_left.columns.tolist() == [1]
    # 1.1 in 591 is how often it is expected; half the time beside it is so many times more.
    assert of_left.values.tolist() == pytest.approx([0.5 / (1.1 / 591)], rel=1e-4)


def test_link_with_a_low_lift_is_dropped() -> None:
    text = packed([[0] * 50], 1)
    chance = 50.1 / 550
    for share, kept in ((4.9 * chance, 0), (5.1 * chance, 1)):
        of_left, of_right = lifts(links_of((0, 0, share, 0.0)), text, text)
        # p(right | left) says how likely a right word is, and the other way round.
        assert (len(of_left.columns), len(of_right.columns)) == (0, kept)


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 4), *[st.floats(0, 1, width=32)] * 2),
        max_size=12,
        unique_by=lambda link: link[:2],
    )
)
def test_lifts_are_complete_tables(found) -> None:
    text = packed([[0, 1, 1], [2, 3, 4, 4, 4]], 5)
    for table in lifts(links_of(*found), text, text):
        assert len(table.offsets) == 6
        assert table.offsets[0] == 0
        assert table.offsets[-1] == len(table.columns) == len(table.values)
        assert (table.values >= 5).all()
        for start, end in zip(table.offsets[:-1], table.offsets[1:], strict=True):
            assert (np.diff(table.columns[start:end]) > 0).all()

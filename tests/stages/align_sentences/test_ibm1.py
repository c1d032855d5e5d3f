from __future__ import annotations

import pytest

from diptych.learn.lexicon.lexicon import Lexicon
from diptych.stages.align_sentences.ibm1 import Ibm1
from diptych.types import Bead

NOTHING = Lexicon.empty("de", "fr")
WORDS = Lexicon.of_links(
    "de", "fr", [("hunde", "chiens", 1), ("schlafen", "dorment", 1), ("haus", "maison", 1)]
)
LEFT = ["y" * 50 + " der hund schläft " + "y" * 40]
OTHER = "w" * 50 + " le chat mange " + "w" * 40


def shapes(beads: list[Bead]) -> list[tuple[int, int]]:
    return [(len(bead.left), len(bead.right)) for bead in beads]


@pytest.mark.parametrize("place", [0, 1])
def test_lexicon_decides(place: int) -> None:
    lexicon = Lexicon.of_links("de", "fr", [("hunde", "chiens", 1), ("schläft", "dort", 1)])
    right = [OTHER, OTHER]
    right[place] = OTHER.replace("chat mange", "chien dort")
    assert ((0,), (place,)) in [bead[:2] for bead in Ibm1().align(LEFT, right, lexicon)]


def test_without_a_lexicon_only_lengths_count() -> None:
    # The same number, and the same word, count for nothing.
    right = [OTHER, OTHER.replace("chat mange", "hund 1956a")]
    left = [LEFT[0].replace("schläft", "1956a")]
    for texts in (right, right[::-1]):
        beads = Ibm1().align(left, texts, NOTHING)
        plain = Ibm1().align(["y" * len(left[0])], ["w" * len(text) for text in texts], NOTHING)
        assert [bead[:2] for bead in beads] == [bead[:2] for bead in plain]
        assert [bead.score for bead in beads] == pytest.approx(
            [bead.score for bead in plain], abs=0.01
        )


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ((40, 90, 20), (42, 85, 21), [(1, 1), (1, 1), (1, 1)]),
        ((30, 50, 100), (81, 102), [(2, 1), (1, 1)]),
        ((81, 102), (30, 50, 100), [(1, 2), (1, 1)]),
        ((10, 200), (110, 100), [(2, 2)]),
    ],
)
def test_kinds_of_beads_by_lengths(left, right, expected) -> None:
    texts = [["x" * length for length in lengths] for lengths in (left, right)]
    assert shapes(Ibm1().align(*texts, NOTHING)) == expected


def test_nothing_is_learned_from_aligned_texts() -> None:
    left = ["haus hund"] * 30 + ["hund haus hund"] * 30
    right = ["maison chien"] * 30 + ["chien maison chien"] * 30
    first = Ibm1().align(left, right, WORDS)
    assert shapes(first) == [(1, 1)] * 60
    assert Ibm1().align(left, right, WORDS) == first

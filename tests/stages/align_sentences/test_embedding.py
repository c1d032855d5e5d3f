"""Vectors beside lengths and words: of an encoder whose vectors are known, and of a real one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from diptych.learn.encoder import load as encoders
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.stages.align_sentences.embedding import CosineModel, Embedding
from diptych.stages.align_sentences.length_lexicon import LengthLexicon
from diptych.types import Bead

LEXICON = Lexicon.empty("en", "fr")
WIDTH = 64


@dataclass
class Meanings:
    """Words such as m1 and q1 mean the same and have the same vector; all others have none."""

    langs: frozenset[str] = frozenset()
    asked: list[str] = field(default_factory=list)

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        self.asked += texts
        rows = np.zeros((len(texts), WIDTH), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for number in re.findall(r"\b[mq](\d+)\b", text):
                row += np.random.default_rng(int(number)).normal(size=WIDTH)
            row /= np.linalg.norm(row) or 1
        return rows


@pytest.fixture
def meanings(monkeypatch: pytest.MonkeyPatch) -> Meanings:
    made = Meanings()
    monkeypatch.setattr(encoders, "load_encoder", lambda name: made)
    return made


def told(*meanings: int) -> list[str]:
    """Sentences of one length that mean so."""
    return [f"m{meaning} {'x' * 90}" for meaning in meanings]


def translated(*meanings: int) -> list[str]:
    """The same in the other language, which has no word in common."""
    return [f"q{meaning} {'v' * 90}" for meaning in meanings]


def pairs(beads: Sequence[Bead]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    return [bead[:2] for bead in beads]


LEFT = told(0, 1, 2)


@pytest.mark.parametrize("gone", [0, 1, 2])
def test_vectors_decide_where_lengths_and_words_cannot(meanings: Meanings, gone: int) -> None:
    kept = [n for n in range(3) if n != gone]
    right = translated(*kept)
    beads = Embedding().align(LEFT, right, LEXICON)
    assert [pair for pair in pairs(beads) if pair[1]] == [((n,), (k,)) for k, n in enumerate(kept)]
    assert ((gone,), ()) in pairs(beads)
    assert meanings.asked != []


def test_weight_of_vectors_is_a_parameter(meanings: Meanings) -> None:
    right = translated(1, 2)
    lexical = LengthLexicon().align(LEFT, right, LEXICON)
    assert pairs(Embedding(weight=0.0).align(LEFT, right, LEXICON)) == pairs(lexical)
    assert pairs(Embedding(weight=1.0).align(LEFT, right, LEXICON)) != pairs(lexical)


def test_merged_sentences_are_encoded_as_one_text(meanings: Meanings) -> None:
    left = ["m1 " + "x" * 60, "m2 " + "x" * 40, "m3 " + "x" * 103]
    right = ["q1 q2 " + "v" * 100, "q3 " + "v" * 103]
    assert pairs(Embedding().align(left, right, LEXICON)) == [((0, 1), (0,)), ((2,), (1,))]
    assert f"{left[0]} {left[1]}" in meanings.asked


@pytest.mark.parametrize(
    ("langs", "known", "asked"),
    [
        (("en", "fr"), {"en", "fr"}, True),
        (("en-GB", "fr-CA"), {"en", "fr"}, True),  # regions do not matter
        (("en", "br"), {"en", "fr"}, False),
        (("br", "fr"), {"en", "fr"}, False),
        (("en", "br"), set(), True),  # an encoder that says nothing knows any
    ],
)
def test_languages_the_encoder_does_not_know_are_left_to_words(
    meanings: Meanings, langs: tuple[str, str], known: set[str], asked: bool
) -> None:
    meanings.langs = frozenset(known)
    right = translated(1, 2)
    beads = Embedding().align(LEFT, right, Lexicon.empty(*langs))
    assert bool(meanings.asked) == asked
    assert (beads == LengthLexicon().align(LEFT, right, Lexicon.empty(*langs))) != asked


def test_blank_sentences_have_no_vector_and_a_place(meanings: Meanings) -> None:
    left = ["", LEFT[0], " ", LEFT[1], LEFT[2]]
    right = [*translated(1), "", *translated(2)]
    beads = Embedding().align(left, right, LEXICON)
    assert [n for bead in beads for n in bead.left] == list(range(5))
    assert [n for bead in beads for n in bead.right] == list(range(3))
    assert all(0 < bead.score <= 1 for bead in beads)
    found = [bead for bead in beads if bead.left and bead.right]
    assert any(3 in bead.left and 0 in bead.right for bead in found)
    assert any(4 in bead.left and 2 in bead.right for bead in found)
    for texts in (([""], [""]), ([""] * 5, [" "] * 3), ([], []), ([], [""])):
        Embedding().align(*texts, LEXICON)


def test_long_texts_are_scored_in_their_band(meanings: Meanings) -> None:
    left, right = told(*range(260)), translated(*(n for n in range(260) if n % 50))
    beads = Embedding().align(left, right, LEXICON)
    truth = {((n,), (n - n // 50 - 1,)) for n in range(260) if n % 50}
    assert len(truth & set(pairs(beads))) > 250


def test_gain_of_a_cosine_is_its_log_likelihood_ratio() -> None:
    cosine_model = CosineModel(beads=0.6, unrelated=0.0, deviation=0.2)
    gains = cosine_model.gain(np.array([0.3, 0.6, 0.0], np.float32))
    assert gains.tolist() == pytest.approx([0.0, 0.3 * 15, -0.3 * 15], abs=1e-5)


def test_real_encoder_compares_meanings() -> None:
    left = [
        "The dog is sleeping in the garden behind the old house.",
        "The prices of bread and milk have risen again this year.",
        "My brother has worked as a nurse in a hospital for years.",
    ]
    right = [
        "Le prix du pain et du lait a encore augmenté cette année.",
        "Mon frère travaille comme infirmier dans un hôpital depuis des années.",
    ]
    beads = Embedding().align(left, right, LEXICON)
    assert pairs(beads) == [((0,), ()), ((1,), (0,)), ((2,), (1,))]
    assert Embedding().align(left, right, LEXICON) == beads
    # Nothing but vectors says so.
    assert pairs(LengthLexicon().align(left, right, LEXICON)) != pairs(beads)

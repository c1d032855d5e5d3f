"""Numbers for stems, and what lexicons know of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest

from diptych.learn.lexicon import stems as module
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.learn.lexicon.stems import Stems, borrowed_stems, known_stems


def in_texts(stems: Stems, texts: Sequence[str], lang: str) -> list[list[int]]:
    """The numbers of the stems of each text."""
    found = stems.read(texts, lang)
    return [found.ids[a:b].tolist() for a, b in pairwise(found.offsets.tolist())]


def test_stems_have_the_same_number_in_all_texts_and_languages() -> None:
    stems = Stems()
    assert stems.read(["Houses of 1956"], "en").ids.tolist() == [0, 1, 2]
    assert stems.read(["1956, les houses"], "fr").ids.tolist() == [2, 3, 0]
    assert stems.words == ["house", "of", "1956", "les"]
    assert stems.read(["Houses of 1956"], "en").lengths.tolist() == [14]
    assert len(stems) == 4


def test_a_text_is_read_once_in_each_language(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def lines_of_stems(texts: Sequence[str], lang: str) -> bytes:
        asked.extend([(text, lang) for text in texts])
        return "".join(
            "".join(f"{word} " for word in text.split()) + "\n" for text in texts
        ).encode()

    monkeypatch.setattr(module, "lines_of_stems", lines_of_stems)
    stems = Stems()
    for lang in ("en", "en", "fr", "en"):
        assert in_texts(stems, [""], lang) == [[]]
        texts = ["a b", "", "b", "a b"]
        assert in_texts(stems, texts, lang) == [[0, 1], [], [1], [0, 1]]
        assert stems.read(texts, lang).lengths.tolist() == [3, 0, 1, 3]
    assert asked == [(text, lang) for lang in ("en", "fr") for text in ("", "a b", "b")]


def test_no_texts_have_no_stems() -> None:
    found = Stems().read([], "en")
    assert [part.tolist() for part in found] == [[], [0], []]


def test_texts_that_do_not_fit_into_the_cache_are_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_MAX_BYTES", 1000)
    asked: list[str] = []
    read = module.lines_of_stems

    def lines_of_stems(texts: Sequence[str], lang: str) -> bytes:
        asked.extend(texts)
        return read(texts, lang)

    monkeypatch.setattr(module, "lines_of_stems", lines_of_stems)
    stems = Stems()
    texts = ["a b", "b a", "c", "x " * 500, "a b"]
    for _ in range(3):
        found = in_texts(stems, texts, "en")
        assert [each[:2] for each in found] == [[0, 1], [1, 0], [2], [3, 3], [0, 1]]
    assert asked == [*texts[:4]] * 3


def test_properties_of_new_stems_are_added() -> None:
    stems = Stems()
    assert [len(part) for part in stems.arrays()] == [0, 0, 1]
    stems.read(["É 12"], "fr")
    assert bytes(stems.arrays().text) == b"e12"
    stems.read(["山 é"], "ja")
    found = stems.arrays()
    assert found.is_number.tolist() == [False, True, False]
    assert bytes(found.text) == b"e12shan"
    assert found.at.tolist() == [0, 1, 3, 7]
    stems.read([", ".join(f"{n}" for n in range(5000))], "en")
    assert len(stems.arrays().is_number) == len(stems) == 5002
    assert stems.arrays().is_number[3:].all()


def test_a_lexicon_is_asked_for_new_stems_only() -> None:
    stems = Stems()
    lexicon = Lexicon.of_links("en", "fr", [("red", "rouge", 1), ("house", "maison", 1)])
    stems.read(["red thing"], "en")
    left, right = known_stems(stems, lexicon)
    assert left.rows.tolist()[1] == -1
    assert right.rows.tolist() == [-1, -1]
    stems.read(["la maison"], "fr")
    left, right = known_stems(stems, lexicon)
    assert (left.rows >= 0).tolist() == (left.trust > 0).tolist() == [True, False, False, False]
    assert (right.rows >= 0).tolist() == (right.trust > 0).tolist() == [False, False, False, True]
    other = known_stems(stems, Lexicon.empty("en", "fr"))
    assert (other[0].rows < 0).all()


def test_numbers_start_again_when_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MAX_STEMS", 2)
    monkeypatch.setattr(module, "_free", [])
    with borrowed_stems() as first:
        first.read(["a b"], "en")
    with borrowed_stems() as again:
        assert again is first
        again.read(["c"], "en")
    with borrowed_stems() as new:
        assert new is not first
        assert len(new) == 0


def test_stems_are_lent_to_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_free", [])
    with borrowed_stems() as one, borrowed_stems() as other:
        assert one is not other
    assert module._free == [other]  # only those returned first

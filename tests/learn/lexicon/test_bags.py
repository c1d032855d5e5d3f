from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.learn.lexicon import bags as bags_module
from diptych.learn.lexicon.bags import Text, read_both, read_text
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.learn.lexicon.word_links import vocabulary_links
from diptych.text.cognates import stem
from diptych.text.lengths import text_length
from diptych.text.tokens import tokens

SENTENCES = st.lists(st.text("abc éß19山川の .,\n\x00", max_size=30), max_size=9)


def words_of(text: Text) -> list[dict[str, float]]:
    """The stems of each sentence with their counts."""
    found = []
    for start, end in zip(text.bags.offsets[:-1], text.bags.offsets[1:], strict=True):
        words = (text.words[word] for word in text.bags.word[start:end])
        found.append(dict(zip(words, text.bags.count[start:end].tolist(), strict=True)))
    return found


def test_sentence_is_its_stems_and_its_length() -> None:
    text = read_text(["Bergsteiger, Bergsteigerin!", "", "1956789 Berge"], "de")
    assert words_of(text) == [{"bergs": 2}, {}, {"1956789": 1, "berge": 1}]
    assert text.lengths.tolist() == [27, 0, 13]
    assert text.lengths_before.tolist() == [0, 27, 27, 40]
    # A sentence without words still takes room, so that nothing is divided by none.
    assert text.words_before.tolist() == [0, 2, 3, 5]
    assert len(text) == 3


def test_postings_list_the_sentences_of_each_word() -> None:
    text = read_text(["ein Berg", "zwei", "Berg um Berg"], "de")
    offsets, bag, times = text.postings
    at = text.words.index("berg")
    part = slice(offsets[at], offsets[at + 1])
    assert bag[part].tolist() == [0, 2]
    assert times[part].tolist() == [1, 2]


def test_empty_text() -> None:
    text = read_text([], "de")
    assert (len(text), text.words) == (0, ())
    assert text.words_before.tolist() == text.lengths_before.tolist() == [0]
    assert len(text.coarser()) == 0


@given(SENTENCES)
def test_coarser_text_has_the_same_words_and_letters(sentences: list[str]) -> None:
    text = read_text(sentences, "de")
    coarse = text.coarser()
    assert len(coarse) == (len(sentences) + 1) // 2
    joined = [sentences[n : n + 2] for n in range(0, len(sentences), 2)]
    expected = []
    for some in joined:
        counts: dict[str, float] = {}
        for words in words_of(read_text(some, "de")):
            for word, count in words.items():
                counts[word] = counts.get(word, 0) + count
        expected.append(counts)
    assert words_of(coarse) == expected
    np.testing.assert_allclose(coarse.lengths, [sum(map(text_length, some)) for some in joined])
    assert coarse.words == text.words


def test_groups_may_omit_sentences() -> None:
    text = read_text(["eins", "zwei", "drei", "vier vier"], "de")
    grouped = text.grouped(np.array([0, -1, 0, 1]))
    assert words_of(grouped) == [{"eins": 1, "drei": 1}, {"vier": 2}]
    assert grouped.lengths.tolist() == [8, 9]
    assert len(text.grouped(np.full(4, -1))) == 0


@given(SENTENCES)
def test_the_vocabulary_is_in_order_of_occurrence(sentences: list[str]) -> None:
    text = read_text(sentences, "de")
    stems = [[stem(token) for token in tokens(sentence, "de")] for sentence in sentences]
    assert text.words == tuple(dict.fromkeys(word for words in stems for word in words))
    assert words_of(text) == [Counter(words) for words in stems]
    assert text.lengths.tolist() == [text_length(sentence) for sentence in sentences]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bags_module, "native", lambda: None)
        other = read_text(sentences, "de")
    assert other.words == text.words
    for name in ("word", "count", "offsets", "size"):
        own, reference = (np.asarray(getattr(each.bags, name)) for each in (text, other))
        np.testing.assert_array_equal(own, reference)
        assert own.dtype == reference.dtype


@given(SENTENCES)
def test_every_word_is_counted(sentences: list[str]) -> None:
    text = read_text(sentences, "zh")
    assert text.bags.count.sum() == sum(len(tokens(sentence, "zh")) for sentence in sentences)
    assert (np.diff(text.words_before) >= 1).all()
    assert len(set(text.words)) == len(text.words) == text.bags.size


@given(SENTENCES, SENTENCES)
def test_both_sides_are_read_as_each_by_itself(left: list[str], right: list[str]) -> None:
    lexicon = Lexicon.of_links("de", "fr", [("a", "b", 1), ("ab", "c", 2)])
    one, other, links = read_both(left, right, lexicon)
    ours, theirs = read_text(left, "de"), read_text(right, "fr")
    for found, expected in ((one, ours), (other, theirs)):
        assert found.lengths.tolist() == expected.lengths.tolist()
        for name in ("word", "count", "offsets", "size"):
            part, own = getattr(found.bags, name), getattr(expected.bags, name)
            np.testing.assert_array_equal(part, own)
    expected = vocabulary_links(ours.words, theirs.words, lexicon)
    for name in ("left", "right", "forward", "backward"):
        np.testing.assert_array_equal(getattr(links, name), getattr(expected, name))

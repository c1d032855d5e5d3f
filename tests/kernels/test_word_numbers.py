"""Numbers for words in C, beside the reference in Python."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.kernels import word_numbers
from diptych.kernels.word_numbers import Column, WordNumbers

LINES = st.lists(
    st.lists(st.sampled_from(["a", "b", "ab", "é", "中文", "\ud800", "", "x" * 70]), max_size=8)
    | st.lists(st.integers(0, 3000).map(str), max_size=20),
    max_size=8,
).map(lambda lines: "".join("".join(f"{word} " for word in line) + "\n" for line in lines))


def read(numbers: WordNumbers, texts: list[str]) -> list[list[list[int]]]:
    return [
        [each.tolist() for each in numbers.read(text.encode("utf-8", "surrogatepass"))]
        for text in texts
    ]


@given(st.lists(LINES, max_size=6))
def test_words_have_the_numbers_of_the_reference(texts: list[str]) -> None:
    numbers, reference = WordNumbers(), WordNumbers()
    found = read(numbers, texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(word_numbers, "native", lambda: None)
        assert read(reference, texts) == found
    assert reference.words == numbers.words
    assert len(reference) == len(numbers)
    words = [word for text in texts for word in text.replace("\n", " ").split(" ") if word]
    assert [numbers.words[number] for ids, _ in found for number in ids] == words


def test_many_words_keep_their_numbers() -> None:
    numbers = WordNumbers()
    lines = [f"{n} {n + 1} \n".encode() for n in range(0, 20_000, 7)]
    for line in lines:
        numbers.read(line)
    count = len(numbers)
    whole, offsets = numbers.read(b"".join(lines))
    assert len(numbers) == count == len({*numbers.words})
    assert whole.tolist() == list(range(count))
    assert offsets.tolist() == list(range(0, count + 1, 2))


def test_a_column_grows() -> None:
    column = Column(int)
    for k in range(0, 3000, 3):
        column.extend([k, k + 1, k + 2])
    assert column.values.tolist() == list(range(3000))
    assert len(column) == 3000

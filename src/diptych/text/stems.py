"""The stems of the words in many texts, in C where texts are plain."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from diptych.kernels.lines import as_lines
from diptych.kernels.stems import Class, Rules, count_stems, stem_lines
from diptych.text.cognates import STEM, stem
from diptych.text.tokens import MAX_TOKEN, fold_case, tokens
from diptych.text.words import has_segmenter, is_plain

_CHARACTERS = 0x2200  # plain ones come before


def lines_of_stems(texts: Sequence[str], lang: str) -> bytes:
    r"""The stems of the tokens of each text: a blank after each, and a newline after each text.

    >>> lines_of_stems(["The mountains", "3.5 Gipfel"], "en")
    b'the mount \n3.5 gipfe \n'
    """
    folded = _folded(texts)
    lines = b"\0\n" * len(texts) if folded is None else stem_lines(folded, _rules())
    return _whole(lines, texts, lang) if b"\0" in lines else lines


def stem_counts(
    texts: Sequence[str], lang: str
) -> tuple[dict[str, int], tuple[tuple[int, ...], ...]]:
    """The count of each stem in all texts, and for each text the indices of its stems.

    >>> stem_counts(["two cats", "", "cats"], "en")
    ({'two': 1, 'cats': 2}, ((0, 1), (), (1,)))
    """
    stems, counts, numbers, ends = count_stems(lines_of_stems(texts, lang))
    starts = [0, *ends[:-1]]
    blocks = [tuple(numbers[start:end]) for start, end in zip(starts, ends, strict=False)]
    return dict(zip(stems, counts, strict=True)), tuple(blocks)


def _whole(lines: bytes, texts: Sequence[str], lang: str) -> bytes:
    """Lines with the stems of all texts, those of texts that are not plain too."""
    parts = lines.split(b"\n")
    for number, text in enumerate(texts):
        if parts[number] == b"\0":
            stems = "".join([f"{stem} " for stem in _stems_of(text, lang)])
            parts[number] = stems.encode("utf-8", "surrogatepass")
    return b"\n".join(parts)


def _stems_of(text: str, lang: str) -> list[str]:
    return [stem(token) for token in tokens(text, lang)]


def _folded(texts: Sequence[str]) -> str | None:
    """The texts as case-folded lines; None if folding makes more lines of them."""
    joined = fold_case(as_lines(texts))  # to the rules, a tab is the same as a line break
    return joined if joined.count("\n") == len(texts) - 1 else None


@cache
def _rules() -> Rules:
    """The rules of `tokens` for plain text; without ICU, texts with digits have other rules."""
    classes = np.zeros(_CHARACTERS, np.uint8)
    for point, character in enumerate(map(chr, range(_CHARACTERS))):
        if character.isdecimal() and is_plain(character):
            classes[point] = Class.PLAIN | Class.DIGIT if has_segmenter() else 0
        elif is_plain(character) and character not in "_\n":
            classes[point] = Class.PLAIN | (Class.LETTER if character.isalnum() else 0)
    for characters, own in ((".\xb7", Class.JOINER), (":", Class.COLON), (" ", Class.BLANK),
                            (".,;'\u2018\u2019", Class.POINT),
                            (".,'\u2019", Class.SEPARATOR)):  # fmt: skip
        classes[list(map(ord, characters))] |= np.uint8(own)
    return Rules(classes, STEM, MAX_TOKEN)

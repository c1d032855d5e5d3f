"""The stems of the words in many texts, in C where texts are plain."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from diptych.kernels.stems import Class, Rules, plain_stems
from diptych.text.cognates import STEM, stem
from diptych.text.tokens import MAX_TOKEN, fold_case, tokens
from diptych.text.words import has_segmenter, is_plain

_CHARACTERS = 0x2200  # plain ones come before


def text_stems(texts: Sequence[str], lang: str) -> list[list[str]]:
    """The stems of the tokens of each text.

    >>> text_stems(["The mountains", "3.5 Gipfel"], "en")
    [['the', 'mount'], ['3.5', 'gipfe']]
    """
    found: Sequence[list[str] | None] = [None] * len(texts)
    joined = "\n".join(texts)
    if joined.count("\n") != len(texts) - 1:  # to the rules, a tab is the same as a line break
        joined = "\n".join([text.replace("\n", "\t") for text in texts])
    joined = fold_case(joined)
    if joined.count("\n") == len(texts) - 1:
        found = plain_stems(joined, _rules())
    return [
        stems if stems is not None else [stem(token) for token in tokens(text, lang)]
        for text, stems in zip(texts, found, strict=True)
    ]


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

"""Sentence splitting in any script; what is too long for an aligner is cut at weaker boundaries."""

from __future__ import annotations

import re
from itertools import pairwise

from diptych.language.codes import primary
from diptych.text.boundaries import sentence_boundaries
from diptych.text.clauses import cut_long
from diptych.text.phrases import HAS_PHRASES, cut_at_blanks

MAX_SENTENCE = 3_000  # letters; longer ones are lists or code, and slow down every aligner

# Characters that may end a sentence, and all of scripts whose full stops are not ASCII.  Before a
# digit or a small letter, a full stop ends none: 2.5, index.html.
_MAY_END = re.compile(
    r"\.(?![0-9a-z])|[\n\r\x0b\x0c\x1c-\x1e\x85!?\u0370-\u03ff\u0530-\u1dff\u1f00-\u1fff\u2024-\u2029\u203c\u203d"
    r"\u2047-\u2049\u2c00-\U0010ffff]"
)
_LIST_ITEM = re.compile(r"\d\)\s")  # 1) this 2) that


def split_sentences(text: str, lang: str) -> list[str]:
    """The sentences of a text, stripped and without empty ones; together they cover the text.

    >>> split_sentences("M. Dupont est parti. Il a dit : « Adieu. » Puis rien.", "fr")
    ['M. Dupont est parti.', 'Il a dit : « Adieu. »', 'Puis rien.']
    """
    if _is_one(text):
        pieces = [text]
    else:  # Unknown languages are split like English.
        cuts = sentence_boundaries(text, primary(lang) or "en")
        pieces = [text[start:end] for start, end in pairwise([0, *cuts, len(text)])]
        if HAS_PHRASES.search(text):
            pieces = [phrase for piece in pieces for phrase in cut_at_blanks(piece)]
    sentences = (piece.strip() for piece in pieces)
    return [part for sentence in sentences if sentence for part in cut_long(sentence, MAX_SENTENCE)]


def _is_one(text: str) -> bool:
    """True if a text is certainly one sentence, as is the case for half of all blocks.

    >>> _is_one("Opening hours of the museum."), _is_one("Yes. No."), _is_one("1) yes 2) no")
    (True, False, False)
    >>> _is_one("Version 2.5 of index.html.")
    True
    """
    if _MAY_END.search(text, 0, len(text) - 1):
        return False
    return ")" not in text or not _LIST_ITEM.search(text)

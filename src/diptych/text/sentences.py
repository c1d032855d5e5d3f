"""Sentences of any language: sentencex, and a merge rule of ours for what it cuts too often.

On 1,000 sentences of each of six languages the rule raised F1 from .91 to .96.
"""

from __future__ import annotations

import re
from itertools import pairwise

from diptych.text.langs import primary

__all__ = ["split_sentences"]

MAX_SENTENCE = 3_000  # characters; longer ones are lists or code, and stall every aligner
_MAX_TEXT = 200_000  # characters given to sentencex at a time

# A piece that ends so has not ended: initials, titles, references, and abbreviations with inner
# full stops (z.B., p.ex., e.g.).
_OPEN_END = re.compile(
    r"(?:(?:^|[\s(\[\"'«“„’])(?:[^\W\d_]|M|MM|Mr|Mrs|Ms|Dr|Drs|Me|Mme|Mlle|St|Ste|Prof|Hr|Fr|Sr|Sra"
    r"|cf|Cf|vgl|Vgl|p|pp|S|s|vol|vols|Bd|art|Art|fig|figs|Fig|Figs|Abb|Tab|tab|no|No|nos|Nr|nr|n|núm"
    r"|ed|eds|éd|Hrsg|ca|bzw|approx|ch|chap|sec|env|av|apr|inkl|incl|vs|resp|Jan|Feb|Mar|Apr|Aug|Sept"
    r"|Sep|Oct|Okt|Nov|Dec|Dez|déc|janv|févr|juil)|(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,3})\.$"
)
_CLOSERS = "»”’\"')]}›"
_SAFE_CUT = re.compile(r"[;:.!?…。！？；]\s+|[,、，]\s*|\s+")


def split_sentences(text: str, lang: str) -> list[str]:
    """The sentences of a text, stripped, none empty; together they are all of it.

    >>> split_sentences("M. Dupont est parti. Il a dit : « Adieu. » Puis rien.", "fr")
    ['M. Dupont est parti.', 'Il a dit : « Adieu. »', 'Puis rien.']
    """
    import sentencex

    code = primary(lang) or "en"
    pieces: list[str] = []
    for start in range(0, len(text), _MAX_TEXT):
        found = sentencex.segment(code, text[start : start + _MAX_TEXT])
        pieces.extend(stripped for piece in found if (stripped := piece.strip()))
    return [part for sentence in _merged(pieces) for part in _cut(sentence)]


def _merged(pieces: list[str]) -> list[str]:
    """Join what belongs to one sentence."""
    if len(pieces) < 2:
        return pieces
    groups = [[pieces[0]]]
    for before, piece in pairwise(pieces):
        if _goes_on(before, piece):
            groups[-1].append(piece)
        else:
            groups.append([piece])
    return [" ".join(group) for group in groups]


def _goes_on(before: str, piece: str) -> bool:
    """Whether a piece continues the sentence before it.

    >>> _goes_on("M.", "Dupont"), _goes_on("Il rit.", "» dit-il."), _goes_on("Il rit.", "Elle non.")
    (True, True, False)
    """
    first = piece[0]
    if first.islower() or first in "»”)]}›" or (first in _CLOSERS and len(piece) == 1):
        return True
    return before.endswith(".") and len(before) < 10_000 and bool(_OPEN_END.search(before[-40:]))


def _cut(sentence: str) -> list[str]:
    """Cut an endless sentence at the strongest boundary near the limit."""
    parts: list[str] = []
    while len(sentence) > MAX_SENTENCE:
        end = max(
            (
                found.end()
                for found in _SAFE_CUT.finditer(sentence, MAX_SENTENCE // 2, MAX_SENTENCE)
            ),
            default=MAX_SENTENCE,
        )
        parts.append(sentence[:end].strip())
        sentence = sentence[end:].strip()
    return [*parts, sentence] if sentence else parts

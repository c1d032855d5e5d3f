"""How many of a page's words have their translation on another page, as a lexicon knows them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from diptych.text.cognates import stem

if TYPE_CHECKING:
    from diptych.learn.lexicon.lexicon import Lexicon

__all__ = ["Translated", "translated"]

_SURE = 0.2  # probability of a translation that counts
_SEEN = 3.0  # times a word was seen, at least, to be known well
_EVERYWHERE = 1 / 300  # share of all words: such words are on every page
_LEAST = 8  # words known well on both pages, without which nothing can be said
_NEUTRAL = 0.5

_Known = Mapping[str, frozenset[str]]


class Translated(NamedTuple):
    """Shares of the known words of both pages whose translation is on the other."""

    forward: float = _NEUTRAL
    backward: float = _NEUTRAL
    is_known: bool = False


def translated(
    left: Mapping[str, int], right: Mapping[str, int], lexicon: Lexicon | None
) -> Translated:
    """The shares for two bags of stems; neutral where the lexicon knows too few of them."""
    if lexicon is None or not len(lexicon):
        return Translated()
    forward, backward = _tables(lexicon)
    shares = []
    for bag, other, known in ((left, right, forward), (right, left, backward)):
        words = [word for word in bag if word in known]
        if len(words) < _LEAST:
            return Translated()
        found = sum(not known[word].isdisjoint(other) for word in words)
        shares.append((found + 1) / (len(words) + 2))
    return Translated(shares[0], shares[1], is_known=True)


@lru_cache(maxsize=4)
def _tables(lexicon: Lexicon) -> tuple[_Known, _Known]:
    """For each stem that is known well, the stems of its translations; in both directions."""
    return _known(lexicon), _known(lexicon.reversed())


def _known(lexicon: Lexicon) -> _Known:
    import numpy as np

    counts = lexicon.counts("left", unknown=_SEEN)
    most = max(float(counts.sum()) * _EVERYWHERE, 2 * _SEEN)
    is_known = (counts >= _SEEN) & (counts <= most)
    offsets, columns, values = lexicon.forward
    rows = np.repeat(np.arange(len(lexicon.left_words)), np.diff(offsets))
    kept = np.flatnonzero((values >= _SURE) & is_known[rows])
    found: dict[str, set[str]] = {}
    for row, column in zip(rows[kept].tolist(), columns[kept].tolist(), strict=True):
        word, other = lexicon.left_words[row], lexicon.right_words[column]
        if word != other:  # names and numbers are on both pages without a lexicon too
            found.setdefault(stem(word), set()).add(stem(other))
    return {word: frozenset(others) for word, others in found.items()}

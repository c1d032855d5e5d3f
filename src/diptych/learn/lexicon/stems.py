"""Numbers for stems: each text is split into words once, and each stem is looked up once.

Texts repeat on many pages, and words in many texts.  So the stems of a text are stored as an array
of numbers, and the properties of a stem as entries of arrays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from diptych.kernels import native
from diptych.kernels.tables import Table
from diptych.kernels.word_evidence import StemArrays
from diptych.kernels.word_links import Spelling, Words, find_links
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.learn.lexicon.word_links import LOOKS, WordLinks, by_stem, seen, vocabulary_links
from diptych.text.caches import TextMap
from diptych.text.cognates import folded
from diptych.text.lengths import text_length
from diptych.text.stems import text_stems

_MAX_STEMS = 1 << 17  # with more stems, the numbers start again
_MAX_BYTES = 24_000_000  # of the cache of texts in a language
_ENTRY = 200  # bytes of an array, a number and their tuple, without the contents of the array
_ROOM = 1024  # entries of a new column
_LEXICONS = 8


class TextStems(NamedTuple):
    """The numbers of a text's stems, in order, and the length of the text in letters."""

    ids: NDArray[np.int32]
    length: float


class _Column:
    """An array that grows."""

    def __init__(self, kind: DTypeLike) -> None:
        self._room: NDArray[Any] = np.zeros(_ROOM, kind)
        self._size = 0

    def extend(self, values: Sequence[Any] | NDArray[Any]) -> None:
        """Append values."""
        end = self._size + len(values)
        if end > len(self._room):
            self._room = np.concatenate((self._room, np.zeros(end, self._room.dtype)))
        self._room[self._size : end] = values
        self._size = end

    @property
    def values(self) -> NDArray[Any]:
        """The values so far; a view of the array."""
        return self._room[: self._size]


class _Numbers(dict[str, int]):
    """A number for each word: its place in `words`."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self.words)
        self.words.append(word)
        return number


class Stems:
    """The stems of all texts that were read, with their properties; not for several threads.

    >>> stems = Stems()
    >>> stems.read("Two houses, two homes", "en").ids.tolist()
    [0, 1, 0, 2]
    >>> stems.words
    ['two', 'house', 'homes']
    """

    def __init__(self) -> None:
        self._numbers = _Numbers()
        self._texts: dict[str, TextMap[TextStems]] = {}
        self._is_number, self._at, self._text = _Column(bool), _Column(np.int64), _Column(np.uint8)
        self._at.extend([0])
        self._sides: dict[Lexicon, tuple[_Side, _Side]] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def words(self) -> Sequence[str]:
        """The stem of each number."""
        return self._numbers.words

    def read(self, text: str, lang: str) -> TextStems:
        """Return the numbers of a text's stems."""
        return self.read_all([text], lang)[0]

    def read_all(self, texts: Sequence[str], lang: str) -> list[TextStems]:
        """Return the numbers of the stems of each text; new texts are read in one call."""
        known = self._texts.get(lang)
        if known is None:
            known = self._texts[lang] = TextMap(_MAX_BYTES, per_entry=_ENTRY, per_character=6)
        found = {text: known.get(text) for text in texts}
        missing = [text for text, numbers in found.items() if numbers is None]
        read = dict(zip(missing, self._read_anew(missing, lang), strict=True)) if missing else {}
        for text, numbers in read.items():
            known.keep(text, numbers)
        return [found[text] or read[text] for text in texts]

    def _read_anew(self, texts: Sequence[str], lang: str) -> Iterator[TextStems]:
        number = self._numbers.__getitem__
        for text, words in zip(texts, text_stems(texts, lang), strict=True):
            yield TextStems(np.array(list(map(number, words)), np.int32), text_length(text))

    def sides(self, lexicon: Lexicon) -> tuple[_Side, _Side]:
        """Return both sides of a lexicon, with the rows of these stems; the last ones are kept."""
        if lexicon not in self._sides:
            while len(self._sides) >= _LEXICONS:
                del self._sides[next(iter(self._sides))]
            known = by_stem(lexicon)
            self._sides[lexicon] = (
                _Side(known.left_ids, known.forward, known.left_counts),
                _Side(known.right_ids, known.backward, known.right_counts),
            )
        return self._sides[lexicon]

    def arrays(self) -> StemArrays:
        """Return the properties of all stems."""
        new = self.words[len(self._is_number.values) :]
        if new:
            spelt = [folded(word).encode("ascii") for word in new]
            self._is_number.extend([word[:1].isdigit() for word in new])
            self._at.extend(np.cumsum([len(each) for each in spelt]) + self._at.values[-1])
            self._text.extend(np.frombuffer(b"".join(spelt), np.uint8))
        return StemArrays(self._is_number.values, self._text.values, self._at.values)


_free: list[Stems] = []


@contextmanager
def borrowed_stems() -> Iterator[Stems]:
    """Lend the stems of this process, or new ones if a thread has borrowed them.

    The numbers start again when there are too many stems.
    """
    try:
        stems = _free.pop()
    except IndexError:
        stems = Stems()
    yield stems
    if len(stems) <= _MAX_STEMS and not _free:
        _free.append(stems)


class KnownStems(NamedTuple):
    """What one side of a lexicon knows of each stem."""

    rows: NDArray[np.int64]
    """row of the stem in `table`, or -1"""
    trust: NDArray[np.float64]
    """probability that the stem's translation would be recognised (see `word_links.trust`)"""
    table: Table


class _Side:
    """One side of a lexicon, with the rows of stems; new stems are looked up when asked for."""

    def __init__(self, ids: dict[str, int], table: Table, counts: NDArray[np.float64]) -> None:
        self._ids, self._table, self._counts = ids, table, counts
        self._rows, self._trust = _Column(np.int64), _Column(np.float64)

    def known(self, words: Sequence[str]) -> KnownStems:
        """Return what the lexicon knows of words, of which the first ones were asked before."""
        new = words[len(self._rows.values) :]
        if new:
            rows = _places(new, self._ids)
            self._rows.extend(rows)
            self._trust.extend(seen(rows, self._table, self._counts))
        return KnownStems(self._rows.values, self._trust.values, self._table)


def _places(words: Iterable[str], ids: dict[str, int]) -> NDArray[np.int64]:
    return np.array([ids.get(word, -1) for word in words], np.int64)


def known_stems(stems: Stems, lexicon: Lexicon) -> tuple[KnownStems, KnownStems]:
    """Return what both sides of a lexicon know of all stems."""
    left, right = stems.sides(lexicon)
    return left.known(stems.words), right.known(stems.words)


def stem_links(
    left: NDArray[np.int32], right: NDArray[np.int32], stems: Stems, lexicon: Lexicon
) -> WordLinks:
    """Do what `vocabulary_links` does for two vocabularies that are given as numbers of stems."""
    if native() is None:
        words = stems.words
        ours, theirs = ([words[number] for number in side.tolist()] for side in (left, right))
        return vocabulary_links(ours, theirs, lexicon)
    properties = stems.arrays()
    spelling = Spelling(properties.text, properties.at)
    one, other = (
        Words(known.rows[side], known.table, spelling.chosen(side))
        for side, known in zip((left, right), known_stems(stems, lexicon), strict=True)
    )
    return WordLinks(*find_links(one, other, LOOKS))

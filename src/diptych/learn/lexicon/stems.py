"""Numbers for stems: each text is split into words once, and each stem is looked up once.

Texts repeat on many pages, and words in many texts.  So the stems of a text are stored as an array
of numbers, and the properties of a stem as entries of arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diptych.kernels import native
from diptych.kernels.tables import Table, ends_of
from diptych.kernels.word_evidence import StemArrays
from diptych.kernels.word_links import Spelling, Words, find_links
from diptych.kernels.word_numbers import Column, WordNumbers
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.learn.lexicon.word_links import LOOKS, WordLinks, by_stem, seen, vocabulary_links
from diptych.text.cognates import folded
from diptych.text.lengths import text_lengths
from diptych.text.stems import lines_of_stems

_MAX_STEMS = 1 << 17  # with more stems, the numbers start again
_MAX_BYTES = 24_000_000  # of the cache of texts in a language
_ENTRY = (
    180  # bytes of a text apart from its characters and stems: string object, dict slot, numbers
)
_LEXICONS = 8


class TextStems(NamedTuple):
    """The stems of texts, by number, and the lengths of the texts."""

    ids: NDArray[np.int32]
    """numbers of the stems of all texts, in order"""
    offsets: NDArray[np.int64]
    """index of the first stem of each text, and the number of stems"""
    lengths: NDArray[np.float64]
    """length of each text in letters"""

    def chosen(self, rows: NDArray[np.int64]) -> TextStems:
        """The stems of the texts with the given indices, in that order."""
        begin, sizes = self.offsets[rows], self.offsets[rows + 1] - self.offsets[rows]
        offsets = ends_of(sizes)
        at = np.arange(offsets[-1]) + np.repeat(begin - offsets[:-1], sizes)
        return TextStems(self.ids[at], offsets, self.lengths[rows])


class _Texts:
    """The stems of the texts in a language that were read; forgotten if they are too many."""

    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self._rows: dict[str, int] = {}
        self._ids, self._offsets = Column(np.int32), Column(np.int64)
        self._lengths = Column(np.float64)
        self._offsets.extend([0])
        self._bytes = 0

    def read(
        self, texts: Sequence[str], read_anew: Callable[[Sequence[str]], TextStems]
    ) -> TextStems:
        """Return the stems of texts; those of texts that are not known yet are read first."""
        if self._bytes > _MAX_BYTES:
            self._clear()
        known = self._rows
        try:
            rows = [known[text] for text in texts]
        except KeyError:
            new = list(dict.fromkeys([text for text in texts if text not in known]))
            self._add(new, read_anew(new))
            rows = [known[text] for text in texts]
        every = TextStems(self._ids.values, self._offsets.values, self._lengths.values)
        return every.chosen(np.array(rows, np.int64))

    def _add(self, texts: Sequence[str], stems: TextStems) -> None:
        start = len(self._rows)
        self._rows.update(zip(texts, range(start, start + len(texts)), strict=True))
        self._offsets.extend(stems.offsets[1:] + len(self._ids))
        self._ids.extend(stems.ids)
        self._lengths.extend(stems.lengths)
        self._bytes += _ENTRY * len(texts) + 4 * len(stems.ids) + 2 * sum(map(len, texts))


class Stems:
    """The stems of all texts that were read, with their properties; not for several threads.

    >>> stems = Stems()
    >>> stems.read(["Two houses, two homes", "House"], "en").ids.tolist()
    [0, 1, 0, 2, 1]
    >>> stems.words
    ['two', 'house', 'homes']
    """

    def __init__(self) -> None:
        self._numbers = WordNumbers()
        self._texts: dict[str, _Texts] = {}
        self._is_number, self._at, self._text = Column(bool), Column(np.int64), Column(np.uint8)
        self._at.extend([0])
        self._sides: dict[Lexicon, tuple[_Side, _Side]] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def words(self) -> Sequence[str]:
        """The stem of each number."""
        return self._numbers.words

    def read(self, texts: Sequence[str], lang: str) -> TextStems:
        """Return the stems of texts; new texts are read in one call."""
        known = self._texts.get(lang)
        if known is None:
            known = self._texts[lang] = _Texts()
        return known.read(texts, lambda new: self._read_anew(new, lang))

    def _read_anew(self, texts: Sequence[str], lang: str) -> TextStems:
        ids, offsets = self._numbers.read(lines_of_stems(texts, lang))
        return TextStems(ids, offsets, text_lengths(texts))

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
        self._rows, self._trust = Column(np.int64), Column(np.float64)

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

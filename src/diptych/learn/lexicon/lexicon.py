"""The lexicon: word translation probabilities in both directions, and its file format."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import numpy as np
from numpy.typing import NDArray

from diptych.files import read_file, reading
from diptych.kernels.tables import Table, are_offsets, are_within, ascend_in_rows, table_of
from diptych.language.codes import same_language
from diptych.learn.arrays import unpack_arrays
from diptych.types import LangPair

Side = Literal["left", "right"]

_FORMAT = 1
MAX_BYTES = 1 << 30  # size limit of an unpacked file: enough for 30 million links and their words
_ADVICE = "make one with: diptych lexicon import FILE --langs en,fr"
_DTYPES = {
    "format": "int64", "langs": "uint8", "left_words": "uint8", "right_words": "uint8",
    "forward_offsets": "int64", "forward_columns": "int32", "forward_values": "float32",
    "backward_offsets": "int64", "backward_columns": "int32", "backward_values": "float32",
    "left_counts": "float32", "right_counts": "float32",
}  # fmt: skip


def _none() -> NDArray[np.float32]:
    return np.zeros(0, np.float32)


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Translation probabilities between two vocabularies, in both directions.

    The words are tokens as returned by `tokens`.
    """

    left_lang: str
    right_lang: str
    left_words: tuple[str, ...]
    right_words: tuple[str, ...]
    forward: Table
    """p(right word | left word), one row per left word"""
    backward: Table
    """p(left word | right word), one row per right word"""
    left_counts: NDArray[np.float32] = field(default_factory=_none)
    """count of each left word in the training text; empty if unknown"""
    right_counts: NDArray[np.float32] = field(default_factory=_none)

    @classmethod
    def empty(cls, left_lang: str, right_lang: str) -> Lexicon:
        """Create a lexicon without words."""
        none = Table(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32))
        return cls(left_lang, right_lang, (), (), none, none)

    @classmethod
    def of_links(
        cls, left_lang: str, right_lang: str, links: Iterable[tuple[str, str, float]]
    ) -> Lexicon:
        """Create a lexicon whose probabilities are proportional to the weights of word links.

        Each link is (left word, right word, weight).

        >>> lexicon = Lexicon.of_links("de", "fr", [("haus", "maison", 1), ("heim", "maison", 1)])
        >>> lexicon.best("haus"), lexicon.best("maison", "right")
        ([('maison', 1.0)], [('haus', 0.5), ('heim', 0.5)])
        """
        kept = [link for link in links if link[2] > 0]
        left_words = tuple(sorted({left for left, _, _ in kept}))
        right_words = tuple(sorted({right for _, right, _ in kept}))
        left = word_ids([link[0] for link in kept], left_words)
        right = word_ids([link[1] for link in kept], right_words)
        weights = np.array([weight for _, _, weight in kept], np.float64)
        forward = table_of(left, right, _shares(left, weights), len(left_words))
        backward = table_of(right, left, _shares(right, weights), len(right_words))
        return cls(left_lang, right_lang, left_words, right_words, forward, backward)

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "this", advice: str = "") -> Lexicon:
        """Parse the output of `to_bytes`, or raise ConfigError if it is invalid.

        The error message contains `name`, the name of the file, and `advice` for the user.
        """
        with reading(name, "Diptych lexicon", advice):
            return _whole(_arrays(data))

    def __len__(self) -> int:
        return len(self.forward.columns)

    @cached_property
    def left_ids(self) -> dict[str, int]:
        """A mapping from each left word to its row in `forward`."""
        return {word: index for index, word in enumerate(self.left_words)}

    @cached_property
    def right_ids(self) -> dict[str, int]:
        """A mapping from each right word to its row in `backward`."""
        return {word: index for index, word in enumerate(self.right_words)}

    def best(self, word: str, side: Side = "left", n: int = 10) -> list[tuple[str, float]]:
        """The `n` most probable translations of a word on the given side, best first."""
        is_left = side == "left"
        row = (self.left_ids if is_left else self.right_ids).get(word)
        if row is None:
            return []
        table, words = (
            (self.forward, self.right_words) if is_left else (self.backward, self.left_words)
        )
        part = slice(int(table.offsets[row]), int(table.offsets[row + 1]))
        found = zip(table.columns[part].tolist(), table.values[part].tolist(), strict=True)
        best = sorted(found, key=lambda entry: (-entry[1], words[entry[0]]))[:n]
        return [(words[column], value) for column, value in best]

    def reversed(self) -> Lexicon:
        """A copy of the lexicon with its left and right sides swapped."""
        return Lexicon(
            self.right_lang, self.left_lang, self.right_words, self.left_words, self.backward,
            self.forward, self.right_counts, self.left_counts,
        )  # fmt: skip

    def merged(self, other: Lexicon) -> Lexicon:
        """Merge two lexicons, weighting the translations of a word by its count in each lexicon.

        In a lexicon without counts, the count of every word is 1.
        """
        if (self.left_lang, self.right_lang) != (other.left_lang, other.right_lang):
            raise ValueError(
                f"a lexicon for {self.left_lang}-{self.right_lang} cannot be merged with one for "
                f"{other.left_lang}-{other.right_lang}"
            )
        left_words = tuple(sorted({*self.left_words, *other.left_words}))
        right_words = tuple(sorted({*self.right_words, *other.right_words}))
        forward, left_counts = _mixed((self, other), left_words, right_words)
        turned = self.reversed(), other.reversed()
        backward, right_counts = _mixed(turned, right_words, left_words)
        return Lexicon(
            self.left_lang, self.right_lang, left_words, right_words, forward, backward,
            left_counts, right_counts,
        )  # fmt: skip

    def counts(self, side: Side, unknown: float = 1.0) -> NDArray[np.float32]:
        """The count of each word on one side; every count is `unknown` if there are no counts."""
        counts = self.left_counts if side == "left" else self.right_counts
        words = self.left_words if side == "left" else self.right_words
        return counts if len(counts) else np.full(len(words), unknown, np.float32)

    def to_bytes(self) -> bytes:
        """Serialise the lexicon to bytes; equal lexicons give identical bytes."""
        arrays = {
            "format": np.array(_FORMAT),
            "langs": _blob((self.left_lang, self.right_lang)),
            "left_words": _blob(self.left_words),
            "right_words": _blob(self.right_words),
            "left_counts": self.left_counts,
            "right_counts": self.right_counts,
        }
        for name, table in (("forward", self.forward), ("backward", self.backward)):
            arrays |= {f"{name}_{part}": array for part, array in table._asdict().items()}
        stream = io.BytesIO()
        with ZipFile(stream, "w", ZIP_DEFLATED) as archive:
            for name, array in arrays.items():
                # A member without a date, which would change the bytes.
                member = ZipInfo(f"{name}.npy")
                member.compress_type = ZIP_DEFLATED
                with archive.open(member, "w", force_zip64=True) as part:
                    np.lib.format.write_array(part, array.astype(_DTYPES[name]))
        return stream.getvalue()


def read_lexicon(path: Path) -> Lexicon:
    """Read a lexicon from a file, or raise ConfigError if the file is invalid."""
    return Lexicon.from_bytes(read_file(path, MAX_BYTES, _ADVICE), str(path), _ADVICE)


def word_ids(words: Sequence[str], known: Sequence[str]) -> NDArray[np.int64]:
    """Return the index of each word in the vocabulary `known`, which must contain all the words."""
    ids = {word: number for number, word in enumerate(known)}
    return np.fromiter((ids[word] for word in words), np.int64, len(words))


def _shares(rows: NDArray[Any], weights: NDArray[Any]) -> NDArray[Any]:
    shares: NDArray[Any] = weights / np.bincount(rows, weights)[rows] if len(rows) else weights
    return shares


def _mixed(
    lexicons: Iterable[Lexicon], row_words: Sequence[str], column_words: Sequence[str]
) -> tuple[Table, NDArray[np.float32]]:
    """Merge the forward tables of lexicons into one table, and count the words of its rows.

    `row_words` and `column_words` are the vocabularies of the merged table.
    """
    totals = np.zeros(len(row_words))
    rows, columns, values = [], [], []
    for lexicon in lexicons:
        table, counts = lexicon.forward, lexicon.counts("left")
        row_ids = word_ids(lexicon.left_words, row_words)
        own = np.repeat(np.arange(len(row_ids)), np.diff(table.offsets))
        rows.append(row_ids[own])
        columns.append(word_ids(lexicon.right_words, column_words)[table.columns])
        values.append(table.values.astype(np.float64) * counts[own])
        totals[row_ids] += counts
    row = np.concatenate(rows)
    shares = np.concatenate(values) / np.where(totals > 0, totals, np.inf)[row]
    return table_of(row, np.concatenate(columns), shares, len(row_words)), totals.astype(np.float32)


def _blob(words: Sequence[str]) -> NDArray[np.uint8]:
    return np.frombuffer("\n".join(words).encode(), np.uint8)


def _words(blob: NDArray[np.uint8]) -> tuple[str, ...]:
    words = tuple(blob.tobytes().decode().split("\n")) if len(blob) else ()
    if "" in words or len(set(words)) != len(words):
        raise ValueError("one of its words is empty or repeated")
    return words


def _arrays(data: bytes) -> dict[str, NDArray[Any]]:
    """Read the arrays of a lexicon, or raise ValueError if their types or dimensions are wrong."""
    arrays = unpack_arrays(data, MAX_BYTES)
    if set(arrays) != set(_DTYPES):
        raise ValueError("it does not have the expected arrays")
    for name, array in arrays.items():
        if array.dtype != _DTYPES[name] or array.ndim != (name != "format"):
            raise ValueError(f"its {name} has the wrong type")
    if arrays["format"] != _FORMAT:
        raise ValueError(f"it is not in format {_FORMAT}")
    return arrays


def _whole(arrays: dict[str, NDArray[Any]]) -> Lexicon:
    """Create a lexicon from its arrays, or raise ValueError if they are inconsistent."""
    left_lang, right_lang = _words(arrays["langs"])
    left_words, right_words = _words(arrays["left_words"]), _words(arrays["right_words"])
    forward, backward = (
        Table(*(arrays[f"{name}_{part}"] for part in Table._fields))
        for name in ("forward", "backward")
    )
    _check_table(forward, len(left_words), len(right_words))
    _check_table(backward, len(right_words), len(left_words))
    for counts, words in (("left_counts", left_words), ("right_counts", right_words)):
        found = arrays[counts]
        if len(found) not in (0, len(words)) or not ((found >= 0) & (found < float("inf"))).all():
            raise ValueError("its counts do not match its words")
    return Lexicon(
        left_lang, right_lang, left_words, right_words, forward, backward,
        arrays["left_counts"], arrays["right_counts"],
    )  # fmt: skip


def _check_table(table: Table, rows: int, columns: int) -> None:
    """Raise ValueError unless all indices of a table are in range and in order."""
    offsets, column, values = table
    if len(offsets) != rows + 1:
        raise ValueError("its rows do not match its words")
    if len(column) != len(values) or not are_offsets(offsets, len(column)):
        raise ValueError("its rows do not match its links")
    if not are_within(column, columns):
        raise ValueError("its links refer to words that it does not contain")
    if not ascend_in_rows(offsets, column):
        raise ValueError("its links are out of order")
    if not ((values >= 0) & (values <= 1.001)).all():
        raise ValueError("its probabilities are not between 0 and 1")


def lexicon_of(langs: LangPair, lexicons: Iterable[Lexicon]) -> Lexicon | None:
    """Merge all lexicons for a language pair, in either direction; return None if there are none.

    The regions of language codes are ignored.
    """
    found: Lexicon | None = None
    for lexicon in lexicons:
        own = LangPair(lexicon.left_lang, lexicon.right_lang)
        if not _are_same(own, langs) and _are_same(LangPair(own.right, own.left), langs):
            lexicon = lexicon.reversed()
        elif not _are_same(own, langs):
            continue
        if (lexicon.left_lang, lexicon.right_lang) != langs:
            lexicon = replace(lexicon, left_lang=langs.left, right_lang=langs.right)
        found = lexicon if found is None else found.merged(lexicon)
    return found


def _are_same(left: LangPair, right: LangPair) -> bool:
    return same_language(left.left, right.left) and same_language(left.right, right.right)

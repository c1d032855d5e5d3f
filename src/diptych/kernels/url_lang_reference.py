"""The URL language model in Python: reference implementation and fallback for `url_lang.c`.

This module defines the features of a URL.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from diptych.kernels.url_lang import Learning, Tables

IS_GRAM = 0x80000000  # bit that marks n-grams
MAX_FEATURES = 4096
MAX_POINTS = 40  # characters of a word that n-grams are taken from
MAX_WHOLE = 32  # bytes of a segment that is a feature as a whole
(
    TLD, SECOND, NAME, NAME_PART, SUB, SUB_PART, DIR_FIRST, DIR, DIR_PART, FILE_WHOLE, FILE_FIRST,
    FILE_LAST, FILE_PART, EXTENSION, PARAMETER, VALUE_LANG, VALUE, VALUE_PART, ASSIGNED, WORD, GRAM,
    SCRIPT, SHAPE, HOST_GRAM, LOCALE_LEFT, LOCALE_RIGHT,
) = range(26)  # fmt: skip
_MASK = 0xFFFFFFFF
_FOLD = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ_", "abcdefghijklmnopqrstuvwxyz-")
_LETTERS = re.compile("[a-z\x80-\U0010ffff]+")
_LOCALE = re.compile("([a-z\x80-\U0010ffff]+)-([a-z\x80-\U0010ffff]+)")
_LANGUAGE_PARTS = (
    "lang", "lng", "locale", "idiom", "lingua", "sprache", "jezik", "kieli", "culture",
)  # fmt: skip
_LANGUAGE_WORDS = frozenset(("l", "hl", "lg", "ln", "lan", "loc", "la"))


def _hashed(kind: int, text: bytes) -> int:
    """The FNV-1a hash of the kind and the bytes of a feature."""
    return _extended(((2166136261 ^ (kind + 1)) * 16777619) & _MASK, text)


def _extended(value: int, text: bytes) -> int:
    for byte in text:
        value = ((value ^ byte) * 16777619) & _MASK
    return value


def _mixed(value: int) -> int:
    """Mix the bits of a hash and clear its highest bit."""
    value ^= value >> 15
    value = (value * 0x2C1B3C6D) & _MASK
    value ^= value >> 12
    value = (value * 0x297A2D39) & _MASK
    return (value ^ (value >> 15)) & ~IS_GRAM


def feature(kind: int, text: bytes) -> int:
    """The hash that identifies a feature other than an n-gram.

    >>> feature(DIR_FIRST, b"fr") == feature(DIR, b"fr")
    False
    """
    return _mixed(_hashed(kind, text))


def features(text: bytes) -> list[int] | None:
    """The features of a URL encoded by `pack`; None if it is not an http(s) URL."""
    found = split_features(text)
    return None if found is None else found[0]


def split_features(text: bytes) -> tuple[list[int], int] | None:
    """The features of a URL, and how many come from its host; None if it is not an http(s) URL."""
    folded = text.decode("utf-8").translate(_FOLD)
    scheme, separator, rest = folded.partition("://")
    if scheme not in ("http", "https") or not separator:
        return None
    rest = rest.partition("#")[0]
    place = min((at for at in (rest.find("/"), rest.find("?")) if at >= 0), default=len(rest))
    host, (path, asked, query) = rest[:place].partition(":")[0], rest[place:].partition("?")
    if not host:
        return None
    found = list(_host(host))[:MAX_FEATURES]
    of_host = len(found)
    found += [*_path(path[1:]), *_query(query), *_script(rest), _shape(path[1:], bool(asked))]
    return found[:MAX_FEATURES], of_host


def _host(host: str) -> Iterator[int]:
    *labels, tld = host.split(".")
    yield _whole(TLD, tld)
    if not labels:
        return
    name = labels.pop()
    if labels and _size(tld) == 2 and 2 <= _size(name) <= 3:  # co.uk, com.br
        yield _whole(SECOND, f"{name}.{tld}")
        name = labels.pop()
    yield from _segment(name, NAME, (NAME_PART,) * 3, HOST_GRAM)
    for label in reversed(labels):
        yield from _segment(label, SUB, (SUB_PART,) * 3, HOST_GRAM)


def _path(path: str) -> Iterator[int]:
    *directories, file = path.split("/")
    kind = DIR_FIRST
    for directory in directories:
        yield from _segment(directory, kind, (DIR_PART,) * 3, GRAM)
        kind = DIR if directory else kind
    stem, dot, extension = file.rpartition(".")
    if dot and 1 <= _size(extension) <= 5:
        yield _whole(EXTENSION, extension)
        file = stem
    yield from _segment(file, FILE_WHOLE, (FILE_FIRST, FILE_PART, FILE_LAST), GRAM)


def _query(query: str) -> Iterator[int]:
    for parameter in re.split("[&;]", query):
        name, equals, value = parameter.partition("=")
        if parameter and _size(name) <= MAX_WHOLE:
            yield _whole(PARAMETER, name)
        if not equals:
            continue
        if _size(parameter) <= MAX_WHOLE:
            yield _whole(ASSIGNED, parameter)
        kind = VALUE_LANG if _says_language(name) else VALUE
        yield from _segment(value, kind, (VALUE_PART,) * 3, GRAM)


def _says_language(name: str) -> bool:
    return name in _LANGUAGE_WORDS or any(part in name for part in _LANGUAGE_PARTS)


def _shape(path: str, asked: bool) -> int:
    """The feature for the shape of a URL.

    The shape is the number of directories (up to three) and the presence of a file and of a query.
    `asked` is True if there is a query.
    """
    *directories, file = path.split("/")
    depth = min(3, sum(map(bool, directories)))
    return feature(SHAPE, bytes((depth | bool(file) << 2 | asked << 3,)))


def _segment(text: str, whole: int, parts: tuple[int, int, int], grams: int) -> Iterator[int]:
    """Yield the features of a host label, path segment or parameter value.

    These are the whole text, its words and the n-grams of the words.  `whole`, `parts` and `grams`
    are the kinds of these features; `parts` has a kind for first, middle and last words.
    """
    if not text:
        return
    has_digit = any("0" <= char <= "9" for char in text)
    if _size(text) <= MAX_WHOLE and (whole == VALUE_LANG or not has_digit):
        yield _whole(whole, text)
    yield from _locale(text)
    words = _LETTERS.findall(text)
    for place, word in enumerate(words):
        is_short = _size(word) <= MAX_WHOLE
        if is_short and word != text:
            is_last = place == len(words) - 1
            yield _whole(parts[0 if place == 0 else 2 if is_last else 1], word)
        if is_short:
            yield _whole(WORD, word)
        yield from _grams(word, grams)


def _locale(text: str) -> Iterator[int]:
    """Yield both halves of a locale (en-us, zh-hant) as separate features."""
    found = _LOCALE.fullmatch(text)
    if found and 2 <= _size(found[1]) <= 3 and 2 <= _size(found[2]) <= 4:
        yield _whole(LOCALE_LEFT, found[1])
        yield _whole(LOCALE_RIGHT, found[2])


def _script(url: str) -> Iterator[int]:
    """Yield a feature for the script of a URL's first non-Latin letter, if there is one.

    The script is represented by the letter's block of 128 code points; Chinese characters count as
    one block, and so do Korean syllables.
    """
    point = next((ord(char) for char in url if ord(char) >= 0x250), 0)
    if 0x3400 <= point < 0xA000:
        point = 0x4E00
    if 0xAC00 <= point < 0xD800:
        point = 0xAC00
    if point:
        yield feature(SCRIPT, bytes((point >> 7 & 0xFF, point >> 15)))


def _grams(word: str, kind: int) -> Iterator[int]:
    """Yield the n-grams of 2 to 5 characters in `<word>`, and single characters beyond U+07FF."""
    chars = ["<", *word[:MAX_POINTS], ">"]
    for start in range(len(chars) - 1):
        value = _hashed(kind, b"")
        for n, char in enumerate(chars[start : start + 5], 1):
            value = _extended(value, char.encode())
            if n >= 2 or ord(char) >= 0x800:
                yield _mixed(value) | IS_GRAM


def _whole(kind: int, text: str) -> int:
    return feature(kind, text.encode())


def _size(text: str) -> int:
    return len(text.encode())


def _known(tables: Tables) -> dict[int, int]:
    """A mapping from each feature to its entry in the tables."""
    used = np.flatnonzero(tables.slot_key)
    keys, entries = tables.slot_key[used].tolist(), tables.slot_entry[used].tolist()
    return dict(zip(keys, entries, strict=True))


def _facts(tables: Tables, entries: Sequence[int]) -> list[int]:
    starts = tables.entry_from
    return [fact for entry in entries for fact in range(starts[entry], starts[entry + 1])]


def _softmax(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    powers = np.exp(logits - logits.max())
    shares: NDArray[np.float32] = powers / powers.sum()
    return shares


def probabilities(tables: Tables, texts: Sequence[bytes]) -> NDArray[np.float32]:
    """The probability of each label (column) for each URL (row).

    For an invalid URL, the probability of the first label is 1.
    """
    rows = np.zeros((len(texts), len(tables.bias)), np.float32)
    rows[:, 0] = 1
    table, known = tables.table * tables.scale[:, None], _known(tables)
    for row, text in zip(rows, texts, strict=True):
        found = features(text)
        if found is not None:
            entries = [known[number] for number in found if number in known]
            row[:] = _forward(tables, table, entries)[2]
    return rows


def _forward(
    tables: Tables, table: NDArray[np.float32], entries: Sequence[int]
) -> tuple[list[int], NDArray[np.float32], NDArray[np.float32]]:
    """Compute the indices of a URL's table rows, its hidden layer and its label probabilities.

    `table` holds the rows of all features, and `entries` the indices of the URL's features.
    """
    used = [entry for entry in entries if entry < len(table)]
    facts = _facts(tables, entries)
    size = _size_of(tables, used, facts)
    hidden = (table[used].sum(axis=0) * size).astype(np.float32)
    logits = tables.bias + tables.out @ hidden
    worth = tables.kinds[tables.fact_kind[facts]] * tables.fact_value[facts]
    np.add.at(logits, tables.fact_label[facts], worth)
    return used, hidden, _softmax(logits)


def _size_of(tables: Tables, used: Sequence[int], facts: Sequence[int]) -> float:
    """The factor that scales the sum of a URL's table rows, given the rows and the facts."""
    kinds = sorted(set(tables.fact_kind[list(facts)].tolist()))
    return float(np.exp(-tables.gates[kinds].sum()) / np.sqrt(max(len(used), 1)))


def _randoms(learning: Learning) -> Iterator[float]:
    """Yield random numbers from 0 to 1, generated by Marsaglia's xorshift algorithm."""
    while True:
        state = learning.state
        state ^= (state << 13) & 0xFFFFFFFFFFFFFFFF
        state ^= state >> 7
        state ^= (state << 17) & 0xFFFFFFFFFFFFFFFF
        learning.state = state
        yield (state >> 40) / 16777216


def _thinned(learning: Learning, found: Sequence[int], of_host: int) -> list[int]:
    """Apply dropout to features, and sometimes remove the host except for its top-level domain.

    The first `of_host` features come from the host.
    """
    chance = _randoms(learning)
    hide = next(chance) < np.float32(learning.drop_host)
    shown = [number for place, number in enumerate(found) if not (hide and 0 < place < of_host)]
    return [number for number in shown if not next(chance) < np.float32(learning.drop)]


def epoch(
    tables: Tables, learning: Learning, texts: Sequence[bytes], truth: Sequence[int],
    weight: Sequence[float], rates: tuple[float, float],
) -> float:  # fmt: skip
    """Train by Adagrad for one pass over the URLs in order, and return the mean loss.

    See `url_lang.epoch` for the arguments.
    """
    loss, total, known = 0.0, 0.0, _known(tables)
    for number, text in enumerate(texts):
        found = split_features(text)
        kept = _thinned(learning, *found) if found else []
        entries = [known[number] for number in kept if number in known]
        if not entries:
            continue
        rate = rates[0] + (rates[1] - rates[0]) * number / len(texts)
        used, hidden, row = _forward(tables, learning.rows, entries)
        loss -= weight[number] * float(np.log(row[truth[number]] + 1e-12))
        total += weight[number]
        row[truth[number]] -= 1
        _learn(tables, learning, entries, used, hidden, row * np.float32(weight[number]), rate)
    return loss / total if total else 0.0


def _learn(
    tables: Tables, learning: Learning, entries: Sequence[int], used: Sequence[int],
    hidden: NDArray[np.float32], gradient: NDArray[np.float32], rate: float,
) -> None:  # fmt: skip
    """Perform one training step: update the output layer, a URL's table rows and the fact weights.

    `entries`, `used` and `hidden` are as in `_forward`.  `gradient` is the derivative of the loss
    with respect to the score of each label.
    """
    width = len(hidden)
    moved = np.flatnonzero(np.abs(gradient) >= 1e-5)
    steep = gradient[moved]
    back = steep @ tables.out[moved]
    facts = _facts(tables, entries)
    size = _size_of(tables, used, facts)
    if not learning.facts_only:
        learning.out_seen[moved] += steep**2 * (hidden @ hidden + 1) / (width + 1)
        step = rate / np.sqrt(learning.out_seen[moved] + 1e-6) * steep
        tables.out[moved] -= step[:, None] * hidden
        tables.bias[moved] -= step
        for row in used:
            learning.rows_seen[row] += back @ back * size**2 / width
            slow = rate / np.sqrt(learning.rows_seen[row] + 1e-6)
            learning.rows[row] -= slow * size * back
    for fact in facts:
        kind = tables.fact_kind[fact]
        slope = gradient[tables.fact_label[fact]] * tables.fact_value[fact]
        learning.kinds_seen[kind] += slope**2
        tables.kinds[kind] -= rate / np.sqrt(learning.kinds_seen[kind] + 1e-6) * slope
    slope = -hidden @ back
    for kind in sorted(set(tables.fact_kind[facts].tolist())):
        learning.gates_seen[kind] += slope**2
        tables.gates[kind] -= rate / np.sqrt(learning.gates_seen[kind] + 1e-6) * slope

"""Selects the keys of a site: pairs of URL parts, such as `en` and `fr`, that denote languages.

Kit & Ng 2007 accept every key whose linking power exceeds a threshold.  Here, a key must also
denote languages: nearly all pages that it pairs must be in the same two languages.  If page
languages are unknown, language marks in the two values of the key decide.  A value without a mark
denotes the remaining language.  If there are no marks either, the paper's threshold decides among
keys that divide the site into two parts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import numpy as np

from diptych.stages.pair.keys.index import NULL, UNKNOWN, Candidates, Ints, Values
from diptych.stages.pair.keys.mark_meaning import (
    FOREIGN,
    NO_MARK,
    MarkReader,
    Meaning,
    differ_in_numbers,
    is_number,
)

_Z = 1.64  # one-sided 95%
_MIN_AGREEMENT = 0.55  # minimum lower bound for the share of pairs in the two languages: 4 of 4
_MIN_AGREEMENT_OF_NUMBERS = 0.8  # numbers are more often page numbers and versions: 11 of 11
_MIN_COVERAGE = 0.3  # minimum share of the pages with the rarer value that have a counterpart
_MIN_COVERAGE_OF_AFFIX = 0.1  # lower, because other words may end in the same letters
_MIN_COVERAGE_OF_MARKED = 0.2
_MIN_COVERAGE_BY_POWER = 0.5
_WEAK_SHARE = 0.05  # share of the linking power that suffices alone
_MIN_POWER = 3  # minimum pairs of a key without marks on both sides
_MAX_UNMARKED = 0.1  # maximum pages of an unmarked language, as a share of the most marked one
_TRUST = {"known": 1.0, "marked": 0.97, "left over": 0.93, "blind": 0.6}
_NOT_LANGUAGES = frozenset(
    "print printable printer text txt mobile amp pdf ps asc desc feed rss atom full all old new"
    " small large big thumb preview view edit raw plain draft www secure".split()
)


@dataclass(frozen=True, slots=True)
class ChosenKey:
    """A selected key: its two values, their language numbers, and its linking power.

    `trust` is the estimated probability that a pair with this key is correct.
    """

    value: int
    other: int
    lang: int
    other_lang: int
    power: int
    trust: float


class KeyCounts(NamedTuple):
    """The two values and the linking power of each key, and the key number of each candidate."""

    value: Ints
    other: Ints
    power: Ints
    which: Ints


class _Key(NamedTuple):
    """A key that may be selected, and its linking power.

    `one` and `two` are the languages that its two values denote, according to their marks.
    """

    number: int
    value: int
    other: int
    power: int
    one: Meaning
    two: Meaning


_Tally = dict[tuple[int, int], int]


def count(candidates: Candidates, values: int) -> KeyCounts:
    """Determine each candidate's key, and each key's linking power: its number of candidates.

    A key is a pair of values; `values` is the number of distinct values that keys may contain.
    """
    codes = candidates.value * np.int64(values) + candidates.other_value
    keys, which, power = np.unique(codes, return_inverse=True, return_counts=True)
    return KeyCounts(keys // values, keys % values, power.astype(np.int64), which.astype(np.int64))


@dataclass(frozen=True, slots=True)
class _Choice:
    """The keys to select from, the number of their pairs by language, and the thresholds."""

    values: Values
    keys: list[_Key]
    tallies: dict[int, _Tally]
    reader: MarkReader
    min_power: float
    """linking power that suffices without other evidence"""

    @property
    def min_weak_power(self) -> float:
        """The minimum linking power of a key with a weak mark."""
        return max(_MIN_POWER, self.min_power * _WEAK_SHARE)

    def coverage(self, key: _Key, power: int) -> float:
        """The share of pages with the key's rarer value that are in one of its `power` pairs."""
        sides = [side for side in (key.value, key.other) if side != NULL]
        return power / max(1, min(int(self.values.frequency[side]) for side in sides))

    def texts(self, key: _Key) -> tuple[str, str]:
        return self.values.texts[key.value], self.values.texts[key.other]


def choose(
    counts: KeyCounts,
    candidates: Candidates,
    langs: Ints,
    values: Values,
    reader: MarkReader,
    min_power: float,
) -> dict[int, ChosenKey]:
    """Select keys by page languages (`langs`), then by marks, then by linking power alone."""
    keys = list(_plausible_keys(counts, values, reader))
    tallies = _tally(counts, candidates, langs, {key.number for key in keys}, len(reader.langs))
    choice = _Choice(values, keys, tallies, reader, min_power)
    chosen = {key.number: made for key in keys if (made := _by_languages(choice, key))}
    _add(chosen, _by_marks(choice))
    _add(chosen, _with_one_mark(choice, _unmarked(choice, chosen.values())))
    # Weak marks do little harm if languages are known; otherwise they are the last resort.
    if not chosen or bool((langs != UNKNOWN).any()):
        is_last = not chosen
        _add(chosen, _by_weak_marks(choice, _unmarked(choice, chosen.values()), is_last=is_last))
        _add(chosen, _with_one_mark(choice, _unmarked(choice, chosen.values()), is_last=is_last))
    if not chosen:
        _add(chosen, _by_power(choice))
    return chosen


def _add(chosen: dict[int, ChosenKey], more: Iterator[tuple[int, ChosenKey]]) -> None:
    """Add the keys in `more` to `chosen`, except those already selected."""
    for number, key in list(more):
        chosen.setdefault(number, key)


def _plausible_keys(counts: KeyCounts, values: Values, reader: MarkReader) -> Iterator[_Key]:
    """Yield keys with many pairs or a language mark, unless both values mark the same language."""
    meanings: dict[int, Meaning] = {NULL: Meaning(NO_MARK)}
    rows = zip(counts.value.tolist(), counts.other.tolist(), counts.power.tolist(), strict=True)
    for number, (value, other, power) in enumerate(rows):
        for side in (value, other):
            if side not in meanings:
                meanings[side] = reader.meaning(values.texts[side])
        one, two = meanings[value], meanings[other]
        is_marked = one.lang >= 0 or two.lang >= 0
        if (power >= _MIN_POWER or is_marked) and not (one.sure_lang == two.sure_lang >= 0):
            yield _Key(number, value, other, power, one, two)


def _tally(
    counts: KeyCounts, candidates: Candidates, langs: Ints, wanted: set[int], count: int
) -> dict[int, _Tally]:
    """Count the pairs of each wanted key by the languages of the two pages.

    `count` is the number of requested languages.
    """
    is_wanted = np.zeros(len(counts.value), bool)
    is_wanted[list(wanted)] = True
    kept = np.flatnonzero(is_wanted[counts.which])
    base = count + 1
    code = counts.which[kept] * np.int64(base) + langs[candidates.url[kept]] + 1
    code = code * np.int64(base) + langs[candidates.other[kept]] + 1
    found: defaultdict[int, _Tally] = defaultdict(dict)
    for number, pairs in zip(*(part.tolist() for part in np.unique(code, return_counts=True)),
                             strict=True):  # fmt: skip
        key, one, two = number // base // base, number // base % base - 1, number % base - 1
        found[key][one, two] = pairs
    return found


def lower_bound(good: float, total: float) -> float:
    """The lower confidence bound for the proportion `good` / `total` (Wilson 1927).

    >>> round(lower_bound(4, 4), 2), round(lower_bound(90, 100), 2), lower_bound(0, 0)
    (0.6, 0.84, 0.0)
    """
    if not total:
        return 0.0
    share, square = good / total, _Z * _Z
    spread = _Z * sqrt(share * (1 - share) / total + square / (4 * total * total))
    return (share + square / (2 * total) - spread) / (1 + square / total)


def _by_languages(choice: _Choice, key: _Key) -> ChosenKey | None:
    """Accept a key if nearly all its pairs with known languages are in the same two languages."""
    known = {
        pair: pairs for pair, pairs in choice.tallies[key.number].items() if UNKNOWN not in pair
    }
    if not known:
        return None
    one, two = key.one.sure_lang, key.two.sure_lang
    fitting = {
        pair: pairs
        for pair, pairs in known.items()
        if one in (pair[0], NO_MARK) and two in (pair[1], NO_MARK)
    }
    marks = (one >= 0) + (two >= 0)
    if not fitting:
        fitting, marks = known, 0  # the marks are misleading, or the languages are wrong
    total = sum(fitting.values())
    best = min(fitting, key=lambda pair: (-fitting[pair], pair))
    good = fitting[best]
    if marks < 2 and not _is_agreed(choice, key, good, total, marks):
        return None
    return _chosen(key, best, "known", good, total)


def _is_agreed(choice: _Choice, key: _Key, good: int, total: int, marks: int) -> bool:
    """True if a key's pairs are in the same two languages too often to be a coincidence.

    Of the `total` pairs, `good` are in these languages.  `marks` is the number of the key's values
    that have a language mark, 0 or 1.
    """
    texts = choice.texts(key)
    if marks == 1 and NULL in (key.value, key.other):
        return 2 * good > total and choice.coverage(key, good) >= _MIN_COVERAGE_OF_AFFIX
    numbers = differ_in_numbers(texts)
    affix = any("*" in text for text in texts)
    bound = lower_bound(good, total)
    covered = choice.coverage(key, good)
    enough = _MIN_COVERAGE_OF_AFFIX if affix else _MIN_COVERAGE
    return bound >= (_MIN_AGREEMENT_OF_NUMBERS if numbers else _MIN_AGREEMENT) and covered >= enough


def _pairs_of_unknown(choice: _Choice, key: _Key) -> int:
    """The number of a key's pairs in which the language of at least one page is unknown."""
    return sum(pairs for pair, pairs in choice.tallies[key.number].items() if UNKNOWN in pair)


def _by_marks(choice: _Choice) -> Iterator[tuple[int, ChosenKey]]:
    """Select keys with marks of two languages, for pages whose languages are unknown."""
    for key in choice.keys:
        power = _pairs_of_unknown(choice, key)
        is_marked = min(key.one.sure_lang, key.two.sure_lang) >= 0
        if power and is_marked and choice.coverage(key, power) >= _MIN_COVERAGE_OF_MARKED:
            yield key.number, _chosen(key, (key.one.lang, key.two.lang), "marked", power, power)


def _by_weak_marks(
    choice: _Choice, unmarked: Collection[int], *, is_last: bool
) -> Iterator[tuple[int, ChosenKey]]:
    """Select keys with weak marks for the languages in `unmarked`, which have no better marks.

    Prefixes and suffixes are accepted only as a last resort (`is_last`), and only if they link as
    many pages as the paper requires.
    """
    for key in choice.keys:
        power = _pairs_of_unknown(choice, key)
        langs = {key.one.lang, key.two.lang}
        weak = {side.lang for side in (key.one, key.two) if side.is_weak}
        if not power or min(langs) < 0 or len(langs) < 2 or not weak or not weak <= {*unmarked}:
            continue
        if _is_enough(choice, key, power, _MIN_COVERAGE, is_last=is_last):
            yield key.number, _chosen(key, (key.one.lang, key.two.lang), "marked", power, power)


def _is_enough(choice: _Choice, key: _Key, power: int, covered: float, *, is_last: bool) -> bool:
    """True if a key with a weak mark, with `power` pairs, can be selected.

    It needs enough pairs and at least the coverage `covered`.  A prefix or suffix is accepted only
    as a last resort (`is_last`).
    """
    is_affix = any("*" in text for text in choice.texts(key))
    min_power = max(choice.min_power, _MIN_POWER) if is_affix else choice.min_weak_power
    return power >= min_power and choice.coverage(key, power) >= covered and is_last >= is_affix


def _chosen(key: _Key, langs: tuple[int, int], how: str, good: int, total: int) -> ChosenKey:
    trust = _TRUST[how] * (good + 1) / (total + 2)
    return ChosenKey(key.value, key.other, *langs, good, trust)


class _HalfMarked(NamedTuple):
    """A key with a language mark in only one of its two values; `bare` is the other value."""

    key: _Key
    bare: int
    power: int
    field: str
    """URL field of the marked value; each field has its own value for the unmarked language"""


def _with_one_mark(
    choice: _Choice, unmarked: Sequence[int], *, is_last: bool | None = None
) -> Iterator[tuple[int, ChosenKey]]:
    """Select keys with one marked value; the other denotes the first language in `unmarked`.

    Weak marks are ignored if `is_last` is None.  Otherwise, they count, and `is_last` is True if no
    keys have been selected yet.
    """
    if not unmarked:
        return
    missing = unmarked[0]
    halves = [half for key in choice.keys if (half := _half_marked(choice, key, missing, is_last))]
    power_of: defaultdict[tuple[str, int], int] = defaultdict(int)
    for half in halves:
        power_of[half.field, half.bare] += half.power
    default: dict[str, int] = {}
    for field, bare in sorted(power_of, key=lambda pair: (-power_of[pair], pair)):
        default.setdefault(field, bare)
    for key, bare, power, field in halves:
        if default[field] == bare:
            langs = (missing, key.two.lang) if bare == key.value else (key.one.lang, missing)
            yield key.number, _chosen(key, langs, "left over", power, power)


def _half_marked(
    choice: _Choice, key: _Key, missing: int, is_last: bool | None
) -> _HalfMarked | None:
    """If exactly one value of a key has a language mark, return the key as `_HalfMarked`.

    The unmarked value denotes the language `missing`.  Return None if there is too little evidence
    for the key.  `is_last` is as in `_with_one_mark`.
    """
    is_first = key.one.lang >= 0
    marked, plain = (key.one, key.two) if is_first else (key.two, key.one)
    side, bare = (key.value, key.other) if is_first else (key.other, key.value)
    power = _pairs_of_unknown(choice, key)
    if not power or marked.lang in (NO_MARK, FOREIGN, missing) or plain.lang != NO_MARK:
        return None
    if _is_no_language(choice.values.texts[bare]):
        return None
    covered = choice.coverage(key, power)
    if marked.is_weak:
        is_fine = is_last is not None and _is_enough(
            choice, key, power, _MIN_COVERAGE_BY_POWER, is_last=is_last
        )
    elif bare == NULL:
        is_fine = covered >= (_MIN_COVERAGE_OF_MARKED if power > 1 else _MIN_COVERAGE_BY_POWER)
    else:
        is_fine = power >= _MIN_POWER and covered >= _MIN_COVERAGE_BY_POWER
    return _HalfMarked(key, bare, power, choice.values.texts[side][0]) if is_fine else None


def _unmarked(choice: _Choice, chosen: Collection[ChosenKey]) -> list[int]:
    """The requested languages that hardly any URL indicates, by a mark or by a key in `chosen`."""
    marked = [0] * len(choice.reader.langs)
    sides = {(made.value, made.lang) for made in chosen}
    sides |= {(made.other, made.other_lang) for made in chosen}
    for key in choice.keys:
        pairs = ((key.value, key.one.sure_lang), (key.other, key.two.sure_lang))
        sides.update(pair for pair in pairs if pair[1] >= 0)
    for side, lang in sides:
        if side != NULL:
            marked[lang] += int(choice.values.frequency[side])
    return [lang for lang, pages in enumerate(marked) if pages <= _MAX_UNMARKED * max(marked)]


def _is_no_language(text: str) -> bool:
    return bool(text) and (is_number(text) or text[1:].lower() in _NOT_LANGUAGES)


def _by_power(choice: _Choice) -> Iterator[tuple[int, ChosenKey]]:
    """Select keys by linking power alone, provided that no value denotes both languages.

    Page numbers, dates and versions form chains (1:2, 2:3), whereas a true key divides a site into
    two parts.
    """
    if len(choice.reader.langs) != 2:
        return
    side: dict[int, int] = {}
    for key in sorted(choice.keys, key=lambda key: (-key.power, choice.texts(key))):
        power = _pairs_of_unknown(choice, key)
        if power < max(choice.min_power, _MIN_POWER) or not _may_be_by_power(choice, key, power):
            continue
        first = side.get(key.value, 1 - side.get(key.other, 1))
        if side.get(key.other, 1 - first) == first:
            continue
        side[key.value], side[key.other] = first, 1 - first
        yield key.number, _chosen(key, (first, 1 - first), "blind", power, power)


def _may_be_by_power(choice: _Choice, key: _Key, power: int) -> bool:
    texts = choice.texts(key)
    if FOREIGN in (key.one.lang, key.two.lang):
        return False
    says_so = all(choice.reader.is_parameter(text) for text in texts if text)
    is_query = any(text[:1] == "q" for text in texts)
    if not says_so and (is_query or differ_in_numbers(texts) or any(map(_is_no_language, texts))):
        return False
    return choice.coverage(key, power) >= _MIN_COVERAGE_BY_POWER

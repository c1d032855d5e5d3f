"""From URLs to pairs: readings, candidates, keys and their competition, in this order."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from diptych.stages.pair.keys.choice import Chosen, Counted, choose, count
from diptych.stages.pair.keys.competition import Scored, compete, score
from diptych.stages.pair.keys.index import UNKNOWN, Candidates, Index, Ints, Readings, Values, join
from diptych.stages.pair.keys.marks import Marker, is_number
from diptych.stages.pair.keys.readings import (
    Found,
    Mask,
    affixes,
    hosts,
    runs,
    several,
    single,
    together,
)

__all__ = ["Linked", "Wishes", "link"]

_TOLD = 0.6  # least trust in a key for what it tells of languages to count
_MOST_DIGITS = 2  # of a number that may be a language's
_PURE = 0.9  # least share of a token's pages in one language that makes it tell the language
_FREQUENT = 1000  # a token may be half of a key if one in so many URLs has it


@dataclass(frozen=True, slots=True)
class Wishes:
    """What to look for: see the parameters of `Keys`."""

    tau: float
    fields: frozenset[str]
    generalise: bool
    several: bool
    suppress: bool


@dataclass(frozen=True, slots=True)
class Linked:
    """The keys of a site and the pairs they make: places of `scored`, strongest first."""

    index: Index
    values: Values
    scored: Scored
    order: list[int]


@dataclass(frozen=True, slots=True)
class _Words:
    """What is known of the vocabulary and the URLs whatever the languages of the pages."""

    in_fields: Mask
    frequent: Mask
    marked: Ints
    """the language each token is a mark of, or `UNKNOWN`"""
    is_word: Mask
    is_small: Mask
    """not a number, or the value of a parameter for languages; and numbers that are small"""
    found: list[Found]


def link(index: Index, wishes: Wishes, marker: Marker) -> Linked:
    """The pairs of a site."""
    words = _words(index, wishes, marker)
    linked = _link(index, wishes, marker, words)
    if wishes.suppress and bool((index.langs == UNKNOWN).any()):
        told = _told(linked)
        if bool((told != index.langs).any()):
            # What keys told of languages is known now, and tells true keys from false ones.
            linked = _link(replace(index, langs=told), wishes, marker, words)
    return linked


def _link(index: Index, wishes: Wishes, marker: Marker, words: _Words) -> Linked:
    readings, values = _read(index, wishes, words, len(marker.langs))
    candidates = join(readings, index.langs, all_groups=not wishes.suppress)
    if not wishes.suppress:
        candidates = _within_fields(candidates, values)
    counted = count(candidates, len(values.texts))
    least = wishes.tau * len(index.urls)
    if wishes.suppress:
        chosen = choose(counted, candidates, index.langs, values, marker, least)
    else:
        chosen = _above(counted, least)
    scored = score(index, candidates, counted, chosen, values)
    return Linked(index, values, scored, compete(scored, index, values, by_key=not wishes.suppress))


def _told(linked: Linked) -> Ints:
    """The languages of pages, as known or as told by their strongest pair."""
    langs = linked.index.langs.copy()
    scored = linked.scored
    told = np.array(linked.order[::-1], np.int64)  # the strongest has the last word
    told = told[scored.score[told] * scored.rivals[told] >= _TOLD]
    for url, lang in ((scored.left, scored.left_lang), (scored.right, scored.right_lang)):
        fresh = told[linked.index.langs[url[told]] == UNKNOWN]
        langs[url[fresh]] = lang[fresh]
    return langs


def _words(index: Index, wishes: Wishes, marker: Marker) -> _Words:
    words = index.vocabulary
    found: list[Found] = [affixes(index)] if wishes.generalise else []
    if wishes.suppress and "h" in wishes.fields:
        found.append(hosts(index))
    marked = [marker.meaning(word).lang for word in words]
    is_word = [not is_number(word) or marker.is_parameter(word) for word in words]
    is_small = [len(word.rpartition("=")[2]) <= _MOST_DIGITS + 1 for word in words]
    return _Words(
        np.array([word[:1] in wishes.fields for word in words]),
        index.frequency >= _least_frequency(index, wishes),
        np.array(marked, np.int64),
        np.array(is_word),
        np.array(is_small),
        found,
    )


def _least_frequency(index: Index, wishes: Wishes) -> float:
    """In how many URLs a token must be to be half of a key that is strong enough."""
    if wishes.suppress:
        return max(3, len(index.urls) // _FREQUENT)
    # A URL with the token is linked to as many others as are the same set, in another order.
    _, same = np.unique(index.whole(), return_counts=True)
    return wishes.tau * len(index.urls) / float(same.max(initial=1))


def _read(index: Index, wishes: Wishes, words: _Words, langs: int) -> tuple[Readings, Values]:
    """All readings that are wished for."""
    wanted = words.in_fields & words.frequent
    if not wishes.suppress:
        return together([single(index, wanted), *words.found])
    says = _languages_of_tokens(index, words, langs)
    telling = says >= 0
    # Where languages are known they tell `/0/` and `/1/` from pages and versions.
    is_known = bool((index.langs != UNKNOWN).any())
    may_be_value = words.is_word | words.is_small if is_known else words.is_word
    found = [single(index, telling | (wanted & may_be_value)), *words.found]
    if wishes.several:
        found += [runs(index, telling, wanted), several(index, says)]
    return together(found)


def _languages_of_tokens(index: Index, words: _Words, count: int) -> Ints:
    """The language each token tells by its mark, or else by the pages it is on."""
    langs = index.langs[index.owner]
    most = np.zeros(len(words.marked), np.int64)
    best = np.full(len(words.marked), UNKNOWN, np.int64)
    for lang in range(count):
        pages = np.bincount(index.token[langs == lang], minlength=len(most))
        best[pages > most] = lang
        most = np.maximum(most, pages)
    is_pure = words.frequent & (most >= _PURE * index.frequency)
    says = np.where((words.marked < 0) & is_pure, best, words.marked)
    return np.where(words.in_fields, says, UNKNOWN)


def _within_fields(found: Candidates, values: Values) -> Candidates:
    """The paper's second assumption: no cross-field linkage."""
    tags = np.array([ord(text[0]) if text else 0 for text in values.texts], np.int64)
    one, two = tags[found.value], tags[found.other_value]
    kept = (one == two) | (one == 0) | (two == 0)
    return Candidates(*(part[kept] for part in found))


def _above(counted: Counted, least: float) -> dict[int, Chosen]:
    """The paper's choice: all keys of enough linking power."""
    return {
        int(number): Chosen(
            int(counted.value[number]), int(counted.other[number]), UNKNOWN, UNKNOWN,
            power, (power + 1) / (power + 2),
        )
        for number in np.flatnonzero(counted.power >= least)
        for power in (int(counted.power[number]),)
    }  # fmt: skip

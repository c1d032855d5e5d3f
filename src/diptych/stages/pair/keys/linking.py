"""Finds pairs of URLs in four steps: removals, candidates, keys, and competition between keys."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from diptych.stages.pair.keys.choice import ChosenKey, KeyCounts, choose, count
from diptych.stages.pair.keys.competition import Scored, compete, score
from diptych.stages.pair.keys.index import (
    UNKNOWN,
    Candidates,
    Index,
    Ints,
    Removals,
    Values,
    match_removals,
)
from diptych.stages.pair.keys.mark_meaning import MarkReader, is_number
from diptych.stages.pair.keys.removals import (
    LocalRemovals,
    Mask,
    affixes,
    concatenated,
    single_tokens,
    token_runs,
    tokens_of_one_language,
    whole_hosts,
)

if TYPE_CHECKING:
    from diptych.stages.pair.keys.strategy import Keys

_MIN_TRUST = 0.6  # minimum trust in a key for inferring page languages from it
_MAX_DIGITS = 2  # maximum digits of a number that may denote a language
_MIN_PURITY = 0.9  # minimum share of a token's pages in one language, for the token to denote it
_URLS_PER_TOKEN = 1000  # one URL in this many must contain a token for it to be part of a key


@dataclass(frozen=True, slots=True)
class LinkedUrls:
    """The scored candidates of a site; `order` contains the winners' indexes, strongest first."""

    index: Index
    values: Values
    scored: Scored
    order: list[int]


@dataclass(frozen=True, slots=True)
class _TokenFacts:
    """Properties of tokens, and removals from URLs, that do not depend on page languages."""

    in_fields: Mask
    frequent: Mask
    marked: Ints
    """number of the requested language that each token marks; negative if there is none"""
    is_word: Mask
    is_small: Mask
    """True for tokens that are short enough to be a number denoting a language"""
    found: list[LocalRemovals]


def link(index: Index, keys: Keys, reader: MarkReader) -> LinkedUrls:
    """Find the keys and pairs of a site, with the settings in `keys`."""
    facts = _token_facts(index, keys, reader)
    linked = _link(index, keys, reader, facts)
    if keys.suppress and bool((index.langs == UNKNOWN).any()):
        inferred = _inferred_langs(linked)
        if bool((inferred != index.langs).any()):
            # The languages inferred from keys help to distinguish true keys from false ones.
            linked = _link(replace(index, langs=inferred), keys, reader, facts)
    return linked


def _link(index: Index, keys: Keys, reader: MarkReader, facts: _TokenFacts) -> LinkedUrls:
    removals, values = _removals(index, keys, facts, len(reader.langs))
    candidates = match_removals(removals, index.langs, all_groups=not keys.suppress)
    if not keys.suppress:
        candidates = _within_fields(candidates, values)
    counts = count(candidates, len(values.texts))
    least = keys.tau * len(index.urls)
    if keys.suppress:
        chosen = choose(counts, candidates, index.langs, values, reader, least)
    else:
        chosen = _by_linking_power(counts, least)
    scored = score(index, candidates, counts, chosen, values)
    order = compete(scored, index, values, by_key=not keys.suppress)
    return LinkedUrls(index, values, scored, order)


def _inferred_langs(linked: LinkedUrls) -> Ints:
    """The page languages, with unknown ones inferred from the key of the page's strongest pair."""
    langs = linked.index.langs.copy()
    scored = linked.scored
    inferred = np.array(linked.order[::-1], np.int64)  # reversed, so that the strongest wins
    inferred = inferred[scored.score[inferred] * scored.rivals[inferred] >= _MIN_TRUST]
    for url, lang in ((scored.left, scored.left_lang), (scored.right, scored.right_lang)):
        fresh = inferred[linked.index.langs[url[inferred]] == UNKNOWN]
        langs[url[fresh]] = lang[fresh]
    return langs


def _token_facts(index: Index, keys: Keys, reader: MarkReader) -> _TokenFacts:
    vocabulary = index.vocabulary
    fields = {name[0] for name in keys.fields}
    found: list[LocalRemovals] = [affixes(index)] if keys.generalise else []
    if keys.suppress and "host" in keys.fields:
        found.append(whole_hosts(index))
    marked = [reader.meaning(word).lang for word in vocabulary]
    is_word = [not is_number(word) or reader.is_parameter(word) for word in vocabulary]
    is_small = [len(word.rpartition("=")[2]) <= _MAX_DIGITS + 1 for word in vocabulary]
    return _TokenFacts(
        np.array([word[:1] in fields for word in vocabulary]),
        index.frequency >= _min_frequency(index, keys),
        np.array(marked, np.int64),
        np.array(is_word),
        np.array(is_small),
        found,
    )


def _min_frequency(index: Index, keys: Keys) -> float:
    """The minimum number of URLs that must contain a token for it to be part of a strong key."""
    if keys.suppress:
        return max(3, len(index.urls) // _URLS_PER_TOKEN)
    # A URL with the token matches all URLs with the same set of tokens, in any order.
    _, same = np.unique(index.whole(), return_counts=True)
    return keys.tau * len(index.urls) / float(same.max(initial=1))


def _removals(index: Index, keys: Keys, facts: _TokenFacts, langs: int) -> tuple[Removals, Values]:
    """Collect all removals that the settings in `keys` allow.

    `langs` is the number of requested languages.
    """
    wanted = facts.in_fields & facts.frequent
    if not keys.suppress:
        return concatenated([single_tokens(index, wanted), *facts.found])
    token_langs = _languages_of_tokens(index, facts, langs)
    has_lang = token_langs >= 0
    # If languages are known, `/0/` and `/1/` can be distinguished from page numbers and versions.
    is_known = bool((index.langs != UNKNOWN).any())
    may_be_value = facts.is_word | facts.is_small if is_known else facts.is_word
    found = [single_tokens(index, has_lang | (wanted & may_be_value)), *facts.found]
    if keys.several:
        found += [token_runs(index, has_lang, wanted), tokens_of_one_language(index, token_langs)]
    return concatenated(found)


def _languages_of_tokens(index: Index, facts: _TokenFacts, count: int) -> Ints:
    """The language that each token denotes, based on its mark or on the pages that contain it.

    `count` is the number of requested languages.
    """
    langs = index.langs[index.owner]
    most = np.zeros(len(facts.marked), np.int64)
    best = np.full(len(facts.marked), UNKNOWN, np.int64)
    for lang in range(count):
        pages = np.bincount(index.token[langs == lang], minlength=len(most))
        best[pages > most] = lang
        most = np.maximum(most, pages)
    is_pure = facts.frequent & (most >= _MIN_PURITY * index.frequency)
    token_langs = np.where((facts.marked < 0) & is_pure, best, facts.marked)
    return np.where(facts.in_fields, token_langs, UNKNOWN)


def _within_fields(found: Candidates, values: Values) -> Candidates:
    """Keep candidates whose values are in the same URL field (the paper's second assumption)."""
    tags = np.array([ord(text[0]) if text else 0 for text in values.texts], np.int64)
    one, two = tags[found.value], tags[found.other_value]
    kept = (one == two) | (one == 0) | (two == 0)
    return Candidates(*(part[kept] for part in found))


def _by_linking_power(counts: KeyCounts, least: float) -> dict[int, ChosenKey]:
    """Select all keys with a linking power of at least `least`, as in the paper."""
    return {
        int(number): ChosenKey(
            int(counts.value[number]), int(counts.other[number]), UNKNOWN, UNKNOWN,
            power, (power + 1) / (power + 2),
        )
        for number in np.flatnonzero(counts.power >= least)
        for power in (int(counts.power[number]),)
    }  # fmt: skip

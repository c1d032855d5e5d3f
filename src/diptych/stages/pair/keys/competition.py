"""Competition between keys: each URL is paired by the key with the greatest linking power."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from diptych.stages.pair.keys.choice import ChosenKey, KeyCounts
from diptych.stages.pair.keys.index import UNKNOWN, Candidates, Index, Ints, Values
from diptych.stages.pair.keys.mark_meaning import shared_start

_MAX_SCORE = 0.999  # no URL is proof: the content decides
_FIELD_ORDER = "pfhq"  # order of fields among keys of the same power


class Scored(NamedTuple):
    """Candidate pairs of selected keys, as parallel arrays.

    The left page is in the language that was requested first, if languages are known.
    """

    left: Ints
    right: Ints
    left_lang: Ints
    right_lang: Ints
    left_value: Ints
    right_value: Ints
    score: npt.NDArray[np.float64]
    power: Ints
    rivals: Ints


def spell_value(value: str) -> str:
    """Format a value for display as part of a key.

    >>> spell_value("pen"), spell_value("f*e"), spell_value("")
    ('en', 'e', '(null)')
    """
    return value[1:].replace("*", "") or "(null)"


def score(
    index: Index,
    candidates: Candidates,
    counts: KeyCounts,
    chosen: Mapping[int, ChosenKey],
    values: Values,
) -> Scored:
    """Score the candidates of selected keys whose page languages do not contradict the key."""
    size = len(counts.value)
    one_lang, two_lang = np.full(size, UNKNOWN, np.int64), np.full(size, UNKNOWN, np.int64)
    trust, power = np.zeros(size), np.zeros(size, np.int64)
    for number, key in chosen.items():
        one_lang[number], two_lang[number] = key.lang, key.other_lang
        trust[number], power[number] = key.trust, key.power
    kept = np.flatnonzero(power[counts.which] > 0)
    key_of, url, other = counts.which[kept], candidates.url[kept], candidates.other[kept]
    lang, fits = _combined_language(index.langs[url], one_lang[key_of])
    other_lang, also_fits = _combined_language(index.langs[other], two_lang[key_of])
    fits &= also_fits & ((lang != other_lang) | (lang == UNKNOWN))
    rivals = candidates.rivals[kept]
    strength = np.minimum(_MAX_SCORE, trust[key_of] / np.where(one_lang[key_of] < 0, 1, rivals))
    value, other_value = candidates.value[kept], candidates.other_value[kept]
    forward = np.where(lang != other_lang, lang < other_lang, _is_first(value, other_value, values))
    one = Scored(url, other, lang, other_lang, value, other_value, strength, power[key_of], rivals)
    return _oriented(one, forward, fits)


def _combined_language(known: Ints, of_key: Ints) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """The language of each page, and a mask of the pages that agree with the key.

    Where the language of a page is unknown in `known`, it is taken from `of_key`, the language that
    the key denotes.
    """
    lang = np.where(known == UNKNOWN, of_key, known)
    return lang, (of_key == UNKNOWN) | (lang == of_key)


def _is_first(value: Ints, other: Ints, values: Values) -> npt.NDArray[np.bool_]:
    """A mask that is True where the text of `value` sorts before that of `other`."""
    used = np.unique(np.concatenate((value, other)))
    order = sorted(range(len(used)), key=lambda place: values.texts[used[place]][1:])
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    first: npt.NDArray[np.bool_] = (
        ranks[np.searchsorted(used, value)] < ranks[np.searchsorted(used, other)]
    )
    return first


def _oriented(one: Scored, forward: npt.NDArray[np.bool_], fits: npt.NDArray[np.bool_]) -> Scored:
    """Keep the candidates where `fits` is True; swap left and right where `forward` is False."""
    turned = one._replace(
        left=one.right, right=one.left, left_lang=one.right_lang, right_lang=one.left_lang,
        left_value=one.right_value, right_value=one.left_value,
    )  # fmt: skip
    columns = zip(one, turned, strict=True)
    return Scored(*(np.where(forward, first, second)[fits] for first, second in columns))


def compete(scored: Scored, index: Index, values: Values, *, by_key: bool) -> list[int]:
    """Select the winning pairs, and return their indexes, strongest first.

    With `by_key`, as in the paper, each URL is in at most one pair.  Otherwise, it is in at most
    one pair for each pair of languages.
    """
    rank = _ranks_of_keys(scored, values)
    # `lexsort` sorts by the last column first; columns that distinguish no candidates are omitted.
    by: list[Any] = [scored.left, rank]
    if by_key:
        forward = _is_first(scored.left_value, scored.right_value, values)
        one, two = (scored.left, scored.right), (scored.right, scored.left)
        by = [np.where(forward, *two), np.where(forward, *one), rank]
        contest = np.zeros(len(scored.left), np.int64)
    else:
        if bool((scored.rivals > 1).any()):
            by = [scored.right, scored.left, -_shared_ends(scored, index), rank]
        by.append(-scored.score)
        contest = scored.left_lang * (int(scored.right_lang.max(initial=0)) + 1)
        contest = contest + scored.right_lang
    return _one_to_one(np.lexsort(by), scored, contest, len(index.urls))


def _ranks_of_keys(scored: Scored, values: Values) -> Ints:
    """The rank of each candidate's key, by linking power, then field, then text."""
    texts = values.texts
    low = np.minimum(scored.left_value, scored.right_value)
    high = np.maximum(scored.left_value, scored.right_value)
    codes = low * np.int64(len(texts)) + high
    _, first, which = np.unique(codes, return_index=True, return_inverse=True)

    def place(number: int) -> tuple[int, int, str, str, str]:
        sides = texts[scored.left_value[number]], texts[scored.right_value[number]]
        one, two = sorted(sides, key=lambda text: (text[1:], text))
        field = max(_FIELD_ORDER.find(text[0]) for text in sides if text)
        return -int(scored.power[number]), field, one[1:], two[1:], one + two

    order = sorted(range(len(first)), key=lambda key: place(int(first[key])))
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return ranks[which]


def _one_to_one(order: Ints, scored: Scored, contest: Ints, urls: int) -> list[int]:
    """Select candidates in the given order, so that no URL is in two pairs of a contest.

    Only candidates with the same number in `contest` compete with each other.  `urls` is the number
    of URLs.
    """
    ends = np.concatenate((contest * urls + scored.left, contest * urls + scored.right))
    _, numbers = np.unique(ends, return_inverse=True)
    left, right = numbers[order], numbers[order + len(order)]
    taken = np.zeros(int(numbers.max(initial=-1)) + 1, bool)
    kept: list[Ints] = []
    open_ = np.arange(len(order), dtype=np.int64)
    while len(open_):
        # A candidate that is first for both its URLs wins.  The first candidate of all always wins,
        # so the loop terminates.
        first = np.full(len(taken), len(order), np.int64)
        np.minimum.at(first, left[open_], open_)
        np.minimum.at(first, right[open_], open_)
        won = open_[(first[left[open_]] == open_) & (first[right[open_]] == open_)]
        kept.append(won)
        taken[left[won]] = taken[right[won]] = True
        open_ = open_[~(taken[left[open_]] | taken[right[open_]])]
    winners = np.sort(np.concatenate((np.zeros(0, np.int64), *kept)))
    return [int(place) for place in order[winners]]


def _shared_ends(scored: Scored, index: Index) -> Ints:
    """For each candidate, the total length of the common prefix and suffix of its two URLs.

    The length is 0 if the candidate has no rivals with the same tokens and key.

    As sets of tokens, `/a/b` and `/b/a` are equal, but the true counterpart has its tokens in the
    same order.
    """
    found = np.zeros(len(scored.left), np.int64)
    for place in np.flatnonzero(scored.rivals > 1):
        left, right = index.urls[scored.left[place]], index.urls[scored.right[place]]
        found[place] = shared_start(left, right) + shared_start(left[::-1], right[::-1])
    return found

"""Removals of tokens from URLs, the first step in the search for keys."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from diptych.stages.pair.keys.index import NULL, Hashes, Index, Ints, Removals, Values, hashes_of

Mask: TypeAlias = npt.NDArray[np.bool_]

_MAX_RUN = 3  # tokens: translations/zh_CN
_MIN_TOGETHER = 0.8  # minimum share of a token's occurrences that are in its run
_MAX_SUFFIX = 3  # letters: 06eng
_MAX_PREFIX = 2  # letters: chko
_MAX_TOKEN = 40  # maximum characters of a token that is cut; longer ones are digests
_MIN_STEMS = 3  # minimum number of weak keys that a general one must replace

LocalRemovals: TypeAlias = tuple[Removals, list[str]]
"""removals whose values are numbered from 0, and the texts of these values"""


def single_tokens(index: Index, wanted: Mask) -> LocalRemovals:
    """Create a removal of each wanted token from each URL, as in the paper.

    Each URL also has a null removal, which removes no token.
    """
    at = np.flatnonzero(wanted[index.token])
    everything = np.arange(len(index.urls), dtype=np.int64)
    removals = Removals(
        np.concatenate((index.whole(), index.without(at, 1))),
        np.concatenate((everything, index.owner[at])),
        np.concatenate((np.full(len(everything), NULL, np.int64), index.token[at])),
    )
    return removals, index.vocabulary


def whole_hosts(index: Index) -> LocalRemovals:
    """Create removals of the whole host from each URL, for pairs such as `x.org` and `y.fr`."""
    names = [url.partition("://")[2].partition("/")[0].partition("?")[0] for url in index.urls]
    numbers: dict[str, int] = {}
    value = np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int64)
    if len(numbers) < 2:
        return _no_removals()
    is_host = _tags(index)[index.token] == ord("h")
    rest = _hashes_of_kept(index, ~is_host)
    # Plus 1, so that the rest of a URL without its host differs from the rests of other removals.
    everything = np.arange(len(index.urls), dtype=np.int64)
    return Removals(rest + np.uint64(1), everything, value), ["h" + name for name in numbers]


def _hashes_of_kept(index: Index, kept: Mask) -> Hashes:
    """The hash of each URL, computed from the kept tokens only."""
    rank = np.concatenate(([0], np.cumsum(kept)))
    at = np.flatnonzero(kept)
    offset = rank[at] - rank[index.start[index.owner[at]]]
    weighted = index.hashes[index.token[at]] * index.weights(offset)
    sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(weighted, dtype=np.uint64)))
    return sums[rank[index.start[1:]]] - sums[rank[index.start[:-1]]]


def token_runs(index: Index, has_lang: Mask, frequent: Mask) -> LocalRemovals:
    """Create removals of adjacent tokens that denote a language, such as `zh_CN` or `l10n/fr`.

    Only tokens in `has_lang` or `frequent` are removed.  They must belong together: at least one
    token hardly ever occurs without the others.
    """
    parts: list[LocalRemovals] = []
    tags = _tags(index)
    usable = (has_lang | frequent)[index.token] & (tags[index.token] != ord("q"))
    for length in range(2, _MAX_RUN + 1):
        starts = np.flatnonzero(usable[: max(0, len(usable) - length + 1)])
        is_telling = has_lang[index.token[starts]]
        for step in range(1, length):
            after = starts + step
            alike = (index.owner[starts] == index.owner[after]) & usable[after]
            alike &= tags[index.token[starts]] == tags[index.token[after]]
            starts, is_telling = starts[alike], is_telling[alike]
            is_telling |= has_lang[index.token[starts + step]]
        parts.append(_run_removals(index, starts[is_telling], length))
    return _renumbered(parts)


def _run_removals(index: Index, starts: Ints, length: int) -> LocalRemovals:
    """Create removals of the runs of `length` tokens at `starts` that mostly occur together."""
    steps = [index.token[starts + step] for step in range(length)]
    names = np.zeros(len(starts), np.uint64)
    for step in steps:
        names = names * np.uint64(0x100000001B3) + index.hashes[step]
    _, first, value, count = np.unique(
        names, return_index=True, return_inverse=True, return_counts=True
    )
    alone = np.min([index.frequency[step[first]] for step in steps], axis=0)
    kept = (count >= _MIN_TOGETHER * alone)[value]
    texts = []
    for place in first:
        words = [index.vocabulary[step[place]] for step in steps]
        texts.append(words[0][0] + "_".join(word[1:] for word in words))
    rest = index.without(starts[kept], length)
    return Removals(rest, index.owner[starts[kept]], value[kept].astype(np.int64)), texts


def tokens_of_one_language(index: Index, token_langs: Ints) -> LocalRemovals:
    """Create removals of all tokens of one language at once, as in `/fr/a_fr.html`."""
    langs = token_langs[index.token]
    parts: list[LocalRemovals] = []
    for lang in range(int(token_langs.max(initial=-1)) + 1):
        taken = langs == lang
        per_url = np.bincount(index.owner[taken], minlength=len(index.urls))
        urls = np.flatnonzero(per_url > 1)
        if len(urls):
            rest = _hashes_of_kept(index, ~taken)[urls]
            parts.append(_removals_of_several(index, rest, urls, np.flatnonzero(taken)))
    return _renumbered(parts)


def _removals_of_several(index: Index, rest: Hashes, urls: Ints, taken: Ints) -> LocalRemovals:
    """Create one removal for each URL in `urls`: all its tokens at the positions in `taken`.

    `rest` contains the hash of the remaining tokens of each URL.
    """
    numbers: dict[tuple[str, ...], int] = {}
    values: list[int] = []
    begins = np.searchsorted(index.owner[taken], urls)
    ends = np.searchsorted(index.owner[taken], urls, side="right")
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        words = tuple(index.vocabulary[token] for token in index.token[taken[begin:end]].tolist())
        values.append(numbers.setdefault(words, len(numbers)))
    texts = []
    for words in numbers:
        bare = dict.fromkeys(word[1:].rpartition("=")[2] for word in words)
        texts.append(words[0] if len(bare) == 1 else words[0][0] + "_".join(bare))
    return Removals(rest, urls, np.array(values, np.int64)), texts


def _renumbered(parts: list[LocalRemovals]) -> LocalRemovals:
    """Join several lists of removals, none of them null, and renumber their values from 0."""
    removals, values = concatenated(parts)
    return Removals(removals.rest, removals.url, removals.value - 1), values.texts[1:]


def affixes(index: Index) -> LocalRemovals:
    """Create removals of prefixes and suffixes from file names that share a stem with others.

    This replaces the weak keys `06e:06c` and `07e:07c` with one strong key `e:c`, as the paper
    proposes.
    """
    cuts = _shared_cuts(index.vocabulary)
    numbers: dict[str, int] = {"": NULL}
    tokens: list[int] = []
    stems: list[str] = []
    values: list[int] = []
    for number, stem, affix in cuts:
        tokens.append(number)
        stems.append(stem)
        values.append(numbers.setdefault(affix, len(numbers)))
    if not tokens:
        return _no_removals()
    token = np.array(tokens, np.int64)
    per_token = np.bincount(token, minlength=len(index.vocabulary))
    first_cut = np.cumsum(per_token) - per_token
    at = np.flatnonzero(per_token[index.token])
    count = per_token[index.token[at]]
    place = np.repeat(at, count)
    within = np.arange(len(place)) - np.repeat(np.cumsum(count) - count, count)
    cut = first_cut[index.token[place]] + within
    owner = index.owner[place]
    change = hashes_of(stems)[cut] - index.hashes[index.token[place]]
    rest = index.whole()[owner] + change * index.weights(place - index.start[owner])
    return Removals(rest, owner, np.array(values, np.int64)[cut]), list(numbers)


def _shared_cuts(vocabulary: list[str]) -> list[tuple[int, str, str]]:
    """Return the splits of tokens whose stem and affix recur, as (token number, stem, affix)."""
    cuts: list[tuple[int, str, str]] = []
    for number, token in enumerate(vocabulary):
        if token[:1] == "f" and 1 < len(token) <= _MAX_TOKEN:
            cuts += [(number, stem, affix) for stem, affix in _cuts(token[1:])]
    common: defaultdict[str, int] = defaultdict(int)
    for _, stem, _ in cuts:
        common[stem] += 1
    stems_of: defaultdict[str, int] = defaultdict(int)
    for _, stem, affix in cuts:
        stems_of[affix] += common[stem] > 1
    return [cut for cut in cuts if common[cut[1]] > 1 and stems_of[cut[2]] >= _MIN_STEMS]


def _cuts(token: str) -> Collection[tuple[str, str]]:
    """Return all splits of a token into a stem and a prefix or suffix of a few letters.

    >>> [(stem.strip(chr(0)), affix) for stem, affix in _cuts("06e")]
    [('06e*', ''), ('*06e', ''), ('06*', 'f*e')]
    """
    # The whole token is a stem too, with an empty affix.
    found = [(f"\0{token}*", ""), (f"\0*{token}", "")]
    for size in range(1, min(_MAX_SUFFIX, len(token) - 1) + 1):
        if not token[-size].isalpha():
            break
        found.append((f"\0{token[:-size]}*", "f*" + token[-size:]))
    for size in range(1, min(_MAX_PREFIX, len(token) - 1) + 1):
        if not token[size - 1].isalpha():
            break
        found.append((f"\0*{token[size:]}", f"f{token[:size]}*"))
    return found


def concatenated(found: list[LocalRemovals]) -> tuple[Removals, Values]:
    """Join several lists of removals, and renumber their values; the null value is number 0."""
    texts: list[str] = [""]
    parts: list[Removals] = []
    for removals, own in found:
        has_null = bool(own) and own[0] == ""
        shift = len(texts) - has_null
        numbers = np.where((removals.value == NULL) & has_null, NULL, removals.value + shift)
        parts.append(Removals(removals.rest, removals.url, numbers.astype(np.int64)))
        texts += own[1:] if has_null else own
    nothing = _no_removals()[0]
    joined = Removals(
        np.concatenate([nothing.rest, *(part.rest for part in parts)]),
        np.concatenate([nothing.url, *(part.url for part in parts)]),
        np.concatenate([nothing.value, *(part.value for part in parts)]),
    )
    frequency = np.bincount(joined.value, minlength=len(texts)).astype(np.int64)
    return joined, Values(texts, frequency)


def _tags(index: Index) -> Ints:
    """The field of each token of the vocabulary, as a character code."""
    return np.array([ord(token[0]) if token else 0 for token in index.vocabulary], np.int64)


def _no_removals() -> LocalRemovals:
    return Removals(np.zeros(0, np.uint64), np.zeros(0, np.int64), np.zeros(0, np.int64)), []

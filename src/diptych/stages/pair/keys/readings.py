"""What may be taken out of a URL: the readings a search for keys begins with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from diptych.stages.pair.keys.index import NULL, Hashes, Index, Ints, Readings, Values, hashes_of

__all__ = ["Found", "Mask", "affixes", "hosts", "runs", "several", "single", "together"]

Mask: TypeAlias = npt.NDArray[np.bool_]

_MAX_RUN = 3  # tokens: translations/zh_CN
_BELONG = 0.8  # least share of a token's places where it stands with the others of its run
_SUFFIX = 3  # letters: 06eng
_PREFIX = 2  # letters: chko
_LONGEST = 40  # characters of a token that is cut; longer ones are digests
_FEWEST_STEMS = 3  # weak keys that a general one must stand for

Found: TypeAlias = tuple[Readings, list[str]]
"""readings whose values are numbered from 0, and the texts of these values"""


def single(index: Index, wanted: Mask) -> Found:
    """The paper's: one token, of those wanted, or nothing taken out."""
    at = np.flatnonzero(wanted[index.token])
    everything = np.arange(len(index.urls), dtype=np.int64)
    readings = Readings(
        np.concatenate((index.whole(), index.without(at, 1))),
        np.concatenate((everything, index.owner[at])),
        np.concatenate((np.full(len(everything), NULL, np.int64), index.token[at])),
    )
    return readings, index.vocabulary


def hosts(index: Index) -> Found:
    """The whole host: `x.org` and `y.fr`."""
    names = [url.partition("://")[2].partition("/")[0].partition("?")[0] for url in index.urls]
    numbers: dict[str, int] = {}
    value = np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int64)
    if len(numbers) < 2:
        return _nothing()
    is_host = _tags(index)[index.token] == ord("h")
    left = _kept(index, ~is_host)
    # A mark, so that what is left without a host is not what is left of a URL that never had one.
    everything = np.arange(len(index.urls), dtype=np.int64)
    return Readings(left + np.uint64(1), everything, value), ["h" + name for name in numbers]


def _kept(index: Index, kept: Mask) -> Hashes:
    """The hash of each URL with only some of its places."""
    rank = np.concatenate(([0], np.cumsum(kept)))
    at = np.flatnonzero(kept)
    offset = rank[at] - rank[index.start[index.owner[at]]]
    weighted = index.hashes[index.token[at]] * index.weights(offset)
    sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(weighted, dtype=np.uint64)))
    return sums[rank[index.start[1:]]] - sums[rank[index.start[:-1]]]


def runs(index: Index, telling: Mask, frequent: Mask) -> Found:
    """Neighbours taken out together, one of which at least tells a language: `zh_CN`, `l10n/fr`.

    They must belong together: one of them is hardly ever without the others.
    """
    parts: list[Found] = []
    tags = _tags(index)
    usable = (telling | frequent)[index.token] & (tags[index.token] != ord("q"))
    for length in range(2, _MAX_RUN + 1):
        starts = np.flatnonzero(usable[: max(0, len(usable) - length + 1)])
        is_telling = telling[index.token[starts]]
        for step in range(1, length):
            after = starts + step
            alike = (index.owner[starts] == index.owner[after]) & usable[after]
            alike &= tags[index.token[starts]] == tags[index.token[after]]
            starts, is_telling = starts[alike], is_telling[alike]
            is_telling |= telling[index.token[starts + step]]
        parts.append(_belonging(index, starts[is_telling], length))
    return _in_a_row(parts)


def _belonging(index: Index, starts: Ints, length: int) -> Found:
    """The readings of some runs, without those whose tokens are more often apart."""
    steps = [index.token[starts + step] for step in range(length)]
    names = np.zeros(len(starts), np.uint64)
    for step in steps:
        names = names * np.uint64(0x100000001B3) + index.hashes[step]
    _, first, value, count = np.unique(
        names, return_index=True, return_inverse=True, return_counts=True
    )
    alone = np.min([index.frequency[step[first]] for step in steps], axis=0)
    kept = (count >= _BELONG * alone)[value]
    texts = []
    for place in first:
        words = [index.vocabulary[step[place]] for step in steps]
        texts.append(words[0][0] + "_".join(word[1:] for word in words))
    left = index.without(starts[kept], length)
    return Readings(left, index.owner[starts[kept]], value[kept].astype(np.int64)), texts


def several(index: Index, says: Ints) -> Found:
    """All tokens that tell one language, wherever they stand: `/fr/a_fr.html`."""
    told = says[index.token]
    parts: list[Found] = []
    for lang in range(int(says.max(initial=-1)) + 1):
        taken = told == lang
        per_url = np.bincount(index.owner[taken], minlength=len(index.urls))
        urls = np.flatnonzero(per_url > 1)
        if len(urls):
            left = _kept(index, ~taken)[urls]
            parts.append(_named(index, left, urls, np.flatnonzero(taken)))
    return _in_a_row(parts)


def _named(index: Index, left: Hashes, urls: Ints, taken: Ints) -> Found:
    """Readings of URLs that more than one place was taken out of."""
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
    return Readings(left, urls, np.array(values, np.int64)), texts


def _in_a_row(parts: list[Found]) -> Found:
    """Several readings in one, their values numbered through."""
    readings, values = together(parts)
    return Readings(readings.left, readings.url, readings.value - 1), values.texts[1:]


def affixes(index: Index) -> Found:
    """Ends of tokens of the file taken out, where other tokens have the rest in common.

    This makes one strong key `e:c` of the weak ones `06e:06c`, `07e:07c`, as the paper wishes.
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
        return _nothing()
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
    left = index.whole()[owner] + change * index.weights(place - index.start[owner])
    return Readings(left, owner, np.array(values, np.int64)[cut]), list(numbers)


def _shared_cuts(vocabulary: list[str]) -> list[tuple[int, str, str]]:
    """(token, stem, affix) in order of tokens, for stems that several tokens have in common."""
    cuts: list[tuple[int, str, str]] = []
    for number, token in enumerate(vocabulary):
        if token[:1] == "f" and 1 < len(token) <= _LONGEST:
            cuts += [(number, stem, affix) for stem, affix in _cuts(token[1:])]
    common: defaultdict[str, int] = defaultdict(int)
    for _, stem, _ in cuts:
        common[stem] += 1
    stems_of: defaultdict[str, int] = defaultdict(int)
    for _, stem, affix in cuts:
        stems_of[affix] += common[stem] > 1
    return [cut for cut in cuts if common[cut[1]] > 1 and stems_of[cut[2]] >= _FEWEST_STEMS]


def _cuts(token: str) -> Collection[tuple[str, str]]:
    """The ways to take letters from an end of a token: what is left, and what was taken.

    >>> [(stem.strip(chr(0)), affix) for stem, affix in _cuts("06e")]
    [('06e*', ''), ('*06e', ''), ('06*', 'f*e')]
    """
    # The whole token is a stem too: null is taken from it.
    found = [(f"\0{token}*", ""), (f"\0*{token}", "")]
    for size in range(1, min(_SUFFIX, len(token) - 1) + 1):
        if not token[-size].isalpha():
            break
        found.append((f"\0{token[:-size]}*", "f*" + token[-size:]))
    for size in range(1, min(_PREFIX, len(token) - 1) + 1):
        if not token[size - 1].isalpha():
            break
        found.append((f"\0*{token[size:]}", f"f{token[:size]}*"))
    return found


def together(found: list[Found]) -> tuple[Readings, Values]:
    """All readings in one, their values numbered through; null is one for all of them."""
    texts: list[str] = [""]
    parts: list[Readings] = []
    for readings, own in found:
        has_null = bool(own) and own[0] == ""
        shift = len(texts) - has_null
        numbers = np.where((readings.value == NULL) & has_null, NULL, readings.value + shift)
        parts.append(Readings(readings.left, readings.url, numbers.astype(np.int64)))
        texts += own[1:] if has_null else own
    nothing = _nothing()[0]
    joined = Readings(
        np.concatenate([nothing.left, *(part.left for part in parts)]),
        np.concatenate([nothing.url, *(part.url for part in parts)]),
        np.concatenate([nothing.value, *(part.value for part in parts)]),
    )
    frequency = np.bincount(joined.value, minlength=len(texts)).astype(np.int64)
    return joined, Values(texts, frequency)


def _tags(index: Index) -> Ints:
    """The field of each token of the vocabulary, as the number of its letter."""
    return np.array([ord(token[0]) if token else 0 for token in index.vocabulary], np.int64)


def _nothing() -> Found:
    return Readings(np.zeros(0, np.uint64), np.zeros(0, np.int64), np.zeros(0, np.int64)), []

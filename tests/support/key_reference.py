"""Pairing keys as Kit & Ng 2007 define them, written to be read: every URL against every other.

`stages/pair/keys` finds the same in near linear time; tests compare the two.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

from diptych.text.url_fields import tagged_tokens

__all__ = ["Key", "Match", "key_of", "linking_power", "reference_pairs"]

PATH, FILE = "p", "f"


class Key(NamedTuple):
    """Two tokens of one field; an empty one is null, and stands first.

    >>> str(Key("p", "", "chinese"))
    '(null):chinese'
    """

    field: str
    left: str
    right: str

    def __str__(self) -> str:
        return f"{self.left or '(null)'}:{self.right or '(null)'}"


class Match(NamedTuple):
    """A pair of URLs and the key that matches it; `left` is the URL with the key's left token."""

    left: str
    right: str
    key: Key


def key_of(left: Iterable[str], right: Iterable[str]) -> Key | None:
    """The key <t, t'> with u - {t} = u' - {t'}, for two URLs as sets of tagged tokens.

    >>> key_of({"phome", "pen"}, {"phome", "ptc"})
    Key(field='p', left='en', right='tc')
    >>> key_of({"ftext"}, {"pchinese", "ftext"})
    Key(field='p', left='', right='chinese')
    >>> key_of({"pen", "fa"}, {"ptc", "fb"}) is None
    True
    """
    one, other = set(left), set(right)
    only_left, only_right = one - other, other - one
    if len(only_left) > 1 or len(only_right) > 1 or not (only_left or only_right):
        return None
    tokens = sorted((*only_left, *only_right), key=lambda token: token[1:])
    fields = {token[0] for token in tokens}
    # The second assumption: no cross-field linkage, and keys only in path and file.
    if len(fields) > 1 or not fields <= {PATH, FILE}:
        return None
    texts = [token[1:] for token in tokens]
    return Key(fields.pop(), *(texts if len(texts) == 2 else ["", *texts]))


def linking_power(pages: Sequence[tuple[str, str]]) -> dict[Key, list[Match]]:
    """The set of URL pairs P(k) of each key; its size is the linking power p(k).

    Pages are (url, lang); a pair whose languages are known and the same is no candidate.
    """
    sets = {url: tagged_tokens(url, paper=True) for url, _ in pages}
    matched: defaultdict[Key, list[Match]] = defaultdict(list)
    for (one, lang), (other, other_lang) in combinations(sorted(pages), 2):
        first, second = sets[one], sets[other]
        if first is None or second is None or one == other or (lang and lang == other_lang):
            continue
        key = key_of(first, second)
        if key is not None:
            is_forward = not key.left or key.field + key.left in first
            if not key.left:
                is_forward = key.field + key.right in second
            matched[key].append(Match(one, other, key) if is_forward else Match(other, one, key))
    return dict(matched)


def reference_pairs(pages: Sequence[tuple[str, str]], tau: float = 0.1) -> list[Match]:
    """The competition union of all P(k) with p(k) >= tau * |U|: a stronger key first.

    The paper leaves ties open: here the key that sorts first, path before file, and within a key
    the URLs that sort first.
    """
    matched = linking_power(pages)
    urls = sum(tagged_tokens(url) is not None for url, _ in pages)
    strong = [key for key in matched if len(matched[key]) >= tau * urls]
    strong.sort(key=lambda key: (-len(matched[key]), key.field != PATH, key.left, key.right))
    taken: set[str] = set()
    union: list[Match] = []
    for key in strong:
        for match in sorted(matched[key]):
            if taken.isdisjoint(match[:2]):
                taken.update(match[:2])
                union.append(match)
    return union

"""Counts of words that were copied to the other side of a segment instead of translated."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from typing import NamedTuple

from diptych.text.templates import ADDRESS, SLOT

_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_ADDRESS_WORDS = 4  # an address weighs as much as this number of words


class CopyCounts(NamedTuple):
    """The numbers of copied and translated words of a segment."""

    copied: int
    """names, numbers and addresses on both sides; 0 if there are only numbers"""
    translated: int
    """words of one side that the other side lacks; the higher number of the two sides"""
    plain: int
    """words in lower case, or in a script without case, on both sides: close languages share many
    of these"""


_NOTHING_SHARED = CopyCounts(0, 0, 0)


class _Words(NamedTuple):
    """The words of a text, the same without case, and the number of addresses in the text."""

    words: list[str]
    folded: list[str]
    addresses: int


def copy_counts(left: str, right: str) -> CopyCounts:
    """Count the copied and translated words of a segment.

    An address counts as four copied words, even if it differs between the sides.  All counts are 0
    if the sides share nothing, which is the fast path for most segments.

    >>> copy_counts("Room: Naturalis 02", "Saal: Naturalis 02")
    CopyCounts(copied=2, translated=1, plain=0)
    >>> copy_counts("QField usage in Zermatt", "Utilisation de QField à Zermatt")
    CopyCounts(copied=2, translated=3, plain=0)
    """
    has_addresses = _may_have_address(left) and _may_have_address(right)
    if not has_addresses and {*left.split()}.isdisjoint(right.split()):
        return _NOTHING_SHARED
    ours, theirs = _words(left), _words(right)
    shared = {*ours.folded}.intersection(theirs.folded)
    addresses = min(ours.addresses, theirs.addresses)
    found = [word for word, key in zip(ours.words, ours.folded, strict=True) if key in shared]
    names = [word for word in found if _is_name(word)]
    plain = sum(map(str.isalpha, found)) - sum(map(str.isalpha, names))
    copied = len(found) - plain + _ADDRESS_WORDS * addresses
    return CopyCounts(
        copied if addresses or names else 0,
        max(len(ours.words) - len(found), _count_others(theirs.folded, shared)),
        plain,
    )


def _words(text: str) -> _Words:
    addresses = 0
    if _may_have_address(text):
        text, addresses = ADDRESS.subn(SLOT, text)
    words = _WORD.findall(text)
    return _Words(words, " ".join(words).casefold().split(), addresses)


def _may_have_address(text: str) -> bool:
    return "://" in text or "@" in text or "www." in text


def _is_name(word: str) -> bool:
    return word != word.lower()


def _count_others(words: Sequence[str], shared: Set[str]) -> int:
    return len(words) - sum(map(shared.__contains__, words))

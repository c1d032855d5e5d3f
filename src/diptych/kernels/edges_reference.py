"""Parse the text files of a web graph in Python: reference and fallback for `edges.c`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

LONGEST_NAME = 255  # bytes of a host name (RFC 1035)
MAX_ID = 1 << 40  # larger numbers are clipped; valid ids have 32 bits
_WORD = re.compile(rb"[^ \t\r]+")
_DIGITS = frozenset(b"0123456789")


def parse_edges(text: bytes, vertices: int) -> tuple[NDArray[np.uint64], int, int, int]:
    r"""Parse edges, and encode each as `from << 32 | to`.

    The numbers of malformed lines, lines with unknown vertices, and loops are returned too.

    `vertices` is the number of vertices in the graph.

    >>> parse_edges(b"0\t1\n0\tx\n0\t7\n1\t1\n", 2)
    (array([1], dtype=uint64), 1, 1, 1)
    """
    edges, bad, unknown, loops = [], 0, 0, 0
    for words in _lines(text):
        numbers = [_number(word) for word in words[:2]]
        if len(numbers) < 2 or None in numbers:
            bad += 1
            continue
        source, target = (number or 0 for number in numbers)
        if source >= vertices or target >= vertices:
            unknown += 1
        elif source == target:
            loops += 1
        else:
            edges.append(source << 32 | target)
    return np.array(edges, np.uint64), bad, unknown, loops


def parse_vertices(
    text: bytes,
) -> tuple[NDArray[np.int64], bytes, NDArray[np.int32], int, bool]:
    r"""Parse vertices, one per line.

    The result is the ids, the concatenated names, the length of each name, the number of malformed
    lines, and True if the names are in ascending order.

    >>> parse_vertices(b"0\tcom.example\t3\n1\torg.example\n")
    (array([0, 1]), b'com.exampleorg.example', array([11, 11], dtype=int32), 0, True)
    """
    ids, names, bad = [], [], 0
    for words in _lines(text):
        number = _number(words[0])
        if number is None or len(words) < 2 or not _is_name(words[1]):
            bad += 1
        else:
            ids.append(number)
            names.append(words[1])
    lengths = np.array([len(name) for name in names], np.int32)
    is_sorted = all(one < other for one, other in pairwise(names))
    return np.array(ids, np.int64), b"".join(names), lengths, bad, is_sorted


def _lines(text: bytes) -> Iterator[list[bytes]]:
    """Yield the words of each non-empty line; a last line without a newline is ignored."""
    yield from filter(None, map(_WORD.findall, text.split(b"\n")[:-1]))


def _number(word: bytes) -> int | None:
    if not _DIGITS.issuperset(word):
        return None
    return min(int(word.lstrip(b"0")[:20] or b"0"), MAX_ID)


def _is_name(word: bytes) -> bool:
    return len(word) <= LONGEST_NAME and min(word) > 32 and 127 not in word

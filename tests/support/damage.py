"""Files with a byte changed or their end cut off: a reader must answer with an error of ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from diptych.errors import DiptychError

CHANGES = (0x80, 0xFF, 0x01)  # no ASCII any more, all bits turned, another letter or digit


def damaged(data: bytes, count: int) -> Iterator[bytes]:
    """So many versions of a file with one byte changed, from all over it, and some cut off."""
    step = max(1, len(data) // count)
    for number, place in enumerate(range(0, len(data), step)):
        changed = bytearray(data)
        changed[place] ^= CHANGES[number % len(CHANGES)]
        yield bytes(changed)
    yield from (data[:end] for end in range(0, len(data), max(1, len(data) // 10)))


def check_damage(path: Path, read: Callable[[], object], count: int) -> int:
    """Read all damaged versions of a file; how many of them are refused.

    Every refusal is one error of ours, in one line.  Damage may also go unnoticed.
    """
    good = path.read_bytes()
    refused = 0
    read()
    for content in damaged(good, count):
        path.write_bytes(content)
        error = _error_of(read)
        if error is not None:
            refused += 1
            assert str(error).isprintable(), error
    path.write_bytes(good)
    return refused


def _error_of(read: Callable[[], object]) -> DiptychError | None:
    try:
        read()
    except DiptychError as error:
        return error
    return None


def fault(read: Callable[[], object], kind: type[DiptychError] = DiptychError) -> str:
    """The message of the error that reading ends in."""
    with pytest.raises(kind) as caught:
        read()
    assert str(caught.value).isprintable()
    return str(caught.value)

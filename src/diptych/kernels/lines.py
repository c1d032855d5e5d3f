"""Many texts as the lines of one, so that a kernel reads them in one call."""

from __future__ import annotations

from collections.abc import Sequence


def as_lines(texts: Sequence[str]) -> str:
    r"""Join texts with a newline between them; newlines in a text become tabs.

    >>> as_lines(["one", "two\nthree"])
    'one\ntwo\tthree'
    """
    joined = "\n".join(texts)
    if joined.count("\n") == len(texts) - 1:
        return joined
    return "\n".join([text.replace("\n", "\t") for text in texts])

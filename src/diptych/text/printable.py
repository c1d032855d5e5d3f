"""Text from outside as it can be printed."""

from __future__ import annotations

import re

__all__ = ["in_one_line"]

# What terminals obey, and what makes a line look like another one.  Marks of direction that texts
# in Arabic or Hebrew have, and joiners, stay.
_OBEYED = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_TURNING = re.compile(r"[\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def in_one_line(text: object) -> str:
    r"""Text in one line, without what a terminal obeys.

    >>> in_one_line("a\r\n b \x1b[2Jc\u202ed")
    'a b [2Jcd'
    """
    return " ".join(_TURNING.sub("", _OBEYED.sub(" ", str(text))).split())

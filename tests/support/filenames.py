"""Names of files that are not ASCII."""

from __future__ import annotations

import os


def file_name(text: str) -> str:
    """The name whose bytes are a text in UTF-8, as Python has it: so it comes from a command line.

    In an ASCII locale that is not the text itself.
    """
    return os.fsdecode(text.encode())

"""Atomic writing of files in the run folder, by a temporary file and a rename."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["replace_file"]


def replace_file(path: Path, data: bytes) -> None:
    """Write a file atomically."""
    part = path.with_name(path.name + ".part")
    part.write_bytes(data)
    os.replace(part, path)

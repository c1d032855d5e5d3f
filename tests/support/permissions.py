"""Folders and files that may only be read, for root too."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_VERSION = 0x20080522  # _LINUX_CAPABILITY_VERSION_3, see capset(2)
_OVERRIDES = 1 << 1 | 1 << 2  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Nothing in a folder can be written, neither by its owner nor by root."""
    modes = {path: path.stat().st_mode & 0o777 for path in (folder, *folder.rglob("*"))}
    try:
        for path, mode in modes.items():
            path.chmod(mode & 0o555)
        with _without_overrides():
            yield
    finally:
        for path, mode in modes.items():
            path.chmod(mode)


@contextmanager
def unreadable(path: Path) -> Iterator[None]:
    """A file cannot be read, neither by its owner nor by root."""
    mode = path.stat().st_mode & 0o777
    path.chmod(0)
    try:
        with _without_overrides():
            yield
    finally:
        path.chmod(mode)


@contextmanager
def _without_overrides() -> Iterator[None]:
    """Take from root the right to ignore permissions, in this thread and those it starts."""
    if os.name != "posix" or os.geteuid() != 0:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(_VERSION, 0)
    before = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; twice
    if not hasattr(libc, "capget") or libc.capget(header, before):
        pytest.skip("the permissions of root cannot be limited here")
    limited = (ctypes.c_uint32 * 6)(before[0] & ~_OVERRIDES, *before[1:])
    libc.capset(header, limited)
    try:
        yield
    finally:
        libc.capset(header, before)

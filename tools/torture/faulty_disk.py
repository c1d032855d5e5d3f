"""A disk that fails at a chosen write: of SQLite, by its interface to the system, and of Python.

While `FaultyDisk` is active, SQLite's own file functions are replaced, as its own tests of faults
do (https://sqlite.org/testing.html#i_o_error_testing), and `open` returns files that can fail.
"""

from __future__ import annotations

import _sqlite3
import builtins
import ctypes
import errno
import io
import os
from collections.abc import Callable
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int, c_int64, c_void_p
from pathlib import Path
from typing import Any, Self

_OK, _CREATE = 0, 0x4  # SQLITE_OK, SQLITE_OPEN_CREATE
_FULL, _CANTOPEN, _IOERR = 13, 14, 10
_IOERRS = {
    "write": _IOERR | 3 << 8, "sync": _IOERR | 4 << 8, "truncate": _IOERR | 6 << 8,
    "delete": _IOERR | 10 << 8, "share": _IOERR | 19 << 8,
}  # fmt: skip
"""SQLite's codes of errors by operation"""
_ALLOCATING = {"open", "write", "share", "sync", "replace", "mkdir"}
"""operations that need space; the others succeed on a full disk"""

# Names are passed on as pointers, because SQLite keeps and compares these.
_Open = CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_int, POINTER(c_int))
_Delete = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int)
_Write = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int, c_int64)
_Truncate = CFUNCTYPE(c_int, c_void_p, c_int64)
_Sync = CFUNCTYPE(c_int, c_void_p, c_int)
_Share = CFUNCTYPE(c_int, c_void_p, c_int, c_int, c_int, c_void_p)


class _System(ctypes.Structure):
    """The first fields of `sqlite3_vfs`."""

    _fields_ = (
        ("version", c_int), ("file_size", c_int), ("max_path", c_int), ("next", c_void_p),
        ("name", c_char_p), ("data", c_void_p), ("open", c_void_p), ("delete", c_void_p),
    )  # fmt: skip


class _Methods(ctypes.Structure):
    """The fields of `sqlite3_io_methods`."""

    _fields_ = (
        ("version", c_int), ("close", c_void_p), ("read", c_void_p), ("write", c_void_p),
        ("truncate", c_void_p), ("sync", c_void_p), ("others", c_void_p * 7),
        ("share", c_void_p), ("more", c_void_p * 5),
    )  # fmt: skip


_METHODS: dict[str, Any] = {
    "write": _Write, "truncate": _Truncate, "sync": _Sync, "share": _Share,
}  # fmt: skip


def _system() -> _System:
    """SQLite's interface to the system; the functions of Python's own copy of SQLite are used."""
    library = ctypes.CDLL(_sqlite3.__file__)
    library.sqlite3_vfs_find.restype = POINTER(_System)
    found: _System = library.sqlite3_vfs_find(None).contents
    return found


class FaultyDisk:
    """Counts the writes to files in a folder; the one numbered `at` fails with an error number.

    If the fault is lasting, all later writes fail too, until the disk is used no longer.
    """

    def __init__(
        self, folder: Path, at: int = 0, error: int = errno.ENOSPC, *, lasting: bool = False
    ) -> None:
        self.writes = 0
        self.has_failed = False
        self._folder = str(folder) + os.sep
        self._at, self._error, self._is_lasting = at, error, lasting
        self._kept: list[Any] = []
        """functions and tables that SQLite has pointers to"""
        self._tables: dict[int, _Methods] = {}
        self._files: set[int] = set()
        self._python: dict[tuple[Any, str], Any] = {}

    # -- counting ------------------------------------------------------------------------------

    def is_here(self, path: object) -> bool:
        """True if a file is in the folder."""
        return isinstance(path, str | Path) and os.path.abspath(path).startswith(self._folder)

    def fails(self, operation: str) -> bool:
        """Count an operation; True if it fails."""
        if self._error == errno.ENOSPC and operation not in _ALLOCATING:
            return False
        self.writes += 1
        is_due = self.writes == self._at or (self._is_lasting and self.writes > self._at > 0)
        self.has_failed = self.has_failed or is_due
        return is_due

    def attempt(self, operation: str, path: object) -> None:
        """Count an operation of Python, and raise an error if it fails."""
        if self.is_here(path) and self.fails(operation):
            raise OSError(self._error, os.strerror(self._error), str(path))

    # -- SQLite --------------------------------------------------------------------------------

    def _code(self, operation: str) -> int:
        """The code that SQLite returns for a fault."""
        if operation == "open":
            return _CANTOPEN
        return _FULL if self._error == errno.ENOSPC else _IOERRS[operation]

    def _wrapped(self, kind: Any, address: int, operation: str) -> Any:
        """A function that fails, or calls the one at an address."""
        real = kind(address)

        def call(file: int, *rest: Any) -> int:
            is_write = operation != "share" or rest[2]  # otherwise it is only looked for
            if is_write and file in self._files and self.fails(operation):
                return self._code(operation)
            code: int = real(file, *rest)
            return code

        return self._held(kind(call))

    def _held(self, function: Any) -> Any:
        self._kept.append(function)
        return function

    def _table(self, address: int) -> _Methods:
        """A copy of a table of methods, in which some methods can fail."""
        if address not in self._tables:
            table = _Methods.from_buffer_copy(_Methods.from_address(address))
            for name, kind in _METHODS.items():
                if getattr(table, name):
                    wrapped = self._wrapped(kind, getattr(table, name), name)
                    setattr(table, name, ctypes.cast(wrapped, c_void_p).value)
            self._tables[address] = table
            self._tables[ctypes.addressof(table)] = table
        return self._tables[address]

    def _install(self) -> None:
        """Replace the functions of SQLite that open and delete files."""
        self._real = system = _system()
        self._before = system.open, system.delete
        opened, deleted = _Open(system.open), _Delete(system.delete)

        def open(vfs: int, name: int | None, file: int, flags: int, out: Any) -> int:
            path = os.fsdecode(ctypes.string_at(name)) if name else ""
            is_here = bool(path) and self.is_here(path)
            if is_here and flags & _CREATE and not os.path.exists(path) and self.fails("open"):
                c_void_p.from_address(file).value = None  # SQLite closes only what has methods
                return _CANTOPEN
            code: int = opened(vfs, name, file, flags, out)
            methods = c_void_p.from_address(file)
            if code == _OK and is_here and methods.value:
                self._files.add(file)
                methods.value = ctypes.addressof(self._table(methods.value))
            else:
                self._files.discard(file)
            return code

        def delete(vfs: int, name: int, sync: int) -> int:
            path = os.fsdecode(ctypes.string_at(name))
            if self.is_here(path) and os.path.exists(path) and self.fails("delete"):
                return self._code("delete")
            code: int = deleted(vfs, name, sync)
            return code

        for name, function in (("open", _Open(open)), ("delete", _Delete(delete))):
            setattr(system, name, ctypes.cast(self._held(function), c_void_p).value)

    # -- Python --------------------------------------------------------------------------------

    def _replace(self, owner: Any, name: str, value: Callable[..., Any]) -> None:
        self._python[owner, name] = getattr(owner, name)
        setattr(owner, name, value)

    def _opened(self, real: Callable[..., Any]) -> Callable[..., Any]:
        """The function `open`, whose files in the folder can fail."""
        disk = self

        class File(io.FileIO):
            def write(self, data: Any, /) -> int:
                disk.attempt("write", self.name)
                return super().write(data)

            def truncate(self, size: int | None = None, /) -> int:
                disk.attempt("truncate", self.name)
                return super().truncate(size)

        def open(
            file: Any, mode: str = "r", buffering: int = -1, encoding: Any = None,
            errors: Any = None, newline: Any = None, closefd: bool = True, opener: Any = None,
        ) -> Any:  # fmt: skip
            if not (disk.is_here(file) and set(mode) & set("wax+")):
                return real(file, mode, buffering, encoding, errors, newline, closefd, opener)
            disk.attempt("open", file)
            raw = File(file, mode.replace("b", "").replace("t", ""), closefd, opener)
            if not buffering:
                return raw
            size = buffering if buffering > 1 else io.DEFAULT_BUFFER_SIZE
            kind = io.BufferedRandom if "+" in mode else io.BufferedWriter
            stream = kind(raw, size)
            return stream if "b" in mode else io.TextIOWrapper(stream, encoding, errors, newline)

        return open

    def __enter__(self) -> Self:
        self._install()
        opened = self._opened(io.open)
        for owner in (builtins, io):
            self._replace(owner, "open", opened)
        for name, operation in (("replace", "replace"), ("mkdir", "mkdir"), ("unlink", "delete")):
            self._replace(os, name, self._checked(getattr(os, name), operation))
        return self

    def _checked(self, real: Callable[..., Any], operation: str) -> Callable[..., Any]:
        def call(path: Any, *rest: Any, **more: Any) -> Any:
            self.attempt(operation, path)
            return real(path, *rest, **more)

        return call

    def __exit__(self, *_: object) -> None:
        """Restore everything; files that are still open work as before."""
        self._at = 0
        self._real.open, self._real.delete = self._before
        for (owner, name), value in self._python.items():
            setattr(owner, name, value)

"""Inner loops in C, called through ctypes, each with a reference implementation in Python.

The C files operate on arrays and are compiled when the package is installed.  Without a compiler
or on a big-endian machine, `native()` returns None and the slower references run instead, with the
same results.  Tests compare every kernel with its reference.
"""

from __future__ import annotations

import ctypes
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from typing import Any

_IS_LITTLE_ENDIAN = bytes(ctypes.c_uint16(1)) == b"\1\0"  # the kernels are written for this order


@cache
def native() -> ctypes.CDLL | None:
    """The compiled kernels, or None if they were not compiled, or not for this byte order."""
    if not _IS_LITTLE_ENDIAN:
        return None
    spec = find_spec("diptych.kernels._native")
    if spec is None or spec.origin is None:
        return None
    try:
        return ctypes.CDLL(spec.origin)
    except OSError:
        return None


def slow_kernels() -> str:
    """A warning for the user if the compiled kernels are missing, otherwise an empty string."""
    if native() is not None:
        return ""
    if not _IS_LITTLE_ENDIAN:
        return "there are no compiled kernels for big-endian machines, so alignment takes longer"
    return (
        "the compiled kernels are missing, so alignment takes about four times as long:"
        " install a C compiler, then reinstall Diptych"
    )


def return_memory() -> None:
    """Return freed memory to the system after loading a model; glibc would keep up to 64 MB."""
    with suppress(AttributeError, OSError, TypeError):  # only glibc has this function
        ctypes.CDLL(None).malloc_trim(0)


def fields_of(kind: Any, names: str) -> tuple[tuple[str, Any], ...]:
    """Create ctypes structure fields of type `kind` from a string of space-separated names.

    >>> fields_of(ctypes.c_bool, "left right")
    (('left', <class 'ctypes.c_bool'>), ('right', <class 'ctypes.c_bool'>))
    """
    return tuple((name, kind) for name in names.split())


class _Address(ctypes.c_void_p):
    """A pointer that keeps the array it points to alive during a call."""

    array: Any


_view = (ctypes.c_char * 0).from_buffer
_address = ctypes.addressof


def pointer(array: Any) -> ctypes.c_void_p:
    """The address of a C-ordered array's data; the pointer keeps the array alive."""
    try:  # Asking the buffer takes a third of the time of `array.ctypes`.
        address = _Address(_address(_view(array)))
    except (TypeError, ValueError, BufferError):  # in another order, or read-only
        if not array.flags.c_contiguous:
            raise ValueError("a kernel requires an array in C order") from None
        address = _Address(array.ctypes.data)
    address.array = array
    return address

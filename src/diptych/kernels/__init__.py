"""Inner loops in C, called through ctypes, each with a reference implementation in Python.

The C files are compiled when the package is installed and are called with arrays.  Without a
compiler `native()` is None and the references run instead: the same results, slower.  Tests compare
every kernel with its reference.
"""

from __future__ import annotations

import ctypes
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from typing import Any


@cache
def native() -> ctypes.CDLL | None:
    """The compiled kernels, or None where they could not be compiled."""
    spec = find_spec("diptych.kernels._native")
    if spec is None or spec.origin is None:
        return None
    try:
        return ctypes.CDLL(spec.origin)
    except OSError:
        return None


def slow_kernels() -> str:
    """A warning where the compiled kernels are missing; else nothing."""
    if native() is not None:
        return ""
    return (
        "the compiled kernels are missing, so aligning takes some four times as long:"
        " install a C compiler, then Diptych again"
    )


def return_memory() -> None:
    """Return freed memory to the system, after a model was loaded: glibc keeps up to 64 MB."""
    with suppress(AttributeError, OSError, TypeError):  # other C libraries have no such function
        ctypes.CDLL(None).malloc_trim(0)


def fields_of(kind: Any, names: str) -> tuple[tuple[str, Any], ...]:
    """Fields of a structure of C that are of one type, from their names in one text.

    >>> fields_of(ctypes.c_bool, "left right")
    (('left', <class 'ctypes.c_bool'>), ('right', <class 'ctypes.c_bool'>))
    """
    return tuple((name, kind) for name in names.split())


class _Address(ctypes.c_void_p):
    """The address of an array, which keeps the array alive until the call is over."""

    array: Any


def pointer(array: Any) -> ctypes.c_void_p:
    """The address of the data of an array in C order; it keeps the array alive."""
    if not array.flags.c_contiguous:
        raise ValueError("a kernel needs an array in C order")
    address = _Address(array.ctypes.data)
    address.array = array
    return address

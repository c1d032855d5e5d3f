"""The hot loops in C, each beside its readable reference in Python.

The C files are compiled when the package is installed and called through `ctypes` over arrays.
Where no compiler was at hand `native()` is None and the references do the work: the same results,
slower.  Tests hold every kernel against its reference.
"""

from __future__ import annotations

import ctypes
from functools import cache
from importlib.util import find_spec
from typing import Any

__all__ = ["native", "pointer"]


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


class _Address(ctypes.c_void_p):
    """An address, and the array whose it is, which must not go before the call."""

    array: Any


def pointer(array: Any) -> ctypes.c_void_p:
    """The address of an array's data, which must be in one piece (C order); it keeps the array."""
    if not array.flags.c_contiguous:
        raise ValueError("a kernel needs an array in C order")
    address = _Address(array.ctypes.data)
    address.array = array
    return address

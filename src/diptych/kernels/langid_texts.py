"""The languages of many texts at once, by the same model as `kernels.langid`."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from diptych.kernels import native
from diptych.kernels.langid import Model, label_shares

__all__ = ["shares_of"]


def shares_of(model: Model, texts: Sequence[bytes]) -> NDArray[np.float64]:
    """What `label_shares` says of each text, a row each.

    >>> sees_0_and_1 = Model.of([1] * 256 + [0] * 256, [0, 1], [0, 1], [[0, -1], [0, -1]], [0, 0])
    >>> shares_of(sees_0_and_1, [b"abc", b""]).round(2).tolist()
    [[0.74, 0.26], [0.5, 0.5]]
    """
    labels = len(model.priors)
    shares = np.empty((len(texts), labels))
    library = native()
    if library is None:
        for row, text in enumerate(texts):
            shares[row] = label_shares(model, text)
        return shares
    addresses, count = model.addresses, ctypes.c_int64(labels)
    first, step, ask = shares.ctypes.data, shares.strides[0], library.langid_shares
    for row, text in enumerate(texts):
        is_done = ask(
            ctypes.c_char_p(text), ctypes.c_int64(len(text)), *addresses, count,
            ctypes.c_void_p(first + row * step),
        )  # fmt: skip
        if not is_done:
            raise MemoryError
    return shares

"""The URL language model in C: computing probabilities and training its tables.

Each known feature (`url_lang_reference.features`) has a row in a table.  The hidden layer is the
sum of the rows of a URL's features, divided by the square root of their number.  The scores of the
labels are linear in the hidden layer.  A feature may also state facts about some labels: for
example, `fr` as the first directory is a code for French.  The weight of a fact depends only on
its kind, not on the language.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, fields
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from diptych.kernels import fields_of, native, pointer, url_lang_reference

MAX_WIDTH = 256
MAX_LABELS = 1024
MAX_KINDS = 512
_COUNT_BITS = 25  # log2 of the size of the counting table: far more than there are features


@dataclass(frozen=True, slots=True)
class Packed:
    """URLs in UTF-8, concatenated in one array, and the start offset of each URL."""

    text: NDArray[np.uint8]
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def texts(self) -> list[bytes]:
        """Return the URLs as a list of byte strings."""
        whole = self.text.tobytes()
        bounds = self.offsets.tolist()
        return [whole[start:end] for start, end in pairwise(bounds)]


@dataclass(frozen=True, slots=True)
class Tables:
    """The arrays of a URL language model; its first label is the unknown language."""

    out: NDArray[np.float32]
    """labels x width"""
    bias: NDArray[np.float32]
    table: NDArray[np.int8]
    """rows x width"""
    scale: NDArray[np.float32]
    """factor of each row of the table"""
    slot_key: NDArray[np.uint32]
    """keys of a hash table with open addressing: features, or 0 for an empty slot"""
    slot_entry: NDArray[np.int32]
    """entry of each feature; the first entries have a row in the table"""
    entry_from: NDArray[np.int32]
    """index of the first fact of each entry, followed by the number of facts"""
    fact_label: NDArray[np.uint16]
    fact_kind: NDArray[np.uint16]
    fact_value: NDArray[np.float32]
    kinds: NDArray[np.float32]
    """weight of each kind of fact"""
    gates: NDArray[np.float32]
    """logarithm of the factor by which each kind of fact reduces the weight of words"""


@dataclass(slots=True)
class Learning:
    """The training state that is not part of `Tables`."""

    rows: NDArray[np.float32]
    """the table before rounding"""
    rows_seen: NDArray[np.float32]
    out_seen: NDArray[np.float32]
    kinds_seen: NDArray[np.float32]
    gates_seen: NDArray[np.float32]
    """this and the three fields above: sums of squared gradients (Adagrad)"""
    state: int
    """state of the random number generator; not 0"""
    drop: float
    """share of features that dropout removes"""
    drop_host: float
    """share of steps that ignore the host except for its top-level domain"""
    facts_only: bool = False
    """True if the table and the output layer are not trained"""


_TRAINED = "rows out bias kinds gates rows_seen out_seen kinds_seen gates_seen"
"""names of the arrays that training changes, in `Learning` or `Tables`"""


class _CTables(ctypes.Structure):
    _fields_ = (
        *fields_of(ctypes.c_int32, "labels width rows slots_mask"),
        *((field.name, ctypes.c_void_p) for field in fields(Tables)),
    )


class _CLearning(ctypes.Structure):
    _fields_ = (
        *fields_of(ctypes.c_void_p, _TRAINED),
        ("state", ctypes.c_uint64),
        *fields_of(ctypes.c_float, "rate drop drop_host"),
        ("facts_only", ctypes.c_int32),
    )


def _c_tables(tables: Tables) -> _CTables:
    labels, width = tables.out.shape
    arrays = (pointer(getattr(tables, field.name)) for field in fields(Tables))
    return _CTables(labels, width, len(tables.table), len(tables.slot_key) - 1, *arrays)


def probabilities(tables: Tables, urls: Packed) -> NDArray[np.float32]:
    """The probability of each label (column) for each URL (row).

    For an invalid URL, the probability of the first label is 1.
    """
    library = native()
    if library is None:
        return url_lang_reference.probabilities(tables, urls.texts())
    rows = np.empty((len(urls), len(tables.bias)), np.float32)
    library.url_lang_probabilities(
        ctypes.byref(_c_tables(tables)),
        pointer(urls.text),
        pointer(urls.offsets),
        len(urls),
        pointer(rows),
    )
    return rows


def epoch(
    tables: Tables, learning: Learning, urls: Packed, order: NDArray[np.int32],
    truth: NDArray[np.int32], weight: NDArray[np.float32], rates: tuple[float, float],
) -> float:  # fmt: skip
    """Train for one pass over the URLs in the given order, and return the mean loss.

    `truth` is the correct label of each URL, and `weight` its weight.  `rates` are the learning
    rates at the start and at the end of the pass.
    """
    library = native()
    if library is None:
        texts = urls.texts()
        return url_lang_reference.epoch(
            tables, learning, [texts[place] for place in order], truth[order].tolist(),
            weight[order].tolist(), rates,
        )  # fmt: skip
    arrays = [
        pointer(getattr(learning if hasattr(learning, name) else tables, name))
        for name in _TRAINED.split()
    ]
    passed = _CLearning(
        *arrays, learning.state, 0, learning.drop, learning.drop_host, learning.facts_only
    )
    library.url_lang_epoch.restype = ctypes.c_double
    loss = library.url_lang_epoch(
        ctypes.byref(_c_tables(tables)), ctypes.byref(passed), pointer(urls.text),
        pointer(urls.offsets), pointer(order), pointer(truth), pointer(weight), len(order),
        ctypes.c_float(rates[0]), ctypes.c_float(rates[1]),
    )  # fmt: skip
    learning.state = passed.state
    return float(loss)


def count_domains(
    urls: Packed, domain: NDArray[np.int32]
) -> tuple[NDArray[np.uint32], NDArray[np.uint16]]:
    """Return the features of URLs, and the number of domains in which each feature occurs.

    `domain` holds the id of each URL's domain; the URLs must be sorted by this id.
    """
    library = native()
    if library is None:
        return _count_domains(urls, domain)
    size = 1 << _COUNT_BITS
    last, feature = np.full(size, -1, np.int32), np.zeros(size, np.uint32)
    domains = np.zeros(size, np.uint16)
    library.url_lang_count(
        pointer(urls.text), pointer(urls.offsets), pointer(domain), len(urls),
        ctypes.c_uint32(size - 1), pointer(last), pointer(domains), pointer(feature),
    )  # fmt: skip
    used = np.flatnonzero(feature)
    order = used[np.argsort(feature[used])]
    return feature[order], domains[order]


def _count_domains(
    urls: Packed, domain: NDArray[np.int32]
) -> tuple[NDArray[np.uint32], NDArray[np.uint16]]:
    """Reference implementation of `count_domains`."""
    seen: dict[int, set[int]] = {}
    for text, number in zip(urls.texts(), domain.tolist(), strict=True):
        for feature in url_lang_reference.features(text) or ():
            seen.setdefault(feature, set()).add(number)
    seen.pop(0, None)
    features = sorted(seen)
    counts = [min(len(seen[feature]), 65535) for feature in features]
    return np.array(features, np.uint32), np.array(counts, np.uint16)

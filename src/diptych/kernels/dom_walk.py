"""The walk over the DOM of a page in C; `page/blocks.py` is the reference.

The tree belongs to the HTML parser.  The kernel reads it through functions of the parser's own C
interface, which the caller looks up.  A page that is unusual is left to the reference.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diptych.kernels import fields_of, native

CHARACTERS = 0x40000
"""number of characters with a class; later ones are neither letters nor digits nor white space"""
TAGS = 256
"""number of tags with a role; later ones are those of custom elements"""
SKIPPED = 13
"""role of elements that are not read"""
FUNCTIONS = (
    "lxb_dom_node_first_child_noi", "lxb_dom_node_next_noi", "lxb_dom_node_prev_noi",
    "lxb_dom_node_parent_noi", "lxb_dom_node_tag_id_noi", "lxb_dom_node_type_noi",
    "lxb_dom_node_text_content", "lxb_dom_element_first_attribute_noi",
    "lxb_dom_element_next_attribute_noi", "lxb_dom_attr_qualified_name", "lxb_dom_attr_value_noi",
    "lxb_dom_element_qualified_name",
)  # fmt: skip
"""functions of the parser that the kernel calls, in the order of its structure"""
_DONE, _UNUSUAL, _NO_MEMORY, _STOPPED = range(4)
_BUFFERS = "kinds values numbers spelled strings hrefs href_ids texts places runs tags"
_SEED = hash("strings") % (1 << 64)  # differs between processes, so no page can plan collisions
_ASK = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64
)

Ask = Callable[["Question", int, str], bool]
"""decides a question about a node, given by its address

A gap comes with the text before it, and a mark with its first text, its whole text, and its
attributes `href`, `class` and `role`, a zero after each.
"""


class Class(IntEnum):
    """Classes of characters, which may have several."""

    WORD = 1
    MAY_END = 2
    """may be before a gap"""
    MAY_BEGIN = 4
    """may be after a gap"""
    SPACE = 8
    INVISIBLE = 16
    UNPRINTABLE = 32
    SEPARATOR = 64
    """between links"""
    STOP = 128
    """punctuation mark that no blank precedes"""


class Question(IntEnum):
    """A question that the kernel asks."""

    GAP = 0
    MARK = 1
    SUPERSCRIPT = 2


class Limits(NamedTuple):
    """Limits of a walk, beyond which a page is unusual, or texts are cut or ignored."""

    path: int
    elements: int
    blocks: int
    attribute: int
    mark: int
    tags: int
    links: int
    """nodes of a list of links"""


class Hidden(NamedTuple):
    """An element that is hidden, or whose text is read apart."""

    address: int
    reason: int
    text: str
    """text that is read apart; empty if there is none"""


class Walked(NamedTuple):
    """The result of a walk, as in `page.content`."""

    kinds: bytes
    numbers: NDArray[np.int32]
    """values and numbers of the events, spelled paths, then texts, places and runs of the blocks"""
    spelled: int
    """number of spelled paths"""
    strings: list[str]
    hrefs: dict[int, str]
    """strings by number that are still to be replaced by the targets of these links"""
    texts: list[str]
    """texts of the blocks"""
    tags: str


class CBuffer(ctypes.Structure):
    """A buffer that a kernel has filled."""

    _fields_ = (("at", ctypes.c_void_p), *fields_of(ctypes.c_int64, "size room"))

    def read(self) -> bytes:
        """A copy of the bytes."""
        return ctypes.string_at(self.at, self.size) if self.size else b""


class _CWalk(ctypes.Structure):
    _fields_ = (*fields_of(CBuffer, _BUFFERS), *fields_of(ctypes.c_int64, "elements status"))


class _CPage(ctypes.Structure):
    _fields_ = (
        *fields_of(ctypes.c_void_p, " ".join(FUNCTIONS)),
        *fields_of(ctypes.c_void_p, "classes roles names"),
        ("ask", _ASK),
        *fields_of(ctypes.c_void_p, "hidden reasons apart apart_at"),
        *fields_of(ctypes.c_int64, "hidden_count head"),
        *fields_of(ctypes.c_int64, "path elements blocks attribute mark tags links"),
        ("seed", ctypes.c_uint64),
    )


@dataclass(frozen=True, eq=False)
class Walker:
    """Walks over pages; all fields are the same for all pages."""

    functions: Mapping[str, int]
    """addresses of `FUNCTIONS`"""
    classes: NDArray[np.uint8]
    """class of each of `CHARACTERS`"""
    roles: NDArray[np.uint8]
    """role of each of `TAGS`: its reader in `page.blocks`, or `SKIPPED`"""
    names: Any
    """array of the names of `TAGS` in C; a custom element has none"""
    head: int
    """tag of the element head"""
    limits: Limits

    def walk(self, root: int, hidden: Sequence[Hidden], ask: Ask) -> Walked | None:
        """Walk over a page; None if it is unusual.  Raises what `ask` raises.

        `root` is the address of the root, whose parser must be kept alive.
        """
        library = native()
        if library is None:
            return None
        raised = _Raised()
        page, kept = self._page(hidden, _callback(ask, raised))
        library.dom_walk.restype = ctypes.POINTER(_CWalk)
        found = library.dom_walk(ctypes.byref(page), ctypes.c_void_p(root))
        if not found:
            raise MemoryError
        try:
            if raised.error is not None:
                raise raised.error
            if found[0].status == _NO_MEMORY:
                raise MemoryError
            return _walked(found[0]) if found[0].status == _DONE else None
        finally:
            library.dom_walk_free(found)
            del kept

    def _page(self, hidden: Sequence[Hidden], ask: Any) -> tuple[_CPage, object]:
        """The structure of a page in C, and the arrays that it points to."""
        in_order = sorted(hidden)
        texts = [each.text.encode("utf-8", "replace") + b"\0" for each in in_order]
        starts = [0, *accumulate(map(len, texts))]
        arrays = (
            (ctypes.c_size_t * len(in_order))(*(each.address for each in in_order)),
            (ctypes.c_int32 * len(in_order))(*(each.reason for each in in_order)),
            ctypes.create_string_buffer(b"".join(texts)),
            (ctypes.c_int64 * len(starts))(*starts),
        )
        page = _CPage(
            *self._constants, ask, *(ctypes.addressof(array) for array in arrays),
            len(in_order), self.head, *self.limits, _SEED,
        )  # fmt: skip
        return page, arrays

    @cached_property
    def _constants(self) -> Sequence[int]:
        """The addresses of the functions, classes, roles and names."""
        arrays = self.classes.ctypes.data, self.roles.ctypes.data, ctypes.addressof(self.names)
        return (*(self.functions[name] for name in FUNCTIONS), *arrays)


class _Raised:
    """Keeps an exception, which cannot pass through the kernel, to raise it afterwards."""

    error: BaseException | None = None

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        self.error = error
        return True


def _callback(ask: Ask, raised: _Raised) -> Any:
    """The function that the kernel calls for a decision."""

    def answer(question: int, node: int, before: int | None, size: int) -> int:
        found = -1
        with raised:
            text = (
                ctypes.string_at(before, size).decode("utf-8", "replace") if before and size else ""
            )
            found = int(ask(Question(question), node, text))
        return found

    return _ASK(answer)


def _walked(found: _CWalk) -> Walked:
    strings = found.strings.read()[:-1].decode("utf-8").split("\n")
    numbers = b"".join(
        getattr(found, name).read()
        for name in ("values", "numbers", "spelled", "texts", "places", "runs")
    )
    hrefs = found.hrefs.read()[:-1].decode("utf-8", "replace").split("\0")
    ids = np.frombuffer(found.href_ids.read(), np.int32).tolist()
    texts = np.frombuffer(found.texts.read(), np.int32).tolist()
    return Walked(
        kinds=found.kinds.read(),
        numbers=np.frombuffer(numbers, np.int32),
        spelled=found.spelled.size // 4,
        strings=strings,
        hrefs=dict(zip(ids, hrefs, strict=False)),
        texts=[strings[number] for number in texts],
        tags=found.tags.read().decode("utf-16-le"),
    )

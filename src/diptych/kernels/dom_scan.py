"""One pass over the DOM of a page in C that finds its texts, links, images and meta elements.

The functions of `page/` that search with selectors are the reference.  The tree belongs to the HTML
parser, as in `dom_walk`.  A page that is unusual is left to the reference.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diptych.kernels import fields_of, native
from diptych.kernels.dom_walk import FUNCTIONS, CBuffer

_DONE, _UNUSUAL, _NO_MEMORY = range(3)
_IN_CODE = 4
_BUFFERS = (
    "texts in_code ranges links images image_links metas meta_places hidden hidden_at hidden_marks"
    " licences base language title"
)


class Role(IntEnum):
    """Roles of elements in a scan."""

    OTHER = 0
    UNREAD = 1
    """as if it were not part of the page"""
    CODE = 2
    MAIN = 3
    ARTICLE = 4
    DIALOG = 5
    ANCHOR = 6
    AREA = 7
    FRAME = 8
    LINK = 9
    META = 10
    BASE = 11
    IMAGE = 12
    ITEM = 13
    """of a list"""
    SPAN = 14
    PAGE = 15
    """html and body"""
    TITLE = 16


class Kind(IntEnum):
    """Kinds of elements whose texts are wanted together."""

    MAIN = 0
    ROLE_MAIN = 1
    ARTICLE = 2
    DIALOG = 3


class ScanLimits(NamedTuple):
    """Limits of a scan."""

    links: int
    reads: int
    """links with elements in them whose texts are read"""
    context: int
    """characters of a text inside a link"""
    beside: int
    """characters of the texts on each side of a link"""
    value: int
    """characters of the content of a meta element"""


class Range(NamedTuple):
    """The texts of an element."""

    kind: Kind
    is_code: bool
    """True if the element is code or inside of code"""
    start: int
    """number of its first text"""
    end: int


ScannedLink = tuple[str, str, str, str, str, str]
"""the tag, target, language, third, fourth and text beside of an element with a link

What the third and fourth are depends on the tag.  Of an anchor, they are its class names that may
name a language, and its text; of a link element, its relation and its type; of an area, its
alternative text; of a frame, its title or name.  Only an anchor has a text beside it.  A page may
have hundreds, so they have no names.
"""


class ScannedImage(NamedTuple):
    """An image with an address, or in a link."""

    address: str
    """only `data:` if the image is part of the page; of an image in a link, also `data-src`"""
    alt: str
    """empty outside links"""
    link: int
    """number of the link around it, or -1"""
    is_code: bool
    has_source: bool
    """True if the address is `src`"""


class ScannedMeta(NamedTuple):
    """A meta element."""

    name: str
    content: str
    is_in_head: bool


class MaybeHidden(NamedTuple):
    """An element with an attribute that may hide it."""

    address: int
    hidden: str | None
    style: str
    name: str
    """its class"""
    has_aria: bool
    """True if it has the attribute `aria-hidden`"""
    is_page: bool
    """True if it is html or body"""


class Scanned(NamedTuple):
    """The result of a scan."""

    texts: list[str]
    """text nodes of the body, without white space around them"""
    in_code: bytes
    """for each text, 1 if it is inside of code"""
    ranges: list[Range]
    links: list[ScannedLink]
    images: list[ScannedImage]
    metas: list[ScannedMeta]
    hidden: list[MaybeHidden]
    licences: list[str]
    """targets of links with the relation `license`"""
    base: str | None
    """target of the first base element; None if there is none"""
    language: str
    """content of the first meta element for the language"""
    title: str
    """text of the first title element, also inside of elements that are not read"""
    has_code: bool


class _CScan(ctypes.Structure):
    _fields_ = (*fields_of(CBuffer, _BUFFERS), *fields_of(ctypes.c_int64, "has_code status"))


class _CPage(ctypes.Structure):
    _fields_ = (
        *fields_of(ctypes.c_void_p, " ".join(FUNCTIONS)),
        *fields_of(ctypes.c_void_p, "classes roles head body"),
        *fields_of(ctypes.c_int64, "links reads context beside value"),
    )


@dataclass(frozen=True, eq=False)
class Scanner:
    """Scans pages; all fields are the same for all pages."""

    functions: Mapping[str, int]
    """addresses of `dom_walk.FUNCTIONS`"""
    classes: NDArray[np.uint8]
    """as in `dom_walk.Walker`"""
    roles: NDArray[np.uint8]
    """role of each of `dom_walk.TAGS`"""

    def scan(self, root: int, head: int, body: int, limits: ScanLimits) -> Scanned | None:
        """Scan a page; None if it is unusual.

        `root`, `head` and `body` are the addresses of these elements, or 0; their parser must be
        kept alive.
        """
        library = native()
        if library is None:
            return None
        page = _CPage(*self._constants, head, body, *limits)
        library.dom_scan.restype = ctypes.POINTER(_CScan)
        found = library.dom_scan(ctypes.byref(page), ctypes.c_void_p(root))
        if not found:
            raise MemoryError
        try:
            if found[0].status == _NO_MEMORY:
                raise MemoryError
            return _scanned(found[0]) if found[0].status == _DONE else None
        except UnicodeDecodeError:
            return None
        finally:
            library.dom_scan_free(found)

    @cached_property
    def _constants(self) -> Sequence[int]:
        """The addresses of the functions, classes and roles."""
        arrays = self.classes.ctypes.data, self.roles.ctypes.data
        return (*(self.functions[name] for name in FUNCTIONS), *arrays)


def _strings(buffer: CBuffer) -> list[str]:
    return buffer.read().decode("utf-8").split("\0")[:-1]


def _numbers(buffer: CBuffer) -> Iterator[int]:
    return iter(np.frombuffer(buffer.read(), np.int32).tolist())


def _scanned(found: _CScan) -> Scanned:
    ranges = _numbers(found.ranges)
    links = iter(_strings(found.links))
    images, around = iter(_strings(found.images)), _numbers(found.image_links)
    metas = iter(_strings(found.metas))
    base = _strings(found.base)
    return Scanned(
        texts=_strings(found.texts),
        in_code=found.in_code.read(),
        ranges=[
            Range(Kind(kind & 3), bool(kind & _IN_CODE), start, end)
            for kind, start, end in zip(ranges, ranges, ranges, strict=True)
        ],
        links=list(zip(links, links, links, links, links, links, strict=True)),
        images=[
            ScannedImage(address, alt, link, bool(marks & 1), not marks & 2)
            for address, alt, link, marks in zip(images, images, around, around, strict=True)
        ],
        metas=[
            ScannedMeta(name, content, bool(place))
            for name, content, place in zip(metas, metas, found.meta_places.read(), strict=True)
        ],
        hidden=_hidden(found),
        licences=_strings(found.licences),
        base=base[0] if base else None,
        language="".join(_strings(found.language)),
        title="".join(_strings(found.title)),
        has_code=bool(found.has_code),
    )


def _hidden(found: _CScan) -> list[MaybeHidden]:
    addresses = np.frombuffer(found.hidden_at.read(), np.uintp).tolist()
    strings = iter(_strings(found.hidden))
    columns = zip(addresses, found.hidden_marks.read(), strings, strings, strings, strict=True)
    return [
        MaybeHidden(
            address, hidden if marks & 2 else None, style, name, bool(marks & 4), bool(marks & 1)
        )
        for address, marks, hidden, style, name in columns
    ]

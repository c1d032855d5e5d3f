"""Nodes of a parsed page by their addresses, read through the C interface of the HTML parser.

selectolax gives the address of a node, but takes none.  The functions of lexbor, the parser that it
is built on, are found in its library; if they are not, pages are walked over in Python alone.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

from selectolax import lexbor
from selectolax.lexbor import LexborNode

from diptych.kernels.dom_walk import FUNCTIONS, TAGS

_TEXT, _COMMENT = 2, 4
_NAMES = {_TEXT: "-text", _COMMENT: "-comment"}
_SIZED = (
    "lxb_dom_node_text_content", "lxb_dom_attr_qualified_name", "lxb_dom_attr_value_noi",
    "lxb_dom_element_qualified_name",
)  # fmt: skip
_LAST_CHILD = "lxb_dom_node_last_child_noi"


@cache
def parser_functions() -> dict[str, Any] | None:
    """The functions of the parser that read a tree; None if the parser does not offer them."""
    try:
        library = ctypes.CDLL(lexbor.__file__)
        found = {name: getattr(library, name) for name in (*FUNCTIONS, _LAST_CHILD)}
    except (AttributeError, OSError):
        return None
    for name, function in found.items():
        function.restype = ctypes.c_void_p
        function.argtypes = [ctypes.c_void_p]
        if name in _SIZED:
            function.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    return found


class DomNode:
    """A node of a page; it has the properties of a `LexborNode` that decisions need.

    The parser of the page must be kept alive.
    """

    __slots__ = ("mem_id",)

    def __init__(self, address: int) -> None:
        self.mem_id = address

    @property
    def tag_id(self) -> int:
        """The parser's number of the tag."""
        return _call("lxb_dom_node_tag_id_noi", self.mem_id) or 0

    @property
    def tag(self) -> str:
        """The name of the tag."""
        tag_id = self.tag_id
        name = _NAMES.get(tag_id)
        if name is None:
            name = _sized("lxb_dom_element_qualified_name", self.mem_id) or ""
            if tag_id < TAGS:
                _NAMES[tag_id] = name
        return name

    @property
    def parent(self) -> DomNode | None:
        """The parent node, or None."""
        return _node("lxb_dom_node_parent_noi", self.mem_id)

    @property
    def prev(self) -> DomNode | None:
        """The sibling before this node, or None."""
        return _node("lxb_dom_node_prev_noi", self.mem_id)

    @property
    def next(self) -> DomNode | None:
        """The sibling after this node, or None."""
        return _node("lxb_dom_node_next_noi", self.mem_id)

    @property
    def first_child(self) -> DomNode | None:
        """The first child, or None."""
        return _node("lxb_dom_node_first_child_noi", self.mem_id)

    @property
    def last_child(self) -> DomNode | None:
        """The last child, or None."""
        return _node(_LAST_CHILD, self.mem_id)

    @property
    def text_content(self) -> str | None:
        """The text of a text node; None for other nodes."""
        return self.text() if self.tag_id == _TEXT else None

    @property
    def is_empty_text_node(self) -> bool:
        """True if this is a text node with nothing but HTML's white space."""
        return self.tag_id == _TEXT and not (self.text_content or "").strip(" \t\n\f\r")

    @property
    def attributes(self) -> dict[str, str | None]:
        """The attributes of an element; the value of one without a value is None."""
        found: dict[str, str | None] = {}
        if self.tag_id in (_TEXT, _COMMENT):
            return found
        attribute = _call("lxb_dom_element_first_attribute_noi", self.mem_id)
        while attribute:
            name = _sized("lxb_dom_attr_qualified_name", attribute)
            found[name or ""] = _sized("lxb_dom_attr_value_noi", attribute)
            attribute = _call("lxb_dom_element_next_attribute_noi", attribute)
        return found

    def text(self) -> str:
        """The text of the node and of all that is in it."""
        if self.tag_id == _COMMENT:
            return ""
        return _sized("lxb_dom_node_text_content", self.mem_id) or ""


AnyNode = LexborNode | DomNode


def _call(name: str, address: int) -> int | None:
    found: int | None = _function(name)(address)
    return found


@cache
def _function(name: str) -> Any:
    functions = parser_functions()
    if functions is None:
        raise LookupError("the parser does not offer its functions")
    return functions[name]


def _node(name: str, address: int) -> DomNode | None:
    found = _call(name, address)
    return DomNode(found) if found else None


def _sized(name: str, address: int) -> str | None:
    """The text that a function of the parser returns with its size."""
    size = ctypes.c_size_t()
    found: int | None = _function(name)(address, ctypes.byref(size))
    return ctypes.string_at(found, size.value).decode("utf-8", "replace") if found else None

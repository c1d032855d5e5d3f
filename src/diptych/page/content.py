"""The content of a page, its blocks and its tree, as a flat list of events that is stored as bytes.

A `Walk` records an event for each element and text of the tree, in document order.  Paths are not
recorded: they follow from the names and numbers of the elements.  Stored bytes may be damaged or
hostile, so reading them is bounded, and everything in them is checked.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import NamedTuple

from isal import isal_zlib

from diptych.files import parser_errors
from diptych.kernels.dom_walk import Walked
from diptych.page.nesting import MAX_DEPTH
from diptych.types import Block, Node

READER = 2
"""version of blocks and trees: increase it when any page yields others, or in another format"""
MAX_CONTENT = 1 << 22  # bytes, unpacked; larger contents are not stored but read from the archive
_MAX_LEVELS = 4 * MAX_DEPTH  # with elements that the parser adds
_MAX_PATHS = 60_000_000  # characters of all paths
_MAX_TEXT = 40_000_000  # characters of all texts and targets; in a page of 10 MB there are fewer
_MAX_PATH = 4_000  # characters of a path in stored bytes; most are shorter than `blocks.MAX_PATH`
_HEADER = struct.Struct("<IIIB")  # numbers of events, spelled paths and blocks; bytes per number
_CODES = {2: "H", 4: "I"}
_RUN = "/text()["

# Kinds of events.  An element is opened and closed; a leaf has neither text nor target.
INLINE, BLOCK, LEAF, TEXT, CLOSE = range(5)


class Outline(NamedTuple):
    """The tree of a page as it is stored: columns with one event per element and text.

    An element is opened and closed; the kinds of events are above.
    """

    kinds: Sequence[int]
    values: Sequence[int]
    """of an element its name, of a text the text, as indices in `strings`"""
    numbers: Sequence[int]
    """of a text the number of its run in its block"""
    strings: Sequence[str]
    targets: Sequence[int]
    """for each element, the target of its link, as an index in `strings`; 0 if it has none"""
    places: Sequence[int]
    """for each block of the page, the number of its element; larger if it is in no element"""
    runs: Sequence[int]
    """for each block of the page, the number of its run in the element"""


Content = tuple[tuple[Block, ...], Node | Outline | None]


class _Events(NamedTuple):
    """The events of a tree, and the strings that they refer to by number."""

    kinds: Sequence[int]
    values: Sequence[int]
    """of an element its name, of a text the text, where an element is closed its target"""
    numbers: Sequence[int]
    """of an element its number in the path, 0 if its path is spelled; of a text that of its run"""
    spelled: Sequence[int]
    """paths of elements that do not follow from those around them"""
    strings: Sequence[str]


class ContentWriter:
    """Records the tree of a page during a walk."""

    def __init__(self) -> None:
        self._events: list[tuple[int, int, int]] = []  # kinds, values and numbers
        self._spelled: list[int] = []
        self._paths: list[str] = []  # of all elements, in order
        self._strings: dict[str, int] = {"": 0}

    def open(self, name: str, number: int, path: str, *, is_block: bool) -> None:
        """Open an element; with the number 0, its path does not follow from its parent's."""
        strings = self._strings
        kind = BLOCK if is_block else INLINE
        self._events.append((kind, strings.setdefault(name, len(strings)), number))
        self._paths.append(path)
        if not number:
            self._spelled.append(strings.setdefault(path, len(strings)))

    def leaf(self, name: str, number: int, path: str, text: str = "", href: str = "") -> None:
        """Add an element whose only content may be a text, such as that of an image."""
        self.open(name, number, path, is_block=True)
        if text:
            self.text(text, 0)
        if text or href:
            self.close(href)
        else:
            self._events[-1] = (LEAF, *self._events[-1][1:])

    def text(self, text: str, run: int) -> None:
        """Add a text to the open element; `run` is 0 in the first run of its block."""
        strings = self._strings
        self._events.append((TEXT, strings.setdefault(text, len(strings)), run))

    def close(self, href: str = "") -> None:
        """Close the element that was opened last."""
        strings = self._strings
        value = strings.setdefault(href, len(strings)) if href else 0
        self._events.append((CLOSE, value, 0))

    def drop(self) -> None:
        """Remove the element that was opened last, with all that is in it."""
        depth = 1
        while depth:
            kind, _, number = self._events.pop()
            depth += (kind == CLOSE) - (kind in (INLINE, BLOCK))
            if kind in (INLINE, BLOCK, LEAF):
                self._paths.pop()
                if not number:
                    self._spelled.pop()

    def tree(self) -> Node | None:
        """The tree that was recorded; None if there is none."""
        if not self._events:
            return None
        kinds, values, numbers = zip(*self._events, strict=True)
        events = _Events(kinds, values, numbers, self._spelled, list(self._strings))
        return _tree(events, [], math.inf)

    def pack(self, blocks: Sequence[Block]) -> bytes:
        """The tree and the blocks of the page as bytes; empty if they cannot be stored."""
        if not self._events:
            return b""
        strings, paths = self._strings, self._paths
        at = {path: number for number, path in enumerate(paths)}
        texts, places, runs = [], [], []
        for text, path in blocks:
            base, run = path, ""
            if path not in at and _RUN in path:
                base, _, run = path.rpartition(_RUN)
            place = at.get(base)
            if place is None:
                place, run = len(paths) + strings.setdefault(path, len(strings)), ""
            texts.append(strings.setdefault(text, len(strings)))
            places.append(place)
            runs.append(int(run[:-1] or 0))
        kinds, values, own = zip(*self._events, strict=True)
        numbers = [*values, *own, *self._spelled, *texts, *places, *runs]
        joined = "\n".join(strings)
        if max(map(len, paths)) > _MAX_PATH or joined.count("\n") != len(strings) - 1:
            return b""
        return _packed(kinds, numbers, (len(self._spelled), len(blocks)), joined)


def pack_walked(walked: Walked) -> bytes:
    """The tree and the blocks that the kernel has found, as `ContentWriter.pack` returns them."""
    numbers, joined = walked.numbers, "\n".join(walked.strings)
    if joined.count("\n") != len(walked.strings) - 1:
        return b""
    width = 2 if numbers.max() < 1 << 16 else 4
    packed = numbers.astype(f"<u{width}").tobytes()
    header = _HEADER.pack(len(walked.kinds), walked.spelled, len(walked.texts), width)
    return _compressed(header, walked.kinds, packed, joined)


def _packed(
    kinds: Sequence[int], numbers: Sequence[int], counts: tuple[int, int], strings: str
) -> bytes:
    width = 2 if max(numbers) < 1 << 16 else 4
    packed = struct.pack(f"<{len(numbers)}{_CODES[width]}", *numbers)
    return _compressed(_HEADER.pack(len(kinds), *counts, width), bytes(kinds), packed, strings)


def _compressed(header: bytes, kinds: bytes, numbers: bytes, strings: str) -> bytes:
    data = b"".join((header, kinds, numbers, strings.encode("utf-8", "surrogatepass")))
    packed: bytes = isal_zlib.compress(data, 1) if len(data) <= MAX_CONTENT else b""
    return packed


def unpack(data: bytes) -> tuple[tuple[Block, ...], Node] | None:
    """The blocks and the tree in bytes that `ContentWriter.pack` returned; None if they are not.

    >>> writer = ContentWriter()
    >>> writer.open("html", 0, "/html", is_block=True)
    >>> writer.text("Home", 0)
    >>> writer.close()
    >>> blocks, tree = unpack(writer.pack([Block("Home", "/html")]))
    >>> tree.children[0] == Node("#text", "Home", "/html"), blocks[0] == Block("Home", "/html")
    (True, True)
    >>> unpack(b"no content") is None
    True
    """
    try:
        return _with_nodes(_read(data))
    except parser_errors():
        return None


def unpack_outline(data: bytes) -> Content | None:
    """The same as `unpack`, but with the tree as an outline, which takes less time.

    It is a tree of nodes if the paths of its elements do not follow from their names and numbers.
    """
    try:
        stored = _read(data)
        events = stored.events
        spelled = {events.strings[place] for place in events.spelled}
        if len(spelled) < len(events.spelled) or any("[" in path for path in spelled):
            return _with_nodes(stored)
        return _with_outline(stored)
    except parser_errors():
        return None


class _Stored(NamedTuple):
    """What stored bytes contain: the events of the tree, and three columns for the blocks."""

    events: _Events
    texts: Sequence[int]
    places: Sequence[int]
    runs: Sequence[int]


def _read(data: bytes) -> _Stored:
    """Read the columns from compressed bytes."""
    stream = isal_zlib.decompressobj()
    whole = stream.decompress(data, MAX_CONTENT)
    if not stream.eof:
        raise ValueError("not whole")
    size, spelled, count, width = _HEADER.unpack_from(whole)
    at = _HEADER.size + size
    rest = 2 * size + spelled
    numbers = struct.unpack_from(f"<{rest + 3 * count}{_CODES[width]}", whole, at)
    strings = whole[at + width * len(numbers) :].decode("utf-8", "surrogatepass").split("\n")
    events = _Events(
        whole[_HEADER.size : at], numbers[:size], numbers[size : 2 * size],
        numbers[2 * size : rest], strings,
    )  # fmt: skip
    stored = _Stored(events, *(numbers[rest + count * each :][:count] for each in range(3)))
    lengths = [*map(len, strings)]
    if max(lengths) * (size + count) > _MAX_TEXT:  # most pages need not be counted
        length_of = lengths.__getitem__
        if sum(map(length_of, events.values)) + sum(map(length_of, stored.texts)) > _MAX_TEXT:
            raise ValueError("texts are too long")
    return stored


def _with_nodes(stored: _Stored) -> tuple[tuple[Block, ...], Node]:
    strings = stored.events.strings
    paths: list[str] = []
    tree = _tree(stored.events, paths, _MAX_PATH)
    paths += strings
    room, blocks = _MAX_PATHS, []
    for text, place, run in zip(stored.texts, stored.places, stored.runs, strict=True):
        path = paths[place]
        room -= len(path)
        if room < 0:
            raise ValueError("paths are too long")
        blocks.append(Block(strings[text], f"{path}{_RUN}{run}]" if run else path))
    return tuple(blocks), tree


def _with_outline(stored: _Stored) -> Content:
    """The blocks and the outline; paths are made for the elements of blocks only."""
    events, strings = stored.events, stored.events.strings
    if max(events.values) >= len(strings):
        raise ValueError("no such string")
    elements = _elements(events.kinds, events.values)
    paths, count = _Paths(events, elements), len(elements.events)
    room, blocks = _MAX_PATHS, []
    for text, place, run in zip(stored.texts, stored.places, stored.runs, strict=True):
        path = paths[place] if place < count else strings[place - count]
        room -= len(path)
        if room < 0 or len(path) > _MAX_PATH:
            raise ValueError("paths are too long")
        blocks.append(Block(strings[text], f"{path}{_RUN}{run}]" if run else path))
    outline = Outline(
        events.kinds, events.values, events.numbers, strings, elements.targets, stored.places,
        stored.runs,
    )  # fmt: skip
    return tuple(blocks), outline


class _Elements(NamedTuple):
    """The elements of a tree in order, as columns."""

    events: Sequence[int]
    """event that opens the element"""
    above: Sequence[int]
    """element around it; -1 if there is none"""
    targets: Sequence[int]


def _elements(kinds: Sequence[int], values: Sequence[int]) -> _Elements:
    """The elements of a tree; fails if the events are not those of one tree."""
    opened: list[int] = []
    above: list[int] = []
    targets: list[int] = []
    around = [-1]  # the open elements
    for event, kind in enumerate(kinds):
        if kind == TEXT:
            if len(around) == 1:
                raise ValueError("text in no element")
        elif kind == CLOSE:
            targets[around.pop()] = values[event]
        else:
            above.append(around[-1])
            targets.append(0)
            if kind != LEAF:
                around.append(len(opened))
                if len(around) > _MAX_LEVELS + 1:
                    raise ValueError("too many levels")
            opened.append(event)
    if around != [-1] or above.count(-1) != 1 or max(kinds) > CLOSE:
        raise ValueError("not one tree")
    return _Elements(opened, above, targets)


class _Paths(dict[int, str]):
    """The paths of elements by number; each is made when it is asked for."""

    def __init__(self, events: _Events, elements: _Elements) -> None:
        self.events, self.elements = events, elements
        numbers = events.numbers
        unnumbered = [at for at, event in enumerate(elements.events) if not numbers[event]]
        spelled = [events.strings[path] for path in events.spelled]
        self.update(zip(unnumbered, spelled, strict=True))
        if 0 not in self:
            raise ValueError("the path of the root is not spelled")
        self.room = _MAX_PATHS

    def __missing__(self, element: int) -> str:
        chain = [element]
        while (above := self.elements.above[chain[-1]]) not in self:
            chain.append(above)
        path = self[above]
        for at in reversed(chain):
            event = self.elements.events[at]
            name, number = self.events.values[event], self.events.numbers[event]
            self[at] = path = f"{path}/{self.events.strings[name]}[{number}]"
            self.room -= len(path)
            if len(path) > _MAX_PATH or self.room < 0:
                raise ValueError("paths are too long")
        return path


def _tree(events: _Events, paths: list[str], longest: float) -> Node:
    """The tree of these events, which come from stored bytes if paths may only be so long.

    The paths of all elements are added to `paths`.
    """
    new, strings, spelled = tuple.__new__, events.strings, iter(events.spelled)
    name = path = block = ""
    is_stored = longest < math.inf
    room, levels = (_MAX_PATHS, _MAX_LEVELS) if is_stored else (math.inf, math.inf)
    children: list[Node] = []
    outer: list[tuple[list[Node], str, str, str]] = []
    for kind, value, number in zip(events.kinds, events.values, events.numbers, strict=True):
        if kind == TEXT:
            at = block
            if number:
                at = f"{block}{_RUN}{number}]"
                room -= len(at)
                if room < 0:
                    raise ValueError("paths are too long")
            children.append(new(Node, ("#text", strings[value], at, (), "")))
        elif kind == CLOSE:
            node = new(Node, (name, "", path, tuple(children), strings[value]))
            children, name, path, block = outer.pop()
            children.append(node)
        else:
            tag = strings[value]
            at = f"{path}/{tag}[{number}]" if number else strings[next(spelled, len(strings))]
            paths.append(at)
            room -= len(at)
            if len(at) > longest or kind > LEAF or room < 0 or len(outer) > levels:
                raise ValueError("not a path or kind")
            if kind == LEAF:
                children.append(new(Node, (tag, "", at, (), "")))
                continue
            outer.append((children, name, path, block))
            children, name, path = [], tag, at
            block = at if kind == BLOCK else block
    if outer or len(children) != 1 or children[0].tag == "#text":
        raise ValueError("not one tree")
    return children[0]

"""Gaps between texts that no white space separates: `<span>01</span>Why`, but not `<a>dog</a>s`.

Style sheets, which draw elements apart, are not read.  A gap is recognised from the characters on
both sides, the elements that end and begin between them, and their class names and styles.

On 32 real sites, these rules see 1,849 different gaps, three quarters of them on one site.  Of 165
that were read, at most 12 from a site and kind, 160 are gaps; the others cut names of products and
an address.  They see none at 204 other places where two words meet outside of code and of scripts
without blanks.  Of 114 that were read, 96 are inside words; at 18, authors forgot the blank.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from diptych.page.dom import AnyNode
from diptych.page.elements import COMMENT, TEXT
from diptych.text.caches import TextCache

# Scripts that put no blanks between words: Thai to Tibetan, Burmese, Khmer, ideographs, kana,
# and the full-width punctuation that goes with them.
_WITHOUT_BLANKS = re.compile(
    r"[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u2e80-\u312f\u31a0-\u9fff\ua9e0-\ua9ff\uaa60-\uaa7f"
    r"\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff]"
)
_SEPARATORS = "|•→←↗"
MAY_END = f".!?…:;,)%{_SEPARATORS}"
"""characters that may be before a gap, besides letters and digits"""
MAY_BEGIN = f"(@+{_SEPARATORS}"
"""characters that may be after a gap, besides letters and digits"""
_GLUED = frozenset({"sub", "sup", "wbr", "ruby", "rb"})
_CODE = frozenset({"pre", "code", "samp", "kbd", "tt", "var", "textarea"})
_DRAWINGS = frozenset({"svg", "img", "picture", "canvas", "input", "video", "object", "iframe"})
_ALWAYS_APART = frozenset({"time", "small", "kbd", "output", "button", "label"})

_NAMES = (
    "badge|label|pill|chip|tags?|count|counter|num|number|index|icon|date|time|day|month|year|price"
    "|meta|status|state|value|unit|sep|separator|divider|btn|button|caption|category|author|step"
    "|bullet|subtitle|crumb|breadcrumb|hidden"
)
# Bootstrap and Tailwind: classes that make boxes, and margins beside them.
_UTILITIES = (
    r"d-(?:\w+-)?(?:inline-)?(?:block|flex|grid)|(?:inline-)?(?:block|flex|grid)"
    r"|(?:float|pull)-(?:left|right|start|end)|[mp][xlrse]-(?:\w+-)?[1-9][\d.]*"
)
_BOX_CLASS = re.compile(
    rf"(?:^|[\s_-])(?:{_NAMES})(?:$|[\s_-])|(?:^|\s)(?:{_UTILITIES})(?:$|\s)", re.IGNORECASE
)
_BOX_STYLE = re.compile(
    r"display\s*:\s*(?:inline-)?(?:block|flex|grid|table)|(?:margin|padding)-(?:left|right)\s*:"
    r"\s*+(?![0.]+(?![.1-9]))|position\s*:\s*absolute",
    re.IGNORECASE,
)
_LAST_WORD = re.compile(r"[^\W\d_]*$")
_FIRST_WORD = re.compile(r"[^\W\d_]*")
_NUMBER = re.compile(r"(?:^|\D)0\d$")
_ADDRESS = re.compile(r"(?:https?://|www\.)\S+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+", re.IGNORECASE)
_MAX_WORD = 32  # letters of the last word that are looked at; the search is quadratic
_MIN_WORD = 3  # letters; shorter pieces may be parts of a word, such as an article or a suffix
_LONG_WORD = 5  # letters; longer than the endings that are added to numbers (Basque: 2020rako)


class _Crossing(NamedTuple):
    """The elements that end and begin between two texts, outermost last."""

    closed: list[AnyNode]
    opened: list[AnyNode]
    names: set[str]
    """tags of all elements between the two texts, also of empty ones"""
    has_drawing: bool
    around: AnyNode | None
    """parent of the outermost element that ends, or of the text before"""


def is_gap(before: str, after: str, node: AnyNode) -> bool:
    """True if there is a gap between two texts; `node` is the text node that `after` comes from.

    >>> from selectolax.lexbor import LexborHTMLParser
    >>> def second(markup): return LexborHTMLParser(markup).css_first("p").last_child
    >>> is_gap("01", "Why", second("<p><span>01</span>Why"))
    True
    >>> is_gap("dog", "s", second("<p><a>dog</a>s"))
    False
    """
    end, begin = before[-1], after[0]
    if not (end.isalnum() or end in MAY_END) or not (begin.isalnum() or begin in MAY_BEGIN):
        return False
    cross = _crossing(node)
    if not _GLUED.isdisjoint(cross.names) or _is_one_link(after, cross):
        return False
    return _is_gap_at(before, after, cross) and not _is_in_code(cross.around)


def _is_gap_at(before: str, after: str, cross: _Crossing) -> bool:
    """Decide by the texts and the elements between them."""
    end, begin = before[-1], after[0]
    is_boxed = any(map(_is_box, cross.closed)) or any(map(_is_box, cross.opened))
    if _WITHOUT_BLANKS.match(end) or _WITHOUT_BLANKS.match(begin):
        return is_boxed and bool(cross.closed and cross.opened)
    if not end.isalnum() or not begin.isalnum():
        return _is_gap_at_sign(before, after, cross)
    if _is_one_word(before, after):
        return False
    if is_boxed or _is_beside_address(before, after, cross):
        return True
    if cross.has_drawing or (cross.closed and cross.opened):
        return _is_gap_between_elements(before, after, cross)
    return _is_gap_beside_element(before, after, cross)


def _is_one_link(after: str, cross: _Crossing) -> bool:
    """True if two links with the same target are one link that an editor cut in the middle."""
    ends, begins = (
        {node.attributes.get("href") for node in nodes if node.tag == "a"}
        for nodes in (cross.closed, cross.opened)
    )
    return bool(ends) and ends == begins and not after[0].isupper()


def _is_gap_at_sign(before: str, after: str, cross: _Crossing) -> bool:
    """Decide where at least one side is not a letter or digit."""
    end, begin, last = before[-1], after[0], before[-2:-1]
    if end in _SEPARATORS or begin in _SEPARATORS:
        return True
    if not begin.isalnum():
        is_between = bool(cross.closed and cross.opened)
        return end.isalnum() and after[1:2].isalnum() and (is_between or begin == "+")
    if end == ":":
        return len(_last_word(before[-_MAX_WORD:-1])) > 1
    if end in ",;":
        return not (last.isdigit() and begin.isdigit())
    if end in ".!?…":
        return _may_begin_sentence(after) and not last.isupper()
    return _may_begin_sentence(after) or (end == "%" and bool(cross.closed and cross.opened))


def _is_one_word(before: str, after: str) -> bool:
    """True for a number with its ending, and for an initial letter: `1|st`, `500|k`, `T|he`."""
    end, begin = before[-1], after[0]
    if not begin.islower():
        return False
    if end.isdigit():
        return len(_FIRST_WORD.match(after)[0]) < _MIN_WORD  # type: ignore[index]
    return end.isupper() and (len(before) < 2 or not before[-2].isalnum())


def _is_beside_address(before: str, after: str, cross: _Crossing) -> bool:
    """True if one of the texts is a link that shows its address."""
    if any(node.tag == "a" for node in cross.opened):
        return _ADDRESS.match(after) is not None
    return any(node.tag == "a" for node in cross.closed) and bool(_ADDRESS.fullmatch(before))


def _is_gap_between_elements(before: str, after: str, cross: _Crossing) -> bool:
    """Decide where one element ends and another begins, or with a drawing in between."""
    end, begin = before[-1], after[0]
    word, next_word = _last_word(before), _FIRST_WORD.match(after)[0]  # type: ignore[index]
    is_mixed = len({node.tag for node in (*cross.closed[-1:], *cross.opened[-1:])}) > 1
    is_apart = cross.has_drawing or not _ALWAYS_APART.isdisjoint(cross.names)
    if end.isdigit() or begin.isdigit():
        if end.isdigit() and begin.isdigit():
            return is_mixed or is_apart
        if end.isdigit():
            return is_mixed or begin.isupper() or len(next_word) >= _LONG_WORD
        return is_mixed or len(word) >= _MIN_WORD
    if begin.isupper():
        return is_apart or (len(word) > 1 and (not end.isupper() or _is_capitalised(after)))
    if end.isupper() and begin.islower():
        return False
    is_link = is_mixed and bool(cross.opened) and cross.opened[-1].tag == "a"
    return is_apart or (is_link and len(word) > _MIN_WORD)


def _is_gap_beside_element(before: str, after: str, cross: _Crossing) -> bool:
    """Decide where a text without an element of its own meets an element."""
    if "time" in cross.names:
        return True
    if "code" in cross.names:  # "the <code>Widget</code>s"
        return False
    end = before[-1]
    if end.isdigit() and cross.closed:
        long = len(_FIRST_WORD.match(after)[0]) >= _LONG_WORD  # type: ignore[index]
        return _is_capitalised(after) or long or _NUMBER.search(before) is not None
    is_link = "a" in cross.names
    # "Java<b>Script</b>" and "<b>Word</b>Press" are words.
    if not (" " in before.strip() or " " in after.strip()) or not (cross.closed or is_link):
        return False
    is_name = _is_capitalised(after) or (is_link and after[0].isupper())
    is_word = end.islower() and before[-2:-1].isalpha()
    return is_name and (is_word or end.isdigit())


def _last_word(text: str) -> str:
    """The letters at the end of a text, at most `_MAX_WORD`.

    >>> _last_word("3 more apples"), _last_word("May 5")
    ('apples', '')
    """
    return _LAST_WORD.search(text[-_MAX_WORD:])[0]  # type: ignore[index]


def _is_capitalised(text: str) -> bool:
    """True if a text begins with a capital and a small letter.

    >>> _is_capitalised("Why"), _is_capitalised("AI"), _is_capitalised("why")
    (True, False, False)
    """
    return text[0].isupper() and text[1:2].islower()


def _may_begin_sentence(text: str) -> bool:
    """True if a text begins with a capitalised word, or with a letter that has no capital."""
    first = text[0]
    return _is_capitalised(text) or (first.isalpha() and not (first.isupper() or first.islower()))


def _is_box(node: AnyNode) -> bool:
    """True if the class name or style of an element says that it is drawn as a box of its own."""
    own = node.attributes
    return _names_box[own.get("class") or ""] or bool(_BOX_STYLE.search(own.get("style") or ""))


_names_box = TextCache(lambda name: _BOX_CLASS.search(name) is not None, 1_000_000)


def _crossing(node: AnyNode) -> _Crossing:
    """Go back from a text node to the text before it, and note the elements on the way."""
    opened: list[AnyNode] = []
    closed: list[AnyNode] = []  # outermost first
    names: set[str] = set()
    has_drawing = False
    at = _back(node, opened, closed)
    while at is not None and at.tag_id != TEXT:
        tag, inner = at.tag or "", at.last_child
        names.add(tag)
        if inner is not None and tag not in _DRAWINGS:
            closed.append(at)
            at = inner
            continue
        has_drawing |= tag in _DRAWINGS or (at.tag_id != COMMENT and "class" in at.attributes)
        at = _back(at, opened, closed)
    names.update(each.tag or "" for each in opened)
    outermost = closed[0] if closed else at
    around = outermost.parent if outermost is not None else None
    return _Crossing(closed[::-1], opened, names, has_drawing, around)


def _back(node: AnyNode, opened: list[AnyNode], closed: list[AnyNode]) -> AnyNode | None:
    """The sibling before a node or, if there is none, before the innermost ancestor that has one.

    Ancestors that are left are elements without text if they are in `closed`, else `opened`.
    """
    at: AnyNode | None = node
    while at is not None and at.prev is None:
        at = at.parent
        if closed:
            closed.pop()
        elif at is not None:
            opened.append(at)
    return at.prev if at is not None else None


def _is_in_code(node: AnyNode | None) -> bool:
    while node is not None and node.tag != "body":
        if node.tag in _CODE:
            return True
        node = node.parent
    return False

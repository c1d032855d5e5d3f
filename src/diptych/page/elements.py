"""Roles of HTML elements (block, inline, skipped), hidden elements, and text cleaning.

Tags and roles are numbers because that makes the walk over a page faster.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from selectolax.lexbor import LexborHTMLParser, LexborNode

from diptych.page.dom import AnyNode

_ROLES = (  # in the order of the readers in `blocks`
    "address article aside blockquote button caption center col colgroup dd details dialog dir div"
    " dl dt fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup label"
    " legend li main marquee menu nav ol optgroup option output p pre search section select summary"
    " table tbody td textarea tfoot th thead tr ul",
    "abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd map mark nobr object"
    " picture q rb ruby s samp slot small span strike strong sub time tt u var wbr",
    "a",
    "head body",
    "",  # all other elements
    "br",
    "hr frame iframe",
    "img",
    "area",
    "input",
    "meta",
    "title",
    "sup",
)
# Ruby annotations would end up inside the word; fallback content is for old browsers.
_PASSED_BY = (
    "script style template noscript svg math rp rt audio video canvas noframes noembed param source"
    " track embed link base"
)
SKIPPED = (-1, "")
UNKNOWN = (4, "")
_MAX_SHOWN = 400  # texts and elements in a text for screen readers; elements may be nested
_IN_WORDS = (1, 12)  # roles of inline elements and superscripts
TEXT, COMMENT = 2, 4  # the parser's numbers of nodes that are not elements

_NOT_SHOWN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
# Animations hide elements until they are scrolled into view.
_ANIMATED = re.compile(r"animat|wow\b|aos\b|reveal|fade|lazy|slide", re.IGNORECASE)
_READ_ALOUD = re.compile(
    r"(?:^|\s)(?:sr-only|visually-hidden|visuallyhidden|screen-reader-text|assistive-text)(?:\s|$)"
)
# Icon fonts, whose texts are the names of icons.
_ICON_FONT = re.compile(
    r"(?:^|\s)material-(?:icons|symbols)(?:-(?:outlined|round|rounded|sharp|two-tone))?(?:\s|$)"
)
HIDDEN, APART = 1, 2  # not shown; shown or read aloud, but not as part of a sentence
# The class names are those of Bootstrap, WordPress, HTML5 Boilerplate and others.
_HIDDEN = (
    "[hidden],[style*=hidden i],[style*=none i],span[aria-hidden=true],.visually-hidden,"
    ".visuallyhidden,.sr-only,.screen-reader-text,.assistive-text,[class^=material-]"
)
UNREAD = ("script", "style", "template", "noscript", "svg", "math", "textarea", "select")
"""elements whose texts and links are not those of the page"""
CODE = ("pre", "code", "samp", "kbd", "tt", "var")
"""elements with code, which is in no language"""
INVISIBLE = "\u00ad\u200b\u2060\ufeff"  # soft hyphens and similar characters, which split words
# Characters that line-based files or XML cannot contain.
UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")


def _known() -> dict[int, tuple[int, str]]:
    """Map each tag number of the parser to the element's role and name."""
    parser = LexborHTMLParser("")
    tag_id = {
        name: parser.create_node(name).tag_id
        for names in (*_ROLES, _PASSED_BY)
        for name in names.split()
    }
    known = {
        tag_id[name]: (role, name) for role, names in enumerate(_ROLES) for name in names.split()
    }
    return {**known, **{tag_id[name]: SKIPPED for name in _PASSED_BY.split()}, COMMENT: SKIPPED}


KNOWN = _known()


def hidden_elements(parser: LexborHTMLParser) -> dict[int, int]:
    """Map the memory addresses of elements that are not part of the visible text to the reason.

    >>> markup = "<p hidden>a<p style='display: none'>b<p>c <i class=sr-only>d</i>"
    >>> list(hidden_elements(LexborHTMLParser(markup)).values())
    [1, 1, 2]
    """
    return {node.mem_id: reason for node, reason in hidden_nodes(parser)}


def hidden_nodes(parser: LexborHTMLParser) -> Sequence[tuple[LexborNode, int]]:
    """The elements that are not part of the visible text, each with the reason."""
    nodes = [node for node in parser.css(_HIDDEN) if node.first_child is not None]
    return [(node, reason) for node in nodes if (reason := _hiding(node))]


def _hiding(node: LexborNode) -> int:
    own = node.attributes
    if node.tag in ("html", "body"):  # some pages hide them until a script has run
        return 0
    hidden = own["hidden"] or "" if "hidden" in own else None
    spoken = node if "aria-hidden" in own else None
    return hiding(hidden, own.get("style") or "", own.get("class") or "", spoken)


def hiding(hidden: str | None, style: str, name: str, unspoken: AnyNode | None) -> int:
    """The reason why an element is not part of the visible text, or 0.

    `hidden`, `style` and `name` are the values of its attributes `hidden`, `style` and `class`.
    `unspoken` is the element itself if it has the attribute `aria-hidden`.
    """
    if hidden == "until-found":  # text that is meant to be read
        return 0
    if hidden is not None or _is_not_shown(style, name) or _ICON_FONT.search(name):
        return HIDDEN
    if unspoken is not None:
        return 0 if _is_one_of_several(unspoken) else APART
    return APART if _READ_ALOUD.search(name) else 0


def _is_not_shown(style: str, name: str) -> bool:
    said = _NOT_SHOWN.search(style) if style else None
    if said is None or said[0][0] in "dD":
        return said is not None
    return not (_ANIMATED.search(style) or _ANIMATED.search(name))


def _is_one_of_several(node: AnyNode) -> bool:
    """True if an element is one of several that together are a text, as in moving headings."""
    others = (_neighbour(node, "prev"), _neighbour(node, "next"))
    return any(other is not None and "aria-hidden" in other.attributes for other in others)


def _neighbour(node: AnyNode, side: str) -> AnyNode | None:
    """The next element on a side of an element, if there is no text in between."""
    other: AnyNode | None = getattr(node, side)
    while other is not None and other.tag_id == TEXT and other.is_empty_text_node:
        other = getattr(other, side)
    return None if other is None or other.tag_id in (TEXT, COMMENT) else other


def shown_text(node: AnyNode, hidden: Mapping[int, int]) -> str:
    """The text of an element without scripts, drawings and hidden elements.

    `hidden` is the result of `hidden_elements`.  Only inline elements may be inside a word.  If an
    element has too many nodes, the result is empty.

    >>> span = LexborHTMLParser("<span>W<b>o</b>rd<style>a</style><div>two</div></span>")
    >>> shown_text(span.css_first("span"), {})
    'Word two '
    """
    parts: list[str] = []
    waiting: list[AnyNode | str | None] = [node.first_child]
    while waiting:
        at = waiting.pop()
        if len(parts) > _MAX_SHOWN:
            return ""
        if at is None:
            continue
        if isinstance(at, str):
            parts.append(at)
            continue
        waiting.append(at.next)
        role = KNOWN.get(at.tag_id, UNKNOWN)
        if at.tag_id == TEXT:
            parts.append(at.text_content or "")
        elif role is not SKIPPED and hidden.get(at.mem_id) != HIDDEN:
            blank = "" if role[0] in _IN_WORDS else " "
            parts.append(blank)
            waiting += [blank, at.first_child]
        else:
            parts.append("")
    return "".join(parts)


def visible(text: str) -> str:
    r"""Collapse white space, and remove invisible and control characters.

    >>> visible("Donau\u00addampf \u200b schiff\x07\x00fahrt")
    'Donaudampf schiff fahrt'
    """
    if not text.isascii():
        for character in INVISIBLE:
            if character in text:
                text = text.replace(character, "")
    text = " ".join(text.split())
    if text.isprintable() or not UNPRINTABLE.search(text):
        return text
    return " ".join(UNPRINTABLE.sub(" ", text).split())

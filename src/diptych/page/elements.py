"""Roles of HTML elements (block, inline, skipped), hidden elements, and text cleaning.

Tags and roles are numbers because that makes the walk over a page faster.
"""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

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
TEXT, COMMENT = 2, 4  # the parser's numbers of nodes that are not elements

_NOT_SHOWN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
# Animations hide elements until they are scrolled into view.
_ANIMATED = re.compile(r"animat|wow\b|aos\b|reveal|fade|lazy|slide", re.IGNORECASE)
# Icon fonts, whose texts are the names of icons.
_ICON_FONT = re.compile(
    r"(?:^|\s)material-(?:icons|symbols)(?:-(?:outlined|round|rounded|sharp|two-tone))?(?:\s|$)"
)
HIDDEN, APART = 1, 2  # not shown; shown or read aloud, but not as part of a sentence
_SELECTORS = (  # word in the markup, selector, what it says
    ("hidden", "[hidden],[style*='hidden' i]", HIDDEN),
    ("none", "[style*='none' i]", HIDDEN),
    ("material-", "[class*='material-icons'],[class*='material-symbols']", HIDDEN),
    ("-hidden", "[aria-hidden='true' i],.visually-hidden,.rich-snippet-hidden", APART),
    ("visuallyhidden", ".visuallyhidden", APART),
    ("sr-only", ".sr-only", APART),
    ("screen-reader", ".screen-reader-text,.screen-reader-only", APART),
    ("assistive-text", ".assistive-text", APART),
    ("show-for-sr", ".show-for-sr", APART),
    ("element-invisible", ".element-invisible", APART),
)
_INVISIBLE = "\u00ad\u200b\u2060\ufeff"  # soft hyphens and similar characters, which split words
# Characters that line-based files or XML cannot contain.
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")


def _known() -> dict[int, tuple[int, str]]:
    """Map each tag number of the parser to the element's role and name."""
    tag_id = {
        name: LexborHTMLParser("").create_node(name).tag_id
        for names in (*_ROLES, _PASSED_BY)
        for name in names.split()
    }
    known = {
        tag_id[name]: (role, name) for role, names in enumerate(_ROLES) for name in names.split()
    }
    return {**known, **{tag_id[name]: SKIPPED for name in _PASSED_BY.split()}, COMMENT: SKIPPED}


KNOWN = _known()


def hidden_elements(parser: LexborHTMLParser, markup: str) -> dict[int, int]:
    """Map the memory addresses of elements that are not part of the visible text to the reason.

    >>> markup = "<p hidden>a<p style='display: none'>b<p>c <i class=sr-only>d</i>"
    >>> list(hidden_elements(LexborHTMLParser(markup), markup).values())
    [2, 1, 1]
    """
    found: dict[int, int] = {}
    for word, selector, reason in reversed(_SELECTORS):
        if word in markup:
            says = _is_hidden if reason == HIDDEN else _is_apart
            found.update((node.mem_id, reason) for node in parser.css(selector) if says(node))
    return found


def _is_hidden(node: LexborNode) -> bool:
    own = node.attributes
    # Some pages hide html or body until a script has run; until-found text is meant to be read.
    if node.tag in ("html", "body") or own.get("hidden", "") == "until-found":
        return False
    style, name = own.get("style") or "", own.get("class") or ""
    if "hidden" in own or _ICON_FONT.search(name):
        return True
    said = _NOT_SHOWN.search(style)
    if said is None:
        return False
    return said[0][0] in "dD" or not (_ANIMATED.search(style) or _ANIMATED.search(name))


def _is_apart(node: LexborNode) -> bool:
    """True unless an element is one of several that together are a text, as in moving headings."""
    return "aria-hidden" not in node.attributes or not any(
        other is not None and "aria-hidden" in other.attributes
        for other in (_neighbour(node, "prev"), _neighbour(node, "next"))
    )


def _neighbour(node: LexborNode, side: str) -> LexborNode | None:
    """The next element on a side of an element, if there is no text in between."""
    other: LexborNode | None = getattr(node, side)
    while other is not None and other.tag_id == TEXT and other.is_empty_text_node:
        other = getattr(other, side)
    return None if other is None or other.tag_id in (TEXT, COMMENT) else other


def visible(text: str) -> str:
    r"""Collapse white space, and remove invisible and control characters.

    >>> visible("Donau\u00addampf \u200b schiff\x07\x00fahrt")
    'Donaudampf schiff fahrt'
    """
    for character in _INVISIBLE:
        if character in text:
            text = text.replace(character, "")
    text = " ".join(text.split())
    if text.isprintable() or not _UNPRINTABLE.search(text):
        return text
    return " ".join(_UNPRINTABLE.sub(" ", text).split())

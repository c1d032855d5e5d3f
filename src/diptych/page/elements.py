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
    " picture q rb ruby s samp slot small span strike strong sub sup time tt u var wbr",
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
)
# Ruby annotations would end up inside the word; fallback content is for old browsers.
_PASSED_BY = (
    "script style template noscript svg math rp rt audio video canvas noframes noembed param source"
    " track embed link base"
)
SKIPPED = (-1, "")
UNKNOWN = (4, "")
TEXT, _COMMENT = 2, 4  # the parser's numbers for nodes that are not elements

_DISPLAY_NONE = re.compile(r"display\s*:\s*none", re.IGNORECASE)
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
    return {**known, **{tag_id[name]: SKIPPED for name in _PASSED_BY.split()}, _COMMENT: SKIPPED}


KNOWN = _known()


def hidden_elements(parser: LexborHTMLParser, markup: str) -> frozenset[int]:
    """The memory addresses of the hidden elements of a page.

    >>> parser = LexborHTMLParser("<p hidden>a<p style='display: none'>b<p>c")
    >>> len(hidden_elements(parser, "hidden"))
    2
    """
    if "hidden" not in markup and "none" not in markup:
        return frozenset()
    return frozenset(
        node.mem_id for node in parser.css("[hidden],[style*=none i]") if _is_hidden(node)
    )


def _is_hidden(node: LexborNode) -> bool:
    own = node.attributes
    # Some pages hide html or body until a script has run; until-found text is meant to be read.
    if node.tag in ("html", "body") or own.get("hidden", "") == "until-found":
        return False
    return "hidden" in own or _DISPLAY_NONE.search(own.get("style") or "") is not None


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

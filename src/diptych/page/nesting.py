"""Limit the nesting of markup, because deep nesting could make parsing take minutes.

For many tags, an HTML parser searches all open elements, so its time grows with the square of the
depth: 100,000 nested `div` elements take 22 s.  Unclosed formatting elements (`b`, `font`) are
reopened in every following block, which multiplies them.  Ordinary pages contain nothing like
that.
"""

from __future__ import annotations

import re

MAX_DEPTH = 512  # levels; browsers build no more
MAX_ATTRIBUTES = 1_000  # per element; the parser compares each with all previous ones
MAX_FORMATTING = 100  # formatting elements open at once
_SAFE_SIZE = 40_000  # characters; as many attributes as fit take 0.9 s
_LONG = 10_000  # characters of a tag
_LONG_TAG = re.compile(rf"<[a-z][^<>]{{{_LONG}}}", re.IGNORECASE)
_LONG_TAG_WHOLE = re.compile(rf"<[a-z][^<>]{{{_LONG},}}>?", re.IGNORECASE)
_WINDOW = _LONG // 2  # characters; every run of `_LONG` characters contains a whole window
_SAFE_TAGS = 8_000  # fewer tags take at most 0.3 s if no formatting multiplies them
_SAFE_TAGS_OF_ALL = 1_200  # fewer tags take at most 0.9 s in any case
_LOOK_BACK = 64  # levels searched for the start tag of an end tag: real misnesting is local

_TAG = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(script|style|textarea|title|xmp|iframe|noembed|noframes)\b.*?(?:</\1|\Z)"
    r"|<(?P<end>/?)(?P<name>[a-z][^\s/>]{0,40})(?:[^>=]|=\s*(?:\"[^\"]*\"|'[^']*')?)*+>?",
    re.DOTALL | re.IGNORECASE,
)
_NAME = re.compile(r"<(/?)([a-z][a-z0-9]*)")
_OPAQUE = re.compile(
    r"<!--.*?(?:-->|\Z)"  # without an end it extends to the end of the page: one search in all
    r"|<(script|style|textarea|title|xmp|iframe|noembed|noframes)\b.*?(?:</\1|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_TAG_IN_ATTRIBUTE = re.compile(r"""=\s*(?:"[^"<>]*[<>]|'[^'<>]*[<>])""")
_FORMATTING_START = re.compile(r"<(?:[bius]|big|code|em|font|small|str(?:ike|ong)|tt)[\s/>]", re.I)
_FORMATTED_TEXT = re.compile(
    r"<([bius]|big|code|em|font|small|str(?:ike|ong)|tt)(?:\s[^<>]*)?>[^<]*</\1>", re.IGNORECASE
)
_FORMATTING_TAG = re.compile(
    r"</?(?:b|big|code|em|font|i|s|small|strike|strong|tt|u)\b"
    r"(?:[^>=]|=\s*(?:\"[^\"]*\"|'[^']*')?)*+>",
    re.IGNORECASE,
)
_FORMATTING = frozenset("b big code em font i s small strike strong tt u".split())
# Elements without an end tag, and elements that the next element of the same kind closes: they do
# not nest.
_FLAT = frozenset(
    "a area base body br button caption col colgroup dd dt embed head hr html img input li link"
    " meta nobr optgroup option p param source tbody td tfoot th thead title tr track wbr".split()
)
# Elements that the end tag of an ordinary element, such as `span`, cannot close.
_SPECIAL = frozenset(
    "address applet article aside blockquote center details dialog dir div dl fieldset figcaption"
    " figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup iframe listing main marquee menu"
    " nav object ol plaintext pre search section select summary table template ul".split()
)
_SCOPES = frozenset({"table", "object", "marquee", "applet", "template", "svg", "math"})


def bounded_markup(markup: str) -> str:
    """Remove the tags that are nested too deeply.

    >>> bounded_markup("<div>" * 3 + "text")
    '<div><div><div>text'
    >>> bounded_markup("<div>" * 9000 + "text").count("<div>") == MAX_DEPTH
    True
    """
    if len(markup) > _SAFE_SIZE and _has_long_tag(markup):
        markup = _LONG_TAG_WHOLE.sub(_fewer_attributes, markup)
    tags = markup.count("<")
    if tags < _SAFE_TAGS_OF_ALL:
        return markup
    if tags < _SAFE_TAGS and _open_formatting(markup) <= MAX_FORMATTING:
        return markup
    if _is_tidy(markup):
        return markup
    formatting, cut = _scan(markup)
    if cut >= 0:
        markup = markup[:cut] + _TAG.sub(_flattened, markup[cut:])
    return _FORMATTING_TAG.sub("", markup) if formatting > MAX_FORMATTING else markup


def _has_long_tag(markup: str) -> bool:
    """True if a tag has more than `_LONG` characters.

    Inside such a tag there is a window without `<`; nearly all windows have one near their start.

    >>> _has_long_tag("<p>" + "a" * 30_000), _has_long_tag("a" * 7_000 + "<p " + "a" * 10_000)
    (False, True)
    """
    is_empty = False
    for start in range(0, len(markup), _WINDOW):
        was_empty, is_empty = is_empty, markup.find("<", start, start + _WINDOW) < 0
        if is_empty and not was_empty:
            tag = max(0, markup.rfind("<", max(0, start - _WINDOW), start))
            if _LONG_TAG.match(markup, tag):
                return True
    return False


def _is_tidy(markup: str) -> bool:
    """True if tags are closed in order and few elements are open at once; faster than `_scan`.

    >>> _is_tidy("<div><p>a<p>b</div>" * 9), _is_tidy("<div><b>" * 600), _is_tidy("<b></i>" * 600)
    (True, False, False)
    """
    markup = _OPAQUE.sub("", markup)
    if _TAG_IN_ATTRIBUTE.search(markup):
        return False
    open_elements: list[str] = []
    stray = 0
    for is_end, name in _NAME.findall(markup.lower()):
        if name in _FLAT:
            continue
        if not is_end:
            open_elements.append(name)
            if len(open_elements) > MAX_FORMATTING:
                return False
        elif open_elements and open_elements[-1] == name:
            open_elements.pop()
        else:
            stray += 1
    return stray <= MAX_FORMATTING


def _open_formatting(markup: str) -> int:
    """An upper bound on the number of formatting elements not closed directly after their text.

    >>> _open_formatting("<b>a</b>" * 900 + "<i>b <b>c</b></i>")
    1
    """
    opened = len(_FORMATTING_START.findall(markup))
    return opened - len(_FORMATTED_TEXT.findall(markup)) if opened > MAX_FORMATTING else opened


def _fewer_attributes(tag: re.Match[str]) -> str:
    """Truncate a tag to at most `MAX_ATTRIBUTES` attributes."""
    return " ".join(tag[0].split(None, MAX_ATTRIBUTES)[:MAX_ATTRIBUTES]) + ">"


def _scan(markup: str) -> tuple[int, int]:
    """The maximum number of open formatting elements, and the offset where nesting is too deep.

    The offset is that of the first tag beyond `MAX_DEPTH` levels, or -1 if there is none.
    """
    open_elements: list[str] = []
    open_formatting = most = 0
    for tag in _TAG.finditer(markup):
        name = (tag["name"] or "br").lower()
        if name in _FLAT:
            continue
        is_end = bool(tag["end"])
        if name in _FORMATTING:
            open_formatting = max(0, open_formatting - 1) if is_end else open_formatting + 1
            most = max(most, open_formatting)
        elif is_end:
            _end(open_elements, name)
        else:
            open_elements.append(name)
            if len(open_elements) > MAX_DEPTH:
                return most, tag.start()
    return most, -1


def _end(open_elements: list[str], name: str) -> None:
    """Remove an element from the list of open elements, as a parser does at its end tag.

    In case of doubt, the element stays open, which is the safe choice.

    >>> elements = ["div", "span", "div", "b"]
    >>> _end(elements, "span"); _end(elements, "div"); elements
    ['div', 'span']
    """
    barriers = frozenset() if name in _SCOPES else _SCOPES if name in _SPECIAL else _SPECIAL
    for index in range(len(open_elements) - 1, max(-1, len(open_elements) - _LOOK_BACK), -1):
        if open_elements[index] == name:
            del open_elements[index:]
            return
        if open_elements[index] in barriers:
            return


def _flattened(tag: re.Match[str]) -> str:
    """Return the replacement for a tag in markup that is nested too deeply.

    A tag that cannot nest stays unchanged, a block-level tag becomes two line breaks, and any other
    tag is removed.
    """
    name = (tag["name"] or "").lower()
    if name in _FLAT or not name:
        return tag[0]
    return "<br><br>" if name in _SPECIAL else ""

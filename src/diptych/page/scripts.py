"""Detect pages whose text is created by scripts and is missing from the response."""

from __future__ import annotations

import re

SCRIPTED = "scripted"
"""flag for a page whose text is created by scripts"""
MAX_TEXT = 200  # characters; less is hardly any text: a title, a notice, a copyright line
# Elements into which frameworks (React, Vue, Next, Nuxt, Gatsby, Angular and others) render a page:
# one with a usual id, or an empty custom element.
_ROOT = re.compile(
    r"""<(?:div|main|section)\b[^<>]{0,200}?\bid\s{0,9}=\s{0,9}["']?
        (?:root|app|application|main-app|app-root|react-root|react-app|vue-app|q-app|svelte
          |__next|__nuxt|___gatsby|mount|spa)["'\s>]
    | <[a-z]{1,20}-[a-z-]{1,30}\b[^<>]{0,200}>\s{0,20}</""",
    re.VERBOSE,
)
_MAX_NOSCRIPT = 10  # elements that are searched
_MAX_NOTICE = 2_000  # characters of each that are searched


def is_made_by_scripts(markup: str, text: str) -> bool:
    """True if a page has hardly any text, and scripts that probably create its text.

    >>> is_made_by_scripts("<body><div id=root></div><script src=app.js></script>", "")
    True
    >>> is_made_by_scripts("<body><p>Under construction</p><script src=x.js></script>", "Under")
    False
    """
    if len(text) >= MAX_TEXT:
        return False
    lowered = markup.lower()
    if "<script" not in lowered:
        return False
    return bool(_ROOT.search(lowered)) or _asks_for_scripts(lowered)


def _asks_for_scripts(lowered: str) -> bool:
    """True if a `noscript` element mentions JavaScript, whose name is the same in all languages."""
    start = -1
    for _ in range(_MAX_NOSCRIPT):
        start = lowered.find("<noscript", start + 1)
        if start < 0:
            return False
        if "javascript" in lowered[start : start + _MAX_NOTICE].partition("</noscript")[0]:
            return True
    return False

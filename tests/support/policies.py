"""The Content-Security-Policy of a page: what a browser loads and runs for it."""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser

CLOSED = {
    "default-src": "'none'", "style-src": "'unsafe-inline'", "base-uri": "'none'",
    "form-action": "'none'",
}  # fmt: skip
"""the policy of all our pages, but for their scripts"""


def policy_of(tree: LexborHTMLParser) -> dict[str, str]:
    """The directives of a page's policy, which must stand before anything it is about."""
    head = [
        node
        for node in tree.css("head *")
        if node.tag != "meta" or "charset" not in node.attributes
    ]
    assert head[0].attributes.get("http-equiv") == "Content-Security-Policy"
    parts = (head[0].attributes["content"] or "").split("; ")
    return {name: value for name, _, value in (part.partition(" ") for part in parts)}

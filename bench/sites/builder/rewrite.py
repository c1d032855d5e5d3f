"""Pages of a family rewritten for a variant: new addresses, a switcher, declared alternates."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from html import escape
from typing import Any
from urllib.parse import quote

import lxml.html
from lxml import etree

from bench.sites.builder.documents import (
    LINK_ATTRIBUTES,
    Document,
    base_of,
    decode,
    parse,
    read_bytes,
    resolve,
    with_base,
)
from bench.sites.builder.families import Family
from bench.sites.builder.languages import label
from bench.sites.builder.pages import Pages, find_page, without_prefix
from bench.sites.builder.schemes import Address

__all__ = ["Look", "Plan", "rewritten"]

_DROPPED_LINKS = frozenset({"canonical", "alternate", "shortcut icon", "icon", "stylesheet",
                            "apple-touch-icon-precomposed", "shortlink"})  # fmt: skip
_HTTP_HEADERS = ("content-type", "refresh", "content-language")
_KEPT_OUTSIDE = re.compile(r"https?:|//|#|mailto:")
_LANG_ATTRIBUTES = ("lang", "xml:lang", "{http://www.w3.org/XML/1998/namespace}lang")


@dataclass(frozen=True)
class Look:
    """How a variant shows its languages and links."""

    switcher: str = "home"
    """which pages have a switcher: none, those of `home`, all"""
    switcher_style: str = "text"
    hreflang: bool = False
    crosslinks: str = "strip"
    """`keep` or `strip` the links to other languages that pages had"""
    strip_lang_attr: bool = False
    relative: bool = False
    """internal links are relative"""


@dataclass
class Plan:
    """All that a page has to know of the variant it becomes a part of."""

    family: Family
    pages: Pages
    look: Look
    addresses: dict[str, Address]
    homes: dict[str, str]
    """language -> its start page"""
    alternates: dict[str, dict[str, str]]
    """page -> language -> its translation"""
    lists: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    """page -> lists of pages that it links to, as address and name"""

    def url(self, path: str, host: str = "") -> str:
        """The address of a page; with the host, unless it is the one that is given."""
        address = self.addresses[path]
        return absolute(address) if address.host != host else address.path


def absolute(address: Address) -> str:
    """An address with its host, whose name the server fills in."""
    return f"http://__HOST:{address.host}__{address.path}" if address.host else address.path


def rewritten(plan: Plan, path: str) -> bytes:
    """One page as it is in the variant."""
    document = parse(decode(read_bytes(plan.pages[path].file))[0])
    if document is None:
        return b""
    page = _PageWriter(plan, path, document)
    page.clean()
    page.rewrite_links()
    page.rewrite_images()
    page.add_head()
    page.add_switcher()
    page.add_lists()
    html: bytes = lxml.html.tostring(document, encoding="utf-8", method="html")
    return b"<!DOCTYPE html>\n" + html


class _PageWriter:
    """Rewrites the tree of one page in place."""

    def __init__(self, plan: Plan, path: str, document: Document) -> None:
        self.plan, self.path, self.document = plan, path, document
        self.look, self.lang = plan.look, plan.pages[path].lang
        self.address = plan.addresses[path]
        self.base = base_of(document)

    def clean(self) -> None:
        """Take away what runs, and what tells the encoding, other addresses or the language."""
        for element in list(self.document.iter("script", "base")):
            element.drop_tree()
        for element in list(self.document.iter("meta")):
            header = (element.get("http-equiv") or "").lower()
            is_language = header == "content-language" and not self.look.strip_lang_attr
            if (header in _HTTP_HEADERS or element.get("charset")) and not is_language:
                element.drop_tree()
        for element in list(self.document.iter("link")):
            self._clean_declaration(element)
        if self.look.strip_lang_attr:
            for element in self.document.iter(etree.Element):
                for attribute in _LANG_ATTRIBUTES:
                    element.attrib.pop(attribute, None)

    def _clean_declaration(self, element: Document) -> None:
        """Keep a `link` element only if it leads to a page of the site in some other role."""
        target = None
        if not element.get("hreflang") and (element.get("rel") or "").lower() not in _DROPPED_LINKS:
            target, _ = self._target(with_base(self.base, element.get("href") or ""))
        if target is None:
            element.drop_tree()
        else:
            element.set("href", self.plan.url(target, self.address.host))

    def _target(self, link: str) -> tuple[str | None, str]:
        """The page that a link leads to, and its fragment; no page if it is not of the site."""
        lead = resolve(self.path, link)
        if lead is None:
            return None, ""
        return find_page(self.plan.pages, lead[0], self.plan.family.endings), lead[1]

    def rewrite_links(self) -> None:
        """Lead links to the new addresses; those to nowhere are links no more."""
        for tag, attribute in LINK_ATTRIBUTES:
            for element in list(self.document.iter(tag)):
                if element.get(attribute):
                    self._rewrite_link(element, attribute)

    def _rewrite_link(self, element: Document, attribute: str) -> None:
        link = element.get(attribute)
        inner = with_base(self.base, without_prefix(link.strip(), self.plan.family.prefixes))
        if resolve(self.path, inner) is None:
            if not _KEPT_OUTSIDE.match(link):
                del element.attrib[attribute]
            return
        target, fragment = self._target(inner)
        if target is None or not self._may_link(target):
            if element.tag in ("frame", "iframe"):
                element.drop_tree()
            else:
                del element.attrib[attribute]
            return
        url = self._relative(self.plan.url(target, self.address.host))
        element.set(attribute, url + (f"#{fragment}" if fragment else ""))

    def _may_link(self, target: str) -> bool:
        return self.look.crosslinks == "keep" or self.plan.pages[target].lang == self.lang

    def _relative(self, url: str) -> str:
        is_path = not url.startswith("http") and "?" not in url + self.address.path
        if not self.look.relative or not is_path:
            return url
        here = os.path.dirname(self.address.path) or "/"
        return os.path.relpath(url, here) + ("/" if url.endswith("/") else "")

    def rewrite_images(self) -> None:
        """Lead pictures, which are not there, to one folder."""
        for element in self.document.iter("img"):
            lead = resolve(self.path, with_base(self.base, element.get("src") or ""))
            if lead is not None:
                element.set("src", "/img/" + quote(lead[0].lstrip("/")))
            for attribute in ("srcset", "longdesc"):
                element.attrib.pop(attribute, None)

    def add_head(self) -> None:
        """Declare the encoding, and the translations if the variant does so."""
        head = self.document.find("head")
        if head is None:
            head = etree.Element("head")
            self.document.insert(0, head)
        encoding = etree.Element("meta")
        encoding.set("charset", "utf-8")
        head.insert(0, encoding)
        others = self.plan.alternates.get(self.path, {})
        if self.look.hreflang and others:
            for lang, path in [(self.lang, self.path), *sorted(others.items())]:
                element = etree.SubElement(head, "link")
                element.set("rel", "alternate")
                element.set("hreflang", lang)
                element.set("href", self.plan.url(path))

    def add_switcher(self) -> None:
        """Link to the page in other languages, or from a start page to other start pages."""
        is_home = self.path == self.plan.homes.get(self.lang)
        others = self.plan.homes if is_home else self.plan.alternates.get(self.path, {})
        shown = self.look.switcher == "all" or (self.look.switcher == "home" and is_home)
        links = [
            f'<a href="{escape(self.plan.url(path, self.address.host))}">'
            f"{label(lang, self.look.switcher_style)}</a>"
            for lang, path in sorted(others.items())
            if lang != self.lang
        ]
        body = self.document.find("body")
        if shown and links and body is not None:
            switcher = _division("langs", " | ".join(links))
            body.insert(0, switcher)
            switcher.tail, body.text = body.text, None

    def add_lists(self) -> None:
        """Link to the lists of pages that no other link leads to."""
        links = self.plan.lists.get(self.path, [])
        body = self.document.find("body")
        if links and body is not None:
            shown = (f'<a href="{escape(url)}">{escape(name)}</a>' for url, name in links)
            body.append(_division("more", " ".join(shown)))


def _division(name: str, content: str) -> Any:
    return lxml.html.fragment_fromstring(f'<div class="{name}">{content}</div>')

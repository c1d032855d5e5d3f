"""Extract a page's links with their contexts (Barbosa et al. 2011) and their targets' languages.

Sites declare the language of a link's target by `hreflang` or `lang`.  Content management systems
also declare it by class names on the links or list items of a language switcher.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from selectolax.lexbor import LexborHTMLParser, LexborNode

from diptych.kernels.dom_scan import Scanned, ScannedImage
from diptych.text.urls import resolve, resolver
from diptych.types import Link, Url

Attributes = Mapping[str, str | None]

_FEEDS = re.compile(r"rss|atom|\bxml\b|json|oembed", re.IGNORECASE)
# Polylang: lang-item lang-item-54 lang-item-fr; WPML: wpml-ls-item wpml-ls-item-fr
_SWITCHER_CLASS = re.compile(
    r"(?:^|\s)(?:lang-item|wpml-ls-item)-([a-zA-Z]{2,3}(?:[-_][a-zA-Z0-9]{2,8})*)(?=\s|$)"
)
_RELATIONS = re.compile("canonical|alternate|next|prev", re.IGNORECASE)
_NOT_A_LANG = frozenset({"legacy", "first", "last", "current"})
_REFRESH = re.compile(r"""^\s*[\d.]*\s*[;,]?\s*(?:url\s*=)\s*(['"]?)(.+?)\1\s*$""", re.IGNORECASE)
_HEADER_LINK = re.compile(
    r"""<([^<>]*)>((?:\s*;\s*[^\s=;,"]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s;,"]*))?)*)"""
)
_HEADER_PARAMETER = re.compile(
    r""";\s*([^\s=;,"]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?"""
)
_MAX_HEADER = 20_000  # characters; Google accepts some hundred alternates in a header
_NO_ATTRIBUTES: Attributes = {}
_NO_IMAGE = ("", "")
AROUND = 70  # characters on each side of a link: about ten words
MAX_LINKS = 20_000
_MAX_VISITS = 20_000_000  # tags visited for anchor texts; takes 1 s in the worst case
_LINKING = (
    "a[href]:not([href^='#']),area[href],frame[src],iframe[src],link[href],"
    "meta[http-equiv=refresh i]"
)
_SWITCHER_ITEM = "li[hreflang],li[class*=lang],li[class*=wpml],li[class*=translation]"
MAX_CONTEXT = 300  # characters of anchor, alt and src; some sites wrap whole cards in links
_MAX_CLASSES = 4 * MAX_CONTEXT  # characters; a list item may have thousands of links


def fold(text: str) -> str:
    r"""Collapse white space to single spaces.

    >>> fold("  a\n\xa0 b ")
    'a b'
    """
    return " ".join(text.split())


def switcher_lang(own: Attributes, around: Attributes) -> str:
    """The language that a link, or the list item around it, declares for the link's target.

    `own` and `around` are the attributes of the link and of the list item.

    Items of class `no-translation` (Polylang, WPML) lead to the home page and yield no language.

    >>> switcher_lang({"href": "/fr/"}, {"class": "lang-item lang-item-7 lang-item-fr"})
    'fr'
    >>> switcher_lang({"hreflang": "fr"}, {"class": "lang-item no-translation"})
    ''
    """
    declared = own.get("hreflang") or own.get("lang") or around.get("hreflang") or ""
    classes = (own.get("class") or "")[:_MAX_CLASSES]
    if "class" in around:
        classes = f"{classes} {(around['class'] or '')[:_MAX_CLASSES]}"
    return _switcher_lang(declared[:MAX_CONTEXT], classes)


def _switcher_lang(declared: str, classes: str) -> str:
    if not declared and "lang" not in classes and "wpml" not in classes:
        return ""
    if "no-translation" in classes:
        return ""
    if declared.strip():
        return declared.strip()
    named = _SWITCHER_CLASS.findall(classes)
    return next((lang for lang in named if lang not in _NOT_A_LANG), "")


def page_links(parser: LexborHTMLParser, base: str) -> list[Link]:
    """All links of a page in document order, each with its context.

    >>> parser = LexborHTMLParser("<p>Read it <a href=fr/><img src=fr.png alt=Français></a> too.")
    >>> [link[1:] for link in page_links(parser, "http://a.org/")]
    [('a', '', '', 'Read it too.', 'Français', 'fr.png')]
    """
    links: list[Link] = []
    to_url = resolver(base)
    images = _images_in_links(parser)
    has_switcher = parser.css_first(_SWITCHER_ITEM) is not None
    reads = [readable_links(parser.raw_html.count(b"<"))]
    for node in parser.css(_LINKING)[:MAX_LINKS]:
        own = node.attributes
        tag = node.tag
        if tag == "a":
            link = _anchor_link(node, own, to_url, images, reads, has_switcher)
        elif tag == "link":
            link = link_element(base, own)
        elif tag == "meta":
            link = meta_refresh(base, own.get("content") or "")
        else:
            link = _embedded_link(tag, own, base)
        if link is not None:
            links.append(link)
    return links


def readable_links(tags: int) -> int:
    """The number of links with elements in them whose texts are read, on a page with many tags."""
    return _MAX_VISITS // (tags + 1)


def scanned_links(scanned: Scanned, base: str) -> list[Link]:
    """The same as `page_links` for a page that was scanned."""
    links: list[Link] = []
    to_url, new = resolver(base), tuple.__new__
    images = _images_by_link(scanned.images)
    for number, (tag, target, lang, third, fourth, beside) in enumerate(scanned.links):
        if tag == "a":
            url = to_url(target)
            if url is not None:
                alt, source = images.get(number, _NO_IMAGE) if images else _NO_IMAGE
                hreflang = _switcher_lang(lang, third) if lang or third else ""
                links.append(new(Link, (url, "a", hreflang, fourth, beside, alt, source)))
        elif (link := _other_link(tag, target, lang, third, fourth, base)) is not None:
            links.append(link)
    return links


def _other_link(
    tag: str, target: str, lang: str, third: str, fourth: str, base: str
) -> Link | None:
    if tag == "link":
        if not _RELATIONS.search(third):
            return None
        own = {"href": target, "hreflang": lang, "rel": third, "type": fourth}
        return link_element(base, own)
    if tag == "meta":
        return meta_refresh(base, target)
    if tag == "area":
        return _embedded_link(tag, {"href": target, "hreflang": lang, "alt": third}, base)
    return _embedded_link(tag, {"src": target, "hreflang": lang, "title": third}, base)


def _images_by_link(images: Iterable[ScannedImage]) -> dict[int, tuple[str, str]]:
    found: dict[int, tuple[str, str]] = {}
    for image in images:
        if image.link >= 0:
            known = found.get(image.link, _NO_IMAGE)
            found[image.link] = _with_image(known, image.alt, image.address)
    return found


def _anchor_link(
    node: LexborNode,
    own: Attributes,
    to_url: Callable[[str], Url | None],
    images: Mapping[int, tuple[str, str]],
    reads: list[int],
    has_switcher: bool,
) -> Link | None:
    href = own["href"]
    url = to_url(href) if href else None
    if url is None:
        return None
    alt, source = images.get(node.mem_id, _NO_IMAGE) if images else _NO_IMAGE
    around = _item_around(node.parent) if has_switcher else _NO_ATTRIBUTES
    hreflang = switcher_lang(own, around) if around or len(own) > 1 else ""
    return Link(url, "a", hreflang, _inside(node, reads), _beside(node), alt, source)


def _embedded_link(tag: str | None, own: Attributes, base: str) -> Link | None:
    """The link of an image map area or a frame, or None if it has no valid target."""
    target = own.get("href") if tag == "area" else own.get("src")
    url = resolve(base, target) if target and target[0] != "#" else None
    if url is None:
        return None
    hreflang = (own.get("hreflang") or own.get("lang") or "").strip()
    if tag == "area":
        return Link(url, "area", hreflang, alt=fold((own.get("alt") or "")[:MAX_CONTEXT]))
    name = own.get("title") or own.get("name") or ""
    return Link(url, "frame", hreflang, fold(name[:MAX_CONTEXT]))


def _images_in_links(parser: LexborHTMLParser) -> dict[int, tuple[str, str]]:
    """Map the memory address of each link element to the alt texts and URLs of its images."""
    found: dict[int, tuple[str, str]] = {}
    for image in parser.css("a[href] img"):
        link = image.parent
        while link is not None and link.tag != "a":
            link = link.parent
        if link is None:
            continue
        own = image.attributes
        known = found.get(link.mem_id, _NO_IMAGE)
        address = own.get("src") or own.get("data-src") or ""
        found[link.mem_id] = _with_image(known, own.get("alt") or "", address)
    return found


def _with_image(known: tuple[str, str], alt: str, address: str) -> tuple[str, str]:
    """Add an image to the alternative texts and addresses of the images in a link."""
    address = address.strip()
    if address.startswith("data:"):
        address = ""
    texts = f"{known[0]} {fold(alt[:MAX_CONTEXT])}".strip()
    return texts[:MAX_CONTEXT], f"{known[1]} {address}".strip()[:MAX_CONTEXT]


def _item_around(parent: LexborNode | None) -> Attributes:
    """The attributes of the list item around a link, where switchers declare the language."""
    if parent is not None and parent.tag == "span":
        parent = parent.parent
    return parent.attributes if parent is not None and parent.tag == "li" else _NO_ATTRIBUTES


def _inside(link: LexborNode, reads: list[int]) -> str:
    """The anchor text of a link.

    `reads` holds one number, which decreases with each link that contains elements.  Once it is 0,
    such links are no longer read, and their anchor text is empty.
    """
    inner = link.first_child
    if inner is None:
        return ""
    if inner.next is None and inner.is_text_node:
        text = inner.text_content or ""
    else:
        reads[0] -= 1
        text = link.text(separator=" ") if reads[0] > 0 else ""
    return " ".join(text[: 4 * MAX_CONTEXT].split())[:MAX_CONTEXT]


def _beside(link: LexborNode) -> str:
    """The text directly before and after a link."""
    before, after = link.prev, link.next
    words = ""
    if before is not None and before.is_text_node:
        words = fold((before.text_content or "")[-2 * AROUND :])[-AROUND:]
    if after is not None and after.is_text_node:
        words = f"{words} {fold((after.text_content or '')[: 2 * AROUND])[:AROUND]}"
    return words.strip()


def link_element(base: str, own: Attributes) -> Link | None:
    """The link of a `link` element whose rel is alternate, canonical, next or prev.

    The result is None for any other element, and for an alternate without hreflang.

    >>> link_element("http://a.org/", {"rel": "alternate", "hreflang": "fr", "href": "fr"}).url
    'http://a.org/fr'
    """
    href = own.get("href")
    relations = (own.get("rel") or "").lower().split()
    if not href or not relations or "stylesheet" in relations:
        return None
    hreflang = (own.get("hreflang") or own.get("lang") or "").strip()
    if "canonical" in relations:
        rel, hreflang = "canonical", ""
    elif "alternate" in relations:
        if not hreflang or _FEEDS.search(own.get("type") or ""):
            return None
        rel = "alternate"
    elif "next" in relations or "prev" in relations or "previous" in relations:
        rel = "a"
    else:
        return None
    url = resolve(base, href)
    return Link(url, rel, hreflang) if url else None


def meta_refresh(base: str, content: str) -> Link | None:
    """The link in the content of a refresh meta element or header, or None if it is invalid.

    >>> meta_refresh("http://a.org/", "0; URL='fr/index.html'").url
    'http://a.org/fr/index.html'
    """
    found = _REFRESH.match(content[:4096])
    url: Url | None = resolve(base, found[2]) if found else None
    return Link(url, "refresh") if url else None


def header_links(base: str, value: str) -> Iterator[Link]:
    """Yield the translations and the canonical page that an HTTP `Link` header declares (RFC 8288).

    >>> [link.hreflang for link in header_links("http://a.org/",
    ...     '</fr>; rel="alternate"; hreflang="fr", </a,b>; rel=alternate; hreflang=de')]
    ['fr', 'de']
    """
    for found in _HEADER_LINK.finditer(value[:_MAX_HEADER]):
        attributes: dict[str, str | None] = {"href": found[1]}
        for name, quoted, token in _HEADER_PARAMETER.findall(found[2]):
            attributes.setdefault(name.lower(), re.sub(r"\\(.)", r"\1", quoted) or token)
        link = link_element(base, attributes)
        if link is not None and link.rel in ("alternate", "canonical"):
            yield link

"""URL schemes: the address of each page of a site, and of each list of pages."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import NamedTuple
from urllib.parse import quote

from bench.sites.builder.pages import Pages

__all__ = ["BY_QUERY", "SCHEMES", "Address", "addresses", "list_address"]

SCHEMES = ("dir", "suffix", "dotlang", "null", "query", "qopaque", "slug", "utf8slug", "numeric",
           "subdomain")  # fmt: skip
BY_QUERY = ("query", "qopaque")
"""schemes whose pages are chosen by a query, so that the server needs routes"""

_PAGE_ENDING = re.compile(r"\.(x?html?|shtml)(\.[\w@-]+)?$")
_NOT_IN_NAMES = re.compile(r"[^\w./+@~-]+")
_SEPARATORS = (" - ", " — ", " | ", " :: ", " – ")
_LONGEST_SLUG, _LONGEST_UTF8_SLUG = 80, 60


class Address(NamedTuple):
    """Where a page is."""

    host: str
    """the language whose host it is on; nothing where a site has one host"""
    path: str
    """and query, as in a URL"""
    file: str
    """below the folder of pages"""


def addresses(scheme: str, pages: Pages, pivot: str, rng: Random) -> dict[str, Address]:
    """The address of each page, by its path as shipped."""
    if scheme == "query":
        return _by_number_and_language(pages, rng)
    if scheme == "qopaque":
        numbers = rng.sample(range(1000, 99999), len(pages))
        return {path: _opaque(n) for path, n in zip(sorted(pages), numbers, strict=True)}
    if scheme == "numeric":
        numbers = rng.sample(range(100000, 999999), len(pages))
        return {path: _numeric(n) for path, n in zip(sorted(pages), numbers, strict=True)}
    if scheme in ("slug", "utf8slug"):
        return _by_title(pages, rng, _utf8_slug if scheme == "utf8slug" else _ascii_slug)
    return {path: _named(scheme, _stem(page.key), page.lang, pivot) for path, page in pages.items()}


def list_address(
    scheme: str, site: str, lang: str, pivot: str, *, number: int, overall: int
) -> Address:
    """The address of a list of pages.

    number: of the list among those of its language, from 1; overall: among all of the site.
    """
    if scheme == "query":
        return _queried(lang, f"9{number - 1:04}")
    if scheme == "qopaque":
        return _opaque(200000 + overall)
    if scheme == "numeric":
        return _numeric(10000 + overall)
    name = f"list{number}"
    if scheme in ("slug", "utf8slug"):
        return _slugged(hashlib.md5(f"{site}{lang}{name}".encode()).hexdigest()[:6])
    return _named(scheme, name, lang, pivot)


def _queried(lang: str, number: object) -> Address:
    return Address("", f"/index.php?lang={lang}&id={number}", f"_q/{lang}/{number}.html")


def _opaque(number: int) -> Address:
    return Address("", f"/view.php?doc={number}", f"_q/{number}.html")


def _numeric(number: int) -> Address:
    return Address("", f"/doc/{number}.html", f"doc/{number}.html")


def _slugged(slug: str) -> Address:
    return Address("", f"/{quote(slug)}/", f"{slug}/index.html")


def _named(scheme: str, stem: str, lang: str, pivot: str) -> Address:
    """The address of a page that keeps its name.

    >>> _named("null", "x", "fr", "en").path, _named("null", "x", "en", "en").path
    ('/fr/x.html', '/x.html')
    >>> _named("suffix", "x", "fr", "en").path, _named("dotlang", "x", "fr", "en").path
    ('/x_fr.html', '/x.fr.html')
    >>> _named("subdomain", "x", "fr", "en")
    Address(host='fr', path='/x.html', file='fr/x.html')
    """
    if scheme == "subdomain":
        return Address(lang, f"/{stem}.html", f"{lang}/{stem}.html")
    is_marked = lang != pivot
    name = {
        "dir": f"{lang}/{stem}.html",
        "suffix": f"{stem}_{lang}.html" if is_marked else f"{stem}.html",
        "dotlang": f"{stem}.{lang}.html",
        "null": f"{lang}/{stem}.html" if is_marked else f"{stem}.html",
    }[scheme]
    return Address("", f"/{name}", name)


def _stem(key: str) -> str:
    """The name of a page without its ending.

    >>> _stem("a/b.html"), _stem("a b.html#dup12"), _stem("n0001")
    ('a/b', 'a-b-dup', 'n0001')
    """
    plain, _, copy = key.partition("#dup")
    name = _NOT_IN_NAMES.sub("-", plain)
    if copy:
        name = f"{name.rsplit('.', 1)[0]}-dup.html"
    return _PAGE_ENDING.sub("", name)


def _by_number_and_language(pages: Pages, rng: Random) -> dict[str, Address]:
    keys = sorted({page.key for page in pages.values()})
    rng.shuffle(keys)
    numbers = {key: number for number, key in enumerate(keys, start=1)}
    return {path: _queried(page.lang, numbers[page.key]) for path, page in pages.items()}


def _by_title(pages: Pages, rng: Random, slug_of: Callable[[str], str]) -> dict[str, Address]:
    """Addresses of words of the titles, a number added where two are the same."""
    langs = {page.lang for page in pages.values()}
    endings = {
        lang: _common_endings([p.facts.title for p in pages.values() if p.lang == lang])
        for lang in langs
    }
    order = sorted(pages)
    rng.shuffle(order)
    used: set[str] = set()
    found = {}
    for path in order:
        title = pages[path].facts.title
        for ending in endings[pages[path].lang]:
            title = title.removesuffix(ending)
        first = slug = slug_of(title.strip() or pages[path].key)
        number = 2
        while slug in used:
            slug, number = f"{first}-{number}", number + 1
        used.add(slug)
        found[path] = _slugged(slug)
    return found


def _common_endings(titles: list[str]) -> list[str]:
    """Endings that more than half of the titles have, such as the name of the manual."""
    endings = Counter(
        separator + title.rsplit(separator, 1)[1]
        for title in titles
        for separator in _SEPARATORS
        if separator in title
    )
    return [ending for ending, count in endings.items() if count > 0.5 * len(titles)]


def _ascii_slug(title: str) -> str:
    from unidecode import unidecode

    return _slug(unidecode(title), r"[^a-z0-9]+", _LONGEST_SLUG)


def _utf8_slug(title: str) -> str:
    return _slug(title, r"[^\w]+", _LONGEST_UTF8_SLUG)


def _slug(text: str, between: str, longest: int) -> str:
    r"""Words joined by hyphens.

    >>> _slug("Über uns & mehr", r"[^\w]+", 60)
    'über-uns-mehr'
    """
    words = re.sub(between, "-", text.lower().replace("&", " ")).strip("-")
    return words[:longest].strip("-") or "page"

"""Pairs pages whose URLs differ only in a key: tokens that denote languages (Kit & Ng 2007).

The method needs no list of patterns and no training.  A key is a difference between two URLs that
recurs across the site and separates pages of two languages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from diptych.language.codes import asked_language
from diptych.protocols import SiteView
from diptych.stages.pair.keys.competition import spell_value
from diptych.stages.pair.keys.index import UNKNOWN, build_index
from diptych.stages.pair.keys.linking import LinkedUrls, link
from diptych.stages.pair.keys.mark_meaning import mark_reader
from diptych.stages.pair.shared.page_languages import page_languages
from diptych.text.url_edits import UrlPair
from diptych.types import PagePair, Url


@dataclass(frozen=True, slots=True)
class Keys:
    """Pairs pages whose URLs differ in a key that recurs across the site."""

    tau: float = 0.1
    """minimum share of the site's URLs that a key must link if there is no other evidence for it"""
    fields: tuple[str, ...] = ("host", "path", "file", "query")
    """fields of the URL that are searched for keys"""
    generalise: bool = True
    """True to join weak keys by the common part of their tokens (`06e:06c` becomes `e:c`)"""
    several: bool = True
    """True to allow keys of several tokens (`/en/a_en.html`, `/fr/a_fr.html`)"""
    suppress: bool = True
    """True to suppress false keys by their page languages and language marks; otherwise, only
    `tau` decides"""

    def pair(self, site: SiteView) -> list[PagePair]:
        """Return the page pairs found on a site, strongest first, with `keys` as evidence."""
        langs = page_languages(site)
        found = pair_urls(list(langs.items()), list(site.langs), self)
        return [
            PagePair(Url(pair.left), Url(pair.right), *pair[2:5], evidence="keys") for pair in found
        ]


_DEFAULT = Keys()
PAPER = Keys(fields=("path", "file"), generalise=False, several=False, suppress=False)
"""the settings of the method as published"""


def pair_urls(
    urls: Sequence[tuple[str, str]],
    langs: Sequence[str],
    keys: Keys = _DEFAULT,
) -> list[UrlPair]:
    """Pair URLs, each given with the language of its page ("" if unknown).

    >>> pages = [(f"http://x.org/{lang}/{page}", "") for lang in ("en", "fr") for page in "abc"]
    >>> [(pair.left, pair.right, pair.key) for pair in pair_urls(pages, ["en", "fr"])][0]
    ('http://x.org/en/a', 'http://x.org/fr/a', 'en:fr')
    """
    if len(langs) < 2:
        return []
    # DEVIATION(kit-ng): tokens keep their order unless the keys are chosen as in the paper.
    index = build_index(_numbered(urls, langs), paper=not keys.suppress)
    if len(index.urls) < 2:
        return []
    return _spelled(link(index, keys, mark_reader(langs)), langs)


def _spelled(linked: LinkedUrls, langs: Sequence[str]) -> list[UrlPair]:
    names = (*langs, "")  # the last is for an unknown language
    values = [spell_value(text) for text in linked.values.texts]
    urls, scored, order = linked.index.urls, linked.scored, linked.order
    columns = (column[order].tolist() for column in scored[:7])
    return [
        UrlPair(urls[left], urls[right], names[one], names[two], score, f"{values[a]}:{values[b]}")
        for left, right, one, two, a, b, score in zip(*columns, strict=True)
    ]


def _numbered(urls: Sequence[tuple[str, str]], langs: Sequence[str]) -> list[tuple[str, int]]:
    """Sort the distinct URLs and number their languages; drop those in languages not in `langs`."""
    numbers: dict[str, int | None] = {"": UNKNOWN}
    numbers.update((lang, number) for number, lang in enumerate(langs))
    known: dict[str, int] = {}
    for url, lang in urls:
        if lang not in numbers:
            wanted = asked_language(lang, langs)
            numbers[lang] = numbers[wanted] if wanted else None
        number = numbers[lang]
        if number is not None:
            known[url] = max(number, known.get(url, UNKNOWN))
    return sorted(known.items())

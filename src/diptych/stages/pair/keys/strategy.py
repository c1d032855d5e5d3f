"""Pairing keys: pages whose URLs differ in what stands for their languages (Kit & Ng 2007).

No list of patterns and no training: a key is a difference of two URLs that many URLs of the site
have, and that divides pages of two languages.
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
    """Pairs of pages whose URLs differ in a key that holds for many pages of the site."""

    tau: float = 0.1
    """share of the site's URLs a key must link, where nothing but its power speaks for it"""
    fields: tuple[str, ...] = ("host", "path", "file", "query")
    """fields of the URL that keys are looked for in"""
    generalise: bool = True
    """weak keys are made strong by what their tokens have in common (`06e:06c` is `e:c`)"""
    several: bool = True
    """keys of several tokens at once (`/en/a_en.html`, `/fr/a_fr.html`)"""
    suppress: bool = True
    """false keys are suppressed by a choice over the whole site; else `tau` alone decides"""

    def pair(self, site: SiteView) -> list[PagePair]:
        """Pairs, strongest first, with the evidence `keys`."""
        langs = page_languages(site)
        found = pair_urls(list(langs.items()), list(site.langs), self)
        return [
            PagePair(Url(pair.left), Url(pair.right), *pair[2:5], evidence="keys") for pair in found
        ]


_DEFAULT = Keys()
PAPER = Keys(fields=("path", "file"), generalise=False, several=False, suppress=False)
"""the method as published"""


def pair_urls(
    urls: Sequence[tuple[str, str]],
    langs: Sequence[str],
    keys: Keys = _DEFAULT,
) -> list[UrlPair]:
    """Pairs among URLs given with the languages of their pages, or nothing for the language.

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
    names = (*langs, "")  # the last is for a language that is not known
    values = [spell_value(text) for text in linked.values.texts]
    urls, scored, order = linked.index.urls, linked.scored, linked.order
    columns = (column[order].tolist() for column in scored[:7])
    return [
        UrlPair(urls[left], urls[right], names[one], names[two], score, f"{values[a]}:{values[b]}")
        for left, right, one, two, a, b, score in zip(*columns, strict=True)
    ]


def _numbered(urls: Sequence[tuple[str, str]], langs: Sequence[str]) -> list[tuple[str, int]]:
    """Each URL once, in order, with the number of its language; those in other languages gone."""
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

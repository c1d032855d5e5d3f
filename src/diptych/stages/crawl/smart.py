"""Smart bilingual focused crawling: links to likely translations come first.

Garcia-Romero et al., section 4.  The language of a page and the probability that it is a
translation are estimated from URLs alone, so a page is scored before it is downloaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from diptych.language.codes import primary, same_language
from diptych.learn.url import language as url_lang
from diptych.learn.url import pair as url_pair
from diptych.protocols import SiteView, UrlLanguageModel, UrlPairModel
from diptych.stages.crawl.bfs_langs import BfsLangs
from diptych.text.caches import TextMap
from diptych.types import Page, Ranked

_MIN_PRIORITY = 1e-12  # links that both models consider impossible come last, but are followed
_MAX_CACHED = 16_000_000  # bytes of cached probabilities of URLs
_ROW = 600  # bytes per URL
_UNKNOWN = "und"


@dataclass(frozen=True, slots=True)
class Smart(BfsLangs):
    """Prefers links that are likely to lead to a translation, according to two URL models."""

    lang_model: str = ""
    """folder of a URL language model; if empty, the one shipped with the package"""
    pair_model: str = ""
    """folder of a URL pair model; if empty, the one shipped with the package"""

    def rank(self, page: Page, site: SiteView) -> list[Ranked]:
        """Rank the page's links by the probability that they lead to a translation of the page.

        Links on pages in languages that were not requested are ignored.
        """
        links = {ranked.link.url: ranked.link for ranked in BfsLangs.rank(self, page, site)}
        if not links:
            return []
        urls = list(links)
        languages, pairs = _models(self.lang_model, self.pair_model)
        rows = languages.probabilities(urls)
        is_other = other_language(rows, languages.labels, page.lang, site.langs)
        is_parallel = pairs.probabilities([page.url] * len(urls), urls)
        priorities = np.maximum(is_other.astype(np.float64) * is_parallel, _MIN_PRIORITY)
        return [
            Ranked(links[url], priority)
            for url, priority in zip(urls, priorities.tolist(), strict=True)
        ]


def other_language(
    rows: NDArray[np.float32], labels: Sequence[str], lang: str, langs: Sequence[str]
) -> NDArray[np.float32]:
    """The probability that each URL is in a requested language other than `lang`.

    `rows` contains the language probabilities of each URL, with one column per label.  `lang` is
    the language of the linking page, or "" if it is unknown.

    >>> rows = np.array([[0.1, 0.6, 0.3]], np.float32)
    >>> other_language(rows, ("und", "en", "fr"), "en", ("en", "fr")).tolist() == [rows[0, 2]]
    True
    """
    column = {label: place for place, label in enumerate(labels)}
    # A language that the model was not trained on counts as unknown.
    others = {
        column.get(primary(each), column[_UNKNOWN])
        for each in langs
        if not same_language(each, lang)
    }
    chosen = rows[:, sorted(others)]
    # DEVIATION(smart): the paper has two languages; with more, any of the others counts.  On a page
    # without text, such as a frame or a sitemap, which the paper discards, either may come first.
    likely: NDArray[np.float32] = chosen.sum(axis=1) if lang else chosen.max(axis=1)
    return likely


class _CachedLanguageModel:
    """A URL language model with a cache, because pages share most of their links."""

    def __init__(self, model: UrlLanguageModel) -> None:
        self.labels = model.labels
        self._model = model
        self._rows: TextMap[NDArray[np.float32]] = TextMap(_MAX_CACHED, per_entry=_ROW)

    def probabilities(self, urls: Sequence[str]) -> NDArray[np.float32]:
        """The language probabilities of URLs: one row per URL, one column per label."""
        rows = {url: self._rows.get(url) for url in urls}
        new = [url for url, row in rows.items() if row is None]
        if new:
            for url, row in zip(new, self._model.probabilities(new), strict=True):
                rows[url] = self._rows.keep(url, row)
        return np.stack([row for url in urls if (row := rows[url]) is not None])


@lru_cache(maxsize=2)
def _models(lang_folder: str, pair_folder: str) -> tuple[UrlLanguageModel, UrlPairModel]:
    """Load the URL language model and the URL pair model once; all sites share them."""
    known = url_lang.load(lang_folder)
    languages, pairs = _CachedLanguageModel(known), url_pair.load(pair_folder)
    own = languages if pairs.languages is known else _CachedLanguageModel(pairs.languages)
    return languages, replace(pairs, languages=own)

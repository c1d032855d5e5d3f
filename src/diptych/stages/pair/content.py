"""Pairing by content, for pages whose URLs and links give no evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from diptych.protocols import SiteView
from diptych.stages.pair.shared.one_partner import one_partner_each
from diptych.stages.pair.shared.page_languages import page_languages
from diptych.stages.pair.shared.pages_by_language import pages_by_language
from diptych.stages.pair.shared.similarity import Pairs, SideBySide, similarities
from diptych.types import PagePair


@dataclass(frozen=True, slots=True)
class Content:
    """Pairs pages that share rare words, numbers or file names, or translations of words.

    Each page is compared only with the few pages in the other language that have most in common
    with it.  They are found with an inverted index.
    """

    candidates: int = 5
    """number of pages in the other language that each page is compared with"""
    least: float = 0.25
    """minimum similarity of a pair, from 0 to 1"""

    def pair(self, site: SiteView) -> list[PagePair]:
        """Return the page pairs found on a site, strongest first, with `content` as evidence."""
        pages_of = pages_by_language(site, page_languages(site))
        found: list[PagePair] = []
        for left, right in combinations(site.langs, 2):
            sides = SideBySide(pages_of[left], pages_of[right], site.lexicon(left, right))
            pairs = self.similar_pages(sides)
            scores = content_scores(similarities(sides, pairs))
            for one, other, score in zip(*pairs, scores.tolist(), strict=True):
                if score >= self.least:
                    urls = sides.left.urls[one], sides.right.urls[other]
                    found.append(PagePair(*urls, left, right, score, "content"))
        return one_partner_each(found)

    def similar_pages(self, sides: SideBySide) -> Pairs:
        """Pair each page with the most similar pages in the other language, as candidates."""
        return sides.candidates(self.candidates)


def content_scores(measures: Mapping[str, NDArray[np.float32]]) -> NDArray[np.float32]:
    """Combine similarity measures into one score per pair of pages.

    The score is the amount of shared content.  It is reduced if the pages differ in structure, or
    if some blocks are identical on both pages.
    """
    words = np.maximum(measures["shared"], measures["translated"])
    form = (measures["tags"] + np.exp(-2 * measures["sizes"])) / 2
    scores: NDArray[np.float32] = (words * (0.5 + form / 2) * (1 - measures["copied"])).clip(0, 1)
    return scores

"""Breadth first within the languages wanted: Heritrix+CLD2, a baseline of Garcia-Romero et al."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from diptych.language.codes import same_language
from diptych.protocols import SiteView
from diptych.types import FOLLOWED, Page, Ranked

__all__ = ["BfsLangs"]


@dataclass(frozen=True, slots=True)
class BfsLangs:
    """Every link of the pages in the site's languages, nearest to the seeds first."""

    def rank(self, page: Page, site: SiteView) -> Iterator[Ranked]:
        """The page's links one level below it; none of a page in another language."""
        if not _is_wanted(page.lang, site):
            return iter(())
        priority = -float(page.record.depth + 1)
        return (Ranked(link, priority) for link in page.links if link.rel in FOLLOWED)

    def refill(self, site: SiteView) -> tuple[Ranked, ...]:
        """Nothing: the crawl ends with its links."""
        return ()


def _is_wanted(lang: str, site: SiteView) -> bool:
    # DEVIATION(smart): the paper discards what is identified as neither language.  A page with too
    # little text to tell is followed here: frames and pages to choose a language at have none.
    return not lang or any(same_language(lang, wanted) for wanted in site.langs)

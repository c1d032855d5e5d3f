"""Breadth first within the languages wanted: Heritrix+CLD2, a baseline of Garcia-Romero et al."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from diptych.language.codes import same_language
from diptych.protocols import SiteView
from diptych.stages.crawl.bfs import Bfs
from diptych.types import Page, Ranked


@dataclass(frozen=True, slots=True)
class BfsLangs(Bfs):
    """Every link of the pages in the site's languages, nearest to the seeds first."""

    def rank(self, page: Page, site: SiteView) -> Iterable[Ranked]:
        """The page's links one level below it; none of a page in another language."""
        # DEVIATION(smart): the paper discards what is identified as neither language.  A page with
        # too little text to tell is followed here: frames and pages to choose a language at have
        # none.
        is_wanted = not page.lang or any(same_language(page.lang, lang) for lang in site.langs)
        return Bfs.rank(self, page, site) if is_wanted else ()

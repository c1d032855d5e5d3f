"""Breadth-first order in the requested languages: Heritrix+CLD2 of Garcia-Romero et al."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from diptych.language.codes import same_language
from diptych.protocols import SiteView
from diptych.stages.crawl.bfs import Bfs
from diptych.types import Page, Ranked


@dataclass(frozen=True, slots=True)
class BfsLangs(Bfs):
    """Follows every link of pages in the requested languages, nearest to the seeds first."""

    def rank(self, page: Page, site: SiteView) -> Iterable[Ranked]:
        """Rank links one level below their page, if that page is in a requested language."""
        # DEVIATION(smart): the paper discards pages identified as neither language.  Here, pages
        # with too little text to identify are followed: frames and language selection pages have
        # none.
        is_wanted = not page.lang or any(same_language(page.lang, lang) for lang in site.langs)
        return Bfs.rank(self, page, site) if is_wanted else ()

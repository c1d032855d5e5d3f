"""Breadth-first crawling in the requested languages: Heritrix+CLD2 in Garcia-Romero et al."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from diptych.language.codes import same_language
from diptych.protocols import SiteView
from diptych.stages.crawl.bfs import Bfs
from diptych.types import Page, Ranked


@dataclass(frozen=True, slots=True)
class BfsLangs(Bfs):
    """Follows links on pages in the requested languages, in order of distance from the seeds."""

    def rank(self, page: Page, site: SiteView) -> Iterable[Ranked]:
        """Rank the links on the page unless it is in a language that was not requested."""
        # DEVIATION(smart): the paper discards pages identified as neither language.  Here, links on
        # pages with too little text for identification are followed, because frames and language
        # selection pages have hardly any text.
        is_wanted = not page.lang or any(same_language(page.lang, lang) for lang in site.langs)
        return Bfs.rank(self, page, site) if is_wanted else ()

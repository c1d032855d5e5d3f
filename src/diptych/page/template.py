"""Template of a site: blocks that many pages have; the rest of a page is its own text."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set

from diptych.types import Url

# Blocks on more pages than these are the template: they say nothing of one page.  Not fewer, since
# a page may have many variants (orders, filters, sessions) that all have its text.
_TEMPLATE_SHARE, _MIN_TEMPLATE = 0.25, 4  # of the pages of a language, and a number of them
_SAME_TEXT = 0.8  # of the letters of two pages, shared by both; counters and teasers may differ

Blocks = Sequence[tuple[int, float]]
"""for each block of a page a hash of its text, and its length in letters, as in a sketch"""


class Template:
    """The blocks of the pages of a site, counted for each language: each has its template."""

    def __init__(self, max_blocks: float = math.inf) -> None:
        self._room = max_blocks
        self._spread: defaultdict[str, Counter[int]] = defaultdict(Counter)
        self.pages: Counter[str] = Counter()
        """pages of each language that were counted"""

    def add(self, lang: str, blocks: Blocks) -> None:
        """Count the blocks of a page, if there is room for them."""
        if self._room > 0:
            spread = self._spread[lang]
            before = len(spread)
            spread.update(dict(blocks).keys())
            self._room -= len(spread) - before
            self.pages[lang] += 1

    def own(self, lang: str, blocks: Blocks) -> Mapping[int, float]:
        """The blocks of a page that are its own; all blocks of one that is only template."""
        spread, lengths = self._spread[lang], dict(blocks)
        most = max(_TEMPLATE_SHARE * self.pages[lang], _MIN_TEMPLATE)
        return {hash: size for hash, size in lengths.items() if spread[hash] <= most} or lengths


def own_texts(
    pages: Iterable[tuple[Url, Blocks]], lang_of: Callable[[Url], str], wanted: Set[Url]
) -> dict[Url, Mapping[int, float]]:
    """The blocks of some pages that are their own; all blocks of one that is only template.

    `pages` are all pages of the site.  Wanted pages without text are left out.
    """
    template = Template()
    blocks_of: dict[Url, Blocks] = {}
    for url, blocks in pages:
        template.add(lang_of(url), blocks)
        if url in wanted and blocks:
            blocks_of[url] = blocks
    return {url: template.own(lang_of(url), blocks) for url, blocks in blocks_of.items()}


def is_same_text(one: Mapping[int, float], other: Mapping[int, float]) -> bool:
    """True if two pages have nearly the same blocks, by their length.

    A block without letters (numbers, symbols) counts as one letter.

    >>> is_same_text({1: 90.0, 2: 5.0}, {1: 90.0, 3: 6.0}), is_same_text({1: 90.0}, {2: 90.0})
    (True, False)
    """
    both = {**one, **other}
    shared = sum(max(1.0, length) for hash, length in one.items() if hash in other)
    return shared >= _SAME_TEXT * sum(max(1.0, length) for length in both.values())

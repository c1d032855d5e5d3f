"""Separate a site's template, the blocks that many pages share, from the text of its pages."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import NamedTuple

from diptych.types import Page, Url

# Blocks on more pages than this belong to the template and do not characterise a page.  The limits
# are not lower because a page may have many variants (sort orders, filters, sessions).
_TEMPLATE_SHARE, _MIN_TEMPLATE = 0.25, 4  # share of the pages of a language, and number of pages
_SAME_TEXT = 0.8  # share of letters that two pages have in common; counters and teasers may differ

Blocks = Sequence[tuple[int, float]]
"""for each block of a page, the hash of its text and its length in letters, as in a sketch"""


class EncodedPage(NamedTuple):
    """The links and the sketch of a page as a store keeps them (`run.encoding`)."""

    links: str
    sketch: bytes
    """empty if there is no sketch"""
    blocks: Blocks
    """the blocks of the sketch"""


def block_keys(page: Page) -> Blocks | None:
    """The blocks of a page as in its sketch, which may be encoded; None if it has no sketch."""
    encoded: EncodedPage | None = page.encoded
    if encoded is not None:
        return encoded.blocks if encoded.sketch else None
    return None if page.sketch is None else page.sketch.blocks


class Template:
    """Counts the pages that contain each block, by language, to find a site's templates."""

    def __init__(self, max_blocks: float = math.inf) -> None:
        self._room = max_blocks
        self._spread: defaultdict[str, Counter[int]] = defaultdict(Counter)
        self.pages: Counter[str] = Counter()
        """number of counted pages for each language"""

    def add(self, lang: str, blocks: Blocks) -> None:
        """Add the blocks of a page to the counts for its language.

        Once `max_blocks` has been reached, further pages are ignored.
        """
        if self._room > 0:
            spread = self._spread[lang]
            before = len(spread)
            spread.update(dict(blocks).keys())
            self._room -= len(spread) - before
            self.pages[lang] += 1

    def own(self, lang: str, blocks: Blocks) -> Mapping[int, float]:
        """Map the hashes of a page's blocks outside the template to the lengths of the blocks.

        If all blocks belong to the template, the result contains all of them.
        """
        spread, lengths = self._spread[lang], dict(blocks)
        most = max(_TEMPLATE_SHARE * self.pages[lang], _MIN_TEMPLATE)
        return {hash: size for hash, size in lengths.items() if spread[hash] <= most} or lengths


def own_texts(
    pages: Iterable[tuple[Url, Blocks]], lang_of: Callable[[Url], str], wanted: Set[Url]
) -> dict[Url, Mapping[int, float]]:
    """Map each wanted page to its blocks outside the template, or to all blocks if there are none.

    `pages` are all pages of the site.  Wanted pages without text are omitted.
    """
    template = Template()
    blocks_of: dict[Url, Blocks] = {}
    for url, blocks in pages:
        template.add(lang_of(url), blocks)
        if url in wanted and blocks:
            blocks_of[url] = blocks
    return {url: template.own(lang_of(url), blocks) for url, blocks in blocks_of.items()}


def is_same_text(one: Mapping[int, float], other: Mapping[int, float]) -> bool:
    """True if two pages have nearly the same blocks, weighted by length.

    Each page is a mapping from the hashes of its blocks to their lengths in letters.

    A block without letters (numbers, symbols) counts as one letter.

    >>> is_same_text({1: 90.0, 2: 5.0}, {1: 90.0, 3: 6.0}), is_same_text({1: 90.0}, {2: 90.0})
    (True, False)
    """
    both = {**one, **other}
    shared = sum(max(1.0, length) for hash, length in one.items() if hash in other)
    return shared >= _SAME_TEXT * sum(max(1.0, length) for length in both.values())

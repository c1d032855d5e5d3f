"""The links of a site as numbers of distinct links, because most links recur on many pages."""

from __future__ import annotations

from array import array
from collections import defaultdict
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from diptych.protocols import SiteView
from diptych.stages.pair.shared.memory import computed_once
from diptych.types import Link, Url

_Key = tuple[Url, str, str, str, str]


@dataclass(frozen=True, slots=True, eq=False)
class SiteLinks:
    """All links of a site, in the order of `SiteView.links`."""

    distinct: tuple[Link, ...]
    """distinct links, without `around` and `src`"""
    pages: tuple[Url, ...]
    """distinct pages that have links"""
    link: NDArray[np.int32]
    """for each link, its number in `distinct`"""
    page: NDArray[np.int32]
    """for each link, the number of its page in `pages`"""

    def of_kinds(self, is_wanted: NDArray[np.bool_]) -> list[tuple[Url, int]]:
        """The page and number of each link whose distinct link is wanted, in order.

        Repetitions of a link on a page are left out.
        """
        at = np.flatnonzero(is_wanted[self.link])
        found = zip(self.page[at].tolist(), self.link[at].tolist(), strict=True)
        return [(self.pages[page], link) for page, link in dict.fromkeys(found)]


def site_links(site: SiteView) -> SiteLinks:
    """Read all links of a site; they are read once for all pairers of a view."""
    return computed_once(site, "distinct links", lambda: _read(site))


def _read(site: SiteView) -> SiteLinks:
    numbers: defaultdict[_Key, int] = defaultdict(count().__next__)  # the number of a new link
    pages: defaultdict[Url, int] = defaultdict(count().__next__)
    link_of, page_of = array("i"), array("i")
    for page, (url, rel, hreflang, anchor, _, alt, _) in site.links():
        link_of.append(numbers[url, rel, hreflang, anchor, alt])
        page_of.append(pages[page])
    return SiteLinks(
        tuple(Link(*key[:4], alt=key[4]) for key in numbers),
        tuple(pages),
        np.frombuffer(link_of, np.int32) if link_of else np.zeros(0, np.int32),
        np.frombuffer(page_of, np.int32) if page_of else np.zeros(0, np.int32),
    )

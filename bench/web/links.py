"""Who cites whom in the simulated web: the links that lead from one site to another.

Only pages that cite other sites are here, in rows; all other pages exist as functions only.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from bench.web.sites import NONE, PLATFORMS, Assumptions, Ints, Role, Sites

FIELDS = 4  # where a cited site is drawn from: the community, the topic, the region, everywhere


class Sort(IntEnum):
    """What a citing page is."""

    LIST = 0
    ARTICLE = 1
    SIDEBAR = 2
    EVERYTHING = 3


REACH = np.array([[0.60, 0.12, 0.13, 0.15], [0.30, 0.10, 0.10, 0.50], [0.50, 0.10, 0.20, 0.20],
                  [0.00, 0.00, 0.00, 1.00]])  # fmt: skip
"""for each sort of page the share of its links that stay in the community, the topic, the region"""


@dataclass(frozen=True, slots=True)
class Citations:
    """The citing pages in order of site and number, and the links of each."""

    site: Ints
    number: Ints
    """of the page within its site; lists of links come after all other pages

    Number 0 is the home page; what it cites is in a sidebar that all pages of the site have.
    """
    sort: Ints
    first: Ints
    """where the links of each page begin, and where those of the last one end"""
    target: Ints
    target_number: Ints
    target_lang: Ints
    """the page a link leads to: of which site, which page of it, in which of its languages"""
    lists: Ints
    """for each site, how many pages of links it has"""
    by_target: Ints
    """links in order of the site they lead to"""
    target_first: Ints
    """where the links to each site begin in that"""
    site_first: Ints
    """where the citing pages of each site begin"""

    def page_of(self, link: int) -> int:
        """The row of the page that has a link."""
        return int(np.searchsorted(self.first, link, side="right")) - 1

    def row(self, site: int, number: int) -> int | None:
        """The row of a page, if it cites anything."""
        start, end = int(self.site_first[site]), int(self.site_first[site + 1])
        row = start + int(np.searchsorted(self.number[start:end], number))
        return row if row < end and self.number[row] == number else None


def make_citations(sites: Sites, seed: int, assumed: Assumptions) -> Citations:
    """All links between sites, always the same for one seed."""
    random = np.random.default_rng([seed, 2])
    lists = _list_counts(sites, random, assumed)
    site, number, sort, degree = _citing_pages(sites, lists, random, assumed)
    order = np.lexsort((number, site))
    site, number, sort, degree = site[order], number[order], sort[order], degree[order]
    page = np.repeat(np.arange(len(site)), degree)
    target = _targets(sites, site[page], sort[page], random, assumed)
    fine = target != site[page]
    key = np.unique(page[fine] * len(sites) + target[fine])
    page, target = key // len(sites), key % len(sites)
    shuffled = np.lexsort((random.random(len(page)), page))
    page, target = page[shuffled], target[shuffled]
    target_number, target_lang = _target_pages(sites, site[page], target, random, assumed.minded)
    by_target = np.argsort(target, kind="stable")
    return Citations(
        site, number, sort, np.searchsorted(page, np.arange(len(site) + 1)),
        target, target_number, target_lang, lists, by_target,
        np.searchsorted(target[by_target], np.arange(len(sites) + 1)),
        np.searchsorted(site, np.arange(len(sites) + 1)),
    )  # fmt: skip


def _list_counts(sites: Sites, random: np.random.Generator, assumed: Assumptions) -> Ints:
    """How many pages of links each site has."""
    count = len(sites)
    ordinary = (random.random(count) < assumed.listing) * random.geometric(0.7, count)
    directory = 5 + random.poisson(10, count)
    general = 60 + random.poisson(40, count)
    return np.select(
        [sites.role <= Role.BLOG, sites.role == Role.DIRECTORY, sites.role == Role.GENERAL],
        [ordinary, directory, general],
        default=0,
    )


def _citing_pages(
    sites: Sites, lists: Ints, random: np.random.Generator, assumed: Assumptions
) -> tuple[Ints, Ints, Ints, Ints]:
    """Site, number, sort and number of links of each citing page."""
    everyone = np.arange(len(sites))
    is_site = sites.role <= Role.BLOG
    is_blog = sites.role == Role.BLOG
    articles = np.minimum(random.poisson(np.where(is_blog, 12, 2)) * is_site, sites.size - 1)
    sidebars = random.random(len(sites)) < np.where(is_blog, assumed.rolls, assumed.partners)
    homes = everyone[is_site & sidebars]

    list_site = np.repeat(everyone, lists)
    list_number = sites.size[list_site] + _counted(lists)
    article_site = np.repeat(everyone, articles)
    offset = random.integers(0, 1 << 30, len(sites))[article_site]
    article_number = 1 + (offset + _counted(articles)) % (sites.size[article_site] - 1)

    length = np.clip(random.lognormal(np.log(16), 0.7, len(list_site)), 4, 120).astype(np.int64)
    big = sites.role[list_site] >= Role.DIRECTORY
    length = np.where(big, np.maximum(length, random.integers(15, 50, len(length))), length)
    sort = np.where(sites.role[list_site] == Role.GENERAL, Sort.EVERYTHING, Sort.LIST)
    parts = [
        (list_site, list_number, sort, length),
        (article_site, article_number, np.full(len(article_site), Sort.ARTICLE),
         random.integers(1, 4, len(article_site))),
        (homes, np.zeros(len(homes), np.int64), np.full(len(homes), Sort.SIDEBAR),
         np.where(is_blog[homes], random.integers(5, 21, len(homes)),
                  random.integers(1, 6, len(homes)))),
    ]  # fmt: skip
    site, number, sort, degree = (np.concatenate(column) for column in zip(*parts, strict=True))
    return site, number, sort, degree


def _counted(counts: Ints) -> Ints:
    """0, 1, 2 ... for each count, one after the other.

    >>> _counted(np.array([2, 0, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    return np.arange(int(counts.sum())) - starts


class _Field:
    """Draws sites by popularity from among those of one group."""

    def __init__(self, group: Ints, popularity: NDArray[np.float64]) -> None:
        self._order = np.argsort(group, kind="stable")
        weights = np.concatenate([[0.0], np.cumsum(popularity[self._order])])
        self._weights = weights
        bounds = np.searchsorted(group[self._order], np.arange(int(group.max()) + 2))
        self._low, self._high = weights[bounds[:-1]], weights[bounds[1:]]

    def draw(self, group: Ints, random: np.random.Generator) -> Ints:
        """A site of each of some groups."""
        low, high = self._low[group], self._high[group]
        place = low + random.random(len(group)) * (high - low)
        found = np.searchsorted(self._weights, place, side="right") - 1
        drawn: Ints = self._order[np.minimum(found, len(self._order) - 1)]
        return drawn


def _targets(
    sites: Sites, source: Ints, sort: Ints, random: np.random.Generator, assumed: Assumptions
) -> Ints:
    """A site for each link: by popularity, and rather one in the language of the page."""
    popularity = np.minimum(random.pareto(1.6, len(sites)) + 1.0, 300.0)
    popularity[-PLATFORMS:] = 0.0
    groups = [sites.community, sites.topic, sites.region, np.zeros(len(sites), np.int64)]
    fields = [_Field(group, popularity) for group in groups]
    steps = np.cumsum(REACH, axis=1)[sort]
    chosen = (random.random(len(source))[:, None] >= steps).sum(axis=1).clip(max=FIELDS - 1)

    def draw() -> Ints:
        target = np.zeros(len(source), np.int64)
        for number, field in enumerate(fields):
            mine = chosen == number
            target[mine] = field.draw(groups[number][source[mine]], random)
        return target

    target = draw()
    lang = sites.langs[source, 0]
    foreign = (sites.langs[target] != lang[:, None]).all(axis=1)
    again = foreign & (random.random(len(source)) < assumed.homophily)
    return np.where(again, draw(), target)


def _target_pages(
    sites: Sites, source: Ints, target: Ints, random: np.random.Generator, minded: float
) -> tuple[Ints, Ints]:
    """The page of a site a link leads to: mostly home, often in the reader's language."""
    count = len(target)
    deep = random.random(count) < 0.2
    number = np.where(deep, 1 + random.integers(0, 1 << 30, count) % (sites.size[target] - 1), 0)
    same = sites.langs[target] == sites.langs[source, 0][:, None]
    known = same.any(axis=1) & (sites.langs[target, 1] != NONE)
    is_minded = known & (random.random(count) < minded)
    return number, np.where(is_minded, same.argmax(axis=1), 0)

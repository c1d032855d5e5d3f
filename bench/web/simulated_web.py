"""A web of some ten thousand sites and a million pages that exists only as functions.

Nothing of a page is kept: its HTML is computed from the seed and the URL when it is asked for.
Who cites whom is held in a few arrays that are built at the start.  The class is a source of back
links as well, as the `link:` operator of search engines was: it names pages that link to a site,
in no order that means anything.

Hosts are made up; nothing here is ever fetched from the web.

What is assumed, and where it comes from (Barbosa et al. 2011 is "the paper").  It was chosen before
any crawl policy was run, but for two mistakes that first runs showed: lists of links had no
switchers, and hardly any link left its site, since sidebars were on home pages only.

| assumption | value | source |
|---|---|---|
| bilingual en-es sites | 9% of sites | guess; the paper finds 3.9 per 100 pages unguided |
| topics with more of them | travel x2.5, translation x4, courses x2 | paper: travel, translators |
| domains with more of them | .es .mx .cr .pe by region, .com | paper: country domains tell |
| sites from Spanish-speaking regions | 35% | guess: the part of the web that seeds lie in |
| scatter of shares between communities | lognormal, 0.4 | guess |
| communities: topic x region | 204, of 1 to 5% of the sites | guess; co-citation: paper |
| pages of links | 25% of sites have some, of 16 links (median) | guess; their names: paper |
| lists with a URL that does not say so | 25% | guess |
| directories of a community | 1.5% of sites, 15 pages of 15 to 50 links | guess |
| directories of everything | 0.15% of sites, 100 pages, at random | guess |
| blogs, and articles that cite 1 to 3 sites | 10% of sites; 12 and 2 per site | guess |
| links of a list that stay in its community | 60%, 12% topic, 13% region, 15% anywhere | guess |
| links of an article | 30%, 10%, 10%, 50% | guess |
| readers' language | half of the links to sites without it are drawn again | guess |
| links to the version in that language | 60% of those to sites that have it | guess |
| links to a page that is not home | 20% | guess |
| popularity of sites | Pareto, exponent 1.6 | guess, near what is known of in-degrees |
| words of another topic or region in hosts, URLs, anchors | 30% (varied) | guess |
| lists that say in which languages a site is | 5% of links to such sites | guess |
| other pairs of languages | 8% of sites | guess |
| look-alikes: missing version, translator, not translated | 2%, 3%, 1.5% of sites | guess |
| schools that list languages they teach | half of those in English or Spanish | guess |
| no switcher | 7% of sites in several languages | paper: 14% are not found by all links |
| switchers: names, codes, flags, phrases, hreflang | 36, 18, 22, 12, 12% | guess; flags: paper |
| links on every page of a site | 90% of blogs: 5 to 20, half of others: 1 to 5 | guess |
| platforms that everybody links to | 12; 0 to 4 on every page of a site | guess |
| links that leave the site | some 15% of all | from the three above; web graphs: 20 to 25% |
| links of a page within its site | about 29 | paper, Table 1, threshold 0 |
| pages of a site | lognormal, median 24 in each language | guess |
| seeds | home pages of sites from Spanish-speaking regions, at random | paper: dmoz |
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from random import Random

import numpy as np

from bench.web.addresses import Place, make_addresses, mix
from bench.web.links import make_citations
from bench.web.pages import TECHNICAL, Pages
from bench.web.sites import (
    NONE,
    REGIONS,
    SPANISH,
    Assumptions,
    Ints,
    Kind,
    Role,
    Scheme,
    facts_of,
    make_sites,
)
from diptych.page.read import read_page
from diptych.text.urls import host_of, site_name
from diptych.types import Link, Response, Url

HTML = (("Content-Type", "text/html; charset=utf-8"),)
NOT_FOUND = b"<!DOCTYPE html><html><body><h1>Not Found</h1></body></html>"


class SimulatedWeb:
    """A web with known bilingual sites."""

    def __init__(
        self, seed: int = 7, sites: int = 30_000, assumed: Assumptions | None = None
    ) -> None:
        self.seed = seed
        self.assumed = assumed or Assumptions()
        self.sites = make_sites(sites, seed, self.assumed)
        self.citations = make_citations(self.sites, seed, self.assumed)
        facts = facts_of(self.sites, self.citations.lists)
        self.addresses = make_addresses(seed, facts, self.assumed.noise)
        self._pages = Pages(self.addresses, self.citations, self.assumed)

    @cached_property
    def pages(self) -> int:
        """How many pages there are."""
        versions = (self.sites.langs != NONE).sum(axis=1)
        return int((self.sites.size * versions + self.citations.lists).sum())

    @cached_property
    def bilingual(self) -> frozenset[str]:
        """The sites that are in English and Spanish, as `site_name` names them."""
        found = np.flatnonzero(self.sites.kind == Kind.BILINGUAL)
        return frozenset(site_name(f"https://{self.sites.hosts[site]}/") for site in found)

    def is_bilingual(self, site: str) -> bool:
        """Whether a site is in English and Spanish."""
        return site in self.bilingual

    def seeds(self, count: int) -> list[Url]:
        """Home pages of sites from regions where Spanish is spoken, at random."""
        spanish = [number for number, name in enumerate(REGIONS) if name in SPANISH]
        plain = self.sites.role <= Role.DIRECTORY
        likely = np.flatnonzero(np.isin(self.sites.region, spanish) & plain)
        chosen = np.random.default_rng([self.seed, 3]).choice(likely, count, replace=False)
        return [self.addresses.url(Place(int(site), 0, 0)) for site in chosen]

    def answer(self, url: str, now: float = 0.0) -> Response:
        """What the server of a URL says."""
        found = self.addresses.find(url)
        if found is None:
            return Response(Url(url), 404, HTML, NOT_FOUND, now)
        if isinstance(found, str):
            return Response(Url(url), 301, (*HTML, ("Location", found)), b"", now)
        return Response(Url(url), 200, HTML, self._pages.html(found), now)

    # -- who links to whom ---------------------------------------------------------------------

    def back_links(self, url: Url, limit: int) -> list[Link]:
        """Pages of other sites that link to the site of a page, with the text of their links."""
        known = self.addresses.find(url)
        if isinstance(known, str):
            known = self.addresses.find(known)
        if not isinstance(known, Place):
            return []
        first = self.citations.target_first
        links = self.citations.by_target[first[known.site] : first[known.site + 1]].tolist()
        links.sort(key=lambda link: mix(self.seed, 12, link))
        return [self._back_link(link) for link in links[:limit]]

    def _back_link(self, link: int) -> Link:
        row = self.citations.page_of(link)
        page = Place(int(self.citations.site[row]), 0, int(self.citations.number[row]))
        shown = self._pages.cited(link)
        return shown._replace(url=self.addresses.url(page), rel="back")

    def out_links(self, url: Url, limit: int) -> Sequence[Link] | None:
        """Nobody knows without fetching."""
        return None

    # -- graph files ---------------------------------------------------------------------------

    def write_graph(self, folder: Path) -> tuple[Path, Path]:
        """Write vertices and edges of the host graph as Common Crawl does; gives the two files.

        Hosts are reversed, without `www.`, in order; edges are in order of both numbers.
        """
        hosts, links = self._host_links()
        names = [_reverse(host) for host in hosts]
        order = sorted(range(len(names)), key=names.__getitem__)
        number = np.empty(len(names), np.int64)
        number[order] = np.arange(len(names))
        edges = np.unique(number[links], axis=0).tolist()
        folder.mkdir(parents=True, exist_ok=True)
        vertices_file = folder / "simulated-host-vertices.txt.gz"
        edges_file = folder / "simulated-host-edges.txt.gz"
        _write(vertices_file, (f"{place}\t{names[old]}\n" for place, old in enumerate(order)))
        _write(edges_file, (f"{left}\t{right}\n" for left, right in edges))
        return vertices_file, edges_file

    def _host_links(self) -> tuple[list[str], Ints]:
        """All hosts, and pairs of them that are linked; the first ones are those of the sites."""
        citations = self.citations
        technical, other = self._technical_links()
        hosts = [*self.sites.hosts, *TECHNICAL, *other.values()]
        place = np.arange(len(self.sites))[:, None].repeat(3, axis=1)
        for extra, (site, lang) in enumerate(other, len(self.sites) + len(TECHNICAL)):
            place[site, lang] = extra
        between = [(site, int(place[site, lang])) for site, lang in other]
        page = np.repeat(np.arange(len(citations.site)), np.diff(citations.first))
        cited = place[citations.target, citations.target_lang]
        return hosts, np.concatenate([
            np.stack([citations.site[page], cited], axis=1), np.array(technical),
            np.array(between), np.array(between)[:, ::-1],
        ])  # fmt: skip

    def _technical_links(self) -> tuple[list[tuple[int, int]], dict[tuple[int, int], str]]:
        """Links to fonts, counters and platforms; and the hosts of sites' other languages."""
        links, other = [], {}
        for site, facts in enumerate(self.addresses.sites):
            links.append((site, len(self.sites) + site % len(TECHNICAL)))
            links.extend((site, each) for each in self._pages.footer(site))
            if facts.scheme == Scheme.HOST:
                for lang in range(1, len(facts.codes)):
                    other[site, lang] = host_of(self.addresses.url(Place(site, lang, 0)))
        return links, other


def check(web: SimulatedWeb, count: int = 300) -> None:
    """Raise if pages are not where they should be, or not in the languages they should be in."""
    random = Random(web.seed)
    for _ in range(count):
        site = random.randrange(len(web.sites))
        facts = web.addresses.sites[site]
        place = Place(site, random.randrange(len(facts.codes)), random.randrange(facts.size))
        url = web.addresses.url(place)
        assert web.addresses.find(url) == place, url
        page = read_page(web.answer(url), depth=0, langs=("en", "es"))
        lang = facts.codes[0 if facts.kind == Kind.UNTRANSLATED else place.lang]
        assert page.lang == lang, (url, page.lang, lang)
        for back in web.back_links(url, 2):
            cited = {site_name(link.url) for link in read_page(web.answer(back.url), depth=0).links}
            assert site_name(url) in cited, (back.url, url)


def _reverse(host: str) -> str:
    """A host as the graph files name it.

    >>> _reverse("www.sol.com.mx")
    'mx.com.sol'
    """
    return ".".join(reversed(host.removeprefix("www.").split(".")))


def _write(file: Path, lines: Iterable[str]) -> None:
    with gzip.open(file, "wt", compresslevel=4, encoding="utf-8") as stream:
        stream.writelines(lines)

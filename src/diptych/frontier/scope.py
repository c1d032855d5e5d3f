"""The scope of a run: maps URLs to sites by the domain, host or folder of the seeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from diptych.text.urls import origin_of, site_name
from diptych.types import Site, Url

SCOPES = ("site", "host", "prefix")
"""extent of a site: its registrable domain; the hosts of its seeds; the folders of its seeds"""


@dataclass(frozen=True, slots=True)
class Scope:
    """Maps each URL to the site it belongs to.

    >>> scope = Scope.of(group([Url("http://example.org/en/a.html")], kind="prefix"), kind="prefix")
    >>> scope.site_of("http://example.org/en/b.html"), scope.site_of("http://example.org/fr/")
    ('example.org/en/', None)
    """

    kind: str
    owners: Mapping[str, str] = field(default_factory=dict)
    """domain, host or folder -> name of its site"""

    @classmethod
    def of(cls, sites: Iterable[Site], *, kind: str = "site") -> Scope:
        """Create the scope that covers these sites with all their seeds."""
        return cls(kind, {unit(seed, kind): site.name for site in sites for seed in site.seeds})

    def site_of(self, url: str) -> str | None:
        """The name of the site that a URL belongs to; None if the URL is outside the scope."""
        if self.kind == "prefix":
            narrowest_first = sorted(self.owners.items(), key=lambda owner: -len(owner[0]))
            return next((name for folder, name in narrowest_first if _in(url, folder)), None)
        return self.owners.get(unit(url, self.kind))


@dataclass(frozen=True, slots=True)
class Anywhere:
    """A scope that covers the whole web: every URL belongs to the site of its domain."""

    def site_of(self, url: str) -> str:
        """The name of the site that a URL belongs to."""
        return site_name(url)


def group(seeds: Iterable[Url], *, kind: str = "site") -> list[Site]:
    """Group seeds into sites by domain, host or folder.

    >>> [site.name for site in group([Url("http://a.org/"), Url("http://fr.a.org/")])]
    ['a.org']
    """
    by_unit: dict[str, list[Url]] = {}
    for seed in seeds:
        by_unit.setdefault(unit(seed, kind), []).append(seed)
    return [Site(name, tuple(dict.fromkeys(urls))) for name, urls in by_unit.items()]


def unit(url: str, kind: str) -> str:
    """The domain, host or folder (depending on `kind`) that identifies the site of a URL."""
    if kind == "site":
        return site_name(url)
    authority = origin_of(url).partition("://")[2]
    if kind == "host":
        return authority
    path = url.partition("://")[2].partition("?")[0]
    return path[: path.rfind("/") + 1]


def _in(url: str, folder: str) -> bool:
    return url.partition("://")[2].startswith(folder)

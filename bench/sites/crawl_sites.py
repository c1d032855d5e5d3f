"""The sites on which crawl policies are compared: real pages under all URL schemes.

    python -m bench.sites.crawl_sites [--sites DIR] [--only NAME...]

builds those that are missing.  Three groups of ten: `full` has two languages, nearly everything
translated; `partial` has two, and about 40% of the pages of one without a counterpart; `third`
has the two languages wanted and three others that are linked as well.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NamedTuple

from bench.sites.built import Builder, add_sites_option, build_variant, site_builder
from bench.support.processes import give_up

GROUPS = ("full", "partial", "third")
HELD = frozenset({"apache2-manual", "aptitude", "eyes17", "gnucash", "scilab"})
"""families that no policy was designed on"""


class CrawlSite(NamedTuple):
    """A site to build: a family of pages under a URL scheme."""

    group: str
    scheme: str
    family: str
    wanted: str
    """the two languages that are mined"""
    others: str = ""
    switcher: str = "home"
    hreflang: bool = False
    drop: str = ""
    """language=share of its pages that is taken out"""
    max_pages: int | None = None
    style: str = "text"

    @property
    def name(self) -> str:
        """The name of its folder.

        >>> CrawlSite("full", "dir", "mplayer", "en,hu").name
        'crawl-full-dir-mplayer'
        """
        return f"crawl-{self.group}-{self.scheme}-{self.family}"

    @property
    def is_held(self) -> bool:
        """Whether no policy was designed on its family."""
        return self.family in HELD

    @property
    def langs(self) -> tuple[str, ...]:
        """The languages that are mined."""
        return tuple(self.wanted.split(","))

    def options(self) -> list[str]:
        """What the builder is told.

        >>> CrawlSite("full", "dir", "mplayer", "en,hu").options()[-5:]
        ['--switcher', 'home', '--switcher-style', 'text', '--only-ok']
        """
        langs = f"{self.wanted},{self.others}" if self.others else self.wanted
        options = ["--family", self.family, "--scheme", self.scheme, "--langs", langs]
        options += ["--switcher", self.switcher, "--switcher-style", self.style, "--only-ok"]
        options += ["--hreflang"] if self.hreflang else []
        options += ["--drop", self.drop] if self.drop else []
        return options + (["--max-pages", str(self.max_pages)] if self.max_pages else [])


# The first languages of a partial site of gnucash or scilab have about 40% of pages that were
# never translated: nothing needs to be taken out.
CRAWL_SITES: tuple[CrawlSite, ...] = (
    CrawlSite("full", "dir", "debian-install-guide", "en,de", switcher="all", hreflang=True),
    CrawlSite("full", "suffix", "mplayer", "en,hu"),
    CrawlSite("full", "dotlang", "gimp-help", "el,it", switcher="none", max_pages=250),
    CrawlSite("full", "null", "lilypond", "es,fr", max_pages=300, style="english"),
    CrawlSite("full", "query", "aptitude", "en,ru", style="code"),
    CrawlSite("full", "qopaque", "debian-install-guide", "en,ko", switcher="none"),
    CrawlSite("full", "slug", "gimp-help", "en,it", switcher="all", hreflang=True, max_pages=250),
    CrawlSite("full", "utf8slug", "apache2-manual", "en,fr"),
    CrawlSite("full", "numeric", "aptitude", "en,nl", switcher="all", style="img"),
    CrawlSite("full", "subdomain", "eyes17", "en,ml", hreflang=True),
    CrawlSite("partial", "dir", "gimp-help", "es,ca", drop="ca=0.4", max_pages=250),
    CrawlSite("partial", "suffix", "gnucash", "de,pt"),
    CrawlSite("partial", "dotlang", "mplayer", "de,cs", switcher="all", hreflang=True,
              drop="cs=0.4"),
    CrawlSite("partial", "null", "debian-install-guide", "en,fr", drop="fr=0.4"),
    CrawlSite("partial", "query", "freedombox", "en,es", switcher="none", drop="es=0.2"),
    CrawlSite("partial", "qopaque", "gnucash", "it,pt", switcher="all", style="code"),
    CrawlSite("partial", "slug", "aptitude", "en,fr", hreflang=True, drop="fr=0.4"),
    CrawlSite("partial", "utf8slug", "debian-install-guide", "en,zh-cn", switcher="none",
              drop="zh-cn=0.4"),
    CrawlSite("partial", "numeric", "lilypond", "ca,ja", drop="ja=0.4", max_pages=300),
    CrawlSite("partial", "subdomain", "scilab", "en,ja", max_pages=300, style="english"),
    CrawlSite("third", "dir", "aptitude", "en,es", "fr,it,nl"),
    CrawlSite("third", "suffix", "debian-install-guide", "en,ro", "ca,el,it", style="img"),
    CrawlSite("third", "dotlang", "apache2-manual", "en,fr", "ja,ko,tr", switcher="all"),
    CrawlSite("third", "null", "gimp-help", "en,es", "de,ja,ru", hreflang=True, max_pages=250),
    CrawlSite("third", "query", "mplayer", "en,fr", "cs,de,hu", switcher="none"),
    CrawlSite("third", "qopaque", "debian-install-guide", "en,id", "da,ja,pt"),
    CrawlSite("third", "slug", "lilypond", "es,de", "fr,it,ja", switcher="all", max_pages=300),
    CrawlSite("third", "utf8slug", "mplayer", "de,ru", "cs,en,fr", hreflang=True),
    CrawlSite("third", "numeric", "aptitude", "en,it", "cs,es,fi", switcher="none"),
    CrawlSite("third", "subdomain", "gimp-help", "en,ca", "el,fr,nn", switcher="all",
              max_pages=250),
)  # fmt: skip


def chosen(names: Sequence[str]) -> list[CrawlSite]:
    """The sites whose names, or parts of them, are given; all if none is."""
    found = [site for site in CRAWL_SITES if not names or any(name in site.name for name in names)]
    if not found:
        give_up(f"no site is named so; available: {', '.join(site.name for site in CRAWL_SITES)}")
    return found


def build_sites(builder: Builder, sites: Sequence[CrawlSite]) -> None:
    """Build the sites that are not there yet."""
    for site in sites:
        build_variant(builder, site.name, site.options())


def main() -> None:
    """Build what is missing."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_sites_option(parser)
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME")
    arguments = parser.parse_args()
    build_sites(site_builder(arguments.sites), chosen(arguments.only))


if __name__ == "__main__":
    main()

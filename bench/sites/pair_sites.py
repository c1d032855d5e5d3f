"""The sites on which pairing is compared: variants under all URL schemes, and opaque ones.

    python -m bench.sites.pair_sites [--sites DIR] [--only NAME...]

builds those that are missing.  `dev-*` are variants of several families under ten URL schemes, some
without 40% of the pages of a language; `opaque-*` have no switcher, declare nothing, and have ids
that two languages do not share.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from bench.sites.built import Builder, add_sites_option, build_variant, site_builder
from bench.support.processes import give_up

__all__ = ["DEV", "OPAQUE", "build_pair_sites", "chosen"]

DEV = {
    "dev-dir-igfr": "--family debian-install-guide --scheme dir --langs en,fr,ja,ru --switcher all"
    " --switcher-style img --hreflang",
    "dev-suffix-mplayer": "--family mplayer --scheme suffix --langs en,de,hu,ru --drop de=0.4",
    "dev-null-gimp": "--family gimp-help --scheme null --langs en,fr,ja,el"
    " --switcher-style english --drop fr=0.4",
    "dev-query-gnucash": "--family gnucash --scheme query --langs en,de,pt,it --switcher all"
    " --switcher-style code",
    "dev-slug-ig": "--family debian-install-guide --scheme slug --langs en,de,zh-cn,ko"
    " --drop de=0.4 --strip-lang-attr",
    "dev-numeric-scilab": "--family scilab --scheme numeric --langs en,ja --only-ok --drop en=0.4"
    " --max-pages 900",
    "dev-subdomain-gimp": "--family gimp-help --scheme subdomain --langs en,es,it --switcher all"
    " --hreflang --drop it=0.4",
    "dev-qopaque-lilypond": "--family lilypond --scheme qopaque --langs en,es --max-pages 700",
    "dev-utf8slug-faq": "--family debian-faq --scheme utf8slug --switcher all",
    "dev-dotlang-igpl": "--family debian-install-guide --scheme dotlang --langs en,vi,ro,el"
    " --relative",
    "dev-slug-gimp": "--family gimp-help --scheme slug --langs en,ca,nn --switcher all"
    " --switcher-style img --only-ok",
    "dev-dir-linux": "--family linux-doc --scheme dir --langs en,zh-cn",
}
"""name -> options of the builder"""
OPAQUE = {
    "opaque-gimp": "--family gimp-help --scheme qopaque --langs en,fr",
    "opaque-gimp-drop": "--family gimp-help --scheme numeric --langs en,es,ja --drop es=0.4",
    "opaque-ig": "--family debian-install-guide --scheme qopaque --langs en,de,ru,zh-cn",
    "opaque-mplayer-drop": "--family mplayer --scheme numeric --langs en,hu,pl --drop hu=0.4",
    "opaque-gnucash": "--family gnucash --scheme qopaque --langs en,it,pt",
    "opaque-lily": "--family lilypond --scheme numeric --langs en,fr --max-pages 700",
    "opaque-scilab": "--family scilab --scheme qopaque --langs en,ja --max-pages 900",
    "opaque-aptitude": "--family aptitude --scheme qopaque --langs en,fr,ja",
}


def kind(name: str) -> str:
    """What a site is for: `opaque`, `deleted` pages, or its `scheme`.

    >>> kind("opaque-gimp-drop"), kind("dev-null-gimp"), kind("dev-dir-linux")
    ('opaque', 'deleted', 'scheme')
    """
    if name in OPAQUE:
        return "opaque"
    return "deleted" if "--drop" in DEV[name] else "scheme"


def chosen(names: Sequence[str]) -> list[str]:
    """The sites that are named; all if none is."""
    every = [*DEV, *OPAQUE]
    if unknown := [name for name in names if name not in every]:
        give_up(f"no site is named {unknown[0]}; available: {', '.join(every)}")
    return [name for name in every if not names or name in names]


def build_pair_sites(builder: Builder, names: Sequence[str]) -> None:
    """Build the sites that are not there yet."""
    for name in names:
        options = DEV[name] if name in DEV else f"{OPAQUE[name]} --switcher none"
        build_variant(builder, name, options.split())


def main() -> None:
    """Build what is missing."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add_sites_option(parser)
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME")
    options = parser.parse_args()
    build_pair_sites(site_builder(options.sites), chosen(options.only))


if __name__ == "__main__":
    main()

"""Build multilingual sites with known page pairs from packages of Debian, once.

    python -m bench.sites.builder list
    python -m bench.sites.builder native mplayer aptitude
    python -m bench.sites.builder variant NAME --family mplayer --scheme slug --langs en,fr

Sites go to `built/` in `$SITES_DIR`, or in a cache folder of the home folder.  A site has

    htdocs/       the pages
    truth.tsv     URL, language, URL, language of each true pair
    groups.tsv    key, language, URL, 0 or 1, state of each page
    meta.json     languages, number of pages, options
    routes.json   queries and redirects, where the scheme needs them

Pages with the same key translate each other.  A pair of them is true if both have a 1, and neither
right nor wrong otherwise.  The states of the others: `short`; `otherlang`, not in its language;
`suspect`, another page has the same numbers and identifiers; `length`, far longer or shorter than
its counterpart.  In a site of several hosts `//fr/x.html` is a path on the host of French.
"""

from __future__ import annotations

import argparse
import importlib.util

from bench.sites.builder.families import FAMILIES, Family
from bench.sites.builder.languages import STYLES
from bench.sites.builder.schemes import SCHEMES
from bench.sites.built import work_folder
from bench.support.processes import give_up

_NEEDED = ("lxml", "pycld2", "unidecode")


def main() -> None:
    """List families or build sites."""
    options = _parser().parse_args()
    if options.command == "list":
        for name, family in FAMILIES.items():
            print(name, ", ".join(family.packages), sep="\t")
        return
    if missing := [name for name in _NEEDED if importlib.util.find_spec(name) is None]:
        give_up(f"there is no {', '.join(missing)}: pip install -r bench/requirements.txt")
    if options.command == "native":
        from bench.sites.builder.native import build_native

        for name in FAMILIES if options.families == ["all"] else options.families:
            _show(build_native(_family(name), work_folder()))
    else:
        _show(_build_variant(options))


def _parser() -> argparse.ArgumentParser:
    about, _, more = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        prog="python -m bench.sites.builder", description=about, epilog=more,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="show families and their packages")
    native = commands.add_parser("native", help="build sites as their authors shipped them")
    native.add_argument("families", nargs="+", metavar="FAMILY", help="or `all`")
    variant = commands.add_parser("variant", help="build a family under a URL scheme")
    variant.add_argument("name")
    variant.add_argument("--family", required=True)
    variant.add_argument("--scheme", choices=SCHEMES, required=True)
    variant.add_argument("--langs", default="", help="languages that are kept (default: all)")
    variant.add_argument("--switcher", choices=("none", "home", "all"), default="home")
    variant.add_argument("--switcher-style", choices=STYLES, default="text")
    variant.add_argument("--hreflang", action="store_true", help="declare translations")
    variant.add_argument("--crosslinks", choices=("strip", "keep"), default="strip",
                         help="links of the pages to other languages")  # fmt: skip
    variant.add_argument("--strip-lang-attr", action="store_true")
    variant.add_argument("--relative", action="store_true", help="links are relative")
    variant.add_argument("--drop", default="", metavar="LANG=SHARE,...",
                         help="leave out a share of the pages of a language")  # fmt: skip
    variant.add_argument("--only-ok", action="store_true", help="leave out untranslated pages")
    variant.add_argument("--max-pages", type=int, metavar="N", help="sample N page keys")
    variant.add_argument("--seed", type=int, default=1)
    return parser


def _build_variant(options: argparse.Namespace) -> dict[str, object]:
    from bench.sites.builder.rewrite import Look
    from bench.sites.builder.variant import Variant, build_variant

    look = Look(
        options.switcher, options.switcher_style, options.hreflang, options.crosslinks,
        options.strip_lang_attr, options.relative,
    )  # fmt: skip
    langs = tuple(lang for lang in options.langs.split(",") if lang)
    drop = {}
    for part in filter(None, options.drop.split(",")):
        lang, _, share = part.partition("=")
        drop[lang] = float(share)
    asked = Variant(
        options.name, _family(options.family), options.scheme, langs, look, drop,
        options.only_ok, options.max_pages, options.seed,
    )  # fmt: skip
    return build_variant(asked, work_folder())


def _family(name: str) -> Family:
    if name not in FAMILIES:
        give_up(f"there is no family {name}: python -m bench.sites.builder list")
    return FAMILIES[name]


def _show(meta: dict[str, object]) -> None:
    counted = [f"{meta[name]} {shown}" for name, shown in _SHOWN.items()]
    print(meta["site"], ", ".join(counted), sep=": ", flush=True)


_SHOWN = {"pages_total": "pages", "truth_pairs": "true pairs", "orphans_listed": "listed"}


if __name__ == "__main__":
    main()

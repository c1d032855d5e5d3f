"""Identification of newly trained languages, and of languages in two scripts.

    python -m bench.tasks.langid [--out bench/results/langid.json]

Lines are messages of programs, from the catalogues of some Debian packages (downloaded once).
`pages` are texts of 320 characters made of such lines, which is the amount that is read of a page.
The learned languages are also tested on pages of the built sites in other languages, which are
manuals: a different kind of text from the training data.

First, known languages are treated as unknown: their columns are dropped and learned again from some
lines of text.  Then follow languages that are really unknown.  The baseline is the identifier
without training.  Exits with 1 if a floor is missed.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from selectolax.lexbor import LexborHTMLParser

from bench.sites.built import built_folder
from bench.support.langid_texts import default_folder, fetch_catalogues, read_lines
from bench.support.machine import machine
from bench.support.processes import give_up
from bench.support.tables import Tables, percent, show
from diptych._version import VERSION
from diptych.language.codes import primary
from diptych.language.identify import fingerprint, identify, is_identifiable, use_learned_languages
from diptych.language.train import pieces_of, train_language
from diptych.page.blocks import Walk
from diptych.page.charset import decode

HELD = 500  # lines that are never learned from
SAMPLE = 100  # lines of each other language
PAGE = 320
LINES = (100, 1000, 5000)
KNOWN: Mapping[str, tuple[str, ...]] = {
    "gl": ("pt", "es", "ca"), "nn": ("nb", "da", "sv"), "oc": ("ca", "fr", "es"),
    "sk": ("cs", "pl", "sl"), "hr": ("bs", "sr@latin", "sl"),
}  # fmt: skip
"""known languages that are trained as if they were unknown, and their neighbours"""
UNKNOWN = {
    "ast": "ast", "fur": "fur", "co": "co", "mai": "mai", "brx": "brx", "doi": "doi", "ab": "ab",
    "gv": "gv", "li": "li", "ia": "ia", "ks": "ks", "be@latin": "be-Latn", "sat": "sat",
    "mni": "mni", "en@shaw": "en-Shaw",
}  # fmt: skip
"""locales of languages that the identifier does not know, and their codes"""
SCRIPTS: Mapping[tuple[str, str], Mapping[str, str]] = {
    ("sr-Cyrl", "sr-Latn"): {"sr": "sr-Cyrl", "sr@latin": "sr-Latn"},
    ("zh-Hans", "zh-Hant"): {"zh_CN": "zh-Hans", "zh_TW": "zh-Hant", "zh_HK": "zh-Hant"},
    ("uz-Latn", "uz-Cyrl"): {"uz": "uz-Latn", "uz@cyrillic": "uz-Cyrl"},
}
FAMILIES = (
    "apache2-manual", "aptitude", "debian-install-guide", "eviacam", "freedombox", "genius",
    "gnucash", "lilypond", "mplayer", "solfege",
)  # fmt: skip
PAGES_OF_SITE = 30  # in each language
# In percent, on pages: of a language taught from 1,000 lines, of its neighbours, of two scripts.
FLOORS = {"told": 98.0, "mistaken": 2.0, "script": 95.0}

Texts = dict[str, list[str]]


def pages_of(lines: Sequence[str], size: int = PAGE) -> list[str]:
    """Lines joined into texts of a given size."""
    found, page = [], ""
    for line in lines:
        page = f"{page}\n{line}"
        if len(page) > size:
            found.append(page[1 : size + 1])
            page = ""
    return found


def labels(texts: Sequence[str], langs: Sequence[str] = ()) -> Counter[str]:
    """The identified languages of texts."""
    found = Counter(
        scores[0].lang if (scores := identify(text, langs, closed=False)) else "-" for text in texts
    )
    return found


def share(texts: Sequence[str], lang: str) -> float:
    """The percentage of texts that are identified as a language."""
    return percent(labels(texts)[lang] / max(len(texts), 1))


def known_languages(lines: Texts, sites: Texts) -> list[dict[str, Any]]:
    """Each known language, removed and trained again from increasing numbers of lines."""
    rows = []
    for lang, near in KNOWN.items():
        held, own = lines[lang][-HELD:], sites.get(lang, [])
        for number in (0, *LINES):
            use_learned_languages(())
            if number:
                train = lines[lang][: min(number, len(lines[lang]) - HELD)]
                use_learned_languages([train_language(lang, pieces_of("\n".join(train))).language])
            rows.append(
                {
                    "language": lang,
                    "taught from lines": len(train) if number else "(as shipped)",
                    "lines told": share(held, lang),
                    "pages told": share(pages_of(held), lang),
                    "its pages of sites told": share(own, lang) if own else "none there",
                    **_mistaken(lines, near, lang),
                    "pages of sites mistaken": _on_sites(sites, lang),
                }
            )
    use_learned_languages(())
    return rows


def _mistaken(lines: Texts, near: Sequence[str], lang: str) -> dict[str, Any]:
    """The share of texts in the worst neighbouring language that are identified as the language."""
    worst = max(near, key=lambda locale: share(lines[locale][-HELD:], lang))
    texts = lines[worst][-HELD:]
    return {
        "worst neighbour": worst,
        "its lines mistaken": share(texts, lang),
        "its pages mistaken": share(pages_of(texts), lang),
    }


def _on_sites(sites: Texts, lang: str) -> float:
    """The percentage of pages in other languages that are identified as the language."""
    others = [text for code, texts in sites.items() if code != primary(lang) for text in texts]
    return share(others, lang)


def unknown_languages(lines: Texts, sites: Texts) -> list[dict[str, Any]]:
    """Languages unknown to the identifier, trained from at most a thousand lines."""
    rows = []
    known = [locale for locale in lines if locale not in UNKNOWN and len(lines[locale]) > SAMPLE]
    for locale, lang in UNKNOWN.items():
        texts = lines[locale]
        count = min(1000, len(texts) * 4 // 5)
        held = texts[count:][:HELD]
        use_learned_languages(())
        before = labels(held).most_common(2)
        result = train_language(lang, pieces_of("\n".join(texts[:count])))
        use_learned_languages([result.language])
        others = [line for other in known for line in lines[other][-SAMPLE:]
                  if primary(other.partition("@")[0]) != primary(lang)]  # fmt: skip
        pages = [page for other in known for page in pages_of(lines[other][-SAMPLE:])
                 if primary(other.partition("@")[0]) != primary(lang)]  # fmt: skip
        rows.append(
            {
                "language": lang,
                "taught from lines": count,
                "before": ", ".join(f"{label} {percent(n / len(held)):.0f}" for label, n in before),
                "lines told": share(held, lang),
                "pages told": share(pages_of(held), lang),
                "said of held lines": percent(result.quality.lines),
                "lines of others mistaken": share(others, lang),
                "pages of others mistaken": share(pages, lang),
                "pages of sites mistaken": _on_sites(sites, lang),
            }
        )
    use_learned_languages(())
    return rows


def two_scripts(lines: Texts) -> list[dict[str, Any]]:
    """Languages that are requested in two scripts."""
    rows = []
    for langs, locales in SCRIPTS.items():
        for locale, lang in locales.items():
            texts = lines[locale][:2000]
            by_line = labels(texts, langs)
            size = PAGE // 2 if lang.startswith("zh") else PAGE
            by_page = labels(pages_of(texts, size), langs)
            rows.append(
                {
                    "asked for": ", ".join(langs),
                    "text": locale,
                    "lines told": percent(by_line[lang] / by_line.total()),
                    "lines in the other script": percent(
                        sum(by_line[each] for each in langs if each != lang) / by_line.total()
                    ),
                    "pages told": percent(by_page[lang] / by_page.total()),
                }
            )
    return rows


def site_texts() -> Texts:
    """The text of pages of some sites, by language."""
    found: Texts = {}
    for family in FAMILIES:
        folder = built_folder() / family
        if not (folder / "groups.tsv").is_file():
            continue
        taken: Counter[str] = Counter()
        for line in sorted((folder / "groups.tsv").read_text("utf-8").splitlines()):
            _, lang, url, is_good, *_ = line.split("\t")
            if is_good == "1" and taken[lang] < PAGES_OF_SITE:
                texts = list(_text_of_page(folder / "htdocs" / unquote(url).lstrip("/")))
                taken[lang] += len(texts)
                found.setdefault(primary(lang), []).extend(texts)
    if not found:
        give_up(f"none of these sites is built: {', '.join(FAMILIES)}; see bench/README.md")
    return found


def _text_of_page(path: Path) -> Iterator[str]:
    if not path.is_file():
        return
    markup = decode(path.read_bytes()[:500_000], "text/html")[0]
    walk = Walk(LexborHTMLParser(markup), "http://localhost/")
    texts = [block.text for block in walk.blocks if len(block.text.encode()) >= 60]
    yield from pages_of(texts[len(texts) // 3 :])[:1]


def missed(tables: Tables) -> list[str]:
    """The floors that are missed."""
    known, unknown, scripts = tables.values()
    taught = [row for row in known if row["taught from lines"] == 1000] + unknown
    return [
        *(f"{row['language']}: too few pages told" for row in taught
          if row["pages told"] < FLOORS["told"]),
        *(f"{row['language']}: too many pages of sites mistaken" for row in taught
          if row["pages of sites mistaken"] > FLOORS["mistaken"]),
        *(f"{row['text']}: the script is not told" for row in scripts
          if row["pages told"] < FLOORS["script"]),
    ]  # fmt: skip


def main() -> int:
    """Measure and print the figures, and save them on request."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    sites, lines = site_texts(), read_lines(fetch_catalogues(default_folder()))
    lines = {locale: list(filter(is_identifiable, texts)) for locale, texts in lines.items()}
    tables: Tables = {
        "Known languages, taught as if they were not": known_languages(lines, sites),
        "Unknown languages, taught": unknown_languages(lines, sites),
        "Two scripts of a language": two_scripts(lines),
    }
    show(tables)
    wrong = missed(tables)
    print("\n".join(wrong))
    if options.out:
        texts = {code: len(texts) for code, texts in sorted(sites.items())}
        result = {
            "signature": f"langid:{fingerprint()}|pages:{sum(texts.values())}|v:{VERSION}",
            "tables": tables,
            "pages of sites": texts,
            "machine": machine(("numpy", "py3langid")),
        }
        options.out.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())

"""`diptych pair`: pairs the URLs in a list without fetching them."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from diptych.api.declare import argument, option
from diptych.api.languages import langs_option, languages
from diptych.commands.declare import command
from diptych.commands.options import as_lines

if TYPE_CHECKING:
    from diptych.commands._url_list import Listed
    from diptych.page.url_list import UrlList
    from diptych.types import Url


@dataclass(frozen=True, kw_only=True)
class PairOptions:
    """Options of `diptych pair`."""

    file: Path = argument("URLS.tsv")
    langs: str = langs_option()
    method: str = option(
        "One or more strategies for the pair stage, joined by +, such as keys+langstrip.",
        default="keys", metavar="NAME",
    )  # fmt: skip
    by_domain: bool = option("Pair the URLs of each registrable domain separately.", default=False)
    model: str = option(
        "URL language model for lines without a language; default: the built-in model.",
        default="", metavar="FOLDER",
    )  # fmt: skip
    as_json: bool = as_lines()


@command(PairOptions)
def pair(asked: PairOptions) -> int:
    """Pair the URLs in a list without fetching them.

    Each line of URLS.tsv is a URL, optionally followed by a tab and its language; - is standard
    input.  Each output line has tab-separated columns: the left URL, the right URL, a score and the
    key.
    """
    from diptych.api.urls import language_model
    from diptych.commands._url_lines import NO_URL, report_skipped, spell, write
    from diptych.commands._url_list import page_languages, read_list, sites_of
    from diptych.language.codes import asked_language
    from diptych.page.url_list import UrlList

    wanted = languages(asked.langs)
    pairer = _pairer(asked.method)
    listed, skipped, repeated = read_list(asked.file)
    is_complete = all(known.lang for known in listed.values())
    model = None if is_complete else language_model(asked.model)
    count, spoken = 0, Counter[str]()
    for name, urls in sites_of(listed, by_domain=asked.by_domain).items():
        spoken_in = page_languages({url: listed[url].lang for url in urls}, wanted, model)
        spoken.update(asked_language(lang.lang, wanted) for lang in spoken_in.values())
        found = list(pairer(UrlList.of(name, spoken_in.items(), wanted)))
        count += len(found)
        write(
            sys.stdout.buffer,
            (spell(_written(row, listed), as_json=asked.as_json) for row in found),
        )
    if repeated:
        were = "URL was" if repeated == 1 else "URLs were"
        click.echo(f"{repeated:,} {were} listed more than once", err=True)
    if report_skipped(skipped, len(listed), NO_URL) == 0 and not count:
        click.echo(_why_none(spoken, wanted), err=True)
    return 0 if count else 1


def _why_none(spoken: Counter[str], wanted: Sequence[str]) -> str:
    from diptych.reports.reasons import counted

    each = ", ".join(f"{spoken[lang]:,} in {lang}" for lang in wanted)
    return f"nothing found: no pairs among {counted(spoken.total(), 'URL')} ({each})"


def _pairer(method: str) -> Callable[[UrlList], Iterator[dict[str, Any]]]:
    """Return a function that pairs a list of URLs, and yields each pair with its evidence."""
    from diptych.registry import make

    made = make("pair", _settings(method))
    if method != "keys":
        return lambda site: (_row(pair, pair.evidence) for pair in made.pair(site))
    from diptych.stages.pair.keys.strategy import pair_urls

    return lambda site: (
        _row(pair, pair.key)
        for pair in pair_urls([(url, page.lang) for url, page in site.pages.items()], site.langs)
    )


def _settings(method: str) -> dict[str, Any]:
    """The recipe table for a pairing method; `a+b` means the union of two methods."""
    if "+" not in method:
        return {"use": method}
    return {"use": "union", "pairers": [{"use": name} for name in method.split("+")]}


def _row(pair: Any, key: str) -> dict[str, Any]:
    return {"left": pair.left, "right": pair.right, "score": float(pair.score), "key": key}


def _written(row: dict[str, Any], listed: dict[Url, Listed]) -> dict[str, Any]:
    """Replace the normalised URLs of a pair with their original spellings in the list."""
    return row | {side: listed[row[side]].written for side in ("left", "right")}

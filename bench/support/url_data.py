"""The labelled URLs of the benchmarks, split by domain, and models learned from them."""

from __future__ import annotations

import argparse
import gzip
from collections.abc import Callable, Iterable
from pathlib import Path

from bench.support.paths import SHARED
from bench.support.processes import give_up
from bench.training.concepts import (
    Phrase,
    learn_concepts,
    slug_phrases,
    slug_words,
    spellings,
    stem,
    used_words,
)
from bench.training.cross_fitting import Knowledge, Learn
from diptych.language.marks import LANGUAGES
from diptych.learn.url import language as url_lang
from diptych.learn.url.data import LabelledPair, LabelledUrl, fold_of, read_urls
from diptych.protocols import UrlLanguageModel
from diptych.text.urls import site_name

TEST = 0.2  # of the domains
WMT16 = "wmt16-train"
_LANG_SEED = 7919  # the trainer holds out domains by its seed: other ones than the test's


def options(about: str) -> argparse.ArgumentParser:
    """Add the options `--data` and `--phrases`."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument(
        "--data", type=Path, default=SHARED / "data", help="folder with url_pairs.tsv.gz"
    )
    parser.add_argument(
        "--phrases",
        type=Path,
        help="phrases of tools/phrases.py; without them words are learned from slugs alone",
    )
    return parser


def check(arguments: argparse.Namespace) -> None:
    """Exit with a clear message if data are missing."""
    if not (arguments.data / "url_pairs.tsv.gz").is_file():
        give_up(f"no url_pairs.tsv.gz in {arguments.data}: say where it is with --data")
    if arguments.phrases and not arguments.phrases.is_file():
        give_up(f"no file {arguments.phrases}: make it with tools/phrases.py, or leave it out")


def sources(folder: Path) -> dict[tuple[str, str], str]:
    """For each pair of URLs, the tier of its label: the last word of its source."""
    with gzip.open(folder / "url_pairs.tsv.gz", "rt", encoding="utf-8") as stream:
        rows = (line.rstrip("\n").split("\t") for line in stream)
        return {(row[1], row[3]): row[5].split()[-1] for row in rows}


def split(
    rows: Iterable[LabelledPair], tiers: dict[tuple[str, str], str]
) -> tuple[list[LabelledPair], list[LabelledPair], set[str]]:
    """Training rows, test rows (a fifth of the domains and all of WMT16's), and WMT16's domains."""
    rows = list(rows)
    wmt16 = {row.domain for row in rows if tiers.get((row.url_a, row.url_b)) == WMT16}
    test = [row for row in rows if row.domain in wmt16 or fold_of(row.domain) < TEST]
    tested = {row.domain for row in test}
    # A pair may lead from one site to another (`agoda.com`, `agoda.hu`): both must be unseen.
    unseen = [row for row in test if {site_name(row.url_a), site_name(row.url_b)} <= tested]
    return [row for row in rows if row.domain not in tested], unseen, tested


def read_phrases(path: Path | None, rows: Iterable[LabelledPair]) -> list[Phrase]:
    """Read short phrases made of words that English URLs use."""
    if path is None:
        return []
    used = {stem(word) for word in used_words(rows)}
    wanted = set(LANGUAGES)
    found: list[Phrase] = []
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        for line in stream:
            lang, english, other = line.rstrip("\n").split("\t")
            words = slug_words(english)
            if lang in wanted and 0 < len(words) <= 3 and all(stem(word) in used for word in words):
                # Spelled here, once for all that is learned from them.
                found += [Phrase(lang, " ".join(words), spelled) for spelled in spellings(other)]
    return found


def languages(
    data: Path, rows: Iterable[LabelledPair], keep: Callable[[str], bool]
) -> UrlLanguageModel:
    """A URL language model trained on the given domains."""
    urls = {
        url: LabelledUrl(row.domain, url, lang)
        for row in rows
        for url, lang in ((row.url_a, row.lang_a), (row.url_b, row.lang_b))
    }
    urls |= {row.url: row for row in read_urls(data / "url_languages.tsv.gz")}
    return url_lang.train([row for row in urls.values() if keep(row.domain)], seed=_LANG_SEED)


def learner(arguments: argparse.Namespace, rows: list[LabelledPair], tested: set[str]) -> Learn:
    """A function that learns words and languages from given domains, never from test domains."""
    phrases = read_phrases(arguments.phrases, rows)

    def learn(keep: Callable[[str], bool]) -> Knowledge:
        kept = [row for row in rows if keep(row.domain)]
        concepts = learn_concepts([*phrases, *slug_phrases(kept)], used_words(kept))
        return Knowledge(
            concepts,
            languages(arguments.data, rows, lambda domain: domain not in tested and keep(domain)),
        )

    return learn

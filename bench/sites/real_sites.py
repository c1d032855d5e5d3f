"""Real sites, as they are in public repositories, and the questions that are asked of them.

They are no part of this repository: a folder holds one folder for each site, in the format of built
sites (`htdocs/`, `meta.json`, `groups.tsv`, `routes.json`), with true page pairs in `groups.tsv`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin

from bench.sites.archive import site_url
from bench.sites.engine import BuiltSite
from bench.support.processes import give_up
from diptych.text.urls import normalise
from diptych.types import Url

_BILINGUAL = """agnieszka:en,sl beeware:en,fr bioforce:en,fr breakpoverty:en,fr decarbo:en,fr
    hasuolab:en,ja laugar:en,es laugar:en,eu linuxbcn:en,ca maple:en,fr marcbusque:es,ca mtera:en,hu
    mtera:en,sr oa-datenpraxis:en,de ooni:en,ru opengis:de,fr sdg-kz:en,kk sdg-moldova:en,ro
    sofastack:en,zh:en,zh-cn unisat:uz,ru zika-govlab:en,es"""
_LOOK_ALIKE = """gndem:en,fr promigas:en,es schorisch:de,en tanaka-lab:en,ja urumeaberri:es,eu
    sensorlab:en,sl ftmo:en,de"""
_ONE_LANGUAGE = (
    "0cch:zh,en barippi:ja,en cctn:it,en frc3405:en,fr toscanapirata:it,en tri-tav:sl,en"
)
QUESTIONS = " ".join((_BILINGUAL, _LOOK_ALIKE, _ONE_LANGUAGE)).split()
"""SITE:LANGUAGES[:LANGUAGES AS THE TRUTH CALLS THEM]"""
_MAX_REDIRECTS = 3


class Question(NamedTuple):
    """Two languages of a site."""

    site: str
    langs: tuple[str, ...]
    truth_langs: tuple[str, ...]
    """as the truth calls them"""

    @classmethod
    def parse(cls, text: str) -> Question:
        """Read a question as it is written on the command line.

        >>> Question.parse("a:en,zh:en,zh-cn")
        Question(site='a', langs=('en', 'zh'), truth_langs=('en', 'zh-cn'))
        """
        site, _, rest = text.partition(":")
        langs, _, truth_langs = rest.partition(":")
        both = [tuple(each.split(",")) for each in (langs, truth_langs or langs)]
        if not site or [len(each) for each in both] != [2, 2]:
            give_up(f"'{text}' is no question: SITE:LANG,LANG")
        return cls(site, *both)

    @property
    def name(self) -> str:
        """Its site and languages, in one word."""
        return f"{self.site}:{','.join(self.langs)}"


def questions(folder: Path, asked: Sequence[str]) -> list[Question]:
    """The questions that were asked, else the usual ones, as far as their sites are there.

    In a folder without any of the usual sites each is asked for the two languages with most pairs.
    """
    there = sorted(file.parent.name for file in folder.glob("*/meta.json"))
    if not there:
        give_up(
            f"there is no site in {folder}; unpack the real sites (real-dev.tar.zst, with"
            " 'zstd -dc real-dev.tar.zst | tar x') and name the folder with one folder for each"
            " site, DIR/dev"
        )
    if asked:
        chosen = [Question.parse(text) for text in asked]
        if missing := sorted({each.site for each in chosen} - {*there}):
            give_up(f"not in {folder}: {', '.join(missing)}")
        return chosen
    usual = [each for text in QUESTIONS if (each := Question.parse(text)).site in there]
    if usual:
        return usual
    return [found for site in there if (found := _most_pairs(folder / site)) is not None]


def _most_pairs(folder: Path) -> Question | None:
    """The two languages of a site with most pairs."""
    counts: dict[str, int] = json.loads((folder / "meta.json").read_text("utf-8")).get("pairs", {})
    if not counts:
        return None
    best = max(sorted(counts), key=lambda name: counts[name])
    groups = (folder / "groups.tsv").read_text("utf-8").splitlines()
    known = {line.split("\t")[1] for line in groups}
    for place in (at for at, letter in enumerate(best) if letter == "-"):
        langs = best[:place], best[place + 1 :]
        if {*langs} <= known:
            short = tuple(lang.partition("-")[0] for lang in langs)
            return Question(folder.name, short, langs)
    return None


class RealSite:
    """A real site as a server knows it, and the truth about its pages."""

    def __init__(self, folder: Path) -> None:
        self.server = BuiltSite(folder)
        self._groups: dict[Path, str] = {}
        """the document that a page is of"""
        self._pages: dict[str, dict[str, tuple[Path, bool]]] = {}
        """document -> language -> its first page, and whether that is as it should be"""
        for line in (folder / "groups.tsv").read_text("utf-8").splitlines():
            key, lang, path, is_fine, *_ = line.split("\t")
            page = self.page(site_url(path))
            if page is not None:
                self._groups[page] = key
                self._pages.setdefault(key, {}).setdefault(lang, (page, is_fine == "1"))

    def page(self, url: Url) -> Path | None:
        """The file that a URL leads to: two URLs with one file are one page."""
        for _ in range(_MAX_REDIRECTS):
            answer = self.server.find(url)
            if answer is None or answer.file is not None:
                return one_page(answer.file) if answer and answer.file else None
            target = normalise(urljoin(url, answer.location)) if answer.location else None
            if target is None:
                return None
            url = target
        return None

    def true_pairs(self, langs: Sequence[str]) -> list[tuple[Path, Path]]:
        """The pages of all documents that are as they should be in both languages."""
        left, right = langs
        return [
            (pages[left][0], pages[right][0])
            for pages in self._pages.values()
            if left in pages and right in pages and pages[left][1] and pages[right][1]
        ]

    def score(self, found: Iterable[tuple[Url, Url]], langs: Sequence[str]) -> tuple[int, int]:
        """How many of some pairs are right, and how many wrong.

        Neither is a pair of one document that is not translated well, nor one of two pages that the
        truth does not speak of.
        """
        truth = {frozenset(pair) for pair in self.true_pairs(langs)}
        paired = {page for pair in truth for page in pair}
        pages = {frozenset(self.page(url) or Path(url) for url in pair) for pair in found}
        others = [
            pair for pair in pages - truth if pair & paired and not self._is_one_document(pair)
        ]
        return len(pages & truth), len(others)

    def _is_one_document(self, pages: Iterable[Path]) -> bool:
        keys = {self._groups.get(page, "") for page in pages}
        return len(keys) == 1 and keys != {""}


def one_page(file: Path) -> Path:
    """A file by the one name it has, whatever links lead to it."""
    return Path(os.path.realpath(file))

"""Reads lists of URLs; a model predicts the languages of URLs that are listed without one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from diptych.commands._url_lines import Skipped, as_url, read_lines
from diptych.language.codes import asked_language, hreflang_language, primary
from diptych.protocols import UrlLanguageModel
from diptych.text.urls import site_name
from diptych.types import LangScore, Url


class Listed(NamedTuple):
    """A URL as it is spelled in a list, and the language on the same line, if any."""

    written: str
    lang: str


def read_list(file: Path | None) -> tuple[dict[Url, Listed], Skipped, int]:
    """Read a list of URLs; return the distinct URLs, skipped lines and number of duplicates."""
    listed: dict[Url, Listed] = {}
    skipped, repeated = Skipped(), 0
    for line in read_lines(file):
        url = as_url(line.column(0))
        if url is None:
            skipped.add(line)
        elif url in listed:
            repeated += 1
            if not listed[url].lang:
                listed[url] = listed[url]._replace(lang=hreflang_language(line.column(1)))
        else:
            listed[url] = Listed(line.column(0), hreflang_language(line.column(1)))
    return listed, skipped, repeated


def page_languages(
    listed: dict[Url, str], wanted: Sequence[str], model: UrlLanguageModel | None
) -> dict[Url, LangScore]:
    """The language of each URL: as stated in the list, or else as predicted by the model.

    The model chooses among the languages `wanted`.  The language is unknown if there is no model,
    or if the model prefers a language that is not wanted.  Predictions are not used if all URLs
    would be in the same language.
    """
    found = {url: LangScore(lang, 1.0 if lang else 0.0) for url, lang in listed.items()}
    unknown = [url for url, lang in listed.items() if not lang]
    if model is None or not unknown:
        return found
    for start in range(0, len(unknown), 4096):
        part = unknown[start : start + 4096]
        found |= dict(zip(part, _among(model, part, wanted), strict=True))
    if len({asked_language(lang.lang, wanted) for lang in found.values()} - {""}) > 1:
        return found
    # If all were in one language, the model is no help: leave the URLs to the pairing keys.
    return found | {url: LangScore("", 0.0) for url in unknown}


def _among(model: UrlLanguageModel, urls: Sequence[str], wanted: Sequence[str]) -> list[LangScore]:
    """For each URL, the most probable of the wanted languages, or an empty language code.

    The code is empty if a language that is not wanted is more probable than all wanted ones
    together.
    """
    shares = model.probabilities(urls)
    column = {label: place for place, label in enumerate(model.labels)}
    none = np.zeros(len(urls), np.float32)
    asked = np.stack([
        shares[:, column[primary(lang)]] if primary(lang) in column else none for lang in wanted
    ])  # fmt: skip
    others = [place for label, place in column.items() if label not in map(primary, wanted)]
    rival = shares[:, others].max(1) if others else none
    best, total = asked.argmax(0), asked.sum(0)
    return [
        LangScore(wanted[best[place]], float(asked[best[place], place]))
        if total[place] > rival[place]
        else LangScore("", 0.0)
        for place in range(len(urls))
    ]


def sites_of(listed: dict[Url, Listed], *, by_domain: bool) -> dict[str, list[Url]]:
    """Treat a list of URLs as one site; with `by_domain`, as one site per registrable domain."""
    sites: defaultdict[str, list[Url]] = defaultdict(list)
    for url in listed:
        sites[site_name(url) if by_domain else "list"].append(url)
    return dict(sites)

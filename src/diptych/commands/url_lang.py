"""`diptych url-lang`, `url-pair` and `pair`: from lines to lines, and what is said about them."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
import orjson

from diptych import registry
from diptych.commands._url_lines import Line, Skipped, as_url, askable, batches, read_lines, write
from diptych.errors import ConfigError
from diptych.language.codes import hreflang_language, parse_langs, primary, same_language
from diptych.learn.url.data import UNKNOWN
from diptych.page.url_list import UrlList
from diptych.protocols import UrlLanguageModel, UrlPairModel
from diptych.text.urls import site_name
from diptych.types import LangScore, Url

__all__ = [
    "best_languages",
    "language_model",
    "pair_list",
    "pair_model",
    "url_lang",
    "url_pair",
]

_NO_URL = "without an http or https URL"
_NO_PAIR = "without two http or https URLs with a tab between them"


def url_lang(file: Path | None, model: str, *, as_json: bool) -> int:
    """Answer each URL with its language and how likely that is."""
    asked = language_model(model)

    def answer(batch: Sequence[Line]) -> list[dict[str, Any] | None]:
        urls = [askable(line.column(0)) for line in batch]
        found = iter(best_languages(asked, [url for url in urls if url]))
        scores = [next(found) if url else None for url in urls]
        return [
            score and {"lang": score.lang, "probability": round(score.score, 4)} for score in scores
        ]

    nothing = {"lang": UNKNOWN, "probability": 0.0}
    return _answer(file, ("url",), answer, nothing, _NO_URL, as_json=as_json)


def url_pair(file: Path | None, model: str, *, as_json: bool) -> int:
    """Answer each pair of URLs with how likely they lead to translations of each other."""
    asked = pair_model(model)

    def answer(batch: Sequence[Line]) -> list[dict[str, Any] | None]:
        urls = [(askable(line.column(0)), askable(line.column(1))) for line in batch]
        both = [pair for pair in urls if all(pair)]
        found = iter(asked.probabilities([left for left, _ in both], [right for _, right in both]))
        return [
            {"probability": round(float(next(found)), 4)} if all(pair) else None for pair in urls
        ]

    return _answer(file, ("left", "right"), answer, {"probability": 0.0}, _NO_PAIR, as_json=as_json)


def _answer(
    file: Path | None,
    names: tuple[str, ...],
    answer: Callable[[Sequence[Line]], list[dict[str, Any] | None]],
    nothing: dict[str, Any],
    what: str,
    *,
    as_json: bool,
) -> int:
    """One line out for each line in, batch by batch; the exit code."""
    out = sys.stdout.buffer
    skipped, count = Skipped(), 0
    for batch in batches(read_lines(file)):
        rows: list[str] = []
        for line, values in zip(batch, answer(batch), strict=True):
            if values is None:
                skipped.add(line)
            asked = {name: line.column(place) for place, name in enumerate(names)}
            rows.append(_spell(asked | (values or nothing), as_json=as_json))
        count += len(batch)
        write(out, rows)
    return _told(skipped, count - skipped.count, what)


def _told(skipped: Skipped, answered: int, what: str) -> int:
    """Say what was skipped, and that nothing was found if so; the exit code."""
    if skipped.count:
        click.echo(skipped.told(what), err=True)
    elif not answered:
        click.echo("nothing found: there are no lines to read", err=True)
    return 0 if answered else 1


def _spell(row: dict[str, Any], *, as_json: bool) -> str:
    if as_json:
        clean = {
            name: value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            if isinstance(value, str)
            else value
            for name, value in row.items()
        }
        return orjson.dumps(clean).decode()
    return "\t".join(
        f"{value:.4f}" if isinstance(value, float) else str(value) for value in row.values()
    )


# -- pairing ---------------------------------------------------------------------------------------


class _Listed(NamedTuple):
    """A URL of a list: as it was written, and what its line says of its language."""

    written: str
    lang: str


def pair_list(
    file: Path | None,
    langs: str,
    method: str,
    model: str,
    *,
    by_domain: bool,
    as_json: bool,
) -> int:
    """Pair the URLs of a list; the exit code."""
    wanted = _languages(langs)
    pairer = _pairer(method)
    listed, skipped, repeated = _read_list(file)
    is_complete = all(known.lang for known in listed.values())
    asked = None if is_complete else language_model(model)
    count, spoken = 0, Counter[str]()
    for name, urls in _sites(listed, by_domain=by_domain).items():
        languages = _page_languages({url: listed[url].lang for url in urls}, wanted, asked)
        spoken.update(_wanted(lang.lang, wanted) for lang in languages.values())
        found = list(pairer(UrlList.of(name, languages.items(), wanted)))
        count += len(found)
        write(sys.stdout.buffer, (_spell(_written(row, listed), as_json=as_json) for row in found))
    if repeated:
        were = "URL was" if repeated == 1 else "URLs were"
        click.echo(f"{repeated:,} {were} listed more than once", err=True)
    if _told(skipped, len(listed), _NO_URL) == 0 and not count:
        click.echo(_why_none(spoken, wanted), err=True)
    return 0 if count else 1


def _why_none(spoken: Counter[str], wanted: Sequence[str]) -> str:
    each = ", ".join(f"{spoken[lang]:,} in {lang}" for lang in wanted)
    return f"nothing found: of {spoken.total():,} URLs {each}, and no two of them go together"


def _languages(text: str) -> tuple[str, ...]:
    try:
        return parse_langs(text)
    except ValueError as error:
        raise ConfigError(str(error)) from error


def _pairer(method: str) -> Callable[[UrlList], Iterator[dict[str, Any]]]:
    """How to pair a list: by keys, which are told, or as any strategy of the stage does."""
    made = registry.make("pair", _settings(method))
    if method != "keys":
        return lambda site: (_row(pair, pair.evidence) for pair in made.pair(site))
    from diptych.stages.pair.keys.strategy import pair_urls

    return lambda site: (
        _row(pair, pair.key)
        for pair in pair_urls([(url, page.lang) for url, page in site.pages.items()], site.langs)
    )


def _settings(method: str) -> dict[str, Any]:
    """A method as a table of a recipe; `a+b` is the union of both."""
    if "+" not in method:
        return {"use": method}
    return {"use": "union", "pairers": [{"use": name} for name in method.split("+")]}


def _row(pair: Any, key: str) -> dict[str, Any]:
    return {"left": pair.left, "right": pair.right, "score": float(pair.score), "key": key}


def _written(row: dict[str, Any], listed: dict[Url, _Listed]) -> dict[str, Any]:
    """A pair with its URLs as they were written."""
    return row | {side: listed[row[side]].written for side in ("left", "right")}


def _read_list(file: Path | None) -> tuple[dict[Url, _Listed], Skipped, int]:
    """The URLs of a list in order, each once."""
    listed: dict[Url, _Listed] = {}
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
            listed[url] = _Listed(line.column(0), hreflang_language(line.column(1)))
    return listed, skipped, repeated


def _page_languages(
    listed: dict[Url, str], wanted: Sequence[str], model: UrlLanguageModel | None
) -> dict[Url, LangScore]:
    """The language of each URL of a site: as listed, else by the model, else unknown."""
    found = {url: LangScore(lang, 1.0 if lang else 0.0) for url, lang in listed.items()}
    unknown = [url for url, lang in listed.items() if not lang]
    if model is None or not unknown:
        return found
    for start in range(0, len(unknown), 4096):
        part = unknown[start : start + 4096]
        found |= dict(zip(part, _among(model, part, wanted), strict=True))
    if len({_wanted(lang.lang, wanted) for lang in found.values()} - {""}) > 1:
        return found
    # Where all would be in one language the URLs do not tell theirs: keys may, if left to it.
    return found | {url: LangScore("", 0.0) for url in unknown}


def _wanted(lang: str, wanted: Sequence[str]) -> str:
    """The user's own code for a language, or nothing."""
    return next((code for code in wanted if same_language(code, lang)), "")


def _among(model: UrlLanguageModel, urls: Sequence[str], wanted: Sequence[str]) -> list[LangScore]:
    """The likeliest of some languages; unknown where another one is likelier than all of them."""
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


def _sites(listed: dict[Url, _Listed], *, by_domain: bool) -> dict[str, list[Url]]:
    """The list as one site, or as one for each registrable domain."""
    sites: defaultdict[str, list[Url]] = defaultdict(list)
    for url in listed:
        sites[site_name(url) if by_domain else "list"].append(url)
    return dict(sites)


# -- models ----------------------------------------------------------------------------------------


def language_model(folder: str) -> UrlLanguageModel:
    """The model of a folder, ours or one of Transformers; ours that is shipped for none."""
    if _is_transformer(folder):
        from diptych.learn.url.transformer import load_url_lang

        return load_url_lang(folder)
    from diptych.learn.url.language import load

    return load(folder)


def pair_model(folder: str) -> UrlPairModel:
    """The model of a folder, ours or one of Transformers; ours that is shipped for none."""
    if _is_transformer(folder):
        from diptych.learn.url.transformer import load_url_pair

        return load_url_pair(folder)
    from diptych.learn.url.pair import load

    return load(folder)


def _is_transformer(folder: str) -> bool:
    if folder and not Path(folder).is_dir():
        raise ConfigError(
            f"--model {folder} is no folder; give one that diptych train wrote, or a model of"
            " Transformers on this machine"
        )
    from diptych.learn.url.transformer import is_transformer

    return bool(folder) and is_transformer(folder)


def best_languages(model: UrlLanguageModel, urls: Sequence[str]) -> list[LangScore]:
    """The likeliest language of each URL; a model may know when none is likely enough."""
    if not urls:
        return []
    predict = getattr(model, "predict", None)
    if predict is not None:
        return list(predict(urls))
    shares = model.probabilities(urls)
    best = shares.argmax(1)
    return [
        LangScore(model.labels[label], float(shares[place, label]))
        for place, label in enumerate(best)
    ]

"""`diptych.url_languages` and `diptych.url_pairs`: predictions from URLs alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from diptych.api.arguments import texts
from diptych.errors import ConfigError, option_name

if TYPE_CHECKING:
    from diptych.protocols import UrlLanguageModel, UrlPairModel
    from diptych.types import LangScore


def url_languages(urls: str | Iterable[str], *, model: str | Path = "") -> list[LangScore]:
    """The most probable language of the page at each URL, with its probability.

    `model` is the folder of a model that you have trained.  The language is "und" if the URL does
    not indicate one.

    >>> [lang for lang, _ in url_languages(["http://a.org/fr/nouvelles", "http://a.de/preise"])]
    ['fr', 'de']
    """
    return best_languages(language_model(str(model)), texts(urls))


def url_pairs(pairs: Iterable[tuple[str, str]], *, model: str | Path = "") -> list[float]:
    """For each pair of URLs, the probability that they lead to translations of each other.

    `model` is the folder of a model that you have trained.

    >>> page = "http://a.org/en/x"
    >>> same, other = url_pairs([(page, "http://a.org/fr/x"), (page, "http://a.org/fr/contact")])
    >>> same > 0.5 > other
    True
    """
    both = list(pairs)
    left, right = [one for one, _ in both], [other for _, other in both]
    return [float(each) for each in pair_model(str(model)).probabilities(left, right)]


def language_model(folder: str) -> UrlLanguageModel:
    """Load a URL language model from a folder, in the format of Diptych or of Transformers.

    If `folder` is empty, the built-in model is loaded.
    """
    from diptych.learn.url import language, transformer

    load = transformer.load_url_lang if _is_transformer(folder) else language.load
    return load(folder)


def pair_model(folder: str) -> UrlPairModel:
    """Load a URL pair model from a folder, in the format of Diptych or of Transformers.

    If `folder` is empty, the built-in model is loaded.
    """
    from diptych.learn.url import pair, transformer

    load = transformer.load_url_pair if _is_transformer(folder) else pair.load
    return load(folder)


def _is_transformer(folder: str) -> bool:
    from diptych.learn.url import transformer

    if folder and not Path(folder).is_dir():
        raise ConfigError(
            f"{option_name('model')} {folder} is not a folder; use one written by diptych train,"
            " or a local Transformers model"
        )
    return bool(folder) and transformer.is_transformer(folder)


def best_languages(model: UrlLanguageModel, urls: Sequence[str]) -> list[LangScore]:
    """The most probable language of each URL; some models return "und" if they are unsure."""
    from diptych.types import LangScore

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

"""URL models from a folder: built-in models or Transformers models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from diptych.errors import ConfigError
from diptych.learn.url import language, pair, transformer
from diptych.protocols import UrlLanguageModel, UrlPairModel
from diptych.types import LangScore


def language_model(folder: str) -> UrlLanguageModel:
    """Load a built-in or Transformers model from a folder; "" is the shipped model."""
    load = transformer.load_url_lang if _is_transformer(folder) else language.load
    return load(folder)


def pair_model(folder: str) -> UrlPairModel:
    """Load a built-in or Transformers model from a folder; "" is the shipped model."""
    load = transformer.load_url_pair if _is_transformer(folder) else pair.load
    return load(folder)


def _is_transformer(folder: str) -> bool:
    if folder and not Path(folder).is_dir():
        raise ConfigError(
            f"--model {folder} is not a folder; give one that diptych train wrote, or a local"
            " Transformers model"
        )
    return bool(folder) and transformer.is_transformer(folder)


def best_languages(model: UrlLanguageModel, urls: Sequence[str]) -> list[LangScore]:
    """The most probable language of each URL; a model may reject all of them as improbable."""
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

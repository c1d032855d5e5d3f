"""Probabilities from URL models, used where a site gives no evidence (Garcia-Romero et al.)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from diptych.types import Url

MAX_CANDIDATES = 100  # maximum URLs compared with one page
MIN_PROBABILITY = 0.5  # minimum probability of a translation
MIN_RANKED = 0.05  # minimum probability of a URL that is ranked


def likely_languages(
    urls: Sequence[Url], name: Callable[[str], str]
) -> dict[Url, dict[str, float]]:
    """Map each URL to its most probable language and the probability of that language.

    `name` converts a label of the URL language model to a language code.
    """
    from diptych.learn.url.language import load

    if not urls:
        return {}
    model = load()
    found: dict[Url, dict[str, float]] = {}
    for url, row in zip(urls, model.probabilities(urls).tolist(), strict=True):
        likeliest = max(range(len(row)), key=row.__getitem__)
        found[url] = {name(model.labels[likeliest]): row[likeliest]}
    return found


def ranked_translations(page: Url, urls: Sequence[Url]) -> list[tuple[Url, float]]:
    """The URLs that may be translations of a page, with their probabilities, best first."""
    from diptych.learn.url.pair import load

    if not urls:
        return []
    probabilities = load().probabilities([page] * len(urls), list(urls)).tolist()
    ranked = sorted(zip(probabilities, urls, strict=True), key=lambda row: (-row[0], row[1]))
    return [(url, probability) for probability, url in ranked if probability >= MIN_RANKED]

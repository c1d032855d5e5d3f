"""Probabilities of URL models, used where a site itself says nothing yet (Garcia-Romero et al.)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from diptych.types import Url

MAX_CANDIDATES = 100  # URLs that are compared with one page
MIN_PROBABILITY = 0.5  # of a translation


def likely_languages(
    urls: Sequence[Url], name: Callable[[str], str]
) -> dict[Url, dict[str, float]]:
    """The likeliest language of each URL, as `name` spells it, with its probability."""
    from diptych.learn.url.language import load

    if not urls:
        return {}
    model = load()
    found: dict[Url, dict[str, float]] = {}
    for url, row in zip(urls, model.probabilities(urls).tolist(), strict=True):
        likeliest = max(range(len(row)), key=row.__getitem__)
        found[url] = {name(model.labels[likeliest]): row[likeliest]}
    return found


def likely_translations(page: Url, urls: Sequence[Url]) -> list[Url]:
    """The URLs that are probably translations of a page, likeliest first."""
    from diptych.learn.url.pair import load

    compared = list(urls[:MAX_CANDIDATES])
    if not compared:
        return []
    probabilities = load().probabilities([page] * len(compared), compared).tolist()
    ranked = sorted(zip(probabilities, compared, strict=True), key=lambda row: (-row[0], row[1]))
    return [url for probability, url in ranked if probability >= MIN_PROBABILITY]

"""What models of URLs say where a site itself says nothing yet (Garcia-Romero et al.)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from diptych.types import Url

__all__ = ["likely_languages", "likely_translations"]

MAX_ASKED = 100  # URLs that may be translations of one page
LEAST = 0.5  # probability


def likely_languages(
    urls: Sequence[Url], name: Callable[[str], str]
) -> dict[Url, dict[str, float]]:
    """The likeliest language of each URL, under the name it goes by, and how likely it is."""
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
    """Which of some URLs are probably translations of a page, likeliest first."""
    from diptych.learn.url.pair import load

    asked = list(urls[:MAX_ASKED])
    if not asked:
        return []
    chances = load().probabilities([page] * len(asked), asked).tolist()
    ranked = sorted(zip(chances, asked, strict=True), key=lambda each: (-each[0], each[1]))
    return [url for chance, url in ranked if chance >= LEAST]

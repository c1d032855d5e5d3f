"""A URL pair model trained in a second on made-up sites."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from bench.training.concepts import learn_concepts, slug_phrases, used_words
from bench.training.cross_fitting import Knowledge, Learn, train
from diptych.learn.url.data import LabelledPair
from diptych.learn.url.pair import UrlPair
from support.urlmodels import FakeLanguages

WORDS = {
    "news": "actualites", "wine": "vin", "house": "maison", "night": "nuit", "contact": "contact",
    "about": "propos", "work": "travail", "school": "ecole", "water": "eau", "history": "histoire",
    "music": "musique", "bread": "pain", "garden": "jardin", "winter": "hiver", "bridge": "pont",
    "kitchen": "cuisine", "village": "village", "church": "eglise", "market": "marche",
    "sea": "mer",
}  # fmt: skip
PATTERNS = (
    ("{}/en/{}.html", "{}/fr/{}.html"),
    ("{}/{}_en.htm", "{}/{}_fr.htm"),
    ("{}/{}", "{}/fr/{}"),
    ("{}/page.php?p={}&lang=en", "{}/page.php?p={}&lang=fr"),
)


def parallel_urls(sites: int = 24) -> list[LabelledPair]:
    """Pages of made-up sites: every third site translates its slugs, the others keep them."""
    rows = []
    english = list(WORDS)
    for site in range(sites):
        domain = f"site{site}.org"
        left, right = PATTERNS[site % len(PATTERNS)]
        for page in range(8):
            one, two = english[(site + page) % 20], english[(site + 3 * page) % 20]
            slug, other = f"{one}-{two}-{page}", f"{one}-{two}-{page}"
            if site % 3 == 0:
                slug, other = f"{one}-{two}", f"{WORDS[one]}-{WORDS[two]}"
            home = f"http://{domain}"
            rows.append(
                LabelledPair(domain, left.format(home, slug), "en", right.format(home, other), "fr")
            )
    return rows


def learn_from(rows: list[LabelledPair]) -> Learn:
    """Learns words from the slugs of some domains."""

    def learn(chosen: Callable[[str], bool]) -> Knowledge:
        here = [row for row in rows if chosen(row.domain)]
        return Knowledge(learn_concepts(slug_phrases(here), used_words(here)), FakeLanguages())

    return learn


@cache
def tiny_model() -> UrlPair:
    """The model of all sites."""
    rows = parallel_urls()
    return train(rows, learn_from(rows), iterations=25)

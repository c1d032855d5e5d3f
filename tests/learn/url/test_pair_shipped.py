"""The shipped URL pair model: a few clear cases."""

from __future__ import annotations

import numpy as np
import pytest

from diptych.learn.url.pair import UrlPair, load

X = "http://www.example.org"


@pytest.fixture(scope="module")
def model() -> UrlPair:
    return load()


def test_the_shipped_model_is_loaded_once(model: UrlPair) -> None:
    assert load() is model


def probability(model: UrlPair, left: str, right: str) -> float:
    return float(model.probabilities([left], [right])[0])


@pytest.mark.parametrize(
    ("left", "right", "wrong"),
    [
        ("/en/history.html", "/fr/history.html", "/fr/contact.html"),
        ("/en/history.html", "/fr/history.html", "/en/contact.html"),
        ("/history_e.html", "/history_f.html", "/contact_f.html"),
        ("/news/12345?lang=en", "/news/12345?lang=fr", "/news/54321?lang=fr"),
        ("/news/12345?lang=1", "/news/12345?lang=2", "/news/54321?lang=2"),
        ("/en/about-us", "/fr/a-propos", "/fr/vin-rouge"),
        ("/en/contact", "/de/kontakt", "/de/weinkeller"),
        ("/history", "/fr/history", "/contact"),
    ],
)
def test_a_translation_is_more_probable_than_another_page(
    model: UrlPair, left: str, right: str, wrong: str
) -> None:
    good = probability(model, X + left, X + right)
    assert good > probability(model, X + left, X + wrong)


def test_hosts_of_languages(model: UrlPair) -> None:
    good = probability(model, "http://en.example.org/history", "http://fr.example.org/history")
    assert good > probability(model, "http://en.example.org/history", "http://fr.other.net/contact")


def test_pages_in_the_same_language_are_less_probable_than_translations(model: UrlPair) -> None:
    lefts = [f"{X}/en/news/{n}" for n in range(10, 20)]
    neighbours = model.probabilities(lefts, [f"{X}/en/news/{n + 1}" for n in range(10, 20)])
    translations = model.probabilities(lefts, [f"{X}/fr/news/{n}" for n in range(10, 20)])
    assert neighbours.max() < translations.min()


def test_sides_do_not_matter(model: UrlPair) -> None:
    lefts, rights = [f"{X}/en/a/12", f"{X}/12/en"], [f"{X}/fr/12/b", f"{X}/fr/b/12"]
    one, other = model.probabilities(lefts, rights), model.probabilities(rights, lefts)
    assert np.allclose(one, other, atol=1e-6)

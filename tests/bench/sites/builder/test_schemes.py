"""Addresses of pages under URL schemes."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from bench.sites.builder.documents import Facts
from bench.sites.builder.pages import Pages, SitePage
from bench.sites.builder.schemes import SCHEMES, addresses, list_address

TITLES = {"a.html": {"en": "Ropes - Manual", "fr": "Cordes - Manuel"},
          "b.html": {"en": "Knots - Manual", "fr": "Nœuds - Manuel"},
          "c.html": {"en": "Knots - Manual", "fr": "Voiles - Manuel"}}  # fmt: skip
OTHERS = [scheme for scheme in SCHEMES if scheme != "slug"]  # which needs another library


def pages() -> Pages:
    return {
        f"{lang}/{key}": SitePage(
            f"{lang}/{key}", Path(), lang, key, Facts(title, 100, lang, {}, [], "", {})
        )
        for key, titles in TITLES.items()
        for lang, title in titles.items()
    }


@pytest.mark.parametrize("scheme", OTHERS)
def test_no_two_pages_have_one_address(scheme):
    found = addresses(scheme, pages(), "en", Random(1))
    assert found.keys() == pages().keys()
    assert len({(each.host, each.path) for each in found.values()}) == len(found)
    assert len({each.file for each in found.values()}) == len(found)


@pytest.mark.parametrize("scheme", OTHERS)
def test_lists_have_other_addresses_than_pages(scheme):
    found = addresses(scheme, pages(), "en", Random(1))
    listed = {
        list_address(scheme, "site", lang, "en", number=number, overall=overall)
        for overall, (lang, number) in enumerate([("en", 1), ("en", 2), ("fr", 1)], start=1)
    }
    assert len(listed) == 3
    assert not {each.file for each in listed} & {each.file for each in found.values()}


@pytest.mark.parametrize("scheme", OTHERS)
def test_same_seed_gives_the_same_addresses(scheme):
    assert addresses(scheme, pages(), "en", Random(1)) == addresses(
        scheme, pages(), "en", Random(1)
    )


def test_schemes_show_the_language_or_hide_it():
    found = {
        scheme: addresses(scheme, pages(), "en", Random(1))["fr/a.html"].path for scheme in OTHERS
    }
    assert found["dir"] == "/fr/a.html"
    assert found["suffix"] == "/a_fr.html"
    assert found["dotlang"] == "/a.fr.html"
    assert found["null"] == "/fr/a.html"
    assert found["subdomain"] == "/a.html"
    assert found["query"].startswith("/index.php?lang=fr&id=")
    assert found["qopaque"].startswith("/view.php?doc=")
    assert found["numeric"].startswith("/doc/")
    assert found["utf8slug"] == "/cordes/"


def test_slug_has_no_common_ending_and_a_number_if_it_is_taken():
    found = addresses("utf8slug", pages(), "en", Random(1))
    assert {found["en/b.html"].path, found["en/c.html"].path} == {"/knots/", "/knots-2/"}
    assert found["fr/b.html"].path == "/n%C5%93uds/"


def test_pages_of_a_pair_share_their_number_in_a_query():
    found = addresses("query", pages(), "en", Random(1))
    assert found["en/a.html"].path.replace("en", "fr") == found["fr/a.html"].path

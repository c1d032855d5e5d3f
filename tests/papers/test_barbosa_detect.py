"""What Barbosa, Bangalore and Rangarajan (2011, section 2.1) say of their site detector."""

from __future__ import annotations

import pytest

from diptych.stages.detect.predictor.strategy import Detect
from diptych.types import LangScore, Link, Page, PageRecord, Url

HOME = Url("http://www.hotel.com.mx/")


def page(url: Url, lang: str, *links: Link) -> Page:
    record = PageRecord(url, lang, (LangScore(lang, 0.99),), "", 0, 5000, 3000, url)
    return Page(record, links)


SPANISH = [
    Link(Url(f"{HOME}inicio"), anchor="Español"),
    Link(Url(f"{HOME}castellano/")),
    Link(Url(f"{HOME}inicio"), src="/img/flag_es.gif", alt="Español"),
]


@pytest.mark.parametrize("link", SPANISH, ids=["anchor", "url", "image"])
def test_links_to_the_spanish_version_are_found_in_every_context(link: Link) -> None:
    others = [Link(Url(f"{HOME}{name}"), anchor=name) for name in ("rooms", "contact", "prices")]
    site_test = Detect().new_test(["en", "es"])
    site_test.read(page(HOME, "en", *others, link))
    assert [asked.url for asked in site_test.wanted_links()] == [link.url]


def test_a_page_that_links_only_to_the_other_version_counts_itself() -> None:
    site_test = Detect().new_test(["en", "es"])
    site_test.read(page(HOME, "en", SPANISH[0]))
    (link,) = site_test.wanted_links()
    site_test.read(page(link.url, "es"))
    assert site_test.decision().accept


def test_the_links_alone_do_not_suffice() -> None:
    site_test = Detect().new_test(["en", "es"])
    site_test.read(page(HOME, "en", SPANISH[0]))
    (link,) = site_test.wanted_links()
    site_test.read(page(link.url, "en"))
    assert not site_test.decision().accept


def test_a_higher_threshold_costs_fewer_downloads() -> None:
    links = [Link(Url(f"{HOME}{number}"), anchor=f"Room {number}") for number in range(20)]

    def downloads(threshold: float) -> int:
        site_test = Detect(threshold=threshold, most=30, misses=30).new_test(["en", "es"])
        site_test.read(page(HOME, "en", *links, SPANISH[1]))
        count = 0
        while asked := site_test.wanted_links():
            count += 1
            site_test.miss(asked[0].url)
        return count

    assert downloads(0.0) == 21
    assert downloads(0.5) == 1
    assert downloads(0.99999) == 0

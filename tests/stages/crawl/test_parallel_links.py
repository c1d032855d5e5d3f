from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest
from support.fakes import FakeSite, at, make_page

from diptych.stages.crawl.parallel_links import ParallelLinks, ParallelLinksGuide, trigger_language
from diptych.types import (
    CrawlEvent,
    Decision,
    Link,
    Missing,
    Moved,
    PagePair,
    PairingResult,
    Ranked,
    Url,
    VerifiedPair,
)

Pairs = list[tuple[str, str]]


class Talk:
    """A conversation with a guide, by paths."""

    def __init__(self, *langs: str, trigger_depth: int = 1) -> None:
        self.site = FakeSite(*(langs or ("en", "fr")))
        self.guide: ParallelLinksGuide = ParallelLinks(trigger_depth).guide(self.site.langs)
        self.last: dict[str, float] = {}

    def page(self, path: str, lang: str, *links: Link | str, depth: int = 1) -> list[str]:
        """Read a page: what is ranked."""
        read = [link if isinstance(link, Link) else to(link) for link in links]
        return self._keep(
            self.guide.rank(make_page(path, lang, depth=depth, links=read), self.site)
        )

    def learn(self, news: CrawlEvent) -> list[str]:
        return self._keep(self.guide.learn(news, self.site))

    def found(
        self, left: str, right: str, *links: tuple[str, str], accept: bool = True
    ) -> list[str]:
        aligned = tuple((at(one), at(other)) for one, other in links)
        pair = PagePair(at(left), at(right), "en", "fr", 0.5, "test")
        return self.learn(VerifiedPair(pair, Decision(accept, 0.9), aligned))

    def questions(self) -> Pairs:
        return [(path(pair.left), path(pair.right)) for pair in self.guide.questions()]

    def _keep(self, ranked: Iterable[Ranked]) -> list[str]:
        self.last = {path(each.link.url): each.priority for each in ranked}
        return list(self.last)


def path(url: Url) -> str:
    return url.removeprefix(at("/")[:-1])


def to(target: str, anchor: str = "", *, rel: str = "a", hreflang: str = "", alt: str = "") -> Link:
    return Link(at(target), rel, hreflang, anchor, alt=alt)


FRENCH, ENGLISH = to("/fr/", "Français"), to("/en/", "English")


# -- triggers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("link", "lang"),
    [
        (to("/x", "Français"), "fr"),
        (to("/x", "FRENCH"), "fr"),
        (to("/x", alt="English"), "en"),
        (to("/x", "English version"), "en"),
        (to("/x", "Français", hreflang="en"), "fr"),  # the paper reads anchors
        (to("/x", "Lire", hreflang="fr"), ""),
        (to("/x", hreflang="fr", rel="alternate"), ""),
        (to("/x", "Français", rel="frame"), ""),
        (to("/x", "Deutsch"), ""),
        (to("/x", "French wine"), ""),
        (to("/x", "version"), ""),
        (to("/x"), ""),
    ],
)
def test_triggers_are_texts_that_name_a_language(link: Link, lang: str) -> None:
    assert trigger_language(link, ("en", "fr")) == lang


def test_start_page_is_followed_and_its_triggers_come_first() -> None:
    talk = Talk()
    assert talk.page("/", "en", "/a", FRENCH, "/b", depth=0) == ["/fr/", "/a", "/b"]
    assert talk.last["/fr/"] > talk.last["/a"] == talk.last["/b"]


def test_pages_linked_from_the_start_are_read_for_triggers_and_not_followed() -> None:
    talk = Talk()
    talk.page("/", "en", "/en/", depth=0)
    assert talk.page("/en/", "en", "/en/a", FRENCH) == ["/fr/"]


def test_pages_far_from_the_start_are_neither_searched_nor_followed() -> None:
    talk = Talk()
    talk.page("/", "en", "/en/", depth=0)
    assert talk.page("/deep", "en", "/en/a", FRENCH, depth=1) == []
    assert talk.page("/deeper", "fr", ENGLISH, depth=7) == []


@pytest.mark.parametrize("reach", [0, 1, 2, 3])
def test_reach_of_triggers_is_a_parameter(reach: int) -> None:
    talk = Talk(trigger_depth=reach)
    for depth in range(4):
        ranked = talk.page(f"/{depth}", "en", f"/{depth + 1}", FRENCH, depth=depth)
        expected = ["/fr/"] * (depth <= reach) + [f"/{depth + 1}"] * (depth < reach)
        assert ranked == expected


def test_page_and_the_target_of_its_trigger_are_a_plausible_pair() -> None:
    talk = Talk()
    talk.page("/", "en", FRENCH, depth=0)
    assert talk.questions() == []
    talk.page("/fr/", "fr")
    assert talk.questions() == [("/", "/fr/")]
    assert talk.questions() == []


def test_left_is_the_first_requested_language() -> None:
    talk = Talk()
    talk.page("/", "fr", ENGLISH, depth=0)
    talk.page("/en/", "en")
    (pair,) = talk.guide.questions()
    assert (pair.left, pair.left_lang, pair.right_lang) == (at("/en/"), "en", "fr")
    assert (pair.evidence, 0 < pair.score < 1) == ("triggers", True)


def test_targets_of_two_triggers_are_a_plausible_pair() -> None:
    talk = Talk()
    talk.page("/", "", FRENCH, ENGLISH, depth=0)
    talk.page("/fr/", "fr")
    talk.page("/en/", "en")
    assert talk.questions() == [("/en/", "/fr/")]


@pytest.mark.parametrize(("left", "right"), [("en", "en"), ("en", "de"), ("en", ""), ("de", "fr")])
def test_pages_not_in_two_of_the_languages_are_not_requested(left: str, right: str) -> None:
    talk = Talk()
    talk.page("/", left, FRENCH, depth=0)
    talk.page("/fr/", right)
    assert talk.questions() == []


def test_regional_variants_count_as_requested_languages() -> None:
    talk = Talk("en-GB", "fr-CA")
    talk.page("/", "en", FRENCH, depth=0)
    talk.page("/fr/", "fr")
    (pair,) = talk.guide.questions()
    assert (pair.left_lang, pair.right_lang) == ("en-GB", "fr-CA")


def test_every_pair_of_several_languages() -> None:
    talk = Talk("en", "fr", "de")
    talk.page("/", "en", FRENCH, to("/de/", "Deutsch"), depth=0)
    talk.page("/fr/", "fr")
    talk.page("/de/", "de")
    assert talk.questions() == [("/", "/fr/"), ("/", "/de/"), ("/fr/", "/de/")]


def test_list_of_translated_documents_does_not_pair_all_with_all() -> None:
    talk = Talk()
    links = [to(f"/{lang}{number}", lang) for number in range(200) for lang in ("en", "fr")]
    assert len(talk.page("/", "", *links, depth=0)) == 400  # near the start all is followed
    for link in links:
        talk.page(path(link.url), link.anchor)
    assert len(talk.questions()) < 20


def test_sitemap_is_not_the_start() -> None:
    talk = Talk()
    assert talk.page("/sitemap.xml", "", to("/a", rel="sitemap"), FRENCH, depth=0) == []


# -- aligned links -------------------------------------------------------------------------------


def verified() -> Talk:
    """Two start pages that were requested and are verified."""
    talk = Talk()
    talk.page("/", "en", FRENCH, depth=0)
    talk.page("/fr/", "fr")
    assert talk.questions() == [("/", "/fr/")]
    return talk


def test_aligned_links_of_a_verified_pair_are_followed_in_pairs() -> None:
    talk = verified()
    links = [(f"/en/{number}", f"/fr/{number}") for number in range(5)]
    assert talk.found("/", "/fr/", *links) == [half for pair in links for half in pair]
    order = [talk.last[half] for pair in links for half in pair]
    assert order == sorted(order, reverse=True)
    assert order[0] == order[1] > order[2] == order[3]


def test_targets_of_aligned_links_are_verified_when_both_are_fetched() -> None:
    talk = verified()
    talk.found("/", "/fr/", ("/en/a", "/fr/a"))
    talk.page("/fr/a", "fr")
    assert talk.questions() == []
    talk.page("/en/a", "en")
    (pair,) = talk.guide.questions()
    assert (path(pair.left), path(pair.right)) == ("/en/a", "/fr/a")
    assert pair.evidence == "parallel_links"


def test_earlier_generations_come_before_later_ones() -> None:
    talk = verified()
    talk.found("/", "/fr/", *[(f"/en/{number}", f"/fr/{number}") for number in range(3)])
    least = min(talk.last.values())
    talk.page("/en/0", "en")
    talk.page("/fr/0", "fr")
    talk.found("/en/0", "/fr/0", ("/en/deep", "/fr/deep"))
    assert 0 < max(talk.last.values()) < least


def test_aligned_links_come_before_other_links_near_the_start() -> None:
    talk = Talk()
    talk.page("/", "en", FRENCH, "/a", depth=0)
    near, trigger = talk.last["/a"], talk.last["/fr/"]
    for number in range(1000):
        talk.found("/", "/fr/", (f"/en/{number}", f"/fr/{number}"))
        assert near < min(talk.last.values()) < trigger


def test_fetched_half_is_not_requested_again() -> None:
    talk = verified()
    talk.page("/fr/a", "fr")
    assert talk.found("/", "/fr/", ("/en/a", "/fr/a")) == ["/en/a"]
    talk.page("/en/b", "en")
    talk.page("/fr/b", "fr")
    assert talk.found("/", "/fr/", ("/en/b", "/fr/b")) == []
    assert talk.questions() == [("/en/b", "/fr/b")]


def test_links_that_were_followed_or_lead_to_one_page_are_not_followed() -> None:
    talk = verified()
    talk.found("/", "/fr/", ("/en/a", "/fr/a"))
    assert talk.found("/en/x", "/fr/x", ("/en/a", "/fr/a"), ("/fr/a", "/en/a")) == []
    assert talk.found("/en/x", "/fr/x", ("/logo", "/logo")) == []
    # The switchers of two translations are aligned, and lead from one to the other.
    assert talk.found("/", "/fr/", ("/fr/", "/")) == []
    assert talk.questions() == []


def test_counterparts_of_a_page_are_verified_one_after_the_other() -> None:
    talk = verified()
    talk.found("/", "/fr/", ("/en/a", "/fr/a"), ("/en/a", "/fr/b"), ("/en/a", "/fr/c"))
    for name in ("b", "c", "a"):
        talk.page(f"/fr/{name}", "fr")
    talk.page("/en/a", "en")
    assert talk.questions() == [("/en/a", "/fr/a")]
    talk.found("/en/a", "/fr/a", accept=False)
    assert talk.questions() == [("/en/a", "/fr/b")]
    talk.found("/en/a", "/fr/b")
    assert talk.questions() == []
    # With its counterpart found, a page leads to no other.
    assert talk.found("/", "/fr/", ("/en/a", "/fr/d")) == []
    assert talk.found("/", "/fr/", ("/en/d", "/fr/a")) == ["/en/d"]


def test_counterpart_in_one_language_leaves_room_for_the_others() -> None:
    talk = Talk("en", "fr", "de")
    talk.page("/", "en", FRENCH, depth=0)
    talk.page("/fr/", "fr")
    assert talk.questions() == [("/", "/fr/")]
    assert talk.found("/", "/fr/", ("/", "/de/")) == ["/de/"]
    talk.page("/de/", "de")
    assert talk.questions() == [("/", "/de/")]


def test_rejected_page_can_be_paired_with_another() -> None:
    talk = verified()
    talk.found("/", "/fr/", ("/en/a", "/fr/a"), ("/en/b", "/fr/a"))
    for url, lang in (("/en/a", "en"), ("/en/b", "en"), ("/fr/a", "fr")):
        talk.page(url, lang)
    assert talk.questions() == [("/en/a", "/fr/a")]
    talk.found("/en/a", "/fr/a", accept=False)
    assert talk.questions() == [("/en/b", "/fr/a")]


def test_rejected_pair_leads_nowhere() -> None:
    talk = verified()
    assert talk.found("/", "/fr/", ("/en/a", "/fr/a"), accept=False) == []


def test_pages_reached_along_aligned_links_are_not_followed() -> None:
    talk = verified()
    talk.found("/", "/fr/", ("/en/a", "/fr/a"))
    assert talk.page("/en/a", "en", "/en/b", FRENCH) == []


def test_missing_page_rules_out_its_pairs() -> None:
    talk = verified()
    talk.found("/", "/fr/", ("/en/a", "/fr/a"))
    assert talk.learn(Missing(at("/fr/a"), "http_404")) == []
    talk.page("/en/a", "en")
    assert talk.questions() == []
    assert talk.found("/", "/fr/", ("/en/b", "/fr/a")) == []


def test_page_in_another_language_rules_out_its_pairs() -> None:
    talk = verified()
    talk.page("/de/a", "de")
    assert talk.found("/", "/fr/", ("/en/a", "/de/a")) == []


def test_plausible_pairs_of_a_url_are_passed_to_its_redirect_target() -> None:
    talk = verified()
    talk.found("/", "/fr/", ("/en/a", "/fr/a"))
    assert talk.learn(Moved(at("/fr/a"), at("/fr/b"))) == []
    assert talk.learn(Moved(at("/fr/b"), at("/fr/c"))) == []
    talk.page("/en/a", "en")
    talk.page("/fr/c", "fr")
    assert talk.questions() == [("/en/a", "/fr/c")]
    # Said of it later it holds too.
    assert talk.found("/", "/fr/", ("/en/a", "/fr/a")) == []
    assert talk.found("/", "/fr/", ("/en/z", "/fr/a")) == ["/en/z"]


def test_redirect_to_a_page_that_is_there_completes_the_pair() -> None:
    talk = verified()
    talk.page("/fr/b", "fr")
    talk.found("/", "/fr/", ("/en/a", "/fr/a"))
    talk.page("/en/a", "en")
    talk.learn(Moved(at("/fr/a"), at("/fr/b")))
    assert talk.questions() == [("/en/a", "/fr/b")]


def test_redirect_to_the_counterpart_is_no_pair() -> None:
    talk = verified()
    talk.found("/", "/fr/", ("/en/a", "/fr/a"))
    talk.learn(Moved(at("/fr/a"), at("/en/a")))
    talk.page("/en/a", "en")
    assert talk.questions() == []


def test_page_linked_from_the_start_is_near_it_also_under_another_address() -> None:
    talk = Talk()
    talk.page("/", "en", "/old", depth=0)
    talk.learn(Moved(at("/old"), at("/new")))
    assert talk.page("/new", "en", FRENCH, "/x") == ["/fr/"]


@pytest.mark.parametrize("circle", [("/a",), ("/a", "/b"), ("/a", "/b", "/c")])
def test_circular_redirects_end(circle: Sequence[str]) -> None:
    talk = verified()
    talk.found("/", "/fr/", ("/en/a", "/a"))
    for one, other in zip(circle, (*circle[1:], circle[0]), strict=True):
        talk.learn(Moved(at(one), at(other)))
    assert talk.questions() == []
    talk.found("/", "/fr/", ("/en/b", "/a"))


def test_pair_is_requested_once_despite_repeated_evidence() -> None:
    talk = verified()
    talk.learn(Moved(at("/fr/"), at("/fr/")))
    talk.page("/fr/", "fr")
    assert talk.questions() == []


def test_other_events_are_ignored() -> None:
    talk = verified()
    assert talk.learn(PairingResult((PagePair(at("/a"), at("/b"), "en", "fr", 1.0, "x"),))) == []
    assert talk.questions() == []


def test_crawl_ends_with_its_links_and_has_no_outlook() -> None:
    talk = verified()
    assert list(talk.guide.refill(talk.site)) == []
    assert talk.guide.outlook() is None  # type: ignore[func-returns-value]

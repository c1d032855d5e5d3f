"""What every discovery policy must do, whatever it looks for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.fakes import make_page
from support.searching import FakeWeb, discovery, page_of

from diptych.page.neighbourhood import neighbourhood
from diptych.registry import strategies
from diptych.stages.discover.seeds_only import SeedsOnly
from diptych.text.urls import site_name
from diptych.types import Example, Lead, Link, Role, Url

POLICIES = {**strategies("discover"), "seeds_only": SeedsOnly}


LEARNERS = sorted(name for name, policy in POLICIES.items() if policy().learns_every)


@pytest.fixture(params=sorted(POLICIES))
def policy(request: pytest.FixtureRequest) -> Any:
    return POLICIES[request.param]()


def lead(url: str, role: Role, anchor: str = "") -> Lead:
    link = Link(Url(url), anchor=anchor)
    return Lead(1, link.url, site_name(url), role, neighbourhood(link))


EXAMPLES = [
    Example(role, neighbourhood(Link(Url(f"http://{word}-{n}.org/"), anchor=word)), share)
    for n in range(60)
    for role in (Role.BACK, Role.FORWARD)
    for word, share in (("hotel", 1.0), ("shop", 0.0))
]


def test_every_lead_gets_a_score(policy: Any) -> None:
    leads = [lead(f"http://s{n}.org/", Role(n % 3), "hotel") for n in range(9)]
    for examples in ([], EXAMPLES):
        scores = policy.rank(examples)(leads)
        assert len(scores) == len(leads)
        assert all(0.0 <= score <= 1.0 for score in scores)
        assert list(scores) == list(policy.rank(examples)(leads))
        assert list(policy.rank(examples)([])) == []


def test_two_of_them_learn() -> None:
    assert LEARNERS == ["cobfc", "focc"]


@pytest.mark.parametrize("name", LEARNERS)
def test_who_learns_prefers_what_was_good(name: str) -> None:
    policy = POLICIES[name]()
    for role in (Role.BACK, Role.FORWARD):
        ranking = policy.rank(EXAMPLES)
        good, bad = ranking([lead("http://hotel-x.org/", role, "hotel"),
                             lead("http://shop-x.org/", role, "shop")])  # fmt: skip
        assert good > bad + 0.3


def test_links_within_a_site_are_left_out_where_one_page_is_enough(policy: Any) -> None:
    inner, outer = Link(Url("http://example.org/a")), Link(Url("http://other.org/"))
    page = make_page("/", "en", links=[inner, outer, Link(Url("http://third.org/x"), "alternate")])
    followed = policy.follow(page, Role.SEED)
    assert (inner in followed) <= (policy.per_site != 1)
    assert all(link.rel == "a" for link in followed)
    assert len({link.url for link in followed}) == len(followed)


def test_what_a_link_was_worth_is_a_share(policy: Any) -> None:
    for is_bilingual in (True, False):
        assert 0.0 <= policy.outcome(make_page("/", "en"), is_bilingual=is_bilingual) <= 1.0


def test_a_small_web_is_searched_to_its_end(policy: Any, tmp_path: Path) -> None:
    def site(host: str, *links: str) -> dict[str, str | int]:
        return {
            f"http://{host}/": page_of("en", f"other -> http://{host}/es", *links),
            f"http://{host}/es": page_of("es", f"http://{host}/"),
        }

    web = FakeWeb(
        {**site("a.es", "Travel hotel viajes -> http://b.es/"), **site("b.es"), **site("c.es")},
        backs={"http://a.es/": ["http://c.es/"]},
    )
    found = discovery(tmp_path, web, policy, "http://a.es/")
    assert "a.es" in found
    assert len(web.asked) == len(set(web.asked))
    assert ("c.es" in found) == policy.looks_back

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from support.stores import begin

from diptych.frontier.leads import Leads, Verdict
from diptych.run.store import Store
from diptych.types import Decision, Lead, Link, Reason, Role, Url


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path) as opened:
        begin(opened)
        yield opened


def add(
    leads: Leads, role: Role, scores: dict[str, float], source: int = 0, anchor: str = ""
) -> None:
    made = leads.from_links([Link(Url(url), anchor=anchor) for url in scores], role)
    leads.add(made, lambda these: [scores[lead.url] for lead in these], source)


def lead_to(leads: Leads, url: str) -> Lead:
    return next(lead for lead in leads.waiting(1000) if lead.url == url)


def test_the_best_comes_first_then_the_one_found_first(store: Store) -> None:
    leads = Leads(store, once=True)
    add(leads, Role.FORWARD, {"http://a.org/": 0.2, "http://b.org/": 0.9, "http://c.org/": 0.9})
    assert [lead.site for lead in leads.waiting(10)] == ["b.org", "c.org", "a.org"]
    assert [lead.site for lead in leads.waiting(1)] == ["b.org"]


def test_a_site_waits_once_with_the_words_of_all_links_to_it(store: Store) -> None:
    leads = Leads(store, once=True)
    add(leads, Role.FORWARD, {"http://a.org/1": 0.8}, anchor="hotel")
    first = leads.waiting(10)[0]
    add(leads, Role.FORWARD, {"http://a.org/2": 0.4}, anchor="museum")
    (lead,) = leads.waiting(10)
    assert lead.url == "http://a.org/1"
    assert set(lead.words) > set(first.words)
    assert store.count("SELECT score = 0.4 FROM leads"), "as all of them together are ranked"


def test_words_of_one_site_are_not_those_of_another(store: Store) -> None:
    leads = Leads(store, once=True)
    add(leads, Role.FORWARD, {"http://a.org/": 0.8}, anchor="hotel")
    add(leads, Role.FORWARD, {"http://b.org/": 0.4}, anchor="museum")
    (alone,) = leads.from_links([Link(Url("http://b.org/"), anchor="museum")], Role.FORWARD)
    assert lead_to(leads, "http://b.org/").words == alone.words


def test_a_page_may_link_to_a_site_more_than_once(store: Store) -> None:
    leads = Leads(store, once=True)
    add(leads, Role.BACK, {"http://hub.org/links": 0.5})
    hub = lead_to(leads, "http://hub.org/links").id
    add(leads, Role.FORWARD, {"http://a.org/1": 0.5, "http://a.org/2": 0.5}, source=hub)
    add(leads, Role.FORWARD, {"http://a.org/3": 0.5}, source=hub)
    assert store.count("SELECT count(*) FROM cites") == 1


def test_each_page_is_a_lead_if_every_page_counts(store: Store) -> None:
    leads = Leads(store, once=False)
    add(leads, Role.FORWARD, {"http://b.org/1": 0.1, "http://b.org/2": 0.1})
    assert store.count("SELECT count(*) FROM leads WHERE site = 'b.org'") == 2
    assert len(leads.waiting(10)) == 1, "but one after the other"


def test_leads_in_progress_are_not_changed(store: Store) -> None:
    leads = Leads(store, once=True)
    add(leads, Role.FORWARD, {"http://a.org/1": 0.4})
    taken = leads.waiting(1)[0]
    leads.take(taken)
    add(leads, Role.FORWARD, {"http://a.org/2": 0.9})
    assert leads.waiting(10) == []
    assert leads.taken() == [taken]
    leads.end(taken, 1.0)
    assert leads.taken() == leads.waiting(10) == []


def test_a_page_may_be_a_back_link_and_its_site_a_forward_one(store: Store) -> None:
    leads = Leads(store, once=True)
    add(leads, Role.FORWARD, {"http://a.org/links": 0.4})
    add(leads, Role.BACK, {"http://a.org/links": 0.5, "http://a.org/more": 0.3})
    assert [lead.role for lead in leads.waiting(10)] == [Role.BACK], "one of a site at a time"
    assert leads.waiting(10, ["a.org"]) == []


def test_words_of_a_lead_are_kept(store: Store) -> None:
    leads = Leads(store, once=True)
    made = leads.from_links([Link(Url("http://a.org/"), anchor="Hotel in Madrid")], Role.FORWARD)
    leads.add(made, lambda these: [0.5], 0)
    assert made[0].words
    assert leads.waiting(1)[0].words == made[0].words


def end(leads: Leads, url: str, outcome: float | None) -> int:
    lead = lead_to(leads, url)
    leads.end(lead, outcome)
    return lead.id


def test_examples_of_back_links_are_what_they_led_to(store: Store) -> None:
    leads = Leads(store, once=True)
    add(leads, Role.FORWARD, {"http://origin.es/": 0.5})
    origin = end(leads, "http://origin.es/", 1.0)
    add(leads, Role.BACK, {"http://hub.org/links": 0.5}, source=origin)
    hub = end(leads, "http://hub.org/links", None)
    sites = {f"http://s{number}.org/": 0.5 for number in range(4)}
    add(leads, Role.FORWARD, {"http://origin.es/": 0.5, **sites}, source=hub)
    for number, outcome in enumerate((1.0, 0.0, 0.0)):
        end(leads, f"http://s{number}.org/", outcome)
    back = [each for each in leads.examples() if each.role is Role.BACK]
    assert [each.share for each in back] == [pytest.approx(1 / 3)], "without the site it came from"
    forward = [each.share for each in leads.examples() if each.role is Role.FORWARD]
    assert sorted(forward) == [0.0, 0.0, 1.0, 1.0], "what waits is no example"


def test_a_back_link_that_led_to_one_site_is_no_example(store: Store) -> None:
    leads = Leads(store, once=True)
    add(leads, Role.BACK, {"http://hub.org/links": 0.5})
    hub = end(leads, "http://hub.org/links", None)
    add(leads, Role.FORWARD, {"http://a.org/": 0.5}, source=hub)
    end(leads, "http://a.org/", 1.0)
    assert [each.role for each in leads.examples()] == [Role.FORWARD]
    add(leads, Role.FORWARD, {"http://b.org/": 0.5}, source=hub)
    end(leads, "http://b.org/", 0.0)
    back = [each.share for each in leads.examples() if each.role is Role.BACK]
    assert back == [0.5], "two are enough"


def test_the_last_examples_are_learned_from(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    leads = Leads(store, once=True)
    for number, share in enumerate((1.0, 0.0)):
        add(leads, Role.BACK, {f"http://hub{number}.org/": 0.5})
        hub = end(leads, f"http://hub{number}.org/", None)
        sites = [f"http://s{number}{letter}.org/" for letter in "ab"]
        add(leads, Role.FORWARD, dict.fromkeys(sites, 0.5), source=hub)
        for site in sites:
            end(leads, site, share)
    monkeypatch.setattr("diptych.frontier.leads._MAX_EXAMPLES", 1)
    found = [(each.role, each.share) for each in leads.examples()]
    assert found == [(Role.FORWARD, 0.0), (Role.BACK, 0.0)]


def test_all_that_wait_get_new_scores_and_seeds_stay_first(store: Store) -> None:
    leads = Leads(store, once=True)
    add(leads, Role.SEED, {"http://seed.org/": 2.0})
    add(leads, Role.FORWARD, {f"http://s{number}.org/": 0.5 for number in range(12_000)})
    count = 0
    for some in leads.all_waiting():
        count += len(some)
        leads.rescore(some, [float(lead.site == "s7777.org") for lead in some])
    assert count == 12_000
    assert [lead.site for lead in leads.waiting(2)] == ["seed.org", "s7777.org"]


def verdict(site: str, *, accept: bool) -> Verdict:
    url = Url(f"http://{site}/")
    return Verdict(site, url, Decision(accept, 0.8, "" if accept else "one_language"),
                   (("en", url),), 2, url)  # fmt: skip


def test_verdicts_are_kept_in_the_order_they_were_given(store: Store) -> None:
    leads = Leads(store, once=True)
    first, second = store.site_id("a.org"), store.site_id("b.org")
    leads.decide(second, verdict("b.org", accept=True), 7, 12)
    leads.decide(first, verdict("a.org", accept=False), 8, 13)
    assert leads.verdicts() == [verdict("b.org", accept=True), verdict("a.org", accept=False)]
    assert leads.verdicts(only_bilingual=True) == [verdict("b.org", accept=True)]
    assert [leads.decided(site) for site in ("a.org", "b.org", "c.org")] == [False, True, None]
    assert leads.without_back_links() == [(second, "http://b.org/", 7)]
    leads.mark_looked_up(second)
    assert leads.without_back_links() == []


def test_the_last_verdict_on_a_site_holds(store: Store) -> None:
    leads = Leads(store, once=True)
    site = store.site_id("a.org")
    leads.decide(site, verdict("a.org", accept=False), 7, 12)
    leads.decide(site, verdict("a.org", accept=True), 8, 13)
    assert leads.verdicts() == [verdict("a.org", accept=True)]


def test_failed_leads_have_a_reason(store: Store) -> None:
    leads = Leads(store, once=True)
    add(leads, Role.SEED, {"http://a.org/": 2.0, "http://b.org/": 2.0})
    leads.end(lead_to(leads, "http://a.org/"), None, "http_404")
    leads.end(lead_to(leads, "http://b.org/"), 0.0)
    assert leads.failed() == [("http://a.org/", "http_404")]
    assert (leads.failures("a.org"), leads.failures("b.org")) == (1, 0)
    assert leads.all_failures() == 1


def test_leads_that_wait_or_are_in_progress_are_left(store: Store) -> None:
    leads = Leads(store, once=True)
    add(leads, Role.FORWARD, {f"http://{name}.org/": 0.5 for name in "abc"})
    leads.take(lead_to(leads, "http://a.org/"))
    assert leads.left() == 3
    end(leads, "http://b.org/", 1.0)
    assert leads.left() == 2


def test_verdicts_are_counted_and_rejections_come_by_frequency(store: Store) -> None:
    leads = Leads(store, once=True)
    given = {"a": (False, "none"), "b": (True, ""), "c": (False, "one_language"),
             "d": (False, "one_language"), "e": (True, ""), "f": (False, "all")}  # fmt: skip
    for at, (name, (accept, reason)) in enumerate(given.items()):
        told = replace(verdict(f"{name}.org", accept=accept), decision=Decision(accept, 0, reason))
        leads.decide(store.site_id(f"{name}.org"), told, 1, 20 - at)
    assert (leads.tested(), leads.found(), leads.found_at()) == (6, 2, (16, 19))
    assert leads.rejections() == [("one_language", 2), ("all", 1), ("none", 1)]


def test_leads_that_have_led_to_a_page_are_counted_by_site(store: Store) -> None:
    leads = Leads(store, once=False)
    add(leads, Role.FORWARD, {f"http://a.org/{number}": 0.5 for number in range(4)})
    add(leads, Role.FORWARD, {"http://b.org/": 0.5, "http://c.org/": 0.5})
    for number, outcome in enumerate((0.0, 1.0, None)):
        end(leads, f"http://a.org/{number}", outcome)
    end(leads, "http://b.org/", 1.0)
    assert [leads.followed(site) for site in ("a.org", "b.org", "c.org")] == [2, 1, 0]


def test_each_site_that_has_moved_is_known_by_where_it_went_and_came_from(store: Store) -> None:
    leads = Leads(store, once=True)
    moves = {"a": "b", "c": "d"}
    for old, new in moves.items():
        add(leads, Role.SEED, {f"http://{old}.org/": 2.0})
        lead = lead_to(leads, f"http://{old}.org/")
        add(leads, Role.SEED, {f"http://{new}.org/": 2.0}, source=lead.id)
        leads.end(lead, None, Reason.MOVED)
    for old, new in moves.items():
        moved = lead_to(leads, f"http://{new}.org/")
        assert leads.origin(moved) == (f"http://{old}.org/", 1)
        assert leads.destination(f"{old}.org") == f"{new}.org"
        assert leads.destination(f"{new}.org") == f"{new}.org"

"""Facts about URLs and pairs of a run."""

from __future__ import annotations

from support.corpora import Maker, Said, url

from diptych.frontier.queue import Entry, Frontier
from diptych.run.facts import Facts, PairFacts, UrlFacts
from diptych.run.store import Store
from diptych.text.urls import url_key
from diptych.types import Decision, Link, PagePair, Url

TOLD = {
    ("/en/a", "/fr/a"): [
        Said("One.", "Un.", 0.9), Said("Two.", "Deux.", 0.5),
        Said("Bad.", "Mauvais.", 0.2, "low_score"),
    ],
    ("/en/b", "/fr/b"): [Said("Three.", "Trois.", 0.7)],
}  # fmt: skip
EN, FR = url("/en/a"), url("/fr/a")


def redirect(store: Store, source: Url, target: Url) -> None:
    values = url_key(target), url_key(source)
    store.db.execute("UPDATE urls SET redirect = ? WHERE key = ?", values)


def test_a_url_has_the_target_of_its_redirect(made: Maker) -> None:
    store = made(TOLD)
    facts = Facts(store)
    assert facts.url(url("/nowhere")) is None
    Frontier(store.db).add([Entry(url("/old"), 1, 0.25, depth=3)])
    assert facts.url(url("/old")) == UrlFacts(0, 3, None, "", None, 0, 4, 0.25)
    store.db.execute(
        "UPDATE urls SET state = 3, status = 404, reason = 'http_404', attempts = 2 WHERE url = ?",
        (url("/old"),),
    )
    redirect(store, url("/old"), EN)
    assert facts.url(url("/old")) == UrlFacts(3, 3, 404, "http_404", EN, 2, 4, 0.25)
    redirect(store, url("/old"), url("/nowhere"))
    found = facts.url(url("/old"))
    assert found is not None
    assert found.redirect == "?"


def test_a_page_has_the_path_of_its_archive(made: Maker) -> None:
    facts = Facts(made(TOLD, flags={"/fr/a": ("noai",)}))
    assert facts.page(url("/")) is None
    assert facts.page(FR) == (
        "fr", "", "title of /fr/a", 10, 100, "", "", None, 1_700_000_002.0,
        "warc/diptych-00001.warc.gz", 2000, "sha1:/fr/a", "noai", 1,
    )  # fmt: skip


def test_links_are_counted_with_the_first_page(made: Maker) -> None:
    store = made(TOLD)
    for source in (url("/en/b"), EN):
        store.announce(1, [(source, Link(FR, "alternate", "fr"))])
    assert Facts(store).links_to(FR) == (2, EN)
    assert Facts(store).links_to(EN) == (0, None)


def test_pairs_are_found_by_either_side_and_in_any_order(made: Maker) -> None:
    facts = Facts(made(TOLD, marks=("partial",)))
    both = PairFacts(EN, FR, 0.9, "hreflang+keys", "", 1, 0.8, "", "partial", 2)
    assert facts.pairs_of(EN) == facts.pairs_of(FR) == [both]
    assert facts.pairs_between(EN, FR) == facts.pairs_between(FR, EN) == [both]
    assert facts.pairs_between(EN, url("/fr/b")) == facts.pairs_of(url("/")) == []


def test_pairs_are_listed_by_decision_in_the_order_of_urls(made: Maker) -> None:
    store = made(TOLD)
    facts = Facts(store)
    german = PagePair(EN, FR, "en", "de", 0.3, "keys")
    store.replace_pairs(1, [*(pair for _, pair in store.pairs(1)), german])
    assert [row.accept for row in facts.pairs_of(EN)] == [None, 1], "by language: de, fr"
    assert [row.left for row in facts.decided_pairs(accept=True)] == [EN, url("/en/b")]
    assert facts.decided_pairs(accept=False) == []
    (id,) = (id for id, pair in store.pairs(1) if pair == german)
    store.save_decision(id, Decision(False, 0.1, "size"))
    (row,) = facts.decided_pairs(accept=False)
    assert (row.evidence, row.accept, row.verified, row.reason) == ("keys", 0, 0.1, "size")


def test_segments_are_counted_by_reason_with_their_mean_score(made: Maker) -> None:
    facts = Facts(made(TOLD))
    assert facts.segments_between(EN, FR) == [("", 2, 0.7), ("low_score", 1, 0.2)]
    assert facts.segments_between(FR, EN) == facts.segments_between(EN, FR)
    assert facts.segments_between(EN, url("/fr/b")) == []

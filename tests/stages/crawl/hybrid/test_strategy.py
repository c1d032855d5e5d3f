"""The guided crawl, on small sites of fakes: what it fetches, in which order, and what it asks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.fakes import at, make_page
from support.guiding import Fake, Pair, Talk, Walk, Web, alternate, links, page, path_of, to, walk

from diptych.stages.crawl.hybrid import known_urls
from diptych.stages.crawl.hybrid.strategy import Hybrid
from diptych.stages.crawl.hybrid.translations import MAX_GUESSES
from diptych.types import (
    CrawlEvent,
    Decision,
    Link,
    Missing,
    Moved,
    PagePair,
    PairingResult,
    VerifiedPair,
)

BARE = Hybrid(models=False)
"""what a model says of the URLs of a fake site is beside the point of most tests"""
Targets = Callable[[int], Sequence[str | Link]]


def talk(*langs: str, models: bool = False) -> Talk:
    asked = langs or ("en", "fr")
    return Talk(Hybrid(models=models).guide(asked), asked)


def nothing(number: int) -> Sequence[str | Link]:
    return ()


def pairs_of(count: int) -> list[Pair]:
    return [("/", "/fr/"), *((f"/en/{number}", f"/fr/{number}") for number in range(count))]


def two_trees(
    count: int, en: Targets = nothing, fr: Targets = nothing, *, switch: bool = True
) -> dict[str, Fake]:
    """A home page and its pages in each language, the French ones linked in the other order."""
    there, back = ([to("/fr/", "Français")], [to("/", "English")]) if switch else ([], [])
    english = [f"/en/{number}" for number in range(count)]
    french = [f"/fr/{number}" for number in reversed(range(count))]
    pages = {"/": page("en", *there, *english), "/fr/": page("fr", *back, *french)}
    for number in range(count):
        pages[f"/en/{number}"] = page("en", *en(number))
        pages[f"/fr/{number}"] = page("fr", *fr(number))
    return pages


def are_together(made: Walk, pairs: Sequence[Pair]) -> bool:
    return all(made.apart(*pair) == 1 for pair in pairs)


# -- both halves of a pair together ----------------------------------------------------------------

DECLARED: dict[str, Targets] = {
    "alternate": lambda number: [alternate(f"/fr/{number}", "fr")],
    "region": lambda number: [alternate(f"/fr/{number}", "fr-CA")],
    "hreflang": lambda number: [to(f"/fr/{number}", "lire", hreflang="fr")],
    "name": lambda number: [to(f"/fr/{number}", "Français")],
    "image": lambda number: [to(f"/fr/{number}", alt="French")],
}


def in_english(declared: str) -> Targets:
    """The same declarations, from French pages to English ones."""

    def made(number: int) -> list[Link]:
        (link,) = links(*DECLARED[declared](number))
        changed = {"fr": "en", "fr-CA": "en-GB", "Français": "English", "French": "English"}
        said = (changed.get(text, text) for text in link[2:])
        return [Link(at(f"/en/{number}"), link.rel, *said)]

    return made


@pytest.mark.parametrize("declared", DECLARED)
@pytest.mark.parametrize("models", [False, True])
def test_page_that_another_declares_as_its_translation_is_next(declared: str, models: bool) -> None:
    pages = two_trees(8, DECLARED[declared], in_english(declared))
    made = walk(Web(pages, pairs_of(8)), Hybrid(models=models))
    assert are_together(made, pairs_of(8)), made.order
    assert sorted(made.order) == sorted(pages)
    assert sorted(made.found) == sorted(pairs_of(8))


@pytest.mark.parametrize("declared", DECLARED)
def test_declarations_of_one_side_are_enough(declared: str) -> None:
    pages = two_trees(8, DECLARED[declared])
    made = walk(Web(pages, pairs_of(8)), BARE)
    assert sorted(made.found) == sorted(pairs_of(8))
    # Nothing says which English page belongs to a French one that is fetched before keys are known.
    assert sum(made.apart(*pair) == 1 for pair in pairs_of(8)) >= 6, made.order


def test_aligned_links_of_a_pair_lead_to_pairs() -> None:
    pairs = pairs_of(8)
    pages = two_trees(8)
    made = walk(Web(pages, pairs, aligned={pairs[0]: pairs[1:]}), BARE)
    assert are_together(made, pairs), made.order


def test_aligned_links_of_pages_with_too_little_text_lead_to_pairs_too() -> None:
    pairs = pairs_of(8)
    made = walk(
        Web(two_trees(8), pairs[1:], undecided=pairs[:1], aligned={pairs[0]: pairs[1:]}), BARE
    )
    assert are_together(made, pairs[1:]), made.order
    assert sorted(made.found) == sorted(pairs[1:])


def test_keys_learned_on_the_site_lead_from_page_to_page() -> None:
    pairs = pairs_of(12)
    pages = two_trees(12, lambda number: DECLARED["alternate"](number) if number < 3 else ())
    made = walk(Web(pages, pairs), BARE)
    assert are_together(made, pairs), made.order


def test_translations_in_a_sitemap_are_fetched_together() -> None:
    heard = talk()
    numbers = range(6)
    heard.sitemap(*([f"/{n}", ("en", f"/{n}"), ("fr", f"/x{9 - n}")] for n in numbers))
    assert len(heard.values) == 12
    order = []
    for _ in range(12):
        path = heard.next
        order.append(path)
        heard.page(path, "fr" if path.startswith("/x") else "en")
        for question in heard.questions():
            assert question is not None
            heard.found(*question)
    together = {frozenset(two) for two in zip(order[::2], order[1::2], strict=True)}
    assert together == {frozenset((f"/{n}", f"/x{9 - n}")) for n in numbers}


def test_sitemap_in_several_entries_per_page_pairs_only_what_one_entry_names() -> None:
    heard = talk().sitemap(["/a", ("fr", "/b")], ["/c", ("fr", "/d")])
    heard.page("/a", "en").page("/d", "fr")
    assert heard.questions() == []


def test_links_of_a_language_selection_page_lead_to_a_pair() -> None:
    heard = talk().page("/", "", to("/one", "English"), "/more", to("/two", "Français"))
    first = heard.next
    assert first in {"/one", "/two"}
    heard.page(first, "en" if first == "/one" else "fr", "/new")
    second = heard.next
    assert {first, second} == {"/one", "/two"}
    heard.page(second, "en" if second == "/one" else "fr")
    assert heard.questions() == [("/one", "/two")]


def test_same_link_text_in_a_pair_is_no_evidence() -> None:
    heard = talk().page("/a", "en", to("/x", "More")).page("/b", "fr", to("/y", "More"))
    heard.page("/x", "en").page("/y", "fr")
    assert all(question is None for question in heard.questions())


# -- what nothing leads to -------------------------------------------------------------------------


def only_english_is_linked(count: int, *, but: int = 3) -> dict[str, Fake]:
    """The first few pages declare their translations; to the others nothing leads."""
    pages = two_trees(count, lambda number: DECLARED["alternate"](number) if number < but else ())
    return {**pages, "/fr/": page("fr", to("/", "English"))}


def test_unlinked_url_that_a_key_predicts_is_tried() -> None:
    pairs = pairs_of(12)
    made = walk(Web(only_english_is_linked(12), pairs), BARE)
    assert are_together(made, pairs), made.order
    assert made.missed == []
    assert sorted(made.found) == sorted(pairs)


def test_keys_are_applied_to_pages_fetched_earlier() -> None:
    heard = talk()
    for number in range(9):
        heard.page(f"/en/{number}", "en")
    for number in (3, 4, 5):
        heard.page(f"/fr/{number}", "fr", alternate(f"/en/{number}", "en"))
        heard.found(f"/en/{number}", f"/fr/{number}")
    assert {f"/fr/{number}" for number in (0, 1, 2, 6, 7, 8)} <= set(heard.values)


def test_guessing_stops_after_failures() -> None:
    count = 80
    pages = only_english_is_linked(count)
    for number in range(3, count):
        del pages[f"/fr/{number}"]
    made = walk(Web(pages, pairs_of(3)), BARE)
    last = made.place(f"/en/{count - 1}")
    missed = [path for path in made.missed if made.place(path) < last]
    assert missed, "some are tried"
    assert len(missed) <= 0.2 * count, "but they come last once they have failed"
    assert set(pages) <= set(made.order)


def test_no_more_than_a_few_guessed_urls_are_pending_at_a_time() -> None:
    heard = talk()
    count = 6 * MAX_GUESSES
    for number in range(count):
        heard.page(f"/en/{number}", "en")
    for number in range(4):
        heard.page(f"/fr/{number}", "fr", alternate(f"/en/{number}", "en"))
        heard.found(f"/en/{number}", f"/fr/{number}")
    assert 0 < len(heard.values) <= MAX_GUESSES
    for path in list(heard.values):
        heard.missing(path)
    assert heard.guide.outlook().left <= 1.03 * sum(heard.values.values())


def test_guessed_url_that_is_linked_later_is_no_longer_a_guess() -> None:
    heard = talk()
    for number in range(4):
        heard.page(f"/en/{number}", "en")
    for number in range(3):
        heard.page(f"/fr/{number}", "fr", alternate(f"/en/{number}", "en"))
        heard.found(f"/en/{number}", f"/fr/{number}")
    guessed = heard.values["/fr/3"]
    assert heard.page("/fr/", "fr", "/fr/3").values["/fr/3"] >= guessed
    heard.page("/fr/3", "fr")
    assert ("/en/3", "/fr/3") in heard.questions()


# -- what is starved, and not forgotten ------------------------------------------------------------


def test_links_named_after_other_languages_come_last_but_are_followed() -> None:
    others = [to(f"/{n}", name) for n, name in enumerate(["Deutsch", "ES", "Ελληνικά"])]
    pages = two_trees(6, lambda number: [*others, *DECLARED["name"](number)])
    pages["/"] = page("en", *others, *pages["/"].links)
    pages |= {f"/{number}": page("de", f"/{number}/more") for number in range(3)}
    pages |= {f"/{number}/more": page("de") for number in range(3)}
    made = walk(Web(pages, pairs_of(6)), BARE)
    strangers = [f"/{number}" for number in range(3)]
    strangers += [f"{path}/more" for path in strangers]
    assert sorted(made.order[-6:]) == sorted(strangers)


def test_folder_learned_to_be_in_another_language_comes_last() -> None:
    german = [f"/de/{number}" for number in range(12)]
    pages = two_trees(12, DECLARED["name"])
    # No name says so, and both home pages link there before anything else.
    pages["/"] = page("en", *german, *pages["/"].links)
    pages["/fr/"] = page("fr", *german, *pages["/fr/"].links)
    pages |= {path: page("de") for path in german}
    made = walk(Web(pages, pairs_of(12)), BARE)
    early = [path for path in made.order[:26] if path in german]
    assert len(early) <= 3, made.order
    assert set(german) <= set(made.order)


def test_likely_translation_by_its_url_is_found_among_all_pending_urls() -> None:
    told = talk(models=True).page("/", "en", "/help/outreach-kit/", "/about/", "/news/2024/report/")
    told.page("/fr/help/outreach-kit/", "fr").page("/help/outreach-kit/", "en")
    (question,) = (pair for pair in told.guide.questions() if pair is not None)
    assert question.evidence == "url_model"


WAYS_OUT: dict[str, Callable[[Talk], object]] = {
    "in the same language": lambda told: told.page("/x", "en", text="other"),
    "without text": lambda told: told.page("/x", ""),
    "missing": lambda told: told.missing("/x"),
    "a copy of a paired page": lambda told: told.page("/x", "fr", text="home"),
    "moved to a paired page": lambda told: told.moved("/x", "/fr/"),
}


@pytest.mark.parametrize("way", WAYS_OUT)
def test_pair_that_waited_for_a_likelier_one_is_verified_in_the_end(way: str) -> None:
    told = talk().page("/", "en", to("/fr/", "Français"), "/a").page("/fr/", "fr", text="home")
    told.questions()
    told.found("/", "/fr/").page("/b", "fr")
    told.page("/a", "en", alternate("/x", "fr"), to("/b", "Français"))
    assert ("/a", "/b") not in told.questions()
    WAYS_OUT[way](told)
    assert ("/a", "/b") in told.questions()


def test_kind_of_pages_without_text_comes_last() -> None:
    told = talk().page("/", "en", to("/fr/", "Français"), *(f"/old/{n}" for n in range(9)))
    told.page("/fr/", "fr").found("/", "/fr/")
    told.page("/new", "en", *(f"/new/{n}" for n in range(9)))
    before = told.values["/old/8"]
    for number in range(4):
        told.page(f"/old/{number}", "").page(f"/new/{number}", "en")
    assert told.values["/old/8"] < before / 3
    assert told.values["/old/8"] < told.values["/new/8"] / 3


def test_sitemap_is_no_page_without_text() -> None:
    plain, listed = talk(), talk().sitemap(["/b"])
    for told in (plain, listed):
        told.page("/", "en", to("/fr/", "Français"), "/a").page("/fr/", "fr").found("/", "/fr/")
    assert listed.values["/a"] == plain.values["/a"]


def test_models_predict_other_languages_before_the_site_is_known() -> None:
    home = ["/de/willkommen.html", "/en/welcome.html", "/fr/bienvenue.html"]
    with_models = talk(models=True).page("/", "", *home).values
    without = talk().page("/", "", *home).values
    assert with_models["/de/willkommen.html"] < with_models["/en/welcome.html"]
    assert with_models["/de/willkommen.html"] < with_models["/fr/bienvenue.html"]
    assert len(set(without.values())) == 1


def test_section_without_pairs_ranks_below_one_with_pairs() -> None:
    count = 16
    news = [f"/en/news/{number}" for number in range(count)]
    docs = [f"/en/docs/{number}" for number in range(count)]
    mixed = [path for both in zip(news, docs, strict=True) for path in both]
    pages: dict[str, Fake] = {"/": page("en", *mixed)} | {path: page("en") for path in news}
    for number, path in enumerate(docs):
        # The names of translations say nothing, so that nothing but the section does.
        pages[path] = page("en", alternate(f"/x/{number * 7919 % 1000}", "fr"))
        pages[f"/x/{number * 7919 % 1000}"] = page("fr")
    truth = [(path, f"/x/{number * 7919 % 1000}") for number, path in enumerate(docs)]
    made = walk(Web(pages, truth), BARE)
    assert sorted(made.found) == sorted(truth)
    places = [made.place(path) for path in docs]
    assert sum(made.place(path) > max(places) for path in news) >= count // 2, made.order
    assert set(news) <= set(made.order)


def test_evidence_that_keys_contradict_counts_little() -> None:
    heard = talk()
    for number in range(5):
        heard.page(f"/en/{number}", "en", alternate(f"/fr/{number}", "fr"))
        heard.page(f"/fr/{number}", "fr").found(f"/en/{number}", f"/fr/{number}")
    heard.page("/en/8", "en", to("/fr/8", "Français"))
    heard.page("/en/9", "en", to("/fr/home", "Français"))
    assert heard.values["/fr/home"] < heard.values["/fr/8"]


def test_evidence_that_was_wrong_is_believed_less() -> None:
    heard = talk()
    targets = [alternate(f"/fr/{number * 37 % 100}", "fr") for number in range(9)]
    heard.page("/en/a", "en", targets[0]).page("/en/b", "en", targets[1])
    before = heard.values[path_of(targets[1].url)]
    heard.page(path_of(targets[0].url), "fr")
    heard.found("/en/a", path_of(targets[0].url), accept=False)
    assert heard.values[path_of(targets[1].url)] < before


def test_failed_verification_is_no_evidence_and_the_next_candidate_follows() -> None:
    heard = talk()
    targets = [alternate(f"/fr/{number * 37 % 100}", "fr") for number in range(9)]
    heard.page("/en/a", "en", targets[0], to("/fr/y", "Français")).page("/en/b", "en", targets[1])
    before = heard.values[path_of(targets[1].url)]
    heard.page(path_of(targets[0].url), "fr").page("/fr/y", "fr")
    heard.questions()
    heard.found("/en/a", path_of(targets[0].url), accept=False, reason="failed:MemoryError")
    assert heard.values[path_of(targets[1].url)] >= before
    assert ("/en/a", "/fr/y") in heard.questions()


@pytest.mark.parametrize(
    ("reason", "is_evidence"), [("http_404", True), ("failed:TimeoutError", False)]
)
def test_page_that_could_not_be_read_is_no_evidence(reason: str, is_evidence: bool) -> None:
    heard = talk()
    for name in "abcd":
        heard.page(f"/en/{name}", "en", alternate(f"/fr/{name}", "fr"))
    before = heard.values["/fr/b"]
    for name in "acd":
        heard.missing(f"/fr/{name}", reason)
    heard.page("/en/e", "en", "/fr/b")
    assert (heard.values["/fr/b"] < before) == is_evidence
    assert heard.guide.outlook().left <= 1.03 * sum(heard.values.values())


def test_link_in_the_language_of_its_own_page_is_no_evidence() -> None:
    heard = talk().page("/en/a", "en", to("/x", "Français"), "/y").page("/x", "en", "/z")
    assert heard.questions() == []
    assert heard.values["/z"] <= heard.values["/y"]


# -- pairs that are asked for ----------------------------------------------------------------------


@pytest.mark.parametrize("late", [False, True])
def test_next_candidate_is_verified_when_a_pair_is_rejected(late: bool) -> None:
    heard = talk().page("/en/a", "en", alternate("/fr/x", "fr"), to("/fr/y", "Français"))
    heard.page("/fr/x", "fr")
    assert heard.questions() == [("/en/a", "/fr/x")]
    if late:
        heard.found("/en/a", "/fr/x", accept=False)
    heard.page("/fr/y", "fr")
    if not late:  # the answer comes when the other candidate is there already
        assert heard.questions() == []
        heard.found("/en/a", "/fr/x", accept=False)
    assert heard.questions() == [("/en/a", "/fr/y")]
    heard.found("/en/a", "/fr/y")
    assert heard.questions() == []


def test_strongest_candidate_is_verified_first() -> None:
    heard = talk().page("/fr/y", "fr", to("/en/a", "English"))
    heard.page("/fr/x", "fr", alternate("/en/a", "en")).page("/en/a", "en")
    assert heard.questions() == [("/en/a", "/fr/x")]


def test_page_that_has_its_translation_is_verified_with_no_other() -> None:
    heard = talk().page("/en/a", "en", alternate("/fr/x", "fr"), to("/fr/y", "Français"))
    heard.page("/fr/x", "fr").found(*["/en/a", "/fr/x"])
    before = heard.values["/fr/y"]
    heard.questions()
    heard.page("/fr/y", "fr")
    assert heard.questions() == []
    assert before <= 0.5, "it completes no pair any more"


def test_verifications_of_a_page_are_bounded() -> None:
    heard = talk()
    for number in range(40):
        heard.page(f"/fr/{number}", "fr", to("/en/a", "English"))
    heard.page("/en/a", "en", *(to(f"/fr/{number}", "Français") for number in range(40)))
    asked = 0
    while questions := [question for question in heard.questions() if question is not None]:
        for question in questions:
            asked += 1
            heard.found(*question, accept=False)
    assert 1 <= asked <= 12


@pytest.mark.parametrize("reason", ["test", "too_little_text"])
def test_pair_is_verified_once(reason: str) -> None:
    heard = talk().page("/en/a", "en", alternate("/fr/a", "fr")).page("/fr/a", "fr")
    assert heard.questions() == [("/en/a", "/fr/a")]
    heard.found("/en/a", "/fr/a", accept=False, reason=reason)
    heard.settled(("/en/a", "/fr/a"))
    heard.found("/en/x", "/fr/x", ("/en/a", "/fr/a"))
    assert heard.questions() == []


def test_undecided_pair_does_not_count() -> None:
    heard = talk().page("/en/a", "en", alternate("/fr/x", "fr"), to("/fr/y", "Français"))
    heard.page("/en/b", "en", alternate("/fr/z", "fr")).page("/fr/x", "fr")
    before, found = heard.values["/fr/z"], heard.guide.outlook().found
    assert heard.questions() == [("/en/a", "/fr/x")]
    heard.found("/en/a", "/fr/x", accept=False, reason="too_little_text")
    assert heard.values["/fr/z"] == before
    assert heard.guide.outlook().found == found
    heard.page("/fr/y", "fr")
    assert heard.questions() == [("/en/a", "/fr/y")]


def test_pages_in_one_language_are_no_pair_whatever_is_declared() -> None:
    heard = talk().page("/a", "en", alternate("/b", "fr")).page("/b", "en-GB")
    heard.page("/c", "de", alternate("/d", "fr")).page("/d", "fr")
    heard.page("/e", "en", alternate("/f", "fr")).page("/f", "")
    assert heard.questions() == []


def test_left_is_the_first_requested_language() -> None:
    heard = talk("fr", "en").page("/e", "en", alternate("/f", "fr")).page("/f", "fr")
    (question,) = heard.guide.questions()
    assert question is not None
    assert (question.left, question.left_lang, question.right_lang) == (at("/f"), "fr", "en")
    assert 0 <= question.score <= 1
    assert question.evidence == "alternate"


# -- copies and redirects --------------------------------------------------------------------------


def test_evidence_for_a_copy_counts_for_the_original() -> None:
    heard = talk().page("/fr/a", "fr", alternate("/en/copy", "en"))
    heard.page("/en/a", "en", text="the same")
    assert heard.questions() == []
    heard.page("/en/copy", "en", text="the same")
    assert heard.questions() == [("/en/a", "/fr/a")]


def test_links_of_a_page_that_is_not_translated_are_read() -> None:
    told = talk().page("/", "en", "/a", "/es/a", text="same")
    told.page("/es/a", "en", "/a", "/es/b", text="same")
    assert "/es/b" in told.values


def test_copy_of_a_page_is_no_page_without_a_translation() -> None:
    heard = talk()
    for number in range(9):
        heard.page(f"/en/{number}", "en", text="the same")
        heard.page(f"/fr/{number}", "fr", text="le même")
    assert heard.questions() == []


def test_later_evidence_for_a_copy_counts_for_the_original() -> None:
    heard = talk().page("/en/a", "en", text="the same").page("/en/copy", "en", text="the same")
    heard.page("/fr/a", "fr", alternate("/en/copy", "en"))
    assert heard.questions() == [("/en/a", "/fr/a")]


@pytest.mark.parametrize("is_there", [False, True])
def test_evidence_for_a_url_counts_for_its_redirect_target(is_there: bool) -> None:
    heard = talk().page("/fr/a", "fr", alternate("/en/old", "en"), "/fr/b")
    value = heard.values["/en/old"]
    if is_there:
        heard.page("/en/new", "en").moved("/en/old", "/en/new")
    else:
        heard.moved("/en/old", "/en/new")
        assert heard.values["/en/new"] == pytest.approx(value)
        assert heard.next == "/en/new"
        heard.page("/en/new", "en")
    assert heard.questions() == [("/en/new", "/fr/a")]


def test_circular_redirects_end() -> None:
    heard = talk().page("/", "en", "/a", "/b")
    heard.moved("/a", "/b").moved("/b", "/a").moved("/a", "/a")
    heard.page("/c", "fr", alternate("/a", "en"), alternate("/b", "en"))
    assert all(math.isfinite(value) for value in heard.values.values())


def test_missing_page_leaves_no_candidates() -> None:
    heard = talk().page("/en/a", "en", alternate("/fr/a", "fr")).missing("/fr/a")
    assert heard.guide.outlook().left == pytest.approx(0.0)
    heard.page("/fr/b", "fr", alternate("/en/a", "en"))
    assert heard.questions() == [("/en/a", "/fr/b")]


# -- pairing by content ----------------------------------------------------------------------------


def test_pages_that_nothing_pairs_are_paired_by_content() -> None:
    heard = talk()
    requested: list[Pair | None] = []
    for number in range(4):
        heard.page(f"/en/{number}", "en").page(f"/x/{number * 31}", "fr")
        requested += heard.questions()
    assert requested[0] is None
    assert requested.count(None) == 1, "not again before it was answered"
    heard.settled(("/en/0", "/x/0"), ("/en/1", "/x/31"))
    assert sorted(question for question in heard.questions() if question) == [
        ("/en/0", "/x/0"),
        ("/en/1", "/x/31"),
    ]


def test_pairing_that_failed_is_asked_for_again_and_is_no_evidence() -> None:
    heard = talk()
    requested: list[Pair | None] = []
    for number in range(40):
        heard.page(f"/en/{number}", "en").page(f"/x/{number * 31}", "fr")
        new = heard.questions()
        requested += new
        if None in new:
            heard.learn(PairingResult(None))
    assert requested.count(None) > 1


def test_pages_in_one_language_are_not_paired_by_content() -> None:
    heard = talk()
    for number in range(30):
        heard.page(f"/en/{number}", "en").page(f"/de/{number}", "de").page(f"/{number}", "")
    assert heard.questions() == []


def test_pairs_that_content_is_not_sure_of_are_not_verified() -> None:
    heard = talk().page("/en/0", "en").page("/x", "fr").settled(("/en/0", "/x"), score=0.05)
    assert heard.questions() == []


def test_pairing_by_content_becomes_less_frequent() -> None:
    heard = talk()
    asked = 0
    for number in range(60):
        heard.page(f"/en/{number}", "en").page(f"/x/{number}", "fr")
        if None in heard.questions():
            asked += 1
            heard.settled()
    assert 2 <= asked <= 12


# -- several languages, none, and nothing to go by -------------------------------------------------


def test_three_languages_are_three_pairs_fetched_together() -> None:
    langs = ("en", "fr", "de")
    pages: dict[str, Fake] = {}
    for number in range(3):
        all_three = [alternate(f"/{lang}/{number}", lang) for lang in langs]
        for lang in langs:
            more = [f"/{lang}/{other}" for other in range(3)]
            pages[f"/{lang}/{number}"] = page(lang, *all_three, *more)
    truth = [
        (f"/{left}/{number}", f"/{right}/{number}")
        for number in range(3)
        for left, right in (("en", "fr"), ("en", "de"), ("fr", "de"))
    ]
    made = walk(Web(pages, truth), BARE, *langs, start="/en/0")
    assert sorted(made.found) == sorted(truth)
    for number in range(3):
        places = sorted(made.place(f"/{lang}/{number}") for lang in langs)
        assert places[2] - places[0] == 2, made.order


def test_pairs_whose_evidence_has_proved_right_are_not_verified() -> None:
    pages = two_trees(60, DECLARED["alternate"])
    heard: list[Talk] = []
    made = walk(Web(pages, pairs_of(60)), BARE, watch=heard.append)
    assert sorted(made.order) == sorted(pages)
    assert 15 < len(made.requested) < 45, "the first ones, and samples of the others"
    assert heard[-1].guide.outlook().found == 61
    assert made.outlooks[-1] == pytest.approx(0.0)


@pytest.mark.parametrize("lang", ["en", ""])
def test_without_evidence_the_order_is_breadth_first(lang: str) -> None:
    numbers = range(1, 61)
    pages = {f"/{n}": page(lang, *(f"/{4 * n + k}" for k in range(1, 5) if 4 * n + k <= 60))
             for n in numbers}  # fmt: skip
    home = page(lang, *(f"/{number}" for number in range(1, 5)))
    made = walk(Web({"/": home, **pages}), BARE)
    assert made.order == ["/", *(f"/{number}" for number in numbers)]
    assert made.requested == []


@pytest.mark.parametrize("rel", ["canonical", "stylesheet", "icon", "next"])
def test_only_followed_kinds_of_links_are_ranked(rel: str) -> None:
    assert talk().page("/", "en", to("/x", rel=rel)).values == {}


def test_page_that_links_to_itself_is_not_fetched_again() -> None:
    assert talk().page("/", "en", "/", to("/", "English"), alternate("/", "en")).values == {}


@pytest.mark.parametrize(
    ("limit", "most"), [("MAX_KNOWN", 6), ("MAX_CHARACTERS", 5 * len("http://example.org/1") + 19)]
)
def test_urls_beyond_the_limit_are_fetched_last(
    monkeypatch: pytest.MonkeyPatch, limit: str, most: int
) -> None:
    monkeypatch.setattr(known_urls, limit, most)
    heard = talk().page("/", "en", *(f"/{number}" for number in range(9)))
    assert len(heard.values) == 9
    known, beyond = ([heard.values[f"/{n}"] for n in some] for some in (range(5), range(5, 9)))
    assert 0 < max(beyond) < min(known)


# -- what is left ----------------------------------------------------------------------------------


@pytest.mark.parametrize("declared", [*DECLARED, ""])
def test_outlook_falls_to_nothing_and_is_never_negative(declared: str) -> None:
    pages = two_trees(12, DECLARED.get(declared, nothing))
    pages["/"] = page("en", *pages["/"].links, "/gone", "/de/a")
    pages["/de/a"] = page("de", "/de/b")
    made = walk(Web(pages, pairs_of(12), content=pairs_of(12)), BARE)
    assert len(made.found) == 13
    assert made.outlooks[0] > 1
    assert min(made.outlooks) >= 0
    assert made.outlooks[-1] == pytest.approx(0.0)
    for said, summed in zip(made.outlooks, made.left, strict=True):
        assert (
            said <= 1.03 * summed + 1e-9
        )  # values are rounded, and links have a worth of their own


def test_outlook_counts_verified_pairs() -> None:
    heard = talk().page("/en/a", "en", alternate("/fr/a", "fr")).page("/fr/a", "fr")
    assert heard.guide.outlook().found == 0
    assert heard.found("/en/a", "/fr/a").guide.outlook().found == 1


def test_guide_has_nothing_to_refill_with() -> None:
    heard = talk().page("/", "en", "/a")
    assert list(heard.guide.refill(None)) == []  # type: ignore[arg-type]


# -- whatever happens ------------------------------------------------------------------------------

PATHS = ["/", "/en/", "/fr/", *(f"/{lang}/{n}" for lang in ("en", "fr", "de") for n in range(4))]
NAMES = ["", "Français", "English", "Deutsch", "more"]


def some_links() -> st.SearchStrategy[list[Link]]:
    link = st.builds(
        lambda path, rel, lang, name: Link(at(path), rel, lang, name),
        st.sampled_from(PATHS), st.sampled_from(["a", "a", "a", "alternate", "sitemap", "next"]),
        st.sampled_from(["", "", "en", "fr", "de", "x-default"]), st.sampled_from(NAMES),
    )  # fmt: skip
    return st.lists(link, max_size=8)


def some_pages() -> st.SearchStrategy[Any]:
    return st.builds(
        lambda path, lang, text, targets: make_page(
            path, lang, *([text] if text else []), links=targets
        ),
        st.sampled_from(PATHS), st.sampled_from(["en", "fr", "fr-CA", "de", ""]),
        st.sampled_from(["", "", "", "one", "two"]), some_links(),
    )  # fmt: skip


def some_news() -> st.SearchStrategy[CrawlEvent]:
    path = st.sampled_from(PATHS).map(at)
    pair = st.builds(lambda one, two: PagePair(one, two, "en", "fr", 0.9, "test"), path, path)
    reason = st.sampled_from(["", "test", "too_little_text"])
    found = st.builds(
        lambda pair, why, links: VerifiedPair(pair, Decision(not why, 0.5, why), tuple(links)),
        pair, reason, st.lists(st.tuples(path, path), max_size=4),
    )  # fmt: skip
    return st.one_of(
        st.builds(Missing, path, st.just("http_404")),
        st.builds(Moved, path, path),
        found,
        st.builds(lambda pairs: PairingResult(tuple(pairs)), st.lists(pair, max_size=4)),
    )


@given(st.lists(st.one_of(some_pages(), some_news()), max_size=30))
def test_any_sequence_of_events_is_survived(events: list[Any]) -> None:
    one, other = BARE.guide(("en", "fr")), BARE.guide(("en", "fr"))
    for event in events:
        answers = []
        for guide in (one, other):
            respond = guide.learn if isinstance(event, CrawlEvent) else guide.rank
            answers.append((list(respond(event, None)), list(guide.questions()), guide.outlook()))
        assert answers[0] == answers[1]
        assert all(math.isfinite(each.priority) and each.priority >= 0 for each in answers[0][0])
        outlook = one.outlook()
        assert outlook is not None
        assert math.isfinite(outlook.left)
        assert outlook.left >= 0


@st.composite
def crawls(draw: st.DrawFn) -> tuple[Talk, list[float]]:
    """A crawl as it may be: each URL once, in any order, with any outcome, answers when they come.

    With what was left at each step by the values that were told.
    """
    heard = talk()
    heard.values["/"] = 1000.0
    open: list[PagePair | None] = []
    gaps: list[float] = []
    while heard.values:
        path = draw(st.sampled_from(sorted(heard.values)))
        match draw(st.integers(0, 9)):
            case 0:
                heard.missing(path)
            case 1:
                heard.moved(path, draw(st.sampled_from(PATHS)))
            case _:
                lang, text = draw(st.sampled_from(["en", "fr", "de", ""])), draw(_COPIED)
                heard.page(path, lang, *draw(some_links()), text=text)
        open.extend(heard.guide.questions())
        while open and draw(st.booleans()):
            heard.learn(draw(_answers(open.pop(draw(st.integers(0, len(open) - 1))))))
            open.extend(heard.guide.questions())
        outlook = heard.guide.outlook()
        assert outlook is not None
        gaps.append(outlook.left - 1.03 * sum(heard.values.values()))
    return heard, gaps


_COPIED = st.sampled_from(["", "", "", "one", "two"])


def _answers(question: PagePair | None) -> st.SearchStrategy[CrawlEvent]:
    path = st.sampled_from(PATHS).map(at)
    if question is None:
        pair = st.builds(lambda one, two: PagePair(one, two, "en", "fr", 0.9, "test"), path, path)
        return st.builds(lambda pairs: PairingResult(tuple(pairs)), st.lists(pair, max_size=4))
    return st.builds(
        lambda why, links: VerifiedPair(question, Decision(not why, 0.5, why), tuple(links)),
        st.sampled_from(["", "", "test", "too_little_text"]),
        st.lists(st.tuples(path, path), max_size=4),
    )


@settings(max_examples=examples(60))
@given(crawls())
def test_outlook_is_at_most_the_sum_of_pending_values(
    made: tuple[Talk, list[float]],
) -> None:
    heard, gaps = made
    assert all(gap < 1e-9 for gap in gaps), gaps
    outlook = heard.guide.outlook()
    assert outlook is not None
    assert outlook.left == pytest.approx(0.0)


def test_unread_links_are_limited_also_after_a_restart() -> None:
    view: Any = None

    def waiting() -> int:
        snapshot: Any = guide.snapshot()
        return sum(len(unread) for _, unread in snapshot["orders"]["unread"])

    policy = Hybrid(models=False)
    guide = policy.guide(("en", "fr"))
    list(guide.rank(make_page("/", "en", links=[Link(at("/x"))] * 21_000), view))
    assert waiting() == 19_800
    guide = policy.restored(("en", "fr"), guide.snapshot())
    list(guide.rank(make_page("/a", "en", links=[Link(at("/x"))] * 3_000), view))
    assert 19_000 < waiting() <= 20_000

"""The corpus of a run: what is in it, in which order, and all that is said beside it."""

from __future__ import annotations

from itertools import combinations

import pytest
from support.corpora import SIGNATURE, Maker, Said, corpus_of, said, url

from diptych.corpus.from_run import Choice, NWayCorpus
from diptych.units import Side

TWO = {
    ("/en/b", "/fr/b"): [Said("Third.", "Troisième.", 0.7)],
    ("/en/a", "/fr/a"): [
        Said("First.", "Premier.", 0.9, flags=("email",)),
        Said("Bad.", "Mauvais.", 0.2, "low_score"),
        Said("Second.", "Deuxième.", 0.8),
        Said("Too long.", "Trop long.", 0.9, "too_long"),
        Said("Again.", "Encore.", 0.9, "duplicate"),
        Said("Alone.", "", 0.0, "unaligned"),
    ],
}


def test_units_are_what_was_kept_in_the_order_of_urls(made: Maker) -> None:
    corpus = corpus_of(made(TWO), Choice(0.5))
    assert said(corpus.units()) == [
        ("First.", "Premier."), ("Second.", "Deuxième."), ("Third.", "Troisième."),
    ]  # fmt: skip
    assert list(corpus.units()) == list(corpus.units())


def test_each_unit_says_where_it_comes_from(made: Maker) -> None:
    store = made(TWO, flags={"/en/a": ("noai",), "/fr/a": ("licence:CC0-1.0",)}, marks=("partial",))
    unit = next(corpus_of(store).units())
    assert unit.sides == (
        Side("en", "First.", url("/en/a"), "/p[0]", "0-6", 1_700_000_000.0, "sha1:/en/a",
             "warc/diptych-00001.warc.gz", 0),
        Side("fr", "Premier.", url("/fr/a"), "/p[0]", "0-8", 1_700_000_002.0, "sha1:/fr/a",
             "warc/diptych-00001.warc.gz", 2000),
    )  # fmt: skip
    assert (unit.score, unit.alignment, unit.verified) == (0.9, 0.7, 0.8)
    assert unit.evidence == "hreflang+keys"
    assert unit.flags == ("email", "licence:CC0-1.0", "noai", "partial")
    assert (unit.copies, unit.run) == (1, SIGNATURE)


@pytest.mark.parametrize(
    ("least", "expected"), [(0.0, 4), (0.2, 4), (0.21, 3), (0.8, 2), (0.9, 1), (1.0, 0)]
)
def test_threshold_can_be_moved_without_mining_again(
    made: Maker, least: float, expected: int
) -> None:
    assert len(list(corpus_of(made(TWO), Choice(least)).units())) == expected


@pytest.mark.parametrize(
    ("without", "expected"),
    [
        ("noai", ["Third."]),
        ("licence", ["Third."]),
        ("licence:CC0-1.0", ["Third."]),
        ("licence:CC-BY-4.0", ["First.", "Second.", "Third."]),
        ("email", ["Second.", "Third."]),
        ("e", ["First.", "Second.", "Third."]),
    ],
)
def test_flagged_units_are_left_out_on_demand(
    made: Maker, without: str, expected: list[str]
) -> None:
    store = made(TWO, flags={"/en/a": ("noai",), "/fr/a": ("licence:CC0-1.0",)})
    units = corpus_of(store, Choice(0.5, frozenset([without]))).units()
    assert [left for left, _ in said(units)] == expected


def test_personal_data_is_taken_out_on_demand(made: Maker) -> None:
    told = [Said("Write to jo@example.org.", "Écrivez à jo@example.org.", flags=("email",))]
    store = made({("/en/a", "/fr/a"): told})
    (plain,) = corpus_of(store).units()
    (redacted,) = corpus_of(store, Choice(0.0, redact=True)).units()
    assert said([plain]) == [(told[0].left, told[0].right)]
    assert said([redacted]) == [("Write to [EMAIL].", "Écrivez à [EMAIL].")]
    assert redacted.flags == plain.flags


def test_pairs_that_were_not_verified_are_no_part_of_it(made: Maker) -> None:
    store = made(TWO)
    store.db.execute("UPDATE decisions SET accept = 0 WHERE pair = 1")
    assert len(list(corpus_of(store, Choice(0.5)).units())) in (1, 2)


def test_archives_of_a_run_are_named_with_it_when_runs_are_merged(made: Maker) -> None:
    store = made(TWO)
    (first, *_) = corpus_of(store, prefix="run7/").units()
    assert first.sides[0].warc == "run7/warc/diptych-00001.warc.gz"
    store.db.execute("UPDATE warcs SET path = '/my/own.warc.gz'")
    (first, *_) = corpus_of(store, prefix="run7/").units()
    assert first.sides[0].warc == "/my/own.warc.gz"


# -- many languages --------------------------------------------------------------------------------

LANGS = ("en", "fr", "de", "es")


def four(page: str, *texts: str) -> dict[tuple[str, str], list[Said]]:
    """A page in four languages, all pairs of them, aligned without fault."""
    return {
        (f"/{left}/{page}", f"/{right}/{page}"): [
            Said(f"{text} {left}", f"{text} {right}") for text in texts
        ]
        for left, right in combinations(LANGS, 2)
    }


def test_rows_of_all_languages(made: Maker) -> None:
    store = made(four("a", "one", "two") | four("b", "three"), langs=LANGS)
    rows = NWayCorpus(corpus_of(store))
    assert set(rows.langs) == set(LANGS)
    assert [sorted(row) for row in said(rows.units())] == [
        sorted(f"{text} {lang}" for lang in LANGS) for text in ("one", "two", "three")
    ]


def test_duplicates_link_languages_and_rows_are_once(made: Maker) -> None:
    told = four("a", "one") | four("b", "one")
    # Of the second page all are duplicates of the first; of the first, one link is missing.
    for pair, texts in told.items():
        if pair[0].endswith("b"):
            told[pair] = [Said(each.left, each.right, 0.9, "duplicate") for each in texts]
    store = made(told, langs=LANGS)
    assert len(list(NWayCorpus(corpus_of(store)).units())) == 1
    assert len(list(corpus_of(store).units())) == 6


def test_what_is_too_bad_links_nothing(made: Maker) -> None:
    told = four("a", "one")
    for pair in told:
        if pair != ("/en/a", "/fr/a"):
            told[pair] = [Said("one " + pair[0][1:3], "one " + pair[1][1:3], 0.1, "low_score")]
    store = made(told, langs=LANGS)
    assert list(NWayCorpus(corpus_of(store, Choice(0.5))).units()) == []
    assert len(list(NWayCorpus(corpus_of(store, Choice(0.05))).units())) == 1

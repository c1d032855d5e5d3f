"""The corpus of a run: its units, their order, and their metadata."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest
from support.corpora import SIGNATURE, Maker, Said, corpus_of, said, url, with_archive

from diptych.corpus.from_run import Choice, NWayCorpus, RunCorpus
from diptych.page.read import read_page
from diptych.text.near_duplicates import segment_keys
from diptych.text.urls import url_key
from diptych.types import Sketch
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


def test_unverified_pairs_are_not_in_the_corpus(made: Maker) -> None:
    store = made(TWO)
    (first, _), (second, _) = store.pairs(1)
    store.db.execute("UPDATE decisions SET accept = 0 WHERE pair = ?", (first,))
    assert said(corpus_of(store, Choice(0.5)).units()) == [("Third.", "Troisième.")]
    store.db.execute("DELETE FROM decisions WHERE pair = ?", (second,))
    assert list(corpus_of(store).units()) == []


def test_copies_are_counted_unless_each_is_a_unit_of_its_own(made: Maker) -> None:
    store = made(TWO)
    store.db.execute(
        "UPDATE occurrences SET copies = 3 WHERE text IN"
        " (SELECT id FROM segment_texts WHERE left = 'First.')"
    )
    counted = {unit.sides[0].text: unit.copies for unit in corpus_of(store, Choice(0.5)).units()}
    assert counted == {"First.": 3, "Second.": 1, "Third.": 1}
    each = [unit for _, unit in corpus_of(store, Choice(0.5), each=True).keyed()]
    assert [(unit.sides[0].text, unit.copies) for unit in each] == [
        ("First.", 1), ("Second.", 1), ("Again.", 1), ("Third.", 1)
    ]  # fmt: skip


def test_key_of_a_unit_is_that_of_its_texts_also_without_personal_data(made: Maker) -> None:
    told = [Said("Write to jo@example.org.", "Écrivez à jo@example.org."), Said("Lamp.", "Lampe.")]
    store = made({("/en/a", "/fr/a"): told})
    for redact in (False, True):
        for key, unit in corpus_of(store, Choice(0.0, redact=redact)).keyed():
            (left, right) = unit.sides
            assert key == segment_keys(left.text, right.text, "en", "fr").same


def test_run_is_deduplicated_if_kept_segments_have_different_keys(made: Maker) -> None:
    same = [Said("Page 1.", "Seite 1."), Said("Page 2.", "Seite 2.")]
    for reason, settled in [("", False), ("low_score", False), ("duplicate", True)]:
        second = Said(same[1].left, same[1].right, 0.9, reason)
        store = made({("/en/a", "/fr/a"): [same[0], second, Said("", "x"), Said("y", "")]})
        assert corpus_of(store).is_deduplicated() is settled


def test_verification_is_kept_to_four_digits(made: Maker) -> None:
    store = made(TWO)
    store.db.execute("UPDATE decisions SET score = 0.123456")
    assert {unit.verified for unit in corpus_of(store).units()} == {0.1235}


# -- documents -------------------------------------------------------------------------------------


def outcomes(corpus: RunCorpus) -> list[tuple[str, bool, str]]:
    """The left text of each segment of all documents, with the decision on it."""
    return [
        (
            " ".join(found.left.blocks[index].text[start:end] for index, start, end in piece.left),
            piece.accept,
            piece.reason,
        )
        for found in corpus.documents()
        for piece in found.pieces
    ]


def test_documents_have_all_segments_with_what_becomes_of_them(made: Maker) -> None:
    store = with_archive(made, TWO)
    assert outcomes(corpus_of(store, Choice(0.8))) == [
        ("First.", True, ""), ("Bad.", False, "low_score"), ("Second.", True, ""),
        ("Too long.", False, "too_long"), ("Again.", False, "duplicate"),
        ("Alone.", False, "unaligned"), ("Third.", False, "low_score"),
    ]  # fmt: skip
    assert ("Bad.", True, "") in outcomes(corpus_of(store, Choice(0.2)))
    first, second = corpus_of(store).documents()
    assert (first.left.url, second.left.url) == (url("/en/a"), url("/en/b"))
    assert (first.left.title, first.verified, first.run) == ("title of /en/a", 0.8, SIGNATURE)


def test_documents_with_unwanted_flags_are_left_out(made: Maker) -> None:
    store = with_archive(made, TWO, flags={"/fr/a": ("noai",)})
    (found,) = corpus_of(store, Choice(0.0, frozenset(["noai"]))).documents()
    assert found.left.url == url("/en/b")
    assert len(list(NWayCorpus(corpus_of(store)).documents())) == 2


def test_documents_have_no_personal_data_on_request(made: Maker) -> None:
    store = with_archive(
        made, {("/en/a", "/fr/a"): [Said("Ask jo@example.org.", "Demandez à jo@example.org.")]}
    )
    assert outcomes(corpus_of(store, Choice(0.0, redact=True))) == [("Ask [EMAIL].", True, "")]
    assert outcomes(corpus_of(store)) == [("Ask jo@example.org.", True, "")]


def test_pairs_of_a_page_that_cannot_be_read_are_left_out_and_counted(
    made: Maker, caplog: pytest.LogCaptureFixture
) -> None:
    store = with_archive(made, TWO)
    place = (url_key(url("/fr/b")),)
    (offset,) = store.db.execute("SELECT offset FROM pages WHERE url = ?", place).fetchone()
    file = store.folder / "pages.warc.gz"
    data = bytearray(file.read_bytes())
    data[offset : offset + 60] = bytes(60)
    file.write_bytes(data)
    (found,) = corpus_of(store).documents()
    assert found.left.url == url("/en/a")
    assert [each.getMessage() for each in caplog.records] == [
        "1 page pair is left out of the documents: cannot read the record at byte"
        f" {offset:,} of {file}: Invalid WARC header"
    ]
    caplog.clear()
    store.db.execute("UPDATE pages SET offset = 10000000")
    assert list(corpus_of(store).documents()) == []
    assert "2 page pairs are left out" in caplog.text
    assert f"{file} has no record at byte 10,000,000" in caplog.text


def test_a_page_whose_record_is_damaged_is_taken_from_the_run(made: Maker) -> None:
    left = "The keeper lights the lamp of the tower every evening at sunset."
    right = "Le gardien allume la lampe de la tour chaque soir au coucher du soleil."
    store = with_archive(made, {**TWO, ("/en/b", "/fr/b"): [Said(left, right)]})
    documents = list(corpus_of(store).documents())
    for path in ("/en/b", "/fr/b"):
        response = store.response(url(path))
        assert response is not None
        page = read_page(response, with_sketch=True)
        store.save_sketch(url(path), page.sketch or Sketch("", 0, {}), page.content)
    file = store.folder / "pages.warc.gz"
    file.write_bytes(bytes(file.stat().st_size))
    assert list(corpus_of(store).documents()) == documents[1:]


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
    """A page in four languages with all pairs of them, perfectly aligned."""
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


def test_segments_below_the_threshold_link_nothing(made: Maker) -> None:
    told = four("a", "one")
    for pair in told:
        if pair != ("/en/a", "/fr/a"):
            told[pair] = [Said("one " + pair[0][1:3], "one " + pair[1][1:3], 0.1, "low_score")]
    store = made(told, langs=LANGS)
    assert list(NWayCorpus(corpus_of(store, Choice(0.5))).units()) == []
    assert len(list(NWayCorpus(corpus_of(store, Choice(0.05))).units())) == 1


@pytest.mark.parametrize("keep_templates", [False, True])
def test_copies_of_examples_of_a_template_are_left_out_with_them(
    made: Maker, keep_templates: bool
) -> None:
    told = {
        ("/en/a", "/fr/a"): [
            Said("Tag Ora", "Étiquette Ora"),
            Said("Tag Ara", "Étiquette Ara", 0.9, "template"),
        ],
        ("/en/b", "/fr/b"): [Said("Tag Ara", "Étiquette Ara", 0.8, "duplicate")],
    }
    store = made(told)
    corpus = RunCorpus(
        store, ("en", "fr"), SIGNATURE, Choice(0.5, keep_templates=keep_templates), each=True
    )
    expected = ["Tag Ora", *["Tag Ara"] * 2] if keep_templates else ["Tag Ora"]
    assert [unit.sides[0].text for unit in corpus.units()] == expected
    assert [unit.sides[0].text for group in corpus.grouped() for unit in group.units] == expected


def named(lang: str, name: str) -> str:
    """A label with a name, which is spelt differently in Greek."""
    return f"Ετικέτα {name[::-1]}" if lang == "el" else f"Tag-{lang} {name}"


@pytest.mark.parametrize("score", [0.9, 0.2])
@pytest.mark.parametrize("reason", ["template", "duplicate"])
@pytest.mark.parametrize("keep_templates", [False, True])
def test_rows_with_further_examples_of_templates_are_left_out(
    made: Maker, keep_templates: bool, reason: str, score: float
) -> None:
    told = {
        (f"/{left}/a", f"/{right}/a"): [
            Said(named(left, "Ora"), named(right, "Ora")),
            Said(named(left, "Ara"), named(right, "Ara")),
        ]
        for left, right in combinations(("de", "el", "en"), 2)
    }
    # Only German and English show that Ara is a name; a copy may be elsewhere.
    surplus = Said(named("de", "Ara"), named("en", "Ara"), score, "template")
    told["/de/a", "/en/a"][1] = replace(surplus, reason=reason)
    store = made(told | {("/de/b", "/en/b"): [surplus]}, langs=("de", "el", "en"))
    rows = NWayCorpus(corpus_of(store, Choice(0.5, keep_templates=keep_templates)))
    assert [row.sides[0].text for row in rows.units()] == (
        ["Tag-de Ora", "Tag-de Ara"] if keep_templates else ["Tag-de Ora"]
    )


def test_documents_say_that_examples_of_templates_are_kept_on_request(made: Maker) -> None:
    told = [
        Said("Tag Ara", "Étiquette Ara", 0.9, "template"),
        Said("Tag Ira", "Étiquette Ira", 0.2, "template"),
        Said("Tag Ara", "Étiquette Ara", 0.9, "duplicate"),
    ]
    store = with_archive(made, {("/en/a", "/fr/a"): told})
    for keep_templates, expected in (
        (False, ["template", "template", "duplicate"]),
        (True, ["", "low_score", "duplicate"]),
    ):
        choice = Choice(0.5, keep_templates=keep_templates)
        (document,) = RunCorpus(store, ("en", "fr"), SIGNATURE, choice).documents()
        assert [piece.reason for piece in document.pieces] == expected
        assert [piece.accept for piece in document.pieces] == [not each for each in expected]

"""Mining of archives with misleading pages."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import pytest
from support.bilingual import (
    PLACES,
    Mined,
    alternate,
    documents,
    html,
    mine,
    mine_archives,
    names,
    plain_site,
    texts,
    trilingual,
    write_archive,
)
from support.commands import rows, run
from support.timing import processor_seconds

DOCUMENTS = documents()
TIDES = next(document for document in DOCUMENTS if document.name == "tides")
STORMS = next(document for document in DOCUMENTS if document.name == "storms")
RESCUE = next(document for document in DOCUMENTS if document.name == "rescue")


def test_plain_site_is_paired_whole(tmp_path):
    mined = mine(tmp_path, plain_site())
    assert mined.exit_code == 0
    assert mined.pairs == names()
    texts = {lang: {text for each in DOCUMENTS for text in each[lang]} for lang in ("en", "fr")}
    assert len(mined.corpus()) > len(texts["en"])
    for left, right in mined.corpus():
        assert any(left in text for text in texts["en"])
        assert any(right in text for text in texts["fr"])


# -- wrong languages -------------------------------------------------------------------------------


def test_page_in_the_wrong_language_at_a_correct_url(tmp_path):
    other = html(texts("/en/fish-pie.html"), lang="fr")
    mined = mine(tmp_path, {**plain_site(), "/fr/tides": other})
    assert mined.pairs == names(but=["tides"])
    assert "not a pair" in mined.explain("/en/tides", "/fr/tides")
    assert "language en" in mined.explain("/fr/tides")


def test_untranslated_pages_under_the_path_of_a_language(tmp_path):
    untranslated = [document.name for document in DOCUMENTS[::3]]
    pages = plain_site()
    for document in DOCUMENTS[::3]:
        pages[f"/fr/{document.name}"] = html(document.en, lang="fr")
    mined = mine(tmp_path, pages)
    assert mined.pairs == names(but=untranslated)
    assert all(left != right for left, right in mined.corpus())


def test_partly_translated_page_is_marked(tmp_path):
    half = html((*TIDES.fr[:4], *TIDES.en[4:]), lang="fr")
    mined = mine(tmp_path, {**plain_site(), "/fr/tides": half})
    assert mined.pairs >= names(but=["tides"])
    assert all(left != right for left, right in mined.corpus("/en/tides"))
    if ("/en/tides", "/fr/tides") in mined.pairs:
        assert "with untranslated parts" in mined.explain("/en/tides", "/fr/tides")


# -- parts and copies ------------------------------------------------------------------------------


@pytest.mark.parametrize("shorter", ["en", "fr"])
def test_partial_page_is_reported(tmp_path, shorter):
    pages = plain_site()
    # Its longest paragraphs, so that it has enough text to be sure of.
    part = sorted(range(len(RESCUE.en)), key=lambda n: -len(RESCUE.en[n]))[:2]
    pages[f"/{shorter}/rescue"] = html([RESCUE[shorter][n] for n in sorted(part)], lang=shorter)
    mined = mine(tmp_path, pages)
    assert mined.exit_code == 0
    assert mined.pairs == names(but=["rescue"])
    decision = mined.decision("/en/rescue", "/fr/rescue")
    assert decision is not None
    assert decision[:2] == (0, "partial")
    assert "1 with one side covering only part of the other" in mined.said
    assert "only part of the other" in mined.explain("/en/rescue", "/fr/rescue")
    assert mined.corpus("/en/rescue") == []


def test_near_copy_in_one_language_takes_no_counterpart(tmp_path):
    pages = plain_site()
    for document in (TIDES, STORMS):
        extra = "You are reading the version for printers; the pictures were left out."
        pages[f"/en/print/{document.name}"] = html((extra, *document.en), lang="en")
    mined = mine(tmp_path, pages)
    assert mined.pairs == names()


# -- both languages in one page --------------------------------------------------------------------


def stacked(document) -> str:
    return html((*document.en, *document.fr))


def mixed(document) -> str:
    return html(text for pair in zip(document.en, document.fr, strict=True) for text in pair)


def beside(document) -> str:
    cells = "".join(
        f"<tr><td>{left}</td><td>{right}</td></tr>"
        for left, right in zip(document.en, document.fr, strict=True)
    )
    return html((), body=f"<table>{cells}</table>")


@pytest.mark.parametrize("layout", [stacked, mixed, beside])
def test_both_languages_in_one_page(tmp_path, layout):
    pages = {f"/{number}": layout(document) for number, document in enumerate(DOCUMENTS)}
    mined = mine(tmp_path, pages)
    assert mined.exit_code == 0, mined.said
    assert mined.pairs == {(path, path) for path in pages}
    found = mined.corpus()
    assert len(found) > 60
    english, french = ({text for doc in DOCUMENTS for text in doc[lang]} for lang in ("en", "fr"))
    for left, right in found:
        assert any(left in text or text in left for text in english), left
        assert any(right in text or text in right for text in french), right


def test_page_in_both_languages_among_others(tmp_path):
    pages = plain_site()
    del pages["/fr/tides"], pages["/en/tides"]
    mined = mine(tmp_path, {**pages, "/tides": stacked(TIDES)})
    assert mined.pairs == names(but=["tides"]) | {("/tides", "/tides")}
    assert "one_page" in mined.explain("/tides", "/tides")


# -- machines and templates ------------------------------------------------------------------------


def test_machine_translation_is_marked(tmp_path):
    pages = plain_site()
    widget = '<script src="//translate.google.com/translate_a/element.js?cb=x"></script>'
    pages["/fr/tides"] = html(TIDES.fr, lang="fr", head=widget)
    mined = mine(tmp_path, pages)
    assert mined.pairs == names()
    assert mined.decision("/en/tides", "/fr/tides") == (1, "", "machine_translated")
    assert "flagged page pairs: 1 machine-translated" in mined.said
    assert "machine-translated" in mined.explain("/en/tides", "/fr/tides")
    assert "machine-translated" not in mined.explain("/en/storms", "/fr/storms")


MENU = {
    "en": ["Home", "Lighthouses by country", "Photographs of the coast", "Books and charts",
           "Our members", "Write to the keepers", "Rules of this house", "Opening hours"],
    "fr": ["Accueil", "Les phares par pays", "Photographies de la côte", "Livres et cartes",
           "Nos membres", "Écrire aux gardiens", "Règlement de la maison", "Heures d'ouverture"],
}  # fmt: skip


def menu(lang: str) -> str:
    return "<ul>" + "".join(f"<li><a href='#'>{item}</a></li>" for item in MENU[lang]) + "</ul>"


def test_templates_with_hardly_any_text_are_not_paired(tmp_path):
    pages = {
        f"/{lang}/{document.name}": html(document[lang], lang=lang, body=menu(lang))
        for document in DOCUMENTS
        for lang in ("en", "fr")
    }
    for number in range(12):
        for lang, word in (("en", "Picture"), ("fr", "Image")):
            pages[f"/{lang}/image-{number}"] = html(
                [f"{word} {number}"], lang=lang, body=menu(lang)
            )
    mined = mine(tmp_path, pages)
    assert mined.pairs == names()
    assert not any("Picture" in left for left, _ in mined.corpus())


# -- what sites declare ----------------------------------------------------------------------------


def test_alternates_that_all_name_one_page_are_ignored(tmp_path):
    pages = {
        f"/{lang}/{document.name}": html(
            document[lang], lang=lang, head=alternate(other, f"/{other}/tides")
        )
        for document in DOCUMENTS
        for lang, other in (("en", "fr"), ("fr", "en"))
    }
    mined = mine(tmp_path, pages)
    assert mined.pairs == names()


def test_alternates_that_name_a_wrong_page_are_ignored(tmp_path):
    pages = {}
    for number, document in enumerate(DOCUMENTS):
        # Three pages name each other's translations, as after a mistake in a table.
        wrong = DOCUMENTS[(number + 1) % 3] if number < 3 else document
        pages[f"/{number}.html"] = html(
            document.en, lang="en", head=alternate("fr", f"/fr-{wrong.name}.html")
        )
        pages[f"/fr-{document.name}.html"] = html(document.fr, lang="fr")
    mined = mine(tmp_path, pages)
    right = {(f"/{n}.html", f"/fr-{each.name}.html") for n, each in enumerate(DOCUMENTS)}
    wrong = mined.pairs - right
    assert wrong == set()
    assert len(mined.pairs) >= len(right) - 3


def opaque(seed: int = 5) -> tuple[dict[str, str], set[tuple[str, str]]]:
    """Pages named by numbers, and their true pairs."""
    numbers = random.Random(seed).sample(range(1000, 9999), 2 * len(DOCUMENTS))
    lefts, rights = numbers[::2], numbers[1::2]
    pages, truth = {}, set()
    for document, left, right in zip(DOCUMENTS, lefts, rights, strict=True):
        pages[f"/node/{left}"], pages[f"/node/{right}"] = html(document.en), html(document.fr)
        truth.add((f"/node/{left}", f"/node/{right}"))
    return pages, truth


def test_pages_with_opaque_urls_are_paired_by_content(tmp_path):
    pages, truth = opaque()
    mined = mine(tmp_path, pages)
    assert mined.pairs - truth == set()
    assert len(mined.pairs) >= len(truth) - 1
    pair = min(mined.pairs)
    assert "content" in mined.explain(*pair)


# -- three languages -------------------------------------------------------------------------------


def groups(pairs: set[tuple[str, str]]) -> set[frozenset[str]]:
    """Groups of pages that are connected by pairs, directly or indirectly."""
    found: list[set[str]] = []
    for pair in pairs:
        touched = [group for group in found if group & set(pair)]
        found = [group for group in found if group not in touched]
        found.append(set(pair).union(*touched))
    return {frozenset(group) for group in found}


@pytest.mark.parametrize("is_opaque", [False, True])
def test_three_languages_are_groups_of_three(tmp_path, is_opaque):
    pages, truth = {}, set()
    numbers = iter(random.Random(8).sample(range(1000, 9999), 3 * len(PLACES)))
    for place, document in zip(PLACES, trilingual(), strict=True):
        paths = [f"/{next(numbers)}" if is_opaque else f"/{lang}/{place}" for lang in document]
        pages |= {path: html(document[lang]) for path, lang in zip(paths, document, strict=True)}
        truth.add(frozenset(paths))
    mined = mine(tmp_path, pages, langs="en,fr,de")
    assert mined.exit_code == 0
    assert groups(mined.pairs) == truth
    assert len(mined.pairs) == 3 * len(truth)
    langs = [(row["left_lang"], row["right_lang"]) for row in rows(mined.folder / "pairs.tsv")]
    assert set(langs) == {("en", "fr"), ("en", "de"), ("fr", "de")}


def test_page_that_is_missing_in_one_language_leaves_the_others_paired(tmp_path):
    pages = {
        f"/{lang}/{place}": html(document[lang])
        for place, document in zip(PLACES, trilingual(), strict=True)
        for lang in document
    }
    for place in PLACES[::3]:
        del pages[f"/fr/{place}"]
    mined = mine(tmp_path, pages, langs="en,fr,de")
    sizes = Counter(len(group) for group in groups(mined.pairs))
    assert sizes == {2: len(PLACES[::3]), 3: len(PLACES) - len(PLACES[::3])}
    assert {frozenset(path.rpartition("/")[2] for path in group) for group in groups(mined.pairs)} \
        == {frozenset([place]) for place in PLACES}  # fmt: skip


# -- nothing to find -------------------------------------------------------------------------------


def nothing(mined: Mined) -> str:
    assert mined.exit_code == 1
    assert mined.pairs == set()
    assert (mined.folder / "corpus.tsv").exists()
    head, _, why = mined.said.partition("nothing found: ")
    assert head
    return why


def test_site_with_one_page(tmp_path):
    why = nothing(mine(tmp_path, {"/": html(TIDES.en, lang="en")}))
    assert why == "no page is in fr (1 in en) check --langs, or start at a page in fr"


def test_site_in_one_language(tmp_path):
    pages = {path: page for path, page in plain_site().items() if path.startswith("/en/")}
    why = nothing(mine(tmp_path, pages))
    assert why.startswith(f"no page is in fr ({len(DOCUMENTS)} in en) ")


def test_site_in_other_languages(tmp_path):
    why = nothing(mine(tmp_path, plain_site(), langs="de,it"))
    assert "in other languages" in why


def test_two_languages_of_different_contents(tmp_path):
    half = len(DOCUMENTS) // 2
    pages = {f"/en/{each.name}": html(each.en, lang="en") for each in DOCUMENTS[:half]}
    pages |= {f"/fr/{each.name}": html(each.fr, lang="fr") for each in DOCUMENTS[half:]}
    mined = mine(tmp_path, pages)
    assert mined.pairs == set()
    nothing(mined)


def items(numbers: range, lang: str, paragraphs: Sequence[str]) -> dict[str, str]:
    """Pages that differ in one number."""
    word = {"en": "Item", "fr": "Fiche"}[lang]
    return {
        f"/{lang}/item?id={number}": html([f"{word} {number}", *paragraphs], lang=lang)
        for number in numbers
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("langs", "said"),
    [
        (("en", "en"), "no page is in fr (2,000 in en)"),
        (("en", "fr"), "no page pairs found (2,000 without a counterpart)"),
    ],
)
def test_two_thousand_pages_that_differ_in_one_number(tmp_path, langs, said):
    pages = items(range(1000, 2000), langs[0], TIDES[langs[0]])
    pages |= items(range(5000, 6000), langs[1], STORMS[langs[1]])
    with processor_seconds(40):
        why = nothing(mine(tmp_path, pages))
    assert why.startswith(said + " ")


def test_equal_page_numbers_do_not_make_a_pair(tmp_path):
    pages = items(range(1000, 1100), "en", TIDES.en[:2]) | items(
        range(1000, 1100), "fr", STORMS.fr[:2]
    )
    nothing(mine(tmp_path, pages))


# -- the same for all orders and processes ---------------------------------------------------------


def shuffled(pages: dict[str, str], seed: int) -> list[str]:
    order = sorted(pages)
    random.Random(seed).shuffle(order)
    return order


def test_order_of_records_and_archives_does_not_matter(tmp_path):
    pages, _ = opaque()
    pages |= {"/both": stacked(TIDES), "/en/rescue": html(RESCUE.en[:2])}
    first = mine(tmp_path, pages)
    assert first.exit_code == 0
    for seed in (1, 2):
        order = shuffled(pages, seed)
        files = [
            write_archive(tmp_path / f"{seed}-{name}.warc.gz", pages, part)
            for name, part in (("z", order[::2]), ("a", order[1::2]))
        ]
        assert mine_archives(tmp_path / f"run{seed}", *files).found() == first.found()


@pytest.mark.slow
def test_jobs_do_not_change_the_result(tmp_path):
    pages, _ = opaque()
    file = write_archive(tmp_path / "site.warc.gz", pages)
    one = mine_archives(tmp_path / "one", file, more=["--jobs", 1])
    two = mine_archives(tmp_path / "two", file, more=["--jobs", 2])
    assert one.exit_code == two.exit_code == 0
    assert one.files() == two.files()
    assert len(one.pairs) > 10


def test_finished_run_gives_the_same_result_again(tmp_path):
    mined = mine(tmp_path, plain_site())
    before = mined.files()
    assert mine_archives(mined.folder, tmp_path / "site.warc.gz").files() == before


# -- pages that are made by scripts ----------------------------------------------------------------


def test_site_whose_text_is_made_by_scripts_is_named(tmp_path):
    shell = html([], lang="en", body='<div id="root"></div><script src="/app.js"></script>')
    mined = mine(tmp_path, {"/": shell, "/en/a": shell + " ", "/fr/a": html(TIDES.fr, lang="fr")})
    assert mined.exit_code == 1
    said = "phares.example: 2 of 3 pages have no text in the HTML, because scripts generate it"
    assert mined.said.count(said) == 1
    assert said in (mined.folder / "report.html").read_text("utf-8")
    assert "flags scripted" in mined.explain("/")
    assert said in run("status", mined.folder).stderr + run("status", mined.folder).stdout

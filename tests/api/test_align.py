"""`from diptych import align`."""

from __future__ import annotations

from pathlib import Path

import pytest

import diptych
from diptych import align
from diptych.errors import ConfigError
from diptych.learn.lexicon.lexicon import Lexicon
from diptych.types import Bead, SegmentPair

GERMAN = ["Guten Tag.", "Das ist der K2.", "Er ist 8611 Meter hoch und sehr schwer zu besteigen."]
FRENCH = ["Bonjour.", "C'est le K2.", "Il a 8611 mètres de haut.", "Il est difficile à gravir."]
PAGE = "<html><body><h1>Harbour</h1><p>In 1956 it was built.</p><p>Only here, on this page.</p>"
OTHER = "<html><body><h1>Port</h1><p>Il fut construit en 1956.</p>"


def test_align_is_exported_by_the_package() -> None:
    assert "align" in diptych.__all__


def test_lists_of_sentences_give_beads() -> None:
    beads = align(GERMAN, FRENCH, "de,fr")
    assert [bead[:2] for bead in beads] == [((0,), (0,)), ((1,), (1,)), ((2,), (2, 3))]
    assert all(isinstance(bead, Bead) and 0 < bead.score <= 1 for bead in beads)
    assert align(tuple(GERMAN), tuple(FRENCH), ["de", "fr"]) == beads


def test_pages_give_segments_in_order() -> None:
    found = align(PAGE, OTHER, "en,fr")
    assert [(segment.left, segment.right) for segment in found] == [
        ("Harbour", "Port"), ("In 1956 it was built.", "Il fut construit en 1956."),
        ("Only here, on this page.", ""),
    ]  # fmt: skip
    assert all(isinstance(segment, SegmentPair) for segment in found)
    assert [segment.left_path for segment in found] == [
        "/html/body/h1[1]", "/html/body/p[1]", "/html/body/p[2]",
    ]  # fmt: skip
    assert found[2].right_path == ""
    assert (found[0].left_lang, found[0].right_lang) == ("en", "fr")


def test_page_may_be_bytes_in_any_encoding() -> None:
    body = "<meta charset=iso-8859-1><p>Déjà vu à l'été 1956, près du château.</p>"
    other = "<p>Seen before in 1956, near the castle.</p>"
    (found,) = align(body.encode("latin-1"), other.encode(), "fr,en")
    assert found.left == "Déjà vu à l'été 1956, près du château."
    # A string is decoded already, whatever it says of itself.
    (found,) = align(body, other, "fr,en")
    assert found.left == "Déjà vu à l'été 1956, près du château."


def test_lone_surrogates_in_a_page_are_accepted() -> None:
    (found,) = align("<p>In 1956 \ud800.</p>", "<p>En 1956 \udfff.</p>", "en,fr")
    assert found.right.startswith("En 1956")


@pytest.mark.parametrize("method", ["gale_church", "ibm1", "length_lexicon"])
@pytest.mark.parametrize("trees", ["flat", "domtree"])
def test_strategies_can_be_chosen(method: str, trees: str) -> None:
    assert len(align(GERMAN, FRENCH, "de,fr", method=method)) == 3
    found = align(PAGE, OTHER, "en,fr", method=method, trees=trees)
    assert ("Harbour", "Port") in [(segment.left, segment.right) for segment in found]


def test_unknown_strategy_is_named() -> None:
    with pytest.raises(ConfigError, match="unknown align_sentences strategy 'hun'"):
        align(GERMAN, FRENCH, "de,fr", method="hun")
    with pytest.raises(ConfigError, match="unknown align_dom strategy 'oak'"):
        align(PAGE, OTHER, "en,fr", trees="oak")


def test_lexicon_may_be_in_the_opposite_direction() -> None:
    left = ["y" * 50 + " der hund schläft " + "y" * 40]
    right = ["w" * 50 + text + "w" * 40 for text in (" le chat mange ", " le chien dort ")]
    words = [("hund", "chien", 1.0), ("schläft", "dort", 1.0)]
    lexicon = Lexicon.of_links("de", "fr", words)
    for texts, place in ((right, 1), (right[::-1], 0)):
        for known in (lexicon, lexicon.reversed()):
            beads = align(left, texts, "de,fr", lexicon=known)
            assert ((0,), (place,)) in [bead[:2] for bead in beads]
    assert align(left, right, "de-CH,fr-CH", lexicon=lexicon)  # regions do not matter


def test_lexicon_of_other_languages_is_refused() -> None:
    with pytest.raises(ConfigError, match="the lexicon is for de,en, not de,fr"):
        align(GERMAN, FRENCH, "de,fr", lexicon=Lexicon.empty("de", "en"))


@pytest.mark.parametrize("langs", ["de", "de,fr,en", ["de"], "", "de,xxxx"])
def test_invalid_languages_are_mistakes(langs) -> None:
    with pytest.raises(ConfigError):
        align(GERMAN, FRENCH, langs)


def test_page_and_list_are_not_mixed() -> None:
    with pytest.raises(TypeError, match="not one of each"):
        align(GERMAN, OTHER, "de,fr")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="not one of each"):
        align(PAGE.encode(), FRENCH, "de,fr")  # type: ignore[call-overload]


def test_nothing_at_all() -> None:
    assert align([], [], "de,fr") == []
    assert align("", "", "de,fr") == []
    assert [bead[:2] for bead in align(["Nur hier."], [], "de,fr")] == [((0,), ())]


def test_same_page_twice() -> None:
    found = align(PAGE, PAGE, "en,fr")
    assert all(segment.left == segment.right for segment in found)
    assert len(found) == 3


@pytest.mark.parametrize("data", [b"\x00\x01\x02" * 100, b"%PDF-1.4\n%\xe2\xe3", b""])
def test_bytes_that_are_no_page_are_refused(data: bytes) -> None:
    with pytest.raises(ConfigError, match="the right page must be HTML"):
        align(PAGE.encode(), data, "en,fr")


def test_lexicon_may_be_a_file(tmp_path: Path) -> None:
    path = tmp_path / "words.npz"
    path.write_bytes(Lexicon.of_links("de", "fr", [("tag", "jour", 1)]).to_bytes())
    known = Lexicon.of_links("de", "fr", [("tag", "jour", 1)])
    assert align(GERMAN, FRENCH, "de,fr", lexicon=path) == align(
        GERMAN, FRENCH, "de,fr", lexicon=known
    )
    with pytest.raises(ConfigError, match="nowhere"):
        align(GERMAN, FRENCH, "de,fr", lexicon=str(tmp_path / "nowhere"))

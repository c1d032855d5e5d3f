"""Characters of all scripts by their kinds."""

from __future__ import annotations

import pytest

from diptych.stages.filter.shared.characters import Kind, count_characters


@pytest.mark.parametrize(
    ("kind", "chars"),
    [
        (Kind.LOWER, "axéßжωı"),
        (Kind.UPPER, "AÉЖΩǅ"),
        (Kind.LETTER, "אعกकªʰ\ufb50"),
        (Kind.IDEOGRAPH, "㐀䶿一鿿\uf900\ufad9𠀀\U0003ffff"),
        (Kind.SYLLABLE, "ᄀᇿぁヿㄱㆎㇰㇿ가힣"),
        (Kind.MARK, "\u0301\u093f\u20dd"),
        (Kind.DIGIT, "09٣१"),
        (Kind.SPACE, " \n\t\u00a0\u3000"),
        (Kind.STOP, ".。।．…۔።"),
        (Kind.COMMA, ",،、，､;；؛·"),
        (Kind.QUESTION, "?？؟"),
        (Kind.EXCLAMATION, "!！"),
        (Kind.COLON, ":："),
        (Kind.BRACKET, "()[]（）［］【】〈⟩"),
        (Kind.QUOTE, "\"'’«»“”"),
        (Kind.DASH, "-–—"),
        (Kind.CODE, "<>{}=\\/_|#$&~^`@*+"),
        (Kind.DAMAGED, "\ufffd"),
        (Kind.OTHER, "€²%§→😀\U00040000\U0010ffff\x00\ue000\ud800"),
    ],
)
def test_each_character_has_one_kind(kind: Kind, chars: str) -> None:
    found = count_characters(list(chars)).kinds
    assert {char: Kind(int(row.argmax())) for char, row in zip(chars, found, strict=True)} == (
        dict.fromkeys(chars, kind)
    )
    assert (found.sum(axis=1) == 1).all()


def test_letters_are_of_all_scripts_and_dense_ones_weigh_three() -> None:
    found = count_characters(["aBא", "中が 한", "é1.", ""])
    assert found.letters.tolist() == [3, 3, 1, 0]
    assert found.weight.tolist() == [3, 9, 1, 0]
    assert found.lengths.tolist() == pytest.approx([3, 4 + 2.5 + 2 * 1.3, 3, 0])
    assert found.visible.tolist() == [3, 3, 3, 0]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("(«Oui», dit-il.)", Kind.UPPER, Kind.STOP),
        ("- 5 km", Kind.DIGIT, Kind.LOWER),
        ("“really?”", Kind.LOWER, Kind.QUESTION),
        ("Stop! ", Kind.UPPER, Kind.EXCLAMATION),
        ("one, ", Kind.LOWER, Kind.COMMA),
        ("one:)", Kind.LOWER, Kind.COLON),
        ("No 5", Kind.UPPER, Kind.DIGIT),
        ("中文", Kind.IDEOGRAPH, Kind.IDEOGRAPH),
        ("a-", Kind.LOWER, Kind.LOWER),
        ("€ - ", Kind.OTHER, Kind.OTHER),
    ],
)
def test_text_begins_with_a_letter_or_digit_and_ends_before_its_brackets(
    text: str, first: Kind, last: Kind
) -> None:
    found = count_characters(["x.", text, "Y"])
    assert (found.first[1], found.last[1]) == (first, last)


@pytest.mark.parametrize(
    ("text", "breaks"),
    [
        ("one. two", 1),
        ("one? two! three", 2),
        ("one. Two", 0),
        ("one.two", 0),
        ("one, two", 0),
        ("e.g. this and i.e. that", 2),
        ("one.", 0),
        ("one. ", 0),
        ("", 0),
    ],
)
def test_stop_before_a_small_letter_is_a_break_but_not_over_two_texts(
    text: str, breaks: int
) -> None:
    assert count_characters([text, "small", text]).breaks.tolist() == [breaks, 0, breaks]
    assert count_characters([text]).breaks.tolist() == [breaks]


def test_no_texts_have_no_rows() -> None:
    found = count_characters([])
    assert found.kinds.shape == (0, len(Kind))
    assert found.letters.tolist() == []

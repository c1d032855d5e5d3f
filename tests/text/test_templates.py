"""Keys of templates."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.text.templates import HALVES, SLOT, half_keys, masked_words, name_key, word_keys


def template_key(left: str, right: str) -> int:
    words = masked_words(left, right)
    return name_key(words) if words else 0


def keys_of(left: str, right: str) -> set[int]:
    """All word keys of two texts."""
    words = masked_words(left, right)
    if not words or not half_keys(words):
        return set()
    return {key for halves in HALVES for key in word_keys(words, halves)}


TAG = template_key("Square tag Ghoul", "Etiqueta cuadrada Ghoul")


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Square tag Cloudy Fever", "Etiqueta cuadrada Cloudy Fever"),
        ("SQUARE TAG: Ghoul", "etiqueta cuadrada, Ghoul!"),
        ("Square tag 7", "Etiqueta cuadrada 12"),
        ("Square tag Why Russian?", "Etiqueta cuadrada Why Russian?"),
        ("Square tag https://a.org/en", "Etiqueta cuadrada https://a.org/es"),
        ("Square tag a@a.org", "Etiqueta cuadrada b@b.org"),
        ("Square tag www.a.org/en", "Etiqueta cuadrada www.a.org/es"),
    ],
)
def test_texts_that_differ_in_names_numbers_and_addresses_have_one_key(
    left: str, right: str
) -> None:
    assert template_key(left, right) == TAG != 0


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Round tag Ghoul", "Etiqueta redonda Ghoul"),
        ("Square tag Ghoul", "Etiqueta Ghoul"),
        ("Ghoul square tag", "Ghoul etiqueta cuadrada"),
    ],
)
def test_other_templates_have_other_keys(left: str, right: str) -> None:
    assert template_key(left, right) not in (TAG, 0)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Contact us", "Contacto"),
        ("Ghoul 2018", "Ghoul, 2018"),
        ("", ""),
        ("Tag Ghoul", "Etiqueta Basurde"),  # a slot on neither side
        ("Tag 7", "Etiqueta"),
        ("Tag " + "Ghoul " * 60, "Etiqueta " + "Ghoul " * 60),
    ],
)
def test_other_texts_have_no_key(left: str, right: str) -> None:
    assert template_key(left, right) == 0


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_texts_have_a_64_bit_key(left: str, right: str) -> None:
    assert -(2**63) <= template_key(left, right) < 2**63


RED = keys_of("Square tag in red", "Etiqueta cuadrada de rojo")


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Square tag in blue", "Etiqueta cuadrada de azul"),
        ("SQUARE TAG (in blue)", "etiqueta cuadrada de azul!"),
        ("Square tag in red", "Etiqueta cuadrada de carmín"),
        ("Round tag in red", "Etiqueta redonda de rojo"),
        ("Square tag on red", "Etiqueta cuadrada en rojo"),
        ("Square box in red", "Caja cuadrada de rojo"),
        ("Square tag in Ghoul", "Etiqueta cuadrada de Ghoul"),
        ("Square tag in Cloudy Fever", "Etiqueta cuadrada de Cloudy Fever"),
        ("Square tag in 2018", "Etiqueta cuadrada de 2019"),
        ("Square tag in https://a.org", "Etiqueta cuadrada de b@b.org"),
    ],
)
def test_texts_that_differ_in_one_word_have_a_key_in_common(left: str, right: str) -> None:
    assert RED & keys_of(left, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Square tag in dark blue", "Etiqueta cuadrada de azul"),
        ("Square tag in blue", "Etiqueta cuadrada de azul oscuro"),
        ("Round tag in blue", "Etiqueta cuadrada de azul"),
        ("Square tag in blue", "Etiqueta redonda de azul"),
        ("Square tag red in", "Etiqueta cuadrada de rojo"),
    ],
)
def test_texts_that_differ_in_more_have_no_key_in_common(left: str, right: str) -> None:
    assert not RED & keys_of(left, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Our team", "Notre équipe de Paris"),
        ("The team of Paris", "Notre équipe"),
        ("Ghoul our 7", "Ghoul notre à 7"),  # one word apart from the names
        ("one two three four five six seven eight nine ten eleven twelve thirteen", "a b c d"),
        ("a b c d", "one two three four five six seven eight nine ten eleven twelve thirteen"),
        ("", ""),
    ],
)
def test_labels_of_two_words_and_long_texts_have_no_word_keys(left: str, right: str) -> None:
    assert half_keys(masked_words(left, right) or ([], [])) == ()


def test_at_least_two_words_are_fixed_on_each_side() -> None:
    # On the left only the name may be another word, on the right any word may.
    assert len(keys_of("Square tag Ghoul", "Etiqueta Ghoul de rojo")) == 4
    left, right = (" ".join(f"{letter}{side}" for letter in "abcdefghijkl") for side in "xy")
    assert len(keys_of(left, right)) == 12 * 12


WORDS = st.lists(st.sampled_from(["ab", "cd", "ef", "gh", SLOT]), min_size=3, max_size=12)


@given(WORDS, WORDS, st.integers(0, 11), st.integers(0, 11))
def test_texts_with_a_word_key_share_the_hash_of_its_halves(
    left: list[str], right: list[str], here: int, there: int
) -> None:
    other = [*left], [*right]
    other[0][here % len(left)] = "ij"
    other[1][there % len(right)] = "kl"
    one = left, right
    shared = [
        place
        for place, halves in enumerate(HALVES)
        if {*word_keys(one, halves)} & {*word_keys(other, halves)}
    ]
    for place in shared:
        assert half_keys(one)[place] == half_keys(other)[place]
    fixed = min(
        sum(word != SLOT for number, word in enumerate(side) if number != place % len(side))
        for side, place in ((left, here), (right, there))
    )
    assert (len(shared) == 1) == (fixed >= 2)

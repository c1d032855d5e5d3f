"""Keys of templates."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.text.templates import template_key

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

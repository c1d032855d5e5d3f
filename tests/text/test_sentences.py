from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diptych.text.sentences import MAX_SENTENCE, _is_one, _merged, _pieces, split_sentences


@pytest.mark.parametrize(
    ("lang", "sentences"),
    [
        ("en", ["He came.", "She left!", "Why?", "Nobody knows."]),
        ("en", ["Mr. Smith met Dr. J. R. Jones on p. 5.", "They talked."]),
        ("en", ["See Fig. 3 for details.", "It costs 3.50 euros."]),
        ("en", ['"Stop!" he said.', "Then he left."]),
        ("fr", ["M. Dupont est parti.", "Cf. p. 12 et l'art. 3 du code.", "Voilà."]),
        ("fr", ["« Adieu. » dit-il.", "Il est 5 h.", "Elle dort."]),
        ("fr", ["Mme. Curie vint.", "Il y en a, p.ex. ici."]),
        ("de", ["Das ist z.B. gut.", "Vgl. S. 12.", "Am 3. Mai kam Dr. Müller."]),
        ("es", ["¿Cómo está?", "¡Hola!"]),
        ("ru", ["Он пришёл.", "Она ушла."]),
        ("hi", ["यह एक वाक्य है।", "यह दूसरा वाक्य है।"]),
        ("xx", ["He came.", "She left."]),
        ("", ["He came.", "She left."]),
    ],
)
def test_sentences_are_found_and_abbreviations_do_not_end_them(
    lang: str, sentences: list[str]
) -> None:
    assert split_sentences(" ".join(sentences), lang) == sentences


@pytest.mark.parametrize("lang", ["zh", "zh-Hant", "ja"])
def test_scripts_without_spaces_are_split(lang: str) -> None:
    assert split_sentences("你好。我是学生！你呢？", lang) == ["你好。", "我是学生！", "你呢？"]


def test_a_lower_case_start_continues_the_sentence() -> None:
    text = "The firm yahoo.com Inc. grew. i.e. it became large."
    assert split_sentences(text, "en")[-1].endswith("grew. i.e. it became large.")


@pytest.mark.parametrize("text", ["", " ", "\n\t "])
def test_empty_text_has_no_sentences(text: str) -> None:
    assert split_sentences(text, "en") == []


@pytest.mark.parametrize("unit", ["word; word, word ", "word, word ", "word ", "字，", "x"])
def test_overlong_sentences_are_cut_at_the_strongest_boundary(unit: str) -> None:
    text = (unit * (3 * MAX_SENTENCE // len(unit))).strip()
    parts = split_sentences(text, "en")
    assert len(parts) >= 3
    assert all(MAX_SENTENCE // 2 < len(part) <= MAX_SENTENCE for part in parts[:-1])
    assert "".join("".join(parts).split()) == "".join(text.split())
    strongest = (
        ";" if ";" in unit else "," if "," in unit else "，" if "，" in unit else unit.strip()
    )
    assert all(part.endswith(strongest) for part in parts[:-1])


def test_a_strong_boundary_far_from_the_limit_is_not_used() -> None:
    parts = split_sentences("So: " + "word, " * 1000, "en")
    assert len(parts[0]) > MAX_SENTENCE // 2


@given(
    st.text(st.sampled_from("aAbé.?! \n»«\"'()M5z中。"), max_size=200),
    st.sampled_from(["en", "fr", "zh", "de", "qq", ""]),
)
def test_nothing_is_lost_but_white_space(text: str, lang: str) -> None:
    sentences = split_sentences(text, lang)
    assert "".join("".join(sentences).split()) == "".join(text.split())
    assert all(sentence and sentence == sentence.strip() for sentence in sentences)


@given(st.text(max_size=100), st.text(max_size=5))
def test_any_text_and_language_can_be_split(text: str, lang: str) -> None:
    split_sentences(text, lang)
    split_sentences(text + "\ud800. A", lang)


@pytest.mark.parametrize("blank", ["\xa0", "\u2009", "\u3000", " \u202f", "\x85\xa0"])
def test_multi_byte_space_before_a_full_stop_is_handled(blank: str) -> None:
    text = f"Plan A{blank}. Then B{blank}."
    for lang in ("en", "ru", "da", "zh"):
        assert "".join("".join(split_sentences(text, lang)).split()) == "PlanA.ThenB."
    # What is there stays as it is.
    assert split_sentences(f"Plan A{blank}.", "en") == [f"Plan A{blank}."]


PLAIN = st.text(st.sampled_from("aB é1)(,;:!?.«»\"'’–-ß€\n"), max_size=14)


@given(PLAIN, st.sampled_from(["en", "fr", "hy", "el", "ja"]))
def test_text_recognised_as_one_sentence_is_not_split(text: str, lang: str) -> None:
    if _is_one(text):
        assert len(_merged(_pieces(text, lang))) <= 1

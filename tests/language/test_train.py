"""Training the identifier on a language that it does not know."""

from __future__ import annotations

import base64
import threading
import zlib
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from support import strange
from support.bilingual import documents

from diptych.kernels.langid_reference import feature_counts
from diptych.language import train as langid_train
from diptych.language.codes import asked_language, primary
from diptych.language.identify import (
    LearnedLanguage,
    base_model,
    can_identify,
    identify,
    learned_languages,
    model_bytes,
    use_learned_languages,
)
from diptych.language.train import TrainingResult, pieces_of, train_language

Array = NDArray[np.float64]
OTHERS = {
    "en": "The keeper climbs the stairs every evening and lights the lamp before the ships come.",
    "fr": "Le gardien monte l'escalier tous les soirs et allume la lampe avant les bateaux.",
    "es": "El guardián sube la escalera todas las noches y enciende la lámpara para los barcos.",
    "ru": "Смотритель каждый вечер поднимается по лестнице и зажигает лампу для кораблей.",
    "ja": "灯台守は毎晩階段を上り、船が来る前に明かりを灯します。",
}
NKO = "ߒߞߏ ߦߋ߫ ߛߓߍߛߎ߲ ߠߋ߬ ߘߌ߫ ߡߍ߲ ߣߐ߬ߣߍ߲߫ ߦߋ߫ ߛߟߏ߬ߡߊ߬ߣߊ߫ ߞߊ߲߬ߕߍ߫ ߓߟߏ߫ "


@pytest.fixture(scope="module")
def result() -> TrainingResult:
    """The result of training on 150 lines."""
    return train_language("qaa", pieces_of("\n".join(strange.lines()[::2][:150])))


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """Remove all learned languages after each test."""
    yield
    use_learned_languages(())


def test_text_of_a_learned_language_is_identified(result: TrainingResult) -> None:
    unseen = strange.lines()[1::2][:100]
    before = [identify(line)[0].lang for line in unseen]
    assert "qaa" not in before
    use_learned_languages([result.language])
    assert can_identify("qaa")
    for langs, closed in (((), True), (("en", "qaa"), False), (("en", "qaa"), True)):
        found = [identify(line, langs, closed=closed)[0].lang for line in unseen]
        assert found.count("qaa") >= 90


def test_other_languages_are_identified_as_before(result: TrainingResult) -> None:
    before = {lang: identify(text)[0] for lang, text in OTHERS.items()}
    use_learned_languages([result.language])
    for lang, text in OTHERS.items():
        best = identify(text)[0]
        assert best.lang == lang
        assert best.score == pytest.approx(before[lang].score, abs=0.02)


def test_a_removed_language_is_no_longer_identified(result: TrainingResult) -> None:
    line = strange.lines()[1]
    before = identify(line), identify(line, ["en", "qaa"])
    use_learned_languages([result.language])
    assert learned_languages() == (result.language,)
    assert identify(line) != before[0]
    use_learned_languages(())
    assert (identify(line), identify(line, ["en", "qaa"])) == before
    assert not can_identify("qaa")


def test_a_known_language_can_be_retrained() -> None:
    lines = [line for line in strange.lines()[:100]]
    result = train_language("gl", pieces_of("\n".join(lines)))
    use_learned_languages([result.language])
    assert identify(lines[0])[0].lang == "gl"
    assert identify("O alcalde inaugurou onte a nova biblioteca e moita xente veu vela.")[
        0
    ].lang in ("pt", "es")


def test_an_unlisted_code_is_valid_once_it_is_learned(result: TrainingResult) -> None:
    assert primary("xyz") == ""
    use_learned_languages([replace(result.language, lang="xyz")])
    assert primary("xyz") == "xyz"
    assert identify(strange.lines()[0], ["en", "xyz"])[0].lang == "xyz"


def test_a_script_used_by_no_other_language_is_enough() -> None:
    lines = [f"{NKO}{number}" for number in "߀߁߂߃߄߅߆߇߈߉"] * 10
    text = "\n".join(f"{line} {place}" for place, line in enumerate(lines))
    result = train_language("nqo", pieces_of(text))
    assert result.language.scripts == ("Nkoo",)
    use_learned_languages([result.language])
    assert identify(NKO) == identify(NKO, ["fr", "nqo"])
    assert identify(NKO)[0].lang == "nqo"
    assert identify(NKO)[0].score > 0.97
    for lang, other in OTHERS.items():
        assert identify(other)[0].lang == lang, "a text in other letters is never in it"


def test_quality_is_measured_on_held_out_lines(result: TrainingResult) -> None:
    assert 0.9 <= result.quality.lines <= 1
    assert result.quality.pages >= result.quality.lines
    assert abs(sum(weight for _, weight in result.near)) <= 1
    assert "qaa" not in dict(result.quality.before)


def test_lines_are_classified_by_columns_trained_without_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    learned: list[float] = []
    column = langid_train._column

    def watched(total: Array, usual: Array, strength: float) -> Array:
        learned.append(float(total.sum()))
        return column(total, usual, strength)

    monkeypatch.setattr(langid_train, "_column", watched)
    train_language("qaa", strange.lines()[:60])
    whole = max(learned)
    assert learned[-1] == whole, "what is kept was learned from all"
    assert max(learned[:-1]) < 0.9 * whole, "all else from four fifths"


def test_unseen_features_are_estimated_from_similar_languages() -> None:
    lines = [line for document in documents() for text in document.fr for line in text.split(". ")]
    pieces = pieces_of("\n".join(lines))
    result = train_language("qaa", pieces)
    assert result.near[0][0] == "fr"
    assert result.near[0][1] > 0.5
    table = base_model().model.table
    rest = {lang: table[:, base_model().labels.index(lang)] for lang in ("fr", "ru")}
    said = np.frombuffer(result.language.column, "<f2")
    unseen = np.ones(len(said), bool)
    for piece in pieces:
        unseen[list(feature_counts(base_model().model, model_bytes(piece)))] = False
    french = unseen & (rest["fr"] > -11) & (rest["ru"] < -12)
    russian = unseen & (rest["ru"] > -11) & (rest["fr"] < -12)
    assert min(french.sum(), russian.sum()) > 100
    assert said[french].mean() > said[russian].mean() + 2


@pytest.mark.parametrize("lines", [[], ["una linea sola de texto que no basta"] * 500])
def test_too_little_text_is_refused(lines: list[str]) -> None:
    with pytest.raises(ValueError, match=r"not enough .* 30 different lines and 2,000 letters"):
        train_language("qaa", pieces_of("\n".join(lines)))


def test_long_lines_are_cut_between_words() -> None:
    words = [f"word{number}" for number in range(500)]
    pieces = pieces_of(" ".join(words))
    assert len(pieces) > 10
    assert max(map(len, pieces)) <= 300
    assert " ".join(pieces).split() == words
    assert pieces_of("x" * 1000)[0] == "x" * 300


def test_a_file_round_trip_keeps_the_language(result: TrainingResult) -> None:
    assert LearnedLanguage.from_bytes(result.language.to_bytes()) == result.language


def changed(language: LearnedLanguage, **fields: object) -> bytes:
    return orjson.dumps(orjson.loads(language.to_bytes()) | fields)


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"format": 2}, "another kind or version"),
        ({"extra": 1}, "another kind"),
        ({"lang": "zzzz"}, "not a language code"),
        ({"lang": 7}, "not a language code"),
        ({"prior": "x"}, "its prior is not a number"),
        ({"prior": True}, "its prior is not a number"),
        ({"prior": 10.5}, "its prior is out of range"),
        ({"prior": 1e30}, "its prior is out of range"),
        ({"prior": -1e30}, "its prior is out of range"),
        ({"scripts": []}, "ISO 15924"),
        ({"scripts": ["latn"]}, "ISO 15924"),
        ({"model": 3}, "a field is not a string"),
        ({"column": "%%%"}, "cannot be decoded"),
        ({"column": base64.b64encode(b"abc").decode()}, "cannot be decoded"),
        ({"column": base64.b64encode(zlib.compress(b"abc")).decode()}, "incomplete"),
    ],
)
def test_files_that_are_not_learned_languages_are_refused(
    result: TrainingResult, fields: dict[str, object], wrong: str
) -> None:
    with pytest.raises(ValueError, match=wrong):
        LearnedLanguage.from_bytes(changed(result.language, **fields))


@given(st.binary(max_size=200))
def test_random_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"it is"):
        LearnedLanguage.from_bytes(data)


def test_a_decompression_bomb_is_not_unpacked(result: TrainingResult) -> None:
    bomb = base64.b64encode(zlib.compress(bytes(100_000_000))).decode()
    with pytest.raises(ValueError, match="not valid log probabilities"):
        LearnedLanguage.from_bytes(changed(result.language, column=bomb))


@pytest.mark.parametrize(
    "numbers",
    [[0.0] * 8, [-5.0] * 8, [-5.0, 0.5], [-5.0, np.nan], [-5.0, -np.inf], [-5.0, np.inf]],
)
def test_a_column_of_impossible_log_probabilities_is_refused(
    result: TrainingResult, numbers: list[float]
) -> None:
    packed = base64.b64encode(zlib.compress(np.array(numbers, "<f2").tobytes())).decode()
    with pytest.raises(ValueError, match="not valid log probabilities"):
        LearnedLanguage.from_bytes(changed(result.language, column=packed))


def test_a_column_of_another_model_or_size_is_refused(result: TrainingResult) -> None:
    for other in (
        replace(result.language, model="0"),
        replace(result.language, column=result.language.column[:-2]),
    ):
        with pytest.raises(ValueError, match="qaa was trained for another version"):
            use_learned_languages([other])
    assert learned_languages() == ()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_column_with_numbers_that_are_not_finite_is_refused(
    result: TrainingResult, value: float
) -> None:
    column = np.frombuffer(result.language.column, "<f2").copy()
    column[3] = value
    with pytest.raises(ValueError, match="the learned model for qaa is damaged"):
        use_learned_languages([replace(result.language, column=column.tobytes())])
    assert learned_languages() == ()


def test_each_thread_has_its_own_learned_languages(result: TrainingResult) -> None:
    use_learned_languages([result.language])
    seen: list[object] = []

    def other() -> None:
        seen.append(learned_languages())
        use_learned_languages([replace(result.language, lang="xyz")])
        seen.append((can_identify("xyz"), primary("xyz"), can_identify(result.language.lang)))

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert seen == [(), (True, "xyz", False)]
    assert learned_languages() == (result.language,)
    assert (can_identify("xyz"), primary("xyz")) == (False, "")


@pytest.mark.parametrize("is_first", [True, False])
def test_learned_languages_of_one_thread_are_not_cached_for_another(
    result: TrainingResult, is_first: bool
) -> None:
    seen: dict[bool, str] = {}

    def ask(taught: bool) -> None:
        use_learned_languages([replace(result.language, lang="xyz")] if taught else [])
        seen[taught] = asked_language("xyz", ("en", "xyz-Latn"))

    for taught in (is_first, not is_first):
        thread = threading.Thread(target=ask, args=[taught])
        thread.start()
        thread.join()
    assert seen == {True: "xyz-Latn", False: ""}

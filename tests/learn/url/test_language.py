"""The URL language model: the shipped weights, training, and hostile input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.timing import processor_seconds

from diptych.errors import ConfigError
from diptych.learn.url import language_train as url_lang_train
from diptych.learn.url.data import LabelledUrl
from diptych.learn.url.language import FLOOR, UrlLang, load, train
from diptych.learn.url.language_facts import countries, derive_facts
from diptych.learn.url.language_text import MAX_LENGTH, clean, pack

CLEAR = {
    "https://fr.wikipedia.org/wiki/Chat": "fr",
    "https://www.zeit.de/politik/deutschland/nachrichten": "de",
    "https://www.nhk.or.jp/": "ja",
    "http://shop.unknown-name.com/es/zapatos-de-mujer.html": "es",
    "http://shop.unknown-name.com/index.php?id=3&lang=sv": "sv",
    "http://shop.unknown-name.com/the-best-things-for-your-home": "en",
    "https://unknown-name.org/новости-россии/статья-о-выборах-в-москве": "ru",
    "https://unknown-name.org/%EB%89%B4%EC%8A%A4": "ko",
    "https://unknown-name.org/ειδήσεις": "el",
    "https://www.unknown-name.hu/hirek/magyar-nyelv": "hu",
    "http://haw.unknown-name.com/": "haw",
}
HOSTILE = [
    "", " ", "\0", "http://", "https://", "http:///", "http://?", "http://#", "://", "http",
    "mailto:a@example.org", "data:text/html,%3Cp%3E", "javascript:alert(1)", "ftp://example.fr/",
    "http://%", "http://example.org/%", "http://example.org/%zz%e9%ff%", "http://[::1]:80/fr/",
    "http://xn--/", "http://xn--\x00/", "http://xn--99999999999/", "http://" + "." * 3000,
    "http://münchen.example/straße", "http://\ud800/\udfff", "http://a\0b.fr/\0/fr/",
    "http://example.org/" + "a" * 1_000_000, "x" * 1_000_000, "http://" + "%" * 1_000_000,
    "http://example.org/" + "é" * 100_000, "http://example.org/?" + "&" * 5000,
]  # fmt: skip
PAPER_LANGUAGES = (
    "aa ab af ak am ar as ay az ba be bg bho bi bn bo br bs ca ceb chr co crs cs cy da de dv dz el"
    " en eo es et eu fa fi fil fj fo fr fy ga gd gl gn gu gv ha haw he hi hmn hr ht hu hy ia id ie"
    " ig ik is it iu ja jv ka kha kk kl km kn ko kri ks ku ky la lb lg lif ln lo loz lt lua luo lv"
    " mfe mg mi mk ml mn mr ms mt my na ne new nl nn no nr nso ny oc om or os pa pam pl ps pt qu"
    " raj rm rn ro ru rw sa sco sd sg si sk sl sm sn so sq sr ss st su sv sw syr ta te tg th ti tk"
    " tlh tn to tr ts tt tum ug uk ur uz ve vi vo war wo xh yi yo za zh zu"
).split()


@pytest.fixture(scope="module")
def model() -> UrlLang:
    return load()


def test_the_shipped_model_knows_clear_cases(model: UrlLang) -> None:
    found = dict(zip(CLEAR, model.predict(list(CLEAR)), strict=True))
    assert {url: score.lang for url, score in found.items()} == CLEAR
    assert all(score.score > 0.3 for score in found.values())


def test_every_language_of_the_paper_is_a_label_that_can_be_predicted(model: UrlLang) -> None:
    assert set(PAPER_LANGUAGES) <= set(model.labels)
    assert len(PAPER_LANGUAGES) >= 161
    assert model.labels[0] == "und"
    urls = [f"http://{lang}.unknown-name.com/{lang}/" for lang in PAPER_LANGUAGES]
    found = [score.lang for score in model.predict(urls)]
    missed = {lang for lang, said in zip(PAPER_LANGUAGES, found, strict=True) if lang != said}
    assert len(missed) <= 8, missed


def test_rows_are_probabilities_and_do_not_depend_on_the_batch(model: UrlLang) -> None:
    urls = [*CLEAR, *HOSTILE[:25]] * 150
    rows = model.probabilities(urls)
    assert rows.shape == (len(urls), len(model.labels))
    assert rows.dtype == np.float32
    assert rows.min() >= 0
    np.testing.assert_allclose(rows.sum(axis=1), 1, atol=1e-4)
    np.testing.assert_array_equal(rows[: len(CLEAR)], model.probabilities(list(CLEAR)))
    assert model.probabilities([]).shape == (0, len(model.labels))
    assert model.predict([]) == []


def test_hostile_urls_are_handled(model: UrlLang) -> None:
    found = model.predict(HOSTILE)
    assert len(found) == len(HOSTILE)
    no_urls = [score for url, score in zip(HOSTILE, found, strict=True) if "http" not in url[:5]]
    assert {score.lang for score in no_urls} == {"und"}
    assert {score.score for score in no_urls} == {1.0}


@given(st.lists(st.one_of(st.text(), st.builds("https://{}".format, st.text())), max_size=5))
def test_any_text_is_handled(urls: list[str]) -> None:
    rows = load().probabilities(urls)
    assert np.isfinite(rows).all()
    np.testing.assert_allclose(rows.sum(axis=1), 1, atol=1e-4)


@given(st.text())
def test_cleaned_urls_are_short_lower_case_and_encodable(url: str) -> None:
    cleaned = clean(url)
    cleaned.encode("utf-8")
    assert len(cleaned) <= 4 * MAX_LENGTH
    packed = pack([url, url])
    one, other = packed.texts()
    assert one == other
    assert one.lower() == cleaned.encode() or "%" not in url


def test_uncertain_language_is_unknown(model: UrlLang) -> None:
    rows = model.probabilities(["http://zzqx.com/"])
    score = model.predict(["http://zzqx.com/"])[0]
    assert (score.lang == "und") == (rows.max() < FLOOR or rows.argmax() == 0)


def test_case_and_escapes_do_not_matter(model: UrlLang) -> None:
    same = [
        "http://example.org/fr/été",
        "HTTP://EXAMPLE.ORG/FR/ÉTÉ",
        "http://example.org/fr/%C3%A9t%C3%A9",
        "http://example.org/fr/%c3%a9t%c3%a9",
        "http://example.org/fr/%E9t%E9",
    ]
    rows = model.probabilities(same)
    assert all(np.array_equal(rows[0], row) for row in rows)
    assert model.predict(["http://xn--bcher-kva.de/"]) == model.predict(["http://bücher.de/"])


def test_loading_is_quick_and_the_model_small() -> None:
    path = Path(load.__code__.co_filename).parent / "weights" / "url_lang" / "model.npz"
    assert path.stat().st_size <= 13_000_000
    with processor_seconds():  # measured for ten: 0.2
        for _ in range(10):
            load(str(path.parent))


# --- training ---


def rows_of(words: dict[str, str], *, domains: int = 30) -> list[LabelledUrl]:
    return [
        LabelledUrl(f"{lang}{n}.com", f"http://{lang}{n}.com/{text.split()[n % 4]}-{n}/", lang)
        for lang, text in words.items()
        for n in range(domains)
    ]


WORDS = {
    "fr": "actualites bonjour maison voiture",
    "de": "nachrichten guten strasse wagen",
    "en": "news hello house things",
}


@pytest.fixture(scope="module")
def trained() -> UrlLang:
    return train(rows_of(WORDS))


def test_a_trained_model_knows_words_and_marks(trained: UrlLang) -> None:
    assert trained.labels == ("und", "de", "en", "fr")
    urls = ["http://x.org/nachrichten", "http://x.org/bonjour", "http://x.org/news"]
    assert [score.lang for score in trained.predict(urls)] == ["de", "fr", "en"]


def test_the_same_rows_and_seed_give_the_same_model_in_any_order(trained: UrlLang) -> None:
    again = train(reversed(rows_of(WORDS)))
    urls = list(CLEAR)
    np.testing.assert_array_equal(again.probabilities(urls), trained.probabilities(urls))


def test_a_saved_model_is_the_same_model(trained: UrlLang, tmp_path: Path) -> None:
    trained.save(str(tmp_path / "new" / "folder"))
    again = load(str(tmp_path / "new" / "folder"))
    assert again.labels == trained.labels
    np.testing.assert_array_equal(
        again.probabilities(list(CLEAR)), trained.probabilities(list(CLEAR))
    )


def test_a_language_of_few_domains_is_unknown() -> None:
    rows = [*rows_of(WORDS), *rows_of({"tet": "a b c d"}, domains=3)]
    assert train(rows).labels == ("und", "de", "en", "fr")


def test_training_without_rows_is_an_error() -> None:
    with pytest.raises(ConfigError, match="no rows"):
        train([])


def test_many_urls_of_one_domain_have_less_weight() -> None:
    rows = [LabelledUrl("a.org", f"http://a.org/{n}", "fr") for n in range(100)]
    rows += [LabelledUrl(f"b{n}.org", f"http://b{n}.org/", "de") for n in range(10)]
    examples = url_lang_train._examples(rows, ("und", "de", "fr"))
    weight = [examples.weight[examples.truth == label].sum() for label in (1, 2)]
    assert weight[0] == pytest.approx(weight[1], rel=0.01)


def test_overconfident_probabilities_are_calibrated() -> None:
    labels, tables = url_lang_train.fit(rows_of(WORDS))
    hot = url_lang_train._cooled(tables, 0.1)
    examples = url_lang_train._examples(
        [row._replace(lang="de") for row in rows_of({"fr": WORDS["fr"], "de": WORDS["de"]})],
        labels,
    )
    assert url_lang_train._temperature(hot, examples) == pytest.approx(2.5)


# --- facts ---


def test_facts_connect_marks_countries_and_scripts_with_languages() -> None:
    from diptych.kernels import url_lang_reference as urls

    facts = derive_facts(("und", "fr", "de", "ru", "to"))

    def told(kind: int, text: bytes) -> set[str]:
        key = urls.feature(kind, text)
        return {
            fact.label
            for fact in facts
            if fact.feature == key
            and fact.value == 1.0
            and fact.kind[:8] not in ("country1", "country2")
        }

    assert told(urls.DIR_FIRST, b"to") == {"to"}
    assert told(urls.FILE_LAST, b"francais") == {"fr"}
    assert told(urls.TLD, b"at") == {"de"}
    assert "to" in told(urls.TLD, b"to")
    assert told(urls.SCRIPT, bytes((0x400 >> 7, 0))) == {"ru"}
    assert told(urls.NAME_PART, b"austria") == {"de"}


def test_countries_have_the_shares_of_their_languages() -> None:
    shares = dict(countries(("de", "fr", "it", "rm"))["CH"])
    assert shares["de"][0] == 1.0
    assert shares["fr"][0] == 0.0
    assert shares["de"][1] > shares["fr"][1] > shares["it"][1] > shares["rm"][1] > 0


# --- files that are no models ---


def test_a_missing_model_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"model\.npz: No such file .*train the model again"):
        load(str(tmp_path))


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no zip", b"\x93NUMPY"])
def test_a_file_that_is_not_a_model_is_an_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "model.npz").write_bytes(content)
    with pytest.raises(ConfigError, match="is not a URL language model"):
        load(str(tmp_path))


def test_code_in_a_model_is_never_run(tmp_path: Path) -> None:
    np.savez(tmp_path / "model.npz", format=np.array([{"any": "object"}], dtype=object))
    with pytest.raises(ConfigError, match="is not a URL language model"):
        load(str(tmp_path))


DAMAGE = {
    "format": np.array(1),
    "labels": np.array(["und"]),
    "out": np.zeros((4, 7), np.float32),
    "bias": np.zeros(4, np.float64),
    "table": np.zeros((3, 3), np.int8),
    "slot_entry": np.full(4, 10**6, np.int32),
    "slot_key": np.zeros(7, np.uint32),
    "entry_from": np.array([0, 10**6], np.int32),
    "fact_label": np.array([9], np.uint16),
    "fact_kind": np.array([999], np.uint16),
    "gates": np.zeros(1, np.float32),
    "scale": np.zeros((2, 2), np.float32),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_model_is_an_error(trained: UrlLang, tmp_path: Path, name: str) -> None:
    trained.save(str(tmp_path))
    with np.load(tmp_path / "model.npz") as stored:
        arrays = dict(stored)
    damaged = DAMAGE[name]
    if name in ("slot_entry", "entry_from", "fact_label", "fact_kind"):  # right but for numbers
        damaged = np.resize(damaged, arrays[name].shape)
    np.savez(tmp_path / "model.npz", **{**arrays, name: damaged})
    with pytest.raises(ConfigError, match="train the model again"):
        load(str(tmp_path))


def test_a_model_without_an_array_is_an_error(trained: UrlLang, tmp_path: Path) -> None:
    trained.save(str(tmp_path))
    with np.load(tmp_path / "model.npz") as stored:
        arrays = {name: array for name, array in stored.items() if name != "kinds"}
    np.savez(tmp_path / "model.npz", **arrays)
    with pytest.raises(ConfigError, match="kinds"):
        load(str(tmp_path))


def test_loading_imports_nothing_that_trains() -> None:
    code = (
        "import json, sys; from diptych.learn.url.language import load; load().predict(['http://x.fr/'])"
        "; print(json.dumps(sorted(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    loaded = set(json.loads(done.stdout))
    assert not loaded & {"sklearn", "scipy", "language_data", "langcodes", "pycld2"}

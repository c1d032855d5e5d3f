"""The link predictor: how it is kept, and what the shipped one knows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from diptych.errors import ConfigError
from diptych.stages.detect.predictor.contexts import Question, features_of_links
from diptych.stages.detect.predictor.model import LinkPredictor, from_json, load, to_json
from diptych.types import LangScore, Link, Page, PageRecord, Url


def test_a_model_is_read_as_it_was_written(tmp_path: Path) -> None:
    model = LinkPredictor(-0.5, {"anchor:is:missing": 1.5}, 2.0, 0.25)
    (tmp_path / "model.json").write_text(to_json(model), "utf-8")
    assert load(str(tmp_path)) == model


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{}", '{"format": 2}', '{"format": 1, "bias": 0}', "[" * 10_000,
        '{"format": 1, "bias": NaN, "slope": 1, "offset": 0, "weights": {}}',
        '{"format": 1, "bias": 0, "slope": 1, "offset": 0, "weights": {"a": "1"}}',
        '{"format": 1, "bias": 0, "slope": 1, "offset": 0, "weights": []}',
    ],
)  # fmt: skip
def test_damaged_model_is_reported_in_one_line(text: str, tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text(text, "utf-8")
    with pytest.raises(ConfigError, match="train the model again") as caught:
        load(str(tmp_path))
    assert "\n" not in str(caught.value)


def test_missing_model_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"model\.json: No such file .*train the model again"):
        load(str(tmp_path))


def page(lang: str) -> Page:
    scores = (LangScore(lang, 0.99),) if lang else ()
    length = 3000 if lang else 0
    return Page(PageRecord(Url("http://s.com/a"), lang, scores, "", 0, 5000, length, "x"), ())


def probability(link: Link, langs: str, lang: str) -> float:
    question = Question.of(langs.split(","), [lang] if lang else [])
    return load().probability(features_of_links(page(lang), [link], question)[0])


SWITCHERS = [
    ("en", "en,fr", Link(Url("http://s.com/fr/"), hreflang="fr-FR", anchor="Français")),
    ("en", "en,fr", Link(Url("http://s.com/?lang=fr"), anchor="FR")),
    ("en", "en,fr", Link(Url("http://s.com/node/12"), anchor="Version française")),
    ("en", "en,es", Link(Url("http://s.com/inicio.htm"), anchor="Español")),
    ("en", "en,es", Link(Url("http://s.com/inicio.htm"), anchor="En español")),
    ("de", "de,en", Link(Url("http://s.com/12"), anchor="English Version")),
    ("ja", "en,ja", Link(Url("http://s.com/e/"), anchor="English")),
    ("zh", "en,zh", Link(Url("http://s.com/eng/"), anchor="ENG")),
    ("en", "en,cy", Link(Url("http://s.com/hafan"), anchor="Cymraeg")),
    ("", "en,fr", Link(Url("http://s.com/en/home.html"), src="/flags/gb.png")),
]
OTHERS = [
    ("en", "en,fr", Link(Url("http://s.com/french-wine"), anchor="French wine")),
    ("en", "en,es", Link(Url("http://s.com/learn"), anchor="Learn Spanish")),
    ("en", "en,fr", Link(Url("http://s.com/de/"), anchor="Deutsch", hreflang="de")),
    ("en", "en,fr", Link(Url("http://s.com/contact"), anchor="Contact")),
    ("en", "en,no", Link(Url("http://s.com/no-smoking"), anchor="No smoking")),
    ("fr", "en,fr", Link(Url("http://s.com/en-savoir-plus"), anchor="En savoir plus")),
    ("en", "en,fr", Link(Url("http://s.com/en/"), anchor="English", hreflang="en")),
]


@pytest.mark.parametrize(("lang", "langs", "link"), SWITCHERS)
def test_the_shipped_model_knows_switchers(lang: str, langs: str, link: Link) -> None:
    assert probability(link, langs, lang) >= 0.5


@pytest.mark.parametrize(("lang", "langs", "link"), OTHERS)
def test_shipped_model_rejects_other_links(lang: str, langs: str, link: Link) -> None:
    assert probability(link, langs, lang) < 0.5


def test_the_shipped_model_is_small_and_of_general_features() -> None:
    text = to_json(load())
    assert from_json(text, "it") == load()
    assert len(json.loads(text)["weights"]) < 1000

"""The link predictor: what it learns, how it is kept, and what the shipped one knows."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from bench.training.link_predictor_fit import LabelledLink, fit, platt
from diptych.errors import ConfigError
from diptych.stages.detect.predictor.contexts import Question, features_of_links
from diptych.stages.detect.predictor.model import LinkPredictor, from_json, load, to_json
from diptych.types import LangScore, Link, Page, PageRecord, Url


def rows() -> list[LabelledLink]:
    made = []
    for number in range(60):
        group = f"g{number % 10}"
        made.append(LabelledLink(frozenset({"anchor:is:missing", "rel:a"}), True, group))
        made.append(LabelledLink(frozenset({"rel:a", "anchor:is:third"}), False, group))
        made.append(LabelledLink(frozenset({"rel:a", f"url={group}"}), False, group))
    return made


def test_what_is_learned_tells_links_apart() -> None:
    model = fit(rows())
    assert model.probability({"rel:a", "anchor:is:missing"}) > 0.9
    assert model.probability({"rel:a", "anchor:is:third"}) < 0.1
    assert fit(rows()) == model


def test_what_occurs_in_one_group_gets_no_weight() -> None:
    alone = [
        LabelledLink(frozenset({"rel:a", "anchor:is:missing", "odd"}), True, "g1") for _ in range(9)
    ]
    assert "odd" not in fit([*rows(), *alone]).weights
    assert "odd" in fit([*rows(), *alone], least_groups=1).weights


def test_no_feature_speaks_against_what_it_stands_for() -> None:
    odd = [
        LabelledLink(frozenset({"rel:a", "text:missing:sure"}), False, f"g{number % 10}")
        for number in range(50)
    ]
    odd += [
        LabelledLink(frozenset({"rel:a", "text:third:sure"}), True, f"g{number % 10}")
        for number in range(50)
    ]
    weights = fit([*rows(), *odd]).weights
    assert weights.get("text:missing:sure", 0.0) >= 0
    assert weights.get("text:third:sure", 0.0) <= 0


def test_the_sigmoid_gives_the_frequencies() -> None:
    margins = np.repeat([-1.0, 1.0], 1000)
    labels = np.concatenate([np.arange(1000) < 200, np.arange(1000) < 900])
    slope, offset = platt(margins, labels)
    chances = 1 / (1 + np.exp(-(slope * np.array([-1.0, 1.0]) + offset)))
    assert chances == pytest.approx([0.2, 0.9], abs=0.01)


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
def test_a_damaged_model_is_told_in_one_line(text: str, tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text(text, "utf-8")
    with pytest.raises(ConfigError, match="train the model anew") as caught:
        load(str(tmp_path))
    assert "\n" not in str(caught.value)


def test_a_missing_model_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no link predictor"):
        load(str(tmp_path))


def page(lang: str) -> Page:
    scores = (LangScore(lang, 0.99),) if lang else ()
    length = 3000 if lang else 0
    return Page(PageRecord(Url("http://s.com/a"), lang, scores, "", 0, 5000, length, "x"), ())


def chance(link: Link, langs: str, lang: str) -> float:
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
    assert chance(link, langs, lang) >= 0.5


@pytest.mark.parametrize(("lang", "langs", "link"), OTHERS)
def test_the_shipped_model_knows_other_links(lang: str, langs: str, link: Link) -> None:
    assert chance(link, langs, lang) < 0.5


def test_the_shipped_model_is_small_and_of_general_features() -> None:
    text = to_json(load())
    assert from_json(text, "it") == load()
    assert len(json.loads(text)["weights"]) < 1000

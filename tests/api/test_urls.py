"""Choice of the URL model, and use of its predictions."""

from __future__ import annotations

import numpy as np
import pytest
from support.encoders import make_encoder
from support.urlmodels import FakeLanguages

from diptych.api.urls import best_languages, language_model, pair_model
from diptych.commands import _url_list as url_list
from diptych.errors import ConfigError
from diptych.learn.url.language import UrlLang
from diptych.learn.url.transformer import TransformerUrlPair
from diptych.types import LangScore


class Fixed:
    """A model with given probabilities."""

    labels = ("de", "en", "fr", "und")

    def __init__(self, *rows):
        self.rows = np.array(rows, np.float32)

    def probabilities(self, urls):
        return self.rows


def among(langs, *row):
    (found,) = url_list._among(Fixed(row), ["http://a.org/"], langs)
    return found.lang, round(found.score, 3)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ((0.1, 0.3, 0.6, 0.0), ("fr", 0.6)),
        ((0.1, 0.6, 0.3, 0.0), ("en", 0.6)),
        ((0.35, 0.3, 0.1, 0.25), ("en", 0.3)),  # another is likelier than each, not than both
        ((0.9, 0.06, 0.04, 0.0), ("", 0.0)),
        ((0.1, 0.2, 0.1, 0.6), ("", 0.0)),
        ((0.0, 0.0, 0.0, 0.0), ("", 0.0)),
    ],
)
def test_language_is_chosen_among_the_requested_ones(row, expected):
    assert among(("en", "fr"), *row) == expected


def test_language_is_named_by_the_users_own_code():
    assert among(("en-GB", "fr-CA"), 0.1, 0.2, 0.7, 0.0) == ("fr-CA", 0.7)


def test_language_the_model_does_not_know_is_never_chosen():
    assert among(("tet", "fr"), 0.1, 0.1, 0.8, 0.0) == ("fr", 0.8)
    assert among(("tet", "kv"), 0.1, 0.1, 0.8, 0.0) == ("", 0.0)


def test_most_probable_language_of_all():
    model = Fixed((0.1, 0.2, 0.3, 0.4), (0.7, 0.1, 0.1, 0.1))
    assert [found.lang for found in best_languages(model, ["x", "y"])] == ["und", "de"]
    assert best_languages(FakeLanguages(), []) == []


def test_model_may_answer_unknown():
    class Silent(Fixed):
        def predict(self, urls):
            return [LangScore("und", 0.5) for _ in urls]

    assert best_languages(Silent((0, 1, 0, 0)), ["x"]) == [LangScore("und", 0.5)]


def test_folder_decides_on_the_kind_of_model(torch, tmp_path):
    assert isinstance(language_model(""), UrlLang)
    language_model("").save(str(tmp_path / "ours"))
    assert isinstance(language_model(str(tmp_path / "ours")), UrlLang)
    encoder = str(make_encoder(tmp_path / "encoder"))
    assert isinstance(pair_model(encoder), TransformerUrlPair)
    with pytest.raises(ConfigError, match="not languages"):
        language_model(encoder)
    for load in (language_model, pair_model):
        with pytest.raises(ConfigError, match="is not a folder"):
            load("FacebookAI/xlm-roberta-base")

"""`diptych train` of URL models: files, scores and mistakes."""

from __future__ import annotations

import hashlib
import sys

import numpy as np
import pytest
from support.commands import mistake, run
from support.encoders import make_encoder
from support.urlmodels import FakeLanguages, FakePairs

from diptych._version import VERSION
from diptych.commands.train import url_models as training
from diptych.commands.train.url_models import Figures, figures, score_url_lang, score_url_pair
from diptych.learn.url.data import LabelledPair, LabelledUrl, split_by_domain


class Recorded(FakeLanguages):
    """A model that records that it was saved."""

    def save(self, folder):
        from pathlib import Path

        Path(folder).mkdir(parents=True)
        (Path(folder) / "model.npz").write_bytes(b"weights")


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "urls.tsv"
    path.write_text(
        "".join(
            f"d{number}.org\thttp://d{number}.org/{lang}/{word}\t{lang}\n"
            for number in range(40)
            for lang in ("en", "fr")
            for word in ("one", "two")
        )
    )
    return path


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text(
        "".join(
            f"d{number}.org\thttp://a.org/en/{word}\ten\thttp://a.org/fr/{word}\tfr\n"
            for number in range(40)
            for word in ("one", "two")
        )
    )
    return path


@pytest.fixture
def learned(monkeypatch):
    """The calls of the linear trainer, which is replaced by a fake."""
    seen = []

    def learn(rows, seed):
        seen.append((rows, seed))
        return Recorded()

    monkeypatch.setattr(training, "_learn_url_lang", learn)
    return seen


def test_model_is_trained_tested_on_other_domains_and_written_with_a_card(data, learned, tmp_path):
    out = tmp_path / "models" / "mine"
    result = run("train", "url-lang", data, "--out", out, "--seed", 5)
    assert result.exit_code == 0, result.output
    ((rows, seed),) = learned
    assert seed == 5
    every = [
        LabelledUrl(*line.split("\t")) for line in data.read_text().splitlines()
    ]  # fmt: skip
    kept, held_out = split_by_domain(every, 0.1, 5 + training.SPLIT)
    assert rows == kept
    assert 0 < len(held_out) < len(kept)
    assert result.stdout.splitlines() == [
        "macro, 2 languages: P 100.00 R 100.00 F1 100.00",
        f"micro, {len(held_out)} URLs: P 100.00 R 100.00 F1 100.00",
    ]
    assert f"training: {len(kept)} rows from {len(kept) // 4} domains;" in result.stderr
    assert (out / "model.npz").exists()
    card = (out / "card.md").read_text("utf-8")
    digest = hashlib.sha256(data.read_bytes()).hexdigest()
    assert f"| urls.tsv | 160 | `{digest}` |" in card
    assert f"`url-lang:linear|data:{digest[:8]}|seed:5|v:{VERSION}`" in card
    assert "macro, 2 languages: P 100.00 R 100.00 F1 100.00" in card
    assert f"held out: {len(held_out)} rows from {len(held_out) // 4} domains" in card
    assert str(tmp_path) not in card


def test_trainers_can_hold_out_domains_of_their_own(data, learned, tmp_path):
    run("train", "url-lang", data, "--out", tmp_path / "out")
    ((rows, seed),) = learned
    assert all(split_by_domain(rows, 0.1, seed))


def test_several_files_are_read_together(data, learned, tmp_path):
    other = tmp_path / "other.tsv"
    other.write_text("z.org\thttp://z.org/de/\tde\nz.org\thttp://z.org/de/x\tde\n")
    out = tmp_path / "out"
    assert run("train", "url-lang", data, other, "--out", out).exit_code == 0
    card = (out / "card.md").read_text("utf-8")
    assert "| urls.tsv | 160 |" in card
    assert "| other.tsv | 2 |" in card


@pytest.mark.parametrize("kind", ["url-lang", "url-pair"])
def test_encoder_is_trained_and_used_by_the_commands(torch, kind, data, pairs, tmp_path):
    base, out = make_encoder(tmp_path / "base"), tmp_path / "out"
    given = data if kind == "url-lang" else pairs
    result = run(
        "train", kind, given, "--out", out, "--backend", "transformers", "--base", base,
        "--epochs", 2, "--batch", 64, "--learning-rate", 0.001,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "macro" in result.stdout
    assert "epoch 2: loss" in result.stderr
    card = (out / "card.md").read_text("utf-8")
    assert f"`{kind}:transformers(base)|data:" in card
    assert "|seed:0|epochs:2|batch:64|learning_rate:0.001|v:" in card
    asked = tmp_path / "asked"
    asked.write_text("http://a.org/fr/one\thttp://a.org/en/one\nnonsense\n")
    told = run(kind, asked, "--model", out)
    assert told.exit_code == 0, told.output
    first, second = (line.split("\t") for line in told.stdout.splitlines())
    assert len(first) == len(second) == 3
    assert 0 < float(first[2]) < 1
    assert float(second[2]) == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--backend", "transformers"], "requires --base FOLDER"),
        (["--base", "x"], "require --backend transformers"),
        (["--epochs", "3"], "require --backend transformers"),
        pytest.param(
            ["--backend", "transformers", "--base", "xlm-roberta-base"], "does not download models",
            marks=pytest.mark.needs_torch,
        ),
    ],
)  # fmt: skip
def test_invalid_options_are_mistakes(data, tmp_path, arguments, said):
    out = tmp_path / "out"
    result = run("train", "url-lang", data, "--out", out, *arguments)
    assert result.exit_code == 2
    assert said in result.stderr.splitlines()[-1]
    assert not out.exists()


def test_invalid_folders_and_data_are_mistakes(data, pairs, learned, tmp_path):
    out = tmp_path / "out"
    assert "already exists" in mistake("train", "url-lang", data, "--out", tmp_path)
    assert "already exists" in mistake("train", "url-lang", data, "--out", data)
    assert "cannot write" in mistake("train", "url-lang", data, "--out", data / "x")
    assert "cannot read" in mistake("train", "url-lang", tmp_path / "no.tsv", "--out", out)
    assert "line 1" in mistake("train", "url-pair", data, "--out", out)
    empty = tmp_path / "empty.tsv"
    empty.write_text("\n")
    assert "no usable rows" in mistake("train", "url-lang", empty, "--out", out)
    assert not out.exists()
    assert learned == []


def test_missing_extra_is_reported_with_installation_advice(data, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    result = run("train", "url-pair", data, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1] == (
        "error: training requires sklearn: pip install 'scikit-learn>=1.4'"
    )


def test_too_few_domains_give_no_figures(learned, tmp_path):
    data = tmp_path / "one.tsv"
    data.write_text("example.org\thttp://example.org/en/\ten\n")
    result = run("train", "url-lang", data, "--out", tmp_path / "out")
    assert result.exit_code == 0
    assert "too few domains" in result.stdout


# -- figures ---------------------------------------------------------------------------------------


def test_figures_of_a_class():
    truth, said = np.array([1, 1, 1, 0, 0]) == 1, np.array([1, 0, 0, 1, 0]) == 1
    assert figures(truth, said) == Figures(50.0, pytest.approx(100 / 3), 40.0)
    nothing = np.zeros(5, np.bool_)
    assert figures(truth, nothing) == Figures(0.0, 0.0, 0.0)
    assert figures(nothing, nothing) == Figures(0.0, 0.0, 0.0)


def test_languages_have_equal_weights():
    rows = [LabelledUrl("a.org", f"http://a.org/en/{number}", "en") for number in range(98)]
    rows += [LabelledUrl("a.org", "http://a.org/en/x", "fr")]
    rows += [LabelledUrl("a.org", "http://a.org/de/x", "de")]
    rows += [LabelledUrl("a.org", "http://a.org/x", "fr")]
    rows += [LabelledUrl("a.org", "http://a.org/y", "und")]
    found = score_url_lang(FakeLanguages(), rows)
    assert list(found) == ["macro, 4 languages", "micro, 102 URLs"]
    macro, micro = found.values()
    assert macro.recall == pytest.approx(300 / 4)
    assert micro == pytest.approx((100 * 99 / 100, 100 * 99 / 101, 200 * 99 / 201))
    assert score_url_lang(FakeLanguages(), []) == {}


def test_pairs_are_distinguished_from_negatives():
    rows = [
        LabelledPair("a.org", f"http://a.org/en/{page}", "en", f"http://a.org/fr/{page}", "fr")
        for page in ("one", "two", "three", "four")
    ]
    rows.append(LabelledPair("a.org", "http://a.org/x", "en", "http://a.org/y", "fr"))
    found = score_url_pair(FakePairs(), rows)
    pairs, macro = found.values()
    assert pairs.recall == 80.0
    assert next(iter(found)).startswith("URL pairs (5 positive, ")
    assert pairs.f1 < macro.f1 < 100
    assert score_url_pair(FakePairs(), []) == {}

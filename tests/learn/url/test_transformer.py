"""The XLM-RoBERTa back end, with an encoder of a few thousand weights created here."""

from __future__ import annotations

import json
import shutil
import sys

import numpy as np
import pytest
from support.encoders import make_encoder

from diptych.errors import ConfigError
from diptych.learn.url import fine_tune, transformer
from diptych.learn.url.data import LabelledPair, LabelledUrl, split_by_domain
from diptych.learn.url.fine_tune import Training, train_url_lang, train_url_pair
from diptych.learn.url.transformer import load_url_lang, load_url_pair, prepare

QUICK = Training(epochs=25, batch=8, learning_rate=2e-3, patience=25)


@pytest.fixture(scope="module")
def base(torch, tmp_path_factory):
    return make_encoder(tmp_path_factory.mktemp("base"))


def labelled():
    return [
        LabelledUrl(f"d{number}.org", f"http://d{number}.org/{lang}/{word}", lang)
        for number in range(20)
        for lang in ("en", "fr", "de")
        for word in ("one", "two")
    ]


def pairs():
    """One pair in each of many domains, so that negatives come only from removing tokens."""
    return [
        LabelledPair(f"d{number}.org", "http://a.org/en/one", "en", "http://a.org/fr/one", "fr")
        for number in range(60)
    ]


@pytest.fixture(scope="module")
def languages(base):
    return train_url_lang(labelled(), base=str(base), seed=1, training=QUICK)


@pytest.fixture(scope="module")
def parallel(base):
    return train_url_pair(pairs(), base=str(base), seed=1, training=QUICK)


ASKED = ["http://new.org/fr/two", "http://new.org/en/two", "http://new.org/de/one"]


def close(one, other):
    """True if equal except for the last bits, which depend on the memory address of a tensor."""
    return np.allclose(one, other, atol=1e-4)


# -- what is read ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("https://a.org/fr/l_été?x=1", "a . org / fr / l _ été ? x = 1"),
        ("HTTP://a.org//b", "a . org // b"),
        ("a.org/b", "a . org / b"),
        ("http://a.org/?x&amp;y", "a . org /? x & y"),
        ("http://a.org/%C3%A9%zz", "a . org / é % zz"),
        ("http://a.org/%FF", "a . org /\N{REPLACEMENT CHARACTER}"),
        ("http://a.org/b%20c\td", "a . org / b c d"),
        ("", ""),
        ("http://", ""),
    ],
)
def test_urls_are_prepared_as_in_the_paper(url, text):
    assert prepare(url) == text


def test_two_urls_are_separated_by_the_separator(base):
    model, tokenizer = transformer.load_base(base, ("parallel",))
    encoded = transformer.encode(tokenizer, model, ["http://a/b"], ["http://c"])
    words = tokenizer.convert_ids_to_tokens(encoded["input_ids"][0].tolist())
    assert words == ["<s>", "a", "/", "b", "</s>", "</s>", "c", "</s>"]


def test_long_urls_are_truncated_to_the_positions_of_the_model(base, languages):
    long = "http://a.org/" + "one/" * 250_000
    assert languages.probabilities([long]).shape == (1, 4)


# -- what is learned -------------------------------------------------------------------------------


def test_languages_are_learned(languages):
    assert languages.labels == ("de", "en", "fr", "und")
    found = languages.probabilities(ASKED)
    assert found.dtype == np.float32
    assert np.allclose(found.sum(1), 1, atol=1e-5)
    assert [languages.labels[best] for best in found.argmax(1)] == ["fr", "en", "de"]


def test_pairs_are_learned(parallel):
    lefts = ["http://a.org/en/one", "http://a.org/en/one", "http://a.org/en/"]
    rights = ["http://a.org/fr/one", "http://a.org//one", "http://a.org/fr/one"]
    found = parallel.probabilities(lefts, rights)
    assert found.shape == (3,)
    assert found.dtype == np.float32
    assert ((found >= 0) & (found <= 1)).all()
    assert found[0] > 0.5 > max(found[1:])


def test_no_urls_give_no_rows(languages, parallel):
    assert languages.probabilities([]).shape == (0, 4)
    assert parallel.probabilities([], []).shape == (0,)


def test_probabilities_do_not_depend_on_the_batch(languages):
    alone = [languages.probabilities([url])[0] for url in ASKED]
    many = languages.probabilities(ASKED * 50)
    assert np.allclose(many, np.array(alone * 50), atol=1e-5)


def test_models_are_saved_and_loaded_again(torch, languages, parallel, tmp_path):
    languages.save(tmp_path / "lang")
    parallel.save(tmp_path / "pair")
    again = load_url_lang(tmp_path / "lang")
    assert again.labels == languages.labels
    assert close(again.probabilities(ASKED), languages.probabilities(ASKED))
    before = parallel.probabilities(ASKED, ASKED[::-1])
    assert close(load_url_pair(tmp_path / "pair").probabilities(ASKED, ASKED[::-1]), before)
    weights = languages.model.state_dict()
    assert all(torch.equal(weights[name], kept) for name, kept in again.model.state_dict().items())
    kinds = {file.suffix for file in (tmp_path / "lang").iterdir()}
    assert kinds <= {".json", ".safetensors"}


def test_same_seed_and_data_give_the_same_model(torch, base):
    few = Training(epochs=2, batch=8, learning_rate=1e-3)
    state = torch.random.get_rng_state()

    def answer(seed, rows):
        model = train_url_lang(rows, base=str(base), seed=seed, training=few)
        return model.probabilities(ASKED)

    first = answer(3, labelled())
    assert close(answer(3, reversed(labelled())), first)
    assert not close(answer(4, labelled()), first)
    assert torch.equal(torch.random.get_rng_state(), state)


def test_training_stops_without_improvement_and_keeps_the_best_epoch(torch, base, monkeypatch):
    scores = iter([0.5, 0.7, 0.6, 0.7, 0.9])
    seen = []

    def score(model, tokenizer, examples):
        seen.append(model.classifier.out_proj.weight.detach().clone())
        return next(scores)

    monkeypatch.setattr(fine_tune, "_score", score)
    told = []
    few = Training(epochs=9, batch=32, learning_rate=1e-2, patience=2)
    model = train_url_lang(labelled(), base=str(base), training=few, tell=told.append)
    assert len(told) == len(seen) == 4
    assert "macro F1 0.7000" in told[1]
    assert torch.equal(model.model.classifier.out_proj.weight, seen[1])


def test_only_the_top_layer_is_reinitialised(torch, base):
    model, _ = transformer.load_base(base, ("parallel",))
    below, top = (
        [weights.clone() for weights in layer.parameters()]
        for layer in model.base_model.encoder.layer
    )
    fine_tune._forget_top_layer(model)
    layers = model.base_model.encoder.layer
    assert all(map(torch.equal, below, layers[0].parameters()))
    assert not any(
        torch.equal(old, new) for old, new in zip(top, layers[1].parameters(), strict=True)
        if old.dim() == 2
    )  # fmt: skip


def test_training_begins_with_a_new_top_layer(torch, base):
    old, _ = transformer.load_base(base, ("parallel",))
    still = Training(epochs=1, learning_rate=1e-12)
    new = train_url_pair(pairs(), base=str(base), training=still).model
    kept = [
        [
            torch.allclose(one, other, atol=1e-6)
            for one, other in zip(before.parameters(), after.parameters(), strict=True)
        ]
        for before, after in zip(
            old.base_model.encoder.layer, new.base_model.encoder.layer, strict=True
        )
    ]
    assert all(kept[0])
    assert not all(kept[1])


def test_learning_rate_follows_the_steps(base, monkeypatch):
    seen = []

    def share(step, warm_up):
        seen.append((step, warm_up))
        return 1.0

    monkeypatch.setattr(fine_tune, "inverse_square_root", share)
    kept, _ = split_by_domain(labelled(), 0.1, 0)
    train_url_lang(labelled(), base=str(base), training=Training(epochs=2, batch=2))
    steps = len(kept) // 2
    assert seen == [(step, round(steps / 10)) for step in range(1, 2 * steps + 2)]


def test_weights_of_rows_count(base):
    wrong = [
        LabelledUrl(row.domain, row.url, "fr" if row.lang == "en" else "en", 0.001)
        for row in labelled()
        if row.lang != "de"
    ] * 2
    model = train_url_lang([*labelled(), *wrong], base=str(base), seed=1, training=QUICK)
    found = model.probabilities(ASKED[:2]).argmax(1)
    assert [model.labels[best] for best in found] == ["fr", "en"]


def test_training_without_rows_is_an_error(base):
    with pytest.raises(ConfigError, match="training data have no usable rows"):
        train_url_pair([], base=str(base))


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["xlm-roberta-base", "FacebookAI/xlm-roberta-base"])
def test_names_of_the_hub_are_refused(torch, name):
    for load in (load_url_lang, load_url_pair):
        with pytest.raises(ConfigError, match="does not download models"):
            load(name)
    with pytest.raises(ConfigError, match="does not download models"):
        train_url_lang(labelled(), base=name)


def test_pickles_are_refused_and_never_opened(base, tmp_path):
    folder = shutil.copytree(base, tmp_path / "base")
    weights = next(folder.glob("*.safetensors"))
    weights.rename(folder / "pytorch_model.bin")
    with pytest.raises(ConfigError, match=r"pytorch_model\.bin may contain code"):
        load_url_lang(folder)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("config.json", None, r"config\.json"),
        ("config.json", b"{", r"config\.json"),
        ("config.json", b"[]", "model_type"),
        ("config.json", b'{"model_type": "no-such-model"}', "cannot read the model"),
        ("model.safetensors", None, "there are no weights"),
        ("model.safetensors", b"short", "cannot read the model"),
        ("tokenizer.json", None, r"tokenizer\.json"),
        ("tokenizer.json", b"{}", "cannot read the model"),
        ("tokenizer.json", b'{"model": {"type": "none"}}', "cannot read the model"),
        ("config.json", b"[" * 100_000, r"config\.json: maximum recursion"),
    ],
)
def test_invalid_folders_are_errors(base, tmp_path, name, content, said):
    folder = shutil.copytree(base, tmp_path / "base")
    (folder / name).unlink()
    if content is not None:
        (folder / name).write_bytes(content)
    with pytest.raises(ConfigError, match=said) as caught:
        load_url_pair(folder)
    assert "\n" not in str(caught.value)


def test_code_in_a_folder_is_not_run(base, tmp_path):
    folder = shutil.copytree(base, tmp_path / "base")
    config = json.loads((folder / "config.json").read_bytes())
    config["model_type"] = "evil"
    config["auto_map"] = {
        "AutoConfig": "evil.Config",
        "AutoModelForSequenceClassification": "evil.Model",
    }
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "evil.py").write_text("raise SystemExit('run')")
    with pytest.raises(ConfigError, match="cannot read the model"):
        load_url_pair(folder)


def test_models_of_the_other_task_are_refused(languages, parallel, tmp_path):
    languages.save(tmp_path / "lang")
    parallel.save(tmp_path / "pair")
    with pytest.raises(ConfigError, match="not languages"):
        load_url_lang(tmp_path / "pair")
    with pytest.raises(ConfigError, match="4 labels"):
        load_url_pair(tmp_path / "lang")


def test_labels_in_other_forms_are_converted(languages, tmp_path):
    languages.save(tmp_path)
    path = tmp_path / "config.json"
    config = json.loads(path.read_bytes())
    names = {"0": "deu", "1": "en-GB", "2": "fra", "3": "unknown"}
    config["id2label"] = names
    config["label2id"] = {name: int(number) for number, name in names.items()}
    path.write_text(json.dumps(config))
    again = load_url_lang(tmp_path)
    assert again.labels == languages.labels
    assert close(again.probabilities(ASKED), languages.probabilities(ASKED))


def test_labels_of_one_language_are_summed(languages, tmp_path):
    languages.save(tmp_path)
    path = tmp_path / "config.json"
    config = json.loads(path.read_bytes())
    names = {"0": "en-US", "1": "en-GB", "2": "fr", "3": "und"}
    config["id2label"] = names
    config["label2id"] = {name: int(number) for number, name in names.items()}
    path.write_text(json.dumps(config))
    again = load_url_lang(tmp_path)
    assert again.labels == ("en", "fr", "und")
    before = languages.probabilities(ASKED)
    assert np.allclose(again.probabilities(ASKED)[:, 0], before[:, 0] + before[:, 1])


@pytest.mark.parametrize("missing", ["torch", "transformers", "safetensors"])
def test_missing_library_is_an_error_with_the_install_command(base, monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ConfigError, match=rf"{missing}: pip install .*'torch>=.*'transformers>="):
        load_url_lang(base)

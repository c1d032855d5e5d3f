"""`diptych train`: models trained on labelled data."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from diptych.commands.options import FILE, asked_as
from diptych.errors import ConfigError

__all__ = ["TrainOptions", "train"]


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """What the user asked to be trained, on what, and how."""

    model: str
    data: tuple[Path, ...]
    out: Path | None = None
    backend: str = "linear"
    base: str = ""
    seed: int = 0
    epochs: int | None = None
    batch: int | None = None
    learning_rate: float | None = None
    method: str | None = None
    run: Path | None = None

    @property
    def tuning(self) -> tuple[tuple[str, int | float], ...]:
        """How an encoder is trained, as far as the user said so."""
        named = (
            ("epochs", self.epochs), ("batch", self.batch), ("learning_rate", self.learning_rate),
        )  # fmt: skip
        return tuple((name, value) for name, value in named if value is not None)

    @property
    def is_plain(self) -> bool:
        """Whether nothing was said of an encoder."""
        return not (self.base or self.tuning or self.backend != "linear")


@click.command()
@click.argument("model", type=click.Choice(["url-lang", "url-pair", "verify", "langid"]))
@click.argument("data", type=FILE, nargs=-1, required=True)
@click.option(
    "--out", type=FILE, metavar="FOLDER",
    help="Folder of the model; of langid its file, LANG.langid.json if none is named.",
)  # fmt: skip
@click.option(
    "--backend",
    type=click.Choice(["linear", "transformers"]),
    default=TrainOptions.backend,
    show_default=True,
    help="Our own small model, or an encoder such as XLM-RoBERTa.",
)
@click.option("--base", default="", metavar="FOLDER", help="The encoder to start from.")
@click.option(
    "--seed", type=click.IntRange(0), default=TrainOptions.seed, show_default=True, metavar="N",
    help="Of the split and of training.",
)  # fmt: skip
@click.option("--epochs", type=click.IntRange(1), metavar="N", help="Of an encoder, at most.")
@click.option("--batch", type=click.IntRange(1), metavar="N", help="Rows an encoder sees at once.")
@click.option(
    "--learning-rate",
    type=click.FloatRange(0, min_open=True),
    metavar="X",
    help="Of an encoder; as published 1e-5.",
)
@click.option(
    "--method",
    type=click.Choice(["classify", "decision_tree", "maxent"]),
    help="Of verify: whose features; classify has all of them.",
)
@click.option("--run", type=FILE, metavar="RUN", help="Of verify: whose pages DATA speaks of.")
@asked_as(TrainOptions)
def train(asked: TrainOptions) -> int:
    """Train a model on labelled DATA, and say how good it is on data it has not seen.

    The columns of DATA, with tabs between them: domain, url, lang for url-lang; domain, url, lang,
    url, lang for url-pair; left, right, and 1 or 0 for verify, where left and right are HTML files
    beside DATA, or URLs of a run.  For langid DATA is the code of a language, such as tet, and
    files of text in it; what comes of it is used with --langid.
    """
    if asked.model == "langid":
        return _train_langid(asked)
    if asked.out is None:
        raise ConfigError("say where the model goes: --out FOLDER")
    if asked.model == "verify":
        return _train_verify(asked, asked.out)
    if asked.method or asked.run:
        raise ConfigError(f"--method and --run are for verify, not for {asked.model}")
    from diptych.commands.train.url_models import Order, train_url_model

    return train_url_model(
        Order(
            asked.model, asked.data, asked.out, asked.backend, asked.base, asked.seed, asked.tuning
        )
    )


def _train_langid(asked: TrainOptions) -> int:
    from diptych.commands.train.langid import train_langid

    if len(asked.data) < 2 or not asked.is_plain or asked.method or asked.run:
        raise ConfigError("langid takes a language, files of text in it, and --out FILE")
    lang = str(asked.data[0])
    return train_langid(lang, asked.data[1:], asked.out or Path(f"{lang}.langid.json"))


def _train_verify(asked: TrainOptions, out: Path) -> int:
    from diptych.commands.train.verify import VerifyOrder, train_verify

    if len(asked.data) > 1 or not asked.is_plain:
        raise ConfigError("verify takes one file of labels, --out, --method, --run and --seed")
    method = asked.method or "classify"
    return train_verify(VerifyOrder(asked.data[0], out, method, asked.run, asked.seed))

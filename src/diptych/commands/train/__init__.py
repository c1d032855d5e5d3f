"""`diptych train`: trains models on labelled data."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diptych.api.declare import amount_option, argument, count_option, option
from diptych.commands.declare import command
from diptych.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """Options of `diptych train`."""

    model: str = argument(choices=["url-lang", "url-pair", "verify", "langid"])
    data: tuple[Path, ...] = argument()
    out: Path | None = option(
        "Folder to write the model to; for langid, a file (default: LANG.langid.json).",
        metavar="FOLDER",
    )  # fmt: skip
    backend: str = option(
        "linear: a small, fast model; transformers: an encoder such as XLM-RoBERTa.",
        default="linear", choices=("linear", "transformers"),
    )  # fmt: skip
    base: str = option("Folder of the encoder to fine-tune.", default="", metavar="FOLDER")
    seed: int = option(
        "Random seed for the split and for training.", default=0, least=0, metavar="N",
    )  # fmt: skip
    epochs: int | None = count_option("Maximum number of epochs (encoders only).")
    batch: int | None = count_option("Rows per training batch (encoders only).")
    learning_rate: float | None = amount_option(
        "Learning rate (encoders only); the published value is 1e-5.", "X"
    )
    method: str | None = option(
        'Verifier to train (verify only); only "classify" uses all features.',
        choices=("classify", "decision_tree", "maxent"),
    )  # fmt: skip
    run: Path | None = option("Run that contains the URLs in DATA (verify only).", metavar="RUN")

    @property
    def tuning(self) -> tuple[tuple[str, Any], ...]:
        """The names and values of those training options for encoders that the user has set."""
        named = (
            ("epochs", self.epochs), ("batch", self.batch), ("learning_rate", self.learning_rate),
        )  # fmt: skip
        return tuple((name, value) for name, value in named if value is not None)

    @property
    def is_plain(self) -> bool:
        """True if the user has not set any option for encoders."""
        return not (self.base or self.tuning or self.backend != "linear")


@command(TrainOptions)
def train(asked: TrainOptions) -> int:
    """Train a model on labelled DATA, and report its quality on unseen data.

    DATA is a file with tab-separated columns.  For url-lang, they are domain, url and lang; for
    url-pair, domain, url, lang, url and lang.  For verify, they are left, right, and 1 or 0, where
    left and right are HTML files in the folder of DATA, or URLs of a run.  For langid, DATA is a
    language code, such as tet, followed by text files in that language; use the resulting model
    with --langid.
    """
    if asked.model == "langid":
        return _train_langid(asked)
    if asked.out is None:
        raise ConfigError("specify a folder for the model: --out FOLDER")
    if asked.model == "verify":
        return _train_verify(asked, asked.out)
    if asked.method or asked.run:
        raise ConfigError(f"--method and --run apply only to verify, not to {asked.model}")
    from diptych.commands.train.url_models import train_url_model

    return train_url_model(asked, asked.out)


def _train_langid(asked: TrainOptions) -> int:
    from diptych.commands.train.langid import train_langid

    if len(asked.data) < 2 or not asked.is_plain or asked.method or asked.run:
        raise ConfigError("langid takes a language, text files in that language, and --out FILE")
    lang = str(asked.data[0])
    return train_langid(lang, asked.data[1:], asked.out or Path(f"{lang}.langid.json"))


def _train_verify(asked: TrainOptions, out: Path) -> int:
    from diptych.commands.train.verify import train_verify

    if len(asked.data) > 1 or not asked.is_plain:
        raise ConfigError(
            "verify takes one label file and the options --out, --method, --run and --seed"
        )
    method = asked.method or "classify"
    return train_verify(asked.data[0], out, method=method, run=asked.run, seed=asked.seed)

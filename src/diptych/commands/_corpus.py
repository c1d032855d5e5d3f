"""Options of the commands that write corpora: export, merge, rebuild."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

import click

from diptych.commands.options import FILE, Command
from diptych.errors import ConfigError

if TYPE_CHECKING:
    from diptych.corpus.from_run import Choice, RunCorpus
    from diptych.protocols import Exporter
    from diptych.run.store import Store
    from diptych.run.terms import Terms

__all__ = [
    "FORMAT", "FORMATS", "OUT", "CorpusOptions", "choosing", "lines_of", "run_corpus", "say",
    "terms_of",
]  # fmt: skip

FORMATS = ("docs", "jsonl", "moses", "parquet", "standoff", "tmx", "tsv")
"""those of the registry, which takes a while to load"""
FORMAT = click.option(
    "--format", type=click.Choice(FORMATS), help="File format; else by the ending of --out."
)
_WRITTEN = "File to write, compressed if it ends in .gz or .zst; - is standard output."
OUT = click.option("--out", type=FILE, required=True, help=_WRITTEN)
OUT_IN_RUN = click.option("--out", type=FILE, help=f"{_WRITTEN}  Default in the run.")
_ALSO = frozenset({("jsonl", "docs"), ("jsonl", "standoff")})  # they are JSONL too
_OF_PAGES = frozenset({
    "languages", "licence", "licence-link", "machine", "machine_translated", "noai", "noarchive",
    "noimageai", "noindex", "one_sided_parts", "tdm-reserved", "untranslated_parts",
})  # fmt: skip
_OF_SEGMENTS = frozenset({"card", "email", "iban", "phone"})


def choosing(command: Command) -> Command:
    """Options that say what of a corpus is wanted."""
    for option in (
        click.option("--redact", is_flag=True, help="Put [EMAIL], [PHONE] and the like in the place"
                     " of personal data."),
        click.option("--without", default="", metavar="FLAG,FLAG", help="Leave out what is flagged"
                     " so, such as machine or noai (docs/politeness-and-rights.md)."),
        click.option("--min-score", type=click.FloatRange(0, 1), metavar="X", help="Least score of"
                     " a segment, instead of what the run was filtered with."),
    ):  # fmt: skip
        command = option(command)
    return command


@dataclass(frozen=True, kw_only=True)
class CorpusOptions:
    """What the user asked to be written, and how."""

    format: str | None = None
    out: Path | None = None
    min_score: float | None = None
    without: str = ""
    redact: bool = False
    n_way: bool = False

    def exporter(self) -> Exporter:
        """The exporter of the format, named or told by the ending of the file."""
        from diptych.corpus.files import format_of, require_compression
        from diptych.registry import STRATEGIES, exporter

        if self.out:
            require_compression(self.out)
        told = format_of(self.out) if self.out else None
        name = self.format or told
        if name is None:
            known = ", ".join(sorted(STRATEGIES["export"]))
            raise ConfigError(f"name a format with --format; there is: {known}")
        if told not in (None, name) and (told, name) not in _ALSO:
            raise ConfigError(
                f"{self.out} has the ending of {told}, not of {name}: name it otherwise"
            )
        if name == "docs" and (asked := self._flags() & _OF_SEGMENTS):
            raise ConfigError(
                f"documents are whole pages, {', '.join(sorted(asked))} included: use --redact"
            )
        return exporter(name, n_way=self.n_way)

    def choice(self, threshold: float) -> Choice:
        """What of a corpus is wanted, where its own threshold is this."""
        from diptych.corpus.from_run import Choice

        if self.min_score is not None and isnan(self.min_score):
            raise ConfigError("--min-score is a number from 0 to 1")
        least = threshold if self.min_score is None else self.min_score
        return Choice(least, self._flags(), self.redact)

    def _flags(self) -> frozenset[str]:
        """The flags that are not wanted; a mistake if there is none such."""
        named = self.without.replace(",", " ").split()
        known = _OF_PAGES | _OF_SEGMENTS
        for name in named:
            if name.partition(":")[0] not in known:
                raise ConfigError(
                    f"no flag is called '{name}'; there is: {', '.join(sorted(known))}"
                )
        return frozenset(named)


def run_corpus(store: Store, terms: Terms, asked: CorpusOptions, *, prefix: str = "") -> RunCorpus:
    """The corpus of a run, as far as it is asked.

    Near-duplicates are among it where one may take the place of another: if pages are left out, if
    texts are changed, or if the run has not come to its end.
    """
    from diptych.corpus.from_run import RunCorpus
    from diptych.registry import build, signature

    threshold = build(terms.recipe).filter.threshold
    corpus = RunCorpus(
        store, terms.langs, signature(terms.recipe, terms.langs), asked.choice(threshold), prefix
    )
    is_settled = corpus.is_settled()
    if not is_settled:
        click.echo(
            f"note: {store.folder} has not come to its end; its scores are provisional", err=True
        )
    return replace(corpus, each=bool(asked.without) or asked.redact or not is_settled)


def terms_of(run: Path) -> Terms:
    """The terms of a run that has a corpus."""
    from diptych.run.terms import read_terms

    terms = read_terms(run)
    if "detect" in terms.recipe:
        raise ConfigError(
            f"{run} is a search for sites and has no corpus; its sites are in sites.tsv"
        )
    return terms


def lines_of(asked: CorpusOptions, made: Exporter) -> str:
    """What the lines of a format are."""
    if made.suffix.startswith("docs"):
        return "page pairs"
    return "rows" if asked.n_way else "segments"


def say(text: str, path: Path) -> None:
    """Tell what was written, unless it was written to standard output."""
    click.echo(text, err=str(path) == "-")

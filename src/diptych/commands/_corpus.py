"""Options of the commands that write corpora: export, merge, rebuild."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from diptych.commands.declare import REQUIRED, option
from diptych.errors import ConfigError, option_name

if TYPE_CHECKING:
    from diptych.corpus.from_run import Choice, RunCorpus
    from diptych.protocols import Exporter
    from diptych.run.store import Store
    from diptych.run.terms import Terms

FORMATS = ("docs", "jsonl", "moses", "parquet", "standoff", "tmx", "tsv")
"""those of the registry, which takes a while to load"""
PAGE_PAIRS = "page pairs"
_SHOWN = 6  # names of files in a message
_WRITTEN = "File to write, compressed if it ends in .gz or .zst; - is standard output."
_ALSO = frozenset({("jsonl", "docs"), ("jsonl", "standoff")})  # they are JSONL too
_OF_PAGES = frozenset({
    "languages", "licence", "licence-link", "machine", "machine_translated", "noai", "noarchive",
    "noimageai", "noindex", "one_sided_parts", "tdm-reserved", "untranslated_parts",
})  # fmt: skip
_OF_SEGMENTS = frozenset({"card", "email", "iban", "phone"})


def standard_output(path: Path) -> BinaryIO | None:
    """The stream that the path `-` stands for; none for other paths."""
    from diptych.corpus.files import STANDARD

    if str(path) != STANDARD:
        return None
    if not hasattr(sys.stdout, "buffer"):  # as in a notebook
        raise ConfigError("there is no standard output here: say --out FILE")
    return sys.stdout.buffer


def out_option(*, in_run: bool = False) -> Any:
    """The file that a corpus is written to."""
    if in_run:
        return option(f"{_WRITTEN}  Default in the run.")
    return option(_WRITTEN, default=REQUIRED)


@dataclass(frozen=True, kw_only=True)
class CorpusOptions:
    """Options of a command that writes a corpus: format and file."""

    format: str | None = option(
        "File format; else by the ending of --out.", type=click.Choice(FORMATS)
    )
    out: Path = out_option()

    def exporter(self, *, n_way: bool = False) -> Exporter:
        """The exporter of the format, named or told by the ending of the file."""
        from diptych.corpus.files import format_of, require_compression
        from diptych.learn.libraries import require_libraries_of
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
        made = exporter(name, n_way=n_way)
        require_libraries_of(made, name)
        return made


@dataclass(frozen=True, kw_only=True)
class ChosenOptions(CorpusOptions):
    """Options of a command that writes a part of a corpus, or changes its texts."""

    min_score: float | None = option(
        "Least score of a segment, instead of what the run was filtered with.",
        type=click.FloatRange(0, 1), metavar="X",
    )  # fmt: skip
    without: str = option(
        "Leave out what is flagged so, such as machine or noai (docs/politeness-and-rights.md).",
        default="", metavar="FLAG,FLAG",
    )  # fmt: skip
    redact: bool = option(
        "Put [EMAIL], [PHONE] and the like in the place of personal data.", default=False
    )

    def exporter(self, *, n_way: bool = False) -> Exporter:
        """The exporter of the format, if the flags that are not wanted can be left out of it."""
        made = super().exporter(n_way=n_way)
        if lines_of(made) == PAGE_PAIRS and (asked := self._flags() & _OF_SEGMENTS):
            raise ConfigError(
                f"documents are whole pages, {', '.join(sorted(asked))} included: use --redact"
            )
        return made

    def choice(self, threshold: float) -> Choice:
        """The user's selection from a corpus whose own threshold is this."""
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


def run_corpus(store: Store, terms: Terms, asked: ChosenOptions, *, prefix: str = "") -> RunCorpus:
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
    is_deduplicated = corpus.is_deduplicated()
    if not is_deduplicated:
        click.echo(
            f"note: {store.folder} has not come to its end; its scores are provisional", err=True
        )
    return replace(corpus, each=bool(asked.without) or asked.redact or not is_deduplicated)


def terms_of(run: Path) -> Terms:
    """The terms of a run that has a corpus."""
    from diptych.run.terms import read_terms

    terms = read_terms(run)
    if "detect" in terms.recipe:
        raise ConfigError(
            f"{run} is a search for sites and has no corpus; its sites are in sites.tsv"
        )
    return terms


def lines_of(made: Exporter, *, n_way: bool = False) -> str:
    """The unit that an exporter counts: page pairs, rows or segments."""
    if made.suffix.startswith("docs"):
        return PAGE_PAIRS
    return "rows" if n_way else "segments"


def say(text: str, path: Path) -> None:
    """Tell what was written, unless it was written to standard output."""
    click.echo(text, err=str(path) == "-")


def names_of(files: Sequence[Path]) -> str:
    """The names of files in a message; of many the first ones.

    >>> names_of([Path("run/corpus.en"), Path("run/corpus.fr")])
    'run/corpus.en, run/corpus.fr'
    >>> names_of([Path(f"{number}.txt") for number in range(9)])
    '0.txt, 1.txt, 2.txt, 3.txt, 4.txt, 5.txt and 3 more'
    """
    shown = ", ".join(map(str, files[:_SHOWN]))
    return shown + (f" and {len(files) - _SHOWN:,} more" if len(files) > _SHOWN else "")


def require_three_languages(langs: Sequence[str], run: Path) -> None:
    """Raise a `ConfigError` if there cannot be rows of three languages."""
    if len(langs) < 3:
        raise ConfigError(
            f"{option_name('n_way')} needs three languages or more; {run} has {','.join(langs)}"
        )

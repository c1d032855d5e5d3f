"""`diptych export`: the corpus of a run in a format."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from diptych.commands._corpus import (
    ChosenOptions,
    lines_of,
    names_of,
    out_option,
    require_three_languages,
    run_corpus,
    say,
    standard_output,
    terms_of,
)
from diptych.commands.declare import argument, command, option
from diptych.commands.options import FOUND, NOTHING

if TYPE_CHECKING:
    from diptych.corpus.from_run import RunCorpus
    from diptych.protocols import Corpus


@dataclass(frozen=True, kw_only=True)
class ExportOptions(ChosenOptions):
    """Options of `diptych export`."""

    run: Path = argument()
    out: Path | None = out_option(in_run=True)  # type: ignore[assignment]
    n_way: bool = option("Rows of all languages instead of pairs.", default=False)

    @property
    def is_narrowed(self) -> bool:
        """True if the user asked for a part of the corpus, or for changed texts."""
        return self.min_score is not None or bool(self.without) or self.redact


@command(ExportOptions)
def export(asked: ExportOptions) -> int:
    """Write the corpus of RUN in a format; also while it is mined, and with another threshold."""
    return FOUND if export_run(asked) else NOTHING


def export_run(asked: ExportOptions) -> int:
    """Write the corpus of a run; how many lines it has."""
    from diptych.corpus.from_run import write_corpus
    from diptych.run.store import Store

    terms, made = terms_of(asked.run), asked.exporter(n_way=asked.n_way)
    if asked.n_way:
        require_three_languages(terms.langs, asked.run)
    name = ("n-way" if asked.n_way else "corpus") + ("-selected" if asked.is_narrowed else "")
    path = asked.out or asked.run / f"{name}.{made.suffix}"
    with Store(asked.run, write=False) as store, store.snapshot():
        corpus = run_corpus(store, terms, asked)
        written = write_corpus(_as_written(corpus, asked), made, path, standard_output(path))
    what = lines_of(made, n_way=asked.n_way)
    say(f"{written.lines:,} {what} -> {names_of(written.files)}", path)
    return written.lines


def _as_written(corpus: RunCorpus, asked: ExportOptions) -> Corpus:
    """A run's corpus with near-duplicates once."""
    if asked.n_way:
        from diptych.corpus.from_run import NWayCorpus

        return NWayCorpus(corpus)
    if not corpus.each:
        return corpus
    from diptych.corpus.merge import merge

    return replace(merge([corpus]), langs=corpus.langs)

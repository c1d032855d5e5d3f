"""`diptych export`, `merge` and `rebuild`: corpora out of runs, files and archives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from math import isnan
from os.path import commonpath
from pathlib import Path

import click

from diptych.corpus.files import format_of, require_compression
from diptych.corpus.from_run import Choice, NWayCorpus, RunCorpus, write_corpus
from diptych.errors import ConfigError
from diptych.protocols import Corpus, Exporter
from diptych.registry import STRATEGIES, build, exporter, signature
from diptych.reports.summary import in_words
from diptych.run.store import Store
from diptych.run.terms import Terms, read_terms

__all__ = ["Wanted", "export_run", "merge_corpora", "rebuild_corpus", "run_corpus"]

_READABLE = ("jsonl", "parquet")
_ALSO = frozenset({("jsonl", "docs"), ("jsonl", "standoff")})  # they are JSONL too
_OF_PAGES = frozenset({
    "languages", "licence", "licence-link", "machine", "machine_translated", "noai", "noarchive",
    "noimageai", "noindex", "one_sided_parts", "tdm-reserved", "untranslated_parts",
})  # fmt: skip
_OF_SEGMENTS = frozenset({"card", "email", "iban", "phone"})


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the user asked to be written, and how."""

    format: str | None
    out: Path | None
    min_score: float | None = None
    without: str = ""
    redact: bool = False
    n_way: bool = False

    def exporter(self) -> Exporter:
        """The exporter of the format, named or told by the ending of the file."""
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
        if self.min_score is not None and isnan(self.min_score):
            raise ConfigError("--min-score is a number from 0 to 1")
        least = threshold if self.min_score is None else self.min_score
        return Choice(least, self._flags(), self.redact)

    @property
    def is_narrowed(self) -> bool:
        """Whether less, or something else, is wanted than the corpus of the run."""
        return self.min_score is not None or bool(self.without) or self.redact

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


def run_corpus(store: Store, terms: Terms, wanted: Wanted, *, prefix: str = "") -> RunCorpus:
    """The corpus of a run, as far as it is wanted.

    Near-duplicates are among it where one may take the place of another: if pages are left out, if
    texts are changed, or if the run has not come to its end.
    """
    threshold = build(terms.recipe).filter.threshold
    corpus = RunCorpus(
        store, terms.langs, signature(terms.recipe, terms.langs), wanted.choice(threshold), prefix
    )
    is_settled = corpus.is_settled()
    if not is_settled:
        click.echo(
            f"note: {store.folder} has not come to its end; its scores are provisional", err=True
        )
    return replace(corpus, each=bool(wanted.without) or wanted.redact or not is_settled)


def export_run(run: Path, wanted: Wanted) -> int:
    """Write the corpus of a run; how many lines it has."""
    made, terms = wanted.exporter(), _terms(run)
    name = ("n-way" if wanted.n_way else "corpus") + ("-selected" if wanted.is_narrowed else "")
    path = wanted.out or run / f"{name}.{made.suffix}"
    with Store(run, write=False) as store:
        store.db.execute("BEGIN")  # what is read is of one moment, also while the run goes on
        corpus = run_corpus(store, terms, wanted)
        count = write_corpus(_as_written(corpus, wanted), made, path)
    _say(f"{count:,} {_lines(wanted, made)} -> {path}", path)
    return count


def _as_written(corpus: RunCorpus, wanted: Wanted) -> Corpus:
    """A run's corpus with near-duplicates once."""
    if wanted.n_way:
        return NWayCorpus(corpus)
    if not corpus.each:
        return corpus
    from diptych.corpus.merge import merge

    return replace(merge([corpus]), langs=corpus.langs)


def merge_corpora(inputs: Sequence[Path], wanted: Wanted) -> int:
    """Write several runs and files as one corpus; how many segments it has."""
    from diptych.corpus.merge import FileCorpus, Source, merge

    made = wanted.exporter()
    if wanted.out is None:
        raise ConfigError("say where the corpus goes, such as --out corpus.jsonl.zst")
    with ExitStack() as stack:
        sources: list[Source] = []
        for path, prefix in zip(inputs, _prefixes(inputs), strict=True):
            if path.is_dir():
                terms = _terms(path)
                store = stack.enter_context(Store(path, write=False))
                store.db.execute("BEGIN")
                sources.append(run_corpus(store, terms, wanted, prefix=prefix))
            elif format_of(path) in _READABLE:
                sources.append(FileCorpus(path, wanted.choice(0.0), prefix))
            else:
                raise ConfigError(
                    f"{path} is no run and no corpus in JSONL or Parquet: merge takes these"
                )
        merged = merge(sources)
        count = write_corpus(merged, made, wanted.out)
    what = _lines(wanted, made)
    of = f" of {merged.found:,}" if what == "segments" else ""
    _say(f"{count:,} {what}{of} in {len(sources)} corpora -> {wanted.out}", wanted.out)
    return count


def _prefixes(inputs: Sequence[Path]) -> list[str]:
    """What tells the archives of corpora apart: their names, or more of their paths.

    >>> _prefixes([Path("a/run"), Path("b/run"), Path("c.jsonl.gz")])
    ['a/run/', 'b/run/', 'c/']
    """
    whole = [Path(*path.parts[:-1], path.name.partition(".jsonl")[0].partition(".parquet")[0])
             for path in map(Path.resolve, inputs)]  # fmt: skip
    if len({path.name for path in whole}) == len(set(whole)):
        return [f"{path.name}/" for path in whole]
    shared = Path(commonpath([path.parent for path in whole]))
    return [f"{path.relative_to(shared).as_posix()}/" for path in whole]


def rebuild_corpus(files: Sequence[Path], archives: Sequence[Path], wanted: Wanted) -> int:
    """Write a stand-off corpus with the text that archives have; how many segments it has."""
    from diptych.corpus.rebuild import open_rebuild

    made = wanted.exporter()
    if wanted.out is None:
        raise ConfigError("say where the corpus goes, such as --out corpus.jsonl")
    corpus = open_rebuild(files, archives)
    count = write_corpus(corpus, made, wanted.out)
    lost = _told(corpus.lost)
    _say(f"{count:,} segments rebuilt -> {wanted.out}" + (f"; lost: {lost}" if lost else ""),
         wanted.out)  # fmt: skip
    return count


def _told(lost: Counter[str]) -> str:
    return ", ".join(f"{count:,} {in_words(reason)}" for reason, count in lost.most_common())


def _terms(run: Path) -> Terms:
    """The terms of a run that has a corpus."""
    terms = read_terms(run)
    if "detect" in terms.recipe:
        raise ConfigError(
            f"{run} is a search for sites and has no corpus; its sites are in sites.tsv"
        )
    return terms


def _lines(wanted: Wanted, made: Exporter) -> str:
    return (
        "page pairs" if made.suffix.startswith("docs") else "rows" if wanted.n_way else "segments"
    )


def _say(text: str, path: Path) -> None:
    click.echo(text, err=str(path) == "-")

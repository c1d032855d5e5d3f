"""Export of the corpus of a run: options, selection of segments, and output files."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from diptych.api.arguments import texts
from diptych.api.declare import REQUIRED, argument, count_option, option, require_valid
from diptych.errors import ConfigError, StoreError, option_name
from diptych.files import refuse_links

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from diptych.corpus.from_run import Choice, RunCorpus
    from diptych.protocols import Corpus, Exporter
    from diptych.run.store import Store
    from diptych.run.terms import Terms
    from diptych.units import DocumentPair, Unit

FORMATS = ("docs", "jsonl", "moses", "parquet", "standoff", "tmx", "tsv")
"""the formats in the registry, listed here because the registry is slow to load"""
PAGE_PAIRS = "page pairs"
_WRITTEN = "Output file, compressed if its name ends in .gz or .zst; - means standard output."
_ALSO = frozenset({("jsonl", "docs"), ("jsonl", "standoff")})  # these formats are JSONL too
_OF_PAGES = frozenset({
    "languages", "licence", "licence-link", "machine", "machine_translated", "noai", "noarchive",
    "noimageai", "noindex", "one_sided_parts", "tdm-reserved", "untranslated_parts",
})  # fmt: skip
_OF_SEGMENTS = frozenset({"card", "email", "iban", "phone"})


class Exported(NamedTuple):
    """The result of an export."""

    lines: int
    """number of segments, n-way rows or page pairs, depending on the format"""
    files: tuple[Path, ...]
    """files written; empty for standard output"""


def keep_templates_option() -> Any:
    """The option `--keep-templates` of `mine`, `export` and `merge`."""
    return option(
        "Keep all segments that differ only in a word, name or number, not only three examples.",
        default=False,
    )


def out_option(*, in_run: bool = False) -> Any:
    """Declare the option for the output file, which is required unless `in_run` is True.

    With `in_run`, the default is a file in the run folder.
    """
    if in_run:
        return option(f"{_WRITTEN}  Default: a file in the run folder.")
    return option(_WRITTEN, default=REQUIRED)


@dataclass(frozen=True, kw_only=True)
class CorpusOptions:
    """Options for the output file of a corpus and its format."""

    format: str | None = option(
        "File format; default: inferred from the suffix of --out.", choices=FORMATS
    )
    out: Path = out_option()
    max_lines: int | None = count_option(
        "Maximum number of lines in a file; --out becomes a folder of numbered files."
    )

    def exporter(
        self, *, n_way: bool = False, markdown: bool = False, safe_cells: bool = False
    ) -> Exporter:
        """The exporter for the given format, or for the format that the file suffix indicates."""
        from diptych.corpus.files import STANDARD, format_of, require_compression
        from diptych.learn.libraries import require_libraries_of
        from diptych.registry import STRATEGIES, exporter

        if self.max_lines and (not self.out or str(self.out) == STANDARD):
            raise ConfigError(
                f"{option_name('max_lines')} writes a folder of files: name it with"
                f" {option_name('out')}"
            )
        if self.out:
            require_compression(self.out)
        told = format_of(self.out) if self.out else None
        name = self.format or told
        if name is None:
            known = ", ".join(sorted(STRATEGIES["export"]))
            raise ConfigError(
                f"the file name does not indicate a format; set {option_name('format')}"
                f" to one of: {known}"
            )
        if told not in (None, name) and (told, name) not in _ALSO:
            raise ConfigError(
                f"{self.out} has the suffix for {told}, not for {name}: choose another file name"
            )
        made = exporter(name, n_way=n_way, markdown=markdown, safe_cells=safe_cells)
        require_libraries_of(made, name)
        return made


@dataclass(frozen=True, kw_only=True)
class CorpusChoice:
    """Options for selecting segments of a corpus and redacting their texts."""

    min_score: float | None = option(
        "Minimum score of a segment; default: the threshold of the run.",
        least=0, most=1, metavar="X",
    )  # fmt: skip
    without: str = option(
        "Leave out pages and segments with these flags, such as machine or noai"
        " (see docs/politeness-and-rights.md).",
        default="", metavar="FLAG,FLAG",
    )  # fmt: skip
    redact: bool = option(
        "Replace personal data with placeholders such as [EMAIL] and [PHONE].", default=False
    )
    keep_templates: bool = keep_templates_option()

    @classmethod
    def of(
        cls, min_score: float | None, without: str | Sequence[str] = (), *, redact: bool = False,
        keep_templates: bool = False,
    ) -> CorpusChoice:  # fmt: skip
        """Create the options from Python arguments; `without` is one flag or several flags."""
        return CorpusChoice(
            min_score=min_score, without=",".join(texts(without)), redact=redact,
            keep_templates=keep_templates,
        )  # fmt: skip

    @property
    def is_narrowed(self) -> bool:
        """True if the user requested only part of the corpus, or redacted texts."""
        return (
            self.min_score is not None or bool(self.without) or self.redact or self.keep_templates
        )

    def require_valid(self) -> None:
        """Raise `ConfigError` for an invalid option."""
        require_valid(self)
        self.flags()

    def require_page_flags(self) -> None:
        """Raise `ConfigError` for flags of segments, which documents cannot leave out."""
        if asked := self.flags() & _OF_SEGMENTS:
            raise ConfigError(
                "the 'docs' format contains whole pages, so segments with"
                f" {', '.join(sorted(asked))} cannot be left out;"
                f" use {option_name('redact')} instead"
            )

    def choice(self, threshold: float) -> Choice:
        """The selection of segments; `threshold` is the minimum score unless the user set one."""
        from diptych.corpus.from_run import Choice

        least = threshold if self.min_score is None else self.min_score
        return Choice(least, self.flags(), self.redact, self.keep_templates)

    def flags(self) -> frozenset[str]:
        """The flags whose pages and segments are left out.

        Raises `ConfigError` for an unknown flag.
        """
        named = self.without.replace(",", " ").split()
        known = _OF_PAGES | _OF_SEGMENTS
        for name in named:
            if name.partition(":")[0] not in known:
                raise ConfigError(f"unknown flag '{name}'; available: {', '.join(sorted(known))}")
        return frozenset(named)


@dataclass(frozen=True, kw_only=True)
class ChosenOptions(CorpusChoice, CorpusOptions):
    """Options that `merge` and `export` have in common."""

    markdown: bool = option(
        "With --format docs: add the text of both pages as Markdown.", default=False
    )

    safe_cells: bool = option(
        "With --format tsv: write an apostrophe before texts that a spreadsheet would take for a"
        " formula.",
        default=False,
    )

    def exporter(
        self, *, n_way: bool = False, markdown: bool = False, safe_cells: bool = False
    ) -> Exporter:
        """The exporter for the format; raises `ConfigError` if it cannot leave out the flags."""
        made = super().exporter(
            n_way=n_way,
            markdown=markdown or self.markdown,
            safe_cells=safe_cells or self.safe_cells,
        )
        if lines_of(made) == PAGE_PAIRS:
            self.require_page_flags()
        return made


@dataclass(frozen=True, kw_only=True)
class ExportOptions(ChosenOptions):
    """Options of `export`."""

    run: Path = argument()
    out: Path | None = out_option(in_run=True)  # type: ignore[assignment]
    n_way: bool = option(
        "Write rows with three or more languages instead of language pairs.", default=False
    )
    since: str | None = option(
        "Write only segments that were first found on this day or later (2026-01-31), or at this"
        " time or later (2026-01-31T12:00:00Z).",
        metavar="DATE",
    )
    vanished: bool = option(
        "Write the segments that updates no longer found, instead of the others.", default=False
    )

    @property
    def is_narrowed(self) -> bool:
        """True if the user requested only part of the corpus, or redacted texts."""
        return super().is_narrowed or self.since is not None

    def since_time(self) -> float | None:
        """The time that `since` means, in seconds since 1970; None if there is no such option."""
        if self.since is None:
            return None
        try:
            time = datetime.fromisoformat(self.since)
            return time.replace(tzinfo=time.tzinfo or UTC).timestamp()
        except (ValueError, OverflowError) as error:
            raise ConfigError(
                f"{option_name('since')} must be a date such as 2026-01-31, not '{self.since}'"
            ) from error

    def path(self, made: Exporter) -> Path:
        """The file to write: `out`, or a file in the run folder.

        A file in the run folder gets the suffix of the exporter `made`.  Raises `StoreError` if
        this folder has links in it, because those of somebody else may lead to the user's files.
        """
        from diptych.corpus.files import STANDARD

        name = "n-way" if self.n_way else "vanished" if self.vanished else "corpus"
        name += "-selected" if self.is_narrowed else ""
        name += "-safe" if self.safe_cells else ""
        path = self.out or self.run / f"{name}.{made.suffix}"
        is_in_run = path.parent.resolve() == self.run.resolve()
        if is_in_run and str(path) != STANDARD:
            refuse_links(self.run, is_deep=False, error=StoreError)
        return path


def export_run(
    asked: ExportOptions, standard: Callable[[Path], BinaryIO | None] = lambda path: None
) -> Exported:
    """Write the corpus of a run to a file or to standard output.

    `standard` returns the standard output stream for a path that denotes it, and None for other
    paths.
    """
    from diptych.corpus.from_run import NWayCorpus, SinceCorpus, write_corpus
    from diptych.run.store import Store

    require_valid(asked)
    terms, made = terms_of(asked.run), asked.exporter(n_way=asked.n_way)
    since = asked.since_time()
    _require_dated(asked, made)
    if asked.n_way and len(terms.langs) < 3:
        raise ConfigError(
            f"{option_name('n_way')} requires three or more languages;"
            f" {asked.run} has {','.join(terms.langs)}"
        )
    path = asked.path(made)
    with Store(asked.run, write=False) as store, store.snapshot():
        corpus: Corpus = (
            NWayCorpus(run_corpus(store, terms, asked))
            if asked.n_way
            else chosen_corpus(store, terms, asked, vanished=asked.vanished)
        )
        corpus = corpus if since is None else SinceCorpus(corpus, since)
        written = write_corpus(corpus, made, path, standard(path), max_lines=asked.max_lines)
        return Exported(*written)


def _require_dated(asked: ExportOptions, made: Exporter) -> None:
    """Raise `ConfigError` if segments are to be chosen by date, but whole pages are written."""
    if lines_of(made) == PAGE_PAIRS and (asked.since is not None or asked.vanished):
        name = option_name("vanished" if asked.vanished else "since")
        raise ConfigError(f"{name} chooses segments; the 'docs' format contains whole pages")
    if asked.n_way and asked.vanished:
        raise ConfigError(f"{option_name('vanished')} cannot be used with {option_name('n_way')}")


def run_corpus(
    store: Store, terms: Terms, asked: CorpusChoice, *, prefix: str = "", vanished: bool = False
) -> RunCorpus:
    """The selected part of the corpus of a run.

    Usually, only the best copy in each group of near-duplicates is included.  All copies are
    included if flags are excluded, because the best copy may have such a flag; if texts are
    redacted, because this may change which texts are near-duplicates; and if the run is unfinished,
    because near-duplicates are marked only at its end.
    """
    from diptych.corpus.from_run import RunCorpus
    from diptych.registry import signature

    corpus = RunCorpus(
        store,
        terms.langs,
        signature(terms.recipe, terms.langs),
        replace(asked.choice(terms.threshold), vanished=vanished),
        prefix,
    )
    has_duplicates = bool(asked.without) or asked.redact or not corpus.is_deduplicated()
    return replace(corpus, each=has_duplicates)


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The selected part of the corpus of a run, which is open only while it is being read."""

    folder: Path
    asked: CorpusChoice
    prefix: str = ""
    """prefix for the names of the run's own archives"""

    @contextmanager
    def opened(self) -> Iterator[RunCorpus]:
        """Open the run; later changes to it are not visible."""
        from diptych.run.store import Store

        terms = terms_of(self.folder)
        with Store(self.folder, write=False) as store, store.snapshot():
            yield run_corpus(store, terms, self.asked, prefix=self.prefix)

    def keyed(self) -> Iterator[tuple[int, Unit]]:
        """All selected segments, each with a key that is the same for near-duplicates."""
        with self.opened() as corpus:
            yield from corpus.keyed()

    def documents(self) -> Iterator[DocumentPair]:
        """All verified page pairs, with the whole texts of their pages."""
        with self.opened() as corpus:
            yield from corpus.documents()


def chosen_corpus(
    store: Store, terms: Terms, asked: CorpusChoice, *, vanished: bool = False
) -> Corpus:
    """The selected part of the corpus of a run, without near-duplicates.

    If `vanished` is True, the segments that updates no longer found take its place.
    """
    from diptych.corpus.merge import merge

    require_valid(asked)
    corpus = run_corpus(store, terms, asked, vanished=vanished)
    return replace(merge([corpus]), langs=corpus.langs) if corpus.each else corpus


def terms_of(run: Path) -> Terms:
    """The terms of a run; raises `ConfigError` if the run has no corpus."""
    from diptych.run.terms import read_terms

    terms = read_terms(run)
    if "detect" in terms.recipe:
        raise ConfigError(
            f"{run} is a search for sites and has no corpus; its sites are in sites.tsv"
        )
    return terms


def lines_of(made: Exporter, *, n_way: bool = False) -> str:
    """The items that an exporter counts, as a noun for messages: page pairs, rows or segments."""
    if made.suffix.startswith("docs"):
        return PAGE_PAIRS
    return "rows" if n_way else "segments"

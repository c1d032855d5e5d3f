"""Terms of the site of a run: options, search and output files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from diptych.api.declare import argument, count_option, option, require_valid
from diptych.api.export import CorpusChoice, chosen_corpus, terms_of
from diptych.errors import ConfigError, option_name

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO

    from diptych.corpus.terms import Term, TermChoice

FORMATS = ("tsv", "tbx")


@dataclass(frozen=True, kw_only=True)
class TermsOptions:
    """Options of `terms`."""

    run: Path = argument()
    out: Path | None = option(
        "File to write, compressed if it ends in .gz or .zst; default: standard output.",
        metavar="FILE",
    )
    format: str | None = option(
        "File format; default: from the suffix of --out, or else tsv.", choices=FORMATS
    )
    langs: str | None = option("Languages of the terms, if not all of the run.", metavar="en,fr")
    min_count: int = count_option("Minimum number of occurrences of a term.", 2)
    max_terms: int = count_option("Maximum number of terms.", 1000)
    names: bool = option("Include names: terms that are the same in both languages.", default=False)

    def file_format(self) -> str:
        """The format that is given or follows from the suffix of the file."""
        from diptych.corpus.files import STANDARD, require_compression, split_compression

        if self.out is None or str(self.out) == STANDARD:
            return self.format or FORMATS[0]
        require_compression(self.out)
        suffix = Path(split_compression(str(self.out))[0]).suffix.lower().removeprefix(".")
        if suffix in FORMATS and self.format not in (None, suffix):
            raise ConfigError(
                f"{self.out} has the suffix of {suffix}, not of {self.format}:"
                " choose another file name"
            )
        if self.format is None and suffix not in FORMATS:
            raise ConfigError(
                f"the file name does not indicate a format; set {option_name('format')}"
                f" to one of: {', '.join(FORMATS)}"
            )
        return self.format or suffix

    def choice(self, known: tuple[str, ...]) -> TermChoice:
        """The choice of terms; `known` are the languages of the run."""
        from diptych.corpus.terms import TermChoice
        from diptych.language.codes import parse_langs

        langs = parse_langs(self.langs) if self.langs is not None else known
        for lang in langs:
            if lang not in known:
                raise ConfigError(
                    f"{option_name('langs')}: {self.run} has no {lang}; it has {', '.join(known)}"
                )
        return TermChoice(self.min_count, self.max_terms, self.names, frozenset(langs))


def run_terms(asked: TermsOptions) -> list[Term]:
    """The terms of a run, the most useful first."""
    from diptych.corpus.terms import find_terms
    from diptych.run.store import Store

    terms = terms_of(asked.run)
    require_valid(asked)
    choice = asked.choice(terms.langs)
    with Store(asked.run, write=False) as store, store.snapshot():
        corpus = chosen_corpus(store, terms, CorpusChoice())
        return find_terms(corpus.units, store.learned_lexicons().values(), choice)


def write_run_terms(
    asked: TermsOptions, standard: Callable[[Path], BinaryIO | None]
) -> tuple[list[Term], tuple[Path, ...]]:
    """Find the terms of a run and write them, unless there are none; also returns the files.

    `standard` maps a path to the standard output stream or None.
    """
    from diptych.corpus.files import STANDARD
    from diptych.corpus.term_files import write_terms

    terms_of(asked.run)  # a missing run is reported before any other error
    format, path = asked.file_format(), asked.out or Path(STANDARD)
    found = run_terms(asked)
    return found, write_terms(found, format, path, standard(path)) if found else ()

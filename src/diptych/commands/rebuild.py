"""`diptych rebuild`: the text put back into a stand-off corpus."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from diptych.commands._corpus import CorpusOptions, names_of, say, standard_output
from diptych.commands.declare import REQUIRED, argument, command, option
from diptych.commands.options import FOUND, NOTHING


@dataclass(frozen=True, kw_only=True)
class RebuildOptions(CorpusOptions):
    """Options of `diptych rebuild`."""

    files: tuple[Path, ...] = argument("STANDOFF...")
    archives: tuple[Path, ...] = option(
        "Archives that hold the pages (a file or a folder; also several).", "--warc",
        default=REQUIRED, metavar="FILE",
    )  # fmt: skip


@command(RebuildOptions)
def rebuild(asked: RebuildOptions) -> int:
    """Put the text back into a stand-off corpus, from the archives it was made of."""
    from diptych.corpus.from_run import write_corpus
    from diptych.corpus.rebuild import open_rebuild
    from diptych.reports.reasons import in_words

    made = asked.exporter()
    corpus = open_rebuild(asked.files, asked.archives)
    count, files = write_corpus(corpus, made, asked.out, standard_output(asked.out))
    lost = ", ".join(f"{count:,} {in_words(reason)}" for reason, count in corpus.lost.most_common())
    say(f"{count:,} segments rebuilt -> {names_of(files)}" + (f"; lost: {lost}" if lost else ""),
         asked.out)  # fmt: skip
    return FOUND if count else NOTHING

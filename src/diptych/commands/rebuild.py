"""`diptych rebuild`: restores the text of a stand-off corpus."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from diptych.api.declare import REQUIRED, argument, option
from diptych.api.export import CorpusOptions
from diptych.commands._corpus import say_written, standard_output
from diptych.commands.declare import command
from diptych.commands.options import FOUND, NOTHING


@dataclass(frozen=True, kw_only=True)
class RebuildOptions(CorpusOptions):
    """Options of `diptych rebuild`."""

    files: tuple[Path, ...] = argument("STANDOFF...")
    warc: tuple[str, ...] = option(
        "WARC or WACZ archives that contain the pages (file, folder or pattern; repeatable).",
        default=REQUIRED, metavar="FILE",
    )  # fmt: skip


@command(RebuildOptions)
def rebuild(asked: RebuildOptions) -> int:
    """Restore the text of a stand-off corpus from the archives of its pages."""
    from diptych.corpus.from_run import write_corpus
    from diptych.corpus.rebuild import open_rebuild
    from diptych.reports.reasons import counted, listed

    made = asked.exporter()
    corpus = open_rebuild(asked.files, asked.warc)
    written = write_corpus(corpus, made, asked.out, standard_output(asked.out))
    lost = f" (not rebuilt: {listed(corpus.lost.most_common())})" if corpus.lost else ""
    say_written(f"{counted(written.lines, 'segment')} rebuilt{lost}", written.files)
    return FOUND if written.lines else NOTHING

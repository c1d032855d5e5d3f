"""`diptych merge`: merges several corpora into one."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from os.path import commonpath
from pathlib import Path

from diptych.api.declare import argument, require_valid
from diptych.api.export import ChosenOptions, lines_of, run_corpus, terms_of
from diptych.commands._corpus import say_written, standard_output, warn_unfinished
from diptych.commands.declare import command
from diptych.commands.options import FOUND, NOTHING
from diptych.errors import ConfigError

_READABLE = ("jsonl", "parquet")


@dataclass(frozen=True, kw_only=True)
class MergeOptions(ChosenOptions):
    """Options of `diptych merge`."""

    inputs: tuple[Path, ...] = argument("RUN...")


@command(MergeOptions)
def merge(asked: MergeOptions) -> int:
    """Merge several runs into one corpus without duplicates.

    RUN can also be a job, or a corpus that was exported as JSONL or Parquet.
    """
    return FOUND if merge_corpora(asked) else NOTHING


def merge_corpora(asked: MergeOptions) -> int:
    """Merge several runs and corpus files into one corpus, and return its number of lines."""
    from diptych.api.job_corpus import merged_job
    from diptych.corpus.files import format_of
    from diptych.corpus.from_run import write_corpus
    from diptych.corpus.merge import FileCorpus, Source
    from diptych.corpus.merge import merge as merged_of
    from diptych.job.folder import is_job
    from diptych.run.store import Store

    require_valid(asked)
    made = asked.exporter()
    with ExitStack() as stack:
        sources: list[Source] = []
        for path, prefix in zip(asked.inputs, _prefixes(asked.inputs), strict=True):
            if is_job(path):
                warn_unfinished(path)
                sources.append(merged_job(path, asked, prefix))
            elif path.is_dir():
                terms = terms_of(path)
                warn_unfinished(path)
                store = stack.enter_context(Store(path, write=False))
                stack.enter_context(store.snapshot())
                sources.append(run_corpus(store, terms, asked, prefix=prefix))
            elif format_of(path) in _READABLE:
                sources.append(FileCorpus(path, asked.choice(0.0), prefix))
            else:
                raise ConfigError(f"{path} is neither a run nor a JSONL or Parquet corpus")
        merged = merged_of(sources)
        written = write_corpus(merged, made, asked.out, standard_output(asked.out))
    what = lines_of(made)
    of = f" of {merged.found:,}" if what == "segments" else ""
    say_written(f"{written.lines:,}{of} {what} in {len(sources)} corpora", written.files)
    return written.lines


def _prefixes(inputs: Sequence[Path]) -> list[str]:
    """The prefix that is added to the archive names of each corpus.

    The prefix is the name of the corpus, or its path if several corpora have the same name.

    >>> _prefixes([Path("a/run"), Path("b/run"), Path("c.jsonl.gz")])
    ['a/run/', 'b/run/', 'c/']
    """
    whole = [Path(*path.parts[:-1], path.name.partition(".jsonl")[0].partition(".parquet")[0])
             for path in map(Path.resolve, inputs)]  # fmt: skip
    if len({path.name for path in whole}) == len(set(whole)):
        return [f"{path.name}/" for path in whole]
    shared = Path(commonpath([path.parent for path in whole]))
    return [f"{path.relative_to(shared).as_posix()}/" for path in whole]

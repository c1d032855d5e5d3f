"""`diptych merge`: many corpora as one."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from os.path import commonpath
from pathlib import Path

from diptych.commands._corpus import (
    ChosenOptions,
    lines_of,
    names_of,
    run_corpus,
    say,
    standard_output,
    terms_of,
)
from diptych.commands.declare import argument, command
from diptych.commands.options import FOUND, NOTHING
from diptych.errors import ConfigError

_READABLE = ("jsonl", "parquet")


@dataclass(frozen=True, kw_only=True)
class MergeOptions(ChosenOptions):
    """Options of `diptych merge`."""

    inputs: tuple[Path, ...] = argument("RUN...")


@command(MergeOptions)
def merge(asked: MergeOptions) -> int:
    """Write many runs as one corpus, what they have in common once.

    Corpora that were exported as JSONL or Parquet can be merged as well.
    """
    return FOUND if merge_corpora(asked) else NOTHING


def merge_corpora(asked: MergeOptions) -> int:
    """Write several runs and files as one corpus; how many segments it has."""
    from diptych.corpus.files import format_of
    from diptych.corpus.from_run import write_corpus
    from diptych.corpus.merge import FileCorpus, Source
    from diptych.corpus.merge import merge as merged_of
    from diptych.run.store import Store

    made = asked.exporter()
    with ExitStack() as stack:
        sources: list[Source] = []
        for path, prefix in zip(asked.inputs, _prefixes(asked.inputs), strict=True):
            if path.is_dir():
                terms = terms_of(path)
                store = stack.enter_context(Store(path, write=False))
                stack.enter_context(store.snapshot())
                sources.append(run_corpus(store, terms, asked, prefix=prefix))
            elif format_of(path) in _READABLE:
                sources.append(FileCorpus(path, asked.choice(0.0), prefix))
            else:
                raise ConfigError(
                    f"{path} is no run and no corpus in JSONL or Parquet: merge takes these"
                )
        merged = merged_of(sources)
        count, files = write_corpus(merged, made, asked.out, standard_output(asked.out))
    what = lines_of(made)
    of = f" of {merged.found:,}" if what == "segments" else ""
    say(f"{count:,} {what}{of} in {len(sources)} corpora -> {names_of(files)}", asked.out)
    return count


def _prefixes(inputs: Sequence[Path]) -> list[str]:
    """Prefixes that keep archives of different corpora apart: their names, or more of their paths.

    >>> _prefixes([Path("a/run"), Path("b/run"), Path("c.jsonl.gz")])
    ['a/run/', 'b/run/', 'c/']
    """
    whole = [Path(*path.parts[:-1], path.name.partition(".jsonl")[0].partition(".parquet")[0])
             for path in map(Path.resolve, inputs)]  # fmt: skip
    if len({path.name for path in whole}) == len(set(whole)):
        return [f"{path.name}/" for path in whole]
    shared = Path(commonpath([path.parent for path in whole]))
    return [f"{path.relative_to(shared).as_posix()}/" for path in whole]

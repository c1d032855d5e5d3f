"""Step: write corpus.tsv, corpus.tmx, n-way.tsv and pairs.tsv.

This module also defines the columns of pairs.tsv.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from diptych.corpus.from_run import NWayCorpus, RunCorpus, write_together
from diptych.errors import StoreError
from diptych.files import replacing
from diptych.protocols import Corpus, Exporter, Watcher
from diptych.registry import exporter
from diptych.run.statistics import Statistics
from diptych.run.store import Store
from diptych.stages.export.shared.columns import BatchExporter, batches
from diptych.units import DocumentPair, Unit

CORPUS_FORMATS = ("tsv", "tmx")
_UNITS_PER_TICK = 1000
PAIRS_HEADER = "left_url\tright_url\tleft_lang\tright_lang\tscore\tevidence\n"


@dataclass(frozen=True, slots=True)
class _Watched:
    """Wraps a corpus, and reports each unit to a watcher while the corpus is written."""

    corpus: Corpus
    watcher: Watcher
    files: int = 1
    """number of files that are written together"""

    @property
    def langs(self) -> Sequence[str]:
        return self.corpus.langs

    def units(self) -> Iterator[Unit]:
        for number, unit in enumerate(self.corpus.units()):
            if number % _UNITS_PER_TICK == 0:
                self.watcher.tick()
            self.watcher.advance(self.files)
            yield unit

    def documents(self) -> Iterator[DocumentPair]:
        return self.corpus.documents()


def write_run_corpus(store: Store, corpus: RunCorpus, watcher: Watcher) -> None:
    """Write the corpus and the list of pairs into the run folder; unchanged files are kept."""
    lines = Statistics(store).kept_segments() * len(CORPUS_FORMATS)
    watcher.begin("writing", lines, "lines")
    made = {f"corpus.{name}": exporter(name) for name in CORPUS_FORMATS}
    _write(store, corpus, made, watcher)
    if len(corpus.langs) > 2:
        watcher.begin("writing")
        made = {"n-way.tsv": exporter("tsv", n_way=True)}
        _write(store, corpus, made, watcher, rows=NWayCorpus(corpus))
    watcher.tick()
    path = store.folder / "pairs.tsv"
    with replacing(path, error=StoreError) as part, part.open("wb") as stream:
        stream.writelines(pair_lines(store))
    store.finish(path.name, _state(path, corpus))


def pair_lines(store: Store) -> Iterator[bytes]:
    """The lines of pairs.tsv."""
    yield PAIRS_HEADER.encode()
    for site, _ in store.sites():
        for _, pair in store.verified_pairs(site):
            line = (
                f"{pair.left}\t{pair.right}\t{pair.left_lang}\t{pair.right_lang}"
                f"\t{pair.score:.3f}\t{pair.evidence}\n"
            )
            yield line.encode()


def _write(
    store: Store, corpus: RunCorpus, made: Mapping[str, Exporter], watcher: Watcher,
    *, rows: Corpus | None = None,
) -> None:  # fmt: skip
    """Write the files in `made` that are not up to date; their lines are read once.

    The lines are `rows`, or those of the corpus.
    """
    old: dict[Path, BatchExporter] = {}
    for name, each in made.items():
        path = store.folder / name
        if not store.is_finished(name, _state(path, corpus)):
            assert isinstance(each, BatchExporter), name
            old[path] = each
    if old:
        write_together(_Watched(rows or corpus, watcher, len(old)), old)
    for path in old:
        store.finish(path.name, _state(path, corpus))


class WrittenFile(NamedTuple):
    """A file that a run has written, and the lines that it must have."""

    name: str
    lines: Iterator[bytes]
    is_dated: bool
    """True if the lines have dates of segments"""


def written_files(store: Store, corpus: RunCorpus) -> Iterator[WrittenFile]:
    """The files that were written by this version, if the run has not changed since."""
    rows: dict[str, Corpus] = {f"corpus.{name}": corpus for name in CORPUS_FORMATS}
    if len(corpus.langs) > 2:
        rows["n-way.tsv"] = NWayCorpus(corpus)
    for name, own in rows.items():
        if _is_written(store, name, corpus):
            made = exporter(name.rpartition(".")[2], n_way=own is not corpus)
            assert isinstance(made, BatchExporter), name
            yield WrittenFile(name, _lines(own, made), True)
    if _is_written(store, "pairs.tsv", corpus):
        yield WrittenFile("pairs.tsv", pair_lines(store), False)


def _is_written(store: Store, name: str, corpus: RunCorpus) -> bool:
    key = store.finished_key(name)
    return key is not None and key.endswith(_source(corpus))


def _lines(rows: Corpus, made: BatchExporter) -> Iterator[bytes]:
    encoding = made.encoding(rows.langs)
    yield from encoding.head.splitlines(keepends=True)
    for batch in batches(rows.units()):
        yield from encoding.units(batch).splitlines(keepends=True)
    yield from encoding.foot.splitlines(keepends=True)


def _state(path: Path, corpus: RunCorpus) -> str:
    """A string that changes if the file, the recipe or the selection of segments changes."""
    found = path.stat() if path.exists() else None
    stamp = (found.st_size, found.st_mtime_ns) if found else None
    return f"{stamp}{_source(corpus)}"


def _source(corpus: RunCorpus) -> str:
    return f" {corpus.signature} {corpus.choice!r}"

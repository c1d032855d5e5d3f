"""Exports Moses files: plain text, one file per language, aligned line by line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import BinaryIO, ClassVar

from diptych.protocols import Corpus, Files
from diptych.stages.export.shared.columns import as_lines, batches, unit_id
from diptych.units import Unit


@dataclass(frozen=True, slots=True)
class Moses:
    """Writes two aligned text files per language pair, and a file with the ids of their lines."""

    suffix: ClassVar[str] = "moses"
    n_way: bool = False
    """write one file per language, with only the units that have a text in every language"""

    def write(self, corpus: Corpus, files: Files) -> int:
        """Write all units in corpus order, and return the number of units written."""
        return _write_all(corpus, files) if self.n_way else _write_pairs(corpus, files)


def _write_pairs(corpus: Corpus, files: Files) -> int:
    outs: dict[tuple[str, str], list[BinaryIO]] = {}
    if len(corpus.langs) == 2:  # these files are always written, even if empty
        outs[corpus.langs[0], corpus.langs[1]] = _open(files, *corpus.langs)
    order = {lang: number for number, lang in enumerate(corpus.langs)}
    count = 0
    for batch in batches(corpus.units()):
        rows: dict[tuple[str, str], list[tuple[str, ...]]] = {}
        for unit in batch:
            left, right = unit.sides
            if order[left.lang] > order[right.lang]:  # from a run with another order of languages
                left, right = right, left
            row = (left.text, right.text, unit_id(unit))
            rows.setdefault((left.lang, right.lang), []).append(row)
        for pair, found in rows.items():
            if pair not in outs:  # of many languages, most pairs never occur
                outs[pair] = _open(files, *pair)
            _append(outs[pair], found)
        count += len(batch)
    return count


def _open(files: Files, left: str, right: str) -> list[BinaryIO]:
    return [files(f"{left}-{right}.{end}") for end in (left, right, "ids")]


def _write_all(corpus: Corpus, files: Files) -> int:
    langs = tuple(corpus.langs)
    outs = [files(end) for end in (*langs, "ids")]
    count = 0
    for batch in batches(corpus.units()):
        rows = [row for unit in batch if (row := _row(langs, unit))]
        _append(outs, rows)
        count += len(rows)
    return count


def _row(langs: tuple[str, ...], unit: Unit) -> tuple[str, ...]:
    """The texts and the id of a unit; an empty tuple if the unit lacks one of the languages."""
    texts = {side.lang: side.text for side in unit.sides}
    if any(lang not in texts for lang in langs):
        return ()
    return (*[texts[lang] for lang in langs], unit_id(unit))


def _append(outs: Iterable[BinaryIO], rows: list[tuple[str, ...]]) -> None:
    """Append each column of the rows to its own file."""
    for out, column in zip(outs, zip(*rows, strict=True), strict=False):
        out.write(as_lines([(text,) for text in column], "%s"))

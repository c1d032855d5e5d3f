"""Exports tab-separated values: one translation unit per line, with its source locations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from diptych.protocols import Corpus, Files
from diptych.stages.export.shared import columns
from diptych.units import Unit

_EMPTY_PLACE: tuple[columns.Value, ...] = ("",) * len(columns.PLACE_COLUMNS)
_DECIMAL_COLUMNS = frozenset({"score", "alignment", "verified"})


@dataclass(frozen=True, slots=True)
class Tsv:
    """Writes a header and one line per unit; fields are unquoted, because none contains a tab."""

    suffix: ClassVar[str] = "tsv"
    n_way: bool = False
    """write one column per language, instead of left and right"""

    def write(self, corpus: Corpus, files: Files) -> int:
        """Write a header and all units in corpus order, and return the number of units."""
        return columns.write_encoded(corpus, files(self.suffix), self.encoding(corpus.langs))

    def encoding(self, langs: Sequence[str]) -> columns.Encoding:
        """The header, and the encoding of units as lines."""
        langs = tuple(langs)
        names = _n_way_columns(langs) if self.n_way else columns.PAIR_COLUMNS
        row_of = partial(_n_way_row, langs) if self.n_way else columns.pair_row
        form = "\t".join(["%.4f" if name in _DECIMAL_COLUMNS else "%s" for name in names])
        return columns.Encoding(
            columns.as_lines([names], "\t".join(["%s"] * len(names))),
            lambda units: columns.as_lines([row_of(unit) for unit in units], form),
        )


def _n_way_columns(langs: Sequence[str]) -> tuple[str, ...]:
    """The column names of a table with several languages.

    The column of unit ids is called `unit_id`, because text columns are named after language codes
    and `id` is the code of Indonesian.

    >>> _n_way_columns(["en", "id"])[:6]
    ('en', 'id', 'score', 'unit_id', 'en_url', 'id_url')
    """
    found = [f"{lang}_{name}" for name in columns.PLACE_COLUMNS for lang in langs]
    return (*langs, "score", "unit_id", *found, *columns.COMMON_COLUMNS)


def _n_way_row(langs: Sequence[str], unit: Unit) -> tuple[columns.Value, ...]:
    """The values of a unit in column order; columns for languages that the unit lacks are empty."""
    sides = {side.lang: side for side in unit.sides}
    texts = [sides[lang].text if lang in sides else "" for lang in langs]
    places = [columns.place_row(sides[lang]) if lang in sides else _EMPTY_PLACE for lang in langs]
    found = [value for column in zip(*places, strict=True) for value in column]
    score, unit_id = columns.rounded(unit.score), columns.unit_id(unit)
    return (*texts, score, unit_id, *found, *columns.common_row(unit))

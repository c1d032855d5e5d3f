"""Exports tab-separated values: one translation unit per line, with its source locations."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from diptych.protocols import Corpus, Files
from diptych.stages.export.shared import columns
from diptych.units import Unit

_Row = tuple[columns.Value, ...]
_RowOf = Callable[[Unit], _Row]
_EMPTY_PLACE: _Row = ("",) * len(columns.PLACE_COLUMNS)
_NO_TEXT = re.compile(r"\s*[=+\-@\"\uff1d\uff0b\uff0d\uff20]")  # the last four are full-width
_DECIMAL_COLUMNS = frozenset({"score", "alignment", "verified"})


@dataclass(frozen=True, slots=True)
class Tsv:
    """Writes a header and one line per unit; fields are unquoted, because none contains a tab."""

    suffix: ClassVar[str] = "tsv"
    n_way: bool = False
    """write one column per language, instead of left and right"""
    safe_cells: bool = False
    """write an apostrophe before texts that a spreadsheet would take for a formula"""

    def write(self, corpus: Corpus, files: Files) -> int:
        """Write a header and all units in corpus order, and return the number of units."""
        return columns.write_encoded(corpus, files(self.suffix), self.encoding(corpus.langs))

    def encoding(self, langs: Sequence[str]) -> columns.Encoding:
        """The header, and the encoding of units as lines."""
        langs = tuple(langs)
        names = _n_way_columns(langs) if self.n_way else columns.PAIR_COLUMNS
        row_of: _RowOf = partial(_n_way_row, langs) if self.n_way else columns.pair_row
        if self.safe_cells:
            row_of = _safe(row_of)
        form = "\t".join(["%.4f" if name in _DECIMAL_COLUMNS else "%s" for name in names])
        return columns.Encoding(
            columns.as_lines([names], "\t".join(["%s"] * len(names))),
            lambda units: columns.as_lines([row_of(unit) for unit in units], form),
        )


def _safe(row_of: _RowOf) -> _RowOf:
    """Change a function that makes rows so that their texts are no formulas."""
    return lambda unit: tuple(
        [safe_cell(value) if isinstance(value, str) else value for value in row_of(unit)]
    )


def safe_cell(text: str) -> str:
    """Mark a text as a text for spreadsheets if they would take it for something else.

    A cell that begins with `=`, `+`, `-` or `@` is a formula, which may send data to a web site.  A
    cell that begins with a quotation mark continues to the next one, over tabs and line breaks.

    >>> safe_cell("=1+1"), safe_cell(" @SUM(A1)"), safe_cell("- Lamp"), safe_cell("1 + 1 = 2")
    ("'=1+1", "' @SUM(A1)", "'- Lamp", '1 + 1 = 2')
    """
    return f"'{text}" if _NO_TEXT.match(text) else text


def _n_way_columns(langs: Sequence[str]) -> tuple[str, ...]:
    """The column names of a table with several languages.

    The column of unit ids is called `unit_id`, because text columns are named after language codes
    and `id` is the code of Indonesian.

    >>> _n_way_columns(["en", "id"])[:6]
    ('en', 'id', 'score', 'unit_id', 'en_url', 'id_url')
    """
    found = [f"{lang}_{name}" for name in columns.PLACE_COLUMNS for lang in langs]
    return (*langs, "score", "unit_id", *found, *columns.COMMON_COLUMNS)


def _n_way_row(langs: Sequence[str], unit: Unit) -> _Row:
    """The values of a unit in column order; columns for languages that the unit lacks are empty."""
    sides = {side.lang: side for side in unit.sides}
    texts = [sides[lang].text if lang in sides else "" for lang in langs]
    places = [columns.place_row(sides[lang]) if lang in sides else _EMPTY_PLACE for lang in langs]
    found = [value for column in zip(*places, strict=True) for value in column]
    score, unit_id = columns.rounded(unit.score), columns.unit_id(unit)
    return (*texts, score, unit_id, *found, *columns.common_row(unit))
